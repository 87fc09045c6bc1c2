/* exact.h - numbers of tables that are integers stay integers: doubles know them up to 2^53, these up to 2^127.
 *
 * A text of digits is an integer; any other number, and what is computed from one, is a double.  Arithmetic of integers
 * is exact, or falls back to doubles where its result is no integer below 2^127. */
#ifndef MILLRACE_EXACT_H
#define MILLRACE_EXACT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x: the nearest double; big: the number is i, an integer that doubles may not know */
struct exact_number { double x; bool big; __int128 i; };

enum { EXACT_MAX = 48 };                                 /* bytes that exact_print may write */

/* NULL, and *v is the slice's number; or what it is not, as num_wrong says it */
const char *exact_wrong(const char *s, size_t n, struct exact_number *v);
static inline struct exact_number exact_of(double x) { return (struct exact_number){ .x = x }; }
size_t exact_print(char b[EXACT_MAX], struct exact_number v);   /* integers plain, others as num_print; no NUL */
int exact_cmp(struct exact_number a, struct exact_number b);    /* < 0, 0, > 0; neither is nan */
/* the number as an integer, where it is one and known as one */
static inline bool exact_integer(struct exact_number v, __int128 *i)
{
    int64_t small;
    if (v.big) *i = v.i;
    else if (v.x > -0x1p53 && v.x < 0x1p53 && v.x == (double)(small = (int64_t)v.x)) *i = small;
    else return false;
    return true;
}
struct exact_number exact_of_integer(__int128 i);

struct exact_number exact_add(struct exact_number a, struct exact_number b);
struct exact_number exact_sub(struct exact_number a, struct exact_number b);
struct exact_number exact_mul(struct exact_number a, struct exact_number b);
struct exact_number exact_div(struct exact_number a, struct exact_number b);   /* an integer where it comes out even */
struct exact_number exact_pow(struct exact_number a, struct exact_number b);
struct exact_number exact_mod(struct exact_number a, struct exact_number b);   /* as fmod: the sign is a's */
#endif

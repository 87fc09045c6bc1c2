/* num.h - numbers to and from decimal text: exact, locale-free, fast. */
#ifndef MILLRACE_NUM_H
#define MILLRACE_NUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUM_MAX = 32 };                                   /* bytes that num_print may write */

bool num_parse(const char *s, size_t n, double *v);      /* the whole slice or nothing; nan, inf, -inf allowed */
/* NULL, and *v is the slice's number; or what it is not: "a number", "a finite number" (1e999; infinity has a name) */
const char *num_wrong(const char *s, size_t n, double *v);
bool int_parse(const char *s, size_t n, int64_t *v);     /* decimal, optional '-'; false on anything else or overflow */
/* bytes: an integer or decimal with k M G T (1000) or Ki Mi Gi Ti (1024), optional B */
bool size_parse(const char *s, size_t n, uint64_t *v);
/* shortest text that reads back as v; integers below 2^53 plain; no NUL */
size_t num_print(char b[NUM_MAX], double v);
size_t int_print(char b[NUM_MAX], int64_t v);
#endif

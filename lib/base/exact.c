/* exact.c - see exact.h.  Below 2^53 doubles are exact themselves and do the work. */
#include "base/exact.h"
#include "base/compare.h"
#include "base/num.h"
#include <math.h>

static const double SMALL = 9007199254740992.0;          /* 2^53 */

static bool is_small(double x) { return x > -SMALL && x < SMALL; }

struct exact_number exact_of_integer(__int128 i)
{
    return (struct exact_number){ (double)i, !is_small((double)i), i };
}

/* all that exact_print writes, up to 39 digits */
static bool digits(const char *s, size_t n, __int128 *v)
{
    bool negative = n && *s == '-';
    s += negative;
    n -= negative;
    unsigned __int128 m = 0, most = ((unsigned __int128)1 << 127) - !negative;
    for (size_t k = 0; k < n; k++) {
        if (s[k] < '0' || s[k] > '9') return false;
        unsigned digit = (unsigned char)(s[k] - '0');
        if (m > (most - digit) / 10) return false;
        m = m * 10 + digit;
    }
    *v = (__int128)(negative ? -m : m);
    return n > 0;
}

const char *exact_wrong(const char *s, size_t n, struct exact_number *v)
{
    double x;
    const char *expected = num_wrong(s, n, &x);
    if (expected) return expected;
    *v = exact_of(x);
    if (!is_small(x)) v->big = digits(s, n, &v->i);
    return NULL;
}

size_t exact_print(char b[EXACT_MAX], struct exact_number v)
{
    if (!v.big) return num_print(b, v.x);
    unsigned __int128 m = v.i < 0 ? -(unsigned __int128)v.i : (unsigned __int128)v.i;
    char back[EXACT_MAX];
    size_t n = 0, k = 0;
    do back[k++] = (char)('0' + (int)(m % 10)); while (m /= 10);
    if (v.i < 0) b[n++] = '-';
    while (k) b[n++] = back[--k];
    return n;
}

/* for comparing: a double from 2^53 on is an integer; beyond 2^126 no two numbers here are near each other */
static bool comparable(struct exact_number v, __int128 *i)
{
    if (exact_integer(v, i)) return true;
    if (!(fabs(v.x) >= SMALL && fabs(v.x) < 0x1p126)) return false;
    *i = (__int128)v.x;
    return true;
}

int exact_cmp(struct exact_number a, struct exact_number b)
{
    __int128 i, j;
    if ((a.big || b.big) && comparable(a, &i) && comparable(b, &j)) return ORDER(i, j);
    return ORDER(a.x, b.x);
}

/* Doubles are exact where operands and result are small.  Elsewhere two integers are asked for; false: there are not
 * two, and the double is the answer. */
static bool needs_integers(struct exact_number a, struct exact_number b, double x, __int128 *i, __int128 *j)
{
    if (is_small(a.x) && is_small(b.x) && is_small(x)) return false;
    return exact_integer(a, i) && exact_integer(b, j);
}

struct exact_number exact_add(struct exact_number a, struct exact_number b)
{
    __int128 i, j, sum;
    double x = a.x + b.x;
    if (!needs_integers(a, b, x, &i, &j) || __builtin_add_overflow(i, j, &sum)) return exact_of(x);
    return exact_of_integer(sum);
}

struct exact_number exact_sub(struct exact_number a, struct exact_number b)
{
    __int128 i, j, gap;
    double x = a.x - b.x;
    if (!needs_integers(a, b, x, &i, &j) || __builtin_sub_overflow(i, j, &gap)) return exact_of(x);
    return exact_of_integer(gap);
}

struct exact_number exact_mul(struct exact_number a, struct exact_number b)
{
    __int128 i, j, product;
    double x = a.x * b.x;
    if (!needs_integers(a, b, x, &i, &j) || __builtin_mul_overflow(i, j, &product)) return exact_of(x);
    return exact_of_integer(product);
}

struct exact_number exact_div(struct exact_number a, struct exact_number b)
{
    __int128 i, j;
    double x = a.x / b.x;
    if (!needs_integers(a, b, x, &i, &j) || j == 0) return exact_of(x);
    if (j == -1) return exact_sub(exact_of(0), a);       /* the one quotient that can overflow */
    return i % j == 0 ? exact_of_integer(i / j) : exact_of((double)((long double)i / (long double)j));
}

struct exact_number exact_pow(struct exact_number a, struct exact_number b)
{
    __int128 i, j;
    struct exact_number power = exact_of(1);
    double x = pow(a.x, b.x);
    if (fabs(x) >= 0x1p127 || !needs_integers(a, b, x, &i, &j) || j < 0 || j > 127) return exact_of(x);
    while (j--) power = exact_mul(power, a);
    return power;
}

struct exact_number exact_mod(struct exact_number a, struct exact_number b)
{
    __int128 i, j;
    double x = fmod(a.x, b.x);
    if (!needs_integers(a, b, x, &i, &j) || j == 0 || j == -1) return exact_of(x);
    return exact_of_integer(i % j);
}

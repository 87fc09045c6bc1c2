/* checked.h - sums, differences and products that say when they do not fit.
 *
 * Every size, count and offset that comes from a file is computed by these. TYPE_add, TYPE_sub and TYPE_mul die
 * "number too large" when the result does not fit; may_* return false instead, for a reader that names file and line,
 * and leave *r undefined. xmalloc, xcalloc, xrealloc and grow check the product of their own two arguments; what is
 * multiplied or added inside an argument goes through size_mul or size_add, which t/all.t looks for ("n + 1" of a
 * count of things that are in memory cannot overflow). Source: the GCC manual, built-in functions for arithmetic with
 * overflow checking. */
#ifndef MILLRACE_CHECKED_H
#define MILLRACE_CHECKED_H
#include "base/message.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool may_add_size(size_t a, size_t b, size_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool may_mul_size(size_t a, size_t b, size_t *r) { return !__builtin_mul_overflow(a, b, r); }
static inline bool may_add_u64(uint64_t a, uint64_t b, uint64_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool may_add_i64(int64_t a, int64_t b, int64_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool may_sub_i64(int64_t a, int64_t b, int64_t *r) { return !__builtin_sub_overflow(a, b, r); }

static inline size_t size_add(size_t a, size_t b)
{
    size_t r;
    if (!may_add_size(a, b, &r)) die("number too large: %zu + %zu", a, b);
    return r;
}

static inline size_t size_mul(size_t a, size_t b)
{
    size_t r;
    if (!may_mul_size(a, b, &r)) die("number too large: %zu * %zu", a, b);
    return r;
}

static inline int64_t i64_add(int64_t a, int64_t b)
{
    int64_t r;
    if (!may_add_i64(a, b, &r)) die("number too large: %lld + %lld", (long long)a, (long long)b);
    return r;
}

static inline int64_t i64_sub(int64_t a, int64_t b)
{
    int64_t r;
    if (!may_sub_i64(a, b, &r)) die("number too large: %lld - %lld", (long long)a, (long long)b);
    return r;
}
#endif

/* lib-checked.c - checked arithmetic against 128-bit arithmetic. */
#include "base/checked.h"
#include "dies.h"
#include "tap.h"

static const uint64_t edge[] = { 0, 1, 2, 3, 255, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                 0xfffffffffffffff, 0x7ffffffffffffffe, 0x7fffffffffffffff, 0x8000000000000000,
                                 0x8000000000000001,
                                 0xfffffffffffffffe, 0xffffffffffffffff };
enum { N = sizeof edge / sizeof *edge };

static bool is_u(bool fits, uint64_t got, unsigned __int128 want)
{
    return fits ? got == want : want > UINT64_MAX;
}

static bool is_i(bool fits, int64_t got, __int128 want)
{
    return fits ? got == want : want > INT64_MAX || want < INT64_MIN;
}

static void add(const void *unused)
{
    (void)unused;
    size_add(SIZE_MAX, 1);
}

static void mul(const void *unused)
{
    (void)unused;
    size_mul(SIZE_MAX / 2, 3);
}

static void sub(const void *unused)
{
    (void)unused;
    i64_sub(INT64_MIN, 1);
}

int main(void)
{
    bool good = true;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            uint64_t a = edge[i], b = edge[j], u = 0;
            size_t z = 0;
            int64_t p = (int64_t)a, q = (int64_t)b, s = 0;
            bool fits = may_add_u64(a, b, &u);
            good &= is_u(fits, u, (unsigned __int128)a + b);
            fits = may_add_size(a, b, &z);
            good &= is_u(fits, z, (unsigned __int128)a + b);
            fits = may_mul_size(a, b, &z);
            good &= is_u(fits, z, (unsigned __int128)a * b);
            fits = may_add_i64(p, q, &s);
            good &= is_i(fits, s, (__int128)p + q);
            fits = may_sub_i64(p, q, &s);
            good &= is_i(fits, s, (__int128)p - q);
        }
    }
    ok(good, "all pairs of edge values as in 128 bits");
    ok(size_add(3, 4) == 7 && size_mul(3, 4) == 12 && size_mul(1u << 31, 4) == 1ull << 33, "what fits is computed");
    ok(dies(add, NULL, 1, "number too large: 18446744073709551615 + 1"), "a sum that does not fit");
    ok(dies(mul, NULL, 1, "number too large: "), "a product that does not fit");
    ok(dies(sub, NULL, 1, "number too large: "), "a difference that does not fit");
    return done();
}

/* The packer against all orders of placement: some order, each buffer as low as it goes, is optimal. */
#include "place/pack.h"
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { N = 6 };

static bool clash(const struct buffer *a, const struct buffer *b)
{
    return a->lower < b->upper && b->lower < a->upper && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

static uint64_t lowest(struct buffer *b, const int *order, int n)
{
    struct buffer *x = &b[order[n]];
    for (x->offset = 0; ; x->offset += x->align) {
        bool free = true;
        for (int i = 0; i < n && free; i++) free = !clash(x, &b[order[i]]);
        if (free) return x->offset + x->size;
    }
}

static uint64_t least_top(struct buffer *b, int *order, int n, uint64_t top, uint64_t best)
{
    if (n == N) return top < best ? top : best;
    for (int i = n; i < N; i++) {
        int keep = order[n];
        order[n] = order[i];
        order[i] = keep;
        uint64_t end = lowest(b, order, n);
        if ((end > top ? end : top) < best) best = least_top(b, order, n + 1, end > top ? end : top, best);
        order[i] = order[n];
        order[n] = keep;
    }
    return best;
}

static bool sound(const struct buffer *b, uint64_t capacity)
{
    for (int i = 0; i < N; i++) {
        if (b[i].offset + b[i].size > capacity || b[i].offset % b[i].align != 0) return false;
        for (int k = 0; k < i; k++)
            if (clash(&b[i], &b[k])) return false;
    }
    return true;
}

/* more cases than 1500: build/t/lib-pack.t 10000 */
int main(int argc, char **argv)
{
    int cases = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1500;
    int optimal = 0, proved = 0, low = 0, hard = 0;
    for (int c = 0; c < cases; c++) {
        struct rng r = rng_for((uint64_t)c, str_of("lib-pack"));
        struct buffer b[N], x[N];
        for (int i = 0; i < N; i++) {
            int64_t lower = (int64_t)rng_below(&r, 6);
            b[i] = (struct buffer){ lower, lower + 1 + (int64_t)rng_below(&r, 5), 1 + rng_below(&r, 6),
                                    c % 3 == 0 ? (uint64_t)1 << rng_below(&r, 3) : 1, 0 };
        }
        int order[N] = { 0, 1, 2, 3, 4, 5 };
        memcpy(x, b, sizeof b);
        uint64_t best = least_top(x, order, 0, 0, UINT64_MAX), load = pack_load(b, N);
        if (best > load) hard++;
        memcpy(x, b, sizeof b);
        uint64_t top = pack_low(x, N, 8, 0);
        if (top >= best && top == pack_top(x, N) && sound(x, top)) low++;
        memcpy(x, b, sizeof b);
        if (pack(x, N, best, 0, 0) == PACK_DONE && sound(x, best)) optimal++;
        else printf("# case %d: not packed into %llu\n", c, (unsigned long long)best);
        if (pack(x, N, best - 1, 0, 0) == PACK_IMPOSSIBLE) proved++;
        else printf("# case %d: %llu is not called impossible\n", c, (unsigned long long)best - 1);
    }
    printf("# %d of %d cases need more than their load\n", hard, cases);
    ok(hard > cases / 20, "some cases need more than their load");
    ok(low == cases, "packing low is sound");
    ok(optimal == cases, "every optimum is found");
    ok(proved == cases, "one byte less is proved impossible");
    struct buffer none = { 0 };
    ok(pack(&none, 0, 0, 1, 1) == PACK_DONE && pack_load(&none, 0) == 0, "nothing needs nothing");
    return done();
}

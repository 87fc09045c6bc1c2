/* lib/prof/sweep against brute force: at every instant of small random inputs, the set of active keys */
#include "base/rng.h"
#include "prof/sweep.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { T = 120, KEYS = 7, N = 40 };
struct interval { int64_t start, end; int key; };

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static bool agrees(uint64_t seed)
{
    struct rng r = rng_for(seed, str_of("sweep"));
    struct interval v[N];
    int n = (int)rng_below(&r, N);
    /* mask of keys active in [t, t+1), shifted by 20 so that times are negative too */
    unsigned at[T + 1] = { 0 };
    for (int i = 0; i < n; i++) {
        v[i].start = (int64_t)rng_below(&r, T);
        v[i].end = v[i].start + 1 + (int64_t)rng_below(&r, (uint64_t)(T - v[i].start));
        v[i].key = (int)rng_below(&r, KEYS);
        for (int64_t t = v[i].start; t < v[i].end; t++) at[t] |= 1u << v[i].key;
    }
    if (n) qsort(v, (size_t)n, sizeof *v, by_start);
    sweep *s = sweep_new(true);
    char name[2] = "a";
    for (int i = 0; i < n; i++) {
        name[0] = (char)('a' + v[i].key);
        if (!sweep_add(s, v[i].start - 20, v[i].end - 20, sweep_key(s, KEY_CAT, str_of(name)), KEY_NONE)) return false;
    }
    sweep_finish(s);

    static int64_t total[1 << KEYS], lo[1 << KEYS], hi[1 << KEYS];
    static uint64_t runs[1 << KEYS], change[1 << KEYS][1 << KEYS];
    memset(total, 0, sizeof total);
    memset(runs, 0, sizeof runs);
    memset(change, 0, sizeof change);
    unsigned before = 0;
    size_t sets = 0, changes = 0;
    for (int t = 0; t <= T; t++) {
        unsigned now = at[t];
        if (now != before) {
            if (!change[before][now]++) changes++;
            if (now) runs[now]++;
        }
        if (now && !total[now]++) lo[now] = t - 20, sets++;
        if (now) hi[now] = t - 19;
        before = now;
    }
    const struct cell *c;
    const struct transition *x;
    bool good = sweep_cells(s, &c) == sets;
    for (size_t i = 0; good && i < sets; i++) {
        unsigned mask = 0;
        for (const char *p = c[i].name[KEY_CAT]; *p; p++) if (*p != '+') mask |= 1u << (*p - 'a');
        good = c[i].total == total[mask] && c[i].lo == lo[mask] && c[i].hi == hi[mask] && c[i].runs == runs[mask]
            && (i == 0 || strcmp(c[i - 1].name[KEY_CAT], c[i].name[KEY_CAT]) < 0);
    }
    good = good && sweep_transitions(s, &x) == changes;
    for (size_t i = 0; good && i < changes; i++) {
        unsigned from = 0, to = 0;
        for (const char *p = x[i].from[KEY_CAT]; *p; p++) if (*p != '+') from |= 1u << (*p - 'a');
        for (const char *p = x[i].to[KEY_CAT]; *p; p++) if (*p != '+') to |= 1u << (*p - 'a');
        good = x[i].count == change[from][to];
    }
    sweep_free(s);
    return good;
}

int main(void)
{
    bool good = true;
    for (uint64_t seed = 0; seed < 2000; seed++) if (!agrees(seed)) {
        printf("# seed %llu differs\n", (unsigned long long)seed);
        good = false;
        break;
    }
    ok(good, "cells and transitions of 2000 random inputs are those of brute force");

    sweep *s = sweep_new(false);
    uint32_t k = sweep_key(s, KEY_CAT, str_of("k"));
    ok(sweep_add(s, 5, 9, k, KEY_NONE) && !sweep_add(s, 4, 9, k, KEY_NONE), "an interval out of order is refused");
    sweep_free(s);

    s = sweep_new(false);
    uint32_t a = sweep_key(s, KEY_OP, str_of("a")), b = sweep_key(s, KEY_OP, str_of("b"));
    sweep_add_op(s, 0, 10, a, 0);
    sweep_add_op(s, 5, 15, b, 0);                        /* outlives a: cut at 10 */
    sweep_add_op(s, 12, 14, a, 0);
    sweep_finish(s);
    const struct cell *c;
    ok(sweep_cells(s, &c) == 2 && c[0].total == 7 && c[1].total == 5 && sweep_misnested(s) == 1,
       "a misnested operation is cut and counted");
    sweep_free(s);

    struct buf set = { 0 }, member = { 0 };
    set_add(&set, str_of("C++"));
    set_add(&set, str_of("b\\"));
    str rest = { set.s, set.n };
    bool first =
        strcmp(set.s, "C\\+\\++b\\\\") == 0 && set_next(&rest, &member) && str_is((str){ member.s, member.n }, "C++");
    ok(first && set_next(&rest, &member) && str_is((str){ member.s, member.n }, "b\\") && !set_next(&rest, &member),
       "a plus inside a name survives the joining");
    ok(set_cmp(str_of("A+B"), str_of("A")) > 0 && set_cmp(str_of("A+B+C"), str_of("A+C")) < 0 &&
           set_cmp(str_of("B"), str_of("A+C")) > 0,
       "sets are ordered member by member");
    free(set.s);
    free(member.s);
    return done();
}

/* lib-optimal.c - the proven optimum beside every set of decisions, on random call graphs with random costs. */
#include "tap.h"
#include "base/rng.h"
#include "inline/descend.h"
#include "inline/optimal.h"
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 7, CALLS = 11 };

struct world {
    struct optimal_problem p;
    struct optimal_call call[CALLS];
    bool stays[FUNCTIONS], loose[FUNCTIONS];             /* loose: costs nothing after all, whatever the table says */
    uint64_t seed;
    long asked;
};

/* what a function costs: a hash of what is inlined into it, found by another walk than optimal.c's */
static void gather(const struct world *w, const unsigned char *inlined, uint32_t f, unsigned *in)
{
    for (uint32_t c = 0; c < w->p.ncalls; c++)
        if (w->call[c].caller == f && inlined[c] && !(*in >> c & 1)) {
            *in |= 1u << c;
            gather(w, inlined, w->call[c].callee, in);
        }
}

static double cost_of(const struct world *w, const unsigned char *inlined, uint32_t f)
{
    unsigned in = 0;
    gather(w, inlined, f, &in);
    uint32_t what[2] = { f, in };
    return 20 + (double)(hash_bytes(what, sizeof what, w->seed) % 60);
}

static bool goes(const struct world *w, const unsigned char *inlined, uint32_t f)
{
    bool all = !w->stays[f];
    for (uint32_t c = 0; c < w->p.ncalls; c++) all &= w->call[c].callee != f || inlined[c];
    return all;
}

static bool ask(void *closure, const unsigned char *inlined, const unsigned char *wanted, double *cost)
{
    struct world *w = closure;
    w->asked++;
    for (uint32_t f = 0; f < w->p.nfunctions; f++)
        cost[f] = !wanted[f] ? -1e9 : goes(w, inlined, f) ? 0 : cost_of(w, inlined, f);
    return true;
}

static double total(const struct world *w, const unsigned char *inlined)
{
    double sum = 0;
    for (uint32_t f = 0; f < w->p.nfunctions; f++) if (!goes(w, inlined, f)) sum += cost_of(w, inlined, f);
    return sum;
}

static double brute(const struct world *w)
{
    double best = INFINITY;
    unsigned char inlined[CALLS];
    for (unsigned set = 0; set < 1u << w->p.ncalls; set++) {
        for (uint32_t c = 0; c < w->p.ncalls; c++) inlined[c] = set >> c & 1;
        best = fmin(best, total(w, inlined));
    }
    return best;
}

static void make(struct world *w, uint64_t seed, long most, long builds)
{
    struct rng stream = rng_for(seed, str_of("graph")), *r = &stream;
    *w = (struct world){ .seed = seed };
    w->p = (struct optimal_problem){ .nfunctions = 2 + rng_below(r, FUNCTIONS - 1), .ncalls = rng_below(r, CALLS + 1),
                                     .call = w->call, .stays = w->stays, .loose = w->loose,
                                     .most = most, .builds = builds, .nodes = 100000, .cost = ask, .closure = w };
    for (size_t i = 0; i < w->p.ncalls; i++) {           /* to a later function: no circles */
        uint32_t a = (uint32_t)rng_below(r, w->p.nfunctions - 1);
        w->call[i] = (struct optimal_call){ a, a + 1 + (uint32_t)rng_below(r, w->p.nfunctions - 1 - a) };
    }
    for (size_t f = 0; f < w->p.nfunctions; f++) w->stays[f] = f == 0 || rng_below(r, 3) == 0;
}

static void same_as_brute_force(const char *name)
{
    int wrong = 0, unproven = 0;
    long asked = 0, sets = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;
        unsigned char inlined[CALLS + 1];
        bool closed[FUNCTIONS + 1];
        struct optimal_answer a = { .inlined = inlined, .closed = closed };
        make(&w, seed, 1 << CALLS, 1 << 20);
        struct optimal *o = optimal_new(&w.p);
        optimal_solve(o, &a);
        wrong += a.cost != brute(&w) || total(&w, inlined) != a.cost || optimal_cost(o, inlined) != a.cost;
        unproven += a.lower != a.cost || a.estimate != a.cost || a.exhausted;
        for (size_t f = 0; f < w.p.nfunctions; f++) unproven += !closed[f];
        asked += w.asked;
        sets += 1L << w.p.ncalls;
        optimal_free(o);
    }
    ok(wrong == 0, name);
    ok(unproven == 0, "all of them proven");
    ok(asked * 2 < sets, "with less than half of the builds that brute force takes");
}

static void bounds_hold(void)
{
    int above = 0, below = 0, open = 0, late = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;
        unsigned char inlined[CALLS + 1];
        bool closed[FUNCTIONS + 1];
        struct optimal_answer a = { .inlined = inlined, .closed = closed };
        long builds = seed % 2 ? 1 << 20 : 3;
        make(&w, seed, 6, builds);
        struct optimal *o = optimal_new(&w.p);
        optimal_solve(o, &a);
        double best = brute(&w);
        above += a.lower > best;
        below += a.cost < best || total(&w, inlined) != a.cost;
        open += a.lower < a.cost;
        late += w.asked > builds;
        optimal_free(o);
    }
    ok(above == 0, "with small tables: the bound is not above the optimum");
    ok(below == 0, "and what is found is not below it, and costs what it is said to");
    ok(open > 0, "some are left open");
    ok(late == 0, "never more builds than the budget");
}

static void logs_are_believed(void)
{
    struct world w;
    unsigned char inlined[CALLS + 1];
    bool closed[FUNCTIONS + 1];
    struct optimal_answer a = { .inlined = inlined, .closed = closed };
    make(&w, 7, 1 << CALLS, 1 << 20);
    struct optimal *o = optimal_new(&w.p);
    optimal_solve(o, &a);
    double cost = a.cost;
    long asked = w.asked;
    optimal_solve(o, &a);
    ok(w.asked == asked && a.cost == cost, "what is known is not asked again");
    optimal_free(o);
    o = optimal_new(&w.p);
    optimal_know(o, 0, NULL, 0, -1000);
    optimal_solve(o, &a);
    ok(a.cost < -900, "an entry from a log counts");
    optimal_free(o);
}

/* no flip of one call betters what a descent ends at, found by building every one of them */
static void descents_end_at_the_bottom(const char *name)
{
    int wrong = 0, better = 0, worse = 0, best = 0, late = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;
        unsigned char inlined[CALLS + 1], starts[2 * CALLS] = { 0 };
        long builds = 0;
        make(&w, seed, 1, seed % 4 ? 10000 : 5);
        memset(starts + w.p.ncalls, 1, w.p.ncalls);
        double cost = descend(&w.p, starts, 2, seed, inlined, &builds), least = brute(&w);
        late += builds > w.p.builds || builds != w.asked;
        wrong += cost != total(&w, inlined) || cost < least;
        worse += cost > fmin(total(&w, starts), total(&w, starts + w.p.ncalls));
        best += cost == least;
        for (size_t i = 0; i < w.p.ncalls && seed % 4; i++) {
            inlined[i] ^= 1;
            better += total(&w, inlined) < cost;
            inlined[i] ^= 1;
        }
    }
    ok(wrong == 0, name);
    ok(better == 0, "no call decided the other way is better");
    ok(worse == 0, "nor is a start");
    ok(late == 0, "never more builds than the budget");
    ok(best > 100, "more than half of them are the optimum");
}

/* a compiler that makes nothing at all of the functions that no table can tell: still not below the bound */
static void loose_functions_have_no_bound(void)
{
    int above = 0, closed_loose = 0, some = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;
        unsigned char inlined[CALLS + 1];
        bool closed[FUNCTIONS + 1];
        struct optimal_answer a = { .inlined = inlined, .closed = closed };
        make(&w, seed, 1 << CALLS, 1 << 20);
        for (uint32_t f = 0; f < w.p.nfunctions; f++) w.loose[f] = hash_bytes(&f, sizeof f, seed) % 4 == 0;
        struct optimal *o = optimal_new(&w.p);
        optimal_solve(o, &a);
        double least = INFINITY;
        for (unsigned set = 0; set < 1u << w.p.ncalls; set++) {
            unsigned char x[CALLS];
            double sum = 0;
            for (uint32_t c = 0; c < w.p.ncalls; c++) x[c] = set >> c & 1;
            for (uint32_t f = 0; f < w.p.nfunctions; f++) if (!w.loose[f] && !goes(&w, x, f)) sum += cost_of(&w, x, f);
            least = fmin(least, sum);
        }
        above += a.lower > least;
        some += a.lower > 0 && a.lower < a.cost;
        for (size_t f = 0; f < w.p.nfunctions; f++) closed_loose += closed[f] && w.loose[f];
        optimal_free(o);
    }
    ok(above == 0, "what is loose may cost nothing, and the bound holds");
    ok(closed_loose == 0, "it is never called proven");
    ok(some > 50, "the others keep their part of the bound");
}

int main(void)
{
    same_as_brute_force("200 random graphs, functions that go: the optimum of brute force");
    bounds_hold();
    loose_functions_have_no_bound();
    logs_are_believed();
    descents_end_at_the_bottom("descents, functions that go: what it found costs what it says");
    struct optimal_call ring[] = { { 0, 1 }, { 1, 2 }, { 2, 1 }, { 2, 3 } };
    bool circle[4];
    optimal_circles(4, ring, 4, circle);
    ok(!circle[0] && circle[1] && circle[2] && !circle[3], "calls on a circle");
    return done();
}

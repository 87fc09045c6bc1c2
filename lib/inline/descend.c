/* descend.c - see descend.h */
#include "inline/descend.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = UINT32_MAX };

/* one call the other way, or all calls of a function decided `to` */
struct move {
    uint32_t call, callee;
    bool to, tried, helped;
};
struct descent {
    const struct optimal_problem *p;
    struct move *move;
    size_t nmoves;
    unsigned char *now, *next, *every;
    double *cost, *after, sum;                           /* cost, sum: of now */
    bool *touched, *mine;
    uint32_t *batch;
    long builds;
};

static double build(struct descent *d, const unsigned char *inlined, double *cost)
{
    double sum = 0;
    d->builds++;
    if (!d->p->cost(d->p->closure, inlined, d->every, cost)) return INFINITY;
    for (size_t f = 0; f < d->p->nfunctions; f++) sum += cost[f];
    return sum;
}

static bool moves_call(const struct descent *d, const struct move *m, size_t i)
{
    return m->call == ALL ? d->p->call[i].callee == m->callee && d->now[i] != m->to : m->call == i;
}

static bool apply(const struct descent *d, const struct move *m, unsigned char *inlined)
{
    bool any = false;
    for (size_t i = 0; i < d->p->ncalls; i++) {
        if (!moves_call(d, m, i)) continue;
        inlined[i] = !d->now[i];
        any = true;
    }
    return any;
}

/* the functions that hold code of the callers, and the callee */
static void touch(const struct descent *d, const struct move *m, bool *to)
{
    memset(to, 0, d->p->nfunctions * sizeof *to);
    for (size_t i = 0; i < d->p->ncalls; i++) if (moves_call(d, m, i)) to[d->p->call[i].caller] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < d->p->ncalls; i++)
            if (d->now[i] && to[d->p->call[i].callee] && !to[d->p->call[i].caller])
                to[d->p->call[i].caller] = more = true;
    }
    to[m->callee] = true;
}

static bool meets(const struct descent *d)
{
    for (size_t f = 0; f < d->p->nfunctions; f++) if (d->mine[f] && d->touched[f]) return true;
    return false;
}

/* moves not tried yet that do not meet, all made in d->next; how many */
static size_t choose(struct descent *d)
{
    size_t n = 0;
    memset(d->touched, 0, d->p->nfunctions * sizeof *d->touched);
    memcpy(d->next, d->now, d->p->ncalls);
    for (uint32_t k = 0; k < d->nmoves; k++) {
        struct move *m = &d->move[k];
        if (m->tried) continue;
        touch(d, m, d->mine);
        if (meets(d)) continue;
        m->tried = true;
        if (!apply(d, m, d->next)) continue;
        for (size_t f = 0; f < d->p->nfunctions; f++) d->touched[f] |= d->mine[f];
        d->batch[n++] = k;
    }
    return n;
}

static bool take(struct descent *d, double sum)
{
    if (!(sum < d->sum)) return false;
    memcpy(d->now, d->next, d->p->ncalls);
    memcpy(d->cost, d->after, d->p->nfunctions * sizeof *d->cost);
    d->sum = sum;
    return true;
}

/* which of the batch helped, by what each alone touches; the one that helped most in *best */
static size_t judge(struct descent *d, size_t n, size_t *best)
{
    size_t helped = 0;
    double least = 0;
    for (size_t k = 0; k < n; k++) {
        struct move *m = &d->move[d->batch[k]];
        double gain = 0;
        touch(d, m, d->mine);
        for (size_t f = 0; f < d->p->nfunctions; f++) if (d->mine[f]) gain += d->after[f] - d->cost[f];
        m->helped = gain < 0;
        helped += m->helped;
        if (gain < least) least = gain, *best = k;
    }
    return helped;
}

/* false: nothing is better */
static bool step(struct descent *d, size_t n)
{
    size_t best = 0;
    double sum = build(d, d->next, d->after);
    if (isinf(sum)) return false;
    size_t helped = judge(d, n, &best);
    if (!helped || helped == n) return take(d, sum);
    for (int alone = 0; alone < 2 && d->builds < d->p->builds; alone++) {
        memcpy(d->next, d->now, d->p->ncalls);
        for (size_t k = 0; k < n; k++)
            if (alone ? k == best : d->move[d->batch[k]].helped) apply(d, &d->move[d->batch[k]], d->next);
        if (take(d, build(d, d->next, d->after))) return true;
    }
    return false;
}

static void list_moves(struct descent *d, uint64_t seed)
{
    struct rng r = rng_for(seed, str_of("descend"));
    size_t *calls = xcalloc(d->p->nfunctions + 1, sizeof *calls);
    for (uint32_t i = 0; i < d->p->ncalls; i++) {
        uint32_t f = d->p->call[i].callee;
        d->move[d->nmoves++] = (struct move){ .call = i, .callee = f };
        if (++calls[f] != 2) continue;
        for (int to = 0; to < 2; to++) d->move[d->nmoves++] = (struct move){ .call = ALL, .callee = f, .to = to };
    }
    rng_shuffle(&r, d->move, d->nmoves, sizeof *d->move);
    free(calls);
}

double descend(const struct optimal_problem *p, const unsigned char *starts, size_t nstarts, uint64_t seed,
               unsigned char *inlined, long *builds)
{
    size_t f = p->nfunctions + 1, c = p->ncalls + 1;
    struct descent d = { .p = p, .sum = INFINITY, .now = inlined, .next = xcalloc(c, 1), .every = xmalloc(f, 1),
                         .move = xcalloc(c, 2 * sizeof *d.move), .batch = xcalloc(c, 2 * sizeof *d.batch),
                         .cost = xcalloc(f, sizeof *d.cost), .after = xcalloc(f, sizeof *d.after),
                         .touched = xcalloc(f, sizeof *d.touched), .mine = xcalloc(f, sizeof *d.mine) };
    memset(d.every, 1, f);
    memset(inlined, 0, p->ncalls);
    list_moves(&d, seed);
    for (size_t i = 0; i < nstarts && d.builds < p->builds; i++) {
        memcpy(d.next, starts + i * p->ncalls, p->ncalls);
        take(&d, build(&d, d.next, d.after));
    }
    for (bool again = p->ncalls > 0 && !isinf(d.sum); again && d.builds < p->builds;) {
        again = false;
        for (size_t n = 1; n && d.builds < p->builds;) {
            n = choose(&d);
            if (n) again |= step(&d, n);
        }
        for (size_t k = 0; k < d.nmoves; k++) d.move[k].tried = false;
    }
    *builds = d.builds;
    free_all(d.next, d.every, d.move, d.batch, d.cost, d.after, d.touched, d.mine);
    return isinf(d.sum) ? NAN : d.sum;
}

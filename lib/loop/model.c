#include "loop/evaluate.h"
#include <math.h>

/* two private caches: bytes that stay in them, and bytes a cycle that come into them */
static const struct { double bytes, per_cycle; } cache[] = { { 40e3, 48 }, { 800e3, 20 }, { 24e6, 7 } };
static const double CYCLES_PER_SECOND = 4e9, OVERLAP = 0.4;
/* of an element transposed, of one that leaves the caches in between, of each block */
static const double CYCLES_PER_MOVED = 0.4, CYCLES_PER_FAR = 2, CYCLES_PER_PACK = 100;
enum { LEVELS = sizeof cache / sizeof *cache };

/* bytes of tensor t that a block of extents e touches: whole cache lines along its fastest variable */
static double footprint(const struct problem *p, const struct plan *q, int t, const int32_t *e)
{
    double n = 4, run = 1;
    for (int v = 0; v < p->nvar; v++) {
        if (!q->stride[t][v]) continue;
        n *= e[v];
        if (q->stride[t][v] == 1) run = e[v];
    }
    return n * (run < 16 ? 16 / run : 1);
}

/* bytes that tensor t brings into a cache of this size: the deepest block that stays, as often as it changes */
static double traffic(const struct problem *p, const struct nest *l, const struct plan *q, double bytes)
{
    int32_t inner[NEST_LOOPS], e[NEST_LOOPS + 1][NEST_VARS];
    nest_inner(l->loop, l->n, inner);
    for (int v = 0; v < NEST_VARS; v++) e[0][v] = v < p->nvar ? p->size[v] : 1;
    int depth = 0;
    for (int d = 0; d < l->n; d++) {
        for (int v = 0; v < NEST_VARS; v++) e[d + 1][v] = e[d][v];
        e[d + 1][l->loop[d].var] = inner[d];
    }
    while (depth < l->n &&
           footprint(p, q, 0, e[depth]) + footprint(p, q, 1, e[depth]) + footprint(p, q, 2, e[depth]) > bytes)
        depth++;
    double total = 0;
    for (int t = 0; t < 3; t++) {
        double times = footprint(p, q, t, e[depth]);
        bool changed = false;
        for (int d = depth; d-- > 0; ) {                 /* innermost loops that do not move through t find it again */
            int v = l->loop[d].var;
            changed |= q->stride[t][v] != 0;
            if (changed) times *= l->loop[d].size + (l->loop[d].tail ? (double)l->loop[d].tail / inner[d] : 0);
        }
        total += times * (t == TENSOR_C ? 2 : 1);
    }
    return total;
}

const char *model_seconds(double *seconds, const struct problem *p, const struct nest *t, enum isa isa, bool prepared)
{
    struct plan q;
    const char *why = kernel_plan(&q, p, t, isa, prepared);
    *seconds = INFINITY;
    if (why) return why;
    double cycles = q.cycles, all = 0;
    for (int u = 0; u < 3; u++) all += footprint(p, &q, u, p->size);
    for (int i = 0; i < LEVELS; i++) {
        if (all <= cache[i].bytes) break;
        double c = traffic(p, t, &q, cache[i].bytes) / cache[i].per_cycle / q.threads;
        cycles = fmax(cycles, c) + OVERLAP * fmin(cycles, c) * (i == 0 ? 0.25 : 1);
    }
    if (!prepared) cycles += q.moved * CYCLES_PER_MOVED + q.far * CYCLES_PER_FAR + q.packs * CYCLES_PER_PACK;
    *seconds = (cycles + 200) / CYCLES_PER_SECOND;
    return NULL;
}

#include "place/parameters.h"
#include "base/compare.h"
#include "base/message.h"
#include "place/engine.h"
#include "place/sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 6, ORDERS = 2 };                          /* of the bytes of all parameters */
static const double WORTH = 0.01;                        /* less is not told from noise */
struct parameter { int tensor; double bytes, seconds; };  /* seconds: what its kernels lose when it is slow */

static int by_cost(const void *x, const void *y)
{
    const struct parameter *a = x, *b = y;
    return ORDER(a->seconds / a->bytes, b->seconds / b->bytes) ?: ORDER(a->tensor, b->tensor);
}

static int by_size(const void *x, const void *y)
{
    const struct parameter *a = x, *b = y;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->tensor, b->tensor);
}

static double seconds_of(const struct graph *g, const struct profile *profile, int node, uint32_t offloaded)
{
    static struct choice table[1 << GRAPH_SLOTS];
    profile_table(profile, g, node, offloaded, (uint64_t)1 << 52, table);
    return table[0].seconds;
}

static struct parameter *parameters(const struct graph *g, const struct profile *profile, int *n)
{
    struct parameter *p = xcalloc((size_t)g->ntensor + 1, sizeof *p);
    *n = 0;
    for (int t = 0; t < g->ntensor; t++) {
        if (!graph_offloadable(g, t) || graph_home(g, t) != t) continue;
        struct parameter *one = &p[(*n)++];
        *one = (struct parameter){ t, (double)g->tensor[t].bytes, 0 };
        for (int i = 0; i < g->nnode; i++) {
            uint32_t slow = node_operands(g, i, t);
            if (slow) one->seconds += seconds_of(g, profile, i, slow) - seconds_of(g, profile, i, 0);
        }
    }
    return p;
}

/* the first ones that have that share of all bytes */
static bool *first_of(const struct graph *g, const struct parameter *p, int n, double share)
{
    bool *set = xcalloc((size_t)g->ntensor + 1, sizeof *set);
    double all = 0, taken = 0;
    for (int i = 0; i < n; i++) all += p[i].bytes;
    for (int i = 0; i < n && taken < share * all; i++) {
        set[p[i].tensor] = true;
        taken += p[i].bytes;
    }
    return set;
}

static uint64_t bytes_of(const struct graph *g, const bool *set)
{
    uint64_t sum = 0;
    for (int t = 0; t < g->ntensor; t++)
        if (set[t]) sum += g->tensor[t].bytes;
    return sum;
}

static uint64_t left_for_pool(const struct graph *g, const bool *offloaded, uint64_t limit)
{
    uint64_t beside = engine_beside_bytes(g, offloaded);
    return limit > beside ? limit - beside : 0;
}

static bool *choose(const struct graph *g, const struct profile *profile, enum formulation form, uint64_t limit,
                    const struct effort *effort)
{
    int n, cells = 0, best = -1;
    struct parameter *p = parameters(g, profile, &n);
    struct sweep_cell cell[ORDERS * PARTS + 1] = { { 0 } };
    for (int order = 0; order < ORDERS; order++) {
        qsort(p, (size_t)n, sizeof *p, order ? by_size : by_cost);
        for (int part = order > 0; part <= PARTS; part++) {
            bool *set = first_of(g, p, n, (double)part / PARTS), again = false;
            for (int i = 0; i < cells; i++) again |= !memcmp(set, cell[i].offloaded, (size_t)g->ntensor);
            uint64_t pool = left_for_pool(g, set, limit);
            if (!again && pool) cell[cells++] = (struct sweep_cell){ .form = form, .limit = pool, .offloaded = set };
            else free(set);
        }
    }
    sweep_run(g, profile, effort, cell, cells, (int)sysconf(_SC_NPROCESSORS_ONLN), false);
    double fastest = INFINITY;
    for (int i = 0; i < cells; i++)
        if (cell[i].planned) fastest = fmin(fastest, cell[i].objective);
    for (int i = 0; i < cells; i++) {
        if (!cell[i].planned || cell[i].objective > fastest * (1 + WORTH)) continue;
        if (best < 0 || bytes_of(g, cell[i].offloaded) < bytes_of(g, cell[best].offloaded)) best = i;
    }
    bool *set = best < 0 ? first_of(g, p, n, 1) : cell[best].offloaded;
    for (int i = 0; i < cells; i++)
        if (i != best) free(cell[i].offloaded);
    free(p);
    return set;
}

struct plan *plan_of_process(const struct graph *g, const struct profile *profile, enum formulation form,
                             uint64_t limit, const struct effort *effort, bool offload)
{
    struct effort quick = *effort;
    quick.exact = 0;
    bool *offloaded = offload ? choose(g, profile, form, limit, &quick) : NULL;
    uint64_t pool = left_for_pool(g, offloaded, limit);
    if (!pool)
        die("the limit of %llu bytes is too small: parameters, inputs and the program alone take %llu bytes",
            (unsigned long long)limit, (unsigned long long)engine_beside_bytes(g, offloaded));
    struct plan *plan = make_plan_offloading(g, profile, form, pool, effort, offloaded);
    free(offloaded);
    return plan;
}

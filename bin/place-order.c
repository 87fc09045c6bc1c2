/* place-order - run the kernels of a step in an order that needs less memory
 *
 * Usage: place-order [GRAPH]
 *        place-order --formulation=NAME [--ratio=R:1 | --limit=BYTES]
 *                    --profile=FILE [--plan=FILE] [GRAPH]
 *
 * Writes the graph with its nodes in another order, every node still after
 * those that make what it reads and the update of a parameter after all others
 * that read it, so that no bit of a result changes: of list scheduling (next is
 * what frees most) and the order as it was, each improved by swaps of
 * neighbours, the one whose peak is lowest.  The graph as it was when none is
 * lower; a line says both peaks.
 *
 * With a formulation these orders and those that are best by the prices of a
 * plan's bound are planned, and the one with the fastest plan is written, the
 * graph as it was when none gains 0.2 %; --plan writes that plan too.  --ratio
 * is of the peak of the graph that is read, so later steps need --limit.
 * `place-check --original` proves that the two graphs compute the same.
 * Memory: graph, profile, some tables.
 *
 * Examples:
 *   $ place-net densenet264 --batch=4 | place-order | place-stat
 *   $ place-order -f sync --ratio=8:1 -p p.csv --plan=plan.sexp g.sexp > h.sexp
 */
#include "base/filter.h"
#include "base/message.h"
#include "place/layout.h"
#include "place/limit.h"
#include "place/order.h"
#include HELP
#include <stdlib.h>
#include <string.h>

static const double WORTH_IT = 0.002;                    /* of the plan's time */

static const char *ratio, *profile_path, *plan_path;
static int formulation = -1;
static uint64_t limit;
static struct effort effort = { 3000, 2000, 1, 0 };
static long seed = 1;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync|async", "judge orders by plans of this formulation" },
    FAST_MEMORY(ratio, limit),
    KERNEL_TIMES(profile_path),
    { 0, "plan", STR, &plan_path, "FILE", "write the plan here" },
    EFFORT_OPTIONS(effort),
    { 's', "seed", INT, &seed, "N", "of the search" },
    { 0 } };

struct best { struct graph *g; struct plan *plan; };

/* the graph in the order that is best of this kind by these weights, NULL for none */
static struct graph *ordered(const struct graph *g, enum order_from from, const double *weight)
{
    int *order = xmalloc((size_t)g->nnode + 1, sizeof *order);
    order_nodes(g, from, order);
    order_improve(g, weight, order);
    struct graph *to = order_graph(g, order);
    free(order);
    return to;
}

static uint64_t peak_of(const struct graph *g)
{
    int *order = xmalloc((size_t)g->nnode + 1, sizeof *order);
    order_nodes(g, ORDER_OWN, order);
    uint64_t peak = order_peak(g, order);
    free(order);
    return peak;
}

static struct graph *least_peak(struct graph *g)
{
    struct graph *best = g;
    for (int from = ORDER_OWN; from <= ORDER_LIST; from++) {
        struct graph *to = ordered(g, (enum order_from)from, NULL);
        if (peak_of(to) < peak_of(best)) best = to;
        else graph_free(to);
    }
    if (!quiet)
        warn("%s: peak %llu bytes, %llu as it was", g->name, (unsigned long long)peak_of(best),
             (unsigned long long)peak_of(g));
    return best;
}

/* what a plan's bound charges for a byte at each node; NULL where it charges nothing */
static double *weights(const struct graph *g, const struct plan *p)
{
    double *w = xcalloc((size_t)g->nnode + 1, sizeof *w), sum = 0;
    for (int n = 0; n < g->nnode; n++) sum += w[n] = p->node[n].nprice ? p->node[n].price[0] : 0;
    if (sum > 0) return w;
    free(w);
    return NULL;
}

static void try_order(const struct profile *profile, uint64_t bytes, struct graph *to, struct best *best)
{
    struct plan *plan = make_plan(to, profile, (enum formulation)formulation, bytes, &effort);
    if (plan->objective < best->plan->objective * (1 - WORTH_IT)) {
        plan_free(best->plan);
        *best = (struct best){ to, plan };
    } else {
        plan_free(plan);
    }
}

static struct best fastest_plan(struct graph *g, const struct profile *profile, uint64_t bytes)
{
    enum formulation form = (enum formulation)formulation;
    struct best best = { g, make_plan(g, profile, form, bytes, &effort) };
    double was = best.plan->objective;
    for (int from = ORDER_OWN; from <= ORDER_LIST; from++)
        try_order(profile, bytes, ordered(g, (enum order_from)from, NULL), &best);
    struct graph *at = best.g;
    struct plan *priced = make_plan(at, profile, form == FORM_STATIC ? FORM_STATIC : FORM_SYNC, bytes, &effort);
    double *w = weights(at, priced);
    if (w) try_order(profile, bytes, ordered(at, ORDER_OWN, w), &best);
    if (!quiet) warn("%s: a step of %.6g s, %.6g as it was", g->name, best.plan->objective, was);
    free(w);
    plan_free(priced);
    return best;
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    bool planned = formulation >= 0;
    if (!planned && (profile_path || ratio || limit || plan_path)) usage("no formulation given, see --formulation");
    if (planned && !profile_path) usage("no profile given, see --profile");
    if (planned && !ratio == (limit == 0)) usage("how much fast memory? --ratio or --limit");
    double part = ratio ? fast_share(ratio) : 0;
    if (ratio && (part <= 0 || part >= 1)) usage("ratio %s leaves no choice", ratio);
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    if (!planned) {
        graph_write(least_peak(g), "-");
        return EXIT_OK;
    }
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = ratio ? (uint64_t)((double)graph_peak(g) * part) : limit;
    struct best best = fastest_plan(g, profile, bytes);
    if (plan_path) plan_write(best.plan, plan_path);
    graph_write(best.g, "-");
    return EXIT_OK;
}

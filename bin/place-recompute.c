/* place-recompute - repeat nodes whose results cost more to keep than to make
 *
 * Usage: place-recompute --formulation=NAME [--limit=SIZE|N% | --ratio=R:1]
 *                        --profile=FILE [--plan=FILE] [--base=FILE] [GRAPH]
 *
 * The third choice beside keeping a tensor in fast memory and moving it:
 * writes the graph with some nodes run a second time, just before the backward
 * pass needs what they made (NAME.again).  What a tensor costs between its
 * uses comes from the prices of a plan; the graphs so made are planned in
 * turn, and the one with the fastest plan is written, the graph as it was when
 * none gains 0.2 %.  Moves slow down the kernels beside which they are made, by
 * what the profile says.
 * --plan writes that plan too; --base is the plan without repetitions, where
 * place-plan has made it already.  --ratio is of the peak of the graph that is
 * read, so later steps need --limit.  A bound in the plan holds for the graph
 * that is written.  `place-check --original` proves that the two graphs compute
 * the same.  Memory: graph, profile, some tables.
 *
 * Examples:
 *   $ place-recompute --formulation=async --ratio=8:1 --profile=p.csv \
 *         --plan=plan.sexp g.sexp > again.sexp
 *   $ place-run --plan=plan.sexp --tier=file:/var/tmp again.sexp
 */
#include "base/filter.h"
#include "place/layout.h"
#include "place/limit.h"
#include "place/recompute.h"
#include "tensor/ops.h"
#include HELP
#include <string.h>

static const double WORTH_IT = 0.002;                    /* of the plan's time */

static struct budget budget;
static const char *profile_path, *plan_path, *base_path;
static int formulation = -1;
static struct effort effort = { 3000, 2000, 1, 0 };
static long seed = 1, levels = 2;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync|async", "what may be decided besides" },
    FAST_MEMORY(budget),
    KERNEL_TIMES(profile_path),
    { 0, "plan", STR, &plan_path, "FILE", "write the plan here" },
    { 0, "base", STR, &base_path, "FILE", "the plan without repetitions, of place-plan" },
    { 0, "levels", INT, &levels, "N", "operands of repeated nodes that are made again, in so many steps", 1, 100 },
    EFFORT_OPTIONS(effort),
    { 's', "seed", INT, &seed, "N", "of the search" },
    { 0 } };

struct best { struct graph *g; struct plan *plan; };

/* no step is faster than its kernels at their best */
static double kernels_alone(const struct graph *g, const struct profile *profile)
{
    double sum = 0;
    for (int n = 0; n < g->nnode; n++) {
        struct choice c = { 0 };
        if (profile_find(profile, g->kernel[g->node[n].kernel].key, 0, -1, &c)) sum += c.seconds;
    }
    return sum;
}

/* Moves beside kernels may have no price at all; those between kernels have. */
static void try_all(const struct graph *g, const struct profile *profile, uint64_t bytes, struct best *best)
{
    static const double worth[] = { 0, 1, 4 };
    enum formulation form = (enum formulation)formulation;
    double least = best->plan->objective * (1 - WORTH_IT);
    if (least <= kernels_alone(g, profile)) return;      /* nothing is left to gain */
    struct plan *priced = make_plan(g, profile, form == FORM_STATIC ? FORM_STATIC : FORM_SYNC, bytes, &effort);
    for (size_t i = 0; i < sizeof worth / sizeof *worth; i++) {
        int repeated = 0;
        struct graph *again = recompute(g, profile, priced, worth[i], (int)levels, &repeated);
        struct plan *plan = repeated > 0 ? make_plan(again, profile, form, bytes, &effort) : NULL;
        if (!plan || !(plan->objective < least)) {
            plan_free(plan);
            graph_free(again);
            continue;
        }
        least = plan->objective;
        *best = (struct best){ again, plan };
    }
    plan_free(priced);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (formulation < 0) usage("no formulation given, see --formulation");
    if (!profile_path) usage("no profile given, see --profile");
    budget_parse(&budget);
    if (!budget.given) usage("how much fast memory? --limit or --ratio");
    if (budget.share == 0 || budget.share >= 1)
        usage("%s leaves no choice", budget.ratio ? budget.ratio : budget.limit);
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = budget_bytes(&budget, (double)graph_peak(g));
    struct plan *base = base_path ? plan_read(base_path, g) : NULL;
    if (base && (strcmp(base->formulation, formulation_names[formulation]) != 0 || base->limit != bytes))
        die("%s: formulation %s below %llu bytes, not %s below %llu", base_path, base->formulation,
            (unsigned long long)base->limit, formulation_names[formulation], (unsigned long long)bytes);
    if (!base) base = make_plan(g, profile, (enum formulation)formulation, bytes, &effort);
    struct best best = { g, base };
    try_all(g, profile, bytes, &best);
    if (plan_path) plan_write(best.plan, plan_path);
    graph_write(best.g, "-");
    return EXIT_OK;
}

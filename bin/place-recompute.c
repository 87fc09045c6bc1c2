/* place-recompute - repeat nodes whose results cost more to keep than to make
 *
 * Usage: place-recompute --formulation=NAME [--ratio=R:1 | --limit=BYTES]
 *                        --profile=FILE [--plan=FILE] [GRAPH]
 *
 * The third choice beside keeping a tensor in fast memory and moving it:
 * writes the graph with some nodes run a second time, just before the backward
 * pass wants what they made (NAME.again).  What a tensor costs between its
 * uses comes from the prices of a plan; the graphs so made are planned in
 * turn, and the one with the fastest plan is written, the graph as it was when
 * none gains 0.2 %.  Plans do not know that moves slow down the kernels beside
 * which they are made; --interference=F counts that when they are compared (what
 * place-run's kernel_seconds are above all fast, over seconds of moves).
 * --plan writes that plan too.  --ratio is of the peak of the graph that is
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
#include HELP

static const double WORTH_IT = 0.002;                    /* of the plan's time */
static double interference;

static const char *ratio, *profile_path, *plan_path;
static int formulation = -1;
static uint64_t limit;
static struct effort effort = { 3000, 2000, 1 };
static long seed = 1, levels = 2;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync|async", "what may be decided besides", 0, 0 },
    { 0, "ratio", STR, &ratio, "R:1", "slow to fast memory, of the peak", 0, 0 },
    { 0, "limit", SIZE, &limit, "BYTES", "fast memory", 0, 0 },
    { 'p', "profile", STR, &profile_path, "FILE", "kernel times by tiers, from place-profile or place-cost", 0, 0 },
    { 0, "plan", STR, &plan_path, "FILE", "write the plan here", 0, 0 },
    { 0, "levels", INT, &levels, "N", "operands of repeated nodes that are made again, in so many steps", 1, 100 },
    { 0, "interference", NUM, &interference, "F", "seconds that kernels lose by a second of moves beside them", 0, 10 },
    { 0, "steps", INT, &effort.dual_steps, "N", "steps towards a better bound", 1, 1e7 },
    { 0, "rounds", INT, &effort.search_rounds, "N", "rounds of search for a better plan", 0, 1e7 },
    { 's', "seed", INT, &seed, "N", "of the search", 0, 0 },
    { 0 }
};

struct best { struct graph *g; struct plan *plan; };

/* what a step of a plan is taken to last, to compare it with others */
static double lasts(const struct graph *g, const struct profile *profile, const struct plan *p)
{
    double moves = 0;
    for (int i = 0; i < p->nmove; i++)
        moves += profile_move(profile, g->tensor[p->move[i].tensor].bytes, p->move[i].to == TIER_FAST);
    return p->objective + interference * moves;
}

/* Moves beside kernels may have no price at all; those between kernels have. */
static void try_all(const struct graph *g, const struct profile *profile, uint64_t bytes, struct best *best)
{
    static const double worth[] = { 0, 1, 4 };
    enum formulation form = (enum formulation)formulation;
    struct plan *priced = make_plan(g, profile, form == FORM_STATIC ? FORM_STATIC : FORM_SYNC, bytes, &effort);
    double least = lasts(best->g, profile, best->plan) * (1 - WORTH_IT);
    for (size_t i = 0; i < sizeof worth / sizeof *worth; i++) {
        int repeated = 0;
        struct graph *again = recompute(g, profile, priced, worth[i], (int)levels, &repeated);
        struct plan *plan = repeated > 0 ? make_plan(again, profile, form, bytes, &effort) : NULL;
        if (!plan || !(lasts(again, profile, plan) < least)) {
            plan_free(plan);
            graph_free(again);
            continue;
        }
        least = lasts(again, profile, plan);
        *best = (struct best){ again, plan };
    }
    plan_free(priced);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (formulation < 0) usage("no formulation given, see --formulation");
    if (!profile_path) usage("no profile given, see --profile");
    if (!ratio == (limit == 0)) usage("how much fast memory? --ratio or --limit");
    double part = ratio ? fast_share(ratio) : 0;
    if (ratio && (part <= 0 || part >= 1)) usage("ratio %s leaves no choice", ratio);
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = ratio ? (uint64_t)((double)graph_peak(g) * part) : limit;
    struct best best = { g, make_plan(g, profile, (enum formulation)formulation, bytes, &effort) };
    try_all(g, profile, bytes, &best);
    if (plan_path) plan_write(best.plan, plan_path);
    graph_write(best.g, "-");
    return EXIT_OK;
}

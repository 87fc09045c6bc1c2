/* place-plan - decide where each tensor lives and when it moves
 *
 * Usage: place-plan --formulation=NAME [--limit=SIZE|N% | --ratio=R:1]
 *                   [--process [--offload]] --profile=FILE [--times=FILE] [GRAPH]
 *        place-plan --lp --formulation=static|sync|async
 *                   [--limit=SIZE|N% | --ratio=R:1] --profile=FILE [GRAPH]
 *
 * Writes the plan of one training step: for every intermediate tensor its
 * stays in fast and slow memory with offsets, the copies between, and for
 * every kernel the tiers of its operands, the mode and the time expected.
 * Formulations: static (a tier for life), sync (copies between kernels),
 * async (copies beside kernels, on one channel), numa (first touch; no
 * choice), slow and fast (the two ends, no limit).
 * The limit is fast memory for intermediates and staging, in bytes or as a share
 * of the graph's peak; --ratio=R:1 begins with 1 / (R + 1) of it and looks for
 * the limit with which the pools, slow to fast, have that ratio within 5 % (or
 * come nearest); 1:0 is slow and 0:1 is fast. With --process it is what the
 * process of place-run may take: parameters, inputs and the program are counted,
 * a share is of all; --offload keeps parameters in slow memory for the whole
 * step, which ones and how many by trial. Tensors below 64 KiB always stay in
 * fast memory. The plan says objective_seconds, bound_seconds (no plan that
 * offloads the same parameters can be faster) and gap_ratio, with the prices
 * that prove the bound. --exact=SECONDS gives the plan (static, sync, async) to
 * CBC, which must be installed, for so much of its CPU time; the faster of both
 * plans is written, checked as place-check does, and a line says what CBC proved
 * (the plan's bound stays ours, which prices prove). --times writes a row of
 * creation_seconds (CPU for reading) and optimisation_seconds (CPU for the
 * plan). Memory: graph, profile, tables.
 *
 * With --lp the same problem goes out instead, without offsets (async: nor the
 * order of copies; --ratio: below 1 / (R + 1) of the peak), as a mixed-integer
 * program in CPLEX's LP format, which CBC, GLPK, HiGHS, SCIP and others read.
 * Objective in microseconds.  Only arcs (e..) or tensors (x..) are binary.
 *
 * Examples:
 *   $ place-plan --formulation=sync --limit=20% --profile=p.csv g.sexp
 *   $ place-plan --formulation=static --limit=1Gi --profile=p.csv g.sexp
 *   $ place-plan --lp -f sync --ratio=4:1 -p p.csv g.sexp > model.lp
 *   $ cbc model.lp -ratioGap 0.01 -solve
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/engine.h"
#include "place/limit.h"
#include "place/lp.h"
#include "place/parameters.h"
#include "place/solve.h"
#include "place/sweep.h"
#include "place/verify.h"
#include "measure/clock.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <string.h>

static struct budget budget;
static const char *profile_path, *times_path;
static int formulation = -1;
static struct effort effort = { 3000, 2000, 1, 0 };
static long seed = 1;
static bool process, offload, lp;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync|async|numa|slow|fast", "what may be decided" },
    FAST_MEMORY(budget),
    { 0, "process", FLAG, &process, NULL, "the limit is of the whole process of place-run" },
    { 0, "offload", FLAG, &offload, NULL, "parameters may lie in slow memory; with --process" },
    KERNEL_TIMES(profile_path),
    { 0, "times", STR, &times_path, "FILE", "what planning took" },
    EFFORT_OPTIONS(effort),
    { 0, "exact", NUM, &effort.exact, "SECONDS", "let CBC improve the plan", 0, 1e7 },
    { 's', "seed", INT, &seed, "N", "of the search" },
    { 0, "lp", FLAG, &lp, NULL, "write the problem for exact solvers, no plan" },
    { 0 } };

static void fault(void *context, const char *what)
{
    (void)context;
    die("a fault in the plan, which is one of place-plan: %s", what);
}

static void write_times(double creation, double optimisation)
{
    csvw *w = csvw_open(times_path);
    csvw_names(w, "creation_seconds,optimisation_seconds");
    csvw_end(w);
    csvw_num(w, creation);
    csvw_num(w, optimisation);
    csvw_end(w);
    csvw_close(w);
}

static int write_lp(const struct graph *g, struct profile *profile, enum formulation form, uint64_t bytes)
{
    struct out *o = out_open("-");
    struct placing *p = placing_new(g, profile, bytes, form != FORM_STATIC, NULL);
    if (form == FORM_ASYNC) placing_price(p, prices_new(p).nu);
    placing_write_lp(p, out_file(o));
    out_close(o);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (formulation < 0) usage("no formulation given, see --formulation");
    if (!profile_path) usage("no profile given, see --profile");
    budget_parse(&budget);
    enum formulation form = (enum formulation)formulation;
    if (!budget.given && form != FORM_SLOW && form != FORM_FAST)
        usage("how much fast memory? see --limit and --ratio");
    if ((effort.exact > 0 || lp) && form != FORM_STATIC && form != FORM_SYNC && form != FORM_ASYNC)
        usage("--%s is for static, sync and async", lp ? "lp" : "exact");
    if (lp && (process || times_path || effort.exact > 0)) usage("--lp writes no plan: no --process, --times, --exact");
    if (!lp && budget.share == 0) form = FORM_SLOW;
    if (!lp && budget.share >= 1) form = FORM_FAST;
    if (offload && !process) usage("--offload is for a limit of the whole process, see --process");
    effort.seed = (uint64_t)seed;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = budget_bytes(&budget, (double)(graph_peak(g) + (process ? engine_beside_bytes(g, NULL) : 0)));
    if (lp) return write_lp(g, profile, form, bytes);
    double read = (double)cpu_ns() * 1e-9;
    bool end = form == FORM_SLOW || form == FORM_FAST;
    struct plan *plan = end               ? make_plan(g, profile, form, bytes, &effort)
                        : process         ? plan_of_process(g, profile, form, bytes, &effort, offload)
                        : budget.ratio    ? sweep_plan(g, profile, &effort, form, bytes, 1 / budget.share - 1)
                                          : make_plan(g, profile, form, bytes, &effort);
    if (effort.exact > 0) verify_plan(g, profile, plan, fault, NULL);
    if (times_path) write_times(read, (double)cpu_ns() * 1e-9 - read);
    plan_write(plan, "-");
    plan_free(plan);
    profile_free(profile);
    graph_free(g);
    return EXIT_OK;
}

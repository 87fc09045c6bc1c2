/* place-emit - write a placement problem for exact solvers
 *
 * Usage: place-emit --formulation=static|sync|async
 *                   [--limit=SIZE|N% | --ratio=R:1] --profile=FILE [GRAPH]
 *
 * The same problem that place-plan solves, without offsets (async: nor the order
 * of copies), as a mixed-integer program in CPLEX's LP format, which CBC, GLPK,
 * HiGHS, SCIP and others read.
 * Objective in microseconds.  Only arcs (e..) or tensors (x..) are binary.
 *
 * Examples:
 *   $ place-emit -f sync --ratio=4:1 -p profile.csv graph.sexp > model.lp
 *   $ cbc model.lp -ratioGap 0.01 -solve
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/limit.h"
#include "place/lp.h"
#include "place/solve.h"
#include HELP
#include <string.h>

static struct budget budget;
static const char *profile_path;
static int formulation = -1;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync|async", "what may be decided" },
    FAST_MEMORY(budget),
    KERNEL_TIMES(profile_path),
    { 0 } };

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (formulation < 0) usage("no formulation given, see --formulation");
    if (!profile_path) usage("no profile given, see --profile");
    budget_parse(&budget);
    if (!budget.given) usage("one of --ratio and --limit is needed");
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = budget_bytes(&budget, (double)graph_peak(g));
    struct out *o = out_open("-");
    struct placing *p = placing_new(g, profile, bytes, formulation != FORM_STATIC, NULL);
    if (formulation == FORM_ASYNC) placing_price(p, prices_new(p).nu);
    placing_write_lp(p, out_file(o));
    out_close(o);
    placing_free(p);
    profile_free(profile);
    graph_free(g);
    return EXIT_OK;
}

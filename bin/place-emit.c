/* place-emit - write a placement problem for exact solvers
 *
 * Usage: place-emit --formulation=static|sync [--ratio=R:1 | --limit=BYTES]
 *                   --profile=FILE [GRAPH]
 *
 * The same problem that place-plan solves, without offsets, as a mixed-integer
 * program in CPLEX's LP format, which CBC, GLPK, HiGHS, SCIP and others read.
 * Objective in seconds.  Only arcs (e..) or tensors (x..) are binary.
 *
 * Examples:
 *   $ place-emit -f sync --ratio=4:1 -p profile.csv graph.sexp > model.lp
 *   $ cbc model.lp -ratioGap 0.01 -solve
 */
#include "base/filter.h"
#include "base/out.h"
#include "place/limit.h"
#include "place/lp.h"
#include HELP
#include <string.h>

static const char *ratio, *profile_path;
static int formulation = -1;
static uint64_t limit;
static const struct opt options[] = {
    { 'f', "formulation", WORD, &formulation, "static|sync", "what may be decided" },
    FAST_MEMORY(ratio, limit),
    KERNEL_TIMES(profile_path),
    { 0 } };

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    if (formulation < 0) usage("no formulation given, see --formulation");
    if (!profile_path) usage("no profile given, see --profile");
    if (!ratio == (limit == 0)) usage("one of --ratio and --limit is needed");
    double part = ratio ? fast_share(ratio) : 0;
    struct graph *g = graph_read(path);
    struct profile *profile = profile_read(profile_path);
    uint64_t bytes = ratio ? (uint64_t)((double)graph_peak(g) * part) : limit;
    struct out *o = out_open("-");
    struct placing *p = placing_new(g, profile, bytes, formulation == FORM_SYNC);
    placing_write_lp(p, out_file(o));
    out_close(o);
    placing_free(p);
    profile_free(profile);
    graph_free(g);
    return EXIT_OK;
}

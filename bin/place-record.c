/* place-record - one row with everything about a planned and executed step
 *
 * Usage: place-record --plan=FILE --run=FILE [--kernels=FILE] [--profile=FILE]
 *                     [--ratio=R:1] [--times=FILE] [-o FILE] [GRAPH]
 *
 * RUN and KERNELS are what place-run wrote.  Columns out: network, batch,
 * formulation, ratio (as asked for), then time (predicted_seconds from the
 * plan, bound_seconds, gap_ratio, actual_seconds = fastest counted step,
 * median_seconds, all of them in step_seconds, the
 * fastest of each round, which begins where the steps of RUN do, in
 * round_seconds), memory (io_bytes, peak_bytes,
 * limit, pools and reached_ratio, that of the pools, high-water mark), moves
 * by direction, operand slots in fast memory, traffic of the tier, loss of
 * every step, and the setting (tier, method, kind, threads, isa, machine,
 * load), oracle_seconds (with a profile: no moves, any workspace) and
 * gpu_managed_seconds (a run in managed memory).  Three cells are
 * s-expressions: tensor_bytes, config (tiers of every node), kernel_seconds.
 *
 * -o appends to FILE unless it holds that run of that network already.
 * Memory: graph and plan.
 *
 * Examples:
 *   $ place-record --plan=p.sexp --run=run.csv -o results.csv g.sexp
 */
#include "base/filter.h"
#include "place/result.h"
#include HELP
#include <string.h>

static const char *plan_path, *run_path, *kernels_path, *profile_path, *ratio, *times, *output = "-";

static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "the plan that was executed" },
    { 0, "run", STR, &run_path, "FILE", "the steps, from place-run" },
    { 0, "kernels", STR, &kernels_path, "FILE", "the times of nodes, from place-run --kernels" },
    { 0, "profile", STR, &profile_path, "FILE", "the profile planned with, for the planned time of moves" },
    { 0, "ratio", STR, &ratio, "R:1", "the ratio that was asked for" },
    { 0, "times", STR, &times, "FILE", "what planning took, from place-plan --times" },
    { 'o', "out", STR, &output, "FILE", "append here" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!plan_path) usage("no plan given, see --plan");
    if (!run_path) usage("no run given, see --run");
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_read(plan_path, g);
    struct record r = record_of(g, p, profile_path ? profile_read(profile_path) : NULL);
    if (times) record_times(&r, times);
    struct result_run s = result_run_read(run_path);
    bool append = strcmp(output, "-") != 0;
    csvw *w = append ? csvw_append(output, result_columns) : csvw_open("-");
    csvw_flush(w);
    if (append && result_is_there(output, g, p, ratio)) return csvw_close(w);
    if (!append) {
        csvw_names(w, result_columns);
        csvw_end(w);
    }
    result_write(w, g, p, &r, &s, ratio, kernels_path);
    return csvw_close(w);
}

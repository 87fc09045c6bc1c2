/* flambda-results - timings of the original study's result folders as a table
 *
 * Usage: flambda-results [--experiment=NAME] DIR
 *
 * In: DIR/BENCHMARK/EXPERIMENT/NAME.csv, one line per worker, without header:
 * worker, overrides file, run directory, timings with units (s, m, h, ms, us,
 * ns).  Out: benchmark, experiment, policy, worker, rundir, repeat, seconds,
 * kind; one row per timing, in byte order of the names; repeat counts from 1
 * within a line.  policy is NAME without plugin_.  An empty file, a build or
 * run that failed, gives one row, empty from worker to seconds.
 * Constant memory.
 *
 * Examples:
 *   $ flambda-results --experiment=plugins-valid results > timings.csv
 */
#include "base/filter.h"
#include "base/message.h"
#include HELP
#include "flambda/results.h"
#include "table/csvio.h"

static const char *experiment, *output;
static const struct opt options[] = {
    { 0, "experiment", STR, &experiment, "NAME", "only this one" },
    OUTPUT_OPTION(output),
    { 0 } };

static size_t found;

static void row(csvw *w, const struct result_line *l)
{
    found++;
    csvw_cstr(w, l->benchmark);
    csvw_cstr(w, l->experiment);
    csvw_cstr(w, l->policy);
}

static void write_line(void *context, const struct result_line *l)
{
    csvw *w = context;
    for (size_t i = 0; i < l->n && !l->failed; i++) {
        row(w, l);
        csvw_str(w, l->worker);
        csvw_str(w, l->rundir);
        csvw_int(w, (int64_t)i + 1);
        csvw_num(w, l->seconds[i]);
        csvw_cstr(w, "real");
        csvw_end(w);
    }
    if (!l->failed) return;
    row(w, l);
    for (int i = 0; i < 4; i++) csvw_empty(w);
    csvw_cstr(w, "real");
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i != argc - 1) usage("one directory of results wanted");
    csvw *w = csvw_open(output);
    csvw_names(w, "benchmark,experiment,policy,worker,rundir,repeat,seconds,kind");
    csvw_end(w);
    results_walk(argv[i], experiment, write_line, w);
    if (!found) warn("no result%s%s", experiment ? " of experiment " : "", experiment ? experiment : "");
    return csvw_close(w);
}

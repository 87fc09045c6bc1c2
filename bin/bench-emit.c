/* bench-emit - write a table of runs in the format of another tool
 *
 * Usage: bench-emit --to=FORMAT [FILE]...
 *
 * FORMAT: hyperfine, google, pyperf (JSON), gobench, perf (text); see
 * bench-import, whose table is the same again after emission and import.
 *
 * Columns in: label, round, wall_seconds; what the format has room for:
 * user_seconds, sys_seconds, cpu_seconds, exit, phase, process, iterations,
 * threads, benchmark, counter_NAME, parameter_NAME, UNIT_per_UNIT.  For perf:
 * the columns that bench-import --from=perf writes.  Warm-up runs go to pyperf
 * only.  Means, medians and deviations are computed from the runs.
 * Memory: all rows.
 *
 * Examples:
 *   $ bench-emit --to=hyperfine runs.csv > runs.json
 */
#include "base/filter.h"
#include HELP
#include "measure/foreign.h"
#include "table/input.h"
#include <string.h>

static enum foreign to = FOREIGN_NONE;
static const struct opt options[] = {
    { 0, "to", WORD, &to, FOREIGN_FORMATS, "the format" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (to == FOREIGN_NONE) usage("no format given, see --to");
    csv *in = csv_files(argv + i);
    static struct table t;
    t = table_load(in);
    csv_close(in);
    static void (*const emit[])(const struct table *) = { emit_hyperfine, emit_google, emit_pyperf, emit_gobench,
                                                          emit_perf };
    emit[to](&t);
    return EXIT_OK;
}

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
#include <string.h>

static const char *to;
static const struct opt options[] = {
    { 't', "to", WORD, &to, "hyperfine|google|pyperf|gobench|perf", "the format", 0, 0 },
    { 0, NULL, FLAG, NULL, NULL, NULL, 0, 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!to) usage("no format given, see --to");
    csv *in = csv_files(argv + i);
    static struct table t;
    t = table_load(in);
    csv_close(in);
    if (strcmp(to, "hyperfine") == 0) emit_hyperfine(&t);
    else if (strcmp(to, "google") == 0) emit_google(&t);
    else if (strcmp(to, "pyperf") == 0) emit_pyperf(&t);
    else if (strcmp(to, "gobench") == 0) emit_gobench(&t);
    else emit_perf(&t);
    return EXIT_OK;
}

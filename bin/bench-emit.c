/* bench-emit - write a table of runs in the form of hyperfine
 *
 * Usage: bench-emit --to=hyperfine [FILE]...
 *
 * JSON as hyperfine's --export-json writes it, which many tools read;
 * bench-import makes the same table of it again.
 *
 * Columns in: label, round, wall_seconds; what the format has room for:
 * user_seconds, sys_seconds, exit, phase, parameter_NAME.  Warm-up runs are
 * left out.  Means, medians and deviations are computed from the runs.
 * Memory: all rows.
 *
 * Examples:
 *   $ bench-emit --to=hyperfine runs.csv > runs.json
 */
#include "base/filter.h"
#include HELP
#include "measure/foreign.h"
#include "table/input.h"

static enum { NOT_SAID = -1, HYPERFINE } to = NOT_SAID;
static const struct opt options[] = {
    { 0, "to", WORD, &to, "hyperfine", "the format" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (to == NOT_SAID) usage("no format given, see --to");
    csv *in = csv_files(argv + i);
    static struct table t;
    t = table_load(in);
    csv_close(in);
    emit_hyperfine(&t);
    return EXIT_OK;
}

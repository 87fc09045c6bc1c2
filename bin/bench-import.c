/* bench-import - turn results of other tools into a table of runs
 *
 * Usage: bench-import --from=FORMAT [FILE]...
 *
 * FORMAT: hyperfine (JSON of --export-json), google (JSON of google/benchmark).
 *
 * Columns out: label, round and wall_seconds, and what the format has:
 * cpu_seconds, exit, iterations, threads, counter_NAME, parameter_NAME; kind
 * (real) and order (blocks: these tools repeat one command before the next;
 * ratios of such runs may be drift).  Aggregates are left out.  Several files
 * of one format become one table.  Memory: all rows.
 *
 * Examples:
 *   $ hyperfine --export-json h.json './a' './b'
 *   $ bench-import --from=hyperfine h.json | bench-stat --metric=wall
 */
#include "base/filter.h"
#include HELP
#include "measure/foreign.h"

static enum foreign from = FOREIGN_NONE;
static const struct opt options[] = {
    { 0, "from", WORD, &from, FOREIGN_FORMATS, "the format" },
    { 0 } };

int main(int argc, char **argv)
{
    static void (*const import[])(struct frame *, const char *) = { import_hyperfine, import_google };
    int i = filter_init(argc, argv, help, options);
    if (from == FOREIGN_NONE) usage("no format given, see --from");
    struct frame *f = frame_new();
    if (i == argc) import[from](f, "-");
    for (int k = i; k < argc; k++) import[from](f, argv[k]);
    csvw *w = csvw_fd(1);
    frame_write(f, w);
    frame_free(f);
    return csvw_close(w);
}

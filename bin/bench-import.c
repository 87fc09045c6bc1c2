/* bench-import - turn results of other tools into a table of runs
 *
 * Usage: bench-import --from=FORMAT [--label=NAME] [FILE]...
 *
 * FORMAT: hyperfine (JSON of --export-json), google (JSON of google/benchmark),
 * perf (text of perf stat -x,).
 *
 * Columns out: label, round and wall_seconds, and what the format has:
 * cpu_seconds, exit, iterations, threads, counter_NAME, parameter_NAME; kind
 * (real) and order (blocks: these tools repeat one command before the next;
 * ratios of such runs may be drift).  Aggregates are left out.  From perf:
 * label, round (one per file), event, value, unit, source (perf, or why there
 * is none), variance_percent, running_ns, running_percent, metric, metric_unit.
 * Several files of one format become one table.  Memory: all rows.
 *
 * Examples:
 *   $ hyperfine --export-json h.json './a' './b'
 *   $ bench-import --from=hyperfine h.json | bench-stat --metric=wall
 */
#include "base/filter.h"
#include HELP
#include "measure/foreign.h"

static const char *label;
static enum foreign from = FOREIGN_NONE;
static const struct opt options[] = {
    { 0, "from", WORD, &from, FOREIGN_FORMATS, "the format" },
    { 'l', "label", STR, &label, "NAME", "label of all rows (perf has none of its own)" },
    { 0 } };

static void import_file(struct frame *f, const char *path, long number)
{
    static void (*const import[])(struct frame *, const char *) = { import_hyperfine, import_google };
    if (from == FOREIGN_PERF) import_perf(f, path, label ? label : "perf", number);
    else import[from](f, path);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (from == FOREIGN_NONE) usage("no format given, see --from");
    if (label && from != FOREIGN_PERF) usage("--label is for perf; %s has labels of its own", option_word(&from));
    struct frame *f = frame_new();
    if (i == argc) import_file(f, "-", 0);
    for (int k = i; k < argc; k++) import_file(f, argv[k], k - i);
    csvw *w = csvw_fd(1);
    frame_write(f, w);
    frame_free(f);
    return csvw_close(w);
}

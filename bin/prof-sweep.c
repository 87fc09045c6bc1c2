/* prof-sweep - time by set of things that are active at the same instant
 *
 * Usage: prof-sweep [--transitions=FILE] [--across] [--on] [DIR|FILE]...
 *
 * Columns in: kind, cat, start_ns, end_ns; used where present: proc, tid, name,
 * op.  Columns out: proc, phase, op, cats (names joined by '+' in byte order, a
 * '+' in a name as '\+'), total_ns, lo_ns, hi_ns (first and last instant), runs
 * (maximal stretches).  One row for each distinct set, by process and sets.
 *
 * At every instant the rows that cover it form a set: categories (kinds cat,
 * gpu, and ovh as ovh:NAME), per thread the innermost operation (kind op), the
 * phase.  With a column op, see prof-op, a row brings its own operation.  Rows
 * of kind proc, and phases alone, are no activity.  Empty and reversed
 * intervals are left out and counted.  Each table written beside the cells says
 * with them how often sets change or the recorder's hooks ran.
 *
 * A folder of the recorder's logs is read as prof-log and prof-op give it.
 * Rows in any order.  Memory: what is open at once while rows come in order of
 * start_ns; a file out of order is read again and held, 16 bytes a row and as
 * many to sort it.  Of a pipe the first quarter of a million rows are held: if
 * they are in order, the rest must be (else --hold).
 *
 * Examples:
 *   $ prof-sweep out/run > cells.csv
 *   $ prof-import --from=kineto t.json.gz | prof-op | prof-sweep > cells.csv
 *   $ prof-sweep --transitions=transitions.csv events.csv > cells.csv
 */
#include "base/filter.h"
#include "prof/overlap.h"
#include "prof/import/input.h"
#include HELP

static const char *transitions, *hooks;
static struct overlap_options want;
static const struct opt options[] = {
    { 0, "transitions", STR,  &transitions, "FILE", "also write proc,op,from,to,count: how often sets change" },
    { 0, "hooks",       STR,  &hooks, "FILE", "also write how often hooks ran, for prof-correct" },
    { 0, "across",      FLAG, &want.across, NULL, "one sweep over all processes together; proc is empty" },
    { 0, "on",          FLAG, &want.on, NULL, "phases are the stretches in which profiling was on (proc, cat on)" },
    { 0, "hold",        FLAG, &want.hold, NULL, "take rows in any order from a pipe, all in memory" },
    { 0, "sorted",      FLAG, &want.sorted, NULL, "rows are in order of start_ns: else it is an error" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    want.transitions = transitions != NULL;
    want.hooks = hooks != NULL;
    overlap *o = overlap_read(input_stream(argv + i, false), want);
    input_end();
    csvw *w = csvw_open("-");
    overlap_write_cells(o, w);
    if (transitions) {
        csvw *t = csvw_open(transitions);
        overlap_write_transitions(o, t);
        csvw_close(t);
    }
    if (hooks) {
        csvw *h = csvw_open(hooks);
        overlap_write_hooks(o, h);
        csvw_close(h);
    }
    overlap_free(o);
    return csvw_close(w);
}

/* prof-op - charge each row to the operation it ran under
 *
 * Usage: prof-op [--at=launch|time] [FILE]...
 *
 * Columns in: those of events.  Columns out: the same and op, the innermost
 * operation; others pass through.  Rows of kind cat and ovh are cut where the
 * innermost operation of their own thread changes, so one thread is never
 * charged with another's time.  Rows of kind gpu get, by --at:
 *   launch  the operation in which the call with the same link began: an
 *           asynchronous kernel is charged to its cause
 *   time    the operation of the process that began last, at each instant
 * Rows of other kinds are copied, but for those that end where they begin,
 * which are counted; a link may.  What ran under no operation has an empty op.
 * GPU rows whose call is not there are counted; as rows come one by one, so is
 * one whose call begins more than 1 ms after it: --hold finds that too.
 *
 * Output is sorted by start_ns.  Memory: what is open at once, and calls that
 * have a link, while rows come in order of start_ns (rows that wait for the end
 * of one before them lie in a file in TMPDIR, else /var/tmp); else, or with
 * --hold or --at=time, all rows.
 *
 * Examples:
 *   $ prof-log out/run | prof-op | prof-sweep > cells.csv
 */
#include "base/filter.h"
#include "prof/charge.h"
#include HELP

static enum { LAUNCH, TIME } at = LAUNCH;
static bool hold;
static const struct opt options[] = {
    { 0, "at",   WORD, &at, "launch|time", "how GPU rows find their operation" },
    { 0, "hold", FLAG, &hold, NULL, "take rows in any order, all in memory" },
    { 0 } };

static struct event_table t;
static struct repairs repairs;

static void note(uint64_t unlinked)
{
    repairs_note(&repairs);
    if (unlinked && !quiet) warn("%llu GPU rows without the call that launched them", (unsigned long long)unlinked);
}

static int stream(struct ordered *o)
{
    struct row r;
    const uint32_t *extra;
    csvw *w = csvw_open("-");
    charge *c = charge_begin(&t, w, &repairs);
    while (ordered_next(o, &r, &extra)) charge_add(c, &r, extra);
    note(charge_end(c));
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    struct ordered o;
    struct rows out = { 0 };
    int i = filter_init(argc, argv, help, options);
    if (ordered_open(&o, &t, argv + i, hold || at == TIME, true)) return stream(&o);
    note(held_charge(&t, at == TIME, &out, &repairs));
    return table_write(&t, &out, true);
}

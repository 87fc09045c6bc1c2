/* prof-log - the recorder's logs as events
 *
 * Usage: prof-log [--nested] [--stat] DIR
 *
 * Columns out: those of events (proc is the process id, tid the thread's) and
 * hook, by what means the row was recorded, see prof-calibrate.  Rows:
 *   cat    C calls and Python pieces; of a thread, Python and C exclude each
 *          other; later pieces of a cut C call are flagged part
 *   op     operations; phase: phases
 *   proc   the process; cat pass: one training iteration; cat on: a stretch in
 *          which profiling was enabled; cat progress: name is in millionths
 *   ovh    cat dropped: name records before start_ns could not be written
 *   gpu    and whatever else the files gpu.*.csv in DIR hold
 * Logs of killed processes are read to the last record; what was open then is
 * flagged open.  What is missing or does not fit is counted and said.
 *
 * Output is sorted by start_ns.  Memory: all rows, 60 bytes each.
 *
 * Examples:
 *   $ prof-record -o out/run train.py && prof-log out/run > events.csv
 */
#include "base/filter.h"
#include "prof/import/logread.h"
#include HELP

static bool nested, stat_only;
static const struct opt options[] = {
    { 0, "nested", FLAG, &nested, NULL, "whole intervals, for call trees, instead of exclusive pieces", 0, 0 },
    { 0, "stat",   FLAG, &stat_only, NULL, "only counts: records, threads, losses", 0, 0 },
    { 0 } };

static int write_counts(const struct log_counts *n)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "processes,threads,unclean,records,from_tail,stray,unclosed,dropped");
    csvw_end(w);
    const uint64_t v[] = { n->processes, n->threads, n->unclean,  n->records,
                           n->from_tail, n->stray,   n->unclosed, n->dropped };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) csvw_int(w, (int64_t)v[i]);
    csvw_end(w);
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    static struct table t;
    struct log_counts counts = { 0 };
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one directory of logs expected");
    log_read(&t, argv[i], nested, &counts);
    if (stat_only) return write_counts(&counts);
    if (counts.dropped) warn("%s: %llu records were lost while recording", argv[i], (unsigned long long)counts.dropped);
    if (!quiet && (counts.stray || counts.unclosed))
        warn("%s: %llu ends without a begin left out, %llu intervals never closed", argv[i],
             (unsigned long long)counts.stray, (unsigned long long)counts.unclosed);
    return table_write(&t, &t.rows, false);
}

/* prof-log - the recorder's logs as events
 *
 * Usage: prof-log [--nested] [--stat] DIR
 *
 * Columns out: those of events (proc is the process id, tid the thread's) and
 * hook, by what means the row was recorded, see prof-correct.  Rows:
 *   cat    C calls and Python pieces; of a thread, Python and C exclude each
 *          other; later pieces of a cut C call are flagged part
 *   op     operations; phase: phases
 *   link   cat post: from start_ns on (of a timer: from end_ns on) whoever waits
 *          for link may go on; take: such a wait, which it ended; peek: so does
 *          a poll.  name: lock, pipe, socket, queue, ..; flag: bytes, items
 *   proc   the process; cat pass: one training iteration; cat on: a stretch in
 *          which profiling was enabled; cat progress: name is in millionths;
 *          cat unseen: link is the CPU time of a thread without a log, in ns;
 *          cat cost: link is what recording a call cost, in ns
 *   ovh    cat dropped: name records before start_ns could not be written
 *   gpu    and whatever else the files gpu.*.csv in DIR hold
 * Logs of killed processes are read to the last record; what was open then is
 * flagged open.  What is missing or does not fit is counted and said.
 *
 * Output is sorted by start_ns.  Memory: constant, about 20 MiB, and names,
 * passes, phases and GPU rows; the logs are read three times.
 *
 * Examples:
 *   $ prof-record -o out/run train.py && prof-log out/run > events.csv
 */
#include "base/filter.h"
#include "prof/import/logread.h"
#include HELP

static bool nested, stat_only;
static const struct opt options[] = {
    { 0, "nested", FLAG, &nested, NULL, "whole intervals, for call trees, instead of exclusive pieces" },
    { 0, "stat",   FLAG, &stat_only, NULL, "only counts: records, threads, losses" },
    { 0 } };

static int write_counts(const struct log_counts *n)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "processes,threads,unclean,records,from_tail,stray,unclosed,dropped,changed");
    csvw_end(w);
    const uint64_t v[] = { n->processes, n->threads,  n->unclean, n->records, n->from_tail,
                           n->stray,     n->unclosed, n->dropped, n->changed };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) csvw_int(w, (int64_t)v[i]);
    csvw_end(w);
    return csvw_close(w);
}

/* rows by the hundred million */
static void put_row(csvw *w, const str *text, const struct log_row *r)
{
    static struct phrases left, right;
    const uint32_t l[] = { r->proc, r->tid, r->kind, r->cat }, t[] = { r->name, r->link, r->flag, r->hook };
    const str before[] = { text[r->proc], text[r->tid], str_of(event_kind_name[r->kind]), text[r->cat] };
    const str after[] = { text[r->name], text[r->link], text[r->flag], str_of(log_hook_name[r->hook]) };
    phrase_put(&left, w, l, before, 4);
    csvw_int(w, r->start);
    csvw_int(w, r->end);
    phrase_put(&right, w, t, after, 4);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    struct log_counts counts = { 0 };
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one directory of logs expected");
    log_reader *r = log_open(argv[i], nested, &counts);
    if (stat_only) return write_counts(&counts);
    if (counts.dropped) warn("%s: %llu records were lost while recording", argv[i], (unsigned long long)counts.dropped);
    if (!quiet && (counts.stray || counts.unclosed))
        warn("%s: %llu ends without a begin left out, %llu intervals never closed", argv[i],
             (unsigned long long)counts.stray, (unsigned long long)counts.unclosed);
    csvw *w = csvw_open("-");
    csvw_names(w, EVENT_COLUMNS ",hook");
    csvw_end(w);
    for (struct log_row row; log_next(r, &row);) put_row(w, log_text(r)->name, &row);
    csvw_close(w);
    return counts.changed ? EXIT_FAIL : EXIT_OK;
}

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
#include "base/out.h"
#include "prof/import/logread.h"
#include HELP
#include <string.h>
#include <unistd.h>

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

/* rows by the hundred million: texts are quoted once, numbers written here */
static char out[1 << 16];
static size_t used;
static struct field { char *s; size_t n; } *field;       /* by number of the text */
static size_t nfield, field_cap;

static void flush(void)
{
    if (!write_all(STDOUT_FILENO, out, used)) die_errno("standard output");
    used = 0;
}

static struct field quoted(str s)
{
    struct field f = { .s = xmalloc(2 * s.n + 3, 1) };
    bool plain = !memchr(s.s, ',', s.n) && !memchr(s.s, '"', s.n) && !memchr(s.s, '\n', s.n) && !memchr(s.s, '\r', s.n);
    if (!plain) f.s[f.n++] = '"';
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '"') f.s[f.n++] = '"';
        f.s[f.n++] = s.s[i];
    }
    if (!plain) f.s[f.n++] = '"';
    f.s[f.n++] = ',';
    return f;
}

static void put_text(const log_reader *r, uint32_t k)
{
    const struct intern *x = log_text(r);
    for (; nfield < x->n; nfield++) {
        field = grow(field, nfield + 1, &field_cap, sizeof *field);
        field[nfield] = quoted(x->name[nfield]);
    }
    if (field[k].n > sizeof out - used) flush();
    if (field[k].n > sizeof out) die("a name of %zu bytes", field[k].n);
    memcpy(out + used, field[k].s, field[k].n);
    used += field[k].n;
}

static void put_number(int64_t v, bool comma)
{
    char b[24];
    size_t at = sizeof b;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do b[--at] = (char)('0' + u % 10);
    while ((u /= 10));
    if (v < 0) b[--at] = '-';
    if (sizeof out - used < sizeof b + 1) flush();
    memcpy(out + used, b + at, sizeof b - at);
    used += sizeof b - at;
    if (comma) out[used++] = ',';
}

static void put_cstr(const char *s, char end)
{
    size_t n = strlen(s);
    if (sizeof out - used < n + 1) flush();
    memcpy(out + used, s, n);
    used += n;
    out[used++] = end;
}

static void put_row(const log_reader *r, const struct log_row *row)
{
    put_text(r, row->proc);
    put_text(r, row->tid);
    put_cstr(event_kind_name[row->kind], ',');
    put_text(r, row->cat);
    put_number(row->start, true);
    put_number(row->end, true);
    put_text(r, row->name);
    put_text(r, row->link);
    put_text(r, row->flag);
    put_cstr(log_hook_name[row->hook], '\n');
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
    put_cstr(EVENT_COLUMNS ",hook", '\n');
    for (struct log_row row; log_next(r, &row);) put_row(r, &row);
    flush();
    return counts.changed ? EXIT_FAIL : EXIT_OK;
}

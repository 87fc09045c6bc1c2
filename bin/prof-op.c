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
 * Rows of kind op, phase and proc are copied.  What ran under no operation
 * has an empty op.  GPU rows whose call is not there are counted.
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
#include "base/compare.h"
#include "prof/charge.h"
#include "prof/nest.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>

static enum { LAUNCH, TIME } at = LAUNCH;
static bool hold;
static const struct opt options[] = {
    { 0, "at",   WORD, &at, "launch|time", "how GPU rows find their operation" },
    { 0, "hold", FLAG, &hold, NULL, "take rows in any order, all in memory" },
    { 0 } };

static struct table t;
static struct rows out, launches;                        /* launches: calls with a link, op filled in */
static struct rows ops;                                  /* and GPU rows */
static struct pieces pieces;
static struct repairs repairs;
static uint64_t unlinked;

/* add r cut at the pieces' borders; hint: the first piece that may matter, moved on since rows come by start */
static void cut(const struct row *r, size_t *hint)
{
    while (*hint < pieces.n && pieces.v[*hint].end <= r->start) ++*hint;
    struct row part = *r;
    int64_t from = r->start;
    for (size_t k = *hint; from < r->end; k++) {
        bool in = k < pieces.n && pieces.v[k].start < r->end;
        int64_t start = in ? pieces.v[k].start : r->end;
        if (start > from) {                              /* a gap before this piece */
            part.start = from;
            part.end = start;
            part.op = 0;
            rows_add(&out, &part);
            from = start;
        }
        if (!in) continue;
        part.start = from;
        part.end = from = pieces.v[k].end < r->end ? pieces.v[k].end : r->end;
        part.op = pieces.v[k].of->name;
        rows_add(&out, &part);
    }
}

static int by_link(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->link, y->link) ?: ORDER(x->start, y->start) ?:
           ORDER(x->source, y->source);
}

static void one_thread(const struct row *row, size_t n)
{
    nest_flatten(&pieces, row, n, EVENT_OP, &repairs);
    size_t hint = 0;
    for (size_t k = 0; k < n; k++) {
        if (row[k].end <= row[k].start) continue;
        if (row[k].kind != EVENT_CAT && row[k].kind != EVENT_OVH) {
            if (row[k].kind != EVENT_GPU) rows_add(&out, &row[k]);
            continue;
        }
        size_t first = out.n;
        cut(&row[k], &hint);
        if (row[k].link && row[k].kind == EVENT_CAT) rows_add(&launches, &out.v[first]);
    }
}

static int by_proc(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->start, y->start) ?: ORDER(y->end, x->end) ?:
           ORDER(x->source, y->source);
}

static void by_time(void)
{
    if (ops.n) qsort(ops.v, ops.n, sizeof *ops.v, by_proc);
    for (size_t begin = 0, end; begin < ops.n; begin = end) {
        for (end = begin; end < ops.n && ops.v[end].proc == ops.v[begin].proc;) end++;
        nest_flatten(&pieces, ops.v + begin, end - begin, EVENT_OP, NULL);
        size_t hint = 0;
        for (size_t k = begin; k < end; k++) if (ops.v[k].kind == EVENT_GPU) cut(&ops.v[k], &hint);
    }
}

static void by_launch(const struct row *r)
{
    struct row call = *r;
    size_t lo = 0, hi = launches.n;
    while (lo < hi) {                                    /* the first call with this link */
        size_t mid = lo + (hi - lo) / 2;
        const struct row *l = &launches.v[mid];
        if (l->proc < r->proc || (l->proc == r->proc && l->link < r->link)) lo = mid + 1;
        else hi = mid;
    }
    bool found = r->link && lo < launches.n && launches.v[lo].proc == r->proc && launches.v[lo].link == r->link;
    call.op = found ? launches.v[lo].op : 0;
    if (!found) unlinked++;
    rows_add(&out, &call);
}

static void note(void)
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
    unlinked = charge_end(c);
    note();
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    struct ordered o;
    int i = filter_init(argc, argv, help, options);
    if (ordered_open(&o, &t, argv + i, hold || at == TIME, true)) return stream(&o);
    for (size_t k = 0; k < t.rows.n; k++) {
        const struct row *r = &t.rows.v[k];
        if (is_empty(r->start, r->end, &repairs, k + 2)) continue;
        if (r->kind == EVENT_OP || r->kind == EVENT_GPU) rows_add(&ops, r);
    }
    table_sort_threads(&t);
    for (size_t begin, end = 0; next_thread(&t.rows, &begin, &end);) one_thread(t.rows.v + begin, end - begin);
    if (at == TIME) by_time();
    else {
        if (launches.n) qsort(launches.v, launches.n, sizeof *launches.v, by_link);
        for (size_t k = 0; k < ops.n; k++) if (ops.v[k].kind == EVENT_GPU) by_launch(&ops.v[k]);
    }
    note();
    return table_write(&t, &out, true);
}

/* prof-util - how busy a device was: truly, and as a poller would have seen it
 *
 * Usage: prof-util [--poll=NS] [--window=N] [--strip=NS [--from=NS] [--to=NS]]
 *                  [--kind=KIND] [FILE]...
 *
 * Columns in: those of events; rows of the KIND count, by device (tid up
 * to the first '.').  Columns out:
 *   without --strip: device, start_ns, end_ns, busy_ns, true_ratio, bins,
 *     polled_ratio: a tool that asks every NS nanoseconds whether anything ran
 *     since sees 1 in each bin that any interval touches
 *   --poll=NS --window=N: device, start_ns, bin, polled_ratio: each bin, and
 *     the mean of the N bins strictly before it, empty for the first
 *   --strip=NS: device, start_ns, end_ns, busy_ratio, smooth_ratio: the true
 *     share of each cell, and its exponential mean 0.99 v + 0.01 mean
 *   --join=NS: lane, cat, start_ns, end_ns: of categories and the GPU, by
 *     thread and device, what is NS apart or less as one, as it ends; rows in
 *     order of start_ns
 * Memory: all rows that count; --join: a row for each lane and category.
 *
 * Examples:
 *   $ prof-util --poll=500000000 events.csv
 *   $ prof-util --strip=1000000000 --kind=cat events.csv
 */
#include "base/filter.h"
#include "prof/util.h"
#include HELP
#include "base/str.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int counted = EVENT_GPU;
static long poll, window, strip, join, from = LONG_MIN, to = LONG_MIN;
static bool by_cat;
static const struct opt options[] = {
    { 0, "poll",   INT,  &poll, "NS", "the poller's interval", 1, 4e18 },
    { 0, "window", INT,  &window, "N", "bins in the poller's mean", 1, 1e9 },
    { 0, "strip",  INT,  &strip, "NS", "width of a cell of the strip", 1, 4e18 },
    { 0, "join",   INT,  &join, "NS", "pieces that are no further apart are one", 1, 4e18 },
    { 0, "from",   INT,  &from, "NS", "where the strip begins [first start]", -4e18, 4e18 },
    { 0, "to",     INT,  &to, "NS", "where it ends [last end]", -4e18, 4e18 },
    { 0, "by-cat", FLAG, &by_cat, NULL, "a device is a category, on any thread" },
    { 0, "kind",   WORD, &counted, "cat|gpu|ovh|op", "rows that count" },
    { 0 } };

struct piece { int64_t start, end; char *lane; char *cat; };

static void put_piece(csvw *w, const struct piece *p)
{
    csvw_cstr(w, p->lane);
    csvw_cstr(w, p->cat);
    csvw_int(w, p->start);
    csvw_int(w, p->end);
    csvw_end(w);
}

static int join_pieces(struct events_in *in)
{
    struct intern keys = { 0 };
    struct piece *v = NULL;
    size_t cap = 0;
    struct buf b = { 0 };
    csvw *w = csvw_open("-");
    csvw_names(w, "lane,cat,start_ns,end_ns");
    csvw_end(w);
    for (struct event e; events_next(in, &e);) {
        bool gpu = e.kind == EVENT_GPU;
        if (!gpu && (e.kind != EVENT_CAT || str_is(e.cat, "CUDA"))) continue;
        b.n = 0;
        if (gpu) buf_format(&b, "%.*s of %.*s", (int)e.tid.n, e.tid.s, (int)e.proc.n, e.proc.s);
        else buf_format(&b, str_eq(e.tid, e.proc) ? "process %.*s" : "thread %.*s", (int)e.tid.n, e.tid.s);
        buf_char(&b, '\0');
        size_t lane = b.n, known = keys.n;
        buf_str(&b, e.cat);
        uint32_t i = intern(&keys, (str){ b.s, b.n });
        v = grow(v, keys.n, &cap, sizeof *v);
        if (i == known) {
            v[i] = (struct piece){ e.start, e.end, (char *)(uintptr_t)keys.name[i].s, xformat("%s", b.s + lane) };
            continue;
        }
        if (e.start < v[i].start) csv_die(in->t, in->start, "in order, as --join wants its rows (csv-sort)");
        if (e.start > v[i].end + join) {
            put_piece(w, &v[i]);
            v[i].start = e.start;
        }
        if (e.end > v[i].end) v[i].end = e.end;
    }
    for (size_t i = 0; i < keys.n; i++) put_piece(w, &v[i]);
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!!strip + !!join + (poll || window) > 1) usage("--strip, --join and --poll: two questions at once");
    if (window && !poll) usage("--window needs --poll");
    if ((from != LONG_MIN || to != LONG_MIN) && !strip) usage("--from and --to need --strip");
    struct devices d = { 0 };
    struct events_in in = events_open(argv + i);
    if (join) return join_pieces(&in);
    struct event e;
    struct repairs repairs = { 0 };
    while (events_next(&in, &e)) {
        if ((int)e.kind != counted) continue;
        if (is_empty(e.start, e.end, &repairs, csv_line(in.t))) continue;
        const char *dot = by_cat || !e.tid.n ? NULL : memchr(e.tid.s, '.', e.tid.n);
        devices_add(&d, by_cat ? e.cat : (str){ e.tid.s, dot ? (size_t)(dot - e.tid.s) : e.tid.n }, e.start, e.end);
    }
    repairs_note(&repairs);
    csvw *w = csvw_open("-");
    csvw_names(w, strip ? "device,start_ns,end_ns,busy_ratio,smooth_ratio" : window ? "device,start_ns,bin,polled_ratio"
               : "device,start_ns,end_ns,busy_ns,true_ratio,bins,polled_ratio");
    csvw_end(w);
    for (size_t k = 0; k < d.names.n; k++) {
        struct busy *b = devices_merged(&d, k);
        if (strip)
            util_strip(w, d.names.name[k], b, strip, from == LONG_MIN ? b->start : from,
                       to == LONG_MIN ? b->end : to);
        else if (window) util_bins(w, d.names.name[k], b, poll, (size_t)window);
        else util_summary(w, d.names.name[k], b, poll);
    }
    return csvw_close(w);
}

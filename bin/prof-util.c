/* prof-util - how busy a device was: truly, and as a poller would have seen it
 *
 * Usage: prof-util [--poll=NS] [--window=N] [--strip=NS [--from=NS] [--to=NS]]
 *                  [--kind=KIND] [--cat=CATEGORY] [FILE]...
 *
 * Columns in: those of events; rows of the KIND (and CATEGORY) count, by
 * device (tid up to the first '.').  Columns out:
 *   without --strip: device, start_ns, end_ns, busy_ns, true_ratio, bins,
 *     polled_ratio: a tool that asks every NS nanoseconds whether anything ran
 *     since sees 1 in each bin that any interval touches
 *   --poll=NS --window=N: device, start_ns, bin, polled_ratio: each bin, and
 *     the mean of the N bins strictly before it, empty for the first
 *   --strip=NS: device, start_ns, end_ns, busy_ratio, smooth_ratio: the true
 *     share of each cell, and its exponential mean 0.99 v + 0.01 mean
 * Memory: all rows that count.
 *
 * Examples:
 *   $ prof-util --poll=500000000 events.csv
 *   $ prof-util --strip=1000000000 --kind=cat events.csv
 */
#include "base/filter.h"
#include "prof/util.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *cat;
static int counted = EVENT_GPU;
static long poll, window, strip;
static double from = NAN, to = NAN;
static const struct opt options[] = {
    { 0, "poll",   INT,  &poll, "NS", "the poller's interval", 1, 9e18 },
    { 0, "window", INT,  &window, "N", "bins in the poller's mean", 1, 1e9 },
    { 0, "strip",  INT,  &strip, "NS", "width of a cell of the strip", 1, 9e18 },
    { 0, "from",   NUM,  &from, "NS", "where the strip begins [first start]" },
    { 0, "to",     NUM,  &to, "NS", "where it ends [last end]" },
    { 0, "kind",   WORD, &counted, "cat|gpu|ovh|op", "rows that count" },
    { 0, "cat",    STR,  &cat, "CATEGORY", "and only of this category" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (strip && (poll || window)) usage("--strip and --poll are two questions");
    if (window && !poll) usage("--window needs --poll");
    struct devices d = { 0 };
    struct events_in in = events_open(argv + i);
    struct event e;
    struct repairs repairs = { 0 };
    while (events_next(&in, &e)) {
        if ((int)e.kind != counted || (cat && !str_is(e.cat, cat))) continue;
        if (!is_empty(e.start, e.end, &repairs, csv_line(in.t))) devices_add(&d, &e);
    }
    repairs_note(&repairs);
    csvw *w = csvw_open("-");
    csvw_names(w, strip ? "device,start_ns,end_ns,busy_ratio,smooth_ratio" : window ? "device,start_ns,bin,polled_ratio"
               : "device,start_ns,end_ns,busy_ns,true_ratio,bins,polled_ratio");
    csvw_end(w);
    for (size_t k = 0; k < d.names.n; k++) {
        struct busy *b = devices_merged(&d, k);
        if (strip)
            util_strip(w, d.names.name[k], b, strip, isnan(from) ? b->start : (int64_t)from,
                       isnan(to) ? b->end : (int64_t)to);
        else if (window) util_bins(w, d.names.name[k], b, poll, (size_t)window);
        else util_summary(w, d.names.name[k], b, poll);
    }
    return csvw_close(w);
}

/* util.c - see util.h */
#include "prof/util.h"
#include "base/message.h"
#include <stdlib.h>

enum { BINS_MAX = 1 << 28 };

void devices_add(struct devices *d, str device, int64_t start, int64_t end)
{
    size_t known = d->names.n;
    uint32_t k = intern(&d->names, device);
    if (d->names.n > known) {
        d->of = grow(d->of, d->names.n, &d->cap, sizeof *d->of);
        d->of[k] = (struct busy){ 0 };
    }
    struct busy *b = &d->of[k];
    b->v = grow(b->v, b->n + 1, &b->cap, sizeof *b->v);
    b->v[b->n++] = (struct span){ start, end };
}

struct busy *devices_merged(struct devices *d, size_t k)
{
    struct busy *b = &d->of[k];
    qsort(b->v, b->n, sizeof *b->v, span_order);
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (n && b->v[i].start <= b->v[n - 1].end) {
            if (b->v[i].end > b->v[n - 1].end) b->v[n - 1].end = b->v[i].end;
        } else b->v[n++] = b->v[i];
    }
    b->n = n;
    b->start = b->v[0].start;
    b->end = b->v[n - 1].end;
    b->total = 0;
    for (size_t i = 0; i < n; i++) b->total += b->v[i].end - b->v[i].start;
    return b;
}

/* touched bins; merged spans may touch the same one */
static unsigned char *poll_bins(const struct busy *b, int64_t poll, size_t *n)
{
    int64_t all = (b->end - b->start - 1) / poll + 1;
    if (all > BINS_MAX) die("more than %d bins; poll less often", BINS_MAX);
    *n = (size_t)all;
    unsigned char *bin = xcalloc(*n, 1);
    for (size_t i = 0; i < b->n; i++)
        for (int64_t k = (b->v[i].start - b->start) / poll; k <= (b->v[i].end - 1 - b->start) / poll; k++) bin[k] = 1;
    return bin;
}

void util_summary(csvw *w, str device, const struct busy *b, int64_t poll)
{
    csvw_str(w, device);
    csvw_int(w, b->start);
    csvw_int(w, b->end);
    csvw_int(w, b->total);
    csvw_num(w, (double)b->total / (double)(b->end - b->start));
    if (poll) {
        size_t n, touched = 0;
        unsigned char *bin = poll_bins(b, poll, &n);
        for (size_t i = 0; i < n; i++) touched += bin[i];
        csvw_int(w, (int64_t)n);
        csvw_num(w, (double)touched / (double)n);
        free(bin);
    } else {
        csvw_empty(w);
        csvw_empty(w);
    }
    csvw_end(w);
}

void util_bins(csvw *w, str device, const struct busy *b, int64_t poll, size_t window)
{
    size_t n, sum = 0;
    unsigned char *bin = poll_bins(b, poll, &n);
    for (size_t i = 0; i < n; i++) {
        csvw_str(w, device);
        csvw_int(w, b->start + (int64_t)i * poll);
        csvw_int(w, bin[i]);
        if (i) csvw_num(w, (double)sum / (double)(i < window ? i : window));
        else csvw_empty(w);
        csvw_end(w);
        sum += bin[i];
        if (i >= window) sum -= bin[i - window];
    }
    free(bin);
}

void util_strip(csvw *w, str device, const struct busy *b, int64_t width, int64_t from, int64_t to)
{
    size_t first = 0;
    double mean = 0;
    bool begun = false;
    if (to > from && (to - from) / width > BINS_MAX) die("more than %d cells; make them wider", BINS_MAX);
    for (int64_t a = from; a < to; a += width) {
        int64_t end = to - a < width ? to : a + width, busy = 0;
        while (first < b->n && b->v[first].end <= a) first++;
        for (size_t i = first; i < b->n && b->v[i].start < end; i++) {
            int64_t s = b->v[i].start > a ? b->v[i].start : a, e = b->v[i].end < end ? b->v[i].end : end;
            busy += e - s;
        }
        double v = (double)busy / (double)(end - a);
        mean = begun ? 0.99 * v + 0.01 * mean : v;
        begun = true;
        csvw_str(w, device);
        csvw_int(w, a);
        csvw_int(w, end);
        csvw_num(w, v);
        csvw_num(w, mean);
        csvw_end(w);
    }
}

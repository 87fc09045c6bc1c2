/* held.c - rows charged to operations with all of them in memory, see charge.h */
#include "prof/charge.h"
#include "base/compare.h"
#include <stdlib.h>

struct held {
    struct rows *out, launches, ops;                     /* launches: calls with a link and op; ops: and GPU rows */
    struct pieces pieces;
    struct repairs *repairs;
    uint64_t unlinked;
};

/* add r cut at the pieces' borders; hint: the first piece that may matter, moved on since rows come by start */
static void cut(struct held *h, const struct row *r, size_t *hint)
{
    while (*hint < h->pieces.n && h->pieces.v[*hint].end <= r->start) ++*hint;
    struct row part = *r;
    int64_t from = r->start;
    for (size_t k = *hint; from < r->end; k++) {
        bool in = k < h->pieces.n && h->pieces.v[k].start < r->end;
        int64_t start = in ? h->pieces.v[k].start : r->end;
        if (start > from) {                              /* a gap before this piece */
            part.start = from;
            part.end = start;
            part.op = 0;
            rows_add(h->out, &part);
            from = start;
        }
        if (!in) continue;
        part.start = from;
        part.end = from = h->pieces.v[k].end < r->end ? h->pieces.v[k].end : r->end;
        part.op = h->pieces.v[k].of->name;
        rows_add(h->out, &part);
    }
}

static int by_link(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->link, y->link) ?: ORDER(x->start, y->start) ?:
           ORDER(x->source, y->source);
}

static void one_thread(struct held *h, const struct row *row, size_t n)
{
    nest_flatten(&h->pieces, row, n, EVENT_OP, h->repairs);
    size_t hint = 0;
    for (size_t k = 0; k < n; k++) {
        if (row[k].kind != EVENT_LINK && row[k].end <= row[k].start) continue;   /* a post is an instant */
        if (row[k].kind != EVENT_CAT && row[k].kind != EVENT_OVH) {
            if (row[k].kind != EVENT_GPU) rows_add(h->out, &row[k]);
            continue;
        }
        size_t first = h->out->n;
        cut(h, &row[k], &hint);
        if (row[k].link && row[k].kind == EVENT_CAT) rows_add(&h->launches, &h->out->v[first]);
    }
}

static int by_proc(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->start, y->start) ?: ORDER(y->end, x->end) ?:
           ORDER(x->source, y->source);
}

static void by_time(struct held *h)
{
    if (h->ops.n) qsort(h->ops.v, h->ops.n, sizeof *h->ops.v, by_proc);
    for (size_t begin = 0, end; begin < h->ops.n; begin = end) {
        for (end = begin; end < h->ops.n && h->ops.v[end].proc == h->ops.v[begin].proc;) end++;
        nest_flatten(&h->pieces, h->ops.v + begin, end - begin, EVENT_OP, NULL);
        size_t hint = 0;
        for (size_t k = begin; k < end; k++) if (h->ops.v[k].kind == EVENT_GPU) cut(h, &h->ops.v[k], &hint);
    }
}

static void by_launch(struct held *h, const struct row *r)
{
    struct row call = *r;
    size_t lo = 0, hi = h->launches.n;
    while (lo < hi) {                                    /* the first call with this link */
        size_t mid = lo + (hi - lo) / 2;
        const struct row *l = &h->launches.v[mid];
        if (l->proc < r->proc || (l->proc == r->proc && l->link < r->link)) lo = mid + 1;
        else hi = mid;
    }
    const struct row *l = lo < h->launches.n ? &h->launches.v[lo] : NULL;
    bool found = r->link && l && l->proc == r->proc && l->link == r->link;
    call.op = found ? l->op : 0;
    if (!found) h->unlinked++;
    rows_add(h->out, &call);
}

uint64_t held_charge(struct event_table *t, bool in_time, struct rows *out, struct repairs *repairs)
{
    struct held h = { .out = out, .repairs = repairs };
    for (size_t k = 0; k < t->rows.n; k++) {
        const struct row *r = &t->rows.v[k];
        if (r->kind == EVENT_LINK || is_empty(r->start, r->end, repairs, k + 2)) continue;
        if (r->kind == EVENT_OP || r->kind == EVENT_GPU) rows_add(&h.ops, r);
    }
    table_sort_threads(t);
    for (size_t begin, end = 0; next_thread(&t->rows, &begin, &end);) one_thread(&h, t->rows.v + begin, end - begin);
    if (in_time) by_time(&h);
    else {
        if (h.launches.n) qsort(h.launches.v, h.launches.n, sizeof *h.launches.v, by_link);
        for (size_t k = 0; k < h.ops.n; k++) if (h.ops.v[k].kind == EVENT_GPU) by_launch(&h, &h.ops.v[k]);
    }
    free_all(h.ops.v, h.launches.v, h.pieces.v, h.pieces.stack);
    return h.unlinked;
}

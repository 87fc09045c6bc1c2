/* import_hold.c - rows of foreign traces that need each other: whose GPU row, whose piece of time; see import.h */
#include "prof/import/import.h"
#include "base/compare.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t TIME_MAX = (int64_t)1 << 62;

void import_hold(struct event_table *t, const struct event *e)
{
    if (!t->text.n) intern(&t->text, (str){ "", 0 });
    rows_add(&t->rows, &(struct row){ .start = e->start, .end = e->end, .proc = intern(&t->text, e->proc),
                                      .tid = intern(&t->text, e->tid), .cat = intern(&t->text, e->cat),
                                      .name = intern(&t->text, e->name), .link = intern(&t->text, e->link),
                                      .flag = intern(&t->text, e->flag), .source = (uint32_t)t->rows.n,
                                      .kind = (uint8_t)e->kind });
}

const char *import_gpu_category(str name)
{
    static const char *const libraries[] = { "nccl", "rccl", "oneccl" };
    for (size_t i = 0; i + 4 <= name.n; i++)
        for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++) {
            size_t n = strlen(libraries[k]);
            if (i + n <= name.n && strncasecmp(name.s + i, libraries[k], n) == 0) return "Communication";
        }
    return "GPU";
}

/* ---- GPU rows to the process that launched them */

struct launch { uint32_t link, proc; int64_t start; };

static int by_link(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    return ORDER(x->link, y->link) ?: ORDER(x->start, y->start);
}

static int by_proc(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: by_link(a, b);
}

/* the last launch of this link that began before the row, or the first of all: clocks of devices are not exact */
static const struct launch *launch_of(const struct launch *l, size_t n, const struct row *r,
                                      int (*order)(const void *, const void *))
{
    const struct launch key = { r->link, r->proc, r->start };
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (order(&l[mid], &key) <= 0) lo = mid + 1;
        else hi = mid;
    }
    for (size_t k = lo - (lo > 0); k <= lo && k < n; k++)
        if (l[k].link == r->link && (order == by_link || l[k].proc == r->proc)) return &l[k];
    return NULL;
}

uint64_t import_own(struct event_table *t, int64_t base)
{
    struct launch *launch = xmalloc(t->rows.n + 1, sizeof *launch), *own = NULL;
    bool *launches = xcalloc(t->text.n + 1, sizeof *launches);   /* by process */
    size_t n = 0, processes = 0;
    uint64_t alone = 0;
    uint32_t only = 0;
    for (struct row *r = t->rows.v, *end = r + t->rows.n; r < end; r++) {
        if (__builtin_add_overflow(r->start, base, &r->start) || __builtin_add_overflow(r->end, base, &r->end) ||
            r->start < -TIME_MAX || r->end > TIME_MAX)
            die("times are not within 2^62 ns of 0");
        if (r->kind != EVENT_CAT) continue;
        if (!processes || r->proc != only) processes++;
        only = r->proc;
        if (!r->link) continue;
        launch[n++] = (struct launch){ r->link, r->proc, r->start };
        launches[r->proc] = true;
    }
    own = xmalloc(n + 1, sizeof *own);
    if (n) {
        memcpy(own, launch, n * sizeof *own);
        qsort(own, n, sizeof *own, by_proc);
        qsort(launch, n, sizeof *launch, by_link);
    }
    for (struct row *r = t->rows.v, *end = r + t->rows.n; r < end; r++) {
        if (r->kind != EVENT_GPU && r->kind != EVENT_AFTER) continue;
        /* a process numbers its own launches; where a device is the process, as in Kineto's, they are another's */
        const struct launch *l = !r->link ? NULL : launches[r->proc] ? launch_of(own, n, r, by_proc)
                                                                     : launch_of(launch, n, r, by_link);
        alone += !l && r->kind == EVENT_GPU;
        if (l) r->proc = l->proc;
        if (l && r->kind == EVENT_AFTER && l->start < r->start) r->start = l->start;
        if (l) continue;
        if (processes == 1) r->proc = only;
    }
    free_all(launch, own, launches);
    return alone;
}

/* ---- Python and C of a thread exclude each other */

/* Open rows.  Levels of one run are active together: C calls within each other, or a single Python function. */
struct level { int64_t end, from; size_t run; uint32_t row; bool python, cut; };
struct levels { struct level *v; size_t n, cap; };

static void emit(struct event_table *t, struct rows *out, struct level *l, int64_t to)
{
    if (to <= l->from) return;
    struct row r = t->rows.v[l->row];
    r.start = l->from;
    r.end = to;
    if (l->cut && !r.flag) r.flag = intern(&t->text, str_of("part"));
    l->cut = true;
    rows_add(out, &r);
}

static void close_until(struct event_table *t, struct rows *out, struct levels *s, int64_t time)
{
    while (s->n && s->v[s->n - 1].end <= time) {
        struct level *top = &s->v[--s->n];
        emit(t, out, top, top->end);
        if (top->run < s->n || !s->n) continue;          /* others of its run are still active */
        for (size_t k = s->v[s->n - 1].run; k < s->n; k++) s->v[k].from = top->end;
    }
}

void import_exclude(struct event_table *t, struct rows *out, struct repairs *repairs)
{
    struct levels s = { 0 };
    uint32_t python = intern(&t->text, str_of("Python"));
    table_sort_threads(t);
    for (size_t i = 0; i < t->rows.n; i++) {
        struct row r = t->rows.v[i];
        if (i && (r.proc != t->rows.v[i - 1].proc || r.tid != t->rows.v[i - 1].tid)) close_until(t, out, &s, INT64_MAX);
        if (r.kind != EVENT_CAT || r.end <= r.start) {
            rows_add(out, &r);
            continue;
        }
        close_until(t, out, &s, r.start);
        struct level new = { .end = r.end, .from = r.start, .run = s.n, .row = (uint32_t)i, .python = r.cat == python };
        struct level *top = s.n ? &s.v[s.n - 1] : NULL;
        if (top && new.end > top->end) {
            new.end = top->end;
            repairs->misnested++;
        }
        if (top && !new.python && !top->python) new.run = top->run;
        else if (top)
            for (size_t k = top->run; k < s.n; k++) emit(t, out, &s.v[k], r.start);
        s.v = grow(s.v, s.n + 1, &s.cap, sizeof *s.v);
        s.v[s.n++] = new;
    }
    close_until(t, out, &s, INT64_MAX);
    free(s.v);
}

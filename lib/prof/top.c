/* top.c - see top.h */
#include "prof/top.h"
#include "base/checked.h"
#include "prof/nest.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* open rows of a thread, innermost last */
struct level { const struct row *r; int64_t end; uint32_t sum; bool outermost; };
struct adding {
    struct top *top;
    struct table *t;
    struct intern keys;
    size_t cap;
    uint32_t *open;                                      /* by sum: how often it is on the stack */
    size_t open_cap;
    struct level *stack;
    size_t depth, stack_cap;
    int64_t cursor;
    bool by_op;
    struct buf paren;
};

static uint32_t sum_of(struct adding *a, uint32_t name, uint32_t cat)
{
    if (!name && !a->by_op) {
        a->paren.n = 0;
        buf_char(&a->paren, '(');
        buf_str(&a->paren, a->t->text.name[cat]);
        buf_char(&a->paren, ')');
        name = intern(&a->t->text, (str){ a->paren.s, a->paren.n });
    }
    const uint32_t key[2] = { name, cat };
    size_t known = a->keys.n;
    uint32_t i = intern(&a->keys, (str){ (const char *)key, sizeof key });
    if (a->keys.n > known) {
        a->top->v = grow(a->top->v, a->keys.n, &a->cap, sizeof *a->top->v);
        a->top->v[i] = (struct top_row){ .name = name, .cat = cat };
        a->open = grow(a->open, a->keys.n, &a->open_cap, sizeof *a->open);
        a->open[i] = 0;
    }
    return i;
}

static bool unverified(const struct adding *a, const struct row *r)
{
    str flag = a->t->text.name[r->flag], cat = a->t->text.name[r->cat];
    return str_is(flag, "est") || str_is(flag, "open") || str_is(flag, "unseen") || str_is(cat, "Unseen");
}

static uint32_t operation(const struct adding *a, const struct row *r)
{
    for (size_t k = a->depth; k-- > 0;) if (a->stack[k].r->kind == EVENT_OP) return a->stack[k].r->name;
    return r->op;
}

static void advance(struct adding *a, int64_t to)
{
    if (to <= a->cursor) return;
    for (size_t k = a->depth; k-- > 0;) {                /* the innermost category has the time */
        const struct row *r = a->stack[k].r;
        if (r->kind != EVENT_CAT) continue;
        uint32_t i = a->by_op ? sum_of(a, operation(a, r), r->cat) : a->stack[k].sum;
        struct top_row *s = &a->top->v[i];               /* after sum_of, which may move them */
        s->self = i64_add(s->self, to - a->cursor);
        if (unverified(a, r)) s->unverified += to - a->cursor;
        break;
    }
    a->cursor = to;
}

static void close_until(struct adding *a, int64_t time)
{
    while (a->depth && a->stack[a->depth - 1].end <= time) {
        struct level *l = &a->stack[a->depth - 1];
        advance(a, l->end);
        if (l->sum != UINT32_MAX && !--a->open[l->sum]) a->top->v[l->sum].total += l->end - l->r->start;
        a->depth--;
    }
}

static void one_row(struct adding *a, const struct row *r)
{
    if (r->kind == EVENT_GPU) {
        uint32_t i = sum_of(a, a->by_op ? r->op : r->name, r->cat);
        struct top_row *s = &a->top->v[i];
        s->calls++;
        s->self = i64_add(s->self, r->end - r->start);
        s->total = i64_add(s->total, r->end - r->start);
        return;
    }
    close_until(a, r->start);
    advance(a, r->start);
    struct level new = { .r = r, .end = r->end, .sum = UINT32_MAX };
    if (a->depth && new.end > a->stack[a->depth - 1].end) new.end = a->stack[a->depth - 1].end;
    if (a->by_op == (r->kind == EVENT_OP)) {
        new.sum = a->by_op ? sum_of(a, r->name, 0) : sum_of(a, r->name, r->cat);
        a->open[new.sum]++;
        if (!str_is(a->t->text.name[r->flag], "part")) a->top->v[new.sum].calls++;
    }
    a->stack = grow(a->stack, a->depth + 1, &a->stack_cap, sizeof *a->stack);
    a->stack[a->depth++] = new;
}

static const struct table *sorting;

static int by_self(const void *x, const void *y)
{
    const struct top_row *a = x, *b = y;
    if (a->self != b->self) return a->self > b->self ? -1 : 1;
    if (a->total != b->total) return a->total > b->total ? -1 : 1;
    int c = str_cmp(sorting->text.name[a->name], sorting->text.name[b->name]);
    return c ? c : str_cmp(sorting->text.name[a->cat], sorting->text.name[b->cat]);
}

void top_of(struct top *top, struct table *t, bool by_op)
{
    struct adding a = { .top = top, .t = t, .by_op = by_op };
    uint32_t proc = UINT32_MAX;
    table_sort_threads(t);
    *top = (struct top){ .start = INT64_MAX, .end = INT64_MIN };
    for (size_t begin = 0, end = 0; next_thread(&t->rows, &begin, &end);) {
        bool cpu = false, gpu = false;
        a.cursor = INT64_MIN;
        for (size_t i = begin; i < end; i++) {
            const struct row *r = &t->rows.v[i];
            if (r->end <= r->start || (r->kind != EVENT_CAT && r->kind != EVENT_GPU && r->kind != EVENT_OP)) continue;
            if (r->start < top->start) top->start = r->start;
            if (r->end > top->end) top->end = r->end;
            if (r->kind == EVENT_GPU) gpu = true;
            else cpu = true;
            one_row(&a, r);
        }
        close_until(&a, INT64_MAX);
        top->threads += cpu;
        top->streams += gpu;
        if (cpu && t->rows.v[begin].proc != proc) {
            top->processes++;
            proc = t->rows.v[begin].proc;
        }
    }
    if (top->end < top->start) top->start = top->end = 0;
    top->n = a.keys.n;
    sorting = t;
    if (top->n) qsort(top->v, top->n, sizeof *top->v, by_self);
    free(a.stack);
    free(a.open);
    free(a.paren.s);
    intern_free(&a.keys);
}

/* ---- out */

static double share(const struct top *top, int64_t ns)
{
    return top->end > top->start ? (double)ns / (double)(top->end - top->start) : 0;
}

int top_write(const struct top *top, const struct table *t, size_t limit)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "name,cat,calls,self_ns,total_ns,share,unverified_ns");
    csvw_end(w);
    for (size_t i = 0; i < top->n && i < limit; i++) {
        const struct top_row *r = &top->v[i];
        csvw_str(w, t->text.name[r->name]);
        csvw_str(w, t->text.name[r->cat]);
        csvw_int(w, (int64_t)r->calls);
        csvw_int(w, r->self);
        csvw_int(w, r->total);
        csvw_format(w, "%.4f", share(top, r->self));
        csvw_int(w, r->unverified);
        csvw_end(w);
    }
    return csvw_close(w);
}

/* what a terminal may show: at most n bytes, control characters replaced, a cut marked */
static void put_text(str s, size_t n)
{
    for (size_t i = 0; i < s.n && i < n; i++) putchar((unsigned char)s.s[i] < 32 || s.s[i] == 127 ? '?' : s.s[i]);
    if (s.n > n) fputs("..", stdout);
}

void top_print(const struct top *top, const struct table *t, size_t limit)
{
    struct { uint32_t cat; int64_t self; } cat[8];
    size_t ncat = 0;
    int64_t open = 0;
    for (size_t i = 0; i < top->n; i++) {
        size_t k = 0;
        while (k < ncat && cat[k].cat != top->v[i].cat) k++;
        if (k == 8) continue;
        if (k == ncat) cat[ncat++] = (typeof(*cat)){ top->v[i].cat, 0 };
        cat[k].self += top->v[i].self;
        open += top->v[i].unverified;
    }
    printf("%.3f s, %zu process%s, %zu thread%s", (double)(top->end - top->start) / 1e9, top->processes,
           top->processes == 1 ? "" : "es", top->threads, top->threads == 1 ? "" : "s");
    if (top->streams) printf(", %zu stream%s", top->streams, top->streams == 1 ? "" : "s");
    for (size_t k = 0; k < ncat; k++) {
        if (!cat[k].self) continue;
        fputs(", ", stdout);
        put_text(t->text.name[cat[k].cat], 20);
        printf(" %.1f %%", 100 * share(top, cat[k].self));
    }
    printf("\nunverified %.1f %%; shares are of the run's length, all threads and streams added up\n\n",
           100 * share(top, open));
    puts("  share   self_seconds  total_seconds       calls  category       name");
    for (size_t i = 0; i < top->n && i < limit; i++) {
        const struct top_row *r = &top->v[i];
        printf("%5.1f %%  %13.6f  %13.6f  %10" PRIu64 "  %-13.*s  ", 100 * share(top, r->self), (double)r->self / 1e9,
               (double)r->total / 1e9, r->calls, (int)t->text.name[r->cat].n, t->text.name[r->cat].s);
        put_text(t->text.name[r->name], 90);
        putchar('\n');
    }
}

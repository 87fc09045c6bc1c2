/* top.c - see top.h */
#include "prof/top.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/num.h"
#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* open rows of a thread, innermost last; cost: what recording added to it and to all it called */
struct level { struct row r; int64_t end; double cost; uint32_t sum; };
struct held { struct row r; struct top_cost cost; };
struct levels { struct level *v; size_t n, cap; };
struct lane {
    struct levels calls, ops;                            /* an operation may begin in a call and outlive it */
    struct held *tie;                                    /* rows that begin at once, still to come longest first */
    size_t nties, tie_cap;
    int64_t cursor;
    uint32_t *open;                                      /* by sum: how often it is on the stack */
    size_t opens;
    uint32_t proc;
    bool cpu, gpu;
};
struct top_builder {
    struct top top;
    struct event_table *t;
    struct intern keys, lanes;
    struct lane *lane;
    double *self_cost, *total_cost;                      /* by sum */
    size_t cap, self_cap, total_cap, lane_cap, at;       /* at: the lane of the last row */
    uint32_t last[2], last_sum;                          /* name and category of the last sum that was asked for */
    uint32_t est, open_flag, unseen, unseen_cat, part, skipped, estimated;
    double removed;
    bool by_op, any, whole;
    struct repairs repairs;
    struct top_range range;
    int64_t begin;                                       /* of the run, once known */
    struct buf paren;
};

static uint32_t sum_of(top_builder *b, uint32_t name, uint32_t cat)
{
    if (b->any && name == b->last[0] && cat == b->last[1]) return b->last_sum;
    b->last[0] = name;
    b->last[1] = cat;
    b->any = true;
    if (!name && !b->by_op) {
        b->paren.n = 0;
        buf_char(&b->paren, '(');
        buf_str(&b->paren, b->t->text.name[cat]);
        buf_char(&b->paren, ')');
        name = intern(&b->t->text, (str){ b->paren.s, b->paren.n });
    }
    const uint32_t key[2] = { name, cat };
    size_t known = b->keys.n;
    uint32_t i = intern(&b->keys, (str){ (const char *)key, sizeof key });
    if (b->keys.n > known) {
        b->top.v = grow(b->top.v, b->keys.n, &b->cap, sizeof *b->top.v);
        b->top.v[i] = (struct top_row){ .name = name, .cat = cat };
        b->self_cost = grow(b->self_cost, b->keys.n, &b->self_cap, sizeof *b->self_cost);
        b->total_cost = grow(b->total_cost, b->keys.n, &b->total_cap, sizeof *b->total_cost);
        b->self_cost[i] = b->total_cost[i] = 0;
    }
    return b->last_sum = i;
}

static uint32_t *open_of(struct lane *l, uint32_t sum)
{
    if (sum >= l->opens) {
        size_t n = size_mul(2, (size_t)sum + 8);
        l->open = xrealloc(l->open, n, sizeof *l->open);
        memset(l->open + l->opens, 0, (n - l->opens) * sizeof *l->open);
        l->opens = n;
    }
    return &l->open[sum];
}

static bool unverified(const top_builder *b, const struct row *r)
{
    return r->flag == b->est || r->flag == b->open_flag || r->flag == b->estimated || r->flag == b->unseen
        || r->cat == b->unseen_cat;
}

static struct level *innermost(const struct levels *s)
{
    return s->n ? &s->v[s->n - 1] : NULL;
}

static uint32_t self_of(top_builder *b, const struct lane *l, const struct level *v)
{
    const struct level *op = innermost(&l->ops);
    return b->by_op ? sum_of(b, op ? op->r.name : v->r.op, v->r.cat) : v->sum;
}

static void advance(top_builder *b, struct lane *l, int64_t to)
{
    if (to <= l->cursor) return;
    const struct level *v = innermost(&l->calls);        /* the innermost call has it */
    if (v) {
        uint32_t i = self_of(b, l, v);
        struct top_row *s = &b->top.v[i];                /* after sum_of, which may move them */
        s->self = i64_add(s->self, to - l->cursor);
        if (unverified(b, &v->r)) s->unverified += to - l->cursor;
    }
    l->cursor = to;
}

static void close_until(top_builder *b, struct lane *l, int64_t time)
{
    for (;;) {
        const struct level *call = innermost(&l->calls), *op = innermost(&l->ops);
        struct levels *s = !op || (call && call->end <= op->end) ? &l->calls : &l->ops;
        const struct level *v = innermost(s);
        if (!v || v->end > time) return;
        advance(b, l, v->end);
        if (v->sum != UINT32_MAX && !--*open_of(l, v->sum)) {
            b->top.v[v->sum].total = i64_add(b->top.v[v->sum].total, v->end - v->r.start);
            b->total_cost[v->sum] += v->cost;
        }
        if (s->n > 1) s->v[s->n - 2].cost += v->cost;
        s->n--;
    }
}

/* what a record cost, to the innermost call and to the operation around it */
static void charge(top_builder *b, struct lane *l, double cost)
{
    struct level *call = innermost(&l->calls), *op = innermost(&l->ops);
    if (!call || cost == 0) return;
    call->cost += cost;
    if (op) op->cost += cost;
    uint32_t i = self_of(b, l, call);                    /* which may move them */
    b->self_cost[i] += cost;
    b->removed += cost;
}

static void one_row(top_builder *b, struct lane *l, const struct held *h)
{
    const struct row *r = &h->r;
    if (r->kind == EVENT_GPU) {
        uint32_t i = sum_of(b, b->by_op ? r->op : r->name, r->cat);
        struct top_row *s = &b->top.v[i];
        s->calls++;
        s->self = i64_add(s->self, r->end - r->start);
        s->total = i64_add(s->total, r->end - r->start);
        return;
    }
    close_until(b, l, r->start);
    advance(b, l, r->start);
    struct level new = { .r = *r, .end = r->end, .sum = UINT32_MAX };
    struct levels *s = r->kind == EVENT_OP ? &l->ops : &l->calls;
    if (s->n && new.end > innermost(s)->end) {
        new.end = innermost(s)->end;
        b->repairs.misnested++;
    }
    bool part = r->flag == b->part || r->flag == b->estimated;   /* no call by itself */
    if (b->by_op == (r->kind == EVENT_OP)) {
        new.sum = sum_of(b, r->name, b->by_op ? 0 : r->cat);
        ++*open_of(l, new.sum);
        if (!part) b->top.v[new.sum].calls++;
    }
    if (!part) charge(b, l, h->cost.outside);
    s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
    s->v[s->n++] = new;
    if (!part && r->kind == EVENT_CAT) charge(b, l, h->cost.inside);
}

static int longest_first(const void *x, const void *y)
{
    const struct row *a = &((const struct held *)x)->r, *b = &((const struct held *)y)->r;
    return ORDER(b->end, a->end) ?: ORDER(a->source, b->source);
}

static void take_ties(top_builder *b, struct lane *l)
{
    if (l->nties > 1) qsort(l->tie, l->nties, sizeof *l->tie, longest_first);
    for (size_t i = 0; i < l->nties; i++) one_row(b, l, &l->tie[i]);
    l->nties = 0;
}

static struct lane *lane_of(top_builder *b, const struct row *r)
{
    const uint32_t key[2] = { r->proc, r->tid };
    if (b->lanes.n && memcmp(b->lanes.name[b->at].s, key, sizeof key) == 0) return &b->lane[b->at];
    size_t known = b->lanes.n;
    b->at = intern(&b->lanes, (str){ (const char *)key, sizeof key });
    if (b->lanes.n > known) {
        b->lane = grow(b->lane, b->lanes.n, &b->lane_cap, sizeof *b->lane);
        b->lane[b->at] = (struct lane){ .cursor = INT64_MIN, .proc = r->proc };
    }
    return &b->lane[b->at];
}

top_builder *top_begin(struct event_table *t, bool by_op, const struct top_range *range)
{
    top_builder *b = xcalloc(1, sizeof *b);
    intern(&t->text, (str){ "", 0 });
    *b = (top_builder){ .t = t, .by_op = by_op, .range = *range, .whole = range->from <= 0 && range->to == INT64_MAX,
                        .begin = INT64_MIN, .top = { .start = INT64_MAX, .end = INT64_MIN },
                        .est = intern(&t->text, str_of("est")), .open_flag = intern(&t->text, str_of("open")),
                        .unseen = intern(&t->text, str_of("unseen")), .part = intern(&t->text, str_of("part")),
                        .unseen_cat = intern(&t->text, str_of("Unseen")),
                        .skipped = intern(&t->text, str_of("skipped")),
                        .estimated = intern(&t->text, str_of("estimated")) };
    return b;
}

/* calls that were only counted: their number is the link, their category the flag */
static void add_skipped(top_builder *b, const struct row *r)
{
    str s = b->t->text.name[r->link];
    double n;
    if (b->by_op || !num_parse(s.s, s.n, &n) || !(n >= 1 && n <= 0x1p53)) return;
    uint32_t i = sum_of(b, r->name, r->flag);            /* which may move the rows */
    if (r->cat == b->estimated) b->top.v[i].estimated += (uint64_t)n;
    else b->top.v[i].skipped += (uint64_t)n;
}

/* CPU time of a thread that nobody recorded */
static void add_unseen(top_builder *b, const struct row *r)
{
    str s = b->t->text.name[r->link];
    int64_t n;
    if (b->by_op || !int_parse(s.s, s.n, &n) || n <= 0 || n > (int64_t)1 << 61) return;
    uint32_t i = sum_of(b, intern(&b->t->text, str_of("(threads that were not recorded)")), b->unseen_cat);
    b->top.v[i].calls++;
    b->top.v[i].self += n;
    b->top.v[i].total += n;
    b->top.v[i].unverified += n;
}

static bool takes_part(const struct row *r)
{
    return r->kind == EVENT_CAT || r->kind == EVENT_GPU || r->kind == EVENT_OP;
}

bool top_add(top_builder *b, const struct row *row, const struct top_cost *cost)
{
    struct row cut = *row, *r = &cut;
    if (b->whole && r->kind == EVENT_PROC && r->cat == b->unseen) add_unseen(b, r);
    if (b->whole && r->kind == EVENT_PROC && (r->cat == b->skipped || r->cat == b->estimated)) add_skipped(b, r);
    if (!takes_part(r) || (r->end < r->start && is_empty(r->start, r->end, &b->repairs, r->source + 2u))) return true;
    if (b->begin == INT64_MIN) b->begin = r->start;
    if (r->start - b->begin < b->range.from) {
        r->start = b->begin + b->range.from;
        cost = NULL;
    }
    if (r->end - b->begin > b->range.to) r->end = b->begin + b->range.to;
    if (r->end < r->start + (row->end > row->start)) return true;   /* a call in no time is one */
    struct lane *l = lane_of(b, r);
    if (l->nties && r->start != l->tie[0].r.start) {
        if (r->start < l->tie[0].r.start) return false;
        take_ties(b, l);
    }
    l->tie = grow(l->tie, l->nties + 1, &l->tie_cap, sizeof *l->tie);
    r->source = (uint32_t)l->nties;
    l->tie[l->nties++] = (struct held){ *r, cost ? *cost : (struct top_cost){ 0, 0 } };
    if (r->start < b->top.start) b->top.start = r->start;
    if (r->end > b->top.end) b->top.end = r->end;
    if (r->kind == EVENT_GPU) l->gpu = true;
    else l->cpu = true;
    return true;
}

/* what a time cannot give is not taken from another: the calibration is a mean */
static int64_t less(int64_t ns, double cost)
{
    int64_t c = cost < 9e18 ? (int64_t)(cost + 0.5) : INT64_MAX;
    return ns > c ? ns - c : 0;
}

static const struct event_table *sorting;

static int by_self(const void *x, const void *y)
{
    const struct top_row *a = x, *b = y;
    return ORDER(b->self, a->self) ?: ORDER(b->total, a->total) ?:
           str_cmp(sorting->text.name[a->name], sorting->text.name[b->name]) ?:
           str_cmp(sorting->text.name[a->cat], sorting->text.name[b->cat]);
}

static int by_proc(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return ORDER(a, b);
}

/* so much of Python's time, over all its rows, is not known to be Python's */
static void doubt_python(struct top *top, const struct event_table *t, double ns)
{
    double python = 0;
    for (size_t i = 0; i < top->n; i++)
        if (str_is(t->text.name[top->v[i].cat], "Python")) python += (double)top->v[i].self;
    double share = python > 0 ? ns / python : 0;
    for (size_t i = 0; i < top->n; i++) {
        struct top_row *r = &top->v[i];
        if (!str_is(t->text.name[r->cat], "Python")) continue;
        double v = (double)r->unverified + (double)r->self * share;
        r->unverified = v < (double)r->self ? (int64_t)v : r->self;
    }
}

static void read_judge(struct top *top, const char *path)
{
    csv *c = csv_open(path);
    int object = csv_need(c, "object"), kind = csv_need(c, "kind");
    int in_c = csv_need(c, "in_c"), samples = csv_need(c, "samples");
    while (csv_next(c)) {
        double n = csv_num(c, samples);
        if (!(n >= 0 && n <= 0x1p40)) csv_die(c, samples, "a number of samples");
        uint64_t k = (uint64_t)n;
        bool in = csv_num(c, in_c) != 0, extension = str_is(csv_str(c, kind), "extension");
        top->samples += k;
        top->out += in ? 0 : k;
        top->in_extensions += extension ? k : 0;
        top->seen += extension && in ? k : 0;
        str where = csv_str(c, object);                  /* the recorder's own code counts as libc's, and is neither */
        bool theirs = !in && str_is(csv_str(c, kind), "libc") && !memmem(where.s, where.n, "millrace", 8);
        top->unclear += theirs ? k : 0;
    }
    csv_close(c);
}

void top_judge(struct top *top, const struct event_table *t, const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    for (const struct dirent *e; (e = readdir(d));) {
        if (fnmatch("judge.*.csv", e->d_name, 0) != 0) continue;
        char *path = xformat("%s/%s", dir, e->d_name);
        read_judge(top, path);
        free(path);
    }
    closedir(d);
    if (!top->out) return;
    double python = 0, n = (double)top->out;
    double p = (double)(top->in_extensions - top->seen + top->unclear) / n, z = 1.96, zz = z * z / n;
    for (size_t i = 0; i < top->n; i++)
        if (str_is(t->text.name[top->v[i].cat], "Python")) python += (double)top->v[i].self;
    double most = (p + zz / 2 + z * sqrt(p * (1 - p) / n + zz / (4 * n))) / (1 + zz);
    doubt_python(top, t, python * fmin(1, most));
}

void top_end(top_builder *b, struct top *top)
{
    uint32_t *procs = xmalloc(b->lanes.n + 1, sizeof *procs);
    size_t n = 0;
    for (size_t i = 0; i < b->lanes.n; i++) {
        struct lane *l = &b->lane[i];
        take_ties(b, l);
        close_until(b, l, INT64_MAX);
        b->top.threads += l->cpu;
        b->top.streams += l->gpu;
        if (l->cpu) procs[n++] = l->proc;
        free_all(l->calls.v, l->ops.v, l->tie, l->open);
    }
    if (n) qsort(procs, n, sizeof *procs, by_proc);
    for (size_t i = 0; i < n; i++) b->top.processes += !i || procs[i] != procs[i - 1];
    if (b->top.end < b->top.start) b->top.start = b->top.end = 0;
    b->top.n = b->keys.n;
    double skipped = 0;
    for (size_t i = 0; i < b->top.n; i++) {
        struct top_row *r = &b->top.v[i];
        int64_t before = r->self;
        r->self = less(r->self, b->self_cost[i]);
        r->total = less(r->total, b->total_cost[i]);
        if (r->total < r->self && b->total_cost[i] > 0) r->total = r->self;
        if (r->unverified > r->self) r->unverified = r->self;
        b->top.removed += before - r->self;
        if (r->skipped && r->calls) skipped += (double)r->self / (double)r->calls * (double)r->skipped;
        if (__builtin_add_overflow(r->calls, r->skipped, &r->calls)
            || __builtin_add_overflow(r->calls, r->estimated, &r->calls)) r->calls = UINT64_MAX;
    }
    doubt_python(&b->top, b->t, skipped);
    repairs_note(&b->repairs);
    sorting = b->t;
    if (b->top.n) qsort(b->top.v, b->top.n, sizeof *b->top.v, by_self);
    *top = b->top;
    free_all(procs, b->lane, b->self_cost, b->total_cost, b->paren.s);
    intern_free(&b->keys);
    intern_free(&b->lanes);
    free(b);
}

void top_of(struct top *top, struct event_table *t, bool by_op, const struct top_range *range)
{
    table_sort_threads(t);
    top_builder *b = top_begin(t, by_op, range);
    for (const struct row *r = t->rows.v, *end = r + t->rows.n; r < end; r++)
        if (takes_part(r) && r->end >= r->start && (b->begin == INT64_MIN || r->start < b->begin)) b->begin = r->start;
    for (size_t i = 0; i < t->rows.n; i++) top_add(b, &t->rows.v[i], NULL);
    top_end(b, top);
}

/* ---- out */

static double share(const struct top *top, int64_t ns)
{
    return top->end > top->start ? (double)ns / (double)(top->end - top->start) : 0;
}

int top_write(const struct top *top, const struct event_table *t, size_t limit)
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

/* is there Python, and none of its functions? */
static bool python_is_whole(const struct top *top, const struct event_table *t)
{
    bool whole = false;
    for (size_t i = 0; i < top->n; i++) {
        if (!str_is(t->text.name[top->v[i].cat], "Python")) continue;
        if (!str_is(t->text.name[top->v[i].name], "(Python)")) return false;
        whole = true;
    }
    return whole;
}

void top_print(const struct top *top, const struct event_table *t, size_t limit)
{
    int64_t open = 0, *self = xcalloc(t->text.n, sizeof *self);   /* by category */
    bool estimated = false;
    for (size_t i = 0; i < top->n; i++) {
        self[top->v[i].cat] += top->v[i].self;
        open += top->v[i].unverified;
    }
    printf("%.3f s, %zu process%s, %zu thread%s", (double)(top->end - top->start) / 1e9, top->processes,
           top->processes == 1 ? "" : "es", top->threads, top->threads == 1 ? "" : "s");
    if (top->streams) printf(", %zu stream%s", top->streams, top->streams == 1 ? "" : "s");
    for (int k = 0; k < 8; k++) {                        /* largest first */
        uint32_t most = 0;
        for (size_t i = 0; i < top->n; i++) if (self[top->v[i].cat] > self[most]) most = top->v[i].cat;
        if (share(top, self[most]) < 0.0005) break;      /* 0.0 % */
        fputs(", ", stdout);
        put_text(t->text.name[most], 20);
        printf(" %.1f %%", 100 * share(top, self[most]));
        self[most] = 0;
    }
    free(self);
    if (top->removed > 0) printf(", %.3f s of recording taken out", (double)top->removed / 1e9);
    if (top->samples) putchar('\n');
    if (top->in_extensions)
        printf("C seen: %" PRIu64 " of %" PRIu64 " samples in extensions; ", top->seen, top->in_extensions);
    if (top->samples)
        printf("in no recorded call %" PRIu64 " of %" PRIu64 " samples, of them %" PRIu64 " in libc", top->out,
               top->samples, top->unclear);
    if (!top->samples && !open) fputs("\nno samples: nothing was verified; ", stdout);
    else printf("\nunverified %.1f %%; ", 100 * share(top, open));
    puts("shares are of the run's length, all threads and streams added up\n");
    puts("  share   self_seconds  total_seconds       calls  category       name");
    for (size_t i = 0; i < top->n && i < limit; i++) {
        const struct top_row *r = &top->v[i];
        str cat = t->text.name[r->cat];
        printf("%5.1f %%  %13.6f  %13.6f  %10" PRIu64 "  ", 100 * share(top, r->self), (double)r->self / 1e9,
               (double)r->total / 1e9, r->calls);
        put_text(cat, 40);
        printf("%*s", cat.n < 13 ? 15 - (int)cat.n : 2, "");
        put_text(t->text.name[r->name], 90);
        puts(r->estimated ? " ~" : "");
        estimated |= r->estimated > 0;
    }
    if (estimated) puts("\n~ times of some calls, drawn at random, stand for all; the calls are counted");
    if (python_is_whole(top, t))
        puts("\n(Python) is all of Python in one row; prof-record --tree tells its functions apart");
}

/* events.c - see events.h */
#include "prof/events.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include <stdlib.h>
#include <string.h>

const char *const event_kind_name[EVENT_KINDS] = { "cat", "gpu", "ovh", "op", "phase", "proc", "after",
                                                    "link" };

static const int64_t TIME_MAX = (int64_t)1 << 62;

struct events_in events_of(csv *t)
{
    return (struct events_in){ .t = t, .proc = csv_find(t, "proc"), .tid = csv_find(t, "tid"),
                               .kind = csv_need_of(t, "kind", "events are wanted: prof-log, prof-import"),
                               .cat = csv_need(t, "cat"), .start = csv_need(t, "start_ns"),
                               .end = csv_need(t, "end_ns"), .name = csv_find(t, "name"), .link = csv_find(t, "link"),
                               .flag = csv_find(t, "flag"), .op = csv_find(t, "op") };
}

struct events_in events_open(char **paths)
{
    return events_of(csv_files(paths));
}

static enum event_kind kind_of(const struct events_in *in)
{
    str s = csv_str(in->t, in->kind);
    for (int k = 0; k < EVENT_KINDS; k++)
        if (s.n && s.s[0] == event_kind_name[k][0] && str_is(s, event_kind_name[k])) return (enum event_kind)k;
    csv_die(in->t, in->kind, "one of cat gpu ovh op phase proc");
}

static int64_t time_of(const struct events_in *in, int col)
{
    int64_t t = csv_int(in->t, col);
    if (t > TIME_MAX || t < -TIME_MAX) csv_die(in->t, col, "a time within 2^62 ns of 0");
    return t;
}

static str field(const csv *t, int col)
{
    return col < 0 ? (str){ "", 0 } : csv_str(t, col);
}

bool events_next(struct events_in *in, struct event *e)
{
    csv *t = in->t;
    if (!csv_next(t)) return false;
    *e = (struct event){ .proc = field(t, in->proc), .tid = field(t, in->tid), .cat = csv_str(t, in->cat),
                         .name = field(t, in->name), .link = field(t, in->link), .flag = field(t, in->flag),
                         .op = field(t, in->op), .start = time_of(in, in->start), .end = time_of(in, in->end),
                         .kind = kind_of(in) };
    return true;
}

str event_key(const struct event *e)
{
    static struct buf b;
    str s = e->kind == EVENT_OP || e->kind == EVENT_PHASE ? e->name : e->cat.n ? e->cat : e->name;
    if (!s.n) s = str_of("?");
    if (e->kind != EVENT_OVH || (s.n >= 4 && memcmp(s.s, "ovh:", 4) == 0)) return s;
    b.n = 0;
    buf_add(&b, "ovh:", 4);
    buf_str(&b, s);
    return (str){ b.s, b.n };
}

bool is_empty(int64_t start, int64_t end, struct repairs *r, size_t line)
{
    if (end > start) return false;
    if (!r->empty && !r->reversed) r->first_line = line;
    if (end < start) r->reversed++;
    else r->empty++;
    return true;
}

void repairs_note(const struct repairs *r)
{
    if (quiet) return;
    if (r->misnested)
        warn("%llu misnested intervals cut at the end of the one they began in", (unsigned long long)r->misnested);
    if (r->empty || r->reversed)
        warn("%llu empty and %llu reversed intervals left out, the first at line %zu",
             (unsigned long long)r->empty, (unsigned long long)r->reversed, r->first_line);
}

void events_put(csvw *w, const struct event *e)
{
    csvw_str(w, e->proc);
    csvw_str(w, e->tid);
    csvw_cstr(w, event_kind_name[e->kind]);
    csvw_str(w, e->cat);
    csvw_int(w, e->start);
    csvw_int(w, e->end);
    csvw_str(w, e->name);
    csvw_str(w, e->link);
    csvw_str(w, e->flag);
}

/* ---- all rows in memory */

static bool is_ours(const struct events_in *in, int col)
{
    return col == in->proc || col == in->tid || col == in->kind || col == in->cat || col == in->start || col == in->end
        || col == in->name || col == in->link || col == in->flag || col == in->op;
}

static void find_extra(struct event_table *t, const struct events_in *in)
{
    int n = csv_ncol(in->t);
    t->extra_col = xmalloc((size_t)n, sizeof *t->extra_col);
    t->extra_name = xmalloc((size_t)n, sizeof *t->extra_name);
    for (int c = 0; c < n; c++) {
        if (is_ours(in, c)) continue;
        str s = csv_name(in->t, c);
        t->extra_name[t->nextra] = arena_copy(&t->names, s.s, s.n);
        t->extra_col[t->nextra++] = c;
    }
}

int table_extra(const struct event_table *t, const char *name)
{
    for (int i = 0; i < t->nextra; i++) if (strcmp(t->extra_name[i], name) == 0) return i;
    return -1;
}

bool is_activity(const struct row *r)
{
    return r->end > r->start && (r->kind == EVENT_CAT || r->kind == EVENT_GPU || r->kind == EVENT_OP);
}

void rows_add(struct rows *r, const struct row *new)
{
    if (r->n >= UINT32_MAX) die("more than %u rows", UINT32_MAX);
    r->v = grow(r->v, r->n + 1, &r->cap, sizeof *r->v);
    r->v[r->n++] = *new;
}

/* mostly the text of one of the two rows before: then no hash is needed */
static uint32_t text_of(struct event_table *t, str s, uint32_t last, uint32_t before)
{
    if (!s.n) return 0;
    const str *name = t->text.name;
    return str_eq(name[last], s) ? last : str_eq(name[before], s) ? before : intern(&t->text, s);
}

static bool next_row(struct ordered *o, struct row *r)
{
    struct event_table *t = o->t;
    struct event e;
    if (!events_next(&o->in, &e)) return false;
    const struct row *l = &o->last, *b = &o->before;
    *r = (struct row){ .start = e.start, .end = e.end, .proc = text_of(t, e.proc, l->proc, b->proc),
                       .tid = text_of(t, e.tid, l->tid, b->tid), .cat = text_of(t, e.cat, l->cat, b->cat),
                       .name = text_of(t, e.name, l->name, b->name),
                       .link = o->links ? text_of(t, e.link, l->link, b->link) : 0,
                       .flag = text_of(t, e.flag, l->flag, b->flag), .op = text_of(t, e.op, l->op, b->op),
                       .source = (uint32_t)o->at++, .kind = (uint8_t)e.kind };
    o->before = o->last;
    o->last = *r;
    return true;
}

static void add_row(struct ordered *o, const struct row *r)
{
    struct event_table *t = o->t;
    size_t n = t->rows.n, extra = (size_t)t->nextra;
    rows_add(&t->rows, r);
    if (!extra) return;
    t->extra = grow(t->extra, size_mul(n + 1, extra), &t->extra_cap, sizeof *t->extra);
    uint32_t *row = t->extra + n * extra;
    const uint32_t *last = n ? row - extra : row, *before = n > 1 ? last - extra : last;
    for (size_t k = 0; k < extra; k++) {
        if (!n) row[k] = 0;
        row[k] = text_of(t, csv_str(o->in.t, t->extra_col[k]), last[k], before[k]);
    }
}

static void ordered_begin(struct ordered *o, struct event_table *t, char **paths, bool links)
{
    *o = (struct ordered){ .in = events_open(paths), .t = t, .links = links };
    t->has_op = o->in.op >= 0;
    find_extra(t, &o->in);
    intern(&t->text, (str){ "", 0 });
}

void table_read(struct event_table *t, char **paths)
{
    struct ordered o;
    struct row r;
    ordered_begin(&o, t, paths, true);
    while (next_row(&o, &r)) add_row(&o, &r);
    csv_close(o.in.t);
}

enum { LOOK_AHEAD = 1 << 17 };                           /* rows; 10 MiB */

bool ordered_open(struct ordered *o, struct event_table *t, char **paths, bool hold, bool links)
{
    struct row r;
    bool sorted = true;
    int64_t last = INT64_MIN;
    ordered_begin(o, t, paths, links);
    while (next_row(o, &r)) {
        add_row(o, &r);
        sorted &= r.start >= last;
        last = r.start;
        if (!hold && sorted && t->rows.n >= LOOK_AHEAD) {
            o->at = 0;
            o->extra = xcalloc(size_mul((size_t)t->nextra, 2) + 1, sizeof *o->extra);
            return true;
        }
    }
    csv_close(o->in.t);
    return false;
}

bool ordered_next(struct ordered *o, struct row *r, const uint32_t **extra)
{
    struct event_table *t = o->t;
    size_t n = (size_t)t->nextra;
    if (o->at < t->rows.n) {                             /* those that were looked at */
        *r = t->rows.v[o->at];
        *extra = n ? t->extra + o->at * n : NULL;
        o->at++;
        return true;
    }
    if (t->rows.v) {
        free(t->rows.v);
        free(t->extra);
        t->rows = (struct rows){ 0 };
        t->extra = NULL;
        t->extra_cap = 0;
    }
    int64_t last = o->last.start;
    if (!next_row(o, r)) {
        csv_close(o->in.t);
        free(o->extra);
        return false;
    }
    if (r->start < last) csv_die(o->in.t, o->in.start, "in order, as the rows before were; --hold reads any order");
    for (size_t k = 0; k < n; k++) {
        uint32_t *one = &o->extra[k], *other = &o->extra[n + k];   /* the other: the last that was not the same */
        uint32_t x = text_of(t, csv_str(o->in.t, t->extra_col[k]), *one, *other);
        if (x == *one) continue;
        *other = *one;
        *one = x;
    }
    *extra = o->extra;
    return true;
}

int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return ORDER(x->start, y->start);
}

static int by_start(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->start, y->start) ?: ORDER(x->source, y->source);
}

static int by_thread(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->proc, y->proc) ?: ORDER(x->tid, y->tid) ?: ORDER(x->start, y->start) ?:
           ORDER(y->end, x->end) ?: ORDER(x->source, y->source);
}

/* rows of a thread come by start but for a few that begin together */
static void sort_rising(struct row *v, size_t n)
{
    enum { NEAR = 64 };
    for (size_t i = 1; i < n; i++) {
        size_t k = i;
        const struct row here = v[i];
        while (k && i - k < NEAR && by_thread(&v[k - 1], &here) > 0) k--;
        if (i - k == NEAR) {
            qsort(v, n, sizeof *v, by_thread);
            return;
        }
        if (k == i) continue;
        memmove(v + k + 1, v + k, (i - k) * sizeof *v);
        v[k] = here;
    }
}

void table_sort_threads(struct event_table *t)
{
    struct rows *r = &t->rows, first = { 0 };            /* first: a row for each thread; end: how many it has */
    struct intern keys = { 0 };
    size_t sum = 0, *next = NULL;
    uint32_t *of = xmalloc(r->n + 1, sizeof *of);
    struct row *to = xmalloc(r->n + 1, sizeof *to);
    for (size_t i = 0; i < r->n; i++) {
        const uint32_t key[] = { r->v[i].proc, r->v[i].tid };
        of[i] = intern(&keys, (str){ (const char *)key, sizeof key });
        if (of[i] == first.n) rows_add(&first, &(struct row){ .proc = key[0], .tid = key[1], .source = of[i] });
        first.v[of[i]].end++;
    }
    if (first.n) qsort(first.v, first.n, sizeof *first.v, by_thread);
    next = xmalloc(first.n + 1, sizeof *next);
    for (size_t k = 0; k < first.n; sum += (size_t)first.v[k++].end) next[first.v[k].source] = sum;
    for (size_t i = 0; i < r->n; i++) to[next[of[i]]++] = r->v[i];
    for (size_t k = 0, end = 0; k < first.n; end += (size_t)first.v[k++].end)
        sort_rising(to + end, (size_t)first.v[k].end);
    intern_free(&keys);
    free_all(first.v, next, of, r->v);
    *r = (struct rows){ to, r->n, r->n + 1 };
}

void rows_out_begin(struct rows_out *o, csvw *w, const struct event_table *t, bool op)
{
    *o = (struct rows_out){ .w = w, .t = t, .op = op };
    csvw_names(w, op ? EVENT_COLUMNS ",op" : EVENT_COLUMNS);
    for (int k = 0; k < t->nextra; k++) csvw_cstr(w, t->extra_name[k]);
    csvw_end(w);
}

void rows_out_put(struct rows_out *o, const struct row *r, const uint32_t *extra)
{
    const str *text = o->t->text.name;
    const uint32_t left[] = { r->proc, r->tid, r->kind, r->cat };
    uint32_t right[PHRASE_FIELDS] = { r->name, r->link, r->flag, r->op };
    str field[PHRASE_FIELDS] = { text[r->proc], text[r->tid], str_of(event_kind_name[r->kind]), text[r->cat] };
    size_t n = o->op ? 4 : 3;
    phrase_put(&o->left, o->w, left, field, 4);
    csvw_int(o->w, r->start);
    csvw_int(o->w, r->end);
    int k = 0;
    for (; k < o->t->nextra && n < PHRASE_FIELDS; k++) right[n++] = extra[k];
    for (size_t i = 0; i < n; i++) field[i] = text[right[i]];
    phrase_put(&o->right, o->w, right, field, n);
    for (; k < o->t->nextra; k++) csvw_str(o->w, text[extra[k]]);
    csvw_end(o->w);
}

void rows_out_end(struct rows_out *o)
{
    phrases_free(&o->left);
    phrases_free(&o->right);
}

int table_write(const struct event_table *t, struct rows *out, bool op)
{
    struct rows_out o;
    csvw *w = csvw_open("-");
    size_t extra = (size_t)t->nextra;
    rows_out_begin(&o, w, t, op);
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_start);
    for (const struct row *r = out->v, *end = r + out->n; r < end; r++)
        rows_out_put(&o, r, extra ? t->extra + (size_t)r->source * extra : NULL);
    rows_out_end(&o);
    return csvw_close(w);
}

/* ---- nested intervals */

struct nest_level { int64_t end; const struct row *of; };

/* the piece from cursor to the end of this level, unless that is past; returns the later of the two */
static int64_t emit(struct pieces *p, int64_t cursor, const struct nest_level *l)
{
    if (l->end <= cursor) return cursor;
    p->v = grow(p->v, p->n + 1, &p->cap, sizeof *p->v);
    p->v[p->n++] = (struct event_piece){ cursor, l->end, l->of };
    return l->end;
}

void nest_flatten(struct pieces *p, const struct row *row, size_t n, enum event_kind kind, struct repairs *repairs)
{
    size_t depth = 0;
    int64_t cursor = 0;
    p->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        if (r->end <= r->start || r->kind != kind) continue;
        for (; depth && p->stack[depth - 1].end <= r->start; depth--) cursor = emit(p, cursor, &p->stack[depth - 1]);
        int64_t end = r->end;
        if (depth) {
            emit(p, cursor, &(struct nest_level){ r->start, p->stack[depth - 1].of });
            if (repairs && end > p->stack[depth - 1].end) {
                end = p->stack[depth - 1].end;
                repairs->misnested++;
            }
        }
        cursor = r->start;
        p->stack = grow(p->stack, depth + 1, &p->depth_cap, sizeof *p->stack);
        p->stack[depth++] = (struct nest_level){ end, r };
    }
    for (; depth; depth--) cursor = emit(p, cursor, &p->stack[depth - 1]);
}

bool next_thread(const struct rows *t, size_t *begin, size_t *end)
{
    if (*end >= t->n) return false;
    *begin = *end;
    while (*end < t->n && t->v[*end].proc == t->v[*begin].proc && t->v[*end].tid == t->v[*begin].tid) ++*end;
    return true;
}

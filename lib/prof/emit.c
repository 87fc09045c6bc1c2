/* emit.c - see emit.h */
#include "prof/emit.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include "base/num.h"
#include "base/out.h"
#include "prof/import/input.h"
#include "table/csvio.h"
#include "tree/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Chrome */

struct lane { int64_t *end; size_t n, cap; uint32_t tid; };   /* ends of the open events, innermost last */
struct thread { struct lane *lane; size_t n, cap; int64_t last; };
struct chrome {
    jsonw *w;
    struct intern procs, threads;
    struct thread *thread;
    size_t thread_cap;
    uint32_t tids;
};

static void member(jsonw *w, const char *key, str value)
{
    jsonw_key(w, key);
    jsonw_str(w, value);
}

static void number(jsonw *w, const char *key, int64_t value)
{
    jsonw_key(w, key);
    jsonw_int(w, value);
}

static void open_member(jsonw *w, const char *key, char bracket)
{
    jsonw_key(w, key);
    jsonw_begin(w, bracket);
}

static void name_metadata(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, str name)
{
    jsonw *w = c->w;
    jsonw_line(w);
    jsonw_begin(w, '{');
    member(w, "ph", str_of("M"));
    member(w, "name", str_of(what));
    number(w, "pid", pid);
    if (tid) number(w, "tid", tid);
    open_member(w, "args", '{');
    member(w, "name", name);
    member(w, "id", name);
    jsonw_end(w);
    jsonw_end(w);
}

static void microseconds(jsonw *w, int64_t ns)
{
    char b[40];
    uint64_t u = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    int n = snprintf(b, sizeof b, "%s%llu.%03llu", ns < 0 ? "-" : "", (unsigned long long)(u / 1000),
                     (unsigned long long)(u % 1000));
    jsonw_raw(w, (str){ b, (size_t)n });
}

/* the first lane of the thread in which [start, end) nests */
static uint32_t lane_for(struct chrome *c, struct thread *t, uint32_t pid, const struct event *e)
{
    for (size_t i = 0;; i++) {
        if (i == t->n) {
            t->lane = grow(t->lane, t->n + 1, &t->cap, sizeof *t->lane);
            t->lane[t->n++] = (struct lane){ .tid = ++c->tids };
            name_metadata(c, "thread_name", pid, c->tids, e->tid);
        }
        struct lane *l = &t->lane[i];
        while (l->n && l->end[l->n - 1] <= e->start) l->n--;
        if (l->n && l->end[l->n - 1] < e->end) continue;
        l->end = grow(l->end, l->n + 1, &l->cap, sizeof *l->end);
        l->end[l->n++] = e->end;
        return l->tid;
    }
}

void emit_chrome(struct events_in *in, const char *path)
{
    struct chrome c = { .w = jsonw_open(path) };
    struct event e;
    struct buf id = { 0 };
    uint64_t early = 0;
    jsonw *w = c.w;
    jsonw_begin(w, '{');
    member(w, "displayTimeUnit", str_of("ns"));
    open_member(w, "traceEvents", '[');
    while (events_next(in, &e)) {
        size_t known = c.procs.n;
        uint32_t pid = intern(&c.procs, e.proc) + 1;
        if (c.procs.n > known) name_metadata(&c, "process_name", pid, 0, e.proc);
        id.n = 0;
        buf_format(&id, "%u/", pid);
        buf_str(&id, e.tid);
        known = c.threads.n;
        uint32_t k = intern(&c.threads, (str){ id.s, id.n });
        if (c.threads.n > known) {
            c.thread = grow(c.thread, c.threads.n, &c.thread_cap, sizeof *c.thread);
            c.thread[k] = (struct thread){ .last = INT64_MIN };
        }
        early += e.start < c.thread[k].last;
        c.thread[k].last = e.start;
        uint32_t tid = lane_for(&c, &c.thread[k], pid, &e);
        jsonw_line(w);
        jsonw_begin(w, '{');
        member(w, "ph", str_of("X"));
        member(w, "name", e.name.n ? e.name : e.cat);
        member(w, "cat", e.cat.n ? e.cat : str_of(event_kind_name[e.kind]));
        number(w, "pid", pid);
        number(w, "tid", tid);
        jsonw_key(w, "ts");
        microseconds(w, e.start);
        jsonw_key(w, "dur");
        microseconds(w, e.end - e.start);
        open_member(w, "args", '{');
        member(w, "kind", str_of(event_kind_name[e.kind]));
        static const char *const key[] = { "cat", "name", "link", "flag" };
        const str value[] = { e.cat, e.name, e.link, e.flag };
        for (int i = 0; i < 4; i++) if (value[i].n) member(w, key[i], value[i]);
        jsonw_end(w);
        jsonw_end(w);
    }
    jsonw_line(w);
    jsonw_end(w);
    jsonw_end(w);
    input_end();                                         /* a folder that could not be read leaves no file */
    jsonw_close(w);
    free(id.s);
    if (early && !quiet)
        warn("%llu rows begin before the one above them on their thread: viewers may cross them (csv-sort first)",
             (unsigned long long)early);
}

/* ---- walking the call trees of all threads */

struct visit { const struct row *r; int64_t t, duration, own; };   /* the latter two when it is left */
struct walker {
    void *closure;
    void (*thread)(void *, const struct row *first);     /* a new one begins; or NULL, as the others */
    void (*enter)(void *, const struct visit *), (*leave)(void *, const struct visit *);
};

static void walk(struct event_table *t, const struct walker *v)
{
    struct open { const struct row *r; int64_t end, inside; } *stack = NULL;   /* inside: time of what it called */
    size_t depth = 0, cap = 0;
    struct repairs repairs = { 0 };
    table_sort_threads(t);
    for (size_t begin, end = 0; next_thread(&t->rows, &begin, &end);) {
        bool first = true;
        for (size_t i = begin; i <= end; i++) {
            const struct row *r = i < end ? &t->rows.v[i] : NULL;
            if (r && ((r->kind != EVENT_CAT && r->kind != EVENT_GPU) ||
                      is_empty(r->start, r->end, &repairs, r->source + 2u)))
                continue;
            if (r && first && v->thread) v->thread(v->closure, r);
            if (r) first = false;
            for (; depth && (!r || stack[depth - 1].end <= r->start); depth--) {
                struct open *o = &stack[depth - 1];
                int64_t duration = o->end - o->r->start;
                if (v->leave) v->leave(v->closure, &(struct visit){ o->r, o->end, duration, duration - o->inside });
                if (depth > 1) stack[depth - 2].inside += duration;
            }
            if (!r) break;
            stack = grow(stack, depth + 1, &cap, sizeof *stack);
            int64_t stop = r->end;
            if (depth && stop > stack[depth - 1].end) {
                stop = stack[depth - 1].end;
                repairs.misnested++;
            }
            stack[depth++] = (struct open){ r, stop, 0 };
            if (v->enter) v->enter(v->closure, &(struct visit){ .r = r, .t = r->start });
        }
    }
    free(stack);
    repairs_note(&repairs);
}

static str label(const struct event_table *t, const struct row *r)
{
    str s = t->text.name[r->name];
    return s.n ? s : t->text.name[r->cat];
}

/* ---- folded */

struct folded {
    const struct event_table *t;
    struct buf path;
    size_t *length, depth, cap;                          /* of the path at each depth */
    struct intern paths;
    int64_t *own;
    size_t own_cap;
    bool threads;
};

static void folded_thread(void *closure, const struct row *r)
{
    struct folded *f = closure;
    f->path.n = 0;
    if (!f->threads) return;
    str p = f->t->text.name[r->proc], i = f->t->text.name[r->tid];
    buf_format(&f->path, "P%.*s;T%.*s;", (int)p.n, p.s, (int)i.n, i.s);
}

static void folded_enter(void *closure, const struct visit *v)
{
    struct folded *f = closure;
    str s = label(f->t, v->r);
    f->length = grow(f->length, f->depth + 1, &f->cap, sizeof *f->length);
    f->length[f->depth++] = f->path.n;
    if (f->depth > 1) buf_char(&f->path, ';');
    for (size_t i = 0; i < s.n; i++) buf_char(&f->path, s.s[i] == ';' || s.s[i] == '\n' ? ':' : s.s[i]);
}

static void folded_leave(void *closure, const struct visit *v)
{
    struct folded *f = closure;
    size_t known = f->paths.n;
    uint32_t i = intern(&f->paths, (str){ f->path.s, f->path.n });
    if (f->paths.n > known) {
        f->own = grow(f->own, f->paths.n, &f->own_cap, sizeof *f->own);
        f->own[i] = 0;
    }
    f->own[i] = i64_add(f->own[i], v->own);
    f->path.n = f->length[--f->depth];
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

void emit_folded(struct event_table *t, const char *path, bool threads)
{
    struct folded f = { .t = t, .threads = threads };
    walk(t, &(struct walker){ &f, folded_thread, folded_enter, folded_leave });
    struct out *out = out_open(path);
    FILE *file = out_file(out);
    str *sorted = xmalloc(f.paths.n, sizeof *sorted);
    for (size_t i = 0; i < f.paths.n; i++) sorted[i] = f.paths.name[i];
    if (f.paths.n) qsort(sorted, f.paths.n, sizeof *sorted, by_text);
    for (size_t i = 0; i < f.paths.n; i++) {
        long long us = i64_add(f.own[intern(&f.paths, sorted[i])], 500) / 1000;
        if (us) fprintf(file, "%.*s %lld\n", (int)sorted[i].n, sorted[i].s, us);
    }
    out_close(out);
}

/* ---- flame */

struct flame { const struct event_table *t; csvw *w; size_t depth; int64_t begin; };

static void flame_enter(void *closure, const struct visit *v)
{
    (void)v;
    ((struct flame *)closure)->depth++;
}

static void flame_leave(void *closure, const struct visit *v)
{
    struct flame *f = closure;
    csvw_str(f->w, f->t->text.name[v->r->proc]);
    csvw_str(f->w, f->t->text.name[v->r->tid]);
    csvw_int(f->w, (int64_t)f->depth--);
    csvw_num(f->w, (double)(v->t - v->duration - f->begin) / 1e3);
    csvw_num(f->w, (double)(v->t - f->begin) / 1e3);
    csvw_str(f->w, label(f->t, v->r));
    csvw_end(f->w);
}

void emit_flame(struct event_table *t, const char *path)
{
    struct flame f = { .t = t, .w = csvw_open(path), .begin = INT64_MAX };
    for (const struct row *r = t->rows.v, *end = r + t->rows.n; r < end; r++)
        if ((r->kind == EVENT_CAT || r->kind == EVENT_GPU) && r->start < f.begin) f.begin = r->start;
    csvw_names(f.w, "proc,tid,depth,start_us,end_us,name");
    csvw_end(f.w);
    walk(t, &(struct walker){ &f, NULL, flame_enter, flame_leave });
    csvw_close(f.w);
}

/* ---- speedscope */

struct speedscope { const struct event_table *t; jsonw *w; struct intern frames; bool open; };

static void frames_enter(void *closure, const struct visit *v)
{
    struct speedscope *s = closure;
    intern(&s->frames, label(s->t, v->r));
}

static void end_thread(struct speedscope *s)
{
    if (!s->open) return;
    jsonw_end(s->w);
    jsonw_end(s->w);
    s->open = false;
}

static void speedscope_thread(void *closure, const struct row *r)
{
    struct speedscope *s = closure;
    jsonw *w = s->w;
    int64_t start = r->start, end = r->end;
    end_thread(s);
    const struct row *after = s->t->rows.v + s->t->rows.n;
    for (const struct row *x = r; x < after && x->proc == r->proc && x->tid == r->tid; x++)
        if ((x->kind == EVENT_CAT || x->kind == EVENT_GPU) && x->end > end) end = x->end;
    str p = s->t->text.name[r->proc], t = s->t->text.name[r->tid];
    char *name = xformat("%.*s %.*s", (int)p.n, p.s, (int)t.n, t.s);
    jsonw_line(w);
    jsonw_begin(w, '{');
    member(w, "type", str_of("evented"));
    member(w, "name", str_of(name));
    member(w, "unit", str_of("nanoseconds"));
    number(w, "startValue", start);
    number(w, "endValue", end);
    open_member(w, "events", '[');
    s->open = true;
    free(name);
}

static void speedscope_event(struct speedscope *s, const char *type, const struct visit *v)
{
    jsonw *w = s->w;
    jsonw_line(w);
    jsonw_begin(w, '{');
    member(w, "type", str_of(type));
    number(w, "frame", intern(&s->frames, label(s->t, v->r)));
    number(w, "at", v->t);
    jsonw_end(w);
}

static void speedscope_enter(void *closure, const struct visit *v)
{
    speedscope_event(closure, "O", v);
}

static void speedscope_leave(void *closure, const struct visit *v)
{
    speedscope_event(closure, "C", v);
}

void emit_speedscope(struct event_table *t, const char *path)
{
    struct speedscope s = { .t = t, .w = jsonw_open(path) };
    jsonw *w = s.w;
    bool was_quiet = quiet;
    quiet = true;                                        /* repairs are told once, by the second walk */
    walk(t, &(struct walker){ &s, NULL, frames_enter, NULL });
    quiet = was_quiet;
    jsonw_begin(w, '{');
    member(w, "$schema", str_of("https://www.speedscope.app/file-format-schema.json"));
    open_member(w, "shared", '{');
    open_member(w, "frames", '[');
    for (size_t i = 0; i < s.frames.n; i++) {
        jsonw_line(w);
        jsonw_begin(w, '{');
        member(w, "name", s.frames.name[i]);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_end(w);
    open_member(w, "profiles", '[');
    walk(t, &(struct walker){ &s, speedscope_thread, speedscope_enter, speedscope_leave });
    end_thread(&s);
    jsonw_end(w);
    member(w, "exporter", str_of("millrace"));
    jsonw_end(w);
    jsonw_close(w);
}

/* ---- cProfile */

/* ns */
struct function { str file, name; int32_t line; int64_t own, cumulative; uint64_t calls, primitive; uint32_t active; };
struct edge { uint32_t callee, caller; uint64_t calls, primitive; int64_t own, cumulative; };
struct prof {
    const struct event_table *t;
    struct intern names;                                 /* label -> function */
    struct function *f;
    size_t f_cap;
    struct intern edges;                                 /* two numbers as bytes -> edge */
    struct edge *e;
    size_t e_cap;
    uint32_t *stack;
    size_t depth, cap;
};

/* "file.py:12(f)" and "file.py:12.f" are what they look like, anything else is a builtin */
static void split_name(struct function *f, str s)
{
    *f = (struct function){ .file = { "~", 1 }, .name = s };
    for (size_t i = s.n; i-- > 0;) {
        if (s.s[i] != ':') continue;
        size_t k = i + 1;
        int64_t line;
        while (k < s.n && s.s[k] >= '0' && s.s[k] <= '9') k++;
        bool paren = k < s.n && s.s[k] == '(' && s.s[s.n - 1] == ')';
        if (k == i + 1 || k >= s.n || !(paren || s.s[k] == '.') || !int_parse(s.s + i + 1, k - i - 1, &line) ||
            line > INT32_MAX)
            continue;
        f->file = (str){ s.s, i };
        f->line = (int32_t)line;
        f->name = (str){ s.s + k + 1, s.n - k - 1 - paren };
        return;
    }
}

static uint32_t function_of(struct prof *p, str s)
{
    size_t known = p->names.n;
    uint32_t i = intern(&p->names, s);
    if (p->names.n > known) {
        p->f = grow(p->f, p->names.n, &p->f_cap, sizeof *p->f);
        split_name(&p->f[i], p->names.name[i]);
    }
    return i;
}

static void prof_enter(void *closure, const struct visit *v)
{
    struct prof *p = closure;
    uint32_t f = function_of(p, label(p->t, v->r));
    p->stack = grow(p->stack, p->depth + 1, &p->cap, sizeof *p->stack);
    p->stack[p->depth++] = f;
    p->f[f].active++;
}

static void prof_leave(void *closure, const struct visit *v)
{
    struct prof *p = closure;
    uint32_t f = p->stack[--p->depth];
    struct function *x = &p->f[f];
    bool outermost = --x->active == 0;
    x->calls++;
    x->own += v->own;
    x->primitive += outermost;
    if (outermost) x->cumulative += v->duration;
    if (!p->depth) return;
    uint32_t key[2] = { f, p->stack[p->depth - 1] };
    size_t known = p->edges.n;
    uint32_t i = intern(&p->edges, (str){ (const char *)key, sizeof key });
    if (p->edges.n > known) {
        p->e = grow(p->e, p->edges.n, &p->e_cap, sizeof *p->e);
        p->e[i] = (struct edge){ .callee = f, .caller = key[1] };
    }
    p->e[i].calls++;
    p->e[i].primitive += outermost;
    p->e[i].own += v->own;
    if (outermost) p->e[i].cumulative += v->duration;
}

static void put_u32(FILE *f, uint32_t v)
{
    for (int i = 0; i < 4; i++) putc((int)(v >> (8 * i) & 255), f);
}

static void put_text(FILE *f, str s)
{
    putc('u', f);
    put_u32(f, (uint32_t)s.n);
    fwrite(s.s, 1, s.n, f);
}

static void put_integer(FILE *f, uint64_t v)
{
    if (v <= INT32_MAX) {
        putc('i', f);
        put_u32(f, (uint32_t)v);
        return;
    }
    uint32_t digits = 0;
    for (uint64_t rest = v; rest; rest >>= 15) digits++;
    putc('l', f);
    put_u32(f, digits);
    for (; v; v >>= 15) {
        putc((int)(v & 255), f);
        putc((int)(v >> 8 & 127), f);
    }
}

static void put_seconds(FILE *f, int64_t ns)
{
    double v = (double)ns / 1e9;
    putc('g', f);
    fwrite(&v, 1, sizeof v, f);
}

static void put_key(FILE *f, const struct function *x)
{
    putc(')', f);
    putc(3, f);
    put_text(f, x->file);
    put_integer(f, (uint64_t)x->line);
    put_text(f, x->name);
}

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return ORDER(x->callee, y->callee) ?: ORDER(x->caller, y->caller);
}

static void write_prof(struct prof *p, const char *path)
{
    struct out *out = out_open(path);
    FILE *file = out_file(out);
    size_t e = 0;
    if (p->edges.n) qsort(p->e, p->edges.n, sizeof *p->e, by_edge);
    putc('{', file);
    for (uint32_t i = 0; i < p->names.n; i++) {
        const struct function *x = &p->f[i];
        put_key(file, x);
        putc(')', file);
        putc(5, file);
        put_integer(file, x->primitive);
        put_integer(file, x->calls);
        put_seconds(file, x->own);
        put_seconds(file, x->cumulative);
        putc('{', file);
        for (; e < p->edges.n && p->e[e].callee == i; e++) {
            put_key(file, &p->f[p->e[e].caller]);
            putc(')', file);
            putc(4, file);
            put_integer(file, p->e[e].primitive);
            put_integer(file, p->e[e].calls);
            put_seconds(file, p->e[e].own);
            put_seconds(file, p->e[e].cumulative);
        }
        putc('0', file);
    }
    putc('0', file);
    out_close(out);
}

/* a table that came from totals: columns calls, primitive_calls, cumulative_ns */
static bool from_totals(struct prof *p, struct event_table *t)
{
    static const char *const name[] = { "calls", "primitive_calls", "cumulative_ns" };
    const int column[] = { table_extra(t, name[0]), table_extra(t, name[1]), table_extra(t, name[2]) };
    if (column[0] < 0 || column[1] < 0 || column[2] < 0) return false;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        int64_t v[3];
        for (int c = 0; c < 3; c++) {
            str s = t->text.name[t->extra[(size_t)r->source * (size_t)t->nextra + (size_t)column[c]]];
            if (!int_parse(s.s, s.n, &v[c]))
                die("row %zu: %s is '%.*s', not an integer", i + 2, name[c], (int)s.n, s.s);
        }
        uint32_t f = function_of(p, label(t, r));
        struct function *x = &p->f[f];
        x->calls += (uint64_t)v[0];
        x->primitive += (uint64_t)v[1];
        x->own += r->end - r->start;
        x->cumulative += v[2];
    }
    return true;
}

void emit_prof(struct event_table *t, const char *path)
{
    struct prof p = { .t = t };
    if (!from_totals(&p, t)) walk(t, &(struct walker){ &p, NULL, prof_enter, prof_leave });
    write_prof(&p, path);
}


/* overlap.c - see overlap.h */
#include "prof/overlap.h"
#include "base/message.h"
#include "prof/sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct what {                                            /* of a row what the sweep needs besides its times */
    uint32_t proc, key, also, thread;
    uint32_t hook;                                       /* KEY_NONE: none */
};
struct item { int64_t start, end; struct what what; };
/* Held rows are packed: there are few different whats.  A length of LONG says that `what` is a place in `longs`. */
struct packed { int64_t start; uint32_t length, what; };
struct long_item { int64_t end; uint32_t what; };
enum { LONG = UINT32_MAX, RECENT = 256, DIGIT = 11 };
struct overlap {
    struct overlap_options want;
    struct intern procs, threads, hooks;
    sweep **sweep;                                       /* by process */
    size_t sweep_cap;
    struct repairs repairs;
    struct packed *item;                                 /* held rows */
    size_t nitem, item_cap;
    struct intern whats;                                 /* as bytes */
    uint32_t recent[RECENT];                             /* some of them + 1, by a cheap hash */
    struct long_item *longs;
    size_t nlong, long_cap;
    str last_proc;                                       /* that of the last row, as interned */
    uint32_t last;
    struct buf id;
};

static void forget(overlap *o)
{
    for (size_t p = 0; p < o->procs.n; p++) sweep_free(o->sweep[p]);
    intern_free(&o->procs);
    intern_free(&o->threads);
    intern_free(&o->hooks);
    o->last_proc = (str){ 0 };
    o->repairs = (struct repairs){ 0 };
}

void overlap_free(overlap *o)
{
    forget(o);
    intern_free(&o->whats);
    free_all(o->sweep, o->item, o->longs, o->id.s, o);
}

static uint32_t thread_of(overlap *o, const struct event *e)
{
    o->id.n = 0;
    buf_str(&o->id, e->proc);
    buf_char(&o->id, '\0');
    buf_str(&o->id, e->tid);
    return intern(&o->threads, (str){ o->id.s, o->id.n });
}

static uint32_t proc_of(overlap *o, str name)
{
    if (o->want.across) name = (str){ "", 0 };
    if (o->last_proc.s && str_eq(o->last_proc, name)) return o->last;
    size_t known = o->procs.n;
    o->last = intern(&o->procs, name);
    o->last_proc = o->procs.name[o->last];
    if (o->procs.n > known) {
        o->sweep = grow(o->sweep, o->procs.n, &o->sweep_cap, sizeof *o->sweep);
        o->sweep[o->last] = sweep_new(o->want.transitions);
    }
    return o->last;
}

static bool reduce(overlap *o, const struct event *e, str hook, size_t line, struct item *it)
{
    bool on = o->want.on && e->kind == EVENT_PROC && str_is(e->cat, "on");
    if (e->kind == EVENT_AFTER || e->kind == EVENT_LINK || (e->kind == EVENT_PROC && !on)) return false;
    if (o->want.on && e->kind == EVENT_PHASE) return false;
    if (is_empty(e->start, e->end, &o->repairs, line)) return false;
    struct what *w = &it->what;
    it->start = e->start;
    it->end = e->end;
    w->proc = proc_of(o, e->proc);
    sweep *s = o->sweep[w->proc];
    enum key_class of = on || e->kind == EVENT_PHASE ? KEY_PHASE : e->kind == EVENT_OP ? KEY_OP : KEY_CAT;
    w->key = sweep_key(s, of, on && e->name.n ? e->name : event_key(e));
    w->also = e->op.n ? sweep_key(s, KEY_OP, e->op) : KEY_NONE;
    w->thread = e->kind == EVENT_OP ? thread_of(o, e) : KEY_NONE;
    w->hook = KEY_NONE;
    if (hook.n) {
        w->hook = intern(&o->hooks, hook);
        if (w->hook >= SWEEP_HOOKS) die("more than %d kinds of hooks", SWEEP_HOOKS);
    }
    return true;
}

static bool feed(overlap *o, int64_t start, int64_t end, const struct what *w)
{
    sweep *s = o->sweep[w->proc];
    bool good = w->thread != KEY_NONE ? sweep_add_op(s, start, end, w->key, w->thread)
                                      : sweep_add(s, start, end, w->key, w->also);
    if (good && w->hook != KEY_NONE) sweep_hook(s, w->hook);
    return good;
}

static int hook_column(const overlap *o, const struct events_in *in)
{
    return o->want.hooks ? csv_need(in->t, "hook") : -1;
}

static str hook_of(const struct events_in *in, int col)
{
    return col < 0 ? (str){ "", 0 } : csv_str(in->t, col);
}

static bool stream(overlap *o, char **paths)
{
    struct events_in in = events_open(paths);
    int hook = hook_column(o, &in);
    struct event e;
    struct item it;
    bool good = true;
    while (good && events_next(&in, &e))
        if (reduce(o, &e, hook_of(&in, hook), csv_line(in.t), &it) &&
            !feed(o, it.start, it.end, &it.what)) {
            if (o->want.sorted) csv_die(in.t, in.start, "in order, as --sorted promised");
            good = false;
        }
    csv_close(in.t);
    return good;
}

/* ---- rows out of order are held, packed, and sorted by start */

static const struct what *what_at(const overlap *o, uint32_t i)
{
    return (const void *)o->whats.name[i].s;
}

static uint32_t what_number(overlap *o, const struct what *w)
{
    uint32_t *recent = &o->recent[(w->proc + 7 * w->key + 31 * w->also + 63 * w->thread + 127 * w->hook) % RECENT];
    if (!*recent || memcmp(what_at(o, *recent - 1), w, sizeof *w) != 0)
        *recent = intern(&o->whats, (str){ (const char *)w, sizeof *w }) + 1;
    return *recent - 1;
}

static void hold(overlap *o, const struct item *it)
{
    uint64_t length = (uint64_t)it->end - (uint64_t)it->start;
    struct packed p = { it->start, (uint32_t)length, what_number(o, &it->what) };
    if (length >= LONG) {
        if (o->nlong >= UINT32_MAX) die("more than %u intervals longer than 4 s out of order", UINT32_MAX);
        o->longs = grow(o->longs, o->nlong + 1, &o->long_cap, sizeof *o->longs);
        o->longs[o->nlong] = (struct long_item){ it->end, p.what };
        p.length = LONG;
        p.what = (uint32_t)o->nlong++;
    }
    o->item = grow(o->item, o->nitem + 1, &o->item_cap, sizeof *o->item);
    o->item[o->nitem++] = p;
}

/* radix sort, least significant digit first; stable; as many digits as the spread of the starts needs */
static void sort_items(overlap *o)
{
    struct packed *from = o->item, *to = xmalloc(o->nitem, sizeof *to);
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < o->nitem; i++) {
        if (from[i].start < least) least = from[i].start;
        if (from[i].start > most) most = from[i].start;
    }
    uint64_t base = (uint64_t)least, spread = (uint64_t)most - base, mask = ((uint64_t)1 << DIGIT) - 1;
    for (int shift = 0; shift < 64 && spread >> shift; shift += DIGIT) {
        size_t next[1 << DIGIT] = { 0 }, sum = 0;
        for (size_t i = 0; i < o->nitem; i++) next[((uint64_t)from[i].start - base) >> shift & mask]++;
        for (size_t d = 0; d <= mask; d++) {
            size_t n = next[d];
            next[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < o->nitem; i++) to[next[((uint64_t)from[i].start - base) >> shift & mask]++] = from[i];
        struct packed *swap = from;
        from = to;
        to = swap;
    }
    o->item = from;
    free(to);
}

static void feed_held(overlap *o)
{
    for (const struct packed *p = o->item, *end = p + o->nitem; p < end; p++) {
        const struct long_item *l = p->length == LONG ? &o->longs[p->what] : NULL;
        feed(o, p->start, l ? l->end : p->start + p->length, what_at(o, l ? l->what : p->what));
    }
}

/* Rows are held, but from a pipe only until so many were in order that the rest will be. */
enum { LOOK_AHEAD = 1 << 18 };

static void collect(overlap *o, char **paths, bool all)
{
    struct events_in in = events_open(paths);
    int hook = hook_column(o, &in);
    struct event e;
    struct item it;
    bool in_order = true, streaming = false;
    int64_t last = INT64_MIN;
    while (events_next(&in, &e)) {
        if (!reduce(o, &e, hook_of(&in, hook), csv_line(in.t), &it)) continue;
        if (streaming) {
            if (!feed(o, it.start, it.end, &it.what))
                csv_die(in.t, in.start, "in order, as the rows before were; --hold reads any order");
            continue;
        }
        if (it.start < last) in_order = false;
        last = it.start;
        hold(o, &it);
        if (all || !in_order || o->nitem < LOOK_AHEAD) continue;
        feed_held(o);
        o->nitem = o->nlong = 0;
        streaming = true;
    }
    csv_close(in.t);
    if (!in_order) sort_items(o);
    feed_held(o);
}

static bool can_read_again(char **paths)
{
    struct stat st;
    if (!paths[0]) return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    for (; *paths; paths++)
        if (strcmp(*paths, "-") == 0 || stat(*paths, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    return true;
}

overlap *overlap_read(char **paths, struct overlap_options want)
{
    overlap *o = xcalloc(1, sizeof *o);
    o->want = want;
    bool regular = can_read_again(paths);
    off_t start = paths[0] ? 0 : lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!want.sorted && !regular) collect(o, paths, want.hold);
    else if (!stream(o, paths)) {
        forget(o);
        if (!paths[0] && lseek(STDIN_FILENO, start, SEEK_SET) < 0) die_errno("(stdin)");
        collect(o, paths, true);
    }
    for (size_t p = 0; p < o->procs.n; p++) {
        sweep_finish(o->sweep[p]);
        o->repairs.misnested += sweep_misnested(o->sweep[p]);
    }
    repairs_note(&o->repairs);
    return o;
}

size_t overlap_processes(const overlap *o)
{
    return o->procs.n;
}

str overlap_process(const overlap *o, size_t p)
{
    return o->procs.name[p];
}

size_t overlap_cells(overlap *o, size_t p, const struct cell **c)
{
    return sweep_cells(o->sweep[p], c);
}

struct repairs overlap_repairs(const overlap *o)
{
    return o->repairs;
}

void overlap_write_cells(overlap *o, csvw *w)
{
    csvw_names(w, "proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs");
    csvw_end(w);
    for (size_t p = 0; p < o->procs.n; p++) {
        const struct cell *c;
        size_t n = sweep_cells(o->sweep[p], &c);
        for (size_t i = 0; i < n; i++, c++) {
            if (!c->name[KEY_OP][0] && !c->name[KEY_CAT][0]) continue;    /* a phase in which nothing ran */
            csvw_str(w, o->procs.name[p]);
            csvw_cstr(w, c->name[KEY_PHASE]);
            csvw_cstr(w, c->name[KEY_OP]);
            csvw_cstr(w, c->name[KEY_CAT]);
            csvw_int(w, c->total);
            csvw_int(w, c->lo);
            csvw_int(w, c->hi);
            csvw_int(w, (int64_t)c->runs);
            csvw_end(w);
        }
    }
}

static void write_hooks(overlap *o, csvw *w, str proc, const struct cell *c)
{
    for (uint32_t h = 0; c->before && h < o->hooks.n; h++) {
        if (!c->before[h] && !c->begun[h]) continue;
        csvw_str(w, proc);
        csvw_cstr(w, c->name[KEY_PHASE]);
        csvw_cstr(w, c->name[KEY_OP]);
        csvw_cstr(w, c->name[KEY_CAT]);
        csvw_str(w, o->hooks.name[h]);
        csvw_int(w, (int64_t)c->before[h]);
        csvw_int(w, (int64_t)c->begun[h]);
        csvw_end(w);
    }
}

void overlap_write_hooks(overlap *o, csvw *w)
{
    csvw_names(w, "proc,phase,op,cats,hook,before,begun");
    csvw_end(w);
    for (size_t p = 0; p < o->procs.n; p++) {
        const struct cell *c;
        write_hooks(o, w, o->procs.name[p], sweep_idle(o->sweep[p]));
        for (size_t i = 0, n = sweep_cells(o->sweep[p], &c); i < n; i++) write_hooks(o, w, o->procs.name[p], &c[i]);
    }
}

/* ---- transitions: phases do not matter; where the operation changes, it is told as op:NAME among the categories */

struct line { const char *op, *from, *to; uint64_t count; };

static const char *with_ops(struct arena *a, const char *const name[KEY_CLASSES])
{
    struct buf b = { 0 }, member = { 0 };
    str rest = str_of(name[KEY_CAT]);
    buf_str(&b, rest);
    rest = str_of(name[KEY_OP]);
    while (set_next(&rest, &member)) {
        char *s = xformat("op:%.*s", (int)member.n, member.s ? member.s : "");
        set_add(&b, str_of(s));
        free(s);
    }
    const char *out = arena_copy(a, b.s, b.n);
    free(b.s);
    free(member.s);
    return out;
}

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = set_cmp(str_of(x->op), str_of(y->op));
    if (!c) c = set_cmp(str_of(x->from), str_of(y->from));
    return c ? c : set_cmp(str_of(x->to), str_of(y->to));
}

static size_t merge_lines(struct line *v, size_t n)
{
    if (n) qsort(v, n, sizeof *v, by_line);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (k && by_line(&v[k - 1], &v[i]) == 0) v[k - 1].count += v[i].count;
        else v[k++] = v[i];
    }
    return k;
}

void overlap_write_transitions(overlap *o, csvw *w)
{
    csvw_names(w, "proc,op,from,to,count");
    csvw_end(w);
    struct arena a = { 0 };
    for (size_t p = 0; p < o->procs.n; p++) {
        const struct transition *t;
        size_t n = sweep_transitions(o->sweep[p], &t), m = 0;
        struct line *v = xmalloc(n, sizeof *v);
        for (size_t i = 0; i < n; i++, t++) {
            bool same_op = strcmp(t->from[KEY_OP], t->to[KEY_OP]) == 0;
            if (same_op && strcmp(t->from[KEY_CAT], t->to[KEY_CAT]) == 0) continue;   /* only the phase changed */
            v[m++] = same_op ? (struct line){ t->from[KEY_OP], t->from[KEY_CAT], t->to[KEY_CAT], t->count }
                             : (struct line){ "", with_ops(&a, t->from), with_ops(&a, t->to), t->count };
        }
        m = merge_lines(v, m);
        for (size_t i = 0; i < m; i++) {
            csvw_str(w, o->procs.name[p]);
            csvw_cstr(w, v[i].op);
            csvw_cstr(w, v[i].from);
            csvw_cstr(w, v[i].to);
            csvw_int(w, (int64_t)v[i].count);
            csvw_end(w);
        }
        free(v);
    }
    arena_free(&a);
}

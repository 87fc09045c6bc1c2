/* overlap.c - see overlap.h */
#include "prof/overlap.h"
#include "base/message.h"
#include "prof/sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct item {                                            /* a row reduced to what the sweep needs */
    int64_t start, end;
    uint32_t proc, key, also, thread;
    uint32_t hook;                                       /* KEY_NONE: none */
};
struct overlap {
    struct overlap_options want;
    struct intern procs, threads, hooks;
    sweep **sweep;                                       /* by process */
    size_t sweep_cap;
    struct repairs repairs;
    struct item *item;                                   /* held rows */
    size_t nitem, item_cap;
    struct buf id;
};

static void forget(overlap *o)
{
    for (size_t p = 0; p < o->procs.n; p++) sweep_free(o->sweep[p]);
    intern_free(&o->procs);
    intern_free(&o->threads);
    intern_free(&o->hooks);
    o->repairs = (struct repairs){ 0 };
}

void overlap_free(overlap *o)
{
    forget(o);
    free(o->sweep);
    free(o->item);
    free(o->id.s);
    free(o);
}

static uint32_t thread_of(overlap *o, const struct event *e)
{
    o->id.n = 0;
    buf_str(&o->id, e->proc);
    buf_char(&o->id, '\0');
    buf_str(&o->id, e->tid);
    return intern(&o->threads, (str){ o->id.s, o->id.n });
}

static bool reduce(overlap *o, const struct event *e, str hook, size_t line, struct item *it)
{
    if (is_empty(e->start, e->end, &o->repairs, line) || e->kind == EVENT_PROC) return false;
    size_t known = o->procs.n;
    it->proc = intern(&o->procs, o->want.across ? (str){ "", 0 } : e->proc);
    if (o->procs.n > known) {
        o->sweep = grow(o->sweep, o->procs.n, &o->sweep_cap, sizeof *o->sweep);
        o->sweep[it->proc] = sweep_new(o->want.transitions);
    }
    sweep *s = o->sweep[it->proc];
    it->start = e->start;
    it->end = e->end;
    it->key = sweep_key(s, e->kind == EVENT_OP ? KEY_OP : e->kind == EVENT_PHASE ? KEY_PHASE : KEY_CAT, event_key(e));
    it->also = e->op.n ? sweep_key(s, KEY_OP, e->op) : KEY_NONE;
    it->thread = e->kind == EVENT_OP ? thread_of(o, e) : KEY_NONE;
    it->hook = KEY_NONE;
    if (hook.n) {
        it->hook = intern(&o->hooks, hook);
        if (it->hook >= SWEEP_HOOKS) die("more than %d kinds of hooks", SWEEP_HOOKS);
    }
    return true;
}

static bool feed(overlap *o, const struct item *it)
{
    sweep *s = o->sweep[it->proc];
    bool good = it->thread != KEY_NONE ? sweep_add_op(s, it->start, it->end, it->key, it->thread)
                                       : sweep_add(s, it->start, it->end, it->key, it->also);
    if (good && it->hook != KEY_NONE) sweep_hook(s, it->hook);
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
        if (reduce(o, &e, hook_of(&in, hook), csv_line(in.t), &it) && !feed(o, &it)) {
            if (o->want.sorted) csv_die(in.t, in.start, "in order, as --sorted promised");
            good = false;
        }
    csv_close(in.t);
    return good;
}

/* by start; least significant byte first, bytes that are the same in all rows skipped; stable */
static void sort_items(overlap *o)
{
    const uint64_t flip = (uint64_t)1 << 63;
    struct item *from = o->item, *to = xmalloc(o->nitem, sizeof *to);
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = { 0 };
        for (size_t i = 0; i < o->nitem; i++) count[((((uint64_t)from[i].start ^ flip) >> shift) & 255) + 1]++;
        bool same = false;
        for (int b = 1; b <= 256; b++) same = same || count[b] == o->nitem;
        if (same) continue;
        for (int b = 1; b < 256; b++) count[b] += count[b - 1];
        for (size_t i = 0; i < o->nitem; i++) to[count[(((uint64_t)from[i].start ^ flip) >> shift) & 255]++] = from[i];
        struct item *swap = from;
        from = to;
        to = swap;
    }
    o->item = from;
    free(to);
}

static void collect(overlap *o, char **paths)
{
    struct events_in in = events_open(paths);
    int hook = hook_column(o, &in);
    struct event e;
    bool in_order = true;
    while (events_next(&in, &e)) {
        o->item = grow(o->item, o->nitem + 1, &o->item_cap, sizeof *o->item);
        struct item *it = &o->item[o->nitem];
        if (!reduce(o, &e, hook_of(&in, hook), csv_line(in.t), it)) continue;
        if (o->nitem && it->start < it[-1].start) in_order = false;
        o->nitem++;
    }
    csv_close(in.t);
    if (!in_order) sort_items(o);
    for (size_t i = 0; i < o->nitem; i++) feed(o, &o->item[i]);
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
    if (!want.sorted && !regular) collect(o, paths);
    else if (!stream(o, paths)) {
        forget(o);
        if (!paths[0] && lseek(STDIN_FILENO, start, SEEK_SET) < 0) die_errno("(stdin)");
        collect(o, paths);
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

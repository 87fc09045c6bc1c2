/* check.c - see check.h */
#include "prof/check.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include "prof/cells.h"
#include "prof/overlap.h"
#include "prof/sweep.h"
#include <stdlib.h>
#include <string.h>

struct spans { struct span *v; size_t n, cap; };

static csvw *out;
static bool sound;

void check_say(csvw *w, str proc, const char *check, enum check_status status, int64_t value, int64_t limit)
{
    static const char *const word[] = { "pass", "warn", "fail" };
    csvw_str(w, proc);
    csvw_cstr(w, check);
    csvw_cstr(w, word[status]);
    csvw_int(w, value);
    csvw_int(w, limit);
    csvw_end(w);
}

static void say(str proc, const char *check, enum check_status status, int64_t value, int64_t limit)
{
    check_say(out, proc, check, status, value, limit);
    if (status == FAIL) sound = false;
}

static void judge(str proc, const char *check, bool good, int64_t value, int64_t limit)
{
    say(proc, check, good ? PASS : FAIL, value, limit);
}

static void add_span(struct spans *s, int64_t start, int64_t end)
{
    if (end <= start) return;
    s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
    s->v[s->n++] = (struct span){ start, end };
}

/* length of the union; leaves the spans unsorted for the caller's purposes, and empty */
static int64_t measure(struct spans *s)
{
    int64_t sum = 0, end = INT64_MIN;
    if (s->n) qsort(s->v, s->n, sizeof *s->v, span_order);
    for (size_t i = 0; i < s->n; i++) {
        int64_t start = s->v[i].start > end ? s->v[i].start : end;
        if (s->v[i].end > start) sum += s->v[i].end - start;
        if (s->v[i].end > end) end = s->v[i].end;
    }
    s->n = 0;
    return sum;
}

static int64_t cells_with_op(const struct cell *c, size_t n, const char *op)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) if (set_has(c[i].name[KEY_OP], op)) sum = i64_add(sum, c[i].total);
    return sum;
}

static int by_op(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return ORDER(x->name, y->name);
}

/* every operation's cells against the union of its flattened pieces over all threads */
static void check_operations(struct event_table *t, size_t first, const struct cell *c, size_t n)
{
    uint32_t proc = t->rows.v[first].proc;
    struct pieces pieces = { 0 };
    struct repairs ignored = { 0 };
    struct rows all = { 0 };
    struct spans s = { 0 };
    for (size_t begin, end = first; next_thread(&t->rows, &begin, &end) && t->rows.v[begin].proc == proc;) {
        nest_flatten(&pieces, t->rows.v + begin, end - begin, EVENT_OP, &ignored);
        for (size_t k = 0; k < pieces.n; k++) {
            struct row r = *pieces.v[k].of;
            r.start = pieces.v[k].start;
            r.end = pieces.v[k].end;
            rows_add(&all, &r);
        }
    }
    if (all.n) qsort(all.v, all.n, sizeof *all.v, by_op);
    for (size_t k = 0; k < all.n;) {
        uint32_t name = all.v[k].name;
        for (; k < all.n && all.v[k].name == name; k++) add_span(&s, all.v[k].start, all.v[k].end);
        struct event e = { .kind = EVENT_OP, .name = t->text.name[name] };
        int64_t want = measure(&s), got = cells_with_op(c, n, event_key(&e).s);
        if (got != want) judge(t->text.name[proc], "operation", false, got, want);
    }
    say(t->text.name[proc], "operation", PASS, (int64_t)all.n, (int64_t)all.n);
    free_all(pieces.v, pieces.stack, all.v, s.v);
}

/* a process of which this is the first row; returns its iterations */
static int64_t check_process(struct event_table *t, size_t first, const struct cell *c, size_t n)
{
    const str *text = t->text.name;
    uint32_t proc = t->rows.v[first].proc;
    str name = text[proc];
    struct spans all = { 0 }, on = { 0 }, life = { 0 };
    struct intern devices = { 0 };
    int64_t dropped = 0, open = 0, passes = 0, union_all = 0, cells = 0, gpu = 0, cuda = 0;
    for (size_t i = first; i < t->rows.n && t->rows.v[i].proc == proc; i++) {
        const struct row *r = &t->rows.v[i];
        open += str_is(text[r->flag], "open");
        dropped += r->kind == EVENT_OVH && str_is(text[r->cat], "dropped");
        if (r->kind == EVENT_GPU) intern(&devices, text[r->tid]);
        if (r->kind == EVENT_PROC) {
            passes += str_is(text[r->cat], "pass");
            if (str_is(text[r->cat], "on")) add_span(&on, r->start, r->end);
            else if (!text[r->cat].n) add_span(&life, r->start, r->end);
        } else if (r->kind != EVENT_PHASE && r->kind != EVENT_AFTER && r->kind != EVENT_LINK)
            add_span(&all, r->start, r->end);
    }
    union_all = measure(&all);
    for (size_t i = 0; i < n; i++) {
        if (!c[i].name[KEY_OP][0] && !c[i].name[KEY_CAT][0]) continue;
        cells = i64_add(cells, c[i].total);
        if (set_has_gpu(c[i].name[KEY_CAT])) gpu = i64_add(gpu, c[i].total);
        if (set_has(c[i].name[KEY_CAT], "CUDA")) cuda = i64_add(cuda, c[i].total);
    }
    judge(name, "union", cells == union_all, cells, union_all);
    int64_t wall = on.n ? measure(&on) : measure(&life);
    if (wall) {
        int64_t slack = wall / 50 > 1000000 ? wall / 50 : 1000000;
        judge(name, "wall", llabs(cells - wall) <= slack, cells, wall);
        judge(name, "gpu", gpu <= wall * (int64_t)(devices.n ? devices.n : 1), gpu, wall * (int64_t)devices.n);
    }
    if (gpu && cuda) say(name, "async", cuda < gpu ? WARN : PASS, cuda, gpu);
    judge(name, "dropped", dropped == 0, dropped, 0);
    if (open) say(name, "repaired", WARN, open, 0);
    free_all(all.v, on.v, life.v);
    intern_free(&devices);
    return passes;
}

bool check_profile(const char *path, struct event_table *t, csvw *w)
{
    char *paths[] = { (char *)(uintptr_t)path, NULL };
    out = w;
    sound = true;
    bool was_quiet = quiet;
    quiet = true;                                        /* repairs become rows here */
    overlap *o = overlap_read(paths, (struct overlap_options){ 0 });
    quiet = was_quiet;
    table_read(t, paths);
    table_sort_threads(t);
    csvw_names(w, "proc,check,status,value,limit");
    csvw_end(w);
    struct repairs fixed = overlap_repairs(o);
    int64_t least = INT64_MAX, most = 0;
    size_t *first = xcalloc(t->text.n, sizeof *first);   /* row, by process */
    for (size_t i = t->rows.n; i-- > 0;) first[t->rows.v[i].proc] = i;
    for (size_t p = 0; p < overlap_processes(o); p++) {
        const struct cell *c;
        size_t n = overlap_cells(o, p, &c), at = first[intern(&t->text, overlap_process(o, p))];
        int64_t passes = check_process(t, at, c, n);
        check_operations(t, at, c, n);
        if (passes < least) least = passes;
        if (passes > most) most = passes;
    }
    free(first);
    int64_t repaired = (int64_t)(fixed.empty + fixed.reversed + fixed.misnested);
    if (repaired) say((str){ "", 0 }, "repaired", WARN, repaired, 0);
    if (most) say((str){ "", 0 }, "iterations", least == most ? PASS : WARN, least, most);
    overlap_free(o);
    return sound;
}

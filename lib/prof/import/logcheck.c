/* logcheck.c - see logcheck.h */
#include "prof/import/logcheck.h"
#include "prof/check.h"
#include "prof/import/logread.h"
#include <stdlib.h>
#include <string.h>

struct verdict { uint64_t exclusive, missing, misnested, twice, outside, reversed, category; };
struct life { struct span life; struct span *on; size_t non, on_cap; bool known; struct verdict v; };

static bool is_on(const struct life *l, int64_t start, int64_t end)
{
    for (size_t i = 0; i < l->non; i++) if (l->on[i].start < end && l->on[i].end > start) return true;
    return l->non == 0;
}

static bool same_row(const struct row *a, const struct row *b)
{
    return a->kind == b->kind && a->start == b->start && a->end == b->end && a->name == b->name && a->cat == b->cat;
}

struct nest { int64_t *end; size_t n, cap; };

/* is r inside what is open?  what has ended is closed */
static bool nests(struct nest *s, const struct row *r)
{
    while (s->n && s->end[s->n - 1] <= r->start) s->n--;
    bool good = !s->n || r->end <= s->end[s->n - 1];
    s->end = grow(s->end, s->n + 1, &s->cap, sizeof *s->end);
    s->end[s->n] = r->end;
    s->n++;
    return good;
}

/* rows of one thread, by start, longest first */
static void check_thread(const struct event_table *t, const struct row *row, size_t n, int hook, uint32_t python,
                         uint32_t part, uint32_t estimated, struct life *l)
{
    struct nest calls = { 0 }, ops = { 0 };
    bool base = false;
    int64_t covered = INT64_MIN, python_end = INT64_MIN;
    for (size_t i = 0; i < n; i++) base |= row[i].kind == EVENT_CAT && row[i].cat == python;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        if (r->end < r->start) {
            l->v.reversed++;
            continue;
        }
        if (r->kind == EVENT_LINK) continue;
        if (i && same_row(r, &row[i - 1]) && (r->kind != EVENT_CAT || r->end > r->start)) l->v.twice++;
        if (r->kind == EVENT_OP && !nests(&ops, r)) l->v.misnested++;
        if (r->kind != EVENT_CAT) continue;
        bool is_python = r->cat == python;
        bool off = t->extra_name && (str_is(t->text.name[r->cat], "Off CPU") || str_is(t->text.name[r->name], "GIL"));
        bool ours = is_python || off || r->flag == part || r->flag == estimated
                 || t->extra[r->source * (size_t)t->nextra + (size_t)hook];
        if (!ours) continue;                             /* a GPU's recorder has its own rows */
        if (!is_python && !nests(&calls, r)) l->v.misnested++;
        if (base && covered != INT64_MIN && r->start > covered && is_on(l, covered, r->start)) l->v.missing++;
        if (r->start < python_end || (is_python && covered != INT64_MIN && r->start < covered)) l->v.exclusive++;
        if (is_python && r->end > python_end) python_end = r->end;
        if (r->end > covered) covered = r->end;
    }
    free(calls.end);
    free(ops.end);
}

static bool say(csvw *w, str proc, const char *check, uint64_t value)
{
    check_say(w, proc, check, value ? FAIL : PASS, (int64_t)value, 0);
    return !value;
}

bool log_check_rows(struct event_table *t, csvw *w)
{
    int hook = table_extra(t, "hook");
    if (hook < 0 || t->has_op) return true;
    uint32_t python = intern(&t->text, str_of("Python")), part = intern(&t->text, str_of("part")),
             estimated = intern(&t->text, str_of("estimated"));
    struct life *life = xcalloc(t->text.n, sizeof *life);
    uint32_t *category = xcalloc(t->text.n, sizeof *category);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        struct life *l = &life[r->proc];
        if (r->kind == EVENT_PROC && !r->cat) {
            if (l->known) l->v.twice++;
            l->known = true;
            l->life = (struct span){ r->start, r->end };
        } else if (r->kind == EVENT_PROC && str_is(t->text.name[r->cat], "on")) {
            l->on = grow(l->on, l->non + 1, &l->on_cap, sizeof *l->on);
            l->on[l->non++] = (struct span){ r->start, r->end };
        }
    }
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.v[i];
        struct life *l = &life[r->proc];
        bool gpu = r->kind == EVENT_GPU || r->kind == EVENT_OVH;
        int64_t end = r->kind == EVENT_LINK ? r->start : r->end;   /* a timer may be set for later than the end */
        if (!l->known || (!gpu && (r->start < l->life.start || end > l->life.end))) l->v.outside++;
        if (r->kind != EVENT_CAT || !r->name) continue;
        if (!category[r->name]) category[r->name] = r->cat + 1;
        if (category[r->name] != r->cat + 1) l->v.category++;
    }
    for (size_t begin, end = 0; next_thread(&t->rows, &begin, &end);)
        check_thread(t, t->rows.v + begin, end - begin, hook, python, part, estimated, &life[t->rows.v[begin].proc]);
    bool good = true;
    for (uint32_t p = 0; p < t->text.n; p++) {
        const struct verdict *v = &life[p].v;
        static const struct verdict none;
        if (!life[p].known && memcmp(v, &none, sizeof none) == 0) continue;
        str name = t->text.name[p];
        good &= say(w, name, "exclusive", v->exclusive);
        good &= say(w, name, "missing", v->missing);
        good &= say(w, name, "nesting", v->misnested);
        good &= say(w, name, "twice", v->twice);
        good &= say(w, name, "life", v->outside);
        good &= say(w, name, "reversed", v->reversed);
        good &= say(w, name, "category", v->category);
        free(life[p].on);
    }
    free(life);
    free(category);
    return good;
}

/* ---- against the logs */

struct totals { uint64_t rows, sum; };
struct proc_sums { struct intern proc; struct totals *v; size_t cap; };

static uint64_t hash(uint64_t h, str s)
{
    for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.s[i]) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u;
}

static void add(struct proc_sums *s, str proc, str tid, str cat, str name, str link, str flag, str hook, int kind,
                int64_t start, int64_t end)
{
    size_t known = s->proc.n;
    uint32_t p = intern(&s->proc, proc);
    if (s->proc.n > known) {
        s->v = grow(s->v, s->proc.n, &s->cap, sizeof *s->v);
        s->v[p] = (struct totals){ 0, 0 };
    }
    uint64_t h = hash(hash(hash(hash(hash(hash(0xcbf29ce484222325u, tid), cat), name), link), flag), hook);
    h = (h ^ (uint64_t)start) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ (uint64_t)end) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 32 ^ (uint64_t)kind) * 0x94d049bb133111ebu;
    s->v[p].rows++;
    s->v[p].sum += h ^ h >> 31;
}

bool log_check_same(const char *dir, const char *path, csvw *w)
{
    struct proc_sums log = { 0 }, events = { 0 };
    struct log_counts counts = { 0 };
    log_reader *r = log_open(dir, false, &counts);
    for (struct log_row row; log_next(r, &row);) {
        const str *x = log_text(r)->name;
        add(&log, x[row.proc], x[row.tid], x[row.cat], x[row.name], x[row.link], x[row.flag],
            str_of(log_hook_name[row.hook]), row.kind, row.start, row.end);
    }
    log_close(r);
    struct events_in in = events_of(csv_open(path));
    int hook = csv_need(in.t, "hook");
    for (struct event e; events_next(&in, &e);)
        add(&events, e.proc, e.tid, e.cat, e.name, e.link, e.flag, csv_str(in.t, hook), (int)e.kind, e.start, e.end);
    csv_close(in.t);
    bool good = counts.changed == 0;
    if (counts.changed) say(w, str_of(""), "log", counts.changed);
    size_t in_log = log.proc.n, in_events = events.proc.n;
    for (uint32_t p = 0; p < in_events; p++) intern(&log.proc, events.proc.name[p]);
    for (uint32_t p = 0; p < log.proc.n; p++) {
        uint32_t q = intern(&events.proc, log.proc.name[p]);
        struct totals a = { 0, 0 }, b = { 0, 0 };
        if (p < in_log) a = log.v[p];
        if (q < in_events) b = events.v[q];
        bool same = a.rows == b.rows && a.sum == b.sum;
        check_say(w, log.proc.name[p], "log", same ? PASS : FAIL, (int64_t)b.rows, (int64_t)a.rows);
        good &= same;
    }
    return good;
}

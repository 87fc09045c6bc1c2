/* import_trace.c - Chrome's trace event format and PyTorch's Kineto dialect of it; see import.h */
#include "prof/import.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;

void import_put(struct importer *m, const struct event *e)
{
    if (e->end < e->start) {
        m->reversed++;
        return;
    }
    m->rows++;
    m->put(m->closure, e);
}

bool import_decimal_us(str s, int64_t *ns)
{
    bool minus = s.n && s.s[0] == '-';
    int64_t v = 0;
    size_t i = minus, digits = 0;
    for (; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && digits < 15; i++, digits++) v = v * 10 + (s.s[i] - '0');
    int places = 0;
    if (i < s.n && s.s[i] == '.')
        for (i++; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && places < 3; i++, places++) v = v * 10 + (s.s[i] - '0');
    if (i == s.n && digits) {
        for (; places < 3; places++) v *= 10;
        *ns = minus ? -v : v;
        return true;
    }
    double d;
    if (!num_parse(s.s, s.n, &d) || !(fabs(d) < 1e15)) return false;
    *ns = llround(d * 1000);
    return true;
}

/* ---- begin and end events: a stack for each thread */

struct begin { int64_t start; uint32_t name, cat; };
struct thread { struct begin *v; size_t n, cap; int64_t last; uint32_t proc, tid; };
struct field { struct buf b; bool set; };
struct trace {
    struct importer *m;
    jsonr *j;
    bool kineto;
    int64_t base;
    struct field ph, name, cat, pid, tid, ts, dur, link, device, stream, kind, flag, id, meta, our_cat;
    struct intern ids, text;                             /* pid NUL tid -> thread; names of begins */
    struct thread *thread;
    size_t thread_cap;
    struct intern aliases;                               /* pid NUL tid of a file we wrote -> its own ids */
    uint32_t *alias_text;
    size_t alias_cap;
    struct buf key;
};

static str value_of(const struct field *f)
{
    return f->set ? (str){ f->b.s ? f->b.s : "", f->b.n } : (str){ "", 0 };
}

static void take(struct trace *t, struct field *f)
{
    enum json token = json_next(t->j);
    if (token == JSON_STRING || token == JSON_NUMBER) {
        str s = json_str(t->j);
        f->b.n = 0;
        buf_add(&f->b, s.s, s.n);
        f->set = true;
    } else if (token == JSON_OBJECT || token == JSON_ARRAY)
        for (size_t depth = json_depth(t->j) - 1; json_depth(t->j) > depth && !json_fault(t->j);) json_next(t->j);
}

static void read_args(struct trace *t)
{
    str k;
    if (json_next(t->j) != JSON_OBJECT) return;
    while (json_key(t->j, &k)) {
        if (str_is(k, "correlation") || str_is(k, "link")) take(t, &t->link);
        else if (str_is(k, "device")) take(t, &t->device);
        else if (str_is(k, "stream")) take(t, &t->stream);
        else if (str_is(k, "kind")) take(t, &t->kind);
        else if (str_is(k, "cat")) take(t, &t->our_cat);
        else if (str_is(k, "flag")) take(t, &t->flag);
        else if (str_is(k, "id")) take(t, &t->id);
        else if (str_is(k, "name")) take(t, &t->meta);
        else json_skip(t->j);
    }
}

static uint32_t pair(struct trace *t, struct intern *table)
{
    t->key.n = 0;
    buf_str(&t->key, value_of(&t->pid));
    buf_char(&t->key, '\0');
    buf_str(&t->key, value_of(&t->tid));
    return intern(table, (str){ t->key.s, t->key.n });
}

static struct thread *thread_of(struct trace *t)
{
    size_t known = t->ids.n;
    uint32_t i = pair(t, &t->ids);
    if (t->ids.n > known) {
        t->thread = grow(t->thread, t->ids.n, &t->thread_cap, sizeof *t->thread);
        t->thread[i] = (struct thread){ .proc = intern(&t->text, value_of(&t->pid)), .tid = intern(&t->text, value_of(&t->tid)), .last = INT64_MIN };
    }
    return &t->thread[i];
}

/* names that we gave ourselves when we wrote the file: process_name and thread_name with args.id */
static void name_alias(struct trace *t)
{
    if (!t->id.set) return;
    if (str_is(value_of(&t->name), "process_name")) t->tid.set = false;
    else if (!str_is(value_of(&t->name), "thread_name")) return;
    size_t known = t->aliases.n;
    uint32_t i = pair(t, &t->aliases);
    if (t->aliases.n > known) t->alias_text = grow(t->alias_text, t->aliases.n, &t->alias_cap, sizeof *t->alias_text);
    t->alias_text[i] = intern(&t->text, value_of(&t->id));
}

static str aliased(struct trace *t, str pid, str tid, bool process)
{
    if (!t->aliases.n) return process ? pid : tid;
    t->key.n = 0;
    buf_str(&t->key, pid);
    buf_char(&t->key, '\0');
    if (!process) buf_str(&t->key, tid);
    long i = intern_find(&t->aliases, (str){ t->key.s, t->key.n });
    return i < 0 ? process ? pid : tid : t->text.name[t->alias_text[i]];
}

/* Kineto's categories; false for those that say nothing about time spent */
static bool kineto_kind(struct event *e)
{
    static const struct { const char *cat; enum event_kind kind; const char *ours; } map[] = {
        { "cpu_op", EVENT_CAT, "Backend" }, { "python_function", EVENT_CAT, "Python" }, { "cuda_runtime", EVENT_CAT, "CUDA" },
        { "cuda_driver", EVENT_CAT, "CUDA" }, { "kernel", EVENT_GPU, "GPU" }, { "gpu_memcpy", EVENT_GPU, "GPU" },
        { "gpu_memset", EVENT_GPU, "GPU" }, { "Kernel", EVENT_GPU, "GPU" }, { "Memcpy", EVENT_GPU, "GPU" }, { "Memset", EVENT_GPU, "GPU" },
        { "Operator", EVENT_CAT, "Backend" }, { "Runtime", EVENT_CAT, "CUDA" }, { "user_annotation", EVENT_OP, "" },
        { "overhead", EVENT_OVH, "cupti" } };
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (!str_is(e->cat, map[i].cat)) continue;
        e->kind = map[i].kind;
        e->cat = str_of(map[i].ours);
        return true;
    }
    return false;
}

static void complete(struct trace *t, struct event *e)
{
    static struct buf device;
    str pid = e->proc, tid = e->tid;
    e->kind = EVENT_CAT;
    if (t->kind.set)
        for (int k = 0; k < EVENT_KINDS; k++) if (str_is(value_of(&t->kind), event_kind_name[k])) e->kind = (enum event_kind)k;
    if (t->kind.set) {
        e->cat = value_of(&t->our_cat);
        e->name = value_of(&t->meta);
        e->flag = e->flag.n ? e->flag : value_of(&t->flag);
    }
    if (t->kineto && !t->kind.set && !kineto_kind(e)) {
        t->m->skipped++;
        return;
    }
    e->link = value_of(&t->link);
    if (t->kineto && e->kind == EVENT_GPU && t->device.set) {
        device.n = 0;
        buf_char(&device, 'd');
        buf_str(&device, value_of(&t->device));
        buf_add(&device, ".s", 2);
        buf_str(&device, value_of(&t->stream));
        e->tid = (str){ device.s, device.n };
    } else e->tid = aliased(t, pid, tid, false);
    e->proc = aliased(t, pid, tid, true);
    import_put(t->m, e);
}

static void one_event(struct trace *t)
{
    struct importer *m = t->m;
    str ph = value_of(&t->ph);
    int64_t ts = 0, dur = 0;
    char type = ph.n == 1 ? ph.s[0] : 0;
    if (type == 'M') name_alias(t);
    if (type != 'X' && type != 'B' && type != 'E') {
        m->skipped += type != 'M';
        return;
    }
    if (!import_decimal_us(value_of(&t->ts), &ts) || (type == 'X' && t->dur.set && !import_decimal_us(value_of(&t->dur), &dur))
        || ts > TIME_MAX || ts < -TIME_MAX || dur > TIME_MAX || dur < -TIME_MAX) {
        m->malformed++;
        return;
    }
    ts += t->base;
    struct event e = { .proc = value_of(&t->pid), .tid = value_of(&t->tid), .cat = value_of(&t->cat), .name = value_of(&t->name),
                       .start = ts, .end = ts + dur };
    if (type == 'X') {
        complete(t, &e);
        return;
    }
    struct thread *th = thread_of(t);
    if (ts > th->last) th->last = ts;
    if (type == 'B') {
        th->v = grow(th->v, th->n + 1, &th->cap, sizeof *th->v);
        th->v[th->n++] = (struct begin){ ts, intern(&t->text, e.name), intern(&t->text, e.cat) };
        return;
    }
    if (!th->n) {
        m->stray++;
        return;
    }
    const struct begin *b = &th->v[--th->n];
    e.start = b->start;
    e.name = t->text.name[b->name];
    e.cat = t->text.name[b->cat];
    complete(t, &e);
}

static void read_event(struct trace *t)
{
    struct field *all[] = { &t->ph, &t->name, &t->cat, &t->pid, &t->tid, &t->ts, &t->dur, &t->link, &t->device, &t->stream, &t->kind,
                            &t->flag, &t->id, &t->meta, &t->our_cat };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->set = false;
    str k;
    while (json_key(t->j, &k)) {
        struct field *f = NULL;
        switch (k.n) {
        case 2: f = str_is(k, "ph") ? &t->ph : str_is(k, "ts") ? &t->ts : NULL; break;
        case 3: f = str_is(k, "cat") ? &t->cat : str_is(k, "pid") ? &t->pid : str_is(k, "tid") ? &t->tid : str_is(k, "dur") ? &t->dur : NULL; break;
        case 4:
            if (str_is(k, "name")) f = &t->name;
            else if (str_is(k, "args")) {
                read_args(t);
                continue;
            }
        }
        if (f) take(t, f);
        else json_skip(t->j);
    }
    if (!json_fault(t->j)) one_event(t);
}

static void read_events(struct trace *t)
{
    for (enum json token; (token = json_next(t->j)) != JSON_END && token != JSON_ARRAY_END;) {
        if (token == JSON_OBJECT) read_event(t);
        else {
            t->m->malformed++;
            if (token == JSON_ARRAY)
                for (size_t depth = json_depth(t->j) - 1; json_depth(t->j) > depth && !json_fault(t->j);) json_next(t->j);
        }
    }
}

static void close_threads(struct trace *t)
{
    for (size_t i = 0; i < t->ids.n; i++) {
        struct thread *th = &t->thread[i];
        t->kind.set = t->link.set = t->device.set = false;
        while (th->n) {
            const struct begin *b = &th->v[--th->n];
            struct event e = { .proc = t->text.name[th->proc], .tid = t->text.name[th->tid], .name = t->text.name[b->name],
                               .cat = t->text.name[b->cat], .flag = { "open", 4 }, .start = b->start, .end = th->last };
            t->m->unclosed++;
            complete(t, &e);
        }
        free(th->v);
    }
}

void import_trace(struct importer *m, const char *path, bool kineto)
{
    struct trace t = { .m = m, .kineto = kineto, .j = json_open(path) };
    json_tolerate(t.j);
    enum json token = json_next(t.j);
    str k;
    if (token == JSON_ARRAY) read_events(&t);
    else if (token == JSON_OBJECT) {
        while (json_key(t.j, &k)) {
            if (str_is(k, "traceEvents")) {
                if (json_next(t.j) == JSON_ARRAY) read_events(&t);
            } else if (str_is(k, "baseTimeNanoseconds")) {
                token = json_next(t.j);
                int64_t v = 0;
                if (token == JSON_NUMBER && int_parse(json_str(t.j).s, json_str(t.j).n, &v) && v < TIME_MAX && v > -TIME_MAX) t.base = v;
                if (m->rows) warn("%s: baseTimeNanoseconds comes after events, which are left relative", path);
            } else json_skip(t.j);
        }
    } else if (!json_fault(t.j)) m->fault = xformat("%s: neither an object nor an array", path);
    close_threads(&t);
    if (json_fault(t.j)) m->fault = xstrdup(json_fault(t.j));
    /* the closing bracket of an array of events may be missing: the format allows it */
    m->truncated = json_truncated(t.j);
    json_close(t.j);
    struct field *all[] = { &t.ph, &t.name, &t.cat, &t.pid, &t.tid, &t.ts, &t.dur, &t.link, &t.device, &t.stream, &t.kind, &t.flag,
                            &t.id, &t.meta, &t.our_cat };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->b.s);
    intern_free(&t.ids);
    intern_free(&t.text);
    intern_free(&t.aliases);
    free(t.alias_text);
    free(t.thread);
    free(t.key.s);
}

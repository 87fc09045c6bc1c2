/* import_trace.c - Chrome's trace event format and PyTorch's Kineto dialect of it; see import.h */
#include "prof/import/import.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/json.h"
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

/* What json_fault says, with the byte.  The closing bracket of an array of events may be missing: the format allows
 * it. */
static void json_fault_at(struct importer *m, const struct jsonr *j)
{
    if (!json_fault(j)) return;
    m->fault = xformat("%s (byte %zu)", json_fault(j), json_offset(j));
    m->truncated = json_truncated(j);
}

/* "12.345" microseconds to 12345; false unless a number within range */
static bool decimal_us(str s, int64_t *ns)
{
    int64_t whole;
    if (s.n > 4 && s.s[s.n - 4] == '.' && int_parse(s.s, s.n - 4, &whole) && whole >= 0 && whole <= TIME_MAX / 1000) {
        unsigned a = (unsigned char)s.s[s.n - 3] - '0', b = (unsigned char)s.s[s.n - 2] - '0',
                 c = (unsigned char)s.s[s.n - 1] - '0';
        if (a <= 9 && b <= 9 && c <= 9 && s.s[0] != '-') {       /* three places, as most traces have */
            *ns = whole * 1000 + a * 100 + b * 10 + c;
            return true;
        }
    }
    /* any other number: its digits, of which 30 count, times a power of ten, never a double */
    static const __int128 most = (__int128)1000000000000000 * 1000000000000000;
    bool minus = s.n && s.s[0] == '-', point = false, any = false;
    __int128 v = 0;
    long power = 3;                                      /* of ten; from microseconds to nanoseconds */
    size_t i = minus;
    for (; i < s.n && ((s.s[i] >= '0' && s.s[i] <= '9') || (s.s[i] == '.' && !point)); i++) {
        if (s.s[i] == '.') {
            point = true;
            continue;
        }
        any = true;
        if (v < most) v = v * 10 + (s.s[i] - '0');
        else power++;
        power -= point;
    }
    if (any && i < s.n && (s.s[i] == 'e' || s.s[i] == 'E')) {
        i++;
        bool down = i < s.n && s.s[i] == '-';
        if (i < s.n && (down || s.s[i] == '+')) i++;
        if (i == s.n) return false;
        long e = 0;
        for (; i < s.n && s.s[i] >= '0' && s.s[i] <= '9'; i++) if (e < 1000) e = e * 10 + (s.s[i] - '0');
        power += down ? -e : e;
    }
    if (!any || i < s.n) return false;
    for (; power > 0 && v; power--)
        if ((v *= 10) > TIME_MAX) return false;
    for (; power < -1 && v; power++) v /= 10;
    if (power == -1) v = (v + 5) / 10;
    if (v > TIME_MAX) return false;
    *ns = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

/* ---- begin and end events: a stack for each thread */

/* name and category lie one after the other at `text` in the thread's texts, which shrink with the stack */
struct begin { int64_t start; size_t text, name_n, cat_n; };
struct thread {
    struct begin *v;
    size_t n, cap;
    int64_t last, before;                                /* the latest time; that of the event before */
    uint32_t proc, tid;
    struct buf texts;
    bool span;
};
enum field {
    PH,
    NAME,
    CAT,
    PID,
    TID,
    LINK,
    DEVICE,
    STREAM,
    KIND,
    FLAG,
    ID,
    RECORD,
    WAITED,
    OUR_NAME,
    OUR_CAT,
    SPAN,                                                /* which span or flow an event belongs to */
    FIELDS,
    TS,
    DUR,
    ARGS,
    ID2,
    OTHER
};
/* Events mostly have the keys of the one before, in the same order: what stood at each place, and what to do with it.
   */
enum { PLACES = 24 };
struct plan { struct json_expected key[PLACES]; enum field field[PLACES]; bool known[PLACES]; };
/* ids met lately, as they stand in the file and as they come out */
enum { RECENT = 64, ID_MAX = 24 };
struct place { char bytes[2][ID_MAX]; str in[2], out[2]; bool known; };
struct trace {
    struct importer *m;
    jsonr *j;
    bool kineto;
    int64_t base, ts, dur;
    bool bad_time, has_ts, has_dur;
    size_t documents;                                    /* objects that hold events; all of one base time */
    int64_t base_of_all;
    struct buf field[FIELDS];
    unsigned set;                                        /* mask of fields that this event has */
    struct intern ids, text;                             /* pid NUL tid -> thread; ids of threads */
    struct thread *thread;
    size_t thread_cap;
    struct intern aliases;                               /* pid NUL tid of a file we wrote -> its own ids */
    uint32_t *alias_text;
    size_t alias_cap;
    struct place recent[RECENT];
    struct buf key, gpu_tid, waited, span;
    bool local;                                          /* the id in span is {"local": ..} */
    struct plan event, args;
};

/* a comparison that the compiler turns into one or two loads: keys are what these files are made of */
static inline __attribute__((always_inline)) bool is(str s, const char *literal)
{
    return s.n == __builtin_strlen(literal) && __builtin_memcmp(s.s, literal, __builtin_strlen(literal)) == 0;
}

static bool has(const struct trace *t, enum field f)
{
    return t->set >> f & 1;
}

static str value_of(const struct trace *t, enum field f)
{
    return has(t, f) ? (str){ t->field[f].s, t->field[f].n } : (str){ "", 0 };
}

static void take(struct trace *t, enum field f)
{
    enum json token = json_next(t->j);
    if (token == JSON_STRING || token == JSON_NUMBER) {
        str s = json_str(t->j);
        struct buf *b = &t->field[f];
        if (s.n >= b->cap) b->s = grow(b->s, s.n + 1, &b->cap, 1);
        copy_short(b->s, s.s, s.n);
        b->n = s.n;
        for (char *z; (z = memchr(b->s, 0, s.n));) *z = '?';                       /* no table can hold it */
        t->set |= 1u << f;
    } else if (token == JSON_OBJECT || token == JSON_ARRAY) json_leave(t->j);
}

static bool take_time(struct trace *t, int64_t *ns)
{
    enum json token = json_next(t->j);
    if (token == JSON_OBJECT || token == JSON_ARRAY) json_leave(t->j);
    if ((token != JSON_NUMBER && token != JSON_STRING) || !decimal_us(json_str(t->j), ns) || *ns > TIME_MAX ||
        *ns < -TIME_MAX)
        t->bad_time = true;
    return true;
}

static enum field event_field(str k)
{
    return is(k, "ph")     ? PH
           : is(k, "ts")   ? TS
           : is(k, "cat")  ? CAT
           : is(k, "pid")  ? PID
           : is(k, "tid")  ? TID
           : is(k, "dur")  ? DUR
           : is(k, "name") ? NAME
           : is(k, "args") ? ARGS
           : is(k, "id")   ? SPAN
           : is(k, "id2")  ? ID2
                           : OTHER;
}

static enum field args_field(str k)
{
    return is(k, "kind")                           ? KIND
           : is(k, "cat")                          ? OUR_CAT
           : is(k, "name")                         ? OUR_NAME
           : is(k, "link") || is(k, "correlation") ? LINK
           : is(k, "flag")                         ? FLAG
           : is(k, "device")                       ? DEVICE
           : is(k, "stream")                       ? STREAM
           : is(k, "id")                           ? ID
           : is(k, "wait_on_stream")               ? WAITED
           : is(k, "wait_on_cuda_event_record_corr_id") ? RECORD
                                                   : OTHER;
}

/* the field that the next key names; false at the end of the object */
static inline bool next_key(struct trace *t, struct plan *p, size_t place, enum field (*classify)(str), enum field *f)
{
    str k;
    if (place < PLACES && p->known[place] && json_key_is(t->j, &p->key[place])) {
        *f = p->field[place];
        return true;
    }
    if (!json_key(t->j, &k)) return false;
    *f = classify(k);
    if (place < PLACES) {
        p->known[place] = json_expect(&p->key[place], k);
        p->field[place] = *f;
    }
    return true;
}

static void read_args(struct trace *t)
{
    enum field f;
    if (json_next(t->j) != JSON_OBJECT) return;
    for (size_t place = 0; next_key(t, &t->args, place, args_field, &f); place++) {
        if (f < FIELDS) take(t, f);
        else json_skip(t->j);
    }
}

/* {"local": id} or {"global": id} */
static void read_id2(struct trace *t)
{
    str k;
    if (json_next(t->j) != JSON_OBJECT) return;
    while (json_key(t->j, &k)) {
        t->local = str_is(k, "local");
        take(t, SPAN);
    }
}

static uint32_t pair(struct trace *t, struct intern *table)
{
    t->key.n = 0;
    buf_str(&t->key, value_of(t, PID));
    buf_char(&t->key, '\0');
    buf_str(&t->key, value_of(t, TID));
    return intern(table, (str){ t->key.s, t->key.n });
}

static struct thread *thread_of(struct trace *t)
{
    size_t known = t->ids.n;
    uint32_t i = pair(t, &t->ids);
    if (t->ids.n > known) {
        t->thread = grow(t->thread, t->ids.n, &t->thread_cap, sizeof *t->thread);
        t->thread[i] = (struct thread){ .proc = intern(&t->text, value_of(t, PID)),
                                        .tid = intern(&t->text, value_of(t, TID)), .last = INT64_MIN };
    }
    return &t->thread[i];
}

/* names that we gave ourselves when we wrote the file: process_name and thread_name with args.id */
static void name_alias(struct trace *t)
{
    if (!has(t, ID)) return;
    if (str_is(value_of(t, NAME), "process_name")) t->set &= ~(1u << TID);
    else if (!str_is(value_of(t, NAME), "thread_name")) return;
    size_t known = t->aliases.n;
    uint32_t i = pair(t, &t->aliases);
    if (t->aliases.n > known) t->alias_text = grow(t->alias_text, t->aliases.n, &t->alias_cap, sizeof *t->alias_text);
    t->alias_text[i] = intern(&t->text, value_of(t, ID));
    for (size_t k = 0; k < RECENT; k++) t->recent[k].known = false;
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

static unsigned cheap_hash(str s)
{
    return s.n ? (unsigned)s.n + 3 * (unsigned char)s.s[0] + 7 * (unsigned char)s.s[s.n - 1] : 0;
}

static void name_place(struct trace *t, struct event *e, str pid, str tid)
{
    const str in[2] = { pid, tid };
    struct place *p = &t->recent[(cheap_hash(pid) + 31 * cheap_hash(tid)) % RECENT];
    if (!p->known || !str_eq(p->in[0], pid) || !str_eq(p->in[1], tid)) {
        *p = (struct place){ .known = pid.n <= ID_MAX && tid.n <= ID_MAX };
        for (int k = 0; k < 2; k++) {
            p->in[k] = in[k];
            if (p->known) {
                if (in[k].n) memcpy(p->bytes[k], in[k].s, in[k].n);
                p->in[k].s = p->bytes[k];
            }
        }
        for (int k = 0; k < 2; k++) p->out[k] = aliased(t, p->in[0], p->in[1], k == 0);
    }
    e->proc = p->out[0];
    e->tid = p->out[1];
}

/* Kineto's categories; false for those that say nothing about time spent */
static bool kineto_kind(struct event *e)
{
    static const struct { const char *cat; enum event_kind kind; const char *ours;
    } map[] = { { "cpu_op", EVENT_CAT, "Backend" },    { "python_function", EVENT_CAT, "Python" },
                { "cuda_runtime", EVENT_CAT, "CUDA" }, { "cuda_driver", EVENT_CAT, "CUDA" },
                { "xpu_runtime", EVENT_CAT, "CUDA" },  { "xpu_driver", EVENT_CAT, "CUDA" },
                { "mtia_runtime", EVENT_CAT, "CUDA" }, { "mtia_ccp_events", EVENT_GPU, "GPU" },
                { "kernel", EVENT_GPU, "GPU" },        { "gpu_memcpy", EVENT_GPU, "GPU" },
                { "gpu_memset", EVENT_GPU, "GPU" },    { "Kernel", EVENT_GPU, "GPU" },
                { "Memcpy", EVENT_GPU, "GPU" },        { "Memset", EVENT_GPU, "GPU" },
                { "Operator", EVENT_CAT, "Backend" },  { "Runtime", EVENT_CAT, "CUDA" },
                { "user_annotation", EVENT_OP, "" },   { "overhead", EVENT_OVH, "cupti" } };
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (!str_is(e->cat, map[i].cat)) continue;
        e->kind = map[i].kind;
        e->cat = str_of(e->kind == EVENT_GPU ? import_gpu_category(e->name) : map[i].ours);
        return true;
    }
    return false;
}

/* A file that we wrote, which gives its processes names first, says in args what each row is.  Others have an argument
 * of that name too: AMD's copies. */
static bool our_kind(const struct trace *t, struct event *e)
{
    if (!t->aliases.n) return false;
    str kind = value_of(t, KIND);
    for (int k = 0; k < EVENT_KINDS; k++) {
        if (!str_is(kind, event_kind_name[k])) continue;
        e->kind = (enum event_kind)k;
        return true;
    }
    return false;
}

static str stream_name(struct trace *t, struct buf *b, enum field stream)
{
    b->n = 0;
    buf_char(b, 'd');
    buf_str(b, value_of(t, DEVICE));
    buf_add(b, ".s", 2);
    buf_str(b, value_of(t, stream));
    return (str){ b->s, b->n };
}

static bool is_number(str s)
{
    return s.n && s.s[0] >= '0' && s.s[0] <= '9';        /* -1: not known */
}

/* "Stream Wait Event": later work of a stream comes after what another had when the event was recorded */
static bool kineto_after(struct trace *t, struct event *e)
{
    if (!str_is(e->cat, "cuda_sync") || !str_is(e->name, "Stream Wait Event")) return false;
    if (!has(t, DEVICE) || !has(t, STREAM) || !is_number(value_of(t, WAITED))) return false;
    e->kind = EVENT_AFTER;
    e->tid = stream_name(t, &t->gpu_tid, STREAM);
    e->cat = stream_name(t, &t->waited, WAITED);
    e->link = value_of(t, is_number(value_of(t, RECORD)) ? RECORD : LINK);
    return true;
}

static void malformed(struct trace *t)
{
    if (!t->m->malformed++) t->m->malformed_at = json_offset(t->j);
}

/* span: of no thread, it may cover others' time */
static void complete(struct trace *t, struct event *e, bool span)
{
    str pid = e->proc, tid = e->tid;
    e->kind = span ? EVENT_OP : EVENT_CAT;
    bool ours = our_kind(t, e);
    if (ours) {
        e->cat = value_of(t, OUR_CAT);
        e->name = value_of(t, OUR_NAME);
        e->flag = e->flag.n ? e->flag : value_of(t, FLAG);
    }
    if (t->kineto && !ours && kineto_after(t, e)) {
        import_put(t->m, e);
        return;
    }
    if (t->kineto && !ours && !kineto_kind(e)) {
        t->m->skipped++;
        return;
    }
    e->link = value_of(t, LINK);
    name_place(t, e, pid, tid);
    if (t->kineto && !ours && e->kind == EVENT_GPU && has(t, DEVICE)) e->tid = stream_name(t, &t->gpu_tid, STREAM);
    import_put(t->m, e);
}

/* take the innermost begin off the stack; its texts last until the next one of the thread */
static void begun(struct thread *th, struct event *e)
{
    const struct begin *b = &th->v[--th->n];
    e->start = b->start;
    e->name = (str){ th->texts.s + b->text, b->name_n };
    e->cat = (str){ th->texts.s + b->text + b->name_n, b->cat_n };
    th->texts.n = b->text;
}

/* "CAT ID": spans and flows of one category and id belong together */
static str span_name(struct trace *t)
{
    t->span.n = 0;
    buf_str(&t->span, value_of(t, CAT));
    buf_char(&t->span, ' ');
    buf_str(&t->span, value_of(t, SPAN));
    return (str){ t->span.s, t->span.n };
}

/* An arrow from where something was handed over (s) by way of others (t) to where it arrived (f). */
static void flow(struct trace *t, struct event *e, char type)
{
    static const str post = { "post", 4 }, take = { "take", 4 };
    str pid = e->proc, tid = e->tid;
    e->kind = EVENT_LINK;
    e->link = span_name(t);
    if (t->local) {                                      /* such an id is of its process alone */
        buf_char(&t->span, ' ');
        buf_str(&t->span, pid);
        e->link = (str){ t->span.s, t->span.n };
    }
    e->end = e->start;
    name_place(t, e, pid, tid);
    e->cat = take;
    if (type != 's') import_put(t->m, e);
    e->cat = post;
    if (type != 'f') import_put(t->m, e);
}

/* what asynchronous begins and ends are of a thread's; 0: of other kinds.  S, T, p, F are those of before. */
static char span_type(char type)
{
    return type == 'b' || type == 'S' ? 'B' : type == 'e' || type == 'F' ? 'E' : 0;
}

static void one_event(struct trace *t)
{
    struct importer *m = t->m;
    str ph = value_of(t, PH);
    char type = ph.n == 1 ? ph.s[0] : 0, spans = 0;
    if (type == 'M') name_alias(t);
    bool flows = !t->kineto && (type == 's' || type == 't' || type == 'f') && has(t, SPAN);
    if (!t->kineto && has(t, SPAN)) spans = span_type(type);
    if (type != 'X' && type != 'B' && type != 'E' && !flows && !spans) {
        m->skipped += type != 'M';
        return;
    }
    if (t->bad_time || !t->has_ts) {
        malformed(t);
        return;
    }
    int64_t ts = t->ts, dur = t->has_dur ? t->dur : 0;
    ts += t->base;
    struct event e = { .proc = value_of(t, PID), .tid = value_of(t, TID), .cat = value_of(t, CAT),
                       .name = value_of(t, NAME), .start = ts, .end = ts + dur };
    if (flows) {
        flow(t, &e, type);
        return;
    }
    if (type == 'X') {
        struct thread *th = thread_of(t);                /* an open begin around it ends no sooner */
        if (e.end > th->last) th->last = e.end;
        complete(t, &e, false);
        return;
    }
    if (spans) {                                         /* a track of its own, like a thread's */
        str own = span_name(t);
        struct buf *b = &t->field[TID];
        b->n = 0;
        buf_str(b, own);
        t->set |= 1u << TID;
        e.tid = (str){ b->s, b->n };
        type = spans;
    }
    struct thread *th = thread_of(t);
    th->span = spans != 0;
    /* paired as they stand in the file, which need not be in order of time */
    bool odd = th->n && ts < th->before;
    th->before = ts;
    if (ts > th->last) th->last = ts;
    if (type == 'B') {
        m->disordered += odd;
        th->v = grow(th->v, th->n + 1, &th->cap, sizeof *th->v);
        th->v[th->n++] = (struct begin){ ts, th->texts.n, e.name.n, e.cat.n };
        buf_str(&th->texts, e.name);
        buf_str(&th->texts, e.cat);
        return;
    }
    if (!th->n) {
        m->stray++;
        return;
    }
    str name = e.name;
    begun(th, &e);
    m->disordered += odd || (name.n && !str_eq(name, e.name));
    complete(t, &e, spans != 0);
}

static void forget_event(struct trace *t)
{
    t->set = 0;
    t->bad_time = t->has_ts = t->has_dur = t->local = false;
}

static void take_field(struct trace *t, enum field f)
{
    if (f < FIELDS) take(t, f);
    else if (f == TS) t->has_ts = take_time(t, &t->ts);
    else if (f == DUR) t->has_dur = take_time(t, &t->dur);
    else if (f == ARGS) read_args(t);
    else if (f == ID2) read_id2(t);
    else json_skip(t->j);
}

static void read_event(struct trace *t)
{
    enum field f;
    forget_event(t);
    for (size_t place = 0; next_key(t, &t->event, place, event_field, &f); place++) take_field(t, f);
    if (!json_fault(t->j)) one_event(t);
}

static void read_events(struct trace *t)
{
    for (enum json token; (token = json_next(t->j)) != JSON_END && token != JSON_ARRAY_END;) {
        if (token == JSON_OBJECT) read_event(t);
        else {
            malformed(t);
            if (token == JSON_ARRAY) json_leave(t->j);
        }
    }
}

static void close_threads(struct trace *t)
{
    for (size_t i = 0; i < t->ids.n; i++) {
        struct thread *th = &t->thread[i];
        t->set = 0;
        while (th->n) {
            struct event e = { .proc = t->text.name[th->proc], .tid = t->text.name[th->tid], .flag = { "open", 4 },
                               .end = th->last };
            begun(th, &e);
            t->m->unclosed++;
            complete(t, &e, th->span);
        }
        free(th->v);
        free(th->texts.s);
    }
}

/* an object that holds the events; or one event, of a file of lines */
static void read_object(struct trace *t, const char *path)
{
    str k;
    int64_t v = 0, base = 0;
    bool events = false;
    forget_event(t);
    while (json_key(t->j, &k)) {
        if (str_is(k, "traceEvents")) {
            if (json_next(t->j) == JSON_ARRAY) read_events(t);
            forget_event(t);
            events = true;
        } else if (str_is(k, "baseTimeNanoseconds")) {
            enum json token = json_next(t->j);
            if (token == JSON_NUMBER && int_parse(json_str(t->j).s, json_str(t->j).n, &v) && v < TIME_MAX &&
                v > -TIME_MAX)
                *(t->m->held ? &t->m->base_ns : &t->base) = base = v;
            if (t->m->rows && !t->m->held)
                warn("%s: baseTimeNanoseconds comes after events, which are left relative", path);
        } else take_field(t, event_field(k));
    }
    if (events && t->documents++ && base != t->base_of_all && !t->m->fault)
        t->m->fault = xformat("%s: traces of several base times in one file: import each by itself", path);
    if (events) t->base_of_all = base;
    else if (json_fault(t->j)) return;
    else if (has(t, PH)) one_event(t);
    else t->m->skipped++;
}

void import_trace(struct importer *m, const char *path, bool kineto)
{
    struct trace t = { .m = m, .kineto = kineto, .j = json_open(path) };
    json_tolerate(t.j);
    enum json token = json_next(t.j);
    bool empty = token == JSON_END;
    for (; (token == JSON_OBJECT || token == JSON_ARRAY) && !m->fault; token = json_next(t.j)) {
        if (token == JSON_ARRAY) read_events(&t);
        else read_object(&t, path);
    }
    if ((empty || token != JSON_END) && !m->fault && !json_fault(t.j))
        m->fault = xformat("%s: %s", path, empty ? "empty input" : "neither an object nor an array");
    close_threads(&t);
    json_fault_at(m, t.j);
    json_close(t.j);
    for (int f = 0; f < FIELDS; f++) free(t.field[f].s);
    intern_free(&t.ids);
    intern_free(&t.text);
    intern_free(&t.aliases);
    free_all(t.alias_text, t.thread, t.key.s, t.gpu_tid.s, t.waited.s, t.span.s);
}

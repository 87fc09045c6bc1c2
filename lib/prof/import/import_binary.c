/* import_binary.c - cProfile's marshal files, protobufs of RL-Scope and of pprof; see import.h.  They are small enough
 * to be held. */
#include "prof/import/import.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;
enum { DEPTH = 64 };

static struct buf slurp(const char *path)
{
    struct buf b = { 0 };
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), got = 1, error = Z_OK;
    gzFile f = fd < 0 ? NULL : gzdopen(fd, "rb");        /* what is not packed is read as it is */
    if (!f) die_errno("%s", path);
    while (got > 0) {
        b.s = grow(b.s, size_add(b.n, 1 << 16), &b.cap, 1);
        got = gzread(f, b.s + b.n, 1 << 16);
        if (got > 0) b.n += (size_t)got;
    }
    const char *why = gzerror(f, &error);
    if (got < 0 && error == Z_ERRNO) die_errno("%s", path);
    if (got < 0 && error != Z_BUF_ERROR) die("%s: byte %ld: %s", path, (long)gzoffset(f), why);   /* that: cut */
    gzclose_r(f);
    return b;
}

static void fault(struct importer *m, const char *name, size_t at, bool truncated, const char *what)
{
    if (m->fault) return;
    m->fault = xformat("%s: byte %zu: %s", name, at, what);
    m->truncated = truncated;
}

/* ---- marshal: objects in one array, so that a back reference is an index */

/* s text, n number, ( tuple, { dict, N none */
struct object { char type; str text; double number; uint32_t first, n; };
struct marshal {
    struct importer *m;
    const char *name;
    const unsigned char *p;
    size_t n, at;
    struct object *object;
    size_t nobject, object_cap;
    uint32_t *ref, *item;                                /* numbered objects; children of tuples */
    size_t nref, ref_cap, nitem, item_cap;
    int64_t now;
};
/* object 0: the end mark of a dict, and what follows a fault */
enum { NOTHING = 0 };

static bool have(struct marshal *r, size_t n)
{
    if (r->m->fault) return false;
    if (r->n - r->at >= n) return true;
    fault(r->m, r->name, r->n, true, "the input ends here");
    return false;
}

static uint32_t u32(struct marshal *r)
{
    if (!have(r, 4)) return 0;
    const unsigned char *b = r->p + r->at;
    r->at += 4;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint32_t u8(struct marshal *r)
{
    return have(r, 1) ? r->p[r->at++] : 0;
}

static uint32_t new_object(struct marshal *r, char type)
{
    r->object = grow(r->object, r->nobject + 1, &r->object_cap, sizeof *r->object);
    r->object[r->nobject] = (struct object){ .type = type };
    return (uint32_t)r->nobject++;
}

static uint32_t text_object(struct marshal *r, size_t n)
{
    if (!have(r, n)) return NOTHING;
    uint32_t o = new_object(r, 's');
    r->object[o].text = (str){ (const char *)r->p + r->at, n };
    r->at += n;
    return o;
}

static double big_integer(struct marshal *r)
{
    int32_t count = (int32_t)u32(r);
    int64_t digits = count < 0 ? -(int64_t)count : count;
    double v = 0, scale = 1;
    if (digits > (int64_t)r->n) {
        fault(r->m, r->name, r->at, false, "an impossible integer");
        return 0;
    }
    for (int64_t i = 0; i < digits && have(r, 2); i++, scale *= 32768) {
        v += scale * (r->p[r->at] | r->p[r->at + 1] << 8);
        r->at += 2;
    }
    return count < 0 ? -v : v;
}

static void one_function(struct marshal *r, uint32_t key, uint32_t value);

static uint32_t read_object(struct marshal *r, int depth)
{
    if (depth > DEPTH) {
        fault(r->m, r->name, r->at, false, "nested too deeply for a profile");
        return NOTHING;
    }
    size_t at = r->at;
    uint32_t code = u8(r), type = code & 0x7f, o = NOTHING, slot = UINT32_MAX;
    if (r->m->fault) return NOTHING;
    if (code & 0x80) {                                   /* numbered before its content is read */
        r->ref = grow(r->ref, r->nref + 1, &r->ref_cap, sizeof *r->ref);
        slot = (uint32_t)r->nref;
        r->ref[r->nref++] = NOTHING;
    }
    switch (type) {
    case '0': return NOTHING;
    case 'N': case 'T': case 'F': o = new_object(r, 'N'); break;
    case 'i':
        o = new_object(r, 'n');
        r->object[o].number = (int32_t)u32(r);
        break;
    case 'l': {
        double v = big_integer(r);
        o = new_object(r, 'n');
        r->object[o].number = v;
        break;
    }
    case 'g':
        if (!have(r, 8)) return NOTHING;
        o = new_object(r, 'n');
        memcpy(&r->object[o].number, r->p + r->at, 8);
        r->at += 8;
        break;
    case 'z': case 'Z': o = text_object(r, u8(r)); break;
    case 'a': case 'A': case 'u': case 't': case 's': o = text_object(r, u32(r)); break;
    case 'r': {
        uint32_t k = u32(r);
        if (!r->m->fault && k >= r->nref) fault(r->m, r->name, at, false, "a reference to nothing");
        return r->m->fault ? NOTHING : r->ref[k];
    }
    case '(': case ')': {
        uint32_t n = type == ')' ? u8(r) : u32(r), child[256];
        if (n > 255) {
            fault(r->m, r->name, at, false, "a tuple too long for a profile");
            return NOTHING;
        }
        o = new_object(r, '(');
        for (uint32_t i = 0; i < n; i++) child[i] = read_object(r, depth + 1);
        r->item = grow(r->item, size_add(r->nitem, n), &r->item_cap, sizeof *r->item);
        for (uint32_t i = 0; i < n; i++) r->item[r->nitem + i] = child[i];
        r->object[o].first = (uint32_t)r->nitem;
        r->object[o].n = n;
        r->nitem += n;
        break;
    }
    case '{':
        o = new_object(r, '{');
        while (!r->m->fault) {
            uint32_t key = read_object(r, depth + 1);
            if (key == NOTHING) break;
            uint32_t value = read_object(r, depth + 1);
            if (depth == 0 && !r->m->fault) one_function(r, key, value);
        }
        break;
    default:
        fault(r->m, r->name, at, false, "an object that profiles do not hold");
        return NOTHING;
    }
    if (slot != UINT32_MAX) r->ref[slot] = o;
    return o;
}

static const struct object *child(const struct marshal *r, uint32_t tuple, uint32_t i, char type)
{
    const struct object *t = &r->object[tuple];
    if (t->type != '(' || i >= t->n) return NULL;
    const struct object *c = &r->object[r->item[t->first + i]];
    return c->type == type ? c : NULL;
}

/* (file, line, function) -> (primitive calls, calls, own seconds, cumulative seconds, callers) */
static void one_function(struct marshal *r, uint32_t key, uint32_t value)
{
    struct importer *m = r->m;
    struct buf name = { 0 };
    const struct object *file = child(r, key, 0, 's'), *line = child(r, key, 1, 'n'), *function = child(r, key, 2, 's');
    const struct object *cc = child(r, value, 0, 'n'), *nc = child(r, value, 1, 'n'), *tt = child(r, value, 2, 'n'),
                        *ct = child(r, value, 3, 'n');
    if (!file || !line || !function || !cc || !nc || !tt || !ct || !(fabs(tt->number) < 1e9) ||
        !(fabs(ct->number) < 1e9) || !(fabs(nc->number) < 1e18) || !(fabs(cc->number) < 1e18) ||
        !(fabs(line->number) < 1e9) || r->now > TIME_MAX) {
        m->malformed++;
        return;
    }
    buf_str(&name, file->text);
    buf_format(&name, ":%lld(", (long long)line->number);
    buf_str(&name, function->text);
    buf_char(&name, ')');
    m->calls = (uint64_t)fabs(nc->number);
    m->primitive_calls = (uint64_t)fabs(cc->number);
    m->cumulative_ns = llround(ct->number * 1e9);
    struct event e = { .proc = str_of("prof"), .tid = str_of("1"),
                       .cat = str_of(str_is(file->text, "~") ? "C" : "Python"), .name = { name.s, name.n },
                       .flag = str_of("est"), .start = r->now, .end = r->now + llround(tt->number * 1e9) };
    import_put(m, &e);
    if (e.end > r->now) r->now = e.end;
    free(name.s);
}

void import_prof_bytes(struct importer *m, const char *name, const unsigned char *p, size_t n)
{
    struct marshal r = { .m = m, .name = name, .p = p, .n = n };
    new_object(&r, '0');
    uint32_t top = read_object(&r, 0);
    if (!m->fault && r.object[top].type != '{') fault(m, name, 0, false, "not a profile (no dictionary)");
    free_all(r.object, r.ref, r.item);
}

/* ---- protobuf */

struct proto { struct importer *m; const char *name; const unsigned char *begin, *p, *end; };
struct proto_field { uint32_t number, wire; uint64_t value; str bytes; };

static uint64_t varint(struct proto *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (r->p == r->end) {
            fault(r->m, r->name, (size_t)(r->p - r->begin), true, "the input ends here");
            return 0;
        }
        unsigned char c = *r->p++;
        v |= (uint64_t)(c & 127) << shift;
        if (c < 128) return v;
    }
    fault(r->m, r->name, (size_t)(r->p - r->begin), false, "a number longer than 64 bits");
    return 0;
}

static bool next_proto(struct proto *r, struct proto_field *f)
{
    if (r->p == r->end || r->m->fault) return false;
    size_t at = (size_t)(r->p - r->begin);
    uint64_t tag = varint(r);
    if (!r->m->fault && tag < 8) fault(r->m, r->name, at, false, "not a protobuf");
    *f = (struct proto_field){ .number = (uint32_t)(tag >> 3), .wire = (uint32_t)tag & 7 };
    size_t left;
    switch (f->wire) {
    case 0: f->value = varint(r); break;
    case 1: case 5:
        left = f->wire == 1 ? 8 : 4;
        if ((size_t)(r->end - r->p) < left) fault(r->m, r->name, at, true, "the input ends here");
        else r->p += left;
        break;
    case 2:
        f->value = varint(r);
        if (r->m->fault) return false;
        left = (size_t)(r->end - r->p);
        if (f->value > left) {                           /* what is there is still read */
            fault(r->m, r->name, (size_t)(r->end - r->begin), true, "the input ends here");
            return false;
        }
        f->bytes = (str){ (const char *)r->p, (size_t)f->value };
        r->p += f->value;
        break;
    default: fault(r->m, r->name, at, false, "not a protobuf");
    }
    return !r->m->fault;
}

static struct proto inside(const struct proto *r, str bytes)
{
    return (struct proto){ r->m, r->name, r->begin, (const unsigned char *)bytes.s,
                           (const unsigned char *)bytes.s + bytes.n };
}

static bool microseconds(struct event *e, uint64_t start, uint64_t duration)
{
    int64_t limit = TIME_MAX / 1000;
    if (start > (uint64_t)limit || duration > (uint64_t)limit) return false;
    e->start = (int64_t)start * 1000;
    e->end = e->start + (int64_t)duration * 1000;
    return true;
}

/* Event 1 thread_id, 2 start_us, 3 dur_us, 4 name; CUDAEventProto and the API's events: the same numbers shifted, see
   below */
struct layout { uint32_t tid, name, start, duration; };

static void proto_event(const struct proto *outer, str bytes, const struct layout *l, struct event e,
                        const char *fixed_tid)
{
    struct proto r = inside(outer, bytes);
    struct proto_field f;
    uint64_t tid = 0, start = 0, duration = 0;
    char tid_text[32];
    while (next_proto(&r, &f)) {
        if (f.number == l->tid && f.wire == 0) tid = f.value;
        else if (f.number == l->name && f.wire == 2) e.name = f.bytes;
        else if (f.number == l->start && f.wire == 0) start = f.value;
        else if (f.number == l->duration && f.wire == 0) duration = f.value;
    }
    if (r.m->fault) return;
    if (!microseconds(&e, start, duration)) {
        r.m->malformed++;
        return;
    }
    snprintf(tid_text, sizeof tid_text, "%llu", (unsigned long long)tid);
    e.tid = str_of(fixed_tid ? fixed_tid : tid_text);
    if (e.kind == EVENT_OP && e.name.n > 6 && memcmp(e.name.s, "[PROC:", 6) == 0) e.kind = EVENT_PROC;
    import_put(r.m, &e);
}

static void category(struct event *e, str name)
{
    static const struct { const char *stored; enum event_kind kind; const char *ours;
    } map[] = { { "Python", EVENT_CAT, "Python" },
                { "Framework API C", EVENT_CAT, "Backend" },
                { "Simulator C", EVENT_CAT, "Simulator" },
                { "CUDA API CPU", EVENT_CAT, "CUDA" },
                { "GPU", EVENT_GPU, "GPU" },
                { "Operation", EVENT_OP, "" } };
    *e = (struct event){ .kind = EVENT_CAT, .cat = name, .proc = e->proc };
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        if (str_is(name, map[i].stored)) {
            e->kind = map[i].kind;
            e->cat = str_of(map[i].ours);
        }
    if (name.n > 11 && memcmp(name.s, "Profiling: ", 11) == 0) {
        e->kind = EVENT_OVH;
        e->cat = (str){ name.s + 11, name.n - 11 };
    }
}

/* map<string, list of events>: an entry's 1 is the key, 2 the list */
static void proto_map(const struct proto *outer, str bytes, struct event e, bool device)
{
    static const struct layout plain = { 1, 4, 2, 3 }, cuda = { 0, 1, 3, 4 };
    struct proto r = inside(outer, bytes), list;
    struct proto_field f;
    str key = { "", 0 }, value = { "", 0 };
    char tid[64];
    while (next_proto(&r, &f)) {
        if (f.number == 1 && f.wire == 2) key = f.bytes;
        if (f.number == 2 && f.wire == 2) value = f.bytes;
    }
    if (r.m->fault) return;
    if (device) {
        snprintf(tid, sizeof tid, "d%.*s.s0", (int)(key.n < 50 ? key.n : 50), key.s);
        e.kind = EVENT_GPU;
        e.cat = str_of("GPU");
    } else category(&e, key);
    for (list = inside(outer, value); next_proto(&list, &f);)
        if (f.wire == 2 && f.number == (device ? 2 : 1))
            proto_event(&list, f.bytes, device ? &cuda : &plain, e, device ? tid : NULL);
}

void import_rlscope_bytes(struct importer *m, const char *name, const unsigned char *p, size_t n)
{
    bool events = strstr(name, "category_events"), device = strstr(name, "cuda_device_events"),
         api = strstr(name, "cuda_api_stats");
    static const struct layout call = { 1, 2, 3, 4 };
    uint32_t process = events ? 2 : 1, list = events ? 1 : device ? 4 : 5;
    if (!events && !device && !api) {
        m->skipped++;
        return;
    }
    struct proto_field f;
    struct event e = { .proc = { "", 0 } };
    struct proto r = { m, name, p, p, p + n };
    /* it may come after the events */
    while (next_proto(&r, &f)) if (f.number == process && f.wire == 2) e.proc = f.bytes;
    char *ended = m->fault;
    bool cut = m->truncated;
    m->fault = NULL;
    r.p = p;
    while (next_proto(&r, &f)) {
        if (f.number != list || f.wire != 2) continue;
        e.kind = EVENT_CAT;
        e.cat = str_of("CUDA");
        if (api) proto_event(&r, f.bytes, &call, e, NULL);
        else proto_map(&r, f.bytes, e, device);
    }
    if (m->fault && ended) free(ended);
    else if (ended) {
        m->fault = ended;
        m->truncated = cut;
    }
}

static void one_proto(struct importer *m, const char *path)
{
    struct buf b = slurp(path);
    char *before = m->fault;
    m->fault = NULL;
    if (b.n) import_rlscope_bytes(m, path, (const unsigned char *)b.s, b.n);
    else fault(m, path, 0, true, "the input ends here");
    if (m->fault && before) free(before);
    else if (before) m->fault = before;
    free(b.s);
}

static void walk(struct importer *m, const char *path, int depth)
{
    struct stat st;
    if (stat(path, &st) != 0) die_errno("%s", path);
    if (!S_ISDIR(st.st_mode)) {
        if (!depth && !st.st_size) die("%s: empty input", path);
        one_proto(m, path);
        return;
    }
    DIR *d = depth < DEPTH ? opendir(path) : NULL;
    if (!d) die_errno("%s", path);
    char **name = NULL;
    size_t n = 0, cap = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char *child_path = xformat("%s/%s", path, e->d_name);
        bool dir = e->d_name[0] != '.' && stat(child_path, &st) == 0 && S_ISDIR(st.st_mode);
        size_t k = strlen(e->d_name);
        if (dir || (e->d_name[0] != '.' && k > 6 && strcmp(e->d_name + k - 6, ".proto") == 0)) {
            name = grow(name, n + 1, &cap, sizeof *name);
            name[n++] = child_path;
        } else free(child_path);
    }
    closedir(d);
    if (n) qsort(name, n, sizeof *name, order_strings);
    for (size_t i = 0; i < n; i++) {
        walk(m, name[i], depth + 1);
        free(name[i]);
    }
    free(name);
}

void import_rlscope(struct importer *m, const char *path)
{
    walk(m, path, 0);
}

/* ---- pprof: profile.proto of google/pprof.  Texts are numbers in a table that may come last. */

struct pprof_item { uint64_t id; str bytes; };           /* a location, a function */
struct pprof_list { struct pprof_item *v; size_t n, cap; };
struct pprof {
    struct proto r;
    struct pprof_list type, sample, location, function, text;
    struct stacks stacks;
};

static int by_id(const void *a, const void *b)
{
    const struct pprof_item *x = a, *y = b;
    return ORDER(x->id, y->id);
}

/* the value of a field of numbers, or the text that one has */
static uint64_t number_in(const struct proto *outer, str bytes, uint32_t field)
{
    struct proto r = inside(outer, bytes);
    struct proto_field f;
    uint64_t value = 0;
    while (next_proto(&r, &f)) if (f.number == field && f.wire == 0) value = f.value;
    return value;
}

static str text_of(const struct pprof *p, uint64_t i)
{
    if (i < p->text.n) return p->text.v[i].bytes;
    fault(p->r.m, p->r.name, (size_t)(p->r.end - p->r.begin), false, "a text is missing");
    return (str){ "", 0 };
}

static void add_location(struct pprof *p, uint64_t id)
{
    const struct pprof_item key = { .id = id };
    const struct pprof_item *l = p->location.n ? bsearch(&key, p->location.v, p->location.n, sizeof key, by_id) : NULL;
    struct proto r = inside(&p->r, l ? l->bytes : (str){ "", 0 });
    struct proto_field f;
    char address[32];
    uint64_t at = l ? 0 : id;
    size_t before = p->stacks.n;
    while (next_proto(&r, &f)) {
        if (f.number == 3 && f.wire == 0) at = f.value;
        if (f.number != 4 || f.wire != 2) continue;      /* a line; of what was inlined the inner one first */
        const struct pprof_item function = { .id = number_in(&r, f.bytes, 1) };
        const struct pprof_item *of = p->function.n ? bsearch(&function, p->function.v, p->function.n, sizeof function,
                                                              by_id) : NULL;
        stacks_add(&p->stacks, of ? text_of(p, number_in(&r, of->bytes, 2)) : str_of("?"));
    }
    if (p->stacks.n > before) return;
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)at);
    stacks_add(&p->stacks, str_of(address));
}

/* a list of numbers stands in one field or in many */
static void one_sample(struct pprof *p, str bytes, size_t which, double unit)
{
    struct proto r = inside(&p->r, bytes);
    struct proto_field f;
    double value = NAN;
    size_t values = 0;
    while (next_proto(&r, &f)) {
        if (f.number > 2 || (f.wire != 0 && f.wire != 2)) continue;
        struct proto list = inside(&r, f.wire == 2 ? f.bytes : (str){ "", 0 });
        while (f.wire == 0 || (list.p < list.end && !r.m->fault)) {
            uint64_t x = f.wire == 0 ? f.value : varint(&list);
            if (f.number == 1) add_location(p, x);
            else if (values++ == which) value = (double)(int64_t)x * unit;
            if (f.wire == 0) break;
        }
    }
    if (!r.m->fault) stacks_put(r.m, &p->stacks, 0, value);
}

void import_pprof_bytes(struct importer *m, const char *name, const unsigned char *p, size_t n)
{
    struct pprof all = { .r = { m, name, p, p, p + n }, .stacks = { .proc = "pprof", .cat = "C" } };
    struct pprof_list *const list[] = { NULL, &all.type, &all.sample, NULL, &all.location, &all.function, &all.text };
    static const struct { const char *name; double ns; } units[] = { { "nanoseconds", 1 }, { "microseconds", 1e3 },
                                                                     { "milliseconds", 1e6 }, { "seconds", 1e9 } };
    struct proto_field f;
    uint64_t wanted = 0;
    while (next_proto(&all.r, &f)) {
        if (f.number == 14 && f.wire == 0) wanted = f.value;
        struct pprof_list *l = f.number < sizeof list / sizeof *list && f.wire == 2 ? list[f.number] : NULL;
        if (!l) continue;
        l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
        bool named = l == &all.location || l == &all.function;
        l->v[l->n++] = (struct pprof_item){ named ? number_in(&all.r, f.bytes, 1) : 0, f.bytes };
    }
    if (all.location.n) qsort(all.location.v, all.location.n, sizeof *all.location.v, by_id);
    if (all.function.n) qsort(all.function.v, all.function.n, sizeof *all.function.v, by_id);
    size_t which = all.type.n - 1;                       /* the last one, unless it says another */
    for (size_t i = 0; wanted && i < all.type.n && !m->fault; i++)
        if (str_eq(text_of(&all, wanted), text_of(&all, number_in(&all.r, all.type.v[i].bytes, 1)))) which = i;
    str unit = all.type.n && !m->fault ? text_of(&all, number_in(&all.r, all.type.v[which].bytes, 2)) : (str){ "", 0 };
    double ns = str_is(unit, "count") ? m->unit_ns : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) if (str_is(unit, units[i].name)) ns = units[i].ns;
    if (!m->fault && ns == 0) m->fault = xformat("%s: its values are no times but '%.*s'", name, (int)unit.n, unit.s);
    for (size_t i = 0; i < all.sample.n && !m->fault; i++) one_sample(&all, all.sample.v[i].bytes, which, ns);
    stacks_end(m, &all.stacks);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) if (list[i]) free(list[i]->v);
    m->truncated = false;                                /* without its texts a part says nothing */
}

void import_whole(struct importer *m, enum import_format format, const char *path)
{
    struct buf b = slurp(path);
    if (!b.n) die("%s: empty input", path);
    (format == FROM_PROF ? import_prof_bytes : import_pprof_bytes)(m, path, (const unsigned char *)b.s, b.n);
    free(b.s);
}

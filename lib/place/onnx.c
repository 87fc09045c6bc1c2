#include "place/onnx.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- protocol buffers: a cursor over the bytes of one message ---- */

struct cursor {
    const struct onnx *o;
    const char *p, *end;
};
struct field {
    int number, wire;
    uint64_t value;
    str bytes;
};

_Noreturn static void bad(const struct onnx *o, const char *at, const char *what)
{
    die("%s: byte %zu: %s", o->file, (size_t)(at - o->bytes), what);
}

static uint64_t varint(struct cursor *c)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (c->p == c->end) bad(c->o, c->p, "the file ends within a number");
        unsigned char b = (unsigned char)*c->p++;
        if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return v;
    }
    bad(c->o, c->p, "a number of more than ten bytes");
}

static bool next(struct cursor *c, struct field *f)
{
    if (c->p == c->end) return false;
    uint64_t key = varint(c), n = 0;
    if (key >> 3 == 0 || key >> 3 > 1 << 20) bad(c->o, c->p, "no field of a protocol buffer");
    *f = (struct field){ .number = (int)(key >> 3), .wire = (int)(key & 7) };
    if (f->wire == 0) {
        f->value = varint(c);
        return true;
    }
    if (f->wire == 2) n = varint(c);
    else if (f->wire == 1) n = 8;
    else if (f->wire == 5) n = 4;
    else bad(c->o, c->p, "a field of a kind that protocol buffers do not have");
    if (n > (uint64_t)(c->end - c->p)) bad(c->o, c->p, "a field is longer than what holds it");
    f->bytes = (str){ c->p, (size_t)n };
    c->p += n;
    return true;
}

static struct cursor within(const struct onnx *o, str s)
{
    return (struct cursor){ o, s.s, s.n ? s.s + s.n : s.s };   /* what was never given has no address */
}
static float float_of(const char *p)
{
    float f;
    memcpy(&f, p, sizeof f);
    return f;
}

/* repeated integers: packed or one by one */
static void add_ints(struct onnx *o, const struct field *f, int64_t **v, size_t *n, size_t *cap)
{
    struct cursor c = within(o, f->bytes);
    do {
        *v = grow(*v, *n + 1, cap, sizeof **v);
        if (f->wire == 0) (*v)[(*n)++] = (int64_t)f->value;
        else if (c.p < c.end) (*v)[(*n)++] = (int64_t)varint(&c);
    } while (f->wire == 2 && c.p < c.end);
}

/* ---- the messages ---- */

static void add_dim(struct onnx *o, struct onnx_tensor *t, int64_t d, const char *at)
{
    if (t->ndim == ONNX_DIMS) bad(o, at, "a tensor of more than eight dimensions");
    t->shape[t->ndim++] = d;
}

static size_t width(int type)
{
    return type == ONNX_FLOAT || type == ONNX_INT32 ? 4 : type == ONNX_BOOL ? 1 : 8;
}

/* are the values that are not raw words, too?  Others are varints. */
static bool is_words(const struct onnx_tensor *t) { return t->type == ONNX_FLOAT || t->type == ONNX_DOUBLE; }

static uint64_t count_varints(struct onnx *o, str s)
{
    uint64_t n = 0;
    for (struct cursor c = within(o, s); c.p < c.end; n++) varint(&c);
    return n;
}

/* a decimal number in text; what is none is 0 */
static uint64_t decimal(str s)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && v < UINT64_MAX / 10 - 10; i++)
        v = 10 * v + (uint64_t)(s.s[i] - '0');
    return v;
}

/* key 1, value 2: where the values of a tensor are */
static void parse_place(struct onnx *o, str s, struct onnx_tensor *t)
{
    str key = { 0 }, value = { 0 };
    struct field f;
    for (struct cursor c = within(o, s); next(&c, &f);) {
        if (f.number == 1) key = f.bytes;
        if (f.number == 2) value = f.bytes;
    }
    if (str_is(key, "location")) t->location = value;
    if (str_is(key, "offset")) t->offset = decimal(value);
    if (str_is(key, "length")) t->length = decimal(value);
}

static void parse_tensor(struct onnx *o, str s, struct onnx_tensor *t)
{
    struct cursor c = within(o, s);
    struct field f;
    *t = (struct onnx_tensor){ .count = 1 };
    while (next(&c, &f)) {
        if (f.number == 1 && f.wire == 0) add_dim(o, t, (int64_t)f.value, c.p);
        if (f.number == 1 && f.wire == 2)
            for (struct cursor d = within(o, f.bytes); d.p < d.end;) add_dim(o, t, (int64_t)varint(&d), d.p);
        if (f.number == 2) t->type = f.value < 64 ? (int)f.value : 0;
        if ((f.number == 4 || f.number == 5 || f.number == 7 || f.number == 10) && f.wire == 2) t->packed = f.bytes;
        if (f.number == 8) t->name = f.bytes;
        if (f.number == 9) t->raw = f.bytes;
        if (f.number == 13 && f.wire == 2) parse_place(o, f.bytes, t);
        if (f.number == 14) t->external = f.value == 1;
    }
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0 || __builtin_mul_overflow(t->count, (uint64_t)t->shape[i], &t->count))
            die("%s: initialiser '%.*s' has an impossible shape", o->file, (int)t->name.n, t->name.s);
    bool known = t->type == ONNX_FLOAT || t->type == ONNX_INT64 || t->type == ONNX_INT32 || t->type == ONNX_BOOL ||
                 t->type == ONNX_DOUBLE;
    if (!known || t->external) return; /* whoever wants its values hears of it */
    uint64_t have = t->raw.n / width(t->type);
    if (!t->raw.n && t->packed.n)
        have = is_words(t) ? t->packed.n / width(t->type) : count_varints(o, t->packed);
    if (have < t->count)
        die("%s: initialiser '%.*s' has %llu values for a shape of %llu", o->file, (int)t->name.n, t->name.s,
            (unsigned long long)have, (unsigned long long)t->count);
}

static void parse_attr(struct onnx *o, str s, struct onnx_attr *a)
{
    struct cursor c = within(o, s);
    struct field f;
    int64_t *ints = NULL;
    size_t n = 0, cap = 0;
    *a = (struct onnx_attr){ 0 };
    while (next(&c, &f)) {
        if (f.number == 1) a->name = f.bytes;
        if (f.number == 2 && f.wire == 5) a->f = float_of(f.bytes.s);
        if (f.number == 3) a->i = (int64_t)f.value;
        if (f.number == 4) a->text = f.bytes;
        if (f.number == 8 && (f.wire == 0 || (f.wire == 2 && f.bytes.n))) add_ints(o, &f, &ints, &n, &cap);
        if (f.number == 5 && f.wire == 2) {
            struct onnx_tensor *t = arena_get(&o->memory, sizeof *t);
            parse_tensor(o, f.bytes, t);
            a->tensor = t;
        }
    }
    a->ints = arena_get(&o->memory, size_mul(n, sizeof *ints) + 1);
    if (n) memcpy(a->ints, ints, n * sizeof *ints);
    a->nint = n;
    free(ints);
}

static void parse_node(struct onnx *o, str s, struct onnx_node *n)
{
    size_t many[3] = { 0 };
    struct field f;
    *n = (struct onnx_node){ 0 };
    for (struct cursor c = within(o, s); next(&c, &f);) {
        if (f.number == 1) many[0]++;
        if (f.number == 2) many[1]++;
        if (f.number == 5) many[2]++;
    }
    n->in = arena_get(&o->memory, size_mul(many[0], sizeof *n->in) + 1);
    n->out = arena_get(&o->memory, size_mul(many[1], sizeof *n->out) + 1);
    n->attr = arena_get(&o->memory, size_mul(many[2], sizeof *n->attr) + 1);
    for (struct cursor c = within(o, s); next(&c, &f);) {
        if (f.number == 1) n->in[n->nin++] = f.bytes;
        if (f.number == 2) n->out[n->nout++] = f.bytes;
        if (f.number == 3) n->name = f.bytes;
        if (f.number == 4) n->op = f.bytes;
        if (f.number == 5) parse_attr(o, f.bytes, &n->attr[n->nattr++]);
    }
    if (n->nout == 0) die("%s: a node '%.*s' without outputs", o->file, (int)n->op.n, n->op.s);
}

/* name 1, type 2 { tensor 1 { element 1, shape 2 { dimension 1 { value 1, name 2 } } } } */
static void parse_input(struct onnx *o, str s, struct onnx_tensor *t)
{
    struct field f, g, h, d, v;
    *t = (struct onnx_tensor){ 0 };
    for (struct cursor a = within(o, s); next(&a, &f);) {
        if (f.number == 1) t->name = f.bytes;
        if (f.number != 2) continue;
        for (struct cursor b = within(o, f.bytes); next(&b, &g);) {
            if (g.number != 1) continue;
            for (struct cursor c = within(o, g.bytes); next(&c, &h);) {
                if (h.number == 1) t->type = h.value < 64 ? (int)h.value : 0;
                if (h.number != 2) continue;
                for (struct cursor e = within(o, h.bytes); next(&e, &d);) {
                    if (d.number != 1) continue;
                    int64_t size = -1;
                    for (struct cursor k = within(o, d.bytes); next(&k, &v);)
                        if (v.number == 1) size = (int64_t)v.value;
                    add_dim(o, t, size, e.p);
                }
            }
        }
    }
}

static void parse_graph(struct onnx *o, str s)
{
    struct field f;
    for (struct cursor c = within(o, s); next(&c, &f);) {
        if (f.wire != 2) continue;
        if (f.number == 1) {
            o->node = grow(o->node, o->nnode + 1, &o->cap[0], sizeof *o->node);
            parse_node(o, f.bytes, &o->node[o->nnode++]);
        } else if (f.number == 5) {
            o->initialiser = grow(o->initialiser, o->ninitialiser + 1, &o->cap[1], sizeof *o->initialiser);
            parse_tensor(o, f.bytes, &o->initialiser[o->ninitialiser++]);
        } else if (f.number == 11) {
            o->input = grow(o->input, o->ninput + 1, &o->cap[2], sizeof *o->input);
            parse_input(o, f.bytes, &o->input[o->ninput++]);
        } else if (f.number == 12 && !o->output.n) {
            struct onnx_tensor t;
            parse_input(o, f.bytes, &t);
            o->output = t.name;
        }
    }
}

/* domain 1, version 2 */
static void parse_opset(struct onnx *o, str s)
{
    struct field f;
    str domain = { 0 };
    int64_t version = 0;
    for (struct cursor c = within(o, s); next(&c, &f);) {
        if (f.number == 1) domain = f.bytes;
        if (f.number == 2) version = (int64_t)f.value;
    }
    if (!domain.n || str_is(domain, "ai.onnx")) o->opset = version;
}

struct onnx *onnx_parse(const char *name, char *bytes, size_t n)
{
    struct onnx *o = xcalloc(1, sizeof *o);
    o->file = arena_copy(&o->memory, name, strlen(name));
    o->bytes = bytes;
    o->size = n;
    struct field f;
    bool versions = false;                               /* of a file that has to say that of its operators */
    for (struct cursor c = within(o, (str){ bytes, n }); next(&c, &f);) {
        if (f.number == 1 && f.wire == 0) versions = f.value >= 3;
        if (f.number == 7 && f.wire == 2) parse_graph(o, f.bytes);
        if (f.number == 8 && f.wire == 2) parse_opset(o, f.bytes);
    }
    if (!o->nnode) die("%s: no graph with nodes is in this file; is it ONNX?", o->file);
    if (versions && !o->opset) die("%s: no version of its operators; does the file end early?", o->file);
    return o;
}

/* the values of a tensor that lie in a file beside this one */
static void read_external(struct onnx *o, struct onnx_tensor *t)
{
    if (!t->external || !t->location.n) return;
    const char *slash = strrchr(o->file, '/');
    uint64_t want = 0;
    bool elsewhere = t->location.s[0] == '/' || memmem(t->location.s, t->location.n, "..", 2) ||
                     memchr(t->location.s, '\0', t->location.n);
    if (elsewhere || __builtin_mul_overflow(t->count, (uint64_t)width(t->type), &want) || want > SIZE_MAX / 2)
        die("%s: the values of '%.*s' are said to be in '%.*s', which is not a file beside this one", o->file,
            (int)t->name.n, t->name.s, (int)t->location.n, t->location.s);
    int folder = slash ? (int)(slash - o->file + 1) : 0;
    char *path = xformat("%.*s%.*s", folder, o->file, (int)t->location.n, t->location.s);
    FILE *f = fopen(path, "rb");
    if (!f) die_errno("%s: the values of '%.*s' are in '%s'", o->file, (int)t->name.n, t->name.s, path);
    bool there = (t->length == 0 || t->length >= want) && t->offset <= INT64_MAX && !fseeko(f, 0, SEEK_END) &&
                 ftello(f) >= 0 && (uint64_t)ftello(f) >= t->offset && (uint64_t)ftello(f) - t->offset >= want;
    char *bytes = there ? arena_get(&o->memory, (size_t)want + 1) : NULL;
    there = there && !fseeko(f, (off_t)t->offset, SEEK_SET) && fread(bytes, 1, (size_t)want, f) == want;
    if (!there)
        die("%s: '%s' does not hold the %llu bytes of '%.*s'", o->file, path, (unsigned long long)want, (int)t->name.n,
            t->name.s);
    fclose(f);
    free(path);
    t->raw = (str){ bytes, (size_t)want };
}

struct onnx *onnx_read(const char *path)
{
    bool standard = !strcmp(path, "-");
    const char *name = standard ? "stdin" : path;
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f) die_errno("%s", path);
    char *bytes = NULL;
    size_t n = 0, cap = 0, got;
    do {
        bytes = grow(bytes, size_add(n, 1 << 16), &cap, 1);
        n += got = fread(bytes + n, 1, cap - n, f);
    } while (got);
    if (ferror(f)) die_errno("%s", name);
    if (!standard) fclose(f);
    if (!n) die("%s: empty input", name);
    struct onnx *o = onnx_parse(name, bytes, n);
    for (size_t i = 0; i < o->ninitialiser && !standard; i++) read_external(o, &o->initialiser[i]);
    return o;
}

void onnx_free(struct onnx *o)
{
    arena_free(&o->memory);
    free_all(o->node, o->initialiser, o->input, o->bytes, o);
}

const struct onnx_attr *onnx_attr(const struct onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->nattr; i++)
        if (str_is(n->attr[i].name, name)) return &n->attr[i];
    return NULL;
}

/* Varints are read of all integers of up to 64 bits and of booleans; others are bits of numbers, such as halves. */
static void check_type(const struct onnx *o, const struct onnx_tensor *t)
{
    bool whole = t->type == ONNX_INT32 || t->type == ONNX_INT64 || t->type == ONNX_BOOL;
    if (is_words(t) || whole || (!t->raw.n && t->type >= 2 && t->type < ONNX_INT32)) return;
    die("%s: elements of '%.*s' are of type %d, which is not read", o->file, (int)t->name.n, t->name.s, t->type);
}

double onnx_number(const struct onnx *o, const struct onnx_tensor *t, uint64_t i)
{
    if (t->external && !t->raw.s)
        die("%s: the values of '%.*s' are in another file", o->file, (int)t->name.n, t->name.s);
    if (i >= t->count) die("%s: '%.*s' has no element %llu", o->file, (int)t->name.n, t->name.s, (unsigned long long)i);
    check_type(o, t);
    const char *p = (t->raw.n ? t->raw.s : t->packed.s);
    if (t->type == ONNX_FLOAT) return (double)float_of(p + 4 * i);
    if (t->type == ONNX_DOUBLE) {
        double d;
        memcpy(&d, p + 8 * i, 8);
        return d;
    }
    if (!t->raw.n) {
        struct cursor c = within(o, t->packed);
        uint64_t v = 0;
        for (uint64_t k = 0; k <= i; k++) v = varint(&c);
        return (double)(int64_t)v;
    }
    if (t->type == ONNX_BOOL) return p[i] != 0;
    if (t->type == ONNX_INT32) {
        int32_t w;
        memcpy(&w, p + 4 * i, 4);
        return w;
    }
    int64_t v;
    memcpy(&v, p + 8 * i, 8);
    return (double)v;
}

void onnx_values(const struct onnx *o, const struct onnx_tensor *t, void *to)
{
    float *f = to;
    int32_t *k = to;
    bool packed = !t->raw.n && !is_words(t) && !t->external;
    struct cursor c = within(o, t->packed);
    check_type(o, t);
    for (uint64_t i = 0; i < t->count; i++) {
        double v = packed ? (double)(int64_t)varint(&c) : onnx_number(o, t, i);
        if (t->type == ONNX_FLOAT || t->type == ONNX_DOUBLE || t->type == ONNX_BOOL) f[i] = (float)v;
        else k[i] = v < -2147483648. ? INT32_MIN : v > 2147483647. ? INT32_MAX : (int32_t)v;
    }
}

#include "loop/code/image.h"
#include "base/message.h"
#include "carry/carry.inc"
#include "loop/code/many.h"
#include "loop/code/parts.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* ---- what a kernel is ---- */

void image_describe(struct carry_kernel *k, const struct image_kernel *q)
{
    problem_carry(k, q->p);
    k->add = q->add;
}

/* a copy is one change of layout, from A's order to C's */
static const char *copy_variant(struct carry_variant *v, const struct problem *p)
{
    struct carry_change *c = &v->change[0];
    unsigned seen = 0;
    for (c->nvar = 0; c->nvar < p->nvar; c->nvar++) {    /* slowest in C first */
        int next = -1;
        for (int i = 0; i < p->nvar; i++)
            if (!(seen >> i & 1) && (next < 0 || p->stride[TENSOR_C][i] > p->stride[TENSOR_C][next])) next = i;
        seen |= 1u << next;
        c->size[c->nvar] = p->size[next];
        c->from[c->nvar] = p->stride[TENSOR_A][next];
        c->to[c->nvar] = p->stride[TENSOR_C][next];
    }
    for (int i = c->nvar - 2; i > 0; i--)                /* what is fastest in A stands last but one */
        if (c->from[i - 1] == 1) {
            int32_t size = c->size[i];
            int64_t from = c->from[i], to = c->to[i];
            c->size[i] = c->size[i - 1], c->from[i] = c->from[i - 1], c->to[i] = c->to[i - 1];
            c->size[i - 1] = size, c->from[i - 1] = from, c->to[i - 1] = to;
        }
    if (c->to[c->nvar - 1] != 1) return "its fastest variable has one element";
    v->code = 1;
    return NULL;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

bool image_next(struct image_form *f, const struct image_kernel *q, const struct kernel *g)
{
    bool again = f->unit == UNIT_ALWAYS && g->pairs && f->isa != ISA_AMX;
    f->unit = again ? UNIT_NEVER : UNIT_ALWAYS;
    while (!again && --f->isa >= 0 && !q->nest[f->isa]) {}
    return f->isa >= 0;
}

const char *image_variant(struct carry_kernel *k, int i, struct kernel *g, const struct image_kernel *q,
                          struct image_form f)
{
    enum isa isa = (enum isa)f.isa;
    struct carry_variant *v = &k->variant[i];
    *v = (struct carry_variant){ .need = problem_needs(q->p, isa) };
    if (q->add && (q->p->op == OP_COPY || q->p->op == OP_ADD)) return "only a sum can be added to";
    if (q->p->op == OP_COPY) {
        v->change[0].wide = isa != ISA_AVX2;
        return copy_variant(v, q->p);
    }
    if (q->p->op != OP_FMA) return NULL;                 /* plain loops are all there is, and enough */
    g->add = q->add;
    g->fixed = q->rows;
    g->unit = f.unit;
    const char *why = kernel_encode(g, q->p, q->nest[isa], isa);
    if (why) return why;
    if (g->pairs && isa != ISA_AMX) v->need |= CARRY_AVX512BF16;
    if (q->add && q->p->pair) return "two contractions cannot be added to what is there";
    for (int t = 0; t < 3; t++) {
        bool given = t == TENSOR_B && g->given;
        v->change[t] = g->change[t].change;
        if (given) {
            k->given = most(most(k->given, g->change[t].elements), k->elements[t]);
            v->given = 1;
            v->sums = g->sums;
            continue;
        }
        v->scratch[t] = v->scratch_bytes;
        v->scratch_bytes += (int64_t)g->scratch_bytes[t];
        v->whole[t] = g->change[t].needed;
        if (t == TENSOR_C && g->cast)                    /* what runs it has memory for what is cast */
            v->scratch_bytes -= g->about.elements[TENSOR_C] * 4 & ~(int64_t)63;
    }
    v->scratch[3] = v->scratch_bytes;
    v->scratch[4] = v->scratch[3] + g->second_at * 4;
    v->scratch_bytes += (int64_t)g->scratch_bytes[3];
    return NULL;
}

/* ---- bytes ---- */

static void align(struct image *m, size_t to, char fill)
{
    while (m->bytes.n % to) buf_char(&m->bytes, fill);
}

static struct image_symbol *symbol(struct image *m, const char *name, const char *more)
{
    m->symbol = grow(m->symbol, m->nsymbol + 1, &m->symbol_cap, sizeof *m->symbol);
    struct image_symbol *s = &m->symbol[m->nsymbol++];
    align(m, 16, '\xcc');
    *s = (struct image_symbol){ .at = m->bytes.n };
    snprintf(s->name, sizeof s->name, "%s%s", name, more);
    return s;
}

static void put(struct image *m, const char *code, size_t n) { buf_add(&m->bytes, code, n); }

static void put_distance(struct image *m, size_t to)     /* from after these four bytes */
{
    int32_t d = (int32_t)((int64_t)to - (int64_t)(m->bytes.n + 4));
    put(m, (const char *)&d, 4);
}

static void put_state(struct image *m)
{
    m->site = grow(m->site, m->nsite + 1, &m->site_cap, sizeof *m->site);
    m->site[m->nsite++] = (struct image_site){ m->bytes.n, -4 };
    put(m, "\0\0\0\0", 4);
}

static void stubs(struct image *m, const char *name, bool weights, bool then, size_t k, size_t parts, size_t rows)
{
    struct image_symbol *s = symbol(m, name, "");
    if (then) {
        put(m, "\x48\x8D\x05", 3), put_state(m);         /* lea rax, [state]; push rax; lea r9, [kernel]; call */
        put(m, "\x50\x4C\x8D\x0D", 4), put_distance(m, k);
        put(m, "\xE8", 1), put_distance(m, CARRY_AT_run_then);
        put(m, "\x48\x83\xC4\x08\xC3", 5);              /* add rsp, 8; ret */
    } else {
        put(m, "\x48\x8D\x0D", 3), put_distance(m, k);   /* lea rcx, [kernel]; lea r8, [state]; jmp run */
        put(m, "\x4C\x8D\x05", 3), put_state(m);
        put(m, "\xE9", 1), put_distance(m, CARRY_AT_run);
    }
    s->size = m->bytes.n - s->at;
    if (weights) {                                       /* packed, b in rdi and rsi: lea rdx, [kernel]; jmp */
        s = symbol(m, name, "_pack");                    /* and lea rcx, [state] */
        put(m, "\x48\x8D\x15", 3), put_distance(m, k);
        put(m, "\x48\x8D\x0D", 3), put_state(m);
        put(m, "\xE9", 1), put_distance(m, CARRY_AT_pack);
        s->size = m->bytes.n - s->at;
    }
    if (!weights) {
        s = symbol(m, name, "_ld");
        put(m, "\x48\x83\xEC\x08\x48\x8D\x05", 7), put_state(m);         /* sub rsp, 8; lea rax, [state]; push rax */
        put(m, "\x50\x48\x8D\x05", 4), put_distance(m, k);           /* lea rax, [kernel]; push rax */
        put(m, "\x50", 1);
        if (then) put(m, "\xFF\x74\x24\x28\xFF\x74\x24\x28", 8);       /* the caller's two: push [rsp + 40], twice */
        else put(m, "\x6A\x00\x6A\x00", 4);              /* push 0, twice */
        put(m, "\xE8", 1), put_distance(m, CARRY_AT_run_ld);
        put(m, "\x48\x83\xC4\x28\xC3", 5);            /* add rsp, 40; ret */
        s->size = m->bytes.n - s->at;
    }
    if (parts) {
        s = symbol(m, name, "_part");
        put(m, "\x48\x8D\x05", 3), put_state(m);         /* lea rax, [state]; push rax; lea rax, [parts]; push rax */
        put(m, "\x50\x48\x8D\x05", 4), put_distance(m, parts);
        put(m, "\x50", 1);
        if (then) put(m, "\xFF\x74\x24\x18", 4);        /* the caller's residual: push [rsp + 24] */
        else put(m, "\x45\x31\xC9\x6A\x00", 5);         /* xor r9d, r9d; push 0 */
        put(m, "\xE8", 1), put_distance(m, CARRY_AT_run_part);
        put(m, "\x48\x83\xC4\x18\xC3", 5);            /* add rsp, 24; ret */
        s->size = m->bytes.n - s->at;
    }
    if (rows) {
        s = symbol(m, name, "_rows");
        put(m, "\x50\x48\x8D\x05", 4), put_state(m);     /* push rax, and with [state], and with [rows] in it */
        put(m, "\x50\x48\x8D\x05", 4), put_distance(m, rows);
        put(m, "\x50", 1);
        if (!then) put(m, "\x45\x31\xC0\x45\x31\xC9", 6); /* xor r8d, r8d; xor r9d, r9d */
        put(m, "\xE8", 1), put_distance(m, CARRY_AT_run_rows);
        put(m, "\x48\x83\xC4\x18\xC3", 5);            /* add rsp, 24; ret */
        s->size = m->bytes.n - s->at;
    }
    static const struct { const char *name; long at; } ask[] = {
        { "_test", CARRY_AT_test }, { "_isa", CARRY_AT_level }, { "_scratch", CARRY_AT_scratch } };
    for (int i = 0; i < 3; i++) {
        s = symbol(m, name, ask[i].name);
        const size_t all = i ? 0 : parts ? parts : rows; /* lea rdi, [kernel or parts]; lea rsi, [state]; jmp */
        const long test = parts ? CARRY_AT_test_parts : CARRY_AT_test_rows;
        put(m, "\x48\x8D\x3D", 3), put_distance(m, all ? all : k);
        put(m, "\x48\x8D\x35", 3), put_state(m);
        put(m, "\xE9", 1), put_distance(m, (size_t)(all ? test : ask[i].at));
        s->size = m->bytes.n - s->at;
    }
}

void image_begin(struct image *m)
{
    *m = (struct image){ 0 };
    put(m, (const char *)carry_bytes, sizeof carry_bytes);
}

/* a kernel with its code, without a name; where it begins */
static const char *add_kernel(struct image *m, const struct image_kernel *q, struct carry_kernel *k, size_t *to)
{
    struct kernel g = { 0 };
    const char *why = NULL, *none = "there is no nest for it";
    image_describe(k, q);
    align(m, 64, '\xcc');
    size_t at = *to = m->bytes.n;
    put(m, (const char *)k, sizeof *k);
    struct image_form f = { .isa = ISAS };
    for (int n = 0; image_next(&f, q, &g); ) {
        why = image_variant(k, n, &g, q, f);
        none = NULL;
        if (why) break;
        n++;
        if (q->p->op != OP_FMA) continue;
        align(m, 64, '\xcc');
        k->variant[n - 1].code = (int64_t)(m->bytes.n - at);
        put(m, (const char *)kernel_bytes(&g), g.bytes);
    }
    kernel_free(&g);
    memcpy(m->bytes.s + at, k, sizeof *k);
    return why ? why : none;
}

/* are weights of a chunk a block of all columns', as these are packed? */
static bool same_weights(const struct carry_kernel *all, const struct carry_kernel *some, int blocks)
{
    for (int i = 0; i < CARRY_VARIANTS; i++) {
        const struct carry_variant *v = &all->variant[i], *w = &some->variant[i];
        const struct carry_change *x = &v->change[TENSOR_B], *y = &w->change[TENSOR_B];
        if (!v->need != !w->need) return false;
        if (!v->need) continue;
        if (!v->given || !w->given || v->sums != w->sums || (blocks > 1 && x->nvar != 3)) return false;
        if (x->nvar != y->nvar ? y->nvar != 2 || y->to[0] != x->to[1]
                               : memcmp(x->to, y->to, sizeof x->to) || (x->nvar == 3 && x->size[2] != y->size[2]))
            return false;
    }
    return true;
}

static const char *add_rows(struct image *m, const struct image_kernel *q, const struct carry_kernel *all, size_t at,
                            size_t *rows)
{
    struct image_rows *x = xcalloc(1, sizeof *x);
    struct carry_kernel k;
    size_t of[CARRY_ROWS + 1] = { at };
    const char *why = many_plan(x, q);
    for (int r = 1; r <= x->about.most && !why; r++) {
        struct image_kernel some = *q;
        some.p = &x->chunk[r];
        for (int i = 0; i < ISAS; i++)
            if (q->nest[i]) some.nest[i] = &x->nest[r][i];
        why = add_kernel(m, &some, &k, &of[r]);
        if (!why && !same_weights(all, &k, x->about.blocks)) why = "weights of a chunk would be packed otherwise";
    }
    align(m, 64, '\xcc');
    *rows = m->bytes.n;
    for (int r = 0; r <= x->about.most; r++) x->about.at[r] = (int64_t)of[r] - (int64_t)*rows;
    put(m, (const char *)&x->about, sizeof x->about);
    free(x);
    return why;
}

const char *image_add(struct image *m, const struct image_kernel *q)
{
    struct carry_kernel k, some;
    size_t had = m->bytes.n, at, parts = 0, rows = 0;
    const char *why = add_kernel(m, q, &k, &at);
    if (!why && q->parts) {
        struct image_parts cut;
        parts_plan(&cut, q);
        struct image_kernel part = *q;
        size_t of[CARRY_CHUNKS] = { at };
        for (int i = 1; i < cut.about.chunks && !why; i++) {
            part.p = &cut.chunk[i];
            why = add_kernel(m, &part, &some, &of[i]);
        }
        align(m, 64, '\xcc');
        parts = m->bytes.n;
        for (int i = 0; i < cut.about.chunks; i++) cut.about.chunk[i].at = (int64_t)of[i] - (int64_t)parts;
        put(m, (const char *)&cut.about, sizeof cut.about);
    }
    if (!why && q->rows) why = add_rows(m, q, &k, at, &rows);
    if (why) {
        m->bytes.n = had;
        return why;
    }
    stubs(m, q->name, q->p->weights, k.then[0] || k.pair, at, parts, rows);
    return m->bytes.n > 1u << 30 ? "more than 1 GiB of code" : NULL;
}

const struct image_symbol *image_find(const struct image *m, const char *name)
{
    for (size_t i = 0; i < m->nsymbol; i++)
        if (!strcmp(m->symbol[i].name, name)) return &m->symbol[i];
    return NULL;
}

void *image_load(const struct image *m)
{
    size_t code = (m->bytes.n + PAGE - 1) / PAGE * PAGE, all = code + PAGE;
    uint8_t *x = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED) return NULL;
    memcpy(x, m->bytes.s, m->bytes.n);
    for (size_t i = 0; i < m->nsite; i++) {
        int32_t d = (int32_t)((int64_t)code + m->site[i].add - (int64_t)m->site[i].at);
        memcpy(x + m->site[i].at, &d, 4);
    }
    if (!mprotect(x, code, PROT_READ | PROT_EXEC)) return x;
    munmap(x, all);
    return NULL;
}

void image_free(struct image *m)
{
    free(m->bytes.s);
    free(m->symbol);
    free(m->site);
    *m = (struct image){ 0 };
}

/* ---- the header ---- */

static const struct image_types { const char *c, *a, *b; } image_type[] = {
    [TYPE_F32] = { "float", "float", "float" }, [TYPE_BF16] = { "float", "uint16_t", "uint16_t" },
    [TYPE_U8S8] = { "int32_t", "uint8_t", "int8_t" }, [TYPE_F64] = { "double", "double", "double" } };

const char *image_weights(const struct problem *p) { return p->q4 ? "uint32_t" : image_type[p->type].b; }

void image_declare(struct buf *b, const struct image_kernel *q, enum image_call call)
{
    bool ld = call == CALL_LD;
    const struct problem *p = q->p;
    const struct image_types t = image_type[p->type];
    const char *in_a = p->sign ? t.b : t.a;
    const char *f = p->type == TYPE_F64 ? "double" : "float";
    const char *c = problem_cast(p) ? "uint16_t" : p->then[0] ? f : t.c;
    const char *in = p->store < STORE_F16 ? NULL : problem_bytes(p, TENSOR_A) == 1 ? "uint8_t" : "uint16_t";
    buf_format(b, "int %s%s(%s%s *c, %s", q->name, (const char *[]){ "", "_ld", "_part", "_rows" }[call],
               call == CALL_PART ? "int thread, int threads, " : call == CALL_ROWS ? "int64_t rows, " : "", c,
               ld ? "int64_t ldc, " : "");
    buf_format(b, "const %s *a, %sconst %s *b%s", in ? in : in_a, ld ? "int64_t lda, " : "", in ? in : image_weights(p),
               ld ? ", int64_t ldb" : "");
    if (p->pair) buf_format(b, ", const %s *v%s", in ? in : t.b, ld ? ", int64_t ldv" : "");
    else if (p->then[0]) buf_format(b, ", const %s *bias, const %s *residual", f, f);
    buf_char(b, ')');
}

bool image_has(const struct image_kernel *q, enum image_call call)
{
    return call == CALL_PLAIN || (call == CALL_LD ? !q->p->weights : call == CALL_PART ? q->parts : q->rows);
}

int64_t image_packed(const struct image_kernel *q)
{
    int64_t n = q->p->elements[TENSOR_B];
    struct kernel_plan plan;
    struct plan_ask ask = { .add = q->add, .rows = q->rows };
    for (ask.isa = ISA_AVX2; ask.isa < ISAS; ask.isa++)
        if (q->nest[ask.isa] && !kernel_plan_asked(&plan, q->p, q->nest[ask.isa], &ask)) n = most(n, plan.given);
    return n;
}

void image_header(FILE *f, const struct image_kernel *q, size_t n)
{
    uint64_t guard = 0;                                  /* a program may have several headers: one for other names */
    for (size_t i = 0; i < n; i++) guard = hash_bytes(q[i].name, strlen(q[i].name), guard);
    fprintf(
        f,
        "/* Kernels by loop-emit.  Tensors are row-major and dense; NAME_ld has rows of the last dimension ld\n"
        " * elements apart, a residual as c.  No tensor may overlap c.  All return 0, or 12 (ENOMEM): a call takes\n"
        " * NAME_scratch() bytes from the system, and keeps them.  NAME_test() is 0 when it is right;\n"
        " * NAME_isa() says what it runs with here: bits 1 AVX2, 2 AVX-512, 4 its BF16, 8 its VNNI, 32 AMX of\n"
        " * bf16, 64 of bytes; 0 plain loops.  What NAME_pack makes is for the machine where it was made.\n"
        " * NAME_part(i, n, ..) for each i from 0 to n - 1, in any order or at once, is NAME(..). */\n"
        "#ifndef LOOP_EMIT_%016llX_H\n#define LOOP_EMIT_%016llX_H\n#include <stdint.h>\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
        (unsigned long long)guard, (unsigned long long)guard);
    for (size_t i = 0; i < n; i++) {
        const int64_t *e = q[i].p->elements;
        const char *s = q[i].name;
        fprintf(f, "\n/* %s: c %s; elements: c %lld, a %lld%s, b %lld */\n", q[i].p->text,
                q[i].add ? "is added to" : "is overwritten", (long long)e[TENSOR_C],
                (long long)e[TENSOR_A] * q[i].p->group, q[i].p->pad.n ? " without its zeros" : "",
                (long long)e[TENSOR_B] * q[i].p->group);
        struct buf b = { 0 };
        for (int call = 0; call < CALLS; call++)
            if (image_has(&q[i], (enum image_call)call)) {
                image_declare(&b, &q[i], (enum image_call)call);
                buf_add(&b, ";\n", 2);
            }
        fputs(b.s, f);
        free(b.s);
        if (q[i].parts) {
            struct image_parts cut;
            parts_plan(&cut, &q[i]);
            if (cut.why) fprintf(f, "/* NAME_part: the last thread does all, %s */\n", cut.why);
            else fprintf(f, "/* NAME_part: %d units along %s */\n", cut.about.size / cut.about.unit,
                         q[i].p->name[cut.var]);
        }
        if (q[i].p->pair) fprintf(f, "/* v: %lld elements */\n", (long long)q[i].p->elements[TENSOR_V]);
        if (q[i].p->then[0])
            fprintf(f, "/* bias: %lld elements%s%s; residual as c%s */\n",
                    (long long)q[i].p->bias * q[i].p->biases,
                    (const char *[]){ "", ": the bias, a gain", ": the bias, a gain, a shift" }[q[i].p->biases - 1 -
                                                                                             !!q[i].p->scale],
                    !q[i].p->scale ? "" : q[i].p->norm < 0 ? ": the bias, a scale" : ", a scale",
                    q[i].p->type == TYPE_F64 ? "" : ", in floats");
        if (q[i].p->weights)
            fprintf(f, "enum { %s_packed = %lld };   /* elements of b, which %s_pack makes of b%s */\n"
                       "void %s_pack(%s *packed, const %s *b);\n",
                    s, (long long)image_packed(&q[i]) * q[i].p->group, s,
                    q[i].p->group > 1 ? ", row-major [k][n]" : !q[i].p->q4 ? " as the problem has it" :
                    q[i].p->zeros ? "[k/8][n], scale[k/g][n], zero[k/g][n]" : "[k/8][n], scale[k/g][n]",
                    s, image_weights(q[i].p), image_weights(q[i].p));
        fprintf(f, "int %s_test(void);\nint %s_isa(void);\nint64_t %s_scratch(void);\n", s, s, s);
    }
    fprintf(f, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

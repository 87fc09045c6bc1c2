#include "loop/code/kernel.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/code/ir.h"
#include "loop/code/machine.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REGION = 1 << 20 };

/* ---- making one ---- */

static float *scratch_of(float *old, size_t *have, size_t bytes)
{
    if (bytes <= *have) return old;
    free(old);
    float *x = aligned_alloc(64, bytes);
    if (!x) die("out of memory");
    *have = bytes;
    return x;
}

/* bytes to the floats that are cast in the end: behind the transposed ones, where C is transposed */
static int64_t cast_at(const struct kernel *g)
{
    return g->change[TENSOR_C].needed ? (g->plan->scratch[TENSOR_C] + 63) & ~(int64_t)63 : 0;
}

/* where the code says that it needs them: of each tensor, of S */
static void get_scratch(struct kernel *g)
{
    const struct loop_plan *q = g->plan;
    for (int t = 0; t < 4; t++) {
        int64_t bytes = q->scratch[t];
        if (t == TENSOR_C && q->cast) bytes = cast_at(g) + q->p->elements[TENSOR_C] * 4;
        g->scratch_bytes[t] = bytes ? ((size_t)bytes + 127) & ~(size_t)63 : 0;
        if (g->text) continue;
        g->scratch[t] = scratch_of(g->scratch[t], &g->scratch_room[t], g->scratch_bytes[t]);
    }
}

static void describe(struct kernel *g, const struct problem *p)
{
    const struct loop_plan *q = g->plan;
    g->rows = q->rows;
    g->vectors = q->vectors;
    g->vector_var = q->part[0].vec;
    memcpy(g->change, q->before, sizeof g->change);
    g->given = q->given;
    g->sums = q->given ? q->before[TENSOR_B].sums : 0;
    g->pairs = q->pairs;
    g->cast = q->cast;
    g->second_at = q->second_at;
    problem_carry(&g->about, p);
}

static size_t used_pages(const struct kernel *g)         /* only what is run changes its protection: 5 us less */
{
    return (g->bytes + 4095) & ~(size_t)4095;
}

/* does it fit? */
static bool write_code(struct kernel *g)
{
    if (!g->region) {
        g->region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (g->region == MAP_FAILED) die_errno("cannot get memory for code");
    } else if (g->bytes && mprotect(g->region, used_pages(g), PROT_READ | PROT_WRITE)) {
        die_errno("cannot make memory for code writable");
    }
    struct machine_code code = { .to = g->region, .room = REGION };
    ins_bytes(g->ir, &code);
    const bool fits = code.n <= REGION;
    g->bytes = fits ? code.n : REGION;
    if (mprotect(g->region, used_pages(g), PROT_READ | PROT_EXEC)) die_errno("cannot make code executable");
    return fits;
}

static const char *make(struct kernel *g, const struct problem *p, const struct nest *t, struct plan_ask ask)
{
    const char *why = loop_plan_make(g->plan, p, t, &ask);
    if (why) return why;
    describe(g, p);
    get_scratch(g);
    ins_lower(g->ir, g->plan);
    ins_fold(g->ir);
    why = ins_assign(g->ir);
    if (why) return why;
    if (g->text) ins_text(g->ir, g->text);
    else if (!write_code(g)) return "the code is longer than 1 MiB";
    return NULL;
}

const char *kernel_encode(struct kernel *g, const struct problem *p, const struct nest *t, enum isa isa)
{
    struct plan_ask ask = { .isa = isa, .whole = g->whole, .add = g->add, .unit = g->unit,
                            .rows = g->fixed };
    if (!g->plan) g->plan = xcalloc(1, sizeof *g->plan), g->ir = xcalloc(1, sizeof *g->ir);
    g->isa = isa;
    const char *why = make(g, p, t, ask);
    if (!why || !g->plan->simple || g->text) return why;
    ask.calls = true;                                    /* what follows in registers is code of its own */
    return make(g, p, t, ask);
}

const char *kernel_plan(struct kernel_plan *out, const struct problem *p, const struct nest *t, enum isa isa,
                        bool whole)
{
    return kernel_plan_asked(out, p, t, &(struct plan_ask){ .isa = isa, .whole = whole });
}

const char *kernel_plan_asked(struct kernel_plan *out, const struct problem *p, const struct nest *t,
                              const struct plan_ask *ask)
{
    struct loop_plan q;                                       /* large, and but for its lists made anew each time */
    struct plan_cost c;
    q.node = NULL, q.tile = NULL, q.out = NULL, q.change = NULL;
    q.most_nodes = q.most_tiles = q.most_out = q.most_changes = 0;
    const char *why = loop_plan_make(&q, p, t, ask);
    if (!why) loop_plan_count(&q, machine_here(), &c);
    bool apart = false;
    for (int i = 0; i < q.ntile && !why; i++) apart |= q.tile[i].ahead && !q.tile[i].lanes;
    loop_plan_free(&q);
    if (why) return why;
    *out = (struct kernel_plan){ .vector_var = q.part[0].vec, .rows = q.rows, .vectors = q.vectors,
                                 .nodes = q.n + q.nout,
                                 .step_var = q.target->tiles && !p->pair ? q.part[0].step : -1, .step = TILE_SIDE,
                                 .cycles = c.cycles, .moved = q.before_moved + c.moved,
                                 .copied = q.before_copied + c.copied, .far = q.before_far, .packs = c.packs,
                                 .pairs = q.pairs, .apart = apart, .packed = { q.walked[0], q.walked[1] || q.given },
                                 .given = q.given ? q.before[TENSOR_B].elements : 0 };
    memcpy(out->stride, q.seen, sizeof out->stride);
    return NULL;
}

const uint8_t *kernel_bytes(const struct kernel *g) { return g->region; }

void kernel_free(struct kernel *g)
{
    if (g->region) munmap(g->region, REGION);
    for (int t = 0; t < 4; t++) free(g->scratch[t]);
    if (g->plan) loop_plan_free(g->plan), ins_free(g->ir);
    free(g->plan);
    free(g->ir);
    *g = (struct kernel){ 0 };
}

void kernel_print(struct buf *b, const struct problem *p, const struct nest *t, enum isa isa, bool add,
                  bool instructions)
{
    struct kernel g = { .add = add };
    struct plan_cost c;
    const char *why = kernel_encode(&g, p, t, isa);
    if (why) buf_format(b, "%s\n", why);
    else if (instructions) ins_print(b, g.ir);
    if (!why && !instructions) {
        loop_plan_print(b, g.plan);
        loop_plan_count(g.plan, machine_here(), &c);
        buf_format(b, "%.0f cycles if all is near; macs %.0f, loads %.0f, broadcasts %.0f, stores %.0f, calls %.0f\n",
                   c.cycles, c.count.mac, c.count.load, c.count.spread, c.count.store, c.count.calls);
    }
    kernel_free(&g);
}

/* ---- running it ---- */

/* sum: what C's code fills; why: of the interpreter */
struct job { const struct kernel *g; float *sum; void *out; const float *a, *b; };

static struct carry_context context(const struct job *j)
{
    const struct kernel *g = j->g;
    const bool wide = g->isa != ISA_AVX2, pair = g->about.pair;
    struct carry_context x = { { g->scratch[0], g->scratch[1],
                                 pair ? g->scratch[3] + carry_rows(&g->about) : NULL },
                               carry_forth, wide ? carry_finish16 : carry_finish8,
                               wide ? carry_between16 : carry_between8, carry_hidden, pair ? g->scratch[3] : NULL,
                               &g->about, j->sum, j->out, g->extra };
    if (g->plan->staged) x.scratch[2] = g->scratch[3];
    if (g->second_at) x.extra.second = g->scratch[3] + g->second_at;
    return x;
}

/* bytes that each base leads to */
static void sizes(const struct kernel *g, int64_t bytes[BASES])
{
    const struct carry_kernel *k = &g->about;
    const int64_t word = k->type == CARRY_F64 ? 8 : 4, in = k->store >= CARRY_HALVES_F16 ? 2 : word;
    for (int t = 0; t < 3; t++)
        bytes[t] = g->change[t].needed || (t == TENSOR_C && g->cast) ? (int64_t)g->scratch_bytes[t]
                                                                      : k->elements[t] * (t == TENSOR_C ? word : in);
    bytes[BASE_BIAS] = (k->bias + k->scales) * word;
    bytes[BASE_RESIDUAL] = k->elements[TENSOR_C] * word;
    bytes[BASE_SECOND] = g->second_at ? (int64_t)g->scratch_bytes[3] - g->second_at * 4 : k->elements[TENSOR_V] * 4;
}

static int problem_cpu(enum isa isa) { return isa == ISA_AVX2 ? CARRY_AVX2 : CARRY_AVX512 | CARRY_AVX2; }

void kernel_prepare(const struct kernel *g, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (t == TENSOR_A && g->about.pad.n && g->change[t].needed)
            carry_surround(&g->about.pad, g->about.store, a, g->scratch[t], problem_cpu(g->isa));
        else if (g->change[t].needed && !(t == TENSOR_B && g->given))
            carry_forth(&g->change[t].change, in[t], g->scratch[t]);
    if (!g->second_at) return;
    if (g->pairs) {
        carry_pairs(&g->about, g->extra.second, g->scratch[3] + g->second_at);
        return;
    }
    struct carry_change flat = { .nvar = 1, .wide = g->isa != ISA_AVX2, .store = g->about.store,
                                 .size[0] = (int32_t)g->about.elements[TENSOR_V] };
    flat.from[0] = flat.to[0] = 1;
    carry_forth(&flat, g->extra.second, g->scratch[3] + g->second_at);
}

void kernel_weights(const struct kernel *g, const float *b)
{
    if (!g->given) return;
    struct carry_variant v = { .given = 1, .sums = g->sums };
    v.change[TENSOR_B] = g->change[TENSOR_B].change;
    if (g->about.q4) carry_groups(g->scratch[TENSOR_B], b, &g->about, &v);
    else carry_forth(&v.change[TENSOR_B], b, g->scratch[TENSOR_B]);
    carry_sums(g->scratch[TENSOR_B], &g->about, &v);
}

static struct job job_of(const struct kernel *g, float *c, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (g->change[t].needed) in[t] = g->scratch[t];
    float *sum = g->change[TENSOR_C].needed || g->cast ? g->scratch[TENSOR_C] : c;
    return (struct job){ g, sum, g->cast ? c : sum, in[0], in[1] };
}

void kernel_body(const struct kernel *g, float *c, const float *a, const float *b)
{
    const struct job j = job_of(g, c, a, b);
    struct carry_context x = context(&j);
    ((carry_code *)(uintptr_t)g->region)(j.sum, j.a, j.b, &x);
}

const char *kernel_interpret(const struct kernel *g, float *c, const float *a, const float *b)
{
    const struct job j = job_of(g, c, a, b);
    struct carry_context x = context(&j);
    int64_t bytes[BASES];
    char *const base[BASES] = { (char *)(uintptr_t)j.a, (char *)(uintptr_t)j.b, (char *)j.sum,
                                (char *)(uintptr_t)x.extra.bias, (char *)(uintptr_t)x.extra.residual, NULL,
                                (char *)(uintptr_t)x.extra.second };
    kernel_prepare(g, a, b);
    sizes(g, bytes);
    const char *why = ins_run(g->ir, base, bytes, &x);
    kernel_finish(g, c);
    return why;
}

void kernel_finish(const struct kernel *g, float *c)
{
    if (!g->change[TENSOR_C].needed) return;
    float *sum = g->cast ? (float *)(void *)((char *)g->scratch[TENSOR_C] + cast_at(g)) : c;
    carry_back(&g->change[TENSOR_C].change, g->scratch[TENSOR_C], sum);
    if (g->about.then[0]) carry_finish_all(&g->about, sum, c, g->extra);
}

void kernel_run(const struct kernel *g, float *c, const float *a, const float *b)
{
    kernel_prepare(g, a, b);
    kernel_body(g, c, a, b);
    kernel_finish(g, c);
}

#include "amx.h"
#include "base/message.h"
#include "base/rng.h"
#include "dies.h"
#include "loop/code/ir.h"
#include "loop/code/kernel.h"
#include "loop/code/machine.h"
#include "tap.h"
#include <stdlib.h>
#include <sys/mman.h>

/* Whole kernels of AMX against plain loops: natively where a machine has it, elsewhere by the emulator of amx.h. */

enum { GUARD = 4096, PAGE = 4096 };
static int below(struct rng *r, int n) { return (int)rng_below(r, (uint64_t)n); }

/* n bytes that end where memory does: what is read or written beyond them ends the program */
static void *edge(size_t n)
{
    size_t all = (n + PAGE - 1) / PAGE * PAGE + PAGE;
    char *m = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED || mprotect(m + all - PAGE, PAGE, PROT_NONE)) abort();
    return m + all - PAGE - n;
}

static void edge_free(void *m, size_t n)
{
    size_t all = (n + PAGE - 1) / PAGE * PAGE + PAGE;
    munmap((char *)m + n + PAGE - all, all);
}

static void draw(struct rng *r, struct problem *p)
{
    static const char *const words[] = { "bias", "residual", "relu", "(over 4)", "gelu", "bf16" };
    char text[200];
    int size[3], bf16 = below(r, 2);
    for (int i = 0; i < 3; i++) size[i] = below(r, 3) ? 1 + below(r, 70) : 16 * (1 + below(r, 5));
    if (below(r, 5) == 0) {                              /* both contractions of attention */
        const bool causal = below(r, 3) == 0 && size[0] <= size[1];
        snprintf(text, sizeof text, "(attn%s %d %d %d %d (type bf16))", causal ? "_causal" : "", 1 + below(r, 3),
                 size[0], size[1], 2 * (1 + size[2] / 2));
        problem_parse(p, str_of(text), text);
        return;
    }
    size_t n = (size_t)snprintf(text, sizeof text, "(%s %d %d %d",
                                bf16 ? "mm_bf16" : below(r, 2) ? "mm_u8s8" : "mm_s8s8", size[0],
                                size[1] * (below(r, 4) ? 1 : 3), size[2] * (bf16 ? 2 : 4));
    if (below(r, 4) == 0) {                              /* something follows the sum */
        n += (size_t)snprintf(text + n, sizeof text - n, " (then %s", words[below(r, 5)]);
        for (int i = 0; i < 6; i++)
            if (below(r, 3) == 0 && !strstr(text, words[i]))
                n += (size_t)snprintf(text + n, sizeof text - n, " %s", words[i]);
        n += (size_t)snprintf(text + n, sizeof text - n, ")");
    }
    snprintf(text + n, sizeof text - n, ")");
    problem_parse(p, str_of(text), text);
}

/* small integers, so that every order of a sum is exact; bytes of all values, as their sums are */
static void fill(struct rng *r, enum problem_type type, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        union { float f; uint32_t u; } a = { (float)(below(r, 9) - 4) }, b = { (float)(below(r, 9) - 4) };
        if (type == TYPE_BF16) a.u = a.u >> 16 | (b.u & 0xffff0000);
        if (type == TYPE_U8S8) a.u = (uint32_t)rng_u64(r);
        memcpy(x + i, &a, 4);
    }
}

/* tensor t: in front of a page that nobody may touch */
static size_t bytes_of(const struct problem *p, int t)
{
    return (size_t)p->elements[t] * (size_t)(t == TENSOR_C ? 4 : problem_bytes(p, t));
}

static float *some(struct rng *r, const struct problem *p, int t)
{
    const bool halves = t != TENSOR_C && p->store == STORE_BF16;
    const size_t n = bytes_of(p, t);
    float *drawn = xcalloc(n / 4 + 1, 4), *x = edge(n);
    fill(r, halves ? TYPE_BF16 : t == TENSOR_C ? TYPE_F32 : p->type, drawn, (int64_t)((n + 3) / 4));
    memcpy(x, drawn, n);
    free(drawn);
    return x;
}

static int interpreted;

/* one nest; is its result that of plain loops? */
static bool agrees(struct rng *r, struct kernel *g, const struct problem *p, bool add)
{
    float *x[4], *bias = edge((size_t)p->bias * 4), *residual = edge((size_t)p->elements[TENSOR_C] * 4);
    size_t bytes = (size_t)p->elements[TENSOR_C] * 4;
    float *want = xmalloc(bytes, 1), *had = xmalloc(bytes, 1);
    float *within = xcalloc((size_t)p->elements[TENSOR_C], sizeof *within);
    long over = 0;
    for (int i = 0; i < 4; i++) x[i] = some(r, p, i);
    if (add && p->type == TYPE_U8S8) memset(x[TENSOR_C], 1, bytes);
    fill(r, TYPE_F32, bias, p->bias);
    fill(r, TYPE_F32, residual, p->elements[TENSOR_C]);
    g->extra = (struct carry_extra){ bias, residual, x[TENSOR_V] };
    memcpy(want, x[TENSOR_C], bytes);
    memcpy(had, x[TENSOR_C], bytes);
    if (add) {
        struct carry_kernel k;
        problem_carry(&k, p);
        k.add = true;
        carry_plain(&k, want, x[TENSOR_A], x[TENSOR_B]);
    } else {
        problem_reference(p, want, within, x[TENSOR_A], x[TENSOR_B], g->extra);
    }
    for (int i = 0; i < 4; i++) {                        /* what it says that it needs, and a guard behind that */
        free(g->scratch[i]);
        g->scratch_room[i] = g->scratch_bytes[i];
        g->scratch[i] = g->scratch_bytes[i] ? aligned_alloc(64, g->scratch_bytes[i] + GUARD) : NULL;
        if (g->scratch[i]) memset(g->scratch[i], 0xa5, g->scratch_bytes[i] + GUARD);
    }
    kernel_weights(g, x[TENSOR_B]);
    kernel_run(g, x[TENSOR_C], x[TENSOR_A], x[TENSOR_B]);
    for (int i = 0; i < 4; i++)
        for (size_t j = 0; g->scratch[i] && j < GUARD; j++)
            over += ((const uint8_t *)g->scratch[i])[g->scratch_bytes[i] + j] != 0xa5;
    bool good = problem_equal(p, x[TENSOR_C], want, within) && !over;
    memcpy(x[TENSOR_C], had, bytes);
    if (good && problem_flops(p) < 2e5) {                /* the same by the instructions one by one */
        const char *why = kernel_interpret(g, x[TENSOR_C], x[TENSOR_A], x[TENSOR_B]);
        good = !why && problem_equal(p, x[TENSOR_C], want, within);
        interpreted++;
    }
    free(had);
    for (int i = 0; i < 4; i++) edge_free(x[i], bytes_of(p, i));
    edge_free(bias, (size_t)p->bias * 4);
    edge_free(residual, (size_t)p->elements[TENSOR_C] * 4);
    free_all(want, within);
    return good;
}

static int compare(uint64_t seed, int pairs, int *tried, int *types)
{
    struct rng r = rng_for(seed, str_of("amx"));
    struct kernel g = { 0 };
    int bad = 0;
    for (int i = 0; i < pairs; ++*tried) {
        struct problem p;
        struct nest t;
        draw(&r, &p);
        nest_reset(&p, &t);
        for (int n = below(&r, 25); n > 0; n--) {
            int a = below(&r, ACT_COUNT + 1);
            nest_act(&p, &t, a == ACT_COUNT ? ACT_SPLIT_ANY + 2 + below(&r, 40) : a, RULE_NONE);
        }
        g.add = !p.then[0] && !p.pair && below(&r, 5) == 0;
        struct kernel_plan plan;
        const char *why = kernel_encode(&g, &p, &t, ISA_AMX), *no = kernel_plan(&plan, &p, &t, ISA_AMX, false);
        int64_t given = g.given ? g.change[TENSOR_B].elements : 0;
        if (!why != !no || (!why && (plan.rows != g.rows || plan.vectors != g.vectors || plan.given != given))) bad++;
        if (why) continue;
        i++;
        types[p.pair ? 2 : p.type == TYPE_BF16]++;
        if (agrees(&r, &g, &p, g.add)) continue;
        struct buf b = { 0 };
        nest_print(&b, &p, &t);
        if (bad++ < 5) printf("# differs: %s %s\n", p.text, b.s);
        free(b.s);
    }
    kernel_free(&g);
    return bad;
}

/* ---- the emulator itself, on a single multiplication ---- */

enum what { GOOD, UNSHAPED, TWICE, MIXED };

static struct ins *put(struct ir *x, enum ins_op op, int d, int base, int disp)
{
    struct ins *i = ins_put(x, op);
    i->d = d, i->base = (uint8_t)base, i->disp = disp;
    return i;
}

static void one_tile(enum what what, enum carry_type type, float *c, const void *a, const void *b)
{
    static struct problem none;
    static struct loop_plan q;
    struct ir x = { .q = &q };
    uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    q.p = &none, q.target = &target_of[ISA_AMX], q.type = type;
    q.nshape = 1, q.shape[0] = (struct tile_shape){ 3, 5, 2 };
    ins_put(&x, INS_ENTER);
    if (what != UNSHAPED) put(&x, INS_SHAPE, -1, 0, 0);
    put(&x, INS_STRIDE, -1, BASE_A, 8);
    put(&x, INS_STRIDE, -1, BASE_B, 20);
    put(&x, INS_STRIDE, -1, BASE_C, 24);
    put(&x, INS_TILE_LOAD, 0, BASE_C, 0);
    put(&x, INS_TILE_LOAD, 5, BASE_A, 0);
    put(&x, INS_TILE_LOAD, 7, BASE_B, 0);
    struct ins *m = put(&x, INS_TILE_MAC, 0, 0, 0);
    m->a = what == TWICE ? 0 : 5, m->b = what == MIXED ? 6 : 7;
    put(&x, INS_TILE_STORE, 0, BASE_C, 0);
    ins_put(&x, INS_LEAVE);
    struct machine_code code = { .to = memory, .room = 2 * PAGE };
    ins_bytes(&x, &code);
    ins_free(&x);
    if (mprotect(memory, 2 * PAGE, PROT_READ | PROT_EXEC)) abort();
    ((carry_code *)(uintptr_t)memory)(c, a, b, NULL);
    munmap(memory, 2 * PAGE);
}

static void wrong(const void *what)
{
    float c[18] = { 0 }, a[6] = { 0 }, b[10] = { 0 };
    one_tile(*(const enum what *)what, CARRY_BF16, c, a, b);
}

static void emulator(void)
{
    static const enum what each[] = { UNSHAPED, TWICE, MIXED };
    static const char *const said[] = { "no shape yet", "twice", "do not go together" };
    int told = 0;
    for (int i = 0; i < 3; i++) told += run_child(wrong, &each[i]) == 3 && strstr(dies_said, said[i]);
    ok(told == 3, "what would be a fault ends the program with its reason");
    uint8_t x[3][8], y[2][5][4];
    int32_t c[3][6], bad = 0;                            /* rows of C are 6 apart, the sixth stays */
    for (int i = 0; i < 24; i++) x[i / 8][i % 8] = (uint8_t)(i * 11 + 5), (&c[0][0])[i % 18] = 7;
    for (int i = 0; i < 40; i++) (&y[0][0][0])[i] = (uint8_t)(i * 37 + 100);
    one_tile(GOOD, CARRY_U8S8, (float *)c, x, y);
    for (int i = 0; i < 18; i++) {
        int32_t want = 7;
        for (int k = 0; k < 8 && i % 6 < 5; k++) want += x[i / 6][k] * (int8_t)y[k / 4][i % 6][k % 4];
        bad += c[i / 6][i % 6] != want;
    }
    ok(!bad, "a small tile of bytes, rows apart");
    float f[18] = { 0 }, pairs[6], columns[10];          /* pairs: 1 and 2^-133, a denormal; or 2^-100 twice */
    uint32_t one = 0x00013f80, small = 0x0d800d80;
    for (int i = 0; i < 6; i++) memcpy(&pairs[i], i < 2 ? &one : &small, 4);
    for (int i = 0; i < 10; i++) memcpy(&columns[i], &one, 4);
    f[17] = 3;
    one_tile(GOOD, CARRY_BF16, f, pairs, columns);
    ok(f[0] == 2 && f[4] == 2 && f[5] == 0 && f[6] == 0x1p-99f && f[16] == 0x1p-99f && f[17] == 3,
       "a denormal is nothing");
    for (int i = 0; i < 10; i++) memcpy(&columns[i], &small, 4);
    one_tile(GOOD, CARRY_BF16, f, pairs, columns);
    ok(f[0] == 2 && f[6] == 0x1p-99f, "nor is what would become one");
}

/* what a Sapphire Rapids says, or without one thing or another */
static void detection(void)
{
    enum { ALL = CARRY_AVX2 | CARRY_AVX512 | CARRY_AVX512VNNI | CARRY_AVX512BF16 };
    const struct carry_words full = { 0x7ffefbff, 0xf3bfbfeb, 0xfb417ffe, 0xffdd4432, 0x1c30, 0x602e7 };
    struct carry_words w[5] = { full, full, full, full, full };
    w[1].state = 0x202e7, w[2].d7 &= ~(1u << 24), w[3].d7 &= ~(1u << 22), w[4].state = 0x60007;
    const int want[] = { ALL | CARRY_AMX_BF16 | CARRY_AMX_INT8, ALL, ALL, ALL | CARRY_AMX_INT8, CARRY_AVX2 };
    bool good = true;
    for (int i = 0; i < 5; i++) good &= carry_bits(&w[i]) == want[i];
    ok(good, "AMX is told from what the processor and the system say, and only with AVX-512");
}

int main(int argc, char **argv)
{
    prog = "lib-amx";
    int pairs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 300;          /* lib-amx.t 20000 SEED is the full check */
    uint64_t seed = argc > 2 ? (uint64_t)strtol(argv[2], NULL, 10) : 7;
    int tried = 0, types[3] = { 0 };
    bool here = isa_here(ISA_AMX);
    if (!here) amx_emulate();
    int bad = compare(seed, pairs, &tried, types);
    printf("# %s: %d nests of bytes, %d of bf16, %d of attention, %d differ; %d had no code; %ld tile instructions, "
           "%ld multiply\n", here ? "natively" : "emulated", types[0], types[1], types[2], bad,
           tried - pairs, amx_done, amx_multiplied);
    ok(bad == 0, "kernels of AMX and plain loops agree bit by bit");
    ok(tried < pairs * 2, "most nests have code");
    ok(interpreted > pairs / 10, "and the interpreter has tiles, too");
    ok(here || amx_multiplied > pairs, "and tiles were multiplied");
    if (!here) emulator();
    struct problem p;
    struct nest t;
    struct kernel g = { 0 };
    problem_parse(&p, str_of("(mm_bf16 100 16 4096)"), "mm");
    nest_parse(&t, &p, str_of("(tree (for m 100 0 pack_a (for k 2048 0 (for n 16 0 (mul A B) (acc T))) "
                              "(for n 16 0 (write C))))"), 0, "tree");
    ok(!kernel_encode(&g, &p, &t, ISA_AMX) && g.rows == 4 && g.scratch_bytes[TENSOR_A] >= 64 * 2048 * sizeof(float),
       "a packed block has room for as many rows as four tiles have");
    kernel_free(&g);
    ok(machine_tile(1e9, true, here ? 1000 : 2) > 0, "the code that measures multiplications of tiles runs");
    detection();
    return done();
}

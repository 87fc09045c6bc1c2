#include "base/message.h"
#include "base/rng.h"
#include "loop/code/ir.h"
#include "loop/code/kernel.h"
#include "loop/code/guest/judge.c"
#include "loop/code/machine.h"
#include "tap.h"
#include <cpuid.h>
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { GUARD = 65536 };
static int below(struct rng *r, int n) { return (int)rng_below(r, (uint64_t)n); }

/* zeros around an image, as many as there may be around a small one, more on one side than on the other, or none */
static void zeros(struct rng *r, char *to, size_t n)
{
    int z[4];
    for (int i = 0; i < 4; i++) z[i] = below(r, 4);
    switch (below(r, 3)) {
    case 0: snprintf(to, n, " (pad %d)", z[0]); break;
    case 1: snprintf(to, n, " (pad %d %d)", z[0], z[1]); break;
    default: snprintf(to, n, " (pad %d %d %d %d)", z[0], z[1], z[2], z[3]);
    }
}

/* words that may follow a sum and be followed by others, but for norms */
#define WORD_OF(name, text, arguments, doubles, mid) { THEN_##name, text, arguments, doubles, mid },
static const struct { int is; const char *text; int arguments; bool doubles, mid; } all_words[] = {
    CARRY_ALL_WORDS(WORD_OF) };
static int words[THENS], nwords, words_mid[THENS], nmid;

static void find_words(void)
{
    const int n = (int)(sizeof all_words / sizeof *all_words);
    for (int i = 0; i < n && all_words[i].is < THEN_CAUSAL; i++)
        if (all_words[i].is != THEN_LAYERNORM && all_words[i].is != THEN_RMSNORM && all_words[i].is != THEN_CAST &&
            all_words[i].is != THEN_CAST_F16) {
            if (all_words[i].mid) words_mid[nmid++] = nwords;
            words[nwords++] = i;
        }
}

static size_t written(char *text, size_t room, size_t at, int word, bool *exact)
{
    static const char *const integers[] = { "", " 4", " -2 5" };
    const int i = words[word], n = all_words[i].arguments;
    *exact &= all_words[i].doubles;
    return (size_t)snprintf(text + at, room - at, n ? " (%s%s)" : " %s%s", all_words[i].text, integers[n]);
}

/* a random problem, small enough for the plain reference, ragged more often than not */
static void draw(struct rng *r, struct problem *p, bool types)
{
    static const char *const kinds[] = { "mm", "mm_nt", "mm_tn", "mm_tt" };
    char text[256];
    bool exact = true;                                   /* may what follows be of doubles? */
    int size[4];
    char word[32];
    written(word, sizeof word, 0, words_mid[below(r, nmid)], &(bool){ true });
    for (int i = 0; i < 4; i++) size[i] = below(r, 3) ? 1 + below(r, 70) : 16 * (1 + below(r, 5));
    switch (below(r, types ? 12 : 10)) {
    case 8:
        snprintf(text, sizeof text, "(attn%s %d %d %d %d)",
                 below(r, 2) && size[0] <= size[1] ? "_causal" : "", 1 + below(r, 3), size[0], size[1],
                 1 + below(r, 64));
        break;
    case 9:                                              /* without batch, with one in V or not, MLP or attention */
        snprintf(text, sizeof text, "(nest (sizes (m %d) (b %d) (n %d) (k %d) (o %d)) (A m b k) (B %s) (V %s) (C %s o) "
                 "(mid %s))", size[0], 1 + below(r, 5), size[1], 1 + below(r, 40), size[3],
                 below(r, 2) ? "k n" : "b n k", below(r, 2) ? "n o" : "b n o", below(r, 2) ? "m b" : "b m",
                 (const char *[]){ "(over 3) softmax", "(over 2) relu softmax", word, word }[below(r, 4)]);
        break;
    case 10:                                             /* as wide as several panels, too */
        snprintf(text, sizeof text, "(mm_bf16 %d %d %d)", size[0], size[1] * (1 + below(r, 4)), 2 * size[2]);
        break;
    case 11:
        snprintf(text, sizeof text, "(mm_%s %d %d %d)", below(r, 2) ? "u8s8" : "s8s8", size[0],
                 size[1] * (1 + below(r, 4)), 4 * size[2]);
        break;
    case 0: snprintf(text, sizeof text, "(bmm %d %d %d %d)", 1 + below(r, 4), size[0], size[1], size[2]); break;
    case 1:
    case 2: {
        int k = 1 + below(r, 3), s = 1 + below(r, 2);
        char pad[40] = "";
        if (below(r, 2)) zeros(r, pad, sizeof pad);
        snprintf(text, sizeof text, "(%s %d %d %d %d %d %d %d %d%s)", below(r, 2) ? "conv" : "conv_nhwc",
                 1 + below(r, 2), 1 + below(r, below(r, 3) ? 9 : 40), k + below(r, 20), k + below(r, 20),
                 1 + below(r, below(r, 3) ? 40 : 120), k,
                 1 + below(r, k), s, pad);
        break;
    }
    case 4: {
        int y = 1 + below(r, 9), x = 1 + below(r, 9), high = 1 + below(r, 3), s = 1 + below(r, 2);
        int before = below(r, 5), after = below(r, 5), apart = 1 + below(r, 3);
        bool rows = y + apart * (high - 1) > before + after, cols = below(r, 2);     /* zeros of rows, of columns too */
        char row[64], col[64];
        snprintf(row, sizeof row, "(+ y (* %d p))", apart);
        if (rows && below(r, 2)) snprintf(row, sizeof row, "(pad %d %d (+ y (* %d p)))", before, after, apart);
        snprintf(col, sizeof col, cols ? "(pad 1 (+ (* %d x) q))" : "(+ (* %d x) q)", s);
        snprintf(text, sizeof text, "(nest (sizes (c %d) (y %d) (x %d) (p %d) (q 3)) (A %s %s c) (B p q c) (C y x c))",
                 size[0], y, x, high, row, col);
        break;
    }
    case 3:
        snprintf(text, sizeof text, "(nest (sizes (a %d) (b %d) (c %d) (d %d)) (A d a c) (B c b d) (C b a))",
                 1 + size[0] / 4, 1 + size[1] / 4, 1 + size[2] / 4, 1 + size[3] / 4);
        break;
    case 7:
        size[2] = 8 << below(r, 4);
        snprintf(text, sizeof text, "(mm_q4%s %d %d %d %d)", below(r, 2) ? "z" : "", size[0] % 40 + 1,
                 size[1] * (1 + below(r, 2)), size[2] * (1 + below(r, 3)), size[2]);
        break;
    default: snprintf(text, sizeof text, "(%s %d %d %d)", kinds[below(r, 4)], size[0], size[1], size[2]);
    }
    if (below(r, 3) == 0 && !strstr(text, "attn") && !strstr(text, "mid")) {     /* something follows the sum */
        size_t n = strlen(text) - 1;
        n += (size_t)snprintf(text + n, sizeof text - n, " (then");
        const int first = below(r, nwords);
        n += written(text, sizeof text, n, first, &exact);
        for (int i = 0, more = 0; i < nwords; i++)
            if (i != first && below(r, 3) == 0 && more++ < 4) n += written(text, sizeof text, n, i, &exact);
        if (below(r, 3) == 0) n += (size_t)snprintf(text + n, sizeof text - n, below(r, 2) ? " bf16" : " f16");
        snprintf(text + n, sizeof text - n, "))");
        if (!below(r, 3) && !strncmp(text, "(mm", 3) && size[1] > 1) {   /* rows normalised */
            static const char *const norm[] = { " layernorm", " rmsnorm" };
            char *at = strstr(text, " bf16"), *other = strstr(text, " f16"), rest[32];
            at = at ? at : other ? other : text + n;
            snprintf(rest, sizeof rest, "%s", at);
            snprintf(at, sizeof text - (size_t)(at - text), "%s%s", norm[below(r, 2)], rest);
        }
    }
    const bool narrow = !strncmp(text, "(mm_bf", 6) || strstr(text, "8s8") || strstr(text, "_q4");
    bool doubles = !strstr(text, "attn") && !strstr(text, "mid") && !narrow && exact &&
                   !strstr(text, "f16") && !strstr(text, "norm");
    if (doubles && below(r, 3) == 0) {
        size_t n = strlen(text) - 1;
        snprintf(text + n, sizeof text - n, " (type f64))");
    }
    if (below(r, 3) == 0 && !strstr(text, "(type") && !narrow) {
#define STORED_AS(name, text, ...) text,
        static const char *const stores[] = { CARRY_STORES(STORED_AS) };
        size_t n = strlen(text) - 1;
        snprintf(text + n, sizeof text - n, " (type %s))", stores[below(r, sizeof stores / sizeof *stores)]);
    }
    bool floats = !strstr(text, "attn") && !strstr(text, "mid") && !strstr(text, "(type");
    if (floats && (!strncmp(text, "(conv", 5) || !strncmp(text, "(nest", 5)) && below(r, 3) == 0) {
        size_t n = strlen(text) - 1;
        snprintf(text + n, sizeof text - n, " (weights packed))");
    }
    problem_parse(p, str_of(text), text);
}

/* convolutions of groups, of four and eight channels most of all, and of weights that lie in any order */
static void draw_groups(struct rng *r, struct problem *p)
{
    static const char *const follows[] = { "", "", " (then relu)", " (then residual (over 4))", " (then bias)",
                                         " (type f64)" };
    static const char *const weights[] = { "p q g c m", "g p m q c", "p q c g m", "g m c p q" };
    const int n = (const int[]){ 2, 4, 4, 4, 8, 8, 8, 16 }[below(r, 8)], y = 3 + below(r, 7), x = 3 + below(r, 12);
    char text[256];
    snprintf(text, sizeof text, "(nest (sizes (y %d) (x %d) (g %d) (m %d) (c %d) (p %d) (q %d)) (A %s %s g c) (B %s) "
             "(C %sx g m)%s)", y, x, below(r, 4) ? 16 / n * (1 + below(r, 4)) : 1 + below(r, 20), n,
             below(r, 9) ? n : n + 1, 1 + below(r, 3), 1 + below(r, 3), below(r, 2) ? "(pad 1 (+ y p))" : "(+ y p)",
             below(r, 2) ? "(pad 1 (+ x q))" : "(+ (* 2 x) q)", weights[below(r, 4)], "y ", follows[below(r, 6)]);
    problem_parse(p, str_of(text), text);
}

/* an element: small integers, so that every order of a sum is exact; bytes of all values, as their sums are */
static void number(struct rng *r, enum problem_type type, void *to, int64_t at)
{
    if (type == TYPE_F64) {
        ((double *)to)[at] = below(r, 9) - 4;
        return;
    }
    union { float f; uint32_t u; } x = { (float)(below(r, 9) - 4) }, y = { (float)(below(r, 9) - 4) };
    if (type == TYPE_BF16) x.u = x.u >> 16 | (y.u & 0xffff0000);
    if (type == TYPE_U8S8) x.u = (uint32_t)rng_u64(r);
    ((float *)to)[at] = x.f;
}

/* Memory between pages that may not be touched: what A with zeros around it begins and ends with */
enum { FENCED = 4 << 20, PAGE = 4096 };
static char *fenced(size_t bytes, bool end)
{
    static char *at;
    if (!at) at = mmap(NULL, FENCED + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(at + PAGE, FENCED, PROT_READ | PROT_WRITE) || bytes > FENCED) exit(2);
    return at + PAGE + (end ? FENCED - bytes : 0);
}

/* n elements of A, B or V in memory that ends with them, and may begin with them */
static float *some(struct rng *r, const struct problem *p, int t)
{
    int64_t n = p->elements[t];
    size_t bytes = (size_t)(n * problem_bytes(p, t));
    char *x = t == TENSOR_A && p->pad.n ? fenced(bytes, below(r, 2)) : malloc(bytes + 1);
    for (int64_t j = 0; j < n; j++) {
        float f;
        if (p->store >= STORE_F16 && t != TENSOR_C) {
            number(r, TYPE_F32, &f, 0);
            uint16_t half = carry_narrow((enum carry_store)p->store, f);
            memcpy(x + problem_bytes(p, t) * j, &half, (size_t)problem_bytes(p, t));
        } else {
            const bool bits = p->q4 && t == TENSOR_B && j < n - p->scales;
            number(r, t == TENSOR_V ? TYPE_F32 : bits ? TYPE_U8S8 : p->type, x, j);
        }
    }
    return (float *)(void *)x;
}

/* what runs, before ins_fold or after it */
static void ins_count(const struct ir *o, struct count *c)
{
    double times = 1;
    *c = (struct count){ 0 };
    for (const struct ins *i = o->ins; i < o->ins + o->n; i++) {
        if (i->op == INS_LOOP) times *= i->disp;
        if (i->op == INS_END) times /= o->ins[i->b].disp;
        if (i->op == INS_SKIP_END) times /= PLAN_SEEN;
        if (i->floats) continue;                         /* what follows the sum */
        const bool of_sum = i->base < BASE_BIAS;
        c->mac += times * (i->op == INS_MAC || i->op == INS_TILE_MAC);
        c->load += times * ((i->op == INS_LOAD && of_sum) || i->from == FROM_VECTOR ||
                            (i->op == INS_TILE_LOAD && i->base == BASE_C));
        c->spread += times * ((i->op == INS_SPREAD && of_sum) || i->from == FROM_SPREAD);
        c->store += times * (i->op == INS_STORE || i->op == INS_TILE_STORE);
        c->calls += times * (i->op == INS_CALL || i->op == INS_SKIP);
        if (i->op == INS_SKIP) times *= PLAN_SEEN;
    }
}

/* Is what the instructions do one by one, with every address checked, the same; are they as many as the plan says? */
static bool interpreted(const struct kernel *g, const struct problem *p, float *x[3], const float *want,
                        const float *within, size_t bytes, long *done)
{
    struct plan_cost plan;
    struct count ran;
    loop_plan_count(g->plan, machine_here(), &plan);
    ins_count(g->ir, &ran);
    const struct count *c = &plan.count;
    bool same = fabs(c->mac - ran.mac) < 0.5 && fabs(c->load - ran.load) < 0.5 &&
                fabs(c->store - ran.store) < 0.5 && fabs(c->calls - ran.calls) < 0.5;
    /* broadcasts of windows are found again in the next step: a plan counts each once a step */
    same &= c->spread >= ran.spread - 0.5;
    if (!same)
        printf("# counts: mac %g %g, load %g %g, store %g %g, calls %g %g, broadcasts %g %g\n", c->mac, ran.mac,
               c->load, ran.load, c->store, ran.store, c->calls, ran.calls, c->spread, ran.spread);
    if (!same || problem_flops(p) > 1e5) return same;
    ++*done;
    memset(x[2], 0xa5, bytes);
    const char *why = kernel_interpret(g, x[2], x[0], x[1]);
    if (why) printf("# interpreted: %s\n", why);
    return !why && problem_equal(p, x[2], want, within);
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* blocks of B outside, used again for each row of A: what large products are cut to */
static void start_blocked(struct rng *r, const struct problem *p, struct nest *t)
{
    int size[3], cut[3];
    char text[512];
    for (int i = 0; i < 3; i++) {
        for (int v = 0; v < p->nvar; v++)
            if (p->name[v][0] == "mnk"[i]) size[i] = p->size[v];
        cut[i] = i == 1 ? 16 * (1 + below(r, 4)) : 20 + below(r, 60);
    }
    snprintf(text, sizeof text, "(tree (for k %d %d (for n %d %d (for m %d 0 (for k %d 0 (for n %d 0 (mul A B) "
             "(acc T)))))) (for m %d 0 (for n %d 0 (write C))))", size[2] / cut[2], size[2] % cut[2], size[1] / cut[1],
             size[1] % cut[1], size[0], cut[2], cut[1], size[0], size[1]);
    nest_parse(t, p, str_of(text), 0, text);
}

/* Loops in any order, most of them in two, which do not come about in few actions: windows outside of channels, parts
 * of rows inside of all, with a rest or without */
static void start_mixed(struct rng *r, const struct problem *p, struct nest *t)
{
    struct loop part[NEST_VARS][2] = { 0 };
    int n[NEST_VARS], left = p->nvar;
    for (int v = 0; v < p->nvar; v++) {
        int32_t size = p->size[v], inner = size > 3 && below(r, 3) ? 2 + below(r, size / 2 - 1) : size;
        while (below(r, 2) && size % inner) inner--;     /* more that divide */
        n[v] = inner > 1 && inner < size ? 2 : 1;
        part[v][0] = (struct loop){ .var = (uint8_t)v, .size = n[v] > 1 ? size / inner : size,
                                    .tail = n[v] > 1 ? size % inner : 0 };
        part[v][1] = (struct loop){ .var = (uint8_t)v, .size = inner };
    }
    for (t->n = 0; left > 0; ) {
        int v = below(r, p->nvar), done = 0;
        for (int i = 0; i < t->n; i++) done += t->loop[i].var == v;
        if (done == n[v]) continue;
        t->loop[t->n++] = part[v][done];
        left -= done + 1 == n[v];
    }
}

/* which problems: any, those large enough for blocks of them to be transposed, those with zeros around A, of groups */
enum kind { ANY, LARGE, SURROUNDED, GROUPED };

/* pairs of a random problem and a random sequence of actions; returns how many with code differ from the reference */
static int compare(enum isa isa, uint64_t seed, int pairs, enum kind kind, int *tried, int *packed,
                   double *median_us)
{
    static const char *const blocks[] = { "(mm_nt 130 150 140)", "(mm_tt 90 200 170)", "(conv 1 48 9 11 70 3 3 1)",
                                          "(conv 1 70 12 12 96 1 1 2)", "(conv 2 40 9 9 40 3 3 1)",
                                          "(mm 40 400 300 (then bias))", "(mm 37 270 401)", "(mm_bf16 18 420 600)",
                                          "(mm_u8s8 19 410 1100 (then bias relu))", "(mm_s8s8 21 390 1300)" };
    struct rng r = rng_for(seed, str_of(isa_name[isa]));
    struct kernel g = { 0 };
    int bad = 0;
    long over = 0, surrounded = 0, exact = 0, ran = 0;
    double *us = malloc(sizeof *us * (size_t)pairs);
    *tried = *packed = 0;
    for (int i = 0; i < pairs; ++*tried) {
        struct problem p;
        struct nest t;
        if (kind == GROUPED) draw_groups(&r, &p);
        else do draw(&r, &p, isa == ISA_AVX512);
        while (kind == SURROUNDED && !p.pad.n);
        if (kind == LARGE) problem_parse(&p, str_of(blocks[i % (isa == ISA_AVX512 ? 10 : 7)]), "blocks");
        nest_reset(&p, &t);
        bool blocked = kind == LARGE && p.elements[TENSOR_B] > 1 << 16;
        const bool mixed = kind == SURROUNDED && below(&r, 3);
        if (blocked) start_blocked(&r, &p, &t);
        if (mixed) start_mixed(&r, &p, &t);
        const bool kept = blocked && i / 10 % 2 == 0;    /* as it was made */
        for (int n = kept ? 0 : below(&r, blocked || mixed ? 4 : 25); n > 0; n--) {
            int a = below(&r, ACT_COUNT + 1);
            nest_act(&p, &t, a == ACT_COUNT ? ACT_SPLIT_ANY + 2 + below(&r, 20) : a, RULE_NONE);
        }
        struct timespec t0, t1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
        g.unit = below(&r, 4) ? UNIT_HERE : UNIT_NEVER;
        const char *why = kernel_encode(&g, &p, &t, isa);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
        if (why) continue;
        *packed += kind == GROUPED ? g.plan->groups.each > 0 : g.plan->nchange > 0;
        surrounded += p.pad.n > 0;
        exact += p.pad.n > 0 && !g.change[TENSOR_A].needed;
        us[i++] = (double)(t1.tv_sec - t0.tv_sec) * 1e6 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e3;
        float *x[3], *want, *within; /* ends of the arrays are guarded by the sanitizer or by luck */
        for (int u = 0; u < 3; u++) x[u] = some(&r, &p, u);
        enum problem_type more = p.type == TYPE_F64 ? TYPE_F64 : TYPE_F32;
        size_t word = more == TYPE_F64 ? sizeof(double) : sizeof(float);
        float *bias = malloc(word * (size_t)(p.bias * p.biases + 1));
        float *residual = malloc(word * (size_t)p.elements[2]);
        for (int64_t j = 0; j < p.bias * p.biases; j++) number(&r, more, bias, j);
        for (int64_t j = 0; j < p.elements[2]; j++) number(&r, more, residual, j);
        float *second = some(&r, &p, TENSOR_V);
        g.extra = (struct carry_extra){ bias, residual, second };
        size_t bytes = (size_t)(p.bytes * p.elements[TENSOR_C]);
        want = malloc(bytes);
        within = malloc((size_t)p.elements[TENSOR_C] * sizeof *within);
        problem_reference(&p, want, within, x[0], x[1], g.extra);
        int need = problem_needs(&p, isa);
        bool here = (carry_cpu() & need) == need;        /* or it is encoded, but cannot run */
        for (int u = 0; u < 4 && here; u++)              /* what it says that it needs, and a guard behind that */
            if (g.scratch_bytes[u]) {
                free(g.scratch[u]);
                g.scratch[u] = aligned_alloc(64, g.scratch_bytes[u] + GUARD);
                g.scratch_room[u] = g.scratch_bytes[u];
                memset((char *)g.scratch[u] + g.scratch_bytes[u], 0xa5, GUARD);
            } else {
                free(g.scratch[u]);
                g.scratch[u] = NULL;
                g.scratch_room[u] = 0;
            }
        if (here) kernel_weights(&g, x[1]);
        if (here) kernel_run(&g, x[2], x[0], x[1]);
        else memcpy(x[2], want, bytes);
        for (int u = 0; u < 4; u++)
            for (size_t j = 0; g.scratch[u] && here && j < GUARD; j++)
                over += ((const uint8_t *)g.scratch[u])[g.scratch_bytes[u] + j] != 0xa5;
        bool good = problem_equal(&p, x[2], want, within);
        if (good && here) good = interpreted(&g, &p, x, want, within, bytes, &ran);
        if (!good) {
            struct buf b = { 0 };
            nest_print(&b, &p, &t);
            if (bad++ < 5) printf("# differs: %s %s\n", p.text, b.s);
            free(b.s);
        }
        for (int u = p.pad.n > 0; u < 3; u++) free(x[u]);
        free(bias);
        free(residual);
        free(second);
        free(want);
        free(within);
    }
    qsort(us, (size_t)pairs, sizeof *us, by_double);
    *median_us = us[pairs / 2];
    printf("# %ld of them interpreted, too\n", ran);
    printf("# %ld of them with zeros around A, which is taken as it lies in %ld\n", surrounded, exact);
    if (over) printf("# %ld bytes beyond scratch\n", over), bad++;
    free(us);
    kernel_free(&g);
    return bad;
}

__attribute__((target("f16c"))) static float wide(uint16_t h) { return _cvtsh_ss(h); }
__attribute__((target("f16c"))) static uint16_t narrow(float f) { return _cvtss_sh(f, 0); }

static double of_half(const uint16_t *x, long i)
{
    float f;
    carry_widen(CARRY_HALVES_BF16, x + i, &f, 1);
    return (double)f;
}

/* Attention of bf16 by the unit beside doubles: an element is wrong by 2^-8 of the mean of |V| at most, as it is when
 * each weight is rounded to bf16, and by what floats lose.  Returns the largest share of that. */
static double share_of_bound(struct rng *r, enum isa isa, int *tried)
{
    const long h = 1 + below(r, 2), q = 1 + below(r, 90), k = q + below(r, 90), d = 2 * (1 + below(r, 40));
    const bool causal = below(r, 2);
    char text[128];
    struct problem p;
    struct nest t;
    struct kernel g = { 0 };
    snprintf(text, sizeof text, "(attn%s %ld %ld %ld %ld (type bf16))", causal ? "_causal" : "", h, q, k, d);
    problem_parse(&p, str_of(text), text);
    nest_reset(&p, &t);
    for (int n = below(r, 25); n > 0; n--) nest_act(&p, &t, below(r, ACT_COUNT), RULE_NONE);
    if (kernel_encode(&g, &p, &t, isa) || !g.pairs) {
        kernel_free(&g);
        return 0;
    }
    uint16_t *x[3];
    const long n[3] = { h * q * d, h * k * d, h * k * d };
    for (int i = 0; i < 3; i++) {
        x[i] = malloc((size_t)n[i] * 2);
        for (long j = 0; j < n[i]; j++)
            x[i][j] = carry_narrow(CARRY_HALVES_BF16, (float)(rng_unit(r) - 0.5) * 4);
    }
    float *c = malloc((size_t)n[0] * sizeof *c);
    g.extra.second = (float *)(void *)x[2];
    kernel_run(&g, c, (float *)(void *)x[0], (float *)(void *)x[1]);
    double worst = 0, *s = malloc((size_t)k * sizeof *s);
    for (long row = 0; row < h * q; row++) {
        const long see = causal ? row % q + 1 + k - q : k, at = row / q * k;
        double most = -INFINITY, sum = 0;
        for (long j = 0; j < see; j++) {
            s[j] = 0;
            for (long i = 0; i < d; i++) s[j] += of_half(x[0], row * d + i) * of_half(x[1], (at + j) * d + i);
            s[j] /= sqrt((double)d);
            most = fmax(most, s[j]);
        }
        for (long j = 0; j < see; j++) sum += s[j] = exp(s[j] - most);
        for (long i = 0; i < d; i++) {
            double want = 0, size = 0;
            for (long j = 0; j < see; j++) want += s[j] / sum * of_half(x[2], (at + j) * d + i);
            for (long j = 0; j < see; j++) size += s[j] / sum * fabs(of_half(x[2], (at + j) * d + i));
            worst = fmax(worst, fabs((double)c[row * d + i] - want) / (size / 256 + 1e-5));
        }
    }
    for (int i = 0; i < 3; i++) free(x[i]);
    free(c);
    free(s);
    kernel_free(&g);
    ++*tried;
    return worst;
}

/* Products of vectors, each lane at work: all that the text asks for, over the lanes. */
static void lanes_at_work(void)
{
    for (int i = 0; i < 2; i++)
        for (int n = 4; n <= 8; n *= 2) {
            struct problem p;
            struct nest t;
            struct kernel g = { 0 };
            struct count c;
            char text[256];
            const int lanes = i == ISA_AVX2 ? 8 : 16, full = n < lanes ? lanes : n;
            snprintf(text, sizeof text, "(nest (sizes (y 5) (x 6) (g 32) (m %d) (c %d) (p 3) (q 3)) "
                     "(A (+ y p) (+ x q) g c) (B p q g c m) (C y x g m))", n, n);
            problem_parse(&p, str_of(text), "groups");
            nest_reset(&p, &t);
            const bool made = !kernel_encode(&g, &p, &t, (enum isa)i);
            ins_count(g.ir, &c);
            printf("# groups of %d channels by %s: %.0f products of vectors\n", n, isa_name[i], c.mac);
            ok(made && c.mac == 5 * 6 * 32 * n * n * 9 / full, "of groups of channels no lane is empty");
            kernel_free(&g);
        }
}

static bool writable_and_executable(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;
    while (f && fgets(line, sizeof line, f)) found |= strstr(line, "rwx") != NULL;
    if (f) fclose(f);
    return found;
}

/* A row of gelu(-5) is rounding alone, which a scale and a norm make 5 000 times as large; in a row of gelu(3) it is
 * none, and what is wrong by as much is wrong. */
static void bounds(void)
{
    enum { N = 8 };
    struct problem p;
    struct nest t;
    problem_parse(&p, str_of("(mm 2 8 1 (then gelu scale rmsnorm))"), "bounds");
    nest_reset(&p, &t);
    float a[2] = { -5, 3 }, b[N], more[4 * N], want[2 * N], within[2 * N], c[2 * N];
    for (int i = 0; i < 4 * N; i++) more[i] = 4, b[i % N] = 1;
    struct carry_extra extra = { more, NULL, NULL };
    problem_reference(&p, want, within, a, b, extra);
    for (int i = 0; i < 2; i++) {
        struct kernel g = { 0 };
        bool good = isa_here((enum isa)i) && !kernel_encode(&g, &p, &t, (enum isa)i), far = true, near = good;
        g.extra = extra;
        if (good) kernel_run(&g, c, a, b);
        good &= problem_equal(&p, c, want, within);
        for (int j = 0; j < 2 * N && near; j++) {
            const float was = c[j];
            c[j] += j < N ? 3e-3f : 1e-4f;
            far &= !problem_equal(&p, c, want, within);
            c[j] = was;
        }
        if (isa_here((enum isa)i)) ok(good && far, "what rounding may be is known of each element");
        else printf("ok %d # skip no %s here\n", ++tap_count, isa_name[i]);
        kernel_free(&g);
    }
}

/* signed bytes: the longest sum whose greatest value is an int32, from what that is of */
static void most_bytes(void)
{
    enum { K = 131068, GREATEST = K * 128 * 128 };
    struct problem p;
    struct nest t;
    struct kernel g = { 0 };
    problem_parse(&p, str_of("(mm_s8s8 2 3 131068)"), "bytes");
    nest_reset(&p, &t);
    float *a = malloc(2 * K), *b = malloc(3 * K);
    int32_t c[6] = { 0 }, bad = 0;
    memset(a, 0x80, 2 * K);
    memset(b, 0x80, 3 * K);
    const char *why = kernel_encode(&g, &p, &t, ISA_AVX512);
    if (!why && (problem_needs(&p, ISA_AVX512) & ~carry_cpu()) == 0) {
        kernel_weights(&g, b);
        kernel_run(&g, (float *)(void *)c, a, b);
        for (int i = 0; i < 6; i++) bad += c[i] != GREATEST;
    }
    ok(!why && !bad, "the greatest sum of signed bytes");
    kernel_free(&g);
    free(a);
    free(b);
}

static double judge_exp(double x) { return exp(x); }
static double judge_gelu(double x) { return x * (1 + erf(x / sqrt(2))) / 2; }

/* All numbers of a store as judge.c has them; what lies between two neighbours becomes the nearer, or the even one. */
static int stored_wrong(int store, int bytes)
{
    (void)judge_word, (void)judge_error;
    int wrong = 0;
    double before = 0;
    for (uint32_t h = 0; h < 1u << 8 * bytes; h++) {
        const uint16_t in = (uint16_t)h;
        const double want = judge_stored(store, &in, 0);
        float f;
        carry_widen((enum carry_store)store, &in, &f, 1);
        wrong += want == want ? (double)f != want : f == f;
        if (f == f) wrong += carry_narrow((enum carry_store)store, f) != h;
        const float half = (float)((before + want) / 2), by = want < 0 ? -1 : 1;
        for (int i = -1; i < 2 && isfinite(want) && fabs(want) > fabs(before); i++) {
            const float y = i ? nextafterf(half, by * (float)i * INFINITY) : half;
            wrong += carry_narrow((enum carry_store)store, y) != (i < 0 || (!i && h % 2) ? h - 1 : h);
        }
        before = want == want ? want : 0;
    }
    return wrong;
}

/* Kernels that multiply each of them by 1 give it: of B along vectors, of A one at a time. */
static int passed_wrong(const char *store, int which, int bytes, enum isa isa)
{
    enum { ALL = 65536 };
    const int n = 1 << 8 * bytes;
    char text[64];
    struct problem p;
    struct nest t;
    struct kernel g = { 0 };
    snprintf(text, sizeof text, which ? "(mm 1 %d 1 (type %s))" : "(mm %d 1 1 (type %s))", n, store);
    problem_parse(&p, str_of(text), text);
    nest_reset(&p, &t);
    uint16_t *x = malloc(ALL * sizeof *x), one = carry_narrow((enum carry_store)p.store, 1);
    float *c = malloc(ALL * sizeof *c);
    for (int i = 0; i < n; i++)
        if (bytes == 1) ((uint8_t *)x)[i] = (uint8_t)i;
        else x[i] = (uint16_t)i;
    int wrong = kernel_encode(&g, &p, &t, isa) != NULL;
    if (!wrong) kernel_run(&g, c, (float *)(void *)(which ? &one : x), (float *)(void *)(which ? x : &one));
    for (int i = 0; i < n && !wrong; i++) {
        const double want = judge_stored((int)p.store, x, i);
        wrong += want == want ? (double)c[i] != want : c[i] == c[i];
    }
    kernel_free(&g);
    free(x);
    free(c);
    return wrong;
}

int main(int argc, char **argv)
{
    prog = "lib-encode";
    find_words();
    int pairs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1500;         /* lib-encode.t 10000 is the full check */
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
    for (int i = 0; i < 2; i++) {
        if (!isa_here((enum isa)i)) {
            printf("ok %d # skip no %s here\n", ++tap_count, isa_name[i]);
            continue;
        }
        int tried, packed;
        double us;
        int bad = compare((enum isa)i, seed, pairs, ANY, &tried, &packed, &us);
        printf("# %s: %d pairs with code of %d, %d differ, median %.1f us to encode\n", isa_name[i], pairs, tried, bad,
               us);
        ok(bad == 0, "code and reference agree bit by bit");
        ok(tried < pairs * 14 / 10, "most nests have code");
        bad = compare((enum isa)i, seed, pairs / 10, LARGE, &tried, &packed, &us);
        printf("# %s: %d larger pairs, %d of them transpose block by block, %d differ\n", isa_name[i], pairs / 10,
               packed, bad);
        ok(bad == 0 && packed > pairs / 100, "also when inputs are transposed block by block");
        bad = compare((enum isa)i, seed, pairs, SURROUNDED, &tried, &packed, &us);
        printf("# %s: %d pairs with zeros around A, %d differ\n", isa_name[i], pairs, bad);
        ok(bad == 0, "also with zeros around A, that are left out or not");
        bad = compare((enum isa)i, seed, pairs, GROUPED, &tried, &packed, &us);
        printf("# %s: %d pairs of groups, side by side in %d, %d differ\n", isa_name[i], pairs, packed, bad);
        ok(bad == 0 && packed > pairs / 10, "also with groups side by side in vectors");
    }
    unsigned a, b, c = 0, d;                             /* clang 14 has no name for this bit */
    bool f16 = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    int differ = 0, wrong = 0;                           /* every half becomes a float and is a half again */
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t in = (uint16_t)h;
        float f;
        carry_widen(CARRY_HALVES_F16, &in, &f, 1);
        float own = f16 ? wide(in) : f;
        differ += memcmp(&f, &own, 4) != 0 && f == f;
        wrong += carry_narrow(CARRY_HALVES_F16, f) != h && f == f;
    }
    struct rng r = rng_for(3, str_of("halves"));
    for (int i = 0; i < 300000; i++) {                   /* any float, and those between two halves */
        uint32_t u = (uint32_t)rng_u64(&r);
        if (i % 2) u = (u & 0x8fffe000) | 0x30000000 | (i % 4 == 1 ? 0x1000 : 0x1001);
        float f;
        memcpy(&f, &u, 4);
        uint16_t got = carry_narrow(CARRY_HALVES_F16, f);
        wrong += f16 && got != narrow(f) && f == f;
    }
    ok(!differ && !wrong, "f16 to float and back as the processor has it");
#define STORED_OK(name, text, bytes, ...) \
    ok(!stored_wrong(CARRY_HALVES_##name, bytes), text ": all numbers, and what is between"); \
    for (int i = 0, bad = 0; i < 4; i++) { \
        if (isa_here((enum isa)(i / 2))) bad += passed_wrong(text, i % 2, bytes, (enum isa)(i / 2)); \
        if (i == 3) ok(!bad, text ": all numbers by kernels"); \
    }
    CARRY_STORES(STORED_OK)
    for (int i = ISA_AVX512; i <= ISA_AMX; i++) {
        double worst = 0;
        int tried = 0;
        const char *unit = i == ISA_AMX ? "tiles" : "vectors";
        const bool here = carry_cpu() & (i == ISA_AMX ? CARRY_AMX_BF16 : CARRY_AVX512BF16);
        for (int n = 0; n < pairs / 10 && here; n++) worst = fmax(worst, share_of_bound(&r, (enum isa)i, &tried));
        printf("# attention by %s of pairs of bf16: %d nests, %.2f of the bound at most\n", unit, tried, worst);
        if (!here) printf("ok %d # skip no such unit here\n", ++tap_count);
        else ok(worst < 1 && worst > 0.1 && tried > pairs / 30, "attention by such a unit rounds its weights alone");
    }
    ok(!writable_and_executable(), "no memory is writable and executable");
    struct problem p;
    struct nest t;
    struct kernel g = { 0 };
    problem_parse(&p, str_of("(mm 100 16 32)"), "mm");
    nest_parse(&t, &p,
               str_of("(tree (for m 100 0 pack_a (for k 32 0 (for n 16 0 (mul A B) (acc T))) (for n 16 0 (write C))))"),
               0, "tree");
    for (int i = 0; i < 2; i++) {                        /* the encoder takes as many rows at once as fit */
        const char *why = kernel_encode(&g, &p, &t, (enum isa)i);
        ok(!why && g.scratch_bytes[0] >= (size_t)g.rows * 32 * sizeof(float) && g.rows > 1, "room for a block of rows");
    }
    bounds();
    most_bytes();
    lanes_at_work();
    problem_parse(&p, str_of("(point 8 8)"), "point");
    nest_reset(&p, &t);
    ok(kernel_encode(&g, &p, &t, ISA_AVX2) != NULL, "a nest without products is refused with a reason");
    return done();
}

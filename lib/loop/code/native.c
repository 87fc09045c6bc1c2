#include "loop/code/native.h"
#include "base/message.h"
#include "base/out.h"
#include "carry/carry.inc"
#include "loop/code/parts.h"
#include "measure/clock.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TEXT = 8 << 20 };

static void numbers(struct buf *b, const char *name, const void *p, int n, bool wide)
{
    buf_format(b, ".%s = { ", name);
    for (int i = 0; i < n; i++)
        buf_format(b, "%lld%s", wide ? (long long)((const int64_t *)p)[i] : (long long)((const int32_t *)p)[i],
                   i + 1 < n ? ", " : " }");
}

static void change_text(struct buf *b, const struct carry_change *c)
{
    buf_format(b, "{ .nvar = %d, .wide = %d, .edge = %d, .store = %d, ", c->nvar, c->wide, c->edge, c->store);
    numbers(b, "size", c->size, CARRY_VARS, false);
    buf_add(b, ", ", 2);
    numbers(b, "from", c->from, CARRY_VARS, true);
    buf_add(b, ", ", 2);
    numbers(b, "to", c->to, CARRY_VARS, true);
    buf_add(b, " }", 2);
}

/* the statements of a kernel as a function; only the variables that they use are there */
static void function(struct buf *b, const struct kernel *g, int type, const char *name, const char *isa,
                     const struct buf *body)
{
    bool wide = g->isa != ISA_AVX2;
    bool doubles = type == CARRY_F64;
    const char *w = wide ? "512" : "256", *vec = wide ? doubles ? "__m512d" : "__m512" : doubles ? "__m256d" : "__m256";
    static const char *const multiply[] = {
        [CARRY_BF16] = "_mm512_dpbf16_ps(s, (__m512bh)(x), (__m512bh)(y))",
        [CARRY_U8S8] = "_mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(s), _mm512_castps_si512(x), "
                       "_mm512_castps_si512(y)))" };
    static const char *const tiles[] = {
        [CARRY_BF16] = "__attribute__((target(\"amx-tile,amx-bf16,avx512vl,avx512bw\"))) ",
        [CARRY_U8S8] = "__attribute__((target(\"amx-tile,amx-int8,avx512vl,avx512bw\"))) " };
    static const char *const more[] = { [CARRY_F32] = "", [CARRY_BF16] = "__attribute__((target(\"avx512bf16\"))) ",
                                        [CARRY_U8S8] = "__attribute__((target(\"avx512vnni\"))) ", [CARRY_F64] = "" };
    if (g->isa == ISA_AMX)
        buf_format(b, "#ifdef CARRY_TILES\n#undef TILES\n#define TILES(c, a, b) _tile_dp%s(c, a, b)\n",
                   type == CARRY_BF16 ? "bf16ps" : g->about.sign ? "bssd" : "busd");
    buf_format(b, "#undef SPREAD\n#undef MULTIPLY\n#undef PLUS\n"
                  "#define SPREAD(p) _mm%s_set1_p%s\n", w,
               doubles ? "d(*(const double *)(p))" : "s(*(const float *)(p))");
    if (type == CARRY_U8S8)
        buf_format(b, "#define PLUS(x, y) _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), "
                      "_mm512_castps_si512(y)))\n");
    else buf_format(b, "#define PLUS(x, y) _mm%s_add_p%s(x, y)\n", w, doubles ? "d" : "s");
    if (doubles || type == CARRY_F32)
        buf_format(b, "#define MULTIPLY(s, x, y) _mm%s_fmadd_p%s(x, y, s)\n", w, doubles ? "d" : "s");
    else buf_format(b, "#define MULTIPLY(s, x, y) %s\n", multiply[type]);
    const char *sum = type == CARRY_U8S8 ? "epi32" : doubles ? "pd" : "ps";
    if (strstr(body->s, "TOTAL("))
        buf_format(b, "#undef HALF\n#undef TOTAL\n#undef STORE_FOUR\n#undef STORE_ONE\n#define HALF(x) %s%s(x)\n"
                      "#define TOTAL(x, y, z, u) carry_total_%s(x, y, z, u)\n"
                      "#define STORE_FOUR(p, s, add) carry_store_four_%s(p, s, add)\n"
                      "#define STORE_ONE(p, s, lane, add) carry_store_one_%s(p, s, lane, add)\n",
                   wide ? "carry_half_" : "", wide ? sum : "", sum, sum, sum);
    if (strstr(body->s, "BITS("))
        buf_format(b, "#undef BITS\n#define BITS(x, n) _mm512_permutexvar_ps(_mm512_srli_epi32("
                      "_mm512_castps_si512(x), n), "
                      "_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1))\n");
    if (wide) buf_format(b, "#ifdef __x86_64__\n");
    buf_format(b, "%s%s static void %s_%s(float *c_, const float *a_, const float *b_,\n"
                  "    const struct carry_context *x)\n{\n",
               (g->isa == ISA_AMX ? tiles : more)[type], wide ? "WIDE" : "NARROW", name, isa);
    buf_format(b, "char *c = (char *)c_;\nconst char *a = (const char *)a_, *b = (const char *)b_;\n(void)x;\n");
    if (!wide) buf_format(b, "static const int32_t masks[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };\n(void)masks;\n");
    for (int i = 0; i < g->plan->nchange; i++) {
        buf_format(b, "static const struct carry_change d%d = ", i);
        change_text(b, &g->plan->change[i].about);
        buf_format(b, ";\n");
    }
    for (int i = 0; i < 32; i++) {
        char use[8];
        snprintf(use, sizeof use, "v%d = ", i);
        if (strstr(body->s, use)) buf_format(b, "%s v%d;\n", vec, i);
        snprintf(use, sizeof use, "n%d = ", i);
        if (strstr(body->s, use)) buf_format(b, "int n%d;\n", i);
    }
    for (int i = 0; i < 3 && g->isa == ISA_AMX; i++) {
        char use[8];
        snprintf(use, sizeof use, "s%d = ", i);
        if (strstr(body->s, use)) buf_format(b, "long s%d;\n", i);
    }
    if (strstr(body->s, "TOTAL(")) buf_format(b, doubles ? "__m256d s;\n" : "__m128 s;\n");
    if (strstr(body->s, "m = ")) buf_format(b, "%s m;\n", wide ? "__mmask16" : "__m256i");
    buf_add(b, body->s, body->n);
    buf_format(b, "}\n%s%s", wide ? "#endif\n" : "", g->isa == ISA_AMX ? "#endif\n" : "");
}

static void variant_text(struct buf *b, const struct carry_variant *v, const char *name, const char *isa, bool code)
{
    buf_format(b, "    { .need = %d, .given = %lld, .sums = %lld, .code = %lld, .scratch_bytes = %lld, ", v->need,
               (long long)v->given, (long long)v->sums, (long long)v->code, (long long)v->scratch_bytes);
    if (code) buf_format(b, ".function = %s_%s, ", name, isa);
    numbers(b, "whole", v->whole, 3, false);
    buf_add(b, ", ", 2);
    numbers(b, "scratch", v->scratch, 5, true);
    buf_format(b, ",\n      .change = {");
    for (int t = 0; t < 3; t++) {
        buf_format(b, t ? ",\n                  " : " ");
        change_text(b, &v->change[t]);
    }
    buf_format(b, " } },\n");
}

static const char totals_of_doubles[] =
    "#ifdef __x86_64__\nWIDE static inline __attribute__((unused)) __m256d carry_half_pd(__m512d x)\n{\n"
    "    return _mm256_add_pd(_mm512_extractf64x4_pd(x, 1), _mm512_castpd512_pd256(x));\n}\n#endif\n"
    "NARROW static inline __attribute__((unused)) __m256d carry_total_pd(__m256d x, __m256d y, __m256d z, __m256d u)\n"
    "{\n    x = _mm256_hadd_pd(x, y), z = _mm256_hadd_pd(z, u);\n"
    "    return _mm256_add_pd(_mm256_permute2f128_pd(x, z, 0x20), _mm256_permute2f128_pd(x, z, 0x31));\n}\n"
    "NARROW static inline __attribute__((unused)) void carry_store_four_pd(char *p, __m256d s, int add)\n{\n"
    "    _mm256_storeu_pd((double *)p, add ? _mm256_add_pd(s, _mm256_loadu_pd((const double *)p)) : s);\n}\n"
    "NARROW static inline __attribute__((unused)) void carry_store_one_pd(char *p, __m256d s, int lane, int add)\n{\n"
    "    double x[4];\n    _mm256_storeu_pd(x, s);\n"
    "    __m128d y = _mm_load_sd(x + lane);\n"
    "    _mm_store_sd((double *)p, add ? _mm_add_pd(y, _mm_load_sd((const double *)p)) : y);\n}\n";

void native_begin(struct buf *b)
{
    buf_format(b, "/* C of loop-emit; any x86-64 or aarch64 and compiler of GNU C, no flags needed */\n");
    for (size_t i = 0; i < sizeof carry_text / sizeof *carry_text; i++)
        buf_add(b, carry_text[i], strlen(carry_text[i]));
    buf_format(b, "\n/* ---- sums of the lanes of vectors ---- */\n");
    for (int i = 0; i < 2; i++) {
        const char *to = i ? "_mm256_castps_si256" : "", *back = i ? "_mm256_castsi256_ps" : "";
        const char *sum = i ? "epi32" : "ps", *few = i ? "_mm_castps_si128" : "", *one = i ? "_mm_castsi128_ps" : "";
        buf_format(b, "#define SUM4_%s(x, y) %s(_mm_add_%s(%s(x), %s(y)))\n", sum, one, sum, few, few);
        buf_format(b, "#define PAIRS_%s(x, y) %s(_mm256_hadd_%s(%s(x), %s(y)))\n", sum, back, sum, to, to);
        buf_format(b, "#ifdef __x86_64__\n"
                      "WIDE static inline __attribute__((unused)) __m256 carry_half_%s(__m512 x)\n{\n"
                      "    __m256 y = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));\n"
                      "    return %s(_mm256_add_%s(%s(y), %s(_mm512_castps512_ps256(x))));\n}\n#endif\n",
                   sum, back, sum, to, to);
        buf_format(b, "NARROW static inline __attribute__((unused)) __m128 carry_total_%s(__m256 x, __m256 y, "
                      "__m256 z, __m256 u)\n{\n    x = PAIRS_%s(PAIRS_%s(x, y), PAIRS_%s(z, u));\n"
                      "    return SUM4_%s(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));\n}\n",
                   sum, sum, sum, sum, sum);
        buf_format(b, "NARROW static inline __attribute__((unused)) void carry_store_four_%s(char *p, __m128 s, "
                      "int add)\n{\n"
                      "    _mm_storeu_ps((float *)p, add ? SUM4_%s(s, _mm_loadu_ps((const float *)p)) : s);\n}\n",
                   sum, sum);
        buf_format(b, "NARROW static inline __attribute__((unused)) void carry_store_one_%s(char *p, __m128 s, "
                      "int lane, int add)\n{\n    float x[4];\n"
                      "    _mm_storeu_ps(x, s);\n    s = _mm_load_ss(x + lane);\n"
                      "    _mm_store_ss((float *)p, add ? SUM4_%s(s, _mm_load_ss((const float *)p)) : s);\n}\n",
                   sum, sum);
    }
    buf_format(b, "%s", totals_of_doubles);
    /* multiply-adds stay in the encoder's order: clang's own has more values alive than there are registers */
    buf_format(b, "#ifdef __aarch64__\n#define KEEP(x) __asm__ volatile(\"\" : \"+w\"((x).v[0]), \"+w\"((x).v[1]))\n"
                  "#elif defined __clang__\n#define KEEP(v) __asm__ volatile(\"\" : \"+v\"(v))\n"
                  "#else\n#define KEEP(v)\n#endif\n");
    buf_format(b, "#if defined __x86_64__ && (defined __clang__ ? __clang_major__ >= 11 : __GNUC__ >= 11)\n"
                  "#define CARRY_TILES 1\n#endif\n");
    buf_format(b, "\n/* ---- the kernels ---- */\nstatic struct carry_state carry_all;\n");
}

static void ends(struct buf *b, const struct image_kernel *q)    /* the functions that are called from outside */
{
    const char *s = q->name, *w = image_weights(q->p);
    bool then = q->p->then[0] || q->p->pair;
    const char *more = "bias, residual, ";
    if (q->p->type == TYPE_F64) more = "(const float *)(const void *)bias, (const float *)(const void *)residual, ";
    for (int body = 0; body < 2; body++) {               /* declared as in the header: names of C, by g++ too */
        buf_format(b, body ? "#ifdef __cplusplus\n}\n#endif\n" : "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
        image_declare(b, q, CALL_PLAIN);
        buf_format(b, body ? "\n{\n" : ";\n");
        if (body)
            buf_format(b, "    return carry_run%s(%sc, (const float *)(const void *)a, (const float *)(const void *)b, "
                          "%s&%s_kernel, &carry_all);\n}\n", then ? "_then" : "", then ? "" : "(float *)",
                       q->p->pair ? "(const float *)(const void *)v, 0, " : then ? more : "", s);
        if (image_has(q, CALL_LD)) {
            image_declare(b, q, CALL_LD);
            buf_format(b, body ? "\n{\n" : ";\n");
            if (body) buf_format(b, "    return carry_run_ld(c, ldc, a, lda, b, ldb, %s, &%s_kernel, &carry_all);\n}\n",
                                 q->p->pair ? "v, ldv" : then ? "bias, (int64_t)(uintptr_t)residual" : "0, 0", s);
        } else {
            buf_format(b, "void %s_pack(%s *packed, const %s *b)%s", s, w, w, body ? " { " : ";\n");
            if (body) buf_format(b, "carry_pack(packed, b, &%s_kernel, &carry_all); }\n", s);
        }
        if (q->parts) {
            image_declare(b, q, CALL_PART);
            buf_format(b, body ? "\n{\n" : ";\n");
            if (body)
                buf_format(b, "    return carry_run_part(thread, threads, c, a, b, %s, &%s_parts, &carry_all);\n}\n",
                           q->p->pair ? "v, 0"
                           : then     ? "bias, residual"
                                      : "0, 0",
                           s);
        }
        for (int i = 0; i < 3; i++) {
            static const char *const ask[] = { "test", "isa", "scratch" }, *const by[] = { "test", "level", "scratch" };
            buf_format(b, "%s %s_%s(void)%s", i == 2 ? "int64_t" : "int", s, ask[i], body ? " { " : ";\n");
            if (body) buf_format(b, "return carry_%s%s(&%s_%s, &carry_all); }\n", by[i], !i && q->parts ? "_parts" : "",
                                 s, !i && q->parts ? "parts" : "kernel");
        }
    }
}

static const char *emit_kernel(struct buf *b, const struct image_kernel *q)
{
    struct carry_kernel k;
    struct kernel g = { 0 };
    const char *why = NULL, *s = q->name;
    image_describe(&k, q);
    buf_format(b, "\n/* %s */\n", q->p->text);
    const char *of[CARRY_VARIANTS];
    struct image_form f = { .isa = ISAS };
    int n = 0;
    while (!why && image_next(&f, q, &g)) {
        struct buf body = { 0 };
        buf_add(&body, "", 0);
        g.text = &body;
        why = image_variant(&k, n, &g, q, f);
        of[n] = g.pairs && f.isa != ISA_AMX ? "avx512bf16" : isa_name[f.isa];
        if (!why && q->p->op == OP_FMA) function(b, &g, g.pairs ? CARRY_BF16 : k.type, s, of[n], &body);
        n++;
        free(body.s);
    }
    kernel_free(&g);
    if (why) return why;
    buf_format(b, "static const struct carry_kernel %s_kernel = {\n"
                  "    .op = %d, .type = %d, .add = %d, .nvar = %d, .given = %lld, .q4 = %d, .zeros = %d,\n"
                  "    .store = %d, .sign = %d,\n    ",
               s, k.op, k.type, k.add, k.nvar, (long long)k.given, k.q4, k.zeros, k.store, k.sign);
    numbers(b, "size", k.size, CARRY_VARS, false);
    buf_format(b, ",\n    .stride = {\n");
    for (int t = 0; t < 4; t++) {
        buf_format(b, "        { ");
        for (int v = 0; v < CARRY_VARS; v++) buf_format(b, "%lld%s", (long long)k.stride[t][v], v < 7 ? ", " : " },\n");
    }
    buf_format(b, "    }, ");
    numbers(b, "elements", k.elements, 4, true);
    buf_format(b, ", ");
    numbers(b, "row", k.row, 4, true);
    if (k.pad.n) {
        buf_format(b, ",\n    .padded = %lld, .pad = { .n = %d, ", (long long)k.padded, k.pad.n);
        numbers(b, "size", k.pad.size, CARRY_VARS, false);
        buf_add(b, ", ", 2);
        numbers(b, "before", k.pad.before, CARRY_VARS, false);
        buf_add(b, ", ", 2);
        numbers(b, "after", k.pad.after, CARRY_VARS, false);
        buf_add(b, " }", 2);
    }
    buf_format(b, ",\n    .then = {");
    for (int i = 0; i < CARRY_THENS; i++) buf_format(b, " %d%s", k.then[i], i + 1 < CARRY_THENS ? "," : " }");
    buf_format(b, ",\n    .pair = %d, .along = %d, .last = %d, .mid_scale = %.9g, .mid = {", k.pair, k.along, k.last,
               (double)k.mid_scale);
    for (int i = 0; i < CARRY_THENS; i++) buf_format(b, " %d%s", k.mid[i], i + 1 < CARRY_THENS ? "," : " }");
    buf_format(b, ", .scale = %.9g%s, .bias_step = %lld, .bias = %lld, .scales = %lld", (double)k.scale,
               k.scale < 1 ? "f" : "", (long long)k.bias_step, (long long)k.bias, (long long)k.scales);
    for (int i = 0; i < CARRY_WORDS_ROOM; i++)           /* C++ has no .arg[i] */
        buf_format(b, "%s { %.9g, %.9g }", i ? "," : ", .arg = {", (double)k.arg[i][0], (double)k.arg[i][1]);
    buf_format(b, " }, .over = %d, .query = %d, .norm = %d, .variant = {\n", k.over, k.query, k.norm);
    for (int i = 0; i < n; i++) {
        bool tiles = of[i] == isa_name[ISA_AMX];
        const bool wide = of[i] != isa_name[ISA_AVX2];
        if (tiles) buf_format(b, "#ifdef CARRY_TILES\n");
        else if (wide) buf_format(b, "#ifdef __x86_64__\n");
        variant_text(b, &k.variant[i], s, of[i], q->p->op == OP_FMA);
        if (wide) buf_format(b, "#endif\n");
    }
    buf_format(b, "} };\n");
    return NULL;
}

static const char *emit_parts(struct buf *b, const struct image_kernel *q)
{
    struct image_parts cut;
    char name[100];
    struct image_kernel part = *q;
    const char *why = NULL;
    parts_plan(&cut, q);
    part.name = name;
    for (int i = 1; i < cut.about.chunks && !why; i++) {
        snprintf(name, sizeof name, "%s_of%lld", q->name, (long long)cut.about.chunk[i].size);
        part.p = &cut.chunk[i];
        why = emit_kernel(b, &part);
    }
    if (why) return why;
    const struct carry_parts *k = &cut.about;
    buf_format(b, "static const struct carry_parts %s_parts = {\n"
                  "    .size = %d, .unit = %d, .chunks = %d, .lines = %d, ",
               q->name, k->size, k->unit, k->chunks, k->lines);
    numbers(b, "step", k->step, 4, true);
    buf_format(b, ", .residual = %lld,\n    .chunk = { { 0, &%s_kernel, %lld }", (long long)k->residual, q->name,
               (long long)k->chunk[0].size);
    for (int i = 1; i < k->chunks; i++) {
        long long size = k->chunk[i].size;
        buf_format(b, ", { 0, &%s_of%lld_kernel, %lld }", q->name, size, size);
    }
    buf_format(b, " } };\n");
    return NULL;
}

const char *native_emit(struct buf *b, const struct image_kernel *q)
{
    size_t had = b->n;
    const char *why = emit_kernel(b, q);
    if (!why && q->parts) why = emit_parts(b, q);
    if (why) return why;
    ends(b, q);
    return b->n - had > MAX_TEXT ? "the text is longer than 8 MiB" : NULL;
}

/* compiler, output and input as arguments, no shell */
static bool compile(const char *cc, const char *folder, const char *c_path, const char *so_path)
{
    pid_t pid = fork();
    if (pid < 0) die_errno("cannot start a process");
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        setenv("TMPDIR", folder, 1);
        execlp(cc, cc, "-O2", "-w", "-fPIC", "-shared", "-o", so_path, c_path, (char *)NULL);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) die("no C compiler '%s' here", cc);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *native_load(struct native *n, const struct problem *p, const struct nest *t, enum isa isa, const char *cc)
{
    struct buf b = { 0 };
    struct image_kernel q = { .name = "nest", .p = p };
    q.nest[isa] = t;
    *n = (struct native){ 0 };
    native_begin(&b);
    const char *why = native_emit(&b, &q);
    if (!cc) cc = getenv("CC");
    if (!cc || !*cc || strchr(cc, ' ')) cc = "cc";
    if (!why) {
        char *dir = out_scratch("nest");
        char *c_path = xformat("%s/nest.c", dir), *so_path = xformat("%s/nest.so", dir);
        FILE *f = fopen(c_path, "w");
        if (!f || fwrite(b.s, 1, b.n, f) != b.n || fclose(f)) die_errno("%s", c_path);
        bool good = compile(cc, dir, c_path, so_path);
        n->library = good ? dlopen(so_path, RTLD_NOW | RTLD_LOCAL) : NULL;
        char *failed = good && !n->library ? xformat("%s", dlerror()) : NULL;
        void *symbol = n->library ? dlsym(n->library, "nest") : NULL;
        memcpy(&n->run, &symbol, sizeof symbol);
        unlink(c_path);
        unlink(so_path);
        rmdir(dir);
        free(c_path);
        free(so_path);
        free(dir);
        if (failed) die("what '%s' made of the nest cannot be loaded: %s", cc, failed);  /* TMPDIR without exec, say */
        if (!symbol) why = "the C compiler refused it";
    }
    free(b.s);
    if (why) native_unload(n);
    return why;
}

void native_unload(struct native *n)
{
    if (n->library) dlclose(n->library);
    *n = (struct native){ 0 };
}

double native_once(const struct native *n, const struct evaluator *v)
{
    const struct kernel *g = &v->kernel;
    const float *b = v->p->weights && g->given ? g->scratch[TENSOR_B] : v->x[TENSOR_B];
    int64_t t = now_ns();
    n->run(v->x[TENSOR_C], v->x[TENSOR_A], b, v->p->pair ? v->more[2] : v->more[0], v->more[1]);
    return (double)(now_ns() - t) * 1e-9;
}

struct result native_evaluate(struct evaluator *v, const struct nest *t)
{
    struct result r = { .seconds = INFINITY, .median_seconds = INFINITY };
    struct native n;
    r.why = native_load(&n, v->p, t, v->isa, NULL);
    if (!r.why && v->p->weights) r.why = kernel_encode(&v->kernel, v->p, t, v->isa);  /* for the weights */
    if (r.why) {
        native_unload(&n);
        return r;
    }
    evaluator_operands(v);
    if (v->p->weights) kernel_weights(&v->kernel, v->x[TENSOR_B]);
    float *c = v->x[TENSOR_C];
    memset(c, 0xff, (size_t)(v->p->elements[TENSOR_C] * v->p->bytes));
    native_once(&n, v);
    if (v->check && !problem_equal(v->p, c, v->want, v->within))
        die("the C of the nest is wrong: problem %s", v->p->text);
    r.checked = v->check;
    for (double total = 0; r.runs < v->max_runs && (r.runs < v->min_runs || total < v->cap_seconds); r.runs++) {
        double d = native_once(&n, v);
        total += d;
        if (d < r.seconds) r.seconds = d;
    }
    r.median_seconds = NAN;
    r.gflops = problem_flops(v->p) / r.seconds * 1e-9;
    native_unload(&n);
    return r;
}

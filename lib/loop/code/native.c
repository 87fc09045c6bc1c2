#include "loop/code/native.h"
#include "base/message.h"
#include "measure/clock.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

struct text {
    struct buf *b;
    const struct problem *p;
    const struct nest *t;
    int32_t inner[NEST_LOOPS];
    int lanes, most, vec;                                /* most: accumulators of a tile */
    int depth, names;                                    /* indentation; numbers for loop variables */
};

static void line(struct text *x, const char *s)
{
    buf_format(x->b, "%*s%s\n", 4 * x->depth, "", s);
}

static int32_t vectors(const struct text *x, int32_t n) { return (n + x->lanes - 1) / x->lanes; }

static bool fits(const struct text *x, const int32_t *e)
{
    double n = vectors(x, e[x->vec]);
    for (int v = 0; v < x->p->nvar; v++)
        if (!x->p->reduced[v] && v != x->vec) n *= e[v];
    return n <= x->most;
}

/* a pointer with the offset of one element: a[i*3 + ...] is written as a sum of constants, the compiler folds it */
struct at { long a, b, c; };

static void rows_of(const struct text *x, const int32_t *e, struct at *row, int *n)
{
    const struct problem *p = x->p;
    *n = 1;
    row[0] = (struct at){ 0, 0, 0 };
    for (int v = 0; v < p->nvar; v++) {
        if (p->reduced[v] || v == x->vec) continue;
        int old = *n;
        for (int i = 1; i < e[v]; i++)
            for (int r = 0; r < old; r++)
                row[(*n)++] = (struct at){ row[r].a + i * p->stride[0][v], row[r].b + i * p->stride[1][v],
                                           row[r].c + i * p->stride[2][v] };
    }
}

static void open_loop(struct text *x, int v, long times, long step)
{
    int i = x->names++;
    buf_format(x->b, "%*sfor (long i%d = 0; i%d < %ld; i%d++) {\n", 4 * x->depth, "", i, i, times, i);
    x->depth++;
    buf_format(x->b,
               "%*sconst float *restrict a_ = a + i%d * %lld, *restrict b_ = b + i%d * %lld;\n%*sfloat *restrict c_ = "
               "c + i%d * %lld;\n",
               4 * x->depth, "", i, (long long)(step * x->p->stride[0][v]), i, (long long)(step * x->p->stride[1][v]),
               4 * x->depth, "", i, (long long)(step * x->p->stride[2][v]));
    buf_format(x->b, "%*s{ const float *a = a_, *b = b_; float *c = c_;\n", 4 * x->depth, "");
}

static void close_loop(struct text *x)
{
    line(x, "}");
    x->depth--;
    line(x, "}");
}

static void tile(struct text *x, int d, const int32_t *e)
{
    const struct problem *p = x->p;
    struct at row[64];
    int nrow, nv = vectors(x, e[x->vec]), opened = 0;
    int vt = p->stride[TENSOR_A][x->vec] ? TENSOR_A : TENSOR_B;
    long long sv = p->stride[vt][x->vec], sc = p->stride[TENSOR_C][x->vec];
    rows_of(x, e, row, &nrow);
    line(x, "{");
    for (int r = 0; r < nrow; r++)
        for (int j = 0; j < nv; j++) {
            int left = e[x->vec] - j * x->lanes;
            buf_format(x->b, "%*svec s%d_%d = get(c + %lld, %lld, %d);\n", 4 * x->depth + 4, "", r, j,
                       row[r].c + j * x->lanes * sc, sc, left < x->lanes ? left : x->lanes);
        }
    unsigned seen = 0;
    for (int i = d; i < x->t->n; i++) {
        int v = x->t->loop[i].var;
        if (!p->reduced[v] || seen >> v & 1 || e[v] == 1) continue;
        seen |= 1u << v;
        open_loop(x, v, e[v], 1);
        opened++;
    }
    for (int j = 0; j < nv; j++)
        for (int r = 0; r < nrow; r++) {
            int left = e[x->vec] - j * x->lanes;
            buf_format(x->b, "%*ss%d_%d += %s[%ld] * get(%s + %lld, %lld, %d);\n", 4 * x->depth + 4, "", r, j,
                       vt == TENSOR_A ? "b" : "a", vt == TENSOR_A ? row[r].b : row[r].a, vt == TENSOR_A ? "a" : "b",
                       (vt == TENSOR_A ? row[r].a : row[r].b) + j * x->lanes * sv, sv,
                       left < x->lanes ? left : x->lanes);
        }
    while (opened-- > 0) close_loop(x);
    for (int r = 0; r < nrow; r++)
        for (int j = 0; j < nv; j++) {
            int left = e[x->vec] - j * x->lanes;
            buf_format(x->b, "%*sput(c + %lld, %lld, s%d_%d, %d);\n", 4 * x->depth + 4, "",
                       row[r].c + j * x->lanes * sc, sc, r, j, left < x->lanes ? left : x->lanes);
        }
    line(x, "}");
}

static void scalar(struct text *x)
{
    static const char *const op[] = {
        [OP_FMA] = "*c += *a * *b;", [OP_ADD] = "*c = *a + *b;", [OP_SUM] = "*c += *a;", [OP_COPY] = "*c = *a;"
    };
    line(x, op[x->p->op]);
}

static void emit(struct text *x, int d, const int32_t *e)
{
    if (x->b->n > MAX_TEXT) return;
    if (x->vec >= 0 && fits(x, e)) {
        tile(x, d, e);
        return;
    }
    if (d == x->t->n) {
        scalar(x);
        return;
    }
    int v = x->t->loop[d].var;
    int32_t step = x->inner[d], inside[NEST_VARS];
    if (x->vec == v && step == 1) step = x->lanes < e[v] ? x->lanes : e[v];
    int32_t full = e[v] / step, tail = e[v] % step;
    memcpy(inside, e, sizeof inside);
    inside[v] = step;
    if (full) {
        open_loop(x, v, full, step);
        emit(x, d + 1, inside);
        close_loop(x);
    }
    if (!tail) return;
    inside[v] = tail;
    buf_format(x->b, "%*s{ const float *a_ = a + %lld, *b_ = b + %lld; float *c_ = c + %lld;\n", 4 * x->depth, "",
               (long long)full * step * x->p->stride[0][v], (long long)full * step * x->p->stride[1][v],
               (long long)full * step * x->p->stride[2][v]);
    x->depth++;
    line(x, "{ const float *a = a_, *b = b_; float *c = c_;");
    emit(x, d + 1, inside);
    line(x, "}");
    x->depth--;
    line(x, "}");
}

const char *native_emit(struct buf *b, const struct problem *p, const struct nest *t, int lanes)
{
    struct text x = { .b = b, .p = p, .t = t, .lanes = lanes, .most = lanes >= 16 ? 28 : 12, .vec = -1, .depth = 1 };
    struct plan q;
    if (p->op == OP_FMA && !kernel_plan(&q, p, t, lanes >= 16 ? ISA_AVX512 : ISA_AVX2, true)) x.vec = q.vector_var;
    nest_inner(t->loop, t->n, x.inner);
    buf_format(b, "/* %s */\n#include <string.h>\n", p->text);
    buf_format(b, "typedef float vec __attribute__((vector_size(%d)));\n", 4 * lanes);
    buf_format(b, "static inline vec get(const float *p, long stride, int n)\n{\n    vec x = {0};\n"
                  "    if (stride == 1) memcpy(&x, p, 4 * (size_t)n);\n    else for (int i = 0; i < n; i++) x[i] = p[i "
                  "* stride];\n    return x;\n}\n"
                  "static inline void put(float *p, long stride, vec x, int n)\n{\n"
                  "    if (stride == 1) memcpy(p, &x, 4 * (size_t)n);\n    else for (int i = 0; i < n; i++) p[i * "
                  "stride] = x[i];\n}\n");
    buf_format(b, "void nest(float *c, const float *a, const float *b)\n{\n");
    buf_format(b, "    memset(c, 0, %lldu);\n", (long long)p->elements[TENSOR_C] * 4);
    emit(&x, 0, p->size);
    buf_format(b, "}\n");
    return b->n > MAX_TEXT ? "the text is longer than 1 MiB" : NULL;
}

/* compiler, output and input as arguments, no shell */
static bool compile(const char *c_path, const char *so_path)
{
    const char *cc = getenv("CC");
    if (!cc || !*cc || strchr(cc, ' ')) cc = "cc";
    pid_t pid = fork();
    if (pid < 0) die_errno("cannot start a process");
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execlp(cc, cc, "-O2", "-march=native", "-w", "-fPIC", "-shared", "-o", so_path, c_path, (char *)NULL);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) die("no C compiler '%s' here", cc);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct result native_evaluate(struct evaluator *v, const struct nest *t)
{
    struct result r = { .seconds = INFINITY, .median_seconds = INFINITY };
    struct buf b = { 0 };
    r.why = native_emit(&b, v->p, t, v->isa == ISA_AVX512 ? 16 : 8);
    if (r.why) {
        free(b.s);
        return r;
    }
    const char *tmp = getenv("TMPDIR");
    char *dir = xformat("%s/millrace-nest.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) die_errno("%s", dir);
    char *c_path = xformat("%s/nest.c", dir), *so_path = xformat("%s/nest.so", dir);
    FILE *f = fopen(c_path, "w");
    if (!f || fwrite(b.s, 1, b.n, f) != b.n || fclose(f)) die_errno("%s", c_path);
    bool good = compile(c_path, so_path);
    void *lib = good ? dlopen(so_path, RTLD_NOW | RTLD_LOCAL) : NULL, *symbol = lib ? dlsym(lib, "nest") : NULL;
    unlink(c_path);
    unlink(so_path);
    rmdir(dir);
    free(c_path);
    free(so_path);
    free(dir);
    free(b.s);
    if (!symbol) {
        r.why = "the C compiler refused it";
        return r;
    }
    nest_code *run;
    memcpy(&run, &symbol, sizeof symbol);
    evaluator_operands(v);
    float *c = v->x[TENSOR_C];
    size_t bytes = (size_t)v->p->elements[TENSOR_C] * sizeof *c;
    memset(c, 0xff, bytes);
    run(c, v->x[TENSOR_A], v->x[TENSOR_B]);
    if (v->check && memcmp(c, v->want, bytes)) die("the C of the nest is wrong: problem %s", v->p->text);
    r.checked = v->check;
    for (double total = 0; r.runs < v->max_runs && (r.runs < v->min_runs || total < v->cap_seconds); r.runs++) {
        int64_t t0 = now_ns();
        run(c, v->x[TENSOR_A], v->x[TENSOR_B]);
        double d = (double)(now_ns() - t0) * 1e-9;
        total += d;
        if (d < r.seconds) r.seconds = d;
    }
    r.median_seconds = NAN;
    r.gflops = problem_flops(v->p) / r.seconds * 1e-9;
    dlclose(lib);
    return r;
}

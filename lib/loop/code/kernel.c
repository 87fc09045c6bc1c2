#include "loop/code/encode.h"
#include "loop/code/pair.h"
#include <string.h>

struct job { const struct kernel *g; float *c; const float *a, *b; };

static void part(void *data, int i)
{
    const struct job *j = data;
    const struct kernel *g = j->g;
    const int64_t *o = g->offset[i];
    const struct carry_context x = { { i ? g->second[0] : g->scratch[0], i ? g->second[1] : g->scratch[1] },
                                     carry_forth };
    carry_code *code = (carry_code *)(uintptr_t)(g->region + g->entry[i]);
    code(j->c + o[TENSOR_C], j->a + o[TENSOR_A], j->b + o[TENSOR_B], &x);
}

void kernel_prepare(const struct kernel *g, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (g->change[t].needed) carry_forth(&g->change[t].change, in[t], g->scratch[t]);
}

void kernel_body(const struct kernel *g, float *c, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (g->change[t].needed) in[t] = g->scratch[t];
    struct job j = { g, g->change[TENSOR_C].needed ? g->scratch[TENSOR_C] : c, in[0], in[1] };
    if (g->threads == 2) pair_run(part, &j);
    else part(&j, 0);
}

void kernel_finish(const struct kernel *g, float *c)
{
    if (g->change[TENSOR_C].needed) carry_back(&g->change[TENSOR_C].change, g->scratch[TENSOR_C], c);
}

void kernel_run(const struct kernel *g, float *c, const float *a, const float *b)
{
    kernel_prepare(g, a, b);
    kernel_body(g, c, a, b);
    kernel_finish(g, c);
}

/* ---- the oracle ---- */

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

static void line(enum problem_op op, float *c, int64_t sc, const float *a, int64_t sa, const float *b, int64_t sb,
                 int32_t n)
{
    int32_t i = 0;
    if (op == OP_FMA && sc == 1 && sa == 0 && sb == 1)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) += *a * *(const vec8 *)(b + i);
    if (op == OP_FMA && sc == 1 && sa == 1 && sb == 0)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) += *b * *(const vec8 *)(a + i);
    for (; i < n; i++) {
        float x = a[i * sa];
        if (op == OP_FMA) c[i * sc] += x * b[i * sb];
        else if (op == OP_SUM) c[i * sc] += x;
        else c[i * sc] = op == OP_ADD ? x + b[i * sb] : x;
    }
}

void problem_reference(const struct problem *p, float *c, const float *a, const float *b)
{
    int in = p->nvar - 1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_C][v] == 1 && p->stride[TENSOR_A][v] < 2 && p->stride[TENSOR_B][v] < 2 && p->size[v] > 7)
            in = v;
    memset(c, 0, sizeof *c * (size_t)p->elements[TENSOR_C]);
    int32_t at[NEST_VARS] = { 0 };
    const float *second = p->elements[TENSOR_B] ? b : a;
    int64_t o[3] = { 0 };
    for (bool more = true; more; ) {
        line(p->op, c + o[TENSOR_C], p->stride[TENSOR_C][in], a + o[TENSOR_A], p->stride[TENSOR_A][in],
             second + o[TENSOR_B], p->stride[TENSOR_B][in], p->size[in]);
        int v = p->nvar;
        while (v-- > 0) {
            if (v == in) continue;
            for (int t = 0; t < 3; t++) o[t] += p->stride[t][v];
            if (++at[v] < p->size[v]) break;
            for (int t = 0; t < 3; t++) o[t] -= at[v] * p->stride[t][v];
            at[v] = 0;
        }
        more = v >= 0;
    }
}

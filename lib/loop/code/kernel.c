#include "loop/code/encode.h"
#include "loop/code/pair.h"
#include "loop/code/transpose.h"
#include <string.h>

static void change_layout(const struct transposition *c, float *plain, bool back)
{
    float *scratch = c->scratch;
    transpose_fn *transpose = c->isa == ISA_AVX512 ? transpose_avx512 : transpose_avx2;
    int last = c->nvar - 1, outer = c->nvar > 1 ? last - 1 : 0;
    int64_t at[NEST_VARS] = { 0 }, from = 0, to = 0;
    bool planes = c->nvar > 1 && c->from[outer] == 1;
    for (bool more = true; more; ) {
        if (planes && !back)
            transpose(plain + from, c->from[last], scratch + to, c->to[outer], c->size[last], c->size[outer]);
        else if (planes)
            transpose(scratch + to, c->to[outer], plain + from, c->from[last], c->size[outer], c->size[last]);
        else
            for (int64_t i = 0, n = c->nvar > 1 ? c->size[outer] : 1; i < n; i++)
                for (int64_t j = 0; j < c->size[last]; j++) {
                    int64_t f = from + (n > 1 ? i * c->from[outer] : 0) + j * c->from[last];
                    int64_t s = to + (n > 1 ? i * c->to[outer] : 0) + j;
                    if (back) plain[f] = scratch[s];
                    else scratch[s] = plain[f];
                }
        int i = outer;
        while (i-- > 0) {
            from += c->from[i];
            to += c->to[i];
            if (++at[i] < c->size[i]) break;
            from -= at[i] * c->from[i];
            to -= at[i] * c->to[i];
            at[i] = 0;
        }
        more = i >= 0;
    }
}

void transpose_block(const struct transposition *c, float *from)
{
    change_layout(c, from, false);
}

struct job { const struct kernel *g; float *c; const float *a, *b; };

static void part(void *data, int i)
{
    const struct job *j = data;
    const int64_t *o = j->g->offset[i];
    j->g->code[i](j->c + o[TENSOR_C], j->a + o[TENSOR_A], j->b + o[TENSOR_B]);
}

void kernel_prepare(const struct kernel *g, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (g->change[t].needed) {
            union { const float *read; float *plain; } cast = { in[t] };
            change_layout(&g->change[t], cast.plain, false);
        }
}

void kernel_body(const struct kernel *g, float *c, const float *a, const float *b)
{
    const float *in[2] = { a, b };
    for (int t = 0; t < 2; t++)
        if (g->change[t].needed) in[t] = g->change[t].scratch;
    float *out = g->change[TENSOR_C].needed ? g->change[TENSOR_C].scratch : c;
    if (g->threads == 2) pair_run(part, &(struct job){ g, out, in[0], in[1] });
    else g->code[0](out, in[0], in[1]);
}

void kernel_finish(const struct kernel *g, float *c)
{
    if (g->change[TENSOR_C].needed) change_layout(&g->change[TENSOR_C], c, true);
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

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
        if (g->change[t].needed && !(t == TENSOR_B && g->given))
            carry_forth(&g->change[t].change, in[t], g->scratch[t]);
}

void kernel_weights(const struct kernel *g, const float *b)
{
    if (g->given) carry_forth(&g->change[TENSOR_B].change, b, g->scratch[TENSOR_B]);
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

_Static_assert((int)CARRY_FMA == (int)OP_FMA && (int)CARRY_COPY == (int)OP_COPY, "the same operations");
_Static_assert((int)CARRY_BF16 == (int)TYPE_BF16 && (int)CARRY_U8S8 == (int)TYPE_U8S8, "the same types");

void problem_carry(struct carry_kernel *k, const struct problem *p)
{
    *k = (struct carry_kernel){ .op = (int32_t)p->op, .type = (int32_t)p->type, .nvar = p->nvar };
    memcpy(k->size, p->size, sizeof k->size);
    memcpy(k->stride, p->stride, sizeof k->stride);
    memcpy(k->elements, p->elements, sizeof k->elements);
    memcpy(k->row, p->row, sizeof k->row);
}

int problem_needs(const struct problem *p, enum isa isa)
{
    int need = isa == ISA_AVX512 ? CARRY_AVX512 | CARRY_AVX2 : CARRY_AVX2;
    return need | (p->type == TYPE_BF16 ? CARRY_AVX512BF16 : p->type == TYPE_U8S8 ? CARRY_AVX512VNNI : 0);
}

void problem_reference(const struct problem *p, float *c, const float *a, const float *b)
{
    struct carry_kernel k;
    problem_carry(&k, p);
    carry_plain(&k, c, a, b);
}

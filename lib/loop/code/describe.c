/* A problem as what travels with a kernel describes it. */
#include "loop/code/kernel.h"
#include <string.h>

_Static_assert((int)CARRY_FMA == (int)OP_FMA && (int)CARRY_COPY == (int)OP_COPY, "the same operations");
_Static_assert(CARRY_THENS == MAX_THEN + 1, "room for as many words");
_Static_assert(sizeof(struct carry_pad) == sizeof(struct problem_pad), "the same zeros");
_Static_assert((int)CARRY_BF16 == (int)TYPE_BF16 && (int)CARRY_U8S8 == (int)TYPE_U8S8 &&
               (int)CARRY_F64 == (int)TYPE_F64, "the same types");
_Static_assert((int)CARRY_HALVES_F16 == (int)STORE_F16 && (int)CARRY_HALVES_BF16 == (int)STORE_BF16 &&
               (int)CARRY_DOUBLES == (int)STORE_DOUBLES, "the same ways to store");

void problem_carry(struct carry_kernel *k, const struct problem *p)
{
    *k = (struct carry_kernel){ .op = (int32_t)p->op, .type = (int32_t)p->type, .nvar = p->nvar,
                                .sign = p->sign ? 128 : 0 };
    memcpy(k->size, p->size, sizeof k->size);
    memcpy(k->stride, p->stride, sizeof k->stride);
    memcpy(k->elements, p->elements, sizeof k->elements);
    memcpy(k->row, p->row, sizeof k->row);
    k->padded = p->padded;
    memcpy(&k->pad, &p->pad, sizeof k->pad);
    memcpy(k->then, p->then, sizeof k->then);
    k->store = (int32_t)p->store;
    k->over = p->over;
    for (int i = 0; i < CARRY_WORDS_ROOM; i++)
        for (int j = 0; j < CARRY_ARGUMENTS; j++) k->arg[i][j] = (float)p->arg[i][j];
    k->scale = p->over ? 1.0f / (float)p->over : 1;
    k->bias_step = p->bias_step;
    k->bias = p->bias;
    k->scales = p->scale;
    k->q4 = p->q4;
    k->zeros = p->zeros;
    k->pair = p->pair;
    k->along = p->along;
    k->last = p->last;
    k->mid_scale = p->mid_scale;
    k->query = p->query + 1;
    for (int i = 0; p->then[i]; i++)
        if (p->then[i] == THEN_LAYERNORM || p->then[i] == THEN_RMSNORM) k->norm = p->then[i];
    for (int i = 0, n = 0; p->mid[i]; i++) {
        if (p->mid[i] == THEN_SOFTMAX) k->then[0] = CARRY_SOFTMAX;
        if (p->mid[i] != THEN_OVER && p->mid[i] != THEN_CAUSAL) k->mid[n++] = p->mid[i];
    }
}

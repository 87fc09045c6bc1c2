/* How tensors lie, from the problem and its roles. */
#include "loop/code/walk.h"

bool access_plain(const struct problem *p, int t)
{
    double n = 1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[t][v]) n *= p->size[v];
    return n == (double)(p->elements[t] - (t == TENSOR_B ? p->scales : 0)) && !(t == TENSOR_A && p->pad.n);
}

bool access_raised(const struct loop_plan *q, int t) { return t == TENSOR_A && q->p->sign && !q->target->tiles; }

bool access_transposed(const struct loop_plan *q, int t)
{
    return q->p->stride[t][q->part[0].vec] > 1 && q->p->size[q->part[0].vec] > 1;
}

enum carry_store access_store(const struct loop_plan *q, int t, bool half)
{
    if (access_raised(q, t)) return CARRY_SIGNED;
    return half ? (enum carry_store)q->p->store : q->p->bytes == 8 ? CARRY_DOUBLES : CARRY_FLOATS;
}

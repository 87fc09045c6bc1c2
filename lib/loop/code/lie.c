/* How tensors lie, from the problem and its roles. */
#include "loop/code/walk.h"

bool access_plain(const struct problem *p, int t)
{
    double n = 1;
    for (int v = 0; v < p->nvar; v++) {
        int64_t below = 0;                               /* what is faster, or as fast, reaches so far */
        for (int u = 0; u < p->nvar; u++)
            if (u != v && p->stride[t][u] <= p->stride[t][v]) below += (p->size[u] - 1) * p->stride[t][u];
        if (p->stride[t][v]) n *= p->size[v];
        if (p->size[v] > 1 && p->stride[t][v] && below >= p->stride[t][v]) return false;
    }
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

int problem_pairs(const struct problem *p)
{
    int step = -1;
    bool softmax = false;
    for (const uint8_t *mid = p->mid; p->pair && *mid; mid++) softmax |= *mid == THEN_SOFTMAX;
    if (p->store != STORE_BF16 || !softmax) return -1;
    for (int t = 0; t < 4; t++)
        if (t != TENSOR_C && !access_plain(p, t)) return -1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_A][v] == 1 && p->stride[TENSOR_B][v] == 1 && p->reduced[v] && p->size[v] % 2 == 0)
            step = v;
    const int64_t row = p->stride[TENSOR_V][p->along], all = p->size[p->along] * row;
    if (step < 0 || p->elements[TENSOR_V] % all) return -1;
    for (int v = 0; v < p->nvar; v++) {
        if (v != step && (p->stride[TENSOR_A][v] % 2 || p->stride[TENSOR_B][v] % 2)) return -1;
        if (p->stride[TENSOR_V][v] > row && p->stride[TENSOR_V][v] % all) return -1;
    }
    return step;
}

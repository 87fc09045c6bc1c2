#include "loop/code/kernel.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CARRY_FMA == (int)OP_FMA && (int)CARRY_COPY == (int)OP_COPY, "the same operations");
_Static_assert((int)CARRY_CAST == (int)THEN_BF16 && (int)CARRY_CAST_F16 == (int)THEN_F16 &&
               (int)CARRY_RMSNORM == (int)THEN_RMSNORM &&
                (int)CARRY_SOFTMAX == (int)THEN_SOFTMAX &&
               (int)CARRY_GELU == (int)THEN_GELU && CARRY_THENS == MAX_THEN + 1, "the same words");
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
    k->scale = p->over ? 1.0f / (float)p->over : 1;
    k->bias_step = p->bias_step;
    k->bias = p->bias;
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

/* A with its zeros, element by element */
static float *with_zeros(const struct problem *p, const float *a)
{
    const struct problem_pad *q = &p->pad;
    const size_t bytes = (size_t)p->bytes;
    char *to = xcalloc((size_t)p->padded, bytes);
    for (int64_t i = 0; i < p->elements[TENSOR_A]; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = q->n; d-- > 0; rest /= q->size[d]) {
            at += (rest % q->size[d] + q->before[d]) * step;
            step *= q->size[d] + q->before[d] + q->after[d];
        }
        memcpy(to + (size_t)at * bytes, (const char *)a + (size_t)i * bytes, bytes);
    }
    return (float *)(void *)to;
}

void problem_reference(const struct problem *p, float *c, const float *a, const float *b, struct carry_extra extra)
{
    struct carry_kernel k;
    problem_carry(&k, p);
    bool cast = problem_cast(p);
    const float *x[3] = { a, b, extra.second };
    float *wide[3] = { NULL };
    for (int t = 0; t < 3 && p->store >= STORE_F16; t++) {
        int64_t n = p->elements[t == 2 ? TENSOR_V : t];
        if (!n) continue;
        x[t] = wide[t] = xmalloc((size_t)n, sizeof *wide[t]);
        carry_widen((enum carry_store)p->store, t == 2 ? extra.second : t ? b : a, wide[t], n);
    }
    float *sum = cast ? xmalloc((size_t)p->elements[TENSOR_C], sizeof *sum) : c, *zeros = NULL;
    if (p->pad.n) x[0] = zeros = with_zeros(p, x[0]);
    if (p->pair) carry_pair_plain(&k, c, x[0], x[1], x[2]);
    else carry_plain(&k, sum, x[0], x[1]);
    if (p->then[0]) carry_finish_all(&k, sum, c, extra);
    if (cast) free(sum);
    free(zeros);
    for (int t = 0; t < 3; t++) free(wide[t]);
}

/* Scores between 0 and 1 that become bf16 are wrong by 2^-8 of themselves; C, a mean of V weighted by them, by that of
 * the greatest of V at most, which is 4 here. */
static const float SCORE_ERROR = 4 / 256.0f;
/* gelu of -5 is the difference of numbers near 5, and rounded as they are; norms of a row of nothing else divide that
 * by the root of 1e-5 and multiply it by a gain, 4 at most here */
static const float GELU_ERROR = 5 * 6e-8f * 316 * 4;

bool problem_equal(const struct problem *p, const float *got, const float *want)
{
    size_t n = (size_t)p->elements[TENSOR_C];
    bool cast = problem_cast(p);
    enum carry_store last = problem_then(p, THEN_F16) ? CARRY_HALVES_F16 : CARRY_HALVES_BF16;
    float most = 0;                                      /* what rounding of two contractions is a share of */
    for (size_t i = 0; i < n && p->pair; i++) most = fmaxf(most, fabsf(want[i]));
    if (p->pair && p->store == STORE_BF16) most += SCORE_ERROR / 2e-5f;
    if (!problem_then(p, THEN_GELU) && p->norm < 0 && !p->pair)
        return !memcmp(got, want, n * (size_t)(cast ? 2 : p->bytes));
    const float least = 1e-5f + (p->norm >= 0 && problem_then(p, THEN_GELU) ? GELU_ERROR : 0);
    for (size_t i = 0; i < n; i++) {
        float x, y;
        if (cast) {
            carry_widen(last, (const char *)got + 2 * i, &x, 1);
            carry_widen(last, (const char *)want + 2 * i, &y, 1);
        } else {
            x = got[i], y = want[i];
        }
        if (x == y) continue;                            /* both infinite, too */
        if (!(fabsf(x - y) <= least + 1e-5f * fabsf(y) + 2e-5f * most + (cast ? fabsf(y) / 128 : 0))) return false;
    }
    return true;
}

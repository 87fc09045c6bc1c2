/* What a problem's result is, in doubles, by the loops that its text says: nothing here is shared with what makes or
 * carries code, so that neither can be wrong in the same way; guest/judge.c is shared with NAME_test.  After each word
 * a number is rounded to the type that it has, as elements of memory would be. */
#include "loop/code/kernel.h"
#include "loop/code/guest/judge.c"
#include "base/checked.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NORM_LEAST = 1e-5;                   /* below the root, as nest.h says */
static const double ROUNDING = 0x1p-24;                  /* of a float, to the nearest: this share of it */
static const double PAIR_ERROR = 2e-5;                   /* of two contractions, of the greatest of C */
/* Scores between 0 and 1 that become bf16 are wrong by 2^-8 of themselves; C, a mean of V weighted by them, by that of
 * the greatest of V at most, which is 4 here. */
static const double SCORE_ERROR = 4 / 256.0;

/* ---- numbers as they are stored ---- */

static uint16_t to_f16(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    int e;
    if (isnan(x)) return 0x7e00 | sign;
    frexp(x = fabs(x), &e);
    if (x >= 65520) return 0x7c00 | sign;
    if (x < 0x1p-14) return (uint16_t)(sign | (int)nearbyint(ldexp(x, 24)));
    return (uint16_t)(sign | ((e + 14) * 1024 + (int)nearbyint(ldexp(x, 11 - e)) - 1024));
}

static uint16_t to_bf16(double x)
{
    const float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (isnan(x)) return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* scalar i of tensor t, of which an element of a narrow type has several */
static double scalar(const struct problem *p, int t, const void *x, int64_t i)
{
    switch (p->type) {
    case TYPE_BF16: return judge_stored(CARRY_HALVES_BF16, x, i);
    case TYPE_U8S8: return t == TENSOR_A && !p->sign ? ((const uint8_t *)x)[i] : ((const int8_t *)x)[i];
    case TYPE_F64: return ((const double *)x)[i];
    default: return judge_stored((int)p->store, x, i);
    }
}

/* step l of word i of weights of 4 bits */
static double weight(const struct problem *p, const void *b, int64_t i, int64_t l)
{
    const int64_t n = p->row[TENSOR_B], words = p->elements[TENSOR_B] - p->scales;
    const int64_t at = i / n * Q4_STEPS / p->q4 * n + i % n;
    const float *scale = (const float *)b + words, *zero = scale + p->scales / 2;
    return ((((const uint32_t *)b)[i] >> 4 * l & 15) - (p->zeros ? (double)zero[at] : 8)) * (double)scale[at];
}

/* all of a tensor; A with its zeros around it */
static double *numbers(const struct problem *p, int t, const void *x)
{
    const struct problem_pad *pad = &p->pad;
    const bool zeros = t == TENSOR_A && pad->n;
    const bool bits = p->q4 && t == TENSOR_B;
    const int64_t n = p->elements[t] - (bits ? p->scales : 0), g = bits ? Q4_STEPS : p->group;
    double *to = xcalloc(size_mul((size_t)(zeros ? p->padded : n) + 1, (size_t)g), sizeof *to);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = pad->n; d-- > 0 && zeros; rest /= pad->size[d]) {
            at += (rest % pad->size[d] + pad->before[d]) * step;
            step *= pad->size[d] + pad->before[d] + pad->after[d];
        }
        for (int64_t l = 0; l < g; l++)
            to[(zeros ? at : i) * g + l] = bits ? weight(p, x, i, l) : scalar(p, t, x, i * g + l);
    }
    return to;
}

/* ---- sums ---- */

struct walker { const struct problem *p; unsigned vars; int32_t at[NEST_VARS]; int64_t o[4]; };

/* the next place of its variables; false: there is none, and all are back where they began */
static bool step(struct walker *w)
{
    for (int v = w->p->nvar; v-- > 0; ) {
        if (!(w->vars >> v & 1)) continue;
        for (int t = 0; t < 4; t++) w->o[t] += w->p->stride[t][v];
        if (++w->at[v] < w->p->size[v]) return true;
        for (int t = 0; t < 4; t++) w->o[t] -= w->at[v] * w->p->stride[t][v];
        w->at[v] = 0;
    }
    return false;
}

static void line(const struct problem *p, int v, double *c, const double *a, const double *b)
{
    const int64_t sc = p->stride[TENSOR_C][v], g = p->q4 ? Q4_STEPS : p->group, sb = p->stride[TENSOR_B][v] * g,
                  sa = p->stride[TENSOR_A][v] * p->group;
    for (int32_t i = 0; i < p->size[v]; i++, c += sc, a += sa, b += sb)
        for (int64_t l = 0; l < g; l++)
            if (p->op == OP_FMA) *c += a[l] * b[l];
            else if (p->op == OP_ADD) *c = a[l] + b[l];
            else *c += a[l];
}

static void sums(const struct problem *p, double *c, const double *a, const double *b)
{
    struct walker w = { .p = p };
    int in = 0;
    for (int v = 0; v < p->nvar; v++)
        if (p->size[v] > p->size[in]) in = v;
    w.vars = ((1u << p->nvar) - 1) & ~(1u << in);
    do line(p, in, c + w.o[TENSOR_C], a + w.o[TENSOR_A] * p->group, b + w.o[TENSOR_B] * (p->q4 ? Q4_STEPS : p->group));
    while (step(&w));
}

static double judge_exp(double x) { return exp(x); }
static double judge_gelu(double x) { return x * (1 + erf(x / sqrt(2))) / 2; }

static double element(const struct problem *p, int word, double y)
{
    return judge_word(word, (const double[CARRY_ARGUMENTS]){ p->arg[word][0], p->arg[word][1] }, y);
}

/* what (mid ..) says of a row of S, of which the first `see` are seen */
static void between(const struct problem *p, double *s, int32_t n, int32_t see)
{
    double most = -INFINITY, sum = 0;
    for (int32_t i = 0; i < n; i++) s[i] *= (double)p->mid_scale;
    for (const uint8_t *word = p->mid; *word; word++)
        for (int32_t i = 0; i < n; i++) {
            s[i] = element(p, *word, s[i]);
            if (*word != THEN_SOFTMAX) continue;
            for (int32_t j = 0; j < see && i == 0; j++) most = fmax(most, s[j]);
            for (int32_t j = 0; j < n && i == 0; j++) sum += s[j] = j < see ? judge_exp(s[j] - most) : 0;
            s[i] /= sum;
        }
}

static void two(const struct problem *p, double *c, const double *a, const double *b, const double *second)
{
    struct walker rows = { .p = p };
    unsigned inner = 0, columns = 0;
    double *s = xmalloc((size_t)p->size[p->along], sizeof *s);
    for (int v = 0; v < p->nvar; v++) {
        const bool in = p->stride[TENSOR_A][v] || p->stride[TENSOR_B][v], out = p->stride[TENSOR_C][v] != 0;
        if (v == p->along || p->size[v] == 1) continue;
        if (in && out) rows.vars |= 1u << v;
        else if (in) inner |= 1u << v;
        else columns |= 1u << v;
    }
    do {
        const int32_t n = p->size[p->along];
        const int32_t see = p->query < 0 ? n : rows.at[p->query] + 1 + n - p->size[p->query];
        for (int32_t j = 0; j < n; j++) {
            struct walker k = { .p = p, .vars = inner };
            s[j] = 0;
            for (int t = 0; t < 4; t++) k.o[t] = rows.o[t] + j * p->stride[t][p->along];
            do s[j] += a[k.o[TENSOR_A]] * b[k.o[TENSOR_B]];
            while (step(&k));
        }
        between(p, s, n, see);
        struct walker x = { .p = p, .vars = columns };
        memcpy(x.o, rows.o, sizeof x.o);
        do
            for (int32_t j = 0; j < n; j++)
                c[x.o[TENSOR_C]] += s[j] * second[x.o[TENSOR_V] + j * p->stride[TENSOR_V][p->along]];
        while (step(&x));
    } while (step(&rows));
    free(s);
}

/* ---- what follows ---- */

static double rounded(const struct problem *p, double x) { return p->type == TYPE_F64 ? x : (double)(float)x; }

/* a norm of each row of c, each number of which may be wrong by `off`, and with all of them the row's size */
static void normalise(const struct problem *p, double *c, double *off, const double *more, bool layer)
{
    struct walker w = { .p = p };
    const int32_t n = p->size[p->norm];
    const int64_t apart = p->stride[TENSOR_C][p->norm];
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_C][v] && v != p->norm) w.vars |= 1u << v;
    do {
        double mean = 0, squares = 0, wrong = 0, spread = 0, *x = c + w.o[TENSOR_C], *e = off + w.o[TENSOR_C];
        for (int32_t i = 0; i < n && layer; i++) {
            mean += x[i * apart] / n;
            wrong += (e[i * apart] + 4 * ROUNDING * fabs(x[i * apart])) / n;
        }
        for (int32_t i = 0; i < n; i++) {
            squares += pow(x[i * apart] - mean, 2) / n;
            spread += pow(e[i * apart] + wrong, 2) / n;
        }
        for (int32_t i = 0; i < n; i++) {
            const int64_t at = (w.o[TENSOR_C] + i * apart) / p->bias_step % p->bias;
            const double gain = more[p->bias + at] / sqrt(squares + NORM_LEAST), z = x[i * apart] - mean;
            e[i * apart] = fabs(gain) * (e[i * apart] + wrong + fabs(z) * sqrt(spread / (squares + NORM_LEAST)));
            x[i * apart] = z * gain + (layer ? more[2 * p->bias + at] : 0);
        }
    } while (step(&w));
}

static double *wide(const struct problem *p, const void *x, int64_t n)
{
    double *to = xcalloc((size_t)n + 1, sizeof *to);
    for (int64_t i = 0; i < n && x; i++)
        to[i] = p->type == TYPE_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
    return to;
}

/* The words, each rounded, and how far from that a kernel may be: what gelu, a division and a norm are wrong by in
 * floats, and what the words behind them make of it. */
static void follow(const struct problem *p, double *c, double *off, struct carry_extra extra)
{
    const int64_t n = p->elements[TENSOR_C];
    double *bias = wide(p, extra.bias, p->bias * p->biases), *residual = wide(p, extra.residual, n);
    for (int64_t i = 0; i < n; i++) c[i] = rounded(p, c[i]);
    for (const uint8_t *word = p->then; *word; word++) {
        if (*word == THEN_LAYERNORM || *word == THEN_RMSNORM) normalise(p, c, off, bias, *word == THEN_LAYERNORM);
        for (int64_t i = 0; i < n; i++) {
            const double by = *word == THEN_SCALE ? bias[p->scale + i / p->bias_step % p->bias] : 1;
            off[i] = judge_error(*word, c[i], off[i]) * fabs(by);
            if (*word == THEN_BIAS) c[i] += bias[i / p->bias_step % p->bias];
            if (*word == THEN_RESIDUAL) c[i] += residual[i];
            if (*word == THEN_OVER) c[i] /= p->over, off[i] = off[i] / p->over + 2 * ROUNDING * fabs(c[i]);
            c[i] = rounded(p, element(p, *word, c[i] * by));
            off[i] += off[i] > 0 ? 2 * ROUNDING * fabs(c[i]) : 0;
        }
    }
    free(bias);
    free(residual);
}

void problem_reference(const struct problem *p, float *c, float *within, const float *a, const float *b,
                       struct carry_extra extra)
{
    const int64_t n = p->elements[TENSOR_C];
    double *x = numbers(p, TENSOR_A, a), *y = p->elements[TENSOR_B] ? numbers(p, TENSOR_B, b) : NULL, most = 0;
    double *second = p->pair ? numbers(p, TENSOR_V, extra.second) : NULL, *sum = xcalloc((size_t)n, sizeof *sum);
    double *off = xcalloc((size_t)n, sizeof *off);
    if (p->pair) two(p, sum, x, y, second);
    else sums(p, sum, x, y ? y : x);
    for (int64_t i = 0; i < n && p->pair; i++) most = fmax(most, fabs(sum[i]));
    for (int64_t i = 0; i < n && p->pair; i++)
        off[i] = PAIR_ERROR * most + (p->store == STORE_BF16 ? SCORE_ERROR : 0);
    if (p->then[0]) follow(p, sum, off, extra);
    for (int64_t i = 0; i < n; i++) {
        if (problem_then(p, THEN_CAST)) ((uint16_t *)(void *)c)[i] = to_bf16(sum[i]);
        else if (problem_then(p, THEN_CAST_F16)) ((uint16_t *)(void *)c)[i] = to_f16(sum[i]);
        else if (p->type == TYPE_F64) ((double *)(void *)c)[i] = sum[i];
        else if (p->type == TYPE_U8S8 && !p->then[0]) ((int32_t *)(void *)c)[i] = (int32_t)(int64_t)sum[i];
        else c[i] = (float)sum[i];
        within[i] = (float)off[i];
    }
    free_all(x, y, second, sum, off);
}

/* ---- is a result that? ---- */

bool problem_equal(const struct problem *p, const float *got, const float *want, const float *within)
{
    size_t n = (size_t)p->elements[TENSOR_C];
    bool cast = problem_cast(p);
    enum carry_store last = problem_then(p, THEN_CAST_F16) ? CARRY_HALVES_F16 : CARRY_HALVES_BF16;
    bool rounds = problem_then(p, THEN_OVER) || p->norm >= 0 || p->pair;
    for (const uint8_t *word = p->then; *word; word++) rounds |= judge_error(*word, 1, 0) > 0;
    if (!rounds || p->type == TYPE_F64)                  /* doubles are divided, in both */
        return !memcmp(got, want, n * (size_t)(cast ? 2 : p->bytes));
    for (size_t i = 0; i < n; i++) {
        float x, y;
        if (cast) {
            carry_widen(last, (const char *)got + 2 * i, &x, 1);
            carry_widen(last, (const char *)want + 2 * i, &y, 1);
        } else {
            x = got[i], y = want[i];
        }
        if (x == y) continue;                            /* both infinite, too */
        if (!(fabsf(x - y) <= within[i] + 1e-5f + 1e-5f * fabsf(y) + (cast ? fabsf(y) / 128 : 0))) return false;
    }
    return true;
}

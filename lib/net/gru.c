#include "net/gru.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gru *gru_new(int in, int hidden, int batch, int length, uint64_t seed)
{
    struct gru *g = xcalloc(1, sizeof *g);
    size_t i = (size_t)in, h = (size_t)hidden, rows = (size_t)batch * (size_t)length;
    g->in = in, g->hidden = hidden, g->batch = batch, g->length = length;
    g->size = 3 * h * (i + h) + 6 * h;
    g->weight = xcalloc(g->size, sizeof(float));
    g->gradient = xcalloc(g->size, sizeof(float));
    g->x = xcalloc(size_mul(rows, i), sizeof(float));
    g->h = xcalloc(size_mul(size_add(rows, (size_t)batch), h), sizeof(float));
    g->gate = xcalloc(size_mul(size_mul(rows, h), 3), sizeof(float));
    g->gated = xcalloc(size_mul(size_mul(rows, h), 3), sizeof(float));
    g->d = xcalloc(size_mul((size_t)batch, h), sizeof(float));
    g->dw = xcalloc(size_mul(size_mul(rows, h), 3), sizeof(float));
    g->du = xcalloc(size_mul(size_mul(rows, h), 3), sizeof(float));
    g->d_x = xcalloc(size_mul(rows, i), sizeof(float));
    struct rng r = rng_for(seed, str_of("gru"));
    double bound = sqrt(6.0 / (in + hidden)), bound_u = sqrt(6.0 / (hidden + hidden));
    for (size_t k = 0; k < 3 * h * i; k++) g->weight[k] = (float)(bound * (2 * rng_unit(&r) - 1));
    for (size_t k = 3 * h * i; k < 3 * h * (i + h); k++) g->weight[k] = (float)(bound_u * (2 * rng_unit(&r) - 1));
    return g;
}

static float sigmoid(float v)
{
    return 1 / (1 + expf(-v));
}

const float *gru_forward(struct gru *g, const float *x, const float *h0, int n, int steps)
{
    if (n < 1 || n > g->batch || steps < 1 || steps > g->length)
        die("gru: %d sequences of %d steps, room for %d of %d", n, steps, g->batch, g->length);
    int in = g->in, h = g->hidden, rows = n * steps;
    const float *w = g->weight, *u = w + (size_t)(3 * h) * (size_t)in, *b = u + (size_t)(3 * h) * (size_t)h,
                *ub = b + 3 * h;
    memcpy(g->x, x, (size_t)rows * (size_t)in * sizeof *x);
    if (h0) memcpy(g->h, h0, (size_t)n * (size_t)h * sizeof *h0);
    else memset(g->h, 0, (size_t)n * (size_t)h * sizeof *g->h);
    for (int i = 0; i < rows; i++) {
        memcpy(g->gate + (size_t)i * (size_t)(3 * h), b, (size_t)(3 * h) * sizeof *b);
        memcpy(g->gated + (size_t)i * (size_t)(3 * h), ub, (size_t)(3 * h) * sizeof *ub);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, 3 * h, in, 1, g->x, in, w, in, 1, g->gate, 3 * h);
    for (int t = 0; t < steps; t++) {
        const float *from = g->h + (size_t)(t * n) * (size_t)h;
        float *to = g->h + (size_t)((t + 1) * n) * (size_t)h, *gate = g->gate + (size_t)(t * n) * (size_t)(3 * h),
              *gated = g->gated + (size_t)(t * n) * (size_t)(3 * h);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, 3 * h, h, 1, from, h, u, h, 1, gated, 3 * h);
        for (int i = 0; i < n; i++, gate += 3 * h, gated += 3 * h, from += h, to += h)
            for (int k = 0; k < h; k++) {
                float z = gate[k] = sigmoid(gate[k] + gated[k]);
                float r = gate[h + k] = sigmoid(gate[h + k] + gated[h + k]);
                float c = gate[2 * h + k] = tanhf(gate[2 * h + k] + r * gated[2 * h + k]);
                to[k] = (1 - z) * c + z * from[k];
            }
    }
    return g->h + (size_t)n * (size_t)h;
}

void gru_backward(struct gru *g, const float *d_h, const int *first_of, int n, int steps)
{
    int in = g->in, h = g->hidden, rows = n * steps;
    size_t at = (size_t)(3 * h);
    const float *w = g->weight, *u = w + at * (size_t)in;
    memset(g->d, 0, (size_t)n * (size_t)h * sizeof *g->d);
    for (int t = steps; t-- > 0; ) {
        size_t first = (size_t)(t * n);
        const float *from = g->h + first * (size_t)h;
        for (int i = 0; i < n; i++) {
            const float *gate = g->gate + (first + (size_t)i) * at, *gated = g->gated + (first + (size_t)i) * at;
            float *dw = g->dw + (first + (size_t)i) * at, *du = g->du + (first + (size_t)i) * at;
            if (first_of && t < first_of[i]) {
                memset(dw, 0, at * sizeof *dw);
                memset(du, 0, at * sizeof *du);
                memset(g->d + (size_t)i * (size_t)h, 0, (size_t)h * sizeof *g->d);
                continue;
            }
            for (int k = 0; k < h; k++) {
                size_t j = (size_t)i * (size_t)h + (size_t)k;
                float z = gate[k], r = gate[h + k], c = gate[2 * h + k], d = g->d[j] + d_h[first * (size_t)h + j];
                float dc = d * (1 - z) * (1 - c * c);
                dw[k] = du[k] = d * (from[j] - c) * z * (1 - z);
                dw[h + k] = du[h + k] = dc * gated[2 * h + k] * r * (1 - r);
                dw[2 * h + k] = dc;
                du[2 * h + k] = dc * r;
                g->d[j] = d * z;
            }
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, h, 3 * h, 1, g->du + first * at, 3 * h, u, h, 1, g->d,
                    h);
    }
    float *gw = g->gradient, *gu = gw + at * (size_t)in, *gb = gu + at * (size_t)h, *gub = gb + at;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, 3 * h, in, rows, 1, g->dw, 3 * h, g->x, in, 0, gw, in);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, 3 * h, h, rows, 1, g->du, 3 * h, g->h, h, 0, gu, h);
    memset(gb, 0, 2 * at * sizeof *gb);
    for (int i = 0; i < rows; i++)
        for (size_t k = 0; k < at; k++) gb[k] += g->dw[(size_t)i * at + k], gub[k] += g->du[(size_t)i * at + k];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in, 3 * h, 1, g->dw, 3 * h, w, in, 0, g->d_x, in);
}

void gru_free(struct gru *g)
{
    if (!g) return;
    float *all[] = { g->weight, g->gradient, g->x, g->h, g->gate, g->gated, g->d, g->dw, g->du, g->d_x };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(g);
}

/* pca.c - see pca.h */
#include "fit/pca.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "fit/dense.h"
#include "fit/spread.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* divided by its deviation, or by the unit of raw columns; 0 for a column that does not vary */
static double score_of(const struct pca *p, size_t j, double v)
{
    return p->scale[j] > 0 ? (v - p->shift[j] - p->mean[j]) / p->scale[j] : 0;
}

struct pca pca_fit(const double *x, size_t rows, size_t cols, bool zscore)
{
    struct pca p = { .cols = cols, .unit = 1 };
    p.mean = xcalloc(size_add(5 * cols, size_mul(cols, cols)) + 1, sizeof *p.mean);
    p.shift = p.mean + cols;
    p.scale = p.shift + cols;
    p.variance = p.scale + cols;
    p.ratio = p.variance + cols;
    p.loading = p.ratio + cols;
    double *c = xcalloc(size_mul(cols, cols) + 1, sizeof *c), *row = xmalloc(cols + 1, sizeof *row), total = 0, top = 0;
    for (size_t j = 0; j < cols; j++) {
        struct spread s = spread_of(x + j, cols, NULL, rows, 1);
        if (!isfinite(s.deviation)) die("column %zu: its numbers are too far apart", j + 1);
        p.shift[j] = s.shift;
        p.mean[j] = s.mean;
        p.scale[j] = zscore ? s.deviation : 1;
        top = fmax(top, s.deviation);
    }
    if (!zscore && top > 0) {
        int exponent;
        frexp(top, &exponent);
        p.unit = abs(exponent) > 300 ? ldexp(1, exponent) : 1;
        for (size_t j = 0; j < cols; j++) p.scale[j] = p.unit;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) row[j] = score_of(&p, j, x[i * cols + j]);
        for (size_t j = 0; j < cols; j++)
            for (size_t k = 0; k <= j; k++) c[j * cols + k] += row[j] * row[k];
    }
    for (size_t j = 0; j < cols; j++)
        for (size_t k = 0; k <= j; k++) c[k * cols + j] = c[j * cols + k] /= rows > 1 ? (double)(rows - 1) : 1;
    if (cols) dense_eigen(c, cols, p.variance, p.loading);
    for (size_t j = 0; j < cols; j++) {
        if (p.variance[j] < 0) p.variance[j] = 0;
        total += p.variance[j];
        p.rank += p.variance[j] > 1e-12 * p.variance[0];
    }
    for (size_t j = 0; j < cols; j++) {
        p.ratio[j] = total > 0 ? p.variance[j] / total : NAN;
        p.variance[j] *= p.unit * p.unit;
    }
    free(c);
    free(row);
    return p;
}

double pca_score(const struct pca *p, const double *row, size_t component)
{
    double sum = 0;
    for (size_t j = 0; j < p->cols; j++)
        sum += score_of(p, j, row[j]) * p->loading[j * p->cols + component];
    return sum * p->unit;
}

void pca_free(struct pca *p)
{
    free(p->mean);
    *p = (struct pca){ 0 };
}

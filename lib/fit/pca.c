/* pca.c - see pca.h */
#include "fit/pca.h"
#include "base/checked.h"
#include "base/mem.h"
#include "fit/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pca pca_fit(const double *x, size_t rows, size_t cols, bool zscore)
{
    struct pca p = { .cols = cols };
    p.mean = xcalloc(size_add(4 * cols, size_mul(cols, cols)) + 1, sizeof *p.mean);
    p.scale = p.mean + cols;
    p.variance = p.scale + cols;
    p.ratio = p.variance + cols;
    p.loading = p.ratio + cols;
    double *c = xcalloc(size_mul(cols, cols) + 1, sizeof *c), *row = xmalloc(cols + 1, sizeof *row), total = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) p.mean[j] += x[i * cols + j] / (double)rows;
    for (size_t j = 0; j < cols; j++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) square += pow(x[i * cols + j] - p.mean[j], 2);
        double deviation = rows > 1 ? sqrt(square / (double)(rows - 1)) : 0;
        p.scale[j] = !zscore ? 1 : deviation > 1e-12 * fabs(p.mean[j]) ? deviation : 0;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) row[j] = p.scale[j] > 0 ? (x[i * cols + j] - p.mean[j]) / p.scale[j] : 0;
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
    for (size_t j = 0; j < cols; j++) p.ratio[j] = total > 0 ? p.variance[j] / total : NAN;
    free(c);
    free(row);
    return p;
}

double pca_score(const struct pca *p, const double *row, size_t component)
{
    double sum = 0;
    for (size_t j = 0; j < p->cols; j++)
        if (p->scale[j] > 0) sum += (row[j] - p->mean[j]) / p->scale[j] * p->loading[j * p->cols + component];
    return sum;
}

void pca_free(struct pca *p)
{
    free(p->mean);
    *p = (struct pca){ 0 };
}

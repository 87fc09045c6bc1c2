/* cost.c - see cost.h */
#include "inline/cost.h"
#include "base/compare.h"
#include "base/str.h"
#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 2000 };

void cost_fit(const double *x, const double *y, size_t n, size_t columns, double penalty, const double *prior,
              double *weight)
{
    double *rest = xmalloc(n + 1, sizeof *rest);
    for (size_t i = 0; i < n; i++) rest[i] = y[i];
    for (size_t j = 0; j < columns; j++) weight[j] = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t j = 0; j < columns; j++) {
            double square = 0, along = 0;
            for (size_t i = 0; i < n; i++) {
                double v = x[i * columns + j];
                square += v * v;
                along += v * (rest[i] + weight[j] * v);
            }
            double next = square > 0 ? fmax(0, (along / square + penalty * prior[j]) / (1 + penalty)) : prior[j],
                   change = next - weight[j];
            for (size_t i = 0; i < n && change != 0; i++) rest[i] -= change * x[i * columns + j];
            weight[j] = next;
        }
    free(rest);
}

struct place { double value; size_t at; };

static int by_value(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ORDER(x->value, y->value);
}

static void ranks(const double *v, size_t n, double *rank)
{
    struct place *p = xmalloc(n + 1, sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = (struct place){ v[i], i };
    qsort(p, n, sizeof *p, by_value);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && p[k].value == p[i].value;) k++;
        for (size_t j = i; j < k; j++) rank[p[j].at] = (double)(i + k - 1) / 2;
    }
    free(p);
}

double cost_rank(const double *a, const double *b, size_t n)
{
    if (n < 3) return NAN;
    double *x = xmalloc(2 * n, sizeof *x), *y = x + n, mean = (double)(n - 1) / 2, xx = 0, yy = 0, xy = 0;
    ranks(a, n, x);
    ranks(b, n, y);
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    free(x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

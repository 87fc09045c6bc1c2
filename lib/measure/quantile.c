/* quantile.c - the order statistics of stats.h, without GSL: loop-peer must not have its BLAS beside those it times */
#include "measure/stats.h"
#include "base/compare.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double *sorted(const double *v, size_t n)
{
    double *s = xmalloc(n ? n : 1, sizeof *s);
    if (n) memcpy(s, v, n * sizeof *s);
    qsort(s, n, sizeof *s, order_doubles);
    return s;
}

static double quantile_sorted(const double *s, size_t n, double q)
{
    if (!n) return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return s[n - 1];
    if (s[i] == s[i + 1]) return s[i];
    return s[i] + (at - (double)i) * (s[i + 1] - s[i]);
}

double quantile(const double *v, size_t n, double q)
{
    double *s = sorted(v, n), r = quantile_sorted(s, n, q);
    free(s);
    return r;
}

double median(const double *v, size_t n)
{
    return quantile(v, n, 0.5);
}

double median_deviation(const double *v, size_t n)
{
    double m = median(v, n), *a = xmalloc(n ? n : 1, sizeof *a);
    for (size_t i = 0; i < n; i++) a[i] = fabs(v[i] - m);
    double r = 1.4826 * median(a, n);
    free(a);
    return r;
}

/* largest k with P(Binomial(n, 1/2) < k) <= (1 - confidence)/2; 0 when there is none */
struct interval median_interval(const double *v, size_t n, double confidence, double *coverage)
{
    double *s = sorted(v, n), below = 0, last = 0;
    size_t k = 0;
    for (; n && k < (n + 1) / 2; k++) {
        double term =
            exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) - (double)n * M_LN2);
        if (below + term > (1 - confidence) / 2) break;
        last = below += term;
    }
    struct interval r = { quantile_sorted(s, n, 0.5), k ? s[k - 1] : -INFINITY, k ? s[n - k] : INFINITY };
    if (coverage) *coverage = k ? 1 - 2 * last : 1;
    free(s);
    return r;
}

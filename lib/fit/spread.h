/* spread.h - where the numbers of a column lie and how far apart, for any size of number.
 *
 * Differences from the first value are exact where mean and deviation of the values themselves would be lost, and what
 * is squared is at most 1: columns of 1e-200, of 1e200 and of 1e15 +- 1 are like others. */
#ifndef MILLRACE_SPREAD_H
#define MILLRACE_SPREAD_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct spread {
    double shift, mean;                                  /* the mean is shift + mean */
    double deviation;                                    /* 0: all values are the same; inf: too far apart */
};

/* value i is x[row[i] * stride], or x[i * stride] where row is NULL; squares are divided by n - less */
static inline struct spread spread_of(const double *x, size_t stride, const uint32_t *row, size_t n, size_t less)
{
    struct spread s = { 0 };
    double top = 0, sum = 0, square = 0;
    if (!n) return s;
    s.shift = x[(row ? row[0] : 0) * stride];
    for (size_t i = 0; i < n; i++) top = fmax(top, fabs(x[(row ? row[i] : i) * stride] - s.shift));
    if (!(top > 0) || n <= less) return s;
    for (size_t i = 0; i < n; i++) sum += (x[(row ? row[i] : i) * stride] - s.shift) / top;
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = (x[(row ? row[i] : i) * stride] - s.shift) / top - mean;
        square += d * d;
    }
    s.mean = mean * top;
    s.deviation = isfinite(top) ? sqrt(square / (double)(n - less)) * top : INFINITY;
    return s;
}
#endif

/* summary.h - running statistics of numbers that come one at a time.
 *
 * Integers stay integers (base/exact.h).  Sums of others are compensated (Neumaier, 1974); the variance is Welford's
 * (1962) of what is left when the first value is taken away, since numbers far from 0 would lose it, by a power of two,
 * since squares would leave the doubles.  A nan makes everything nan but the count.
 * What is not defined (mean of nothing, sd of one value) is reported as false. */
#ifndef MILLRACE_SUMMARY_H
#define MILLRACE_SUMMARY_H
#include "base/exact.h"
#include <stdbool.h>
#include <stddef.h>

struct summary {                                         /* zero-initialise; set keep for median and percentiles */
    bool keep, sorted, nan, fraction;                    /* fraction: not all are integers, or their sum is none */
    size_t n, cap;
    double total, lost, mean, m2, logs;                  /* mean and m2 in units of differences */
    struct power { double by, far; } unit;
    __int128 whole;                                      /* the sum of integers */
    struct exact_number min, max, first, last, *value;
};

enum statistic {
    STAT_N,
    STAT_MEAN,
    STAT_SUM,
    STAT_MIN,
    STAT_MAX,
    STAT_SD,
    STAT_GMEAN,
    STAT_MEDIAN,
    STAT_FIRST,
    STAT_LAST,
    STAT_PERCENTILE
};

/* "n", "mean", "sum", "min", "max", "sd" (of a sample), "gmean", "median", "first", "last", "p0" .. "p100" */
bool statistic_parse(const char *s, size_t n, enum statistic *, double *percent);

void summary_add(struct summary *, struct exact_number v);
/* percentiles as in R type 7, numpy */
bool summary_get(struct summary *, enum statistic, double percent, struct exact_number *v);

/* Pearson's correlation of pairs, by co-moments (Welford's, of differences to the first pair); zero-initialise. */
struct correlation { size_t n; struct exact_number first[2]; double mean[2], m2[2], both; struct power unit[2]; };
void correlation_add(struct correlation *, struct exact_number a, struct exact_number b);
bool correlation_get(const struct correlation *, double *r);   /* false: fewer than two pairs, or one does not vary */
#endif

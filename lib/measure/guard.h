/* guard.h - the never-worse rule: a decision goes out only where it is sure to beat the default, otherwise the default
 * does.
 *
 * Works on log-ratios of time, candidate over default (below 0 is a gain).  Calibration values decide; confirmation
 * values, which the decision has never seen, say what it is worth: the estimate that decided is biased towards gain,
 * the other is not.  With several candidates the confidence is shared among them (Bonferroni), so that the best of many
 * gets no bonus. */
#ifndef MILLRACE_GUARD_H
#define MILLRACE_GUARD_H
#include "measure/stats.h"
#include <stdbool.h>

struct guard {
    double confidence;                                   /* 0.95: the chance of keeping a loss is 1 - confidence */
    double least_gain;                                   /* 0: any sure gain; 0.01: only when surely below 1/1.01 */
};

/* The whole rule: does the upper bound of the log-ratio, at the confidence shared by `candidates`, lie below -log(1 +
 * least_gain)? */
bool guard_keeps(const double *d, size_t n, size_t candidates, const struct guard *, double *upper);

struct guarded {
    bool keep;
    double upper;                                        /* bound that decided, log-ratio */
    struct paired calibration, confirmation;             /* of the even values | of the odd ones */
};

struct guarded guard_decide(const double *d, size_t n, size_t candidates, const struct guard *);
/* rounds below which nothing can be kept, whatever it gains; SIZE_MAX: more than 8192 */
size_t guard_least(size_t candidates, const struct guard *);
#endif

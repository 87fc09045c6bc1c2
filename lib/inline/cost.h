/* cost.h - a cost that tells time: what a build's counted events say about its CPU time, beside what instructions say.
 *
 * The logarithm of a build's CPU time over the base's is taken to be the sum over the events of a weight times what the
 * build has more of the event than the base, per instruction of the base.  Weights are those of a processor: none is
 * negative.  They are fitted by least squares with a penalty on leaving the prior (columns scaled to their own size):
 * what data do not say is as the prior says.  They are always judged on programs that they were not fitted to. */
#ifndef MILLRACE_INLINE_COST_H
#define MILLRACE_INLINE_COST_H
#include <stddef.h>

/* x: n rows of `columns`; y: n; prior: columns, none negative.  Coordinate descent to a fixed number of sweeps; weight:
 * columns, out. */
void cost_fit(const double *x, const double *y, size_t n, size_t columns, double penalty, const double *prior,
              double *weight);
/* Spearman's rank correlation, ties at their mean rank; nan where one of them does not vary or n < 3. */
double cost_rank(const double *a, const double *b, size_t n);
#endif

/* within.h - which nest of a problem to measure next, given what those measured before it took.
 *
 * A Gaussian process over the features of the problem's candidates: its mean is what was predicted for each plus one
 * offset for the problem, and what was measured moves those that are alike.  Next is the one with the greatest expected
 * improvement (Jones, Schonlau, Welch, J. Global Optimization 13, 1998); the first two are the prediction's first and
 * place 0, and every fourth is the lowest place that is left, so that trusting the prediction cannot cost much.  The
 * scales were chosen on 72 problems of another machine; a time counts as 1.5 over the best at most.  */
#ifndef MILLRACE_WITHIN_H
#define MILLRACE_WITHIN_H
#include <stddef.h>

struct within;
/* x: n rows of `features`, copied; prior: logarithms of seconds, but for an offset; infinite: never next */
struct within *within_new(const double *x, const double *prior, size_t n, size_t features);
size_t within_next(const struct within *);               /* a place from 0; n: none is left */
void within_told(struct within *, size_t place, double log_seconds);   /* nan: it could not be measured */
void within_free(struct within *);
#endif

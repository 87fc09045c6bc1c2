/* lbfgs.h - minimise a smooth function by limited-memory BFGS with a strong Wolfe line search.
 *
 * Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 7.4, 7.5, 3.5 and 3.6; ten pairs are kept. */
#ifndef MILLRACE_LBFGS_H
#define MILLRACE_LBFGS_H
#include <stddef.h>

typedef double lbfgs_function(void *context, const double *x, double *gradient);   /* value; fills the gradient */

struct lbfgs_report {
    double value, gradient;                              /* at the end; gradient: largest component */
    long iterations, evaluations;
};

/* x (n entries): start in, best point out.  Stops when the largest gradient component is at most `tolerance`, after
 * `iterations`, or when no step lowers the function any more. */
struct lbfgs_report lbfgs(size_t n, double *x, lbfgs_function *, void *context, long iterations, double tolerance);
#endif

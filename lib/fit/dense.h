/* dense.h - the few dense operations the fits need, by GSL on OpenBLAS; GSL's errors become messages, not aborts.
 *
 * All matrices are row-major. */
#ifndef MILLRACE_DENSE_H
#define MILLRACE_DENSE_H
#include <stdbool.h>
#include <stddef.h>

void dense_begin(void);                                  /* GSL's error handler, one thread; called by all below */
bool dense_cholesky(double *a, size_t n);                /* a = L L' in place (lower); false if not positive definite */
void dense_cholesky_solve(const double *l, size_t n, double *x);      /* x: right side in, solution out */
/* Symmetric a (destroyed) = V diag(value) V'; values descending, vectors are the columns of V, each with its largest
 * component positive, so that the result is unique. */
void dense_eigen(double *a, size_t n, double *value, double *vector);
#endif

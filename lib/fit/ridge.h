/* ridge.h - minimise  sum_i c_i (a_i'w - b_i)^2 + lambda |w|^2  over w, no intercept, A sparse.
 *
 * Three ways to the same unique optimum (Hoerl and Kennard, Technometrics 1970; the dual as in Saunders, Gammerman and
 * Vovk, ICML 1998): PRIMAL factors A'A + lambda I (columns^2 doubles), DUAL factors AA' + lambda I (rows^2 doubles)
 * and gives w = A'u, ITERATIVE runs conjugate gradients on the normal equations with a diagonal preconditioner and
 * needs a few vectors besides A.  AUTO takes the smaller factorisation while that is at most RIDGE_DENSE wide, else
 * ITERATIVE. The Gram matrix is formed once, so a path of lambdas or a bootstrap over rows (by weights) only factors
 * again. */
#ifndef MILLRACE_RIDGE_H
#define MILLRACE_RIDGE_H
#include "fit/sparse.h"

enum { RIDGE_DENSE = 6000 };                             /* 288 MB of doubles */
enum ridge_method { RIDGE_AUTO, RIDGE_PRIMAL, RIDGE_DUAL, RIDGE_ITERATIVE };

struct ridge;                                            /* borrows A */
struct ridge *ridge_new(const struct sparse *a, enum ridge_method);
enum ridge_method ridge_method(const struct ridge *);    /* what AUTO chose */

struct ridge_report {
    double sse;                                          /* sum_i c_i (a_i'w - b_i)^2 */
    double gradient;                                     /* largest |A'C(Aw - b) + lambda w|: 0 at the optimum */
    int iterations;                                      /* of ITERATIVE */
};

/* b: rows entries; weight: c, rows entries, or NULL for all 1; w: cols entries, out.  lambda > 0. */
struct ridge_report ridge_solve(struct ridge *, double lambda, const double *b, const double *weight, double *w);
void ridge_free(struct ridge *);
#endif

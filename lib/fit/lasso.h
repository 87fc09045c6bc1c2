/* lasso.h - minimise  sum_i c_i (a_i'w - b_i)^2 / (2 sum_i c_i) + alpha |w|_1  over w, no intercept, A sparse.
 *
 * Cyclic coordinate descent (Friedman, Hastie and Tibshirani, J. Stat. Software 33, 2010) on an active set, sped up by
 * Anderson extrapolation over the sweeps (Bertrand and Massias, AISTATS 2021).  It ends when the optimality conditions
 * hold for every column to `tolerance`, or as far as sums of such numbers can tell, and the residual reached is
 * always reported.  Among equal columns the first one gets the weight; the minimum is then not unique, which is the
 * problem's fault and not the solver's. */
#ifndef MILLRACE_LASSO_H
#define MILLRACE_LASSO_H
#include "fit/sparse.h"
#include <stdint.h>

struct lasso_report {
    double objective;
    double kkt;                                          /* largest violation of the optimality conditions */
    double r_squared;                                    /* 1 - SSE / SST, SST about the mean of b */
    size_t nonzeros;
    double norm1;
    long sweeps;
};

/* columns: the transpose of A (its rows are the columns of A).  b, weight (c, NULL: all 1): one entry per row of A.
 * w: one per column; in: where to start (zeros will do), out: the fit.  Stops after `sweeps` at the latest. */
struct lasso_report lasso_fit(const struct sparse *columns, const double *b, const double *weight, double alpha,
                              long sweeps, double tolerance, double *w);

/* The smallest alpha for which all weights are 0. */
double lasso_alpha_max(const struct sparse *columns, const double *b, const double *weight);

/* Validation: for k = 0 .. nfold-1 fit on the rows with fold[i] != k along the alphas (descending, warm starts) and
 * judge on those with fold[i] == k.  r_squared[i] = 1 - SSE / SST pooled over the folds, SST about each fold's mean
 * (NAN when undefined).  Returns the index of the first largest.  One fold with nfold = 1 is a hold-out;
 * folds that follow groups are cross-validation by group. */
size_t lasso_validate(const struct sparse *columns, const double *b, const int *fold, int nfold,
                      const double *alpha, size_t nalpha, long sweeps, double tolerance, double *r_squared);

/* The usual two ways to an alpha.  HOLDOUT is the original study's: the first fifth of the rows, in their order, judges
 * alpha = 2^-1 ... 2^-20; those rows are no random sample.  CV: ten folds by group where there are at least two groups
 * (a group is never split), else by a seeded draw of rows; 60 alphas from alpha_max down to alpha_max / 10000. */
enum lasso_way { LASSO_HOLDOUT, LASSO_CV };
enum { LASSO_PATH = 60 };
struct lasso_path { size_t n, best; double alpha[LASSO_PATH], r_squared[LASSO_PATH]; };
struct lasso_path lasso_choose(const struct sparse *columns, const double *b, const uint32_t *group, enum lasso_way,
                               uint64_t seed, long sweeps, double tolerance);
#endif

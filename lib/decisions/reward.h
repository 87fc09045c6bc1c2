/* reward.h - the value of every decision, learned from a problem, and what the runs can tell about it at all.
 *
 * w has two entries a node (see problem.h); columns that no run used get 0 and are absent.  Runs with equal rows are
 * merged before fitting (weights add, targets average), which changes no optimum.  Fits: lib/fit/ridge.h, lasso.h. */
#ifndef MILLRACE_INLINE_REWARD_H
#define MILLRACE_INLINE_REWARD_H
#include "decisions/problem.h"

struct reward_rows {                                     /* distinct rows of a problem */
    struct sparse a;                                     /* rows x all columns */
    size_t *of;                                          /* run -> row */
    size_t n_run;
    bool borrowed;                                       /* all rows are distinct: a is the problem's own */
};
struct reward_rows reward_rows(const struct sparse_problem *);
void reward_rows_free(struct reward_rows *);

struct reward_fit {
    double mse;                                          /* over runs, of A w against the target */
    double r_squared;                                    /* 1 - SSE / SST about the mean of the target */
    double objective; /* ridge: |Aw - b|^2 + lambda |w|^2; lasso: |Aw - b|^2 / 2R + alpha |w|_1 */
    double optimality;                                   /* residual of the optimality conditions */
    size_t nonzeros;
};

/* b and weight: one per run; weight NULL is 1 each. */
struct reward_fit reward_ridge(const struct reward_rows *, double lambda, const double *b, const double *weight,
                               double *w);
struct reward_fit reward_lasso(const struct reward_rows *, double alpha, const double *b, const double *weight,
                               double *w);

/* The study's choice: hold out the first fifth of the runs, try 2^-1 .. 2^-20, best R^2 there.  Or k-fold
 * cross-validation over groups of runs (over runs when there is one group), the same alphas.  r_squared: of the
 * choice. */
enum { ALPHAS = 20, FOLDS = 5 };
double reward_alpha(const struct sparse_problem *, const double *b, bool hold_out, double *r_squared);

/* rank of the rows; identified[j]: the part of column j's unknown that lies in the row space, 1 when the data
 * determine it, 0 when they say nothing; group[j]: columns equal up to scale share the number of the first of them;
 * NAME_NONE: unused. Needs distinct rows^2 doubles; returns false, with rank unknown but groups filled, beyond
 * RANK_ROWS of them. */
enum { RANK_ROWS = 3000 };
bool reward_rank(const struct reward_rows *, size_t *rank, double *identified, uint32_t *group);

/* Percentile intervals at `confidence` from `n` bootstrap samples over groups of runs (over runs when there is one
 * group). The target is computed anew in each sample.  lower, upper: one per column.  lambda > 0 is ridge, else
 * lasso at alpha. */
void reward_bootstrap(const struct sparse_problem *, const struct reward_rows *, enum problem_target, double lambda,
                      double alpha, long n, double confidence, uint64_t seed, double *lower, double *upper);

/* All of it together.  Arrays of one per column, but b, the target, of one per run: given by the caller, who has called
 * problem_target for it.  lambda > 0 is ridge, else lasso at alpha; samples 0: lower and upper are nan. */
struct reward_values {
    double *b, *w, *lower, *upper, *known;
    uint32_t *twins;
    struct reward_fit fit;
    size_t distinct, rank, n_twins;
    bool ranked;                                         /* rank and known are known */
};
void reward_learn(const struct sparse_problem *, enum problem_target, double lambda, double alpha, long samples,
                  double confidence, uint64_t seed, struct reward_values *);
#endif

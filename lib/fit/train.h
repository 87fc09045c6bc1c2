/* train.h - data in, model out: one door to all fits, used by the fit-* filters and by fit-cv.
 *
 * Preparation, as in the original study: features that do not vary are left out (there, deviations up to 1e-4);
 * flags (only 0 and 1) stay as they are, the others become z-scores.  Ridge and lasso fit an intercept that is not
 * penalised, and scores of 0 and 1 for each class when the target is one.
 *   ridge     sum of squares + lambda |w|^2              lasso  sum of squares / (2 rows) + lambda |w|_1
 *   logistic  mean cross-entropy + lambda / 2 |W|^2      mlp    mean loss + lambda / (2 rows) |W|^2, L-BFGS, of a
 *                                                               number's z-score
 *   boost     see boost.h    forest  see forest.h
 *                                constant  class shares or the mean */
#ifndef MILLRACE_TRAIN_H
#define MILLRACE_TRAIN_H
#include "base/filter.h"
#include "fit/data.h"
#include "fit/forest.h"
#include "fit/model.h"
#include "fit/sparse.h"

/* Rows of a table of options: what is learned from, `what` being the target, and when a descent ends. */
#define TRAIN_COLUMNS(columns, what)                                                                                   \
    { 'y', "target", STR, &(columns).target, "COL", what },                                                            \
    { 'x', "features", LIST, &(columns).features, "COLS", "feature columns, a,b,c* (default: all others)" },           \
    { 0, "ignore", LIST, &(columns).ignore, "COLS", "columns that are no features" }
#define TRAIN_NUMBER(number) { 0, "number", FLAG, &(number), NULL, "the target is a number, not a class" }
#define TRAIN_DESCENT(train)                                                                                           \
    { 0, "lambda", NUM, &(train).lambda, "L", "weight of the penalty", 0, 1e300 },                                     \
    { 'n', "iterations", INT, &(train).iterations, "N", "iterations at most", 1, 1e9 },                                \
    { 0, "tolerance", NUM, &(train).tolerance, "T", "largest gradient wanted", 0, 1 }

struct train_options {
    enum model_kind kind;                                /* not MODEL_COMMITTEE */
    double lambda;
    long iterations;                                     /* of logistic and mlp */
    double tolerance;                                    /* logistic, mlp: largest gradient; lasso: KKT residual */
    const char *hidden;                                  /* mlp: widths of the hidden layers, "32" or "32,16" */
    struct boost_options boost;
    struct forest_options forest;
    uint64_t seed;
    bool raw;                                            /* ridge, lasso: no intercept, no scaling, all columns */
};

struct train_report {
    double loss;                                         /* the objective reached */
    double optimality; /* largest gradient or KKT residual; NAN for boost and constant */
    long iterations;
};

struct train_options train_defaults(enum model_kind);
/* Fits on rows row[0 .. n-1] of the data (NULL: all). */
struct model *train(const struct data *, const uint32_t *row, size_t n, const struct train_options *,
                    struct train_report *);

/* All of a filter: reads the table (usage() when no target is named), fits, tells how well unless --quiet, writes the
 * model.  EXIT_OK, or dies. */
int train_table(char **paths, const struct data_columns *, const struct train_options *, const char *output);

/* The problem that ridge and lasso would solve, for choosing lambda: columns (see lasso.h) and target, centred unless
 * raw. */
struct sparse train_columns(const struct data *, const struct train_options *);
double *train_target(const struct data *, const struct train_options *);
#endif

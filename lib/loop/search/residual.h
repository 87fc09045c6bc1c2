/* residual.h - what the analytic model gets wrong, learned from measured nests, to put its candidates in better order.
 *
 * The residual of a nest is log(measured seconds / model's seconds), less its mean over the measured nests of the same
 * problem, machine and instruction set: only the order within a problem counts.  An ensemble of boosted trees, each on
 * problems drawn with replacement, predicts it from named features of the nest, the model's terms and the machine's
 * table.  Where an ensemble disagrees it knows little, and outside the range of the problems that it has seen nothing:
 * then the model's order stands, see residual_gain.  How much more than that it promises too much is learned as well,
 * from the choices that its members make on problems that they were not taught.
 *
 * File: (residual (rows N) (problems N) (margin X) (range (FEATURE LEAST MOST) ...) (model boost ...) ...).
 * After Lakshminarayanan, Pritzel, Blundell, "Simple and Scalable Predictive Uncertainty Estimation using Deep
 * Ensembles", NeurIPS 2017, with trees in place of networks. */
#ifndef MILLRACE_RESIDUAL_H
#define MILLRACE_RESIDUAL_H
#include "fit/model.h"
#include "loop/code/evaluate.h"

enum { RESIDUAL_PROBLEM = 15, RESIDUAL_FEATURES = 49, RESIDUAL_MEMBERS = 32 };
extern const char *const residual_name[RESIDUAL_FEATURES];   /* the first RESIDUAL_PROBLEM are of the problem alone */

struct seen_nest { double f[RESIDUAL_FEATURES], seconds; };      /* seconds: the model's */
/* NULL, or why the nest has no code */
const char *residual_see(struct seen_nest *, const struct problem *, const struct nest *, enum isa, bool prepared);

struct residual {
    size_t rows, problems;
    double margin;                                       /* of a gain, which it takes to be sure of it */
    double low[RESIDUAL_PROBLEM], high[RESIDUAL_PROBLEM];
    struct model *member[RESIDUAL_MEMBERS];
    int n;
};
/* a row of the table to learn from: group is the number of its problem (on one machine and instruction set) */
struct residual_row { struct seen_nest s; double seconds; size_t group; };
struct residual_options { long members, rounds, depth; double rate; uint64_t seed; bool shuffle; };
/* shuffle: residuals drawn among the rows of a problem, a control that can learn nothing */
struct residual residual_fit(const struct residual_row *, size_t n, const struct residual_options *);
void residual_write(const struct residual *, const char *path);
struct residual residual_read(const char *path);         /* dies at file:line */
struct residual residual_from(const struct sexp *);
void residual_free(struct residual *);

bool residual_knows(const struct residual *, const struct seen_nest *);  /* the problem is in the range */
void residual_predict(const struct residual *, const struct seen_nest *, double member[RESIDUAL_MEMBERS]);
/* log of how much faster than `base` the other is: the mean over the members less their standard deviation and the
 * margin, so that what is not sure does not go before the base; plain: the mean alone */
double residual_gain(const struct residual *, const struct seen_nest *base, const double base_member[RESIDUAL_MEMBERS],
                     const struct seen_nest *other, bool plain);
#endif

/* boost.h - gradient-boosted regression trees, for a number (squared loss) or classes (softmax).
 *
 * Friedman, Annals of Statistics 29, 2001, with Newton leaves and the gain of Chen and Guestrin, KDD 2016.  Features
 * are put into at most 256 bins at quantiles of their distinct values; splits are the best over all bins.
 * Deterministic: ties go to the first feature and the lowest threshold. */
#ifndef MILLRACE_BOOST_H
#define MILLRACE_BOOST_H
#include <stddef.h>

struct tree_node {
    int feature;                                         /* -1: a leaf */
    double threshold, value;
    int left, right;                                     /* x <= threshold goes left */
};
struct tree { struct tree_node *node; int n; };          /* node 0 is the root */

struct boost_options {
    long rounds, depth;
    double rate, lambda, min_weight;                     /* lambda: L2 on leaves; min_weight: least hessian in a leaf */
};

/* x: rows x cols; y: numbers (nclass 0) or class numbers.  base: max(nclass, 1) starting scores, out.
 * Returns rounds * max(nclass, 1) trees, round by round, class by class; *ntree tells how many.  Leaf values include
 * the rate. */
struct tree *boost_fit(const double *x, const double *y, size_t rows, size_t cols, int nclass,
                       const struct boost_options *, double *base, size_t *ntree);
double tree_value(const struct tree *, const double *x);
#endif

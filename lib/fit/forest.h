/* forest.h - extremely randomised trees, for a number or for classes.
 *
 * Geurts, Ernst and Wehenkel, Machine Learning 63, 2006: every tree sees all rows; at a node some features are drawn,
 * each is cut at a place drawn evenly between its least and its greatest value there, and the cut that leaves least
 * squared error is taken.  A forest is the mean of its trees.  Rows may have weights: an error of a row counts so
 * often.  Deterministic by the seed: what is drawn for a tree depends on no other. */
#ifndef MILLRACE_FOREST_H
#define MILLRACE_FOREST_H
#include "fit/boost.h"
#include <stdint.h>

struct forest_options {
    long trees, leaf;                                    /* leaf: least rows in one */
    double share;                                        /* of the features that are looked at in a node */
    double weight;                                       /* least weight of a leaf */
    uint64_t seed;
};

/* x: rows x cols; y: numbers (nclass 0) or class numbers; weight: rows, or NULL for equal ones.
 * Returns trees * max(nclass, 1) trees, in turns by class; their leaves are shares of the mean, so that a prediction is
 * the sum of all.  Of a class a tree predicts its share. */
struct tree *forest_fit(const double *x, const double *y, const double *weight, size_t rows, size_t cols, int nclass,
                        const struct forest_options *, size_t *ntree);
#endif

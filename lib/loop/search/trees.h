/* trees.h - extremely randomised trees for a number, of rows with weights.
 *
 * Each tree sees all rows; at a node half of the features are tried at one threshold each, drawn between the least and
 * the greatest value, and the split that leaves the least weighted squared error is taken (Geurts, Ernst, Wehenkel,
 * "Extremely randomized trees", Machine Learning 63, 2006).  A leaf has `leaf` rows at least, and a weight of `weight`.
 * The same rows and seed make the same trees.  A tree lies in one array in pre-order. */
#ifndef MILLRACE_TREES_H
#define MILLRACE_TREES_H
#include <stddef.h>
#include <stdint.h>

enum { TREES_DEEP = 200 };                               /* splits from root to leaf, at most */
struct trees_node { float at; int16_t feature; int32_t right; };   /* x <= at: the next; feature -1: at is the value */
struct trees { struct trees_node *node; size_t n, room; size_t *root; int count, features; };
struct trees_options { int trees, leaf; double weight; uint64_t seed; };

/* x: n rows of `features`, finite */
struct trees trees_fit(const float *x, const double *y, const double *weight, size_t n, int features,
                       const struct trees_options *);
double trees_predict(const struct trees *, const float *x);
void trees_free(struct trees *);
#endif

/* audit.h - what a table of features can and cannot tell, before anything is fitted to it.
 *
 * The ceiling is the share of rows that the best function of the features gets right: rows with equal features must get
 * equal answers, so of every set of equal rows at most the most frequent class is right. */
#ifndef MILLRACE_AUDIT_H
#define MILLRACE_AUDIT_H
#include "fit/data.h"

struct audit {
    size_t distinct;                                     /* different feature vectors */
    size_t colliding;                                    /* rows whose features also occur with another class */
    size_t best, majority;                               /* rows right: by the best function, by the commonest class */
    size_t rank;                                         /* of the centred columns that vary */
    bool *constant;                                      /* cols: does not vary */
    long *equal;                                         /* cols: the first column with the same values, -1 none */
    long *collinear; /* cols: the first with |correlation| 1 but other values, -1 none */
    uint32_t *vector;                                    /* rows: number of the feature vector, by first appearance */
};

struct audit audit_data(const struct data *);
#endif

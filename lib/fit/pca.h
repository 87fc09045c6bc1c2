/* pca.h - principal components of a table (Pearson 1901), by the eigenvectors of its covariance or correlation */
#ifndef MILLRACE_PCA_H
#define MILLRACE_PCA_H
#include <stdbool.h>
#include <stddef.h>

struct pca {
    size_t cols, rank;                                   /* rank: eigenvalues above 1e-12 of the largest */
    double *shift, *mean;                                /* cols; a column's mean is shift + mean, see spread.h */
    double *scale;                                       /* cols; 1, or the deviation (0: constant, left out) */
    double unit;                                         /* what raw columns are divided by, for finite squares */
    double *variance;                                    /* cols, descending */
    double *ratio;                                       /* cols: share of the whole variance; NAN when there is none */
    double *loading;                                     /* cols x cols: column k: component k, its largest positive */
};

/* x: rows x cols, row-major, finite.  zscore: every column by its own deviation, so that units do not matter. */
struct pca pca_fit(const double *x, size_t rows, size_t cols, bool zscore);
double pca_score(const struct pca *, const double *row, size_t component);
void pca_free(struct pca *);
#endif

/* sparse.h - a sparse matrix in compressed rows, built row by row; its transpose gives the columns.
 *
 * 12 bytes an entry plus 8 a row: 45 000 nodes x 100 000 runs with 700 nodes a run take 0.84 GB.  Columns within a row
 * may come in any order but only once.  Nothing here allocates except while building; sums run in storage order,
 * so results do not depend on anything but the input. */
#ifndef MILLRACE_SPARSE_H
#define MILLRACE_SPARSE_H
#include <stddef.h>
#include <stdint.h>

struct sparse {
    size_t rows, cols, entries;
    size_t *start;                                       /* rows + 1 offsets into column and value */
    uint32_t *column;
    double *value;
    size_t cap_start, cap_column, cap_value;
};

/* Zero-initialise; then for every row: sparse_add its entries, sparse_end_row.  cols becomes the largest column + 1. */
void sparse_add(struct sparse *, uint32_t column, double value);
void sparse_end_row(struct sparse *);
struct sparse sparse_dense(const double *x, size_t rows, size_t cols); /* of a row-major dense matrix; zeros left out */
struct sparse sparse_transpose(const struct sparse *);   /* columns as rows; entries of a row in ascending order */
void sparse_times(const struct sparse *, const double *x, double *y);          /* y = A x,  y has rows entries */
void sparse_times_transposed(const struct sparse *, const double *x, double *y);   /* y = A'x, y has cols entries */
double sparse_row_dot(const struct sparse *, size_t row, const double *x);
void sparse_row_axpy(const struct sparse *, size_t row, double a, double *y);  /* y += a * row */
/* g (rows x rows, row-major, full) = A A'.  at is the transpose of A: the cost is the sum of squared column counts. */
void sparse_gram(const struct sparse *a, const struct sparse *at, double *g);
void sparse_free(struct sparse *);
#endif

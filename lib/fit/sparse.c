/* sparse.c - see sparse.h */
#include "fit/sparse.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void sparse_add(struct sparse *m, uint32_t column, double value)
{
    size_t n = m->entries++;
    m->column = grow(m->column, n + 1, &m->cap_column, sizeof *m->column);
    m->value = grow(m->value, n + 1, &m->cap_value, sizeof *m->value);
    m->column[n] = column;
    m->value[n] = value;
    if (column >= m->cols) m->cols = (size_t)column + 1;
}

void sparse_end_row(struct sparse *m)
{
    m->start = grow(m->start, m->rows + 2, &m->cap_start, sizeof *m->start);
    if (!m->rows) m->start[0] = 0;
    m->start[++m->rows] = m->entries;
}

struct sparse sparse_dense(const double *x, size_t rows, size_t cols)
{
    struct sparse m = { 0 };
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++)
            if (x[i * cols + j] != 0) sparse_add(&m, (uint32_t)j, x[i * cols + j]);
        sparse_end_row(&m);
    }
    m.cols = cols;
    return m;
}

struct sparse sparse_transpose(const struct sparse *m)
{
    struct sparse t = { .rows = m->cols, .cols = m->rows, .entries = m->entries };
    t.start = xcalloc(t.rows + 1, sizeof *t.start);
    t.column = xmalloc(t.entries + 1, sizeof *t.column);
    t.value = xmalloc(t.entries + 1, sizeof *t.value);
    for (size_t k = 0; k < m->entries; k++) t.start[m->column[k] + 1]++;
    for (size_t j = 0; j < t.rows; j++) t.start[j + 1] += t.start[j];
    size_t *next = xmalloc(t.rows + 1, sizeof *next);
    memcpy(next, t.start, (t.rows + 1) * sizeof *next);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = m->start[i]; k < m->start[i + 1]; k++) {
            size_t to = next[m->column[k]]++;
            t.column[to] = (uint32_t)i;
            t.value[to] = m->value[k];
        }
    free(next);
    return t;
}

double sparse_row_dot(const struct sparse *m, size_t row, const double *x)
{
    double sum = 0;
    for (size_t k = m->start[row]; k < m->start[row + 1]; k++) sum += m->value[k] * x[m->column[k]];
    return sum;
}

void sparse_row_axpy(const struct sparse *m, size_t row, double a, double *y)
{
    for (size_t k = m->start[row]; k < m->start[row + 1]; k++) y[m->column[k]] += a * m->value[k];
}

void sparse_times(const struct sparse *m, const double *x, double *y)
{
    for (size_t i = 0; i < m->rows; i++) y[i] = sparse_row_dot(m, i, x);
}

void sparse_times_transposed(const struct sparse *m, const double *x, double *y)
{
    memset(y, 0, m->cols * sizeof *y);
    for (size_t i = 0; i < m->rows; i++) sparse_row_axpy(m, i, x[i], y);
}

void sparse_gram(const struct sparse *a, const struct sparse *at, double *g)
{
    size_t n = a->rows;
    memset(g, 0, n * n * sizeof *g);
    for (size_t i = 0; i < n; i++)
        for (size_t k = a->start[i]; k < a->start[i + 1]; k++)
            sparse_row_axpy(at, a->column[k], a->value[k], g + i * n);
}

void sparse_free(struct sparse *m)
{
    free(m->start);
    free(m->column);
    free(m->value);
    *m = (struct sparse){ 0 };
}

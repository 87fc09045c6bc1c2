/* ridge.c - see ridge.h */
#include "fit/ridge.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "fit/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 20000 };

struct ridge {
    const struct sparse *a;
    enum ridge_method method;
    double *gram, *factor; /* n x n; in PRIMAL the Gram matrix serves equal weights only */
    double *residual, *scratch;
};

struct ridge *ridge_new(const struct sparse *a, enum ridge_method method)
{
    struct ridge *r = xcalloc(1, sizeof *r);
    size_t small = a->rows < a->cols ? a->rows : a->cols;
    if (method == RIDGE_AUTO)
        method = small > RIDGE_DENSE ? RIDGE_ITERATIVE : a->rows <= a->cols ? RIDGE_DUAL : RIDGE_PRIMAL;
    *r = (struct ridge){ .a = a, .method = method };
    r->residual = xmalloc(a->rows + 1, sizeof(double));
    r->scratch = xmalloc(size_add(a->rows, 5 * a->cols) + 1, sizeof(double));
    if (method == RIDGE_ITERATIVE) return r;
    size_t n = method == RIDGE_DUAL ? a->rows : a->cols;
    r->gram = xmalloc(size_mul(n, n) + 1, sizeof(double));
    r->factor = xmalloc(size_mul(n, n) + 1, sizeof(double));
    struct sparse at = sparse_transpose(a);
    if (method == RIDGE_DUAL) sparse_gram(a, &at, r->gram);
    else sparse_gram(&at, a, r->gram);
    sparse_free(&at);
    return r;
}

enum ridge_method ridge_method(const struct ridge *r)
{
    return r->method;
}

/* With v = sqrt(c) (b - Aw) / lambda the optimum has w = A' sqrt(c) v and (S A A' S + lambda I) v = S b, S = sqrt(C).
 * */
static void solve_dual(struct ridge *r, double lambda, const double *b, const double *weight, double *w)
{
    size_t n = r->a->rows;
    double *root = r->scratch, *v = r->residual;
    for (size_t i = 0; i < n; i++) root[i] = weight ? sqrt(weight[i]) : 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) r->factor[i * n + j] = root[i] * root[j] * r->gram[i * n + j];
        r->factor[i * n + i] += lambda;
        v[i] = root[i] * b[i];
    }
    if (!dense_cholesky(r->factor, n)) die("ridge: lambda %g is too small for this problem", lambda);
    dense_cholesky_solve(r->factor, n, v);
    for (size_t i = 0; i < n; i++) v[i] *= root[i];
    sparse_times_transposed(r->a, v, w);
}

static void weighted_target(const struct ridge *r, const double *b, const double *weight, double *y)
{
    for (size_t i = 0; i < r->a->rows; i++) y[i] = weight ? weight[i] * b[i] : b[i];
}

static void solve_primal(struct ridge *r, double lambda, const double *b, const double *weight, double *w)
{
    size_t n = r->a->cols;
    if (weight) {
        memset(r->factor, 0, n * n * sizeof(double));
        for (size_t i = 0; i < r->a->rows; i++)
            for (size_t k = r->a->start[i]; k < r->a->start[i + 1]; k++)
                sparse_row_axpy(r->a, i, weight[i] * r->a->value[k], r->factor + r->a->column[k] * n);
    } else {
        memcpy(r->factor, r->gram, n * n * sizeof(double));
    }
    for (size_t j = 0; j < n; j++) r->factor[j * n + j] += lambda;
    weighted_target(r, b, weight, r->residual);
    sparse_times_transposed(r->a, r->residual, w);
    if (!dense_cholesky(r->factor, n)) die("ridge: lambda %g is too small for this problem", lambda);
    dense_cholesky_solve(r->factor, n, w);
}

/* y = (A'CA + lambda I) x */
static void normal_times(struct ridge *r, double lambda, const double *weight, const double *x, double *y)
{
    double *row = r->residual;
    sparse_times(r->a, x, row);
    if (weight)
        for (size_t i = 0; i < r->a->rows; i++) row[i] *= weight[i];
    sparse_times_transposed(r->a, row, y);
    for (size_t j = 0; j < r->a->cols; j++) y[j] += lambda * x[j];
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Hestenes and Stiefel 1952, preconditioned by the diagonal of the normal matrix */
static int solve_iterative(struct ridge *r, double lambda, const double *b, const double *weight, double *w)
{
    size_t n = r->a->cols;
    double *diagonal = r->scratch, *g = diagonal + n, *z = g + n, *p = z + n, *q = p + n;
    for (size_t j = 0; j < n; j++) diagonal[j] = lambda;
    for (size_t i = 0; i < r->a->rows; i++)
        for (size_t k = r->a->start[i]; k < r->a->start[i + 1]; k++)
            diagonal[r->a->column[k]] += (weight ? weight[i] : 1) * r->a->value[k] * r->a->value[k];
    weighted_target(r, b, weight, r->residual);
    sparse_times_transposed(r->a, r->residual, g);
    memset(w, 0, n * sizeof *w);
    for (size_t j = 0; j < n; j++) p[j] = z[j] = g[j] / diagonal[j];
    double rho = dot(g, z, n), stop = rho * 1e-26;
    int it = 0;
    while (rho > stop && it < MAX_ITERATIONS) {
        normal_times(r, lambda, weight, p, q);
        double step = rho / dot(p, q, n);
        for (size_t j = 0; j < n; j++) {
            w[j] += step * p[j];
            g[j] -= step * q[j];
            z[j] = g[j] / diagonal[j];
        }
        double next = dot(g, z, n);
        for (size_t j = 0; j < n; j++) p[j] = z[j] + next / rho * p[j];
        rho = next;
        it++;
    }
    return it;
}

struct ridge_report ridge_solve(struct ridge *r, double lambda, const double *b, const double *weight, double *w)
{
    struct ridge_report report = { 0 };
    if (!(lambda > 0)) die("ridge: lambda must be positive, not %g", lambda);
    if (r->method == RIDGE_DUAL) solve_dual(r, lambda, b, weight, w);
    else if (r->method == RIDGE_PRIMAL) solve_primal(r, lambda, b, weight, w);
    else report.iterations = solve_iterative(r, lambda, b, weight, w);
    for (size_t i = 0; i < r->a->rows; i++) {
        double e = sparse_row_dot(r->a, i, w) - b[i], c = weight ? weight[i] : 1;
        report.sse += c * e * e;
        r->residual[i] = c * e;
    }
    sparse_times_transposed(r->a, r->residual, r->scratch);
    for (size_t j = 0; j < r->a->cols; j++)
        report.gradient = fmax(report.gradient, fabs(r->scratch[j] + lambda * w[j]));
    return report;
}

void ridge_free(struct ridge *r)
{
    if (!r) return;
    free_all(r->gram, r->factor, r->residual, r->scratch, r);
}

/* lasso: optimality conditions, closed forms, exhaustive search over sign patterns, weights, validation. */
#include "base/rng.h"
#include "base/str.h"
#include "fit/dense.h"
#include "fit/lasso.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static double soft(double z, double t)
{
    return z > t ? z - t : z < -t ? z + t : 0;
}

/* The best objective over all supports and signs of 5 columns: least squares with the penalty's slope on each. */
static double exhaustive(const double *x, const double *b, int n, double alpha)
{
    enum { C = 5 };
    double best = 0;
    for (int i = 0; i < n; i++) best += b[i] * b[i] / (2.0 * n);
    for (int code = 1; code < 243; code++) {
        int sign[C], on[C], m = 0, rest = code;
        for (int j = 0; j < C; j++, rest /= 3)
            if (rest % 3) on[m] = j, sign[m++] = rest % 3 == 1 ? 1 : -1;
        double g[C * C], w[C];
        for (int p = 0; p < m; p++) {
            for (int q = 0; q < m; q++) {
                g[p * m + q] = p == q ? 1e-13 : 0;
                for (int i = 0; i < n; i++) g[p * m + q] += x[i * C + on[p]] * x[i * C + on[q]] / n;
            }
            w[p] = -alpha * sign[p];
            for (int i = 0; i < n; i++) w[p] += x[i * C + on[p]] * b[i] / n;
        }
        if (!dense_cholesky(g, (size_t)m)) continue;
        dense_cholesky_solve(g, (size_t)m, w);
        double value = 0;
        for (int p = 0; p < m; p++) value += alpha * fabs(w[p]);
        for (int i = 0; i < n; i++) {
            double e = b[i];
            for (int p = 0; p < m; p++) e -= w[p] * x[i * C + on[p]];
            value += e * e / (2.0 * n);
        }
        best = fmin(best, value);
    }
    return best;
}

int main(void)
{
    struct rng g = rng_for(1, str_of("lasso"));

    /* orthogonal columns: soft thresholding */
    struct sparse d = { 0 };
    double target[4] = { 3, -2, 0.1, 1 }, w[4] = { 0 };
    for (uint32_t j = 0; j < 4; j++) {
        sparse_add(&d, j, 2);
        sparse_end_row(&d);
    }
    lasso_fit(&d, target, NULL, 0.3, 100, 1e-12, w);
    for (int j = 0; j < 4; j++)
        near(w[j], soft(2 * target[j] / 4, 0.3) / (4.0 / 4), 1e-12, "orthogonal columns are soft-thresholded");
    near(lasso_alpha_max(&d, target, NULL), 1.5, 1e-15, "alpha_max is the largest correlation");
    sparse_free(&d);

    double gap = 0, kkt = 0;
    for (int round = 0; round < 60; round++) {
        enum { N = 8, C = 5 };
        double x[N * C], b[N], u[C] = { 0 };
        for (int i = 0; i < N * C; i++) x[i] = rng_normal(&g);
        for (int i = 0; i < N; i++) b[i] = rng_normal(&g);
        struct sparse a = sparse_dense(x, N, C), at = sparse_transpose(&a);
        double alpha = 0.5 * rng_unit(&g) + 0.01;
        struct lasso_report r = lasso_fit(&at, b, NULL, alpha, 100000, 1e-11, u);
        gap = fmax(gap, fabs(r.objective - exhaustive(x, b, N, alpha)));
        kkt = fmax(kkt, r.kkt);
        sparse_free(&a);
        sparse_free(&at);
    }
    near(gap, 0, 1e-9, "no support and sign pattern does better (60 problems of 5 columns, all 243 patterns)");
    near(kkt, 0, 1e-11, "and the optimality conditions hold");

    /* wide, sparse, collinear: gamma^depth columns as in a call tree, some of them equal */
    enum { ROWS = 120, COLS = 400 };
    struct sparse a = { 0 };
    double b[ROWS], full[COLS] = { 0 };
    int fold[ROWS];
    for (int i = 0; i < ROWS; i++) {
        sparse_add(&a, 0, 1);
        for (uint32_t j = 1; j < COLS; j++)
            if (rng_unit(&g) < 0.1) sparse_add(&a, j, pow(0.9, j % 7));
        sparse_end_row(&a);
        b[i] = sparse_row_dot(&a, (size_t)i, full) + rng_normal(&g) + (i % 3 ? 0.5 : 0);
        fold[i] = i % 4;
    }
    a.cols = COLS + 2;                                   /* two columns never met */
    struct sparse at = sparse_transpose(&a);
    double worst = 0, *v = calloc(COLS + 2, sizeof *v), previous = -1;
    bool ordered = true;
    for (double alpha = 0.25; alpha > 1e-4; alpha /= 2) {
        struct lasso_report r = lasso_fit(&at, b, NULL, alpha, 200000, 1e-9, v);
        worst = fmax(worst, r.kkt);
        if (r.norm1 < previous) ordered = false;
        previous = r.norm1;
    }
    near(worst, 0, 1e-9, "a path over 12 alphas of 400 columns on 120 rows meets KKT 1e-9 throughout");
    ok(ordered, "the norm of the weights grows as alpha falls");
    ok(v[COLS] == 0 && v[COLS + 1] == 0, "columns never met stay 0");

    /* bytes and nanoseconds: what a slope is rounded by is more than the tolerance */
    double big[ROWS];
    for (int i = 0; i < ROWS; i++) big[i] = 1e9 * b[i];
    memset(v, 0, (COLS + 2) * sizeof *v);
    struct lasso_report large = lasso_fit(&at, big, NULL, 0.02e9, 20000, 1e-9, v);
    ok(large.sweeps < 20000 && large.kkt < 1e-4, "a target of large numbers comes to an end, as near as such can");

    double *zero = calloc(COLS + 2, sizeof *zero), top = lasso_alpha_max(&at, b, NULL);
    ok(lasso_fit(&at, b, NULL, top * 1.0001, 1000, 1e-12, zero).nonzeros == 0, "above alpha_max nothing is chosen");
    ok(lasso_fit(&at, b, NULL, top * 0.99, 1000, 1e-12, zero).nonzeros > 0, "below it something is");

    /* weights 0 and 1 are a smaller problem */
    struct sparse half = { 0 };
    double hb[ROWS], hw[ROWS], *u = calloc(COLS + 2, sizeof *u), *t = calloc(COLS + 2, sizeof *t);
    for (size_t i = 0; i < ROWS; i++) {
        hw[i] = i % 2;
        if (!(i % 2)) continue;
        for (size_t k = a.start[i]; k < a.start[i + 1]; k++) sparse_add(&half, a.column[k], a.value[k]);
        hb[half.rows] = b[i];
        sparse_end_row(&half);
    }
    half.cols = COLS + 2;
    struct sparse ht = sparse_transpose(&half);
    double o1 = lasso_fit(&ht, hb, NULL, 0.02, 100000, 1e-11, u).objective,
           o2 = lasso_fit(&at, b, hw, 0.02, 100000, 1e-11, t).objective;
    near(o1, o2, 1e-12, "weights 0 and 1 drop and keep rows");

    /* validation equals fitting by hand */
    double alphas[3] = { 0.2, 0.1, 0.05 }, r2[3];
    size_t best = lasso_validate(&at, b, fold, 1, alphas, 3, 100000, 1e-10, r2);
    double mean = 0, sse = 0, sst = 0, n = 0;
    for (size_t i = 0; i < ROWS; i++) hw[i] = fold[i] != 0, mean += fold[i] ? 0 : b[i], n += !fold[i];
    memset(u, 0, (COLS + 2) * sizeof *u);
    lasso_fit(&at, b, hw, alphas[2], 100000, 1e-10, u);
    for (size_t i = 0; i < ROWS; i++) {
        if (fold[i]) continue;
        double e = b[i] - sparse_row_dot(&a, i, u);
        sse += e * e;
        sst += (b[i] - mean / n) * (b[i] - mean / n);
    }
    near(r2[2], 1 - sse / sst, 1e-7, "the hold-out score is 1 - SSE / SST on the rows held out");
    ok(r2[best] >= r2[0] && r2[best] >= r2[1] && r2[best] >= r2[2], "the best alpha is the best");
    return done();
}

/* ridge and sparse against the definition: dual = primal = iterative = normal equations, weights = repeated rows. */
#include "base/rng.h"
#include "fit/dense.h"
#include "fit/ridge.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { R = 23, C = 31 };

static double x[R][C], b[R];

static void random_problem(struct rng *g, double density)
{
    for (int i = 0; i < R; i++) {
        b[i] = rng_normal(g);
        for (int j = 0; j < C; j++) x[i][j] = rng_unit(g) < density ? rng_normal(g) : 0;
    }
}

/* (X'CX + lambda I) w = X'Cb by elimination without pivots: the matrix is positive definite */
static void oracle(double lambda, const double *c, double *w)
{
    double m[C][C + 1];
    for (int j = 0; j < C; j++) {
        for (int k = 0; k < C; k++) {
            m[j][k] = j == k ? lambda : 0;
            for (int i = 0; i < R; i++) m[j][k] += c[i] * x[i][j] * x[i][k];
        }
        m[j][C] = 0;
        for (int i = 0; i < R; i++) m[j][C] += c[i] * x[i][j] * b[i];
    }
    for (int p = 0; p < C; p++)
        for (int j = p + 1; j < C; j++) {
            double f = m[j][p] / m[p][p];
            for (int k = p; k <= C; k++) m[j][k] -= f * m[p][k];
        }
    for (int p = C - 1; p >= 0; p--) {
        w[p] = m[p][C];
        for (int k = p + 1; k < C; k++) w[p] -= m[p][k] * w[k];
        w[p] /= m[p][p];
    }
}

static double distance(const double *u, const double *v, int n)
{
    double d = 0;
    for (int i = 0; i < n; i++) d = fmax(d, fabs(u[i] - v[i]));
    return d;
}

int main(void)
{
    struct rng g = rng_for(1, str_of("ridge"));
    double worst[4] = { 0 }, gradient = 0, weighted = 0, product = 0;
    for (int round = 0; round < 40; round++) {
        random_problem(&g, 0.1 + 0.9 * rng_unit(&g));
        double lambda = pow(10, 3 * rng_unit(&g) - 2), ones[R], c[R], want[C], got[C];
        for (int i = 0; i < R; i++) ones[i] = 1, c[i] = (double)rng_below(&g, 4);
        struct sparse a = sparse_dense(&x[0][0], R, C);
        oracle(lambda, ones, want);
        double want_weighted[C];
        oracle(lambda, c, want_weighted);
        for (int m = RIDGE_AUTO; m <= RIDGE_ITERATIVE; m++) {
            struct ridge *r = ridge_new(&a, (enum ridge_method)m);
            struct ridge_report report = ridge_solve(r, lambda, b, NULL, got);
            worst[m] = fmax(worst[m], distance(got, want, C));
            gradient = fmax(gradient, report.gradient);
            ridge_solve(r, lambda, b, c, got);
            weighted = fmax(weighted, distance(got, want_weighted, C));
            ridge_free(r);
        }
        struct sparse at = sparse_transpose(&a), again = sparse_transpose(&at);
        double y[R], yt[R] = { 0 };
        sparse_times(&a, want, y);
        sparse_times_transposed(&at, want, yt);
        product = fmax(product, distance(y, yt, R));
        product = fmax(
            product, (double)(again.entries != a.entries || memcmp(again.value, a.value, a.entries * sizeof(double))));
        sparse_free(&a);
        sparse_free(&at);
        sparse_free(&again);
    }
    near(worst[RIDGE_PRIMAL], 0, 1e-9, "the primal solves the normal equations");
    near(worst[RIDGE_DUAL], 0, 1e-9, "the dual equals the primal");
    near(worst[RIDGE_ITERATIVE], 0, 1e-8, "conjugate gradients reach the same weights");
    near(worst[RIDGE_AUTO], 0, 1e-9, "the automatic choice is one of them");
    near(gradient, 0, 1e-8, "the gradient vanishes");
    near(weighted, 0, 1e-8, "row weights act as repeated rows in all methods");
    near(product, 0, 1e-12, "the transpose of a transpose is the matrix, and products agree");

    /* closed form: orthogonal columns shrink by s^2 / (s^2 + lambda) */
    struct sparse d = { 0 };
    for (uint32_t j = 0; j < 4; j++) {
        sparse_add(&d, j, j + 1.0);
        sparse_end_row(&d);
    }
    double target[4] = { 1, 1, 1, 1 }, w[4];
    struct ridge *r = ridge_new(&d, RIDGE_AUTO);
    ridge_solve(r, 0.5, target, NULL, w);
    for (int j = 0; j < 4; j++)
        near(w[j], (j + 1.0) / ((j + 1.0) * (j + 1.0) + 0.5), 1e-14, "a diagonal problem has its closed form");
    ridge_free(r);
    sparse_free(&d);

    double m[9] = { 2, 1, 0, 1, 2, 1, 0, 1, 2 }, value[3], vector[9];
    dense_eigen(m, 3, value, vector);
    near(value[0], 2 + sqrt(2), 1e-12, "the largest eigenvalue of the second difference matrix");
    near(vector[3], sqrt(0.5), 1e-12, "and its vector");
    double bad[4] = { 1, 2, 2, 1 };
    ok(!dense_cholesky(bad, 2), "an indefinite matrix is refused");
    return done();
}

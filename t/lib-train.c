/* L-BFGS on known minima, boosting against an exhaustive stump, logistic regression against Newton's method, PCA
 * against a closed form, models through their text and back. */
#include "base/mem.h"
#include "base/rng.h"
#include "net/lbfgs.h"
#include "fit/pca.h"
#include "fit/train.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double rosenbrock(void *context, const double *x, double *g)
{
    size_t n = *(size_t *)context;
    double f = 0;
    memset(g, 0, n * sizeof *g);
    for (size_t i = 0; i + 1 < n; i++) {
        double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
        f += a * a + 100 * b * b;
        g[i] += -2 * a - 400 * x[i] * b;
        g[i + 1] += 200 * b;
    }
    return f;
}

static struct data two_classes(struct rng *g, size_t rows, size_t cols)
{
    struct data d = { .rows = rows, .cols = cols, .target = xstrdup("c"), .nclass = 2 };
    d.feature = xmalloc(cols, sizeof *d.feature);
    d.class = xmalloc(2, sizeof *d.class);
    d.class[0] = xstrdup("no");
    d.class[1] = xstrdup("yes");
    d.x = xmalloc(rows * cols, sizeof *d.x);
    d.y = xmalloc(rows, sizeof *d.y);
    d.group = xcalloc(rows, sizeof *d.group);
    for (size_t j = 0; j < cols; j++) d.feature[j] = xformat("f%zu", j);
    for (size_t i = 0; i < rows; i++) {
        double score = 0;
        for (size_t j = 0; j < cols; j++) {
            d.x[i * cols + j] = rng_normal(g);
            score += (j % 2 ? 1 : -0.5) * d.x[i * cols + j];
        }
        d.y[i] = score + rng_normal(g) > 0;
    }
    return d;
}

/* binary logistic regression with intercept, penalty (lambda / 4) |u|^2 on the difference of the two weight vectors:
 * Newton */
static void newton(const struct data *d, const struct model *m, double lambda, double *u)
{
    size_t n = d->cols + 1;
    double h[16][17], x[16];
    memset(u, 0, n * sizeof *u);
    for (int step = 0; step < 30; step++) {
        memset(h, 0, sizeof h);
        for (size_t i = 0; i < d->rows; i++) {
            double s = u[0];
            x[0] = 1;
            for (size_t j = 1; j < n; j++) {
                x[j] = (d->x[i * d->cols + j - 1] - m->mean[j - 1]) / m->deviation[j - 1];
                s += u[j] * x[j];
            }
            double p = 1 / (1 + exp(-s));
            for (size_t j = 0; j < n; j++) {
                for (size_t k = 0; k < n; k++) h[j][k] += p * (1 - p) * x[j] * x[k] / (double)d->rows;
                h[j][n] -= (p - d->y[i]) * x[j] / (double)d->rows;
            }
        }
        for (size_t j = 1; j < n; j++) {
            h[j][j] += lambda / 2;
            h[j][n] -= lambda / 2 * u[j];
        }
        for (size_t p = 0; p < n; p++)
            for (size_t j = 0; j < n; j++) {
                double f = h[j][p] / h[p][p];
                for (size_t k = p; k <= n && j != p; k++) h[j][k] -= f * h[p][k];
            }
        for (size_t j = 0; j < n; j++) u[j] += h[j][n] / h[j][j];
    }
}

/* least squared error of any single split, by trying every threshold of every column */
static double best_stump(const struct data *d)
{
    double best = INFINITY;
    for (size_t j = 0; j < d->cols; j++)
        for (size_t s = 0; s < d->rows; s++) {
            double sum[2] = { 0 }, square[2] = { 0 }, n[2] = { 0 }, sse = 0;
            for (size_t i = 0; i < d->rows; i++) {
                int side = d->x[i * d->cols + j] > d->x[s * d->cols + j];
                n[side]++;
                sum[side] += d->y[i];
                square[side] += d->y[i] * d->y[i];
            }
            for (int k = 0; k < 2; k++)
                if (n[k] > 0) sse += square[k] - sum[k] * sum[k] / n[k];
            best = fmin(best, sse);
        }
    return best;
}

static void round_trip(struct model *m, const struct data *d, const char *name)
{
    char path[] = "/tmp/lib-train-XXXXXX";
    close(mkstemp(path));
    sexpw *w = sexpw_open(path);
    model_write(m, w);
    sexpw_close(w);
    struct model *back = model_read(path);
    double worst = 0, a[MODEL_MAX_CLASSES], b[MODEL_MAX_CLASSES], total = 0;
    for (size_t i = 0; i < d->rows; i++) {
        model_predict(m, d->x + i * d->cols, a);
        model_predict(back, d->x + i * d->cols, b);
        for (int c = 0; c < model_outputs(m); c++) worst = fmax(worst, fabs(a[c] - b[c])), total += a[c];
    }
    near(worst, 0, 0, name);
    if (m->kind != MODEL_RIDGE && m->kind != MODEL_LASSO)
        near(total, (double)d->rows, 1e-6, "and its outputs are probabilities");
    model_free(back);
    unlink(path);
}

int main(void)
{
    size_t n = 12;
    double x[12] = { 0 };
    for (size_t i = 0; i < n; i++) x[i] = i % 2 ? 1 : -1.2;
    struct lbfgs_report r = lbfgs(n, x, rosenbrock, &n, 5000, 1e-10);
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - 1));
    near(worst, 0, 1e-8, "L-BFGS finds the bottom of Rosenbrock's valley in 12 dimensions");
    ok(r.gradient <= 1e-10 && r.iterations < 500, "in fewer than 500 iterations");

    struct rng g = rng_for(1, str_of("train"));
    struct data d = two_classes(&g, 300, 6);
    struct train_options o = train_defaults(MODEL_LOGISTIC);
    o.lambda = 0.05;
    o.tolerance = 1e-11;
    struct model *m = train(&d, NULL, d.rows, &o, NULL);
    double u[7];
    newton(&d, m, o.lambda, u);
    worst = 0;
    for (size_t j = 0; j < 7; j++) worst = fmax(worst, fabs(m->weight[7 + j] - m->weight[j] - u[j]));
    near(worst, 0, 1e-8, "softmax of two classes equals binary logistic regression by Newton's method");

    o = train_defaults(MODEL_BOOST);
    o.boost = (struct boost_options){ .rounds = 1, .depth = 1, .rate = 1, .lambda = 0, .min_weight = 1 };
    struct data numbers = d;
    numbers.nclass = 0;
    numbers.rows = 200;                                  /* fewer than the bins: every threshold is tried */
    struct model *stump = train(&numbers, NULL, numbers.rows, &o, NULL);
    double sse = 0, out[2];
    for (size_t i = 0; i < numbers.rows; i++) {
        model_predict(stump, numbers.x + i * d.cols, out);
        sse += (out[0] - d.y[i]) * (out[0] - d.y[i]);
    }
    near(sse, best_stump(&numbers), 1e-9, "one boosted stump is the best of all stumps");

    for (int k = 0; k < MODEL_KINDS; k++) {
        if (k == MODEL_COMMITTEE) continue;
        o = train_defaults((enum model_kind)k);
        o.boost.rounds = 10;
        struct model *one = train(&d, NULL, d.rows, &o, NULL);
        round_trip(one, &d, xformat("a %s model reads back as it was", model_kind_name[k]));
        model_free(one);
    }

    /* two columns of known covariance [[2, 1], [1, 2]]: variances 3 and 1 along the diagonals */
    double points[8] = { 0 }, scale = sqrt(3.0 / 4);
    for (int i = 0; i < 4; i++) {
        double a = (i & 1 ? 1 : -1) * sqrt(3) * scale, b = (i & 2 ? 1 : -1) * 1.0 * scale;
        points[2 * i] = (a + b) / sqrt(2);
        points[2 * i + 1] = (a - b) / sqrt(2);
    }
    struct pca p = pca_fit(points, 4, 2, false);
    near(p.variance[0], 3, 1e-12, "the first variance of a known covariance");
    near(p.ratio[1], 0.25, 1e-12, "the second share");
    near(fabs(p.loading[0]), sqrt(0.5), 1e-12, "the first component is the diagonal");
    pca_free(&p);
    model_free(m);
    model_free(stump);
    data_free(&d);
    return done();
}

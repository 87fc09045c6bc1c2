/* lasso.c - see lasso.h */
#include "fit/lasso.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include "fit/dense.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 5 };                                      /* sweeps between two extrapolations */

struct work {
    const struct sparse *a;                              /* columns */
    const double *b, *weight;
    double alpha, total;                                 /* total = sum of weights */
    double *w, *residual;                                /* residual = b - A w */
    double *curvature;                                   /* sum c a^2 / total of each column */
    size_t *active, nactive;
    double *past;                                        /* DEPTH + 1 iterates of the active weights */
    double *trial_w, *trial_residual;
};

/* minus the derivative of the smooth part along column j */
static double slope(const struct work *k, const double *residual, size_t j)
{
    const struct sparse *a = k->a;
    double sum = 0;
    if (!k->weight) return sparse_row_dot(a, j, residual) / k->total;
    for (size_t e = a->start[j]; e < a->start[j + 1]; e++)
        sum += k->weight[a->column[e]] * a->value[e] * residual[a->column[e]];
    return sum / k->total;
}

static double violation(const struct work *k, size_t j)
{
    double s = slope(k, k->residual, j);
    if (k->w[j] > 0) return fabs(s - k->alpha);
    if (k->w[j] < 0) return fabs(s + k->alpha);
    return fmax(0, fabs(s) - k->alpha);
}

static void update(struct work *k, size_t j)
{
    double old = k->w[j], curvature = k->curvature[j];
    if (curvature == 0) return;
    double z = slope(k, k->residual, j) + curvature * old;
    double new = z > k->alpha ? (z - k->alpha) / curvature : z < -k->alpha ? (z + k->alpha) / curvature : 0;
    if (new == old) return;
    sparse_row_axpy(k->a, j, old - new, k->residual);
    k->w[j] = new;
}

static double objective(const struct work *k, const double *w, const double *residual)
{
    double sse = 0, norm = 0;
    for (size_t i = 0; i < k->a->cols; i++) sse += (k->weight ? k->weight[i] : 1) * residual[i] * residual[i];
    for (size_t j = 0; j < k->a->rows; j++) norm += fabs(w[j]);
    return sse / (2 * k->total) + k->alpha * norm;
}

static void set_residual(const struct work *k, const double *w, double *residual)
{
    memcpy(residual, k->b, k->a->cols * sizeof *residual);
    for (size_t j = 0; j < k->a->rows; j++)
        if (w[j] != 0) sparse_row_axpy(k->a, j, -w[j], residual);
}

/* The combination of the last iterates whose steps cancel best; taken only if it lowers the objective. */
static void extrapolate(struct work *k)
{
    size_t m = k->nactive;
    double u[DEPTH * DEPTH], c[DEPTH], trace = 0, sum = 0;
    for (int s = 0; s < DEPTH; s++)
        for (int t = 0; t <= s; t++) {
            const double *ps = k->past + (size_t)s * m, *pt = k->past + (size_t)t * m;
            double dot = 0;
            for (size_t i = 0; i < m; i++) dot += (ps[m + i] - ps[i]) * (pt[m + i] - pt[i]);
            u[s * DEPTH + t] = u[t * DEPTH + s] = dot;
            if (s == t) trace += dot;
        }
    for (int s = 0; s < DEPTH; s++) {
        u[s * DEPTH + s] += 1e-12 * trace;
        c[s] = 1;
    }
    if (!(trace > 0) || !dense_cholesky(u, DEPTH)) return;
    dense_cholesky_solve(u, DEPTH, c);
    for (int s = 0; s < DEPTH; s++) sum += c[s];
    if (!(fabs(sum) > 0) || !isfinite(sum)) return;
    memcpy(k->trial_w, k->w, k->a->rows * sizeof *k->w);
    for (size_t i = 0; i < m; i++) {
        double v = 0;
        for (int s = 0; s < DEPTH; s++) v += c[s] / sum * k->past[(size_t)(s + 1) * m + i];
        k->trial_w[k->active[i]] = v;
    }
    set_residual(k, k->trial_w, k->trial_residual);
    if (!(objective(k, k->trial_w, k->trial_residual) < objective(k, k->w, k->residual))) return;
    memcpy(k->w, k->trial_w, k->a->rows * sizeof *k->w);
    memcpy(k->residual, k->trial_residual, k->a->cols * sizeof *k->residual);
}

/* Sweeps the active columns until their conditions hold; returns the sweeps used. */
static long settle(struct work *k, long sweeps, double tolerance)
{
    size_t m = k->nactive;
    for (long n = 1;; n++) {
        if (n % (DEPTH + 1) == 1)
            for (size_t i = 0; i < m; i++) k->past[i] = k->w[k->active[i]];
        for (size_t i = 0; i < m; i++) update(k, k->active[i]);
        size_t slot = (size_t)((n - 1) % (DEPTH + 1)) + 1;
        if (slot <= DEPTH)
            for (size_t i = 0; i < m; i++) k->past[slot * m + i] = k->w[k->active[i]];
        if (slot != DEPTH && n < sweeps) continue;
        double worst = 0;
        for (size_t i = 0; i < m; i++) worst = fmax(worst, violation(k, k->active[i]));
        if (worst <= tolerance || n >= sweeps) return n;
        extrapolate(k);
    }
}

static struct lasso_report report(struct work *k, long sweeps)
{
    struct lasso_report r = { .sweeps = sweeps };
    double mean = 0, sse = 0, sst = 0;
    set_residual(k, k->w, k->residual);
    for (size_t i = 0; i < k->a->cols; i++) mean += (k->weight ? k->weight[i] : 1) * k->b[i] / k->total;
    for (size_t i = 0; i < k->a->cols; i++) {
        double c = k->weight ? k->weight[i] : 1;
        sse += c * k->residual[i] * k->residual[i];
        sst += c * (k->b[i] - mean) * (k->b[i] - mean);
    }
    for (size_t j = 0; j < k->a->rows; j++) {
        r.nonzeros += k->w[j] != 0;
        r.norm1 += fabs(k->w[j]);
        r.kkt = fmax(r.kkt, violation(k, j));
    }
    r.objective = sse / (2 * k->total) + k->alpha * r.norm1;
    r.r_squared = sst > 0 ? 1 - sse / sst : NAN;
    return r;
}

static double total_weight(const double *weight, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += weight ? weight[i] : 1;
    if (!(sum > 0)) die("lasso: no rows to fit");
    return sum;
}

struct lasso_report lasso_fit(const struct sparse *columns, const double *b, const double *weight, double alpha,
                              long sweeps, double tolerance, double *w)
{
    size_t rows = columns->cols, cols = columns->rows;
    if (!(alpha > 0)) die("lasso: alpha must be positive, not %g", alpha);
    struct work k = {
        .a = columns, .b = b, .weight = weight, .alpha = alpha, .total = total_weight(weight, rows), .w = w
    };
    double *memory = xmalloc(size_add(2 * rows, size_mul(DEPTH + 3, cols)) + 1, sizeof *memory);
    k.residual = memory;
    k.trial_residual = k.residual + rows;
    k.curvature = k.trial_residual + rows;
    k.trial_w = k.curvature + cols;
    k.past = k.trial_w + cols;
    k.active = xmalloc(cols + 1, sizeof *k.active);
    double steepest = 0, largest = 0;
    for (size_t j = 0; j < cols; j++) {
        k.curvature[j] = 0;
        for (size_t e = columns->start[j]; e < columns->start[j + 1]; e++)
            k.curvature[j] +=
                (weight ? weight[columns->column[e]] : 1) * columns->value[e] * columns->value[e] / k.total;
        steepest = fmax(steepest, k.curvature[j]);
        if (k.curvature[j] == 0) w[j] = 0;
    }
    for (size_t i = 0; i < rows; i++) largest = fmax(largest, fabs(b[i]));
    tolerance = fmin(tolerance, 1e-3 * alpha);           /* of seconds, say, all slopes are small */
    tolerance = fmax(tolerance, 1e-14 * sqrt(steepest) * largest);   /* of bytes, say, no slope comes nearer to 0 */
    long used = 0;
    while (used < sweeps) {
        set_residual(&k, w, k.residual);                 /* afresh: no drift from many small updates */
        bool settled = true;
        k.nactive = 0;
        for (size_t j = 0; j < cols; j++) {
            double v = violation(&k, j);
            if (v > tolerance) settled = false;
            if (v > 0.1 * tolerance || w[j] != 0) k.active[k.nactive++] = j;
        }
        if (settled) break;
        used += settle(&k, sweeps - used, 0.5 * tolerance);
    }
    struct lasso_report r = report(&k, used);
    free(memory);
    free(k.active);
    return r;
}

double lasso_alpha_max(const struct sparse *columns, const double *b, const double *weight)
{
    struct work k = { .a = columns, .weight = weight, .total = total_weight(weight, columns->cols) };
    double top = 0;
    for (size_t j = 0; j < columns->rows; j++) top = fmax(top, fabs(slope(&k, b, j)));
    return top;
}

size_t lasso_validate(const struct sparse *columns, const double *b, const int *fold, int nfold,
                      const double *alpha, size_t nalpha, long sweeps, double tolerance, double *r_squared)
{
    size_t rows = columns->cols, cols = columns->rows, best = 0;
    double *weight = xmalloc(rows + 1, sizeof *weight), *w = xmalloc(cols + 1, sizeof *w);
    double *residual = xmalloc(rows + 1, sizeof *residual), *sse = xcalloc(nalpha + 1, sizeof *sse), sst = 0;
    for (int f = 0; f < nfold; f++) {
        double mean = 0, n = 0;
        for (size_t i = 0; i < rows; i++) {
            weight[i] = fold[i] != f;
            n += fold[i] == f;
            mean += fold[i] == f ? b[i] : 0;
        }
        if (n == 0 || n == (double)rows) die("lasso: fold %d holds %g of %zu rows", f, n, rows);
        mean /= n;
        for (size_t i = 0; i < rows; i++) sst += fold[i] == f ? (b[i] - mean) * (b[i] - mean) : 0;
        memset(w, 0, cols * sizeof *w);
        for (size_t a = 0; a < nalpha; a++) {
            lasso_fit(columns, b, weight, alpha[a], sweeps, tolerance, w);
            struct work k = { .a = columns, .b = b };
            set_residual(&k, w, residual);
            for (size_t i = 0; i < rows; i++) sse[a] += fold[i] == f ? residual[i] * residual[i] : 0;
        }
    }
    for (size_t a = 0; a < nalpha; a++) {
        r_squared[a] = sst > 0 ? 1 - sse[a] / sst : NAN;
        if (r_squared[a] > r_squared[best]) best = a;
    }
    free_all(weight, w, residual, sse);
    return best;
}

/* fold numbers by group or by rows; returns how many folds there are */
static int make_folds(const uint32_t *group, size_t rows, uint64_t seed, int *fold)
{
    enum { FOLDS = 10 };
    uint32_t top = 0;
    for (size_t i = 0; group && i < rows; i++) top = group[i] > top ? group[i] : top;
    size_t units = group ? (size_t)top + 1 : rows;
    int n = units < FOLDS ? (int)units : FOLDS, *of = xmalloc(units + 1, sizeof *of);
    if (n < 2) die("lasso: %zu %s are too few for cross-validation", units, group ? "groups" : "rows");
    struct rng g = rng_for(seed, str_of("lasso folds"));
    for (size_t u = 0; u < units; u++) of[u] = (int)(u % (size_t)n);
    rng_shuffle(&g, of, units, sizeof *of);
    for (size_t i = 0; i < rows; i++) fold[i] = of[group ? group[i] : i];
    free(of);
    return n;
}

struct lasso_path lasso_choose(const struct sparse *columns, const double *b, const uint32_t *group, enum lasso_way way,
                               uint64_t seed, long sweeps, double tolerance)
{
    struct lasso_path p = { .n = way == LASSO_HOLDOUT ? 20 : LASSO_PATH };
    size_t rows = columns->cols;
    int *fold = xmalloc(rows + 1, sizeof *fold), nfold = 1;
    double top = lasso_alpha_max(columns, b, NULL);
    if (!(top > 0)) top = 1;
    for (size_t k = 0; k < p.n; k++)
        p.alpha[k] = way == LASSO_HOLDOUT ? ldexp(1, -1 - (int)k) : top * pow(1e-4, (double)k / (LASSO_PATH - 1));
    for (size_t i = 0; i < rows; i++) fold[i] = i >= rows / 5;
    if (way == LASSO_CV) nfold = make_folds(group, rows, seed, fold);
    p.best = lasso_validate(columns, b, fold, nfold, p.alpha, p.n, sweeps, tolerance, p.r_squared);
    free(fold);
    return p;
}

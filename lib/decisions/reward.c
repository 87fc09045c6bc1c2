/* reward.c - see reward.h */
#include "decisions/reward.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/rng.h"
#include "fit/dense.h"
#include "fit/lasso.h"
#include "fit/ridge.h"
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 5000, TRIAL_SWEEPS = 1000 };
static const double TOLERANCE = 1e-10, TRIAL_TOLERANCE = 1e-8, RANK_TOLERANCE = 1e-11;

/* ---- distinct rows ---- */

/* Rows and columns are told apart by 128 bits of hash, so that nothing is copied to compare them. */
static uint32_t number(struct intern *seen, uint64_t a, uint64_t b)
{
    uint64_t key[2] = { a, b };
    return intern(seen, (str){ (const char *)key, sizeof key });
}

static uint64_t row_hash(const struct sparse *a, size_t r, uint64_t seed)
{
    size_t from = a->start[r], n = a->start[r + 1] - from;
    return hash_bytes(a->value + from, n * sizeof *a->value, hash_bytes(a->column + from, n * sizeof *a->column, seed));
}

struct reward_rows reward_rows(const struct sparse_problem *p)
{
    const struct sparse *a = &p->a;
    struct reward_rows d = { .n_run = a->rows, .of = xmalloc(a->rows, sizeof(size_t)) };
    struct intern seen = { 0 };
    for (size_t r = 0; r < a->rows; r++) d.of[r] = number(&seen, row_hash(a, r, 1), row_hash(a, r, 2));
    d.borrowed = seen.n == a->rows;
    if (d.borrowed) d.a = *a;
    for (size_t r = 0, next = 0; r < a->rows && !d.borrowed; r++) {
        if (d.of[r] < next) continue;
        next++;
        for (size_t k = a->start[r]; k < a->start[r + 1]; k++) sparse_add(&d.a, a->column[k], a->value[k]);
        sparse_end_row(&d.a);
    }
    d.a.cols = 2 * p->node.n;
    intern_free(&seen);
    return d;
}

void reward_rows_free(struct reward_rows *d)
{
    if (!d->borrowed) sparse_free(&d->a);
    free(d->of);
    *d = (struct reward_rows){ 0 };
}

/* ---- fits ---- */

struct merged {
    double *b, *weight, within, total, mean_square;
}; /* within: weighted squares that no fit can reach */

static struct merged merge(const struct reward_rows *d, const double *b, const double *weight)
{
    struct merged m = { xcalloc(d->a.rows, sizeof(double)), xcalloc(d->a.rows, sizeof(double)), 0, 0, 0 };
    double sum = 0;
    for (size_t r = 0; r < d->n_run; r++) {
        double c = weight ? weight[r] : 1;
        m.weight[d->of[r]] += c;
        m.b[d->of[r]] += c * b[r];
        m.total += c;
        sum += c * b[r];
    }
    for (size_t i = 0; i < d->a.rows; i++)
        if (m.weight[i] > 0) m.b[i] /= m.weight[i];
    for (size_t r = 0; r < d->n_run; r++) {
        double c = weight ? weight[r] : 1, e = b[r] - m.b[d->of[r]], about = b[r] - sum / m.total;
        m.within += c * e * e;
        m.mean_square += c * about * about / m.total;
    }
    return m;
}

static struct reward_fit finish_fit(const struct reward_rows *d, struct merged *m, const double *w)
{
    struct reward_fit f = { 0 };
    double sse = m->within;
    for (size_t i = 0; i < d->a.rows; i++) {
        double e = sparse_row_dot(&d->a, i, w) - m->b[i];
        sse += m->weight[i] * e * e;
    }
    for (size_t j = 0; j < d->a.cols; j++) f.nonzeros += w[j] != 0;
    f.mse = sse / m->total;
    f.r_squared = m->mean_square > 0 ? 1 - f.mse / m->mean_square : NAN;
    free(m->b);
    free(m->weight);
    return f;
}

struct reward_fit reward_ridge(const struct reward_rows *d, double lambda, const double *b, const double *weight,
                               double *w)
{
    struct merged m = merge(d, b, weight);
    double total = m.total, norm = 0;
    struct ridge *solver = ridge_new(&d->a, RIDGE_AUTO);
    struct ridge_report report = ridge_solve(solver, lambda, m.b, m.weight, w);
    ridge_free(solver);
    struct reward_fit f = finish_fit(d, &m, w);
    for (size_t j = 0; j < d->a.cols; j++) norm += w[j] * w[j];
    f.objective = f.mse * total + lambda * norm;
    f.optimality = report.gradient;
    return f;
}

struct reward_fit reward_lasso(const struct reward_rows *d, double alpha, const double *b, const double *weight,
                               double *w)
{
    struct merged m = merge(d, b, weight);
    struct sparse columns = sparse_transpose(&d->a);
    double norm = 0;
    memset(w, 0, d->a.cols * sizeof *w);
    struct lasso_report report = lasso_fit(&columns, m.b, m.weight, alpha, SWEEPS, TOLERANCE, w);
    sparse_free(&columns);
    struct reward_fit f = finish_fit(d, &m, w);
    for (size_t j = 0; j < d->a.cols; j++) norm += fabs(w[j]);
    f.objective = f.mse / 2 + alpha * norm;
    f.optimality = report.kkt;
    return f;
}

/* ---- choice of alpha ---- */

static size_t n_groups(const struct sparse_problem *p, uint32_t *number)
{
    struct map64 seen = { 0 };
    size_t n = 0;
    for (size_t r = 0; r < p->a.rows; r++) {
        uint32_t *at = map64_at(&seen, p->runs[r].group);
        if (*at == NAME_NONE) *at = (uint32_t)n++;
        number[r] = *at;
    }
    map64_free(&seen);
    for (size_t r = 0; n == 1 && r < p->a.rows; r++) number[r] = (uint32_t)r;
    return n == 1 ? p->a.rows : n;
}

double reward_alpha(const struct sparse_problem *p, const double *b, bool hold_out, double *r_squared)
{
    size_t n = p->a.rows;
    int *fold = xmalloc(n, sizeof *fold);
    uint32_t *group = xmalloc(n, sizeof *group);
    size_t groups = n_groups(p, group);
    int folds = hold_out ? 1 : groups < FOLDS ? (int)groups : FOLDS;
    if (n < 5 || groups < 2) die("%zu runs are too few to choose alpha by validation", n);
    for (size_t r = 0; r < n; r++) fold[r] = hold_out ? r >= n / 5 : (int)(group[r] % (uint32_t)folds);
    struct sparse a = p->a;
    a.cols = 2 * p->node.n;
    struct sparse columns = sparse_transpose(&a);
    double alpha[ALPHAS], judged[ALPHAS];
    for (int k = 0; k < ALPHAS; k++) alpha[k] = ldexp(1, -k - 1);
    size_t best = lasso_validate(&columns, b, fold, folds, alpha, ALPHAS, TRIAL_SWEEPS, TRIAL_TOLERANCE, judged);
    sparse_free(&columns);
    free(fold);
    free(group);
    *r_squared = judged[best];
    return alpha[best];
}

/* ---- rank ---- */

/* Columns scaled so that their first entry is 1: decay is a factor of a column, and rank and row space in these
 * coordinates are those of who took part, which is better conditioned. */
static void scale_columns(struct sparse *columns)
{
    for (size_t j = 0; j < columns->rows; j++) {
        size_t from = columns->start[j], to = columns->start[j + 1];
        for (size_t k = to; k-- > from; ) columns->value[k] /= columns->value[from];
    }
}

/* gamma^a / gamma^b differs in the last bits, so ratios are compared as floats */
static void equal_columns(const struct sparse *a, uint32_t *group)
{
    struct mark { uint64_t h[2]; double first; } *mark = xcalloc(a->cols, sizeof *mark);
    struct intern seen = { 0 };
    uint32_t *first = NULL;
    size_t cap = 0;
    for (size_t r = 0; r < a->rows; r++) {
        for (size_t k = a->start[r]; k < a->start[r + 1]; k++) {
            struct mark *m = &mark[a->column[k]];
            if (m->first == 0) m->first = a->value[k];
            struct { uint64_t row; float ratio; uint32_t zero; } key = { r, (float)(a->value[k] / m->first), 0 };
            for (uint64_t i = 0; i < 2; i++) m->h[i] = hash_bytes(&key, sizeof key, m->h[i] + i);
        }
    }
    for (size_t j = 0; j < a->cols; j++) {
        group[j] = NAME_NONE;
        if (mark[j].first == 0) continue;
        size_t before = seen.n;
        uint32_t g = number(&seen, mark[j].h[0], mark[j].h[1]);
        first = grow(first, seen.n, &cap, sizeof *first);
        if (g == before) first[g] = (uint32_t)j;
        group[j] = first[g];
    }
    intern_free(&seen);
    free(first);
    free(mark);
}

bool reward_rank(const struct reward_rows *d, size_t *rank, double *identified, uint32_t *group)
{
    size_t n = d->a.rows;
    *rank = 0;
    memset(identified, 0, d->a.cols * sizeof *identified);
    equal_columns(&d->a, group);
    if (n > RANK_ROWS) return false;
    struct sparse columns = sparse_transpose(&d->a);
    scale_columns(&columns);
    struct sparse rows = sparse_transpose(&columns);
    double *gram = xmalloc(size_mul(n, n), sizeof *gram), *value = xmalloc(n, sizeof *value),
           *vector = xmalloc(size_mul(n, n), sizeof *vector);
    double *projected = xmalloc(n, sizeof *projected);
    sparse_gram(&rows, &columns, gram);
    dense_eigen(gram, n, value, vector);
    while (*rank < n && value[*rank] > RANK_TOLERANCE * value[0] * (double)n) ++*rank;
    for (size_t j = 0; j < columns.rows; j++) {
        memset(projected, 0, n * sizeof *projected);
        for (size_t k = columns.start[j]; k < columns.start[j + 1]; k++)
            for (size_t i = 0; i < *rank; i++) projected[i] += columns.value[k] * vector[columns.column[k] * n + i];
        for (size_t i = 0; i < *rank; i++) identified[j] += projected[i] * projected[i] / value[i];
    }
    free_all(gram, value, vector, projected);
    sparse_free(&rows);
    sparse_free(&columns);
    return true;
}

/* ---- intervals ---- */

static void draw(struct rng *g, const uint32_t *group, size_t groups, size_t runs, double *times, double *weight)
{
    memset(times, 0, groups * sizeof *times);
    for (size_t k = 0; k < groups; k++) times[rng_below(g, groups)]++;
    for (size_t r = 0; r < runs; r++) weight[r] = times[group[r]];
}

void reward_bootstrap(const struct sparse_problem *p, const struct reward_rows *d, enum problem_target target,
                      double lambda, double alpha, long n, double confidence, uint64_t seed, double *lower,
                      double *upper)
{
    size_t runs = p->a.rows, cols = d->a.cols;
    uint32_t *group = xmalloc(runs, sizeof *group);
    size_t groups = n_groups(p, group);
    double *times = xmalloc(groups, sizeof *times), *weight = xmalloc(runs, sizeof *weight),
           *b = xmalloc(runs, sizeof *b);
    double *w = xcalloc(cols, sizeof *w);
    uint32_t *used = xmalloc(cols, sizeof *used);        /* only used columns are kept: n doubles each */
    size_t n_used = 0;
    for (size_t j = 0; j < cols; j++) used[j] = 0;
    for (size_t k = 0; k < d->a.entries; k++) used[d->a.column[k]] = 1;
    for (size_t j = 0; j < cols; j++) used[j] = used[j] ? (uint32_t)n_used++ : NAME_NONE;
    double *all = xmalloc(size_mul(n_used, (size_t)n), sizeof *all);
    struct ridge *solver = lambda > 0 ? ridge_new(&d->a, RIDGE_AUTO) : NULL;
    struct sparse columns = lambda > 0 ? (struct sparse){ 0 } : sparse_transpose(&d->a);
    for (long s = 0; s < n; s++) {
        char key[32];
        int length = snprintf(key, sizeof key, "bootstrap/%ld", s);
        struct rng g = rng_for(seed, (str){ key, (size_t)length });
        draw(&g, group, groups, runs, times, weight);
        problem_target(p, target, weight, b);
        struct merged m = merge(d, b, weight);
        if (solver) ridge_solve(solver, lambda, m.b, m.weight, w);
        else lasso_fit(&columns, m.b, m.weight, alpha, SWEEPS, TRIAL_TOLERANCE, w);
        free(m.b);
        free(m.weight);
        for (size_t j = 0; j < cols; j++)
            if (used[j] != NAME_NONE) all[used[j] * (size_t)n + (size_t)s] = w[j];
    }
    for (size_t j = 0; j < cols; j++) {
        lower[j] = upper[j] = NAN;
        if (used[j] == NAME_NONE) continue;
        double *x = all + used[j] * (size_t)n;
        lower[j] = quantile(x, (size_t)n, (1 - confidence) / 2);
        upper[j] = quantile(x, (size_t)n, (1 + confidence) / 2);
    }
    if (solver) ridge_free(solver);
    else sparse_free(&columns);
    free_all(group, times, weight, b, w, used, all);
}

void reward_learn(const struct sparse_problem *p, enum problem_target target, double lambda, double alpha, long samples,
                  double confidence, uint64_t seed, struct reward_values *v)
{
    size_t cols = 2 * p->node.n;
    v->w = xcalloc(cols, sizeof *v->w);
    v->lower = xmalloc(cols, sizeof *v->lower);
    v->upper = xmalloc(cols, sizeof *v->upper);
    v->known = xmalloc(cols, sizeof *v->known);
    v->twins = xmalloc(cols, sizeof *v->twins);
    struct reward_rows d = reward_rows(p);
    v->distinct = d.a.rows;
    v->ranked = reward_rank(&d, &v->rank, v->known, v->twins);
    v->fit = lambda > 0 ? reward_ridge(&d, lambda, v->b, NULL, v->w) : reward_lasso(&d, alpha, v->b, NULL, v->w);
    for (size_t j = 0; j < cols; j++) {
        v->lower[j] = v->upper[j] = NAN;
        v->n_twins += v->twins[j] != NAME_NONE && v->twins[j] != j;
    }
    if (samples) reward_bootstrap(p, &d, target, lambda, alpha, samples, confidence, seed, v->lower, v->upper);
    reward_rows_free(&d);
}

/* problem.h and reward.h: rank, row space and twins against elimination, fits against their optimality conditions on
 * the runs themselves, intervals that hold the truth */
#include "decisions/reward.h"
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 24, SITES = 9, COLS = 2 * (SITES + 1) };

static double dense[RUNS][COLS];

/* a flat tree: every run inlines or calls each of the sites, or does not have it; site 2 follows site 1 */
static struct sparse_problem make(struct rng *g, double gamma, const double *worth)
{
    struct sparse_problem p = { 0 };
    struct names s = { 0 };
    memset(dense, 0, sizeof dense);
    for (int r = 0; r < RUNS; r++) {
        struct itree t = { 0 };
        char run[32];
        int length = snprintf(run, sizeof run, "%d", r);
        double sum = 0;
        itree_init(&t, FORM_PLAIN);
        dense[r][0] = 1;
        int first = 0;
        for (int i = 1; i <= SITES; i++) {
            char site[32];
            int n = snprintf(site, sizeof site, "f:%d:1", i);
            int how = i == 2 ? first : (int)rng_below(g, 3);
            if (i == 1) first = how;
            if (r < SITES) how = how == 2 ? 1 : how;     /* all sites early, so that nodes are numbered 1, 2, ... */
            if (r < SITES && i == 1) first = how;
            if (how == 2) continue;
            uint32_t label = path_add(&s, 0, names_site_of(&s, (str){ site, (size_t)n }));
            itree_add(&t, 0, how ? NODE_APPLY : NODE_INLINED, label, NAME_NONE);
            dense[r][2 * i + how] = gamma;
            sum += gamma * worth[2 * i + how];
        }
        problem_add(&p, &s, &t, (str){ run, (size_t)length }, gamma, false, false);
        problem_time(&p, (str){ run, (size_t)length }, (str){ run, (size_t)length }, r < 3,
                     exp(-sum) * (1 + 0.001 * rng_normal(g)), 1);
        itree_free(&t);
    }
    names_free(&s);
    return p;
}

static int eliminate(double m[][COLS], int rows)
{
    int rank = 0;
    for (int c = 0; c < COLS && rank < rows; c++) {
        int best = rank;
        for (int r = rank; r < rows; r++)
            if (fabs(m[r][c]) > fabs(m[best][c])) best = r;
        if (fabs(m[best][c]) < 1e-9) continue;
        for (int k = 0; k < COLS; k++) {
            double t = m[rank][k];
            m[rank][k] = m[best][k];
            m[best][k] = t;
        }
        for (int r = rank + 1; r < rows; r++)
            for (int k = COLS; k-- > c; ) m[r][k] -= m[r][c] / m[rank][c] * m[rank][k];
        rank++;
    }
    return rank;
}

static void test_rank(const struct sparse_problem *p, const struct reward_rows *d)
{
    double copy[RUNS + 1][COLS], identified[COLS];
    uint32_t twin[COLS];
    size_t rank;
    memcpy(copy, dense, sizeof dense);
    int want = eliminate(copy, RUNS);
    ok(reward_rank(d, &rank, identified, twin) && (int)rank == want, "rank by eigenvalues is rank by elimination");
    int good = 0, equal = 0;
    for (int j = 0; j < COLS; j++) {
        memcpy(copy, dense, sizeof dense);
        memset(copy[RUNS], 0, sizeof copy[RUNS]);
        copy[RUNS][j] = 1;
        bool inside = eliminate(copy, RUNS + 1) == want;
        good += inside == (identified[j] > 1 - 1e-9);
        uint32_t first = NAME_NONE;
        bool used = false;
        for (int r = 0; r < RUNS; r++) used |= dense[r][j] != 0;
        for (int k = 0; used && k <= j && first == NAME_NONE; k++) {
            bool same = true;
            for (int r = 0; r < RUNS; r++) same &= (dense[r][j] != 0) == (dense[r][k] != 0);
            if (same) first = (uint32_t)k;
        }
        equal += first == twin[j];
    }
    ok(good == COLS, "a value is known exactly when its unit vector lies in the row space");
    ok(equal == COLS && twin[4] == 2 && twin[5] == 3, "decisions that always went together are twins");
    ok(problem_columns(p) == 2 * SITES + 1, "used columns are counted");
}

static void test_fits(const struct sparse_problem *p, const struct reward_rows *d)
{
    double b[RUNS], w[COLS], worst = 0, lambda = 0.05, alpha = 0.003, weight[RUNS];
    for (int r = 0; r < RUNS; r++) weight[r] = r % 3;
    problem_target(p, LOG_OVER_MEAN, NULL, b);
    reward_ridge(d, lambda, b, weight, w);
    for (int j = 0; j < COLS; j++) {
        double gradient = lambda * w[j];
        for (int r = 0; r < RUNS; r++) {
            double e = -b[r];
            for (int k = 0; k < COLS; k++) e += dense[r][k] * w[k];
            gradient += weight[r] * e * dense[r][j];
        }
        worst = fmax(worst, fabs(gradient));
    }
    near(worst, 0, 1e-12, "ridge: the gradient over the unmerged, weighted runs vanishes");
    struct reward_fit f = reward_lasso(d, alpha, b, NULL, w);
    double sse = 0, norm = 0;
    worst = 0;
    for (int j = 0; j < COLS; j++) {
        double gradient = 0;
        for (int r = 0; r < RUNS; r++) {
            double e = -b[r];
            for (int k = 0; k < COLS; k++) e += dense[r][k] * w[k];
            gradient += e * dense[r][j] / RUNS;
            if (!j) sse += e * e;
        }
        norm += fabs(w[j]);
        worst = fmax(worst, w[j] != 0 ? fabs(gradient + alpha * (w[j] > 0 ? 1 : -1)) : fmax(0, fabs(gradient) - alpha));
    }
    near(worst, 0, 1e-9, "lasso: the optimality conditions hold over the unmerged runs");
    near(f.objective, sse / (2 * RUNS) + alpha * norm, 1e-12, "lasso: the objective is that of the unmerged runs");
    near(f.mse, sse / RUNS, 1e-12, "lasso: mean square over runs");
}

static void test_targets(const struct sparse_problem *p)
{
    double b[RUNS], mean = 0, base = 0;
    for (int r = 0; r < RUNS; r++) mean += p->runs[r].seconds / RUNS;
    for (int r = 0; r < 3; r++) base += log(p->runs[r].seconds) / 3;
    base = exp(base);
    double t = p->runs[5].seconds;
    problem_target(p, LINEAR_OVER_MEAN, NULL, b);
    near(b[5], -(t - mean) / mean, 1e-14, "linear speed-up over the mean");
    problem_target(p, LOG_OVER_BASELINE, NULL, b);
    near(b[5], -log(t / base), 1e-14, "log speed-up over the initial runs");
    problem_target(p, TANH_OVER_BASELINE, NULL, b);
    near(b[5], tanh(-10 * (t - base) / base), 1e-14, "tanh of ten times the speed-up");
    problem_target(p, SIGMOID_OVER_MEAN, NULL, b);
    near(b[5], 1 / (1 + exp(20 * (t - mean) / mean)), 1e-14, "sigmoid");
}

static void test_intervals(const struct sparse_problem *p, const struct reward_rows *d)
{
    double b[RUNS], w[COLS], lower[COLS], upper[COLS], again_lower[COLS], again_upper[COLS];
    problem_target(p, LOG_OVER_MEAN, NULL, b);
    reward_ridge(d, 1e-3, b, NULL, w);
    reward_bootstrap(p, d, LOG_OVER_MEAN, 1e-3, 0, 100, 0.95, 1, lower, upper);
    reward_bootstrap(p, d, LOG_OVER_MEAN, 1e-3, 0, 100, 0.95, 1, again_lower, again_upper);
    int ordered = 0, same = 0;
    for (int j = 0; j < COLS; j++) {
        bool used = j != 1;
        ordered += used ? lower[j] < upper[j] : isnan(lower[j]) && isnan(upper[j]);
        same += !used || (lower[j] == again_lower[j] && upper[j] == again_upper[j]);
    }
    ok(ordered == COLS, "every used column has an interval, an unused one has none");
    ok(same == COLS, "the same seed gives the same intervals");
}

int main(void)
{
    struct rng g = rng_for(1, str_of("reward"));
    double worth[COLS];
    for (int j = 0; j < COLS; j++) worth[j] = 0.05 * rng_normal(&g);
    struct sparse_problem p = make(&g, 0.9, worth);
    struct reward_rows d = reward_rows(&p);
    test_rank(&p, &d);
    test_fits(&p, &d);
    test_targets(&p);
    test_intervals(&p, &d);
    double b[RUNS], r_squared;
    problem_target(&p, LOG_OVER_MEAN, NULL, b);
    double alpha = reward_alpha(&p, b, true, &r_squared);
    ok(alpha <= 0.5 && alpha >= ldexp(1, -ALPHAS) && r_squared <= 1, "the hold-out chooses one of the alphas");
    reward_rows_free(&d);
    problem_free(&p);
    return done();
}

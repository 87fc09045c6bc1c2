/* statistics of timings: against enumeration, published values, and simulated noise whose truth is known */
#include "base/mem.h"
#include "base/rng.h"
#include "measure/guard.h"
#include "measure/order.h"
#include "measure/stats.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static struct rng g;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_hodges_lehmann(void)
{
    bool point = true, ends = true;
    for (int trial = 0; trial < 200; trial++) {
        double d[40], w[820];
        size_t n = 1 + rng_below(&g, 40), m = 0;
        for (size_t i = 0; i < n; i++) d[i] = trial % 2 ? rng_normal(&g) : (double)rng_below(&g, 5) - 2;
        for (size_t i = 0; i < n; i++) for (size_t j = i; j < n; j++) w[m++] = 0.5 * d[i] + 0.5 * d[j];
        qsort(w, m, sizeof *w, by_value);
        struct interval i = hodges_lehmann(d, n, 0.95, 1);
        double want = m % 2 ? w[m / 2] : 0.5 * w[m / 2 - 1] + 0.5 * w[m / 2];
        point &= fabs(i.point - want) < 1e-15;
        bool low = n < 6 ? isinf(i.lower) : false, high = n < 6 ? isinf(i.upper) : false;
        for (size_t k = 0; k < m; k++) low |= i.lower == w[k] && i.upper == w[m - 1 - k], high |= i.upper == w[k];
        ends &= low && high;
    }
    ok(point, "the estimate is the median of all pairwise averages");
    ok(ends, "the interval's ends are two of them, as far from either side; below 6 values there is none");
    double six[] = { 1, 2, 3, 4, 5, 6 };
    ok(hodges_lehmann(six, 6, 0.95, 1).lower == 1 && hodges_lehmann(six, 6, 0.95, 1).upper == 6,
       "6 values at 95 %: from least to greatest");
    double wild[] = { 0.1, 0.2, 0.15, 0.12, INFINITY, 0.18, 0.11, 0.13, 0.14, 0.16 };
    ok(isfinite(hodges_lehmann(wild, 10, 0.95, 1).point) && hodges_lehmann(wild, 10, 0.95, 1).lower < 0.2,
       "one timeout in ten moves the estimate, but not to infinity");
}

static void test_signed_rank(void)
{
    bool same = true;
    for (int trial = 0; trial < 50; trial++) {
        double d[9], w = 0;
        for (int i = 0; i < 9; i++) d[i] = rng_normal(&g) + 0.3;
        int rank[9], less = 0;
        for (int i = 0; i < 9; i++) {
            rank[i] = 1;
            for (int j = 0; j < 9; j++) rank[i] += fabs(d[j]) < fabs(d[i]);
            if (d[i] > 0) w += rank[i];
        }
        double extreme = fmin(w, 45 - w);
        for (int signs = 0; signs < 512; signs++) {
            int v = 0;
            for (int i = 0; i < 9; i++) if (signs >> i & 1) v += rank[i];
            less += v <= extreme;
        }
        same &= fabs(signed_rank_p(d, 9, 1) - fmin(1, 2 * less / 512.0)) < 1e-12;
    }
    ok(same, "signed-rank p-values equal enumeration of all 512 signs");
    double zeros[5] = { 0 };
    ok(signed_rank_p(zeros, 5, 1) == 1, "nothing but zeros: p is 1");
    double big[300];
    for (int i = 0; i < 300; i++) big[i] = rng_normal(&g);
    near(signed_rank_p(big, 100, 1), signed_rank_p(big, 100, 1 + 1e-9), 0.01,
         "the normal law joins the exact one at n = 100");
}

static void test_order_statistics(void)
{
    double v[] = { 9, 3, 7, 1, 5, 10, 2, 8, 4, 6 }, coverage;
    struct interval i = median_interval(v, 10, 0.95, &coverage);
    ok(i.point == 5.5 && i.lower == 2 && i.upper == 9, "n = 10: the median's interval is x(2) .. x(9)");
    near(coverage, 1 - 22.0 / 1024, 1e-12, "which covers 97.85 %");
    ok(isinf(median_interval(v, 5, 0.95, NULL).lower), "5 values give no interval of 95 %");
    near(median_deviation(v, 10), 1.4826 * 2.5, 1e-12, "MAD");
    struct outliers o = outliers((double[]){ 1, 1.1, 1.2, 1.1, 1, 1.2, 1.1, 9 }, 8);
    ok(o.severe == 1 && o.mild == 0 && o.variance_share > 0.99, "one severe outlier causes nearly all of the variance");
    double p[] = { 0.01, 0.04, 0.03, 0.005 }, q[] = { 0.01, 0.04, 0.03, 0.005 };
    adjust_holm(p, 4);
    adjust_bh(q, 4);
    ok(fabs(p[0] - 0.03) < 1e-12 && fabs(p[1] - 0.06) < 1e-12 && fabs(p[2] - 0.06) < 1e-12 && fabs(p[3] - 0.02) < 1e-12,
       "Holm's example");
    ok(fabs(q[0] - 0.02) < 1e-12 && fabs(q[1] - 0.04) < 1e-12 && fabs(q[2] - 0.04) < 1e-12 && fabs(q[3] - 0.02) < 1e-12,
       "Benjamini and Hochberg's");
    double r[] = { log(2), log(8), log(4) };
    struct geomean m = geometric_mean(r, 3, 0.95, 1, "");
    near(m.ratio.point, 4, 1e-12, "geometric mean of 2, 8, 4");
    ok(fabs(m.least_without_one - sqrt(8)) < 1e-9 && fabs(m.most_without_one - sqrt(32)) < 1e-9,
       "and its range with one left out");
    struct interval in = { 0.001, -0.002, 0.004 }, out = { 0.02, 0.001, 0.04 };
    ok(verdict_of(in, 0.5, 0.95, 0.01) == SAME && verdict_of(in, 0.5, 0.95, 0.003) == UNCLEAR &&
           verdict_of(out, 0.01, 0.95, 0.01) == SLOWER,
       "verdicts");
}

/* times at successive moments: log level 0, noise of one kind */
static void make_noise(const char *kind, double *x, int n)
{
    double a = rng_normal(&g), rho = strcmp(kind, "ar1") == 0 ? 0.7 : 0;
    int burst = 0;
    for (int i = 0; i < n; i++) {
        a = rho * a + sqrt(1 - rho * rho) * rng_normal(&g);
        x[i] = 0.01 * a;
        if (strcmp(kind, "ramps") == 0) x[i] += 0.1 * i / n;
        if (strcmp(kind, "bursts") != 0) continue;
        if (burst > 0) burst--;
        else if (rng_unit(&g) < 0.03) burst = 1 + (int)rng_below(&g, 10);
        if (burst) x[i] += 0.3 * rng_unit(&g);
    }
}

static void test_coverage(void)
{
    static const char *const kinds[] = { "independent", "ar1", "bursts", "ramps" };
    const double truth = 0.01;
    for (int k = 0; k < 4; k++) {
        enum { CASES = 2000, N = 60 };
        int hit = 0;
        for (int c = 0; c < CASES; c++) {
            double x[2 * N], d[N];
            size_t order[2];
            make_noise(kinds[k], x, 2 * N);
            for (size_t r = 0; r < N; r++) {
                order_round((uint64_t)c, 2, r, order);
                double first = x[2 * r] + (order[0] == 1 ? truth : 0),
                       second = x[2 * r + 1] + (order[1] == 1 ? truth : 0);
                d[r] = order[0] == 0 ? second - first : first - second;
            }
            struct paired p = paired_compare(d, NULL, NULL, N, 0.95, false);
            hit += p.log_ratio.lower <= truth && truth <= p.log_ratio.upper;
        }
        printf("# %s: %.4f\n", kinds[k], hit / (double)CASES);
        char name[96];
        snprintf(name, sizeof name, "noise %s: the 95 %% interval covers the truth in 93 to 97 %% of 2000 cases",
                 kinds[k]);
        ok(hit >= 0.93 * CASES && hit <= 0.97 * CASES, name);
    }
}

/* values that were not randomised, as an import may hold: dependence is found and paid for */
static void test_dependence(void)
{
    enum { CASES = 500, N = 200 };
    int hit = 0, plain = 0;
    for (int c = 0; c < CASES; c++) {
        double d[N], a = rng_normal(&g);
        for (int i = 0; i < N; i++) d[i] = a = 0.5 * a + sqrt(0.75) * rng_normal(&g);
        struct interval wide = paired_compare(d, NULL, NULL, N, 0.95, false).log_ratio,
                        narrow = hodges_lehmann(d, N, 0.95, 1);
        hit += wide.lower <= 0 && wide.upper >= 0;
        plain += narrow.lower <= 0 && narrow.upper >= 0;
    }
    printf("# widened %.3f, not widened %.3f\n", hit / (double)CASES, plain / (double)CASES);
    ok(hit > 0.92 * CASES && plain < 0.85 * CASES,
       "dependent values: the widened interval covers, the plain one does not");
    double jump[60];
    for (int i = 0; i < 60; i++) jump[i] = rng_normal(&g) + (i < 20 ? 0 : 3);
    struct paired p = paired_compare(jump, NULL, NULL, 60, 0.95, false);
    ok(p.drift && p.change_at >= 18 && p.change_at <= 22, "a jump of the ratio is found where it is");
}

static void test_sequence(void)
{
    enum { CASES = 400, N = 300 };
    int wrong = 0, fixed = 0, rounds = 0, found = 0;
    for (int c = 0; c < CASES; c++) {
        double d[N], e[N];
        bool out = false, peek = false, told = false;
        for (size_t i = 0; i < N; i++) {
            d[i] = 0.01 * rng_normal(&g);
            e[i] = d[i] + 0.005;
            if (i % 3 || i < 8) continue;
            struct interval s = median_sequence(d, i, 0.95, 1), t = median_sequence(e, i, 0.95, 1),
                            h = hodges_lehmann(d, i, 0.95, 1);
            out |= s.lower > 0 || s.upper < 0;
            peek |= h.lower > 0 || h.upper < 0;
            if (!told && t.lower > 0) told = true, rounds += (int)i, found++;
        }
        wrong += out;
        fixed += peek;
    }
    printf("# looking after every round: sequence wrong %.3f, fixed interval wrong %.3f; half a deviation found in "
           "%.0f rounds\n",
           wrong / (double)CASES, fixed / (double)CASES, rounds / (double)(found ? found : 1));
    ok(wrong <= 0.05 * CASES, "the confidence sequence may be looked at after every round");
    ok(fixed > 0.12 * CASES, "the fixed interval may not");
    ok(found == CASES, "and it finds a real difference");
}

static void test_orders(void)
{
    bool places = true, follows = true;
    for (size_t k = 1; k <= 9; k++) {
        size_t block = order_block(k), place[81] = { 0 }, after[81] = { 0 }, order[9];
        for (size_t r = 0; r < block; r++) {
            order_round(7, k, block * 3 + r, order);
            for (size_t p = 0; p < k; p++) {
                place[p * k + order[p]]++;
                if (p) after[order[p - 1] * k + order[p]]++;
            }
        }
        for (size_t i = 0; i < k * k; i++) {
            places &= place[i] == block / k;
            follows &= i / k == i % k ? after[i] == 0 : after[i] == block * (k - 1) / (k * (k - 1));
        }
    }
    ok(places, "in each block every label stands in every place equally often");
    ok(follows, "and follows every other equally often");
}

static void test_guard(void)
{
    double gain[20], none[20];
    for (int i = 0; i < 20; i++) gain[i] = -0.05 + 0.01 * rng_normal(&g), none[i] = 0.01 * rng_normal(&g);
    struct guard rule = { 0.95, 0 };
    struct guarded a = guard_decide(gain, 20, 1, &rule),
                   b = guard_decide(none, 20, 1, &rule);
    ok(a.keep && !b.keep && a.calibration.n == 10 && a.confirmation.n == 10, "a sure gain is kept, noise is not");
    double upper;
    ok(!guard_keeps(gain, 3, 1, &rule, &upper) && isinf(upper), "three values are never enough");
    rule.least_gain = 0.1;
    ok(!guard_keeps(gain, 20, 1, &rule, &upper), "5 % is no gain where 10 % is demanded");
    int kept = 0;
    rule.least_gain = 0;
    for (int c = 0; c < 1000; c++) {
        for (int i = 0; i < 20; i++) none[i] = 0.01 * rng_normal(&g);
        kept += guard_keeps(none, 20, 1, &rule, &upper);
    }
    printf("# no gain, kept in %.3f\n", kept / 1000.0);
    ok(kept >= 25 && kept <= 75, "what is no gain is kept in 5 % of cases");
}

int main(void)
{
    g = rng_for(1, str_of("lib-stats"));
    test_hodges_lehmann();
    test_signed_rank();
    test_order_statistics();
    test_orders();
    test_coverage();
    test_dependence();
    test_sequence();
    test_guard();
    return done();
}

/* lib-guard.c - the guard, and the statistics that it and bench-compare decide by, beside plain second implementations:
 * from the definitions, with enumeration and full sorting, over random values with and without ties. */
#include "base/rng.h"
#include "measure/guard.h"
#include "tap.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40 };
static struct rng g;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool close_to(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static size_t draw(double *d, int kind)
{
    size_t n = rng_below(&g, N + 1);
    double last = 0;
    for (size_t i = 0; i < n; i++) {
        double x = rng_normal(&g) + 0.2;
        d[i] = kind == 0 ? x : kind == 1 ? (double)rng_below(&g, 7) - 3 : kind == 2 ? (last = 0.8 * last + x)
            : x + (i > n / 2);
    }
    return n;
}

/* upper tail of the normal law, turned round by bisection */
static double normal_quantile(double tail)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double x = 0.5 * (low + high);
        if (0.5 * erfc(x / sqrt(2)) > tail) low = x;
        else high = x;
    }
    return low;
}

/* P(W <= w) for n values, by counting sums of subsets of 1 .. n */
static double signed_rank_at_most(int n, int w)
{
    static double count[N * (N + 1) / 2 + 1];
    int top = n * (n + 1) / 2;
    double sum = 0;
    memset(count, 0, sizeof count);
    count[0] = 1;
    for (int r = 1; r <= n; r++) for (int v = top; v >= r; v--) count[v] += count[v - r];
    for (int v = 0; v <= w && v <= top; v++) sum += count[v];
    return sum / ldexp(1, n);
}

static struct interval plain_hodges_lehmann(const double *d, size_t n, double confidence, double inflate)
{
    static double w[N * (N + 1) / 2];
    struct interval r = { NAN, -INFINITY, INFINITY };
    int m = 0, k = 0;
    for (size_t i = 0; i < n; i++) for (size_t j = i; j < n; j++) w[m++] = (d[i] + d[j]) / 2;
    if (!m) return r;
    qsort(w, (size_t)m, sizeof *w, by_value);
    r.point = (w[(m - 1) / 2] + w[m / 2]) / 2;
    double tail = (1 - confidence) / 2, c = (double)n;
    if (inflate <= 1) while (k < m / 2 && signed_rank_at_most((int)n, k) <= tail) k++;
    else k = (int)floor(c * (c + 1) / 4 - normal_quantile(tail) * sqrt(inflate * c * (c + 1) * (2 * c + 1) / 24));
    if (k > 0) r.lower = w[k - 1], r.upper = w[m - k];
    return r;
}

static bool same_interval(struct interval a, struct interval b)
{
    return close_to(a.point, b.point) && close_to(a.lower, b.lower) && close_to(a.upper, b.upper);
}

static void plain_ranks(const double *d, size_t n, double *r)
{
    for (size_t i = 0; i < n; i++) {
        r[i] = 0.5;
        for (size_t j = 0; j < n; j++) r[i] += d[j] < d[i] ? 1 : d[j] == d[i] ? 0.5 : 0;
    }
}

static double plain_lag1(const double *d, size_t n)
{
    double r[N], mid = ((double)n + 1) / 2, top = 0, all = 0;
    if (n < 3) return 0;
    plain_ranks(d, n, r);
    for (size_t i = 0; i < n; i++) all += (r[i] - mid) * (r[i] - mid);
    for (size_t i = 1; i < n; i++) top += (r[i] - mid) * (r[i - 1] - mid);
    return all == 0 ? 0 : top / all;
}

static double plain_inflation(const double *d, size_t n)
{
    double c = (double)n, r = plain_lag1(d, n);
    if (n < 16 || r < 1.645 / sqrt(c) - 1 / c) return 1;
    r = fmin(0.95, r + (1 + 3 * r) / c);
    return (1 + r) / (1 - r);
}

static double plain_signed_rank_p(const double *d, size_t n, double inflate)
{
    double a[N], ranked[N], w[2] = { 0 }, ties = 0;
    int sign[N], m = 0;
    for (size_t i = 0; i < n; i++) if (d[i] != 0) a[m] = fabs(d[i]), sign[m++] = d[i] > 0;
    if (!m) return 1;
    for (int i = 0; i < m; i++) {
        double rank = 0.5, same = 0;
        for (int j = 0; j < m; j++) rank += a[j] < a[i] ? 1 : a[j] == a[i] ? 0.5 : 0, same += a[j] == a[i];
        ties += same * same - 1;                         /* each of t tied ones: t^2 - 1, together t^3 - t */
        w[sign[i]] += ranked[i] = rank;
    }
    double less = fmin(w[0], w[1]), c = m;
    if (ties > 0 && m <= 16 && inflate <= 1) {           /* all 2^m signs */
        long few = 0;
        for (long signs = 0; signs < 1L << m; signs++) {
            double sum = 0;
            for (int i = 0; i < m; i++) if (signs >> i & 1) sum += ranked[i];
            few += sum <= less;
        }
        return fmin(1, 2 * (double)few / (double)(1L << m));
    }
    if (ties == 0 && inflate <= 1) return fmin(1, 2 * signed_rank_at_most(m, (int)less));
    double variance = inflate * (c * (c + 1) * (2 * c + 1) / 24 - ties / 48);
    return fmin(1, erfc((c * (c + 1) / 4 - less - 0.5) / sqrt(variance) / sqrt(2)));
}

static double plain_change(const double *d, size_t n, size_t *at)
{
    double most = -1, c = (double)n;
    *at = 0;
    if (n < 8) return 1;
    for (size_t t = 1; t < n; t++) {
        double u = 0;
        for (size_t i = 0; i < t; i++) for (size_t j = t; j < n; j++) u += (d[i] > d[j]) - (d[i] < d[j]);
        if (fabs(u) > most + 1e-9) most = fabs(u), *at = t;
    }
    return fmin(1, 2 * exp(-6 * most * most / (c * c * c + c * c)));
}

static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

static struct interval plain_median_interval(const double *d, size_t n, double confidence, double *coverage)
{
    double s[N], below = 0;
    struct interval r = { NAN, -INFINITY, INFINITY };
    *coverage = 1;
    if (!n) return r;
    memcpy(s, d, n * sizeof *s);
    qsort(s, n, sizeof *s, by_value);
    r.point = (s[(n - 1) / 2] + s[n / 2]) / 2;
    for (size_t k = 1; k <= (n + 1) / 2; k++) {
        below += exp(log_choose((double)n, (double)k - 1) - (double)n * log(2));
        if (below > (1 - confidence) / 2) break;
        r.lower = s[k - 1], r.upper = s[n - k], *coverage = 1 - 2 * below;
    }
    return r;
}

/* the e-value as the integral of the likelihood ratio over Beta(10, 10), by Simpson's rule */
static double plain_e(double s, double n)
{
    enum { STEPS = 4000 };
    double sum = 0, scale = lgamma(20) - 2 * lgamma(10);
    for (int i = 1; i < STEPS; i++) {
        double p = (double)i / STEPS, f = exp(scale + (9 + s) * log(p) + (9 + n - s) * log(1 - p) + n * log(2));
        sum += (i % 2 ? 4 : 2) * f;
    }
    return sum / (3.0 * STEPS);
}

static void test_intervals(void)
{
    bool hl = true, p = true, mi = true, change = true, lag = true, inflated = true, seq = true, e = true;
    for (int trial = 0; trial < 400; trial++) {
        double d[N + 1], cover, want, confidence = trial % 3 ? 0.95 : 0.8;
        size_t n = draw(d, trial % 4), at, at2;
        double inflate = trial % 5 ? 1 : 1.7;
        hl &= same_interval(hodges_lehmann(d, n, confidence, inflate), plain_hodges_lehmann(d, n, confidence, inflate));
        p &= close_to(signed_rank_p(d, n, inflate), plain_signed_rank_p(d, n, inflate));
        struct interval wanted = plain_median_interval(d, n, confidence, &want);
        mi &= same_interval(median_interval(d, n, confidence, &cover), wanted) && close_to(cover, want);
        change &= close_to(change_point(d, n, &at), plain_change(d, n, &at2)) && at == at2;
        lag &= close_to(lag1(d, n), plain_lag1(d, n));
        inflated &= close_to(variance_inflation(d, n), plain_inflation(d, n));
        double above = 0, below = 0;
        for (size_t i = 0; i < n; i++) above += d[i] > 0, below += d[i] < 0;
        e &= fabs(sign_e_value(d, n, inflate) / plain_e(above / inflate, (above + below) / inflate) - 1) < 1e-6;
        struct interval s = median_sequence(d, n, confidence, inflate);
        double v[N];
        if (n) memcpy(v, d, n * sizeof *v), qsort(v, n, sizeof *v, by_value);
        size_t k = 0;
        while (k < n / 2 && plain_e((double)k / inflate, (double)n / inflate) >= 1 / (1 - confidence)) k++;
        seq &= k ? s.lower == v[k - 1] && s.upper == v[n - k] : isinf(s.lower) && isinf(s.upper);
        seq &= n ? close_to(s.point, (v[(n - 1) / 2] + v[n / 2]) / 2) : isnan(s.point);
    }
    ok(hl, "Hodges-Lehmann: all averages sorted, the law counted, the normal one turned round");
    ok(p, "signed-rank p: from the definition, ties and zeros included");
    ok(mi, "the median's interval and its coverage");
    ok(change, "Pettitt's test: from the signs of all pairs");
    ok(lag, "autocorrelation of the ranks");
    ok(inflated, "the variance's inflation");
    ok(e, "the e-value is the integral over the prior");
    ok(seq, "the confidence sequence inverts it");
}

static void test_plain(void)
{
    bool q = true, dev = true, mad = true, out = true, holm = true, bh = true;
    for (int trial = 0; trial < 300; trial++) {
        double d[N + 1], v[N + 1], sum = 0, square = 0;
        size_t n = draw(d, trial % 3);
        if (trial % 7 == 0 && n > 6) d[0] = 50, d[1] = -60, d[2] = 4.5;
        memcpy(v, d, sizeof v);
        qsort(v, n, sizeof *v, by_value);
        for (int k = 0; k <= 8 && n; k++) {
            double at = k / 8.0 * (double)(n - 1), low = v[(size_t)floor(at)], high = v[(size_t)ceil(at)];
            q &= close_to(quantile(d, n, k / 8.0), low + (at - floor(at)) * (high - low));
        }
        for (size_t i = 0; i < n; i++) sum += d[i];
        for (size_t i = 0; i < n; i++) square += pow(d[i] - sum / (double)n, 2);
        dev &= close_to(mean(d, n), n ? sum / (double)n : NAN);
        dev &= close_to(deviation(d, n), n > 1 ? sqrt(square / ((double)n - 1)) : NAN);
        double away[N + 1], m = median(d, n);
        for (size_t i = 0; i < n; i++) away[i] = fabs(d[i] - m);
        mad &= close_to(median_deviation(d, n), n ? 1.4826 * median(away, n) : NAN);
        struct outliers o = outliers(d, n);
        size_t mild = 0, severe = 0, kept = 0;
        double q1 = quantile(d, n, 0.25), q3 = quantile(d, n, 0.75), inside[N + 1], far, rest = 0, all = square;
        for (size_t i = 0; i < n; i++) {
            far = fmax(q1 - d[i], d[i] - q3) / (q3 - q1);
            if (n < 4 || !(far > 1.5)) inside[kept++] = d[i];
            else if (far > 3) severe++;
            else mild++;
        }
        if (kept > 1) rest = pow(deviation(inside, kept), 2) * ((double)kept - 1);
        if (n >= 4 && q3 > q1) out &= o.mild == mild && o.severe == severe && (all == 0 || close_to(o.variance_share,
            1 - rest / all));
        if (n < 4) out &= !o.mild && !o.severe && o.variance_share == 0;

        double a[N + 1], b[N + 1], p[N + 1];
        for (size_t i = 0; i < n; i++) a[i] = b[i] = p[i] = rng_below(&g, 4) ? rng_unit(&g) * 0.2 : 0.05;
        adjust_holm(a, n);
        adjust_bh(b, n);
        for (size_t i = 0; i < n; i++) {                 /* from the definitions: over all that are no larger,
            or no less */
            double h = 0, f = 1;
            for (size_t j = 0; j < n; j++) {
                size_t less = 0, upto = 0;
                for (size_t k = 0; k < n; k++) less += p[k] < p[j], upto += p[k] <= p[j];
                if (p[j] <= p[i]) h = fmax(h, fmin(1, (double)(n - less) * p[j]));
                if (p[j] >= p[i]) f = fmin(f, (double)n / (double)upto * p[j]);
            }
            holm &= close_to(a[i], h);
            bh &= close_to(b[i], f);
        }
    }
    ok(q, "quantiles");
    ok(dev, "mean and deviation");
    ok(mad, "deviation from the median");
    ok(out, "what is far out, and the variance it causes");
    ok(holm, "Holm's adjustment");
    ok(bh, "Benjamini's and Hochberg's");
}

static void test_paired(void)
{
    bool plain = true, sequential = true, geo = true;
    for (int trial = 0; trial < 100; trial++) {
        double d[N + 1], low[N + 1], high[N + 1];
        size_t n = draw(d, trial % 4), at;
        for (size_t i = 0; i < n; i++) low[i] = d[i] - (i == 1), high[i] = d[i] + (i == 2);
        double f = variance_inflation(d, n), change = change_point(d, n, &at);
        struct paired p = paired_compare(d, low, high, n, 0.9, false), s = paired_compare(d, low, high, n, 0.9, true);
        struct paired own = paired_compare(d, NULL, NULL, n, 0.9, false);
        plain &= p.n == n && close_to(p.inflate, f) && close_to(p.lag1, lag1(d, n)) && p.change_at == at &&
                 close_to(p.change_p, change) && p.drift == (change < 0.01);
        plain &= close_to(p.log_ratio.point, hodges_lehmann(d, n, 0.9, f).point) &&
                 close_to(p.log_ratio.lower, hodges_lehmann(low, n, 0.9, f).lower) &&
                 close_to(p.log_ratio.upper, hodges_lehmann(high, n, 0.9, f).upper) &&
                 close_to(p.p_value, fmax(signed_rank_p(low, n, f), signed_rank_p(high, n, f)));
        plain &= same_interval(own.log_ratio, hodges_lehmann(d, n, 0.9, f)) && close_to(own.p_value, signed_rank_p(d,
            n, f));
        sequential &= close_to(s.log_ratio.point, median_sequence(d, n, 0.9, f).point) &&
                      close_to(s.log_ratio.lower, median_sequence(low, n, 0.9, f).lower) &&
                      close_to(s.log_ratio.upper, median_sequence(high, n, 0.9, f).upper) &&
                      close_to(s.p_value, fmin(1, fmax(1 / sign_e_value(low, n, f), 1 / sign_e_value(high, n, f))));
        double least = INFINITY, most = -INFINITY, sum = 0;
        struct geomean m = geometric_mean(d, n, 0.9, 3, "key");
        struct interval mi = mean_interval(d, n, 0.9, 3, "key");
        for (size_t i = 0; i < n; i++) sum += d[i];
        for (size_t i = 0; n > 1 && i < n; i++) {
            double without = exp((sum - d[i]) / (double)(n - 1));
            least = fmin(least, without), most = fmax(most, without);
        }
        geo &= close_to(m.ratio.point, exp(mi.point)) && close_to(m.ratio.lower, exp(mi.lower)) &&
            close_to(m.ratio.upper, exp(mi.upper));
        geo &= n > 1 ? close_to(m.least_without_one, least) && close_to(m.most_without_one, most)
                     : isnan(m.least_without_one) && isnan(m.most_without_one);
        geo &= n > 1 || (mi.lower == -INFINITY && mi.upper == INFINITY);
    }
    ok(plain, "the paired analysis, censored values on either side");
    ok(sequential, "the sequential one");
    ok(geo, "the geometric mean, and without one of them");
    struct interval up = { 0.1, 0.05, 0.2 }, down = { -0.1, -0.2, -0.05 }, near = { 0, -0.009, 0.009 }, wide = { 0,
        -0.02, 0.009 };
    struct interval wide2 = { 0, -0.009, 0.02 }, edge = { 0.1, 0, 0.2 }, edge2 = { -0.1, -0.2, 0 }, exact = { 0,
        -log1p(0.01), log1p(0.01) };
    ok(verdict_of(up, 0.04, 0.95, 0.01) == SLOWER && verdict_of(down, 0.04, 0.95, 0.01) == FASTER, "slower, faster");
    ok(verdict_of(up, 0.06, 0.95, 0.01) == UNCLEAR && verdict_of(down, 0.06, 0.95, 0.01) == UNCLEAR &&
       verdict_of(up, 0.5, 0.5, 0.01) == UNCLEAR && verdict_of(down, 0.5, 0.5, 0.01) == UNCLEAR, "not with such a p");
    ok(verdict_of(edge, 0.01, 0.95, 0.01) == UNCLEAR && verdict_of(edge2, 0.01, 0.95, 0.01) == UNCLEAR,
        "not where the interval touches 1");
    ok(verdict_of(near, 1, 0.95, 0.01) == SAME && verdict_of(exact, 1, 0.95, 0.01) == SAME, "the same");
    ok(verdict_of(wide, 1, 0.95, 0.01) == UNCLEAR && verdict_of(wide2, 1, 0.95, 0.01) == UNCLEAR, "on both sides");
}

/* The bootstrap's ends, from the same draws: 2000 means, sorted. */
static void test_bootstrap(void)
{
    double d[] = { 3.14, 1.59, 2.65, 3.58, 9.79, 3.23, 8.46, 2.64 }, m[2000];
    struct rng r = rng_for(7, str_of("name"));
    for (int b = 0; b < 2000; b++) {
        m[b] = 0;
        for (int i = 0; i < 8; i++) m[b] += d[rng_below(&r, 8)] / 8;
    }
    struct interval i = mean_interval(d, 8, 0.9, 7, "name");
    ok(close_to(i.point, 35.08 / 8) && close_to(i.lower, quantile(m, 2000, 0.05)) && close_to(i.upper, quantile(m,
        2000, 0.95)),
       "the mean's interval by 2000 draws");
    double two[] = { 1, 2 };
    ok(isfinite(mean_interval(two, 2, 0.9, 7, "name").lower), "of two values, too");
}

static void test_guard(void)
{
    bool shared = true, gain = true, inflated = false, turns = true;
    struct guard rule = { 0.9, 0 };
    for (int trial = 0; trial < 300; trial++) {
        double d[N + 1], part[2][N + 1], upper, upper1, upper4, upper0;
        size_t n = draw(d, trial % 4), k[2] = { 0 };
        struct guard quarter = { 1 - 0.1 / 4, 0 };
        guard_keeps(d, n, 4, &rule, &upper4);
        guard_keeps(d, n, 1, &quarter, &upper1);
        shared &= close_to(upper4, upper1);
        bool keeps = guard_keeps(d, n, 1, &rule, &upper);
        guard_keeps(d, n, 0, &rule, &upper0);
        shared &= close_to(upper, upper0) && !(upper4 < upper);
        gain &= keeps == (upper < 0);
        gain &= close_to(upper, plain_hodges_lehmann(d, n, 0.8, plain_inflation(d, n)).upper);
        inflated |= plain_inflation(d, n) > 1;
        struct guard ask = { 0.9, 0.3 };
        gain &= guard_keeps(d, n, 1, &ask, &upper1) == (upper < -log(1.3)) && close_to(upper, upper1);
        for (size_t i = 0; i < n; i++) {
            int side = i % 2 == 1;
            part[side][k[side]++] = d[i];
        }
        struct guarded r = guard_decide(d, n, 3, &rule);
        keeps = guard_keeps(part[0], k[0], 3, &rule, &upper);
        turns &= r.calibration.n == (n + 1) / 2 && r.confirmation.n == n / 2 && r.keep == keeps &&
            close_to(r.upper, upper);
        turns &= same_interval(r.calibration.log_ratio, paired_compare(part[0], NULL, NULL, k[0], 0.9,
            false).log_ratio);
        turns &= same_interval(r.confirmation.log_ratio, paired_compare(part[1], NULL, NULL, k[1], 0.9,
            false).log_ratio);
    }
    ok(shared, "candidates share the chance of an error; none is one");
    ok(gain && inflated, "kept where the one-sided bound, variance inflated, lies below the gain asked for");
    ok(turns, "the even ones decide, the others confirm");
    bool least = true;
    struct guard usual = { 0.95, 0 };
    for (size_t candidates = 1; candidates < 5000; candidates = candidates * 3 + 1) {
        size_t need = 1;
        while (ldexp(1, -(int)need) > 0.05 / (double)candidates) need++;
        least &= guard_least(candidates, &usual) == 2 * need - 1;
    }
    ok(least, "the fewest rounds that can keep anything: 2^-n is the least p");
    struct guard any = { 0.5, 0 }, none = { 0.95, 1e300 };
    ok(guard_least(1, &any) == 3, "two that decide are enough for an even chance");
    ok(guard_least(1, &none) == SIZE_MAX, "no number is, where no gain is that large");
}

int main(void)
{
    g = rng_for(11, str_of("guard"));
    test_intervals();
    test_plain();
    test_paired();
    test_bootstrap();
    test_guard();
    return done();
}

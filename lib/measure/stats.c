/* stats.c - see stats.h */
#include "measure/stats.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/rng.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MAX = 100, TIED_MAX = 16, BOOTSTRAP_DRAWS = 2000 };
static const double prior = 10;                          /* Beta(prior, prior): tightest near 50 to 200 rounds */

double mean(const double *v, size_t n)
{
    double sum = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double y = v[i] - rest, t = sum + y;
        rest = (t - sum) - y;
        sum = t;
    }
    return n ? sum / (double)n : NAN;
}

double deviation(const double *v, size_t n)
{
    if (n < 2) return NAN;
    double m = mean(v, n), s = 0;
    for (size_t i = 0; i < n; i++) s += (v[i] - m) * (v[i] - m);
    return sqrt(s / (double)(n - 1));
}

struct interval mean_interval(const double *v, size_t n, double confidence, uint64_t seed, const char *key)
{
    struct interval r = { mean(v, n), -INFINITY, INFINITY };
    if (n < 2) return r;
    struct rng rng = rng_for(seed, str_of(key));
    double *draw = xmalloc(n, sizeof *draw), *m = xmalloc(BOOTSTRAP_DRAWS, sizeof *m);
    for (int b = 0; b < BOOTSTRAP_DRAWS; b++) {
        for (size_t i = 0; i < n; i++) draw[i] = v[rng_below(&rng, n)];
        m[b] = mean(draw, n);
    }
    r.lower = quantile(m, BOOTSTRAP_DRAWS, (1 - confidence) / 2);
    r.upper = quantile(m, BOOTSTRAP_DRAWS, (1 + confidence) / 2);
    free(draw);
    free(m);
    return r;
}

/* doubles in the order of integers, so that bisection ends at an exact value */
static int64_t to_order(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i < 0 ? INT64_MIN - i : i;
}

static double from_order(int64_t i)
{
    if (i < 0) i = INT64_MIN - i;
    double x;
    memcpy(&x, &i, sizeof x);
    return x;
}

/* the k-th smallest (from 1) average of pairs i <= j of sorted s, without writing the n(n+1)/2 averages down */
static double walsh(const double *s, size_t n, size_t k)
{
    int64_t low = to_order(s[0]), high = to_order(s[n - 1]);
    while (low < high) {
        int64_t middle = (int64_t)(((uint64_t)low & (uint64_t)high) + (((uint64_t)low ^ (uint64_t)high) >> 1));
        if ((low ^ high) < 0) middle = (low + high) >> 1;
        double x = from_order(middle);
        size_t count = 0, j = n;
        for (size_t i = 0; i < n; i++) {
            while (j > 0 && 0.5 * s[i] + 0.5 * s[j - 1] > x) j--;
            if (j <= i) break;
            count += j - i;
        }
        if (count >= k) high = middle;
        else low = middle + 1;
    }
    return from_order(low);
}

/* cumulative law of the signed-rank statistic for n without ties, cached for the last n */
static const double *signed_rank_law(size_t n)
{
    static double law[EXACT_MAX * (EXACT_MAX + 1) / 2 + 1];
    static size_t law_n;
    if (law_n == n) return law;
    size_t top = n * (n + 1) / 2;
    memset(law, 0, sizeof law);
    law[0] = 1;
    for (size_t r = 1, end = 0; r <= n; r++) {
        end += r;
        for (size_t w = end + 1; w-- > 0; ) law[w] = 0.5 * (law[w] + (w >= r ? law[w - r] : 0));
    }
    for (size_t w = 1; w <= top; w++) law[w] += law[w - 1];
    law_n = n;
    return law;
}

struct interval hodges_lehmann(const double *d, size_t n, double confidence, double inflate)
{
    struct interval r = { NAN, -INFINITY, INFINITY };
    if (!n) return r;
    double *s = sorted(d, n);
    size_t pairs = n * (n + 1) / 2, k = 0;
    r.point = pairs % 2 ? walsh(s, n, pairs / 2 + 1) : 0.5 * walsh(s, n, pairs / 2) + 0.5 * walsh(s, n, pairs / 2 + 1);
    double tail = (1 - confidence) / 2;
    if (n <= EXACT_MAX && inflate <= 1) {
        const double *law = signed_rank_law(n);
        while (k < pairs / 2 && law[k] <= tail) k++;
    } else {
        double m = (double)n, sd = sqrt(inflate * m * (m + 1) * (2 * m + 1) / 24);
        double at = m * (m + 1) / 4 - gsl_cdf_ugaussian_Qinv(tail) * sd;
        k = at >= 1 ? (size_t)at : 0;
    }
    if (k) r.lower = walsh(s, n, k), r.upper = walsh(s, n, pairs + 1 - k);
    free(s);
    return r;
}

struct ranked { double size; bool positive; };

static int by_size(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->size, y = ((const struct ranked *)b)->size;
    return ORDER(x, y);
}

/* the chance of at most twice `less`, of ranks that ties made halves: size holds them twice */
static double tied_law(const struct ranked *v, size_t m, double less)
{
    double law[TIED_MAX * (TIED_MAX + 1) + 1] = { 1 }, sum = 0;
    for (size_t k = 0; k < m; k++)
        for (size_t w = m * (m + 1) + 1, r = (size_t)v[k].size; w-- > 0;)
            law[w] = 0.5 * (law[w] + (w >= r ? law[w - r] : 0));
    for (size_t w = 0; (double)w <= 2 * less; w++) sum += law[w];
    return sum;
}

double signed_rank_p(const double *d, size_t n, double inflate)
{
    struct ranked *v = xmalloc(n ? n : 1, sizeof *v);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) if (d[i] != 0) v[m++] = (struct ranked){ fabs(d[i]), d[i] > 0 };
    qsort(v, m, sizeof *v, by_size);
    double w = 0, ties = 0;
    for (size_t i = 0, j; i < m; i = j) {
        for (j = i; j < m && v[j].size == v[i].size; j++) continue;
        double t = (double)(j - i), rank = 0.5 * (double)(i + 1 + j);
        ties += t * t * t - t;
        for (size_t k = i; k < j; k++) {
            if (v[k].positive) w += rank;
            v[k].size = 2 * rank;
        }
    }
    double c = (double)m, top = c * (c + 1) / 2, less = w < top - w ? w : top - w, p;
    if (!m) p = 1;
    else if (m <= EXACT_MAX && ties == 0 && inflate <= 1) p = 2 * signed_rank_law(m)[(size_t)less];
    else if (m <= TIED_MAX && inflate <= 1) p = 2 * tied_law(v, m, less);
    else
        p = 2 *
            gsl_cdf_ugaussian_P((less + 0.5 - top / 2) / sqrt(inflate * (c * (c + 1) * (2 * c + 1) / 24 - ties / 48)));
    free(v);
    return p < 1 ? p : 1;
}

/* log of the mixture likelihood ratio of s successes in n against a fair coin */
static double log_e(double s, double n)
{
    return lgamma(prior + s) + lgamma(prior + n - s) - lgamma(2 * prior + n) - (2 * lgamma(prior) - lgamma(2 * prior)) +
           n * M_LN2;
}

double coin_e_value(double above, double below)
{
    return exp(log_e(above, above + below));
}

double sign_e_value(const double *d, size_t n, double inflate)
{
    double above = 0, below = 0;
    for (size_t i = 0; i < n; i++) above += d[i] > 0, below += d[i] < 0;
    return coin_e_value(above / inflate, below / inflate);
}

struct interval median_sequence(const double *d, size_t n, double confidence, double inflate)
{
    struct interval r = { NAN, -INFINITY, INFINITY };
    if (!n) return r;
    double *s = sorted(d, n), limit = -log(1 - confidence);
    r.point = median(s, n);
    size_t k = 0;                                        /* m below s[k] has at most k values below it: refuted */
    while (k < n / 2 && log_e((double)k / inflate, (double)n / inflate) >= limit) k++;
    if (k) r.lower = s[k - 1], r.upper = s[n - k];
    free(s);
    return r;
}

static double *ranks(const double *v, size_t n)
{
    double *s = sorted(v, n), *r = xmalloc(n ? n : 1, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = n, first;
        while (low < high) { size_t m = (low + high) / 2; if (s[m] < v[i]) low = m + 1; else high = m; }
        first = low;
        high = n;
        while (low < high) { size_t m = (low + high) / 2; if (s[m] <= v[i]) low = m + 1; else high = m; }
        r[i] = 0.5 * (double)(first + low + 1);
    }
    free(s);
    return r;
}

double lag1(const double *v, size_t n)
{
    if (n < 3) return 0;
    double *r = ranks(v, n), m = 0.5 * (double)(n + 1), top = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        all += (r[i] - m) * (r[i] - m);
        if (i) top += (r[i] - m) * (r[i - 1] - m);
    }
    free(r);
    return all > 0 ? top / all : 0;
}

/* the estimate of lag 1 is low by about (1 + 3 rho) / n (Kendall 1954); the sum over lags is that of AR(1) */
double variance_inflation(const double *v, size_t n)
{
    double r = lag1(v, n);
    if (n < 16 || r * sqrt((double)n) < 1.645 - 1 / sqrt((double)n)) return 1;
    r += (1 + 3 * r) / (double)n;
    if (r > 0.95) r = 0.95;
    return (1 + r) / (1 - r);
}

double change_point(const double *v, size_t n, size_t *at)
{
    *at = 0;
    if (n < 8) return 1;
    double *r = ranks(v, n), u = 0, most = -1, c = (double)n;
    for (size_t i = 0; i + 1 < n; i++) {
        u += 2 * r[i] - (c + 1);
        if (fabs(u) > most) most = fabs(u), *at = i + 1;
    }
    free(r);
    double p = 2 * exp(-6 * most * most / (c * c * c + c * c));
    return p < 1 ? p : 1;
}

struct outliers outliers(const double *v, size_t n)
{
    struct outliers o = { 0 };
    if (n < 4) return o;
    double q1 = quantile(v, n, 0.25), q3 = quantile(v, n, 0.75), width = q3 - q1, *in = xmalloc(n, sizeof *in);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        double out = v[i] < q1 ? q1 - v[i] : v[i] - q3;
        if (out > 3 * width) o.severe++;
        else if (out > 1.5 * width) o.mild++;
        else in[m++] = v[i];
    }
    double all = deviation(v, n), rest = deviation(in, m);
    if (all > 0 && m > 1) o.variance_share = 1 - rest * rest * (double)(m - 1) / (all * all * (double)(n - 1));
    free(in);
    return o;
}

struct place { double p; size_t i; };

static int by_p(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ORDER(x->p, y->p) ?: ORDER(x->i, y->i);
}

static struct place *p_order(const double *p, size_t n)
{
    struct place *o = xmalloc(n ? n : 1, sizeof *o);
    for (size_t i = 0; i < n; i++) o[i] = (struct place){ p[i], i };
    qsort(o, n, sizeof *o, by_p);
    return o;
}

void adjust_holm(double *p, size_t n)
{
    struct place *o = p_order(p, n);
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        double v = fmin(1, o[i].p * (double)(n - i));
        p[o[i].i] = least = fmax(least, v);
    }
    free(o);
}

void adjust_bh(double *p, size_t n)
{
    struct place *o = p_order(p, n);
    double most = 1;
    for (size_t i = n; i-- > 0; ) p[o[i].i] = most = fmin(most, o[i].p * (double)n / (double)(i + 1));
    free(o);
}

struct geomean geometric_mean(const double *log_ratio, size_t n, double confidence, uint64_t seed, const char *key)
{
    struct interval m = mean_interval(log_ratio, n, confidence, seed, key);
    struct geomean g = { { exp(m.point), exp(m.lower), exp(m.upper) }, NAN, NAN };
    for (size_t i = 0; n > 1 && i < n; i++) {
        double without = exp((m.point * (double)n - log_ratio[i]) / (double)(n - 1));
        if (!(g.least_without_one <= without)) g.least_without_one = without;
        if (!(g.most_without_one >= without)) g.most_without_one = without;
    }
    return g;
}

struct paired paired_compare(const double *d, const double *lower_d, const double *upper_d, size_t n, double confidence,
                             bool sequential)
{
    struct paired r = { .n = n, .lag1 = lag1(d, n), .inflate = variance_inflation(d, n) };
    r.change_p = change_point(d, n, &r.change_at);
    r.drift = r.change_p < 0.01;
    const double *low = lower_d ? lower_d : d, *high = upper_d ? upper_d : d;
    if (sequential) {
        r.log_ratio = median_sequence(d, n, confidence, r.inflate);
        r.log_ratio.lower = median_sequence(low, n, confidence, r.inflate).lower;
        r.log_ratio.upper = median_sequence(high, n, confidence, r.inflate).upper;
        r.p_value = fmin(1, 1 / fmin(sign_e_value(low, n, r.inflate), sign_e_value(high, n, r.inflate)));
        return r;
    }
    r.log_ratio = hodges_lehmann(d, n, confidence, r.inflate);
    r.log_ratio.lower = hodges_lehmann(low, n, confidence, r.inflate).lower;
    r.log_ratio.upper = hodges_lehmann(high, n, confidence, r.inflate).upper;
    r.p_value = fmax(signed_rank_p(low, n, r.inflate), signed_rank_p(high, n, r.inflate));
    return r;
}

const char *const verdict_word[] = { "same", "faster", "slower", "unclear", "invalid", "" };

enum verdict verdict_of(struct interval i, double p, double confidence, double margin)
{
    double same = log1p(margin);
    if (p < 1 - confidence && i.lower > 0) return SLOWER;
    if (p < 1 - confidence && i.upper < 0) return FASTER;
    return i.lower >= -same && i.upper <= same ? SAME : UNCLEAR;
}

/* stats.h - small-sample statistics of timings: ranks first, because timings have bursts and long tails.
 *
 * Everything is deterministic: fixed summation order, draws from rng_for(seed, key).  Arrays are not changed unless
 * said.  A confidence is 0.95 and so on.  An interval that the data cannot give (too few values) is -inf .. inf, never
 * invented.
 * Paired analysis works on d = log(t_candidate / t_base), one per round; exp() of it is a ratio, above 1 is slower. */
#ifndef MILLRACE_STATS_H
#define MILLRACE_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the row of an option table */
#define CONFIDENCE_OPTION(p, of_what) { 0, "confidence", NUM, &(p), "P", of_what, 0.5, 0.9999 }

struct interval { double point, lower, upper; };

double *sorted(const double *v, size_t n);               /* a copy in order; free it */
double quantile(const double *v, size_t n, double q);    /* linear between order statistics; nan when n is 0 */
double median(const double *v, size_t n);
double median_deviation(const double *v, size_t n);      /* MAD, times 1.4826: the sd where the law is normal */
double mean(const double *v, size_t n);                  /* Kahan */
double deviation(const double *v, size_t n);             /* sd with n - 1; nan below 2 */

/* Order statistics x(k), x(n+1-k) around the median; no assumption but independence.  The coverage reached is at least
 * `confidence` and goes to *coverage when that is not NULL. */
struct interval median_interval(const double *v, size_t n, double confidence, double *coverage);

/* Percentile bootstrap of the mean. */
struct interval mean_interval(const double *v, size_t n, double confidence, uint64_t seed, const char *key);

/* Hodges-Lehmann: the median of all averages (d_i + d_j)/2, i <= j, with the interval that inverts the signed-rank test
 * (exact law up to n = 100).  inflate >= 1 multiplies the variance of the statistic.  Hodges and Lehmann, "Estimates of
 * location based on rank tests", 1963.  Values may be -inf or inf, but not both. */
struct interval hodges_lehmann(const double *d, size_t n, double confidence, double inflate);
/* two-sided, of location 0; zeros dropped, ties averaged; exact up to n = 100, with ties up to 16 */
double signed_rank_p(const double *d, size_t n, double inflate);

/* A confidence sequence of the median: covers it at all n at once, so one may look after every round and stop at will.
 * Inverts the sign test's mixture martingale (Robbins, "Statistical methods related to the law of the iterated
 * logarithm", 1970) with a symmetric Beta prior.  e_value: its e-value against "the median is 0"; 1 / e_value is an
 * anytime p-value.  inflate >= 1: values that depend on each other count as n / inflate. */
struct interval median_sequence(const double *d, size_t n, double confidence, double inflate);
double sign_e_value(const double *d, size_t n, double inflate);
double coin_e_value(double above, double below);         /* the same, of so many values above and below 0 */

/* Dependence between successive values: autocorrelation at lag 1 of the ranks, and by how much the variance of a mean
 * of n such values exceeds that of n independent ones (1 unless lag 1 is significant at 5 % and n >= 16). */
double lag1(const double *v, size_t n);
double variance_inflation(const double *v, size_t n);

/* One change of level: Pettitt's rank test (1979).  *at: first index after the change.  Returns the p-value. */
double change_point(const double *v, size_t n, size_t *at);

/* What is far out (Tukey's fences 1.5 and 3 times the quartile distance), and the share of the variance it causes. */
struct outliers { size_t mild, severe; double variance_share; };
struct outliers outliers(const double *v, size_t n);

/* Adjusted p-values in place: Holm 1979 (family-wise error), Benjamini and Hochberg 1995 (false discovery rate). */
void adjust_holm(double *p, size_t n);
void adjust_bh(double *p, size_t n);

/* Geometric mean of ratios exp(d_i), interval by bootstrap over the n programs, and its range when one is left out. */
struct geomean { struct interval ratio; double least_without_one, most_without_one; };
struct geomean geometric_mean(const double *log_ratio, size_t n, double confidence, uint64_t seed, const char *key);

/* The whole paired analysis as bench-compare and the guard use it.  lower_d and upper_d differ from d only where a
 * value is censored (timeouts); give NULL for d itself.  sequential: the number of rounds was chosen while looking. */
struct paired {
    struct interval log_ratio;
    double p_value, lag1, inflate, change_p;
    size_t n, change_at;
    bool drift;                                          /* change_p < 0.01: the ratio itself moved during the run */
};
enum verdict { SAME, FASTER, SLOWER, UNCLEAR, INVALID, NO_VERDICT };
extern const char *const verdict_word[];                 /* same, faster, slower, unclear, invalid, nothing */

/* slower, faster: p < 1 - confidence and the interval excludes 1; same: it holds 1 and lies within 1/(1+margin) ..
 * 1+margin (two one-sided tests); else unclear. */
enum verdict verdict_of(struct interval log_ratio, double p, double confidence, double margin);

struct paired paired_compare(const double *d, const double *lower_d, const double *upper_d, size_t n, double confidence,
                             bool sequential);
#endif

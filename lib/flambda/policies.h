/* policies.h - timings of policies on benchmarks against a baseline: savings with intervals, Welch tests, summaries,
 * regret, greedy sets, and the choice of a setting.
 *
 * Times are averaged on the log scale (geometric means).  saved = (baseline - time) / baseline.  Intervals and tests
 * are Welch's (Biometrika 34, 1947) on the logarithms, timings taken as independent.  Results keep the order in which
 * benchmarks and policies appear in the timings. */
#ifndef MILLRACE_POLICIES_H
#define MILLRACE_POLICIES_H
#include "base/str.h"
#include "flambda/counters.h"
#include <stdbool.h>
#include <stddef.h>

struct sample {                                          /* of log seconds */
    double n, mean, square;                              /* count, mean, sum of squared deviations */
    bool seen;                                           /* there is a result, even if it is that it failed */
};

struct policies {
    struct intern benchmark, policy;
    struct sample *cell;                                 /* benchmark x policy */
    struct sample *base, *initial; /* per benchmark: the baseline in use; initial runs (n 0: none) */
    double *best;                                        /* per benchmark: least time in the counters; NAN: none */
    long reference;                                      /* the policy that is the baseline; -1: not there */
    size_t without_base; /* benchmarks that have no baseline: kept, their savings unknown */
};

struct policies_options {
    const char *reference;                               /* name of the baseline policy */
    long drop, only; /* leave out the first `drop` timings of a line; 0, or take just this one */
    enum policies_base { BASE_LEAST, BASE_POLICY, BASE_INITIAL } base; /* lesser mean of policy and initial runs; one */
};

/* timings: tables of flambda-results; counters: NULL, or a table of flambda-counters for the initial runs.
 * Every benchmark is kept. */
struct policies policies_read(char **timings, const char *counters, const struct policies_options *);

struct saving {
    bool known; /* false: failed, not measured, no baseline; what is not known is NAN */
    double baseline, seconds, saved, lower, upper;       /* interval NAN when one side has fewer than two timings */
    double n, n_base, t, df, p;                          /* Welch on the logarithms, two-sided */
};
struct saving policies_saving(const struct policies *, size_t benchmark, size_t policy, double confidence);

struct policy_summary { size_t n, n_bad, n_none, n_good; double q1, median, q3, min, max, gmean; };
/* Over the benchmarks with in[b]: quartiles are sorted[floor(q n)], bad and good are beyond -margin and +margin. */
struct policy_summary policies_summary(const struct policies *, size_t policy, const bool *in, double margin);

/* regret[b * policies + p] = (largest - own) / (largest - least) of the savings, over the policies with single[p]; 0
 * when all are equal. */
double *policies_regret(const struct policies *, const bool *single);
/* Picks up to k policies one after another, each lowering the mean over benchmarks in[b] of the least regret in the set
 * the most (ties: the first); returns how many; picked and the means go to the arrays. */
size_t policies_greedy(const struct policies *, const double *regret, const bool *single, const bool *in, size_t k,
                       size_t *picked, double *mean);
double policies_set_regret(const struct policies *, const double *regret, const size_t *set, size_t k, const bool *in);

/* share of what is known to be possible that is missed: (time - best) / (baseline - best) */
double policies_missed(const struct policies *, size_t benchmark, size_t policy);
long policies_star(const struct policies *, size_t benchmark);       /* the fastest policy there; -1: all failed */
/* the policy with the least sum over benchmarks of max(0, missed), among those known everywhere */
long policies_general(const struct policies *);
#endif

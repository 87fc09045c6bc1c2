/* compare.h - all comparisons of a table of runs with its base: ratios, adjusted p-values, verdicts, and what to tell
 * about them.
 *
 * The noise floor (rounds of the base against itself, phase aa) turns a gain that is smaller into unclear.  The time
 * of an empty command, when it is to be subtracted, enters with its own uncertainty: the ratio is computed with the
 * least, the median and the greatest of its times, and the interval is the union. */
#ifndef MILLRACE_COMPARE_H
#define MILLRACE_COMPARE_H
#include "measure/runs.h"
#include "measure/stats.h"

struct compare_options {
    size_t base;
    double confidence, margin;
    enum adjustment { ADJUST_HOLM, ADJUST_BH, ADJUST_NONE } adjust;      /* of p-values, for their number */
    bool force;                                          /* gains below the noise floor count */
    /* the empty command; dies when it is more than 5 % of a time */
    bool subtract;
};

struct comparison {
    size_t benchmark, label, censored;
    struct paired p;
    long change_round;                                   /* first one after the ratio's change */
    double adjusted, floor;                              /* p-value | log-ratio of the noise floor, 0 unknown */
    enum verdict verdict;                                /* INVALID: a run failed; said with file and line */
    struct paired other;                                 /* by the other time, for notes */
};

struct comparison *compare_all(struct runs *, const struct compare_options *, size_t *n);   /* caller frees */
/* A label's geometric mean over the programs that have a ratio, p.n of them, with a verdict from five on; fewer than
 * two have none, and *g is not set then. */
struct comparison compare_mean(const struct runs *, const struct compare_options *, const struct comparison *, size_t n,
                               size_t label, uint64_t seed, struct geomean *g);
/* on standard error; changes the metric of runs */
void compare_notes(struct runs *, const struct compare_options *, struct comparison *, size_t n);
/* 0 same or better, 1 slower, 2 unclear, 3 invalid */
int compare_status(const struct comparison *, size_t n, double margin);
#endif

/* correct.h - overhead taken out of cells: by counts of hooks (ours), or by intervals placed beforehand (as RL-Scope
 * does). See prof-correct.  All times in ns; one entry of the result for each cell; caller frees. */
#ifndef MILLRACE_CORRECT_H
#define MILLRACE_CORRECT_H
#include "prof/cells.h"

struct correction {
    int64_t corrected, clipped;                          /* clipped: cost that no cell could give */
    double error;                                        /* standard error of what was removed */
};
/* what was taken from all cells together */
struct removed {
    double ns, error, freedom;                           /* cost, its standard error, degrees of freedom of the error */
};
struct correction *correct_counted(const struct cells *, const char *calibration, const char *hooks,
                                   struct removed *total);
/* What one call of each of n hooks costs by a calibration: one without an entry costs what `any` does, else nothing. */
struct hook_cost { double mean, inside; };
void correct_costs(const char *calibration, const char *const *hook, size_t n, struct hook_cost *cost);
/* Rows whose set changes are renamed, added up and dropped in place: total becomes the raw time of what is left. */
struct correction *correct_placed(struct cells *);

/* All cells together.  Tables, NULL for none: repeats and against have total_ns, of runs of the recorded program and of
 * the one that is not recorded; pairs has calls, uninstrumented_ns, instrumented_ns, a row for each of theirs. half:
 * half the width of the (two-sided) interval of corrected, half_against: of its difference to truth.  Errors are
 * independent, with the degrees of freedom of Welch (1947) and Satterthwaite (1946); with pairs, round by round. */
struct total { double raw, taken, clipped, corrected, half, truth, half_against; };
struct total correct_total(const struct cells *, const struct correction *, struct removed, const char *repeats,
                           const char *against, const char *pairs, double confidence);
#endif

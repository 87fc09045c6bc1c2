/* correct.h - overhead taken out of cells: by counts of hooks (ours), or by intervals placed beforehand (as RL-Scope
 * does). See prof-correct.  All times in ns; one entry of the result for each cell; caller frees. */
#ifndef MILLRACE_CORRECT_H
#define MILLRACE_CORRECT_H
#include "prof/cells.h"
#include <stdbool.h>

struct correction {
    int64_t corrected, clipped;                          /* clipped: cost that no cell could give */
    double error;                                        /* standard error of what was removed */
};
/* total: NULL, or gets what was taken from all cells together */
struct removed {
    double ns, error, freedom;                           /* cost, its standard error, degrees of freedom of the error */
};
struct correction *correct_counted(const struct cells *, const char *calibration, const char *hooks, struct removed *total);
/* Rows whose set changes are renamed, added up and dropped in place: total becomes the raw time of what is left. */
struct correction *correct_placed(struct cells *);

/* Half the width of the 95 % interval of a sum of n independent estimates, by Student's law with the degrees of freedom
 * of Welch (1947) and Satterthwaite (1946).  freedom 0: the error is taken as known exactly. */
double half_width(const double *error, const double *freedom, size_t n);
#endif

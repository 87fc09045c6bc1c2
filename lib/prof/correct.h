/* correct.h - overhead taken out of cells: by counts of hooks (ours), or by intervals placed beforehand (as RL-Scope
 * does). See prof-correct.  All times in ns; one entry of the result for each cell; caller frees. */
#ifndef MILLRACE_CORRECT_H
#define MILLRACE_CORRECT_H
#include "prof/cells.h"

struct correction {
    int64_t corrected, clipped;                          /* clipped: cost that no cell could give */
    double error;                                        /* standard error of what was removed */
};
struct correction *correct_counted(const struct cells *, const char *calibration, const char *hooks);
/* Rows whose set changes are renamed, added up and dropped in place: total becomes the raw time of what is left. */
struct correction *correct_placed(struct cells *);
#endif

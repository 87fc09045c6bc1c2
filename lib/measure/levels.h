/* levels.h - where the variance of a measurement comes from: between groups (builds, boots, days) or within them.
 *
 * One-way random-effects analysis of the log times, groups weighted by their size; a negative estimate is 0.  The
 * number of runs per group that gives the smallest error for a given cost is sqrt(cost x within / between) (Kalibera
 * and Jones,
 * "Rigorous benchmarking in reasonable time", 2013). */
#ifndef MILLRACE_LEVELS_H
#define MILLRACE_LEVELS_H
#include "table/csvio.h"

struct components { size_t groups, n; double between, within; };   /* standard deviations of log time */

/* groups 0, 1, 2, ... */
struct components variance_components(const double *log_time, const uint32_t *group, size_t n);
double best_per_group(const struct components *, double group_cost);   /* inf: one group is enough */

/* Read runs (as runs.h does, but rounds need not be whole) and write bench-stat's table of components. */
void levels_table(csvw *, char **paths, const char *column, const char *metric, double group_cost);
#endif

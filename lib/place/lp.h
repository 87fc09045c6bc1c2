/* lp.h - the placement problem as a mixed-integer program in CPLEX's LP format, for exact solvers such as CBC.
 *
 * Paths as in Hildebrand et al. (ASPLOS 2020) with the arcs entering a use standing for "in fast memory", and one
 * equality per operand that ties the kernel's placement to them; this relaxation is far tighter than the published one
 * with its products of indicators.  Objective in seconds; binaries are e* (arcs) or x* (static), y* are continuous. */
#ifndef MILLRACE_PLACE_LP_H
#define MILLRACE_PLACE_LP_H
#include "place/placing.h"
#include <stdio.h>

void placing_write_lp(const struct placing *, FILE *);
#endif

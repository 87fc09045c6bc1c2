/* lp.h - the placement problem as a mixed-integer program in CPLEX's LP format, for exact solvers such as CBC.
 *
 * Paths as in Hildebrand et al. (ASPLOS 2020) with the arcs entering a use standing for "in fast memory", and one
 * equality per operand that ties the kernel's placement to them; this relaxation is far tighter than the published one
 * with its products of indicators.  With moves beside nodes it is the relaxation of solve.h with whole lives and
 * windows: moves are shared out over nodes; their order on the channel and offsets are left out.  Objective in
 * microseconds, since CBC prints thousandths; binaries are e* (arcs), x* (static) and h* (a move holds its bytes at a
 * node), all others are continuous. */
#ifndef MILLRACE_PLACE_LP_H
#define MILLRACE_PLACE_LP_H
#include "place/placing.h"
#include <stdio.h>

#define LP_UNITS 1e6                                     /* of the objective in a second */

void placing_write_lp(const struct placing *, FILE *);
/* A placement as values of the binaries, in the form of CBC's solutions; those left out are 0. */
void placing_write_start(const struct placing *, const struct placement *, FILE *);
/* The placement of a solution of CBC, loads included; false when the file is none. */
bool placing_read_answer(const struct placing *, FILE *, struct placement *);
#endif

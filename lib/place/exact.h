/* exact.h - CBC, the solver of COIN-OR, at the model of lp.h, from a placement of ours on. */
#ifndef MILLRACE_PLACE_EXACT_H
#define MILLRACE_PLACE_EXACT_H
#include "place/placing.h"

/* What CBC says of its best placement and of all placements, seconds of a step; infinite and 0 where it says nothing.
 * Before its search is over CBC prints its bound in thousandths of microseconds: it may be half of one too high. */
struct exact { double objective, bound; };

/* Gives CBC the model and x, and so many seconds of CPU.  x becomes CBC's placement where that keeps the limits and is
 * faster.  Dies where there is no cbc or it fails. */
struct exact exact_placing(const struct placing *, double seconds, struct placement *x);
#endif

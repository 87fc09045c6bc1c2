/* beside.h - moves beside kernels: when each may be under way, and how long the step then takes.
 *
 * A plan of moves between nodes leaves them no time: a fetched tensor lies where another one ended just before.  Here
 * fast stays begin earlier by what their fetch needs and end later by what their write-out needs, where the load leaves
 * room; once offsets are known, as far as the bytes are free anyway.  The copy channel is that of plan.h; in it a
 * write-out competes with a fetch for a gap by their lengths. */
#ifndef MILLRACE_PLACE_BESIDE_H
#define MILLRACE_PLACE_BESIDE_H
#include "place/placing.h"
#include "place/plan.h"

/* Moves of a plan without offsets become as long as they need, as far as the limits of the nodes allow. */
void beside_widen(const struct placing *, const struct placement *, struct plan *);
/* The same once offsets are known: without any further memory. */
void beside_stretch(const struct placing *, const struct placement *, struct plan *);
/* Seconds of a step, see plan.h. */
double beside_seconds(const struct placing *, const struct placement *, struct plan *);
/* The same of n moves in their order that take `left` seconds each, which are used up; soonest: room for n.  Infinity:
 * more than `most`. */
double beside_step(const struct placing *, const struct placement *, const struct plan_move *, int n, double *left,
                   int *soonest, double most);
#endif

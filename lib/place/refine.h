/* refine.h - lives of tensors for moves beside kernels, chosen by the time of the step itself.
 *
 * The search of solve.h charges each move for the channel by itself; where the channel is full, what a step takes is
 * said only by all moves together.  Here a few lives change at random, all moves get the room that beside_widen would
 * give them, the step is simulated as by beside_seconds, and what is not slower, or only a little at first, is kept
 * (threshold accepting: Dueck and Scheuer 1990). */
#ifndef MILLRACE_PLACE_REFINE_H
#define MILLRACE_PLACE_REFINE_H
#include "place/placing.h"

/* Makes x feasible for the limits as they are and better; ends after so many rounds, or at `enough` seconds.  Moves in
 * x hold memory only where the tensor is used or stays.  Returns the seconds of the step before offsets are known;
 * infinity: not feasible. */
double refine_placing(const struct placing *, long rounds, uint64_t seed, double enough, struct placement *x);
#endif

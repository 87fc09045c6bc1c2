/* parameters.h - plans that offload parameters: which of them lie in slow memory for the whole step. */
#ifndef MILLRACE_PLACE_PARAMETERS_H
#define MILLRACE_PLACE_PARAMETERS_H
#include "place/layout.h"

/* A plan for a process that may take `limit` bytes: its pool, parameters, inputs and the program.  With offload the
 * parameters that leave are the first of an order, by the time it costs for their bytes or by size, and of the plans
 * tried the one that offloads least and is hardly slower than the fastest is taken.  Dies when none has room. */
struct plan *plan_of_process(const struct graph *, const struct profile *, enum formulation, uint64_t limit,
                             const struct effort *, bool offload);
#endif

/* layout.h - from a placement to a plan: stays, moves, offsets in both pools.
 *
 * Fast memory is packed offline; when the packer cannot keep it under the limit, the limits of the nodes around what
 * sticks out are lowered and the placement is improved under them, as in AutoTM's defragmentation loop, until it
 * fits. */
#ifndef MILLRACE_PLACE_LAYOUT_H
#define MILLRACE_PLACE_LAYOUT_H
#include "place/plan.h"
#include "place/solve.h"

/* The whole way: solves (static, sync) or constructs (numa, slow, fast) and packs.  Static and sync plans carry the
 * prices of their bound; the others leave no choice, their bound is the objective. */
struct plan *make_plan(const struct graph *, const struct profile *, enum formulation, uint64_t limit,
                       const struct effort *);
/* The same with parameters in slow memory for the whole step, those of the set (by tensor; NULL: none); the bound is
 * that of plans which offload the same. */
struct plan *make_plan_offloading(const struct graph *, const struct profile *, enum formulation, uint64_t limit,
                                  const struct effort *, const bool *offloaded);
#endif

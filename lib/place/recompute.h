/* recompute.h - a third choice beside keeping and moving a tensor: its node is run a second time, just before the
 * backward pass needs what it made (Chen et al. 2016, here by the prices of a plan).
 *
 * The prices of a plan say what the bytes of a tensor cost between two uses, kept or moved.  Where that is more than
 * the node takes, together with what its operands cost that have to be there again, the node is repeated; a repeated
 * node may want operands that are made again themselves, `levels` deep.  Repeated nodes and what they make are called
 * NAME.again.  Kernels are deterministic, so no bit of a result changes.  repeats.h checks such a graph. */
#ifndef MILLRACE_PLACE_RECOMPUTE_H
#define MILLRACE_PLACE_RECOMPUTE_H
#include "place/plan.h"

/* A new graph, in which nodes are repeated that gain more than `worth` times their own seconds; the number of them in
 * *repeated.  The plan is one of the graph and has prices. */
struct graph *recompute(const struct graph *, const struct profile *, const struct plan *, double worth, int levels,
                        int *repeated);
#endif

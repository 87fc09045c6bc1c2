/* apply.h - the graph that a plan makes of a graph: a tensor for each stay, a Move node for each copy. */
#ifndef MILLRACE_PLACE_APPLY_H
#define MILLRACE_PLACE_APPLY_H
#include "place/plan.h"

struct graph *plan_apply(const struct graph *, const struct plan *);   /* dies when a node's operand has no place */
#endif

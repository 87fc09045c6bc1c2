/* fast.h - the plan that needs no profile: every tensor in fast memory. */
#ifndef MILLRACE_PLACE_FAST_H
#define MILLRACE_PLACE_FAST_H
#include "place/plan.h"

/* Formulation fast; times are not known and 0. */
struct plan *plan_all_fast(const struct graph *);
#endif

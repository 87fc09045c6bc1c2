/* middle.h - plans for three tiers: a part of slow memory is quicker and limited.
 *
 * A tensor's slow stay lies in the middle tier or in the last one, for its life; copies go between fast memory and
 * either.  Which tensors the middle holds is chosen by what it saves: of a plan, for each tensor that is slow in it,
 * the seconds that its slow uses and copies would take less (copies beside kernels at the price that the bound gives
 * the channel).  Tensors of most value are chosen that the middle has room for at every node (a knapsack with a row
 * for each node: prices of the rows by subgradients, then first fit by several orders) and that can be packed; with
 * these times the step is planned again, and so on until nothing changes.  It begins at the plan without a middle and
 * at that of a middle without limit; the fastest plan is kept, those without a middle and with the middle filled in
 * order of execution (what comes first and fits) among them.
 * The bound is that of a middle without limit. */
#ifndef MILLRACE_PLACE_MIDDLE_H
#define MILLRACE_PLACE_MIDDLE_H
#include "place/layout.h"

enum middle_fill { FILL_VALUE, FILL_FIRST };             /* the second: only in order of execution, to compare with */

/* The profile is joined (profile_join).  Formulations static, sync and async; `middle` bytes, rounded down to pages. */
struct plan *make_plan_with_middle(const struct graph *, const struct profile *, enum formulation, uint64_t limit,
                                   uint64_t middle, enum middle_fill, const struct effort *);

/* Chooses items of most value: item i is alive from node first[i] to last[i], both included, takes size[i] bytes and is
 * worth value[i]; those of no value are not chosen.  Sets chosen[i] and offset[i]; all chosen lie below `room`, apart
 * where they are alive at one node.  Returns the value chosen. */
struct middle_item { int first, last; uint64_t size, offset; double value; bool chosen; };
double middle_choose(struct middle_item *, int n, int nodes, uint64_t room);
#endif

/* mover.h - a thread that makes the moves of a plan beside the kernels: the copy channel of plan.h.
 *
 * Moves are made in pieces; before each the first move in the plan's order that may be under way is chosen again, so
 * that an urgent one need not wait for a long one.  The caller says before each node how far the step is, and is kept
 * until all moves that have to be over are. */
#ifndef MILLRACE_PLACE_MOVER_H
#define MILLRACE_PLACE_MOVER_H
#include "tensor/tier.h"

struct copy {                                            /* in the plan's order */
    int before, begin;                                   /* node before which it is over; at which it may begin */
    bool to_fast;
    char *fast;
    uint64_t offset;                                     /* in the tier */
    size_t bytes;                                        /* a multiple of the tier's unit */
};

struct mover;
/* Borrows all.  delay: at most so many microseconds are waited, at random, before each piece, and what a fetch is about
 * to fill is spoiled: a test, in which a move at a wrong time shows in the results. */
struct mover *mover_start(struct tier *, const struct copy *, int n, unsigned delay);
void mover_begin(struct mover *);                        /* a new step: no move is made yet */
void mover_reach(struct mover *, int node);              /* all nodes below are done; returns when `node` may run */
void mover_stop(struct mover *);
#endif

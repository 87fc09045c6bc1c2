/* sweep.h - plans of one graph over formulations and sizes of fast memory, each in a process of its own.
 *
 * A size that is too small ends its own process, and the cell stays without a plan; where `say` is set one message for
 * all of them says how many and what the largest lacks. */
#ifndef MILLRACE_PLACE_SWEEP_H
#define MILLRACE_PLACE_SWEEP_H
#include "place/layout.h"

struct sweep_cell {
    enum formulation form;
    const char *ratio;                                   /* as it was asked for */
    uint64_t limit;
    bool *offloaded;                                     /* parameters, see make_plan_offloading; NULL: none */
    int text;                                            /* a file for the plan's text; 0: not wanted */
    bool planned;                                        /* the rest is known */
    double objective, bound;
    uint64_t moved;                                      /* bytes, both ways */
    double reached;                                      /* slow to fast memory, of the pools */
};
void sweep_run(const struct graph *, const struct profile *, const struct effort *, struct sweep_cell *, int n,
               int jobs, bool say);

/* A plan whose pools have the ratio `want`, slow to fast, within 5 %, or the nearest of those tried.  A plan leaves
 * what there is of fast memory unused where nothing fits any more, and copies take slow memory, so that its pools have
 * another ratio than its limit and the rest.  The study searches, too, as this is not monotone everywhere.  limit: the
 * one that has the ratio by itself. */
struct plan *sweep_plan(const struct graph *, const struct profile *, const struct effort *, enum formulation,
                        uint64_t limit, double want);
#endif

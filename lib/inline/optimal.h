/* optimal.h - the best inlining decisions there are, proven, for a cost that is a sum over functions.
 *
 * After Theodoridis, Grosser and Su, "Understanding and exploiting optimal function inlining" (ASPLOS 2022): a decision
 * belongs to a call of the source, all copies of it follow, and what is not inlined cuts the call graph into parts that
 * do not meet.  They part undirected components; here the direction counts too: what a function costs depends on the
 * calls inlined into it, directly or through one another, not on who else inlines it.  So each function has a table,
 * an entry for each set of calls that can come to lie in it; a function with all its calls inlined goes, if it may.
 * One build fills an entry of every function's table at once, as far as their sets agree.
 *
 * When the tables are full, the least sum is searched with no more builds: a decision is taken (a function goes or
 * stays, most callers first; else the call that most functions share), what falls apart is solved apart, and a branch
 * whose least possible sum is no better than the best known is cut.  One that could hold more than `most` sets is
 * open: its table gets the neighbours of what is best so far, and its part of the lower bound is nothing at all.
 *
 * Calls must not form circles: a compiler decides copies of those apart, so what can come to hold code
 * of a circle is `loose`, and its part of the bound is nothing either.  The cost function is asked about some functions
 * at a time; that costs are a sum of independent parts is its promise, which its owner checks. */
#ifndef MILLRACE_OPTIMAL_H
#define MILLRACE_OPTIMAL_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct optimal_call { uint32_t caller, callee; };

struct optimal_problem {
    size_t nfunctions, ncalls;
    const struct optimal_call *call;
    const bool *stays;                                   /* even when all its calls are inlined */
    const bool *loose;                                   /* comes out otherwise than its table: no bound; NULL */
    long most, builds, nodes;                            /* sets a function; of cost(); of the search in the tables */
    /* Fill cost[f] of those with wanted[f].  false: could not be built; the set then is never taken. */
    bool (*cost)(void *closure, const unsigned char *inlined, const unsigned char *wanted, double *cost);
    /* a new entry, for a log; may be NULL */
    void (*learned)(void *closure, uint32_t function, const uint32_t *call, size_t n, double cost);
    void *closure;
};

struct optimal_answer {
    unsigned char *inlined;                              /* of each call; the caller's, ncalls long */
    double cost;                                         /* of it, by the tables */
    double lower;                                        /* no decisions cost less; it is cost when all is proven */
    double estimate;                                    /* lower, if in open functions calls add what each adds alone */
    bool *closed;                                        /* of each function: its table is full; the caller's */
    size_t entries, largest;                             /* in tables; the most in one full table */
    long builds;
    bool exhausted;                                      /* the budget of builds ended it */
};

struct optimal *optimal_new(const struct optimal_problem *);
/* from a log */
void optimal_know(struct optimal *, uint32_t function, const uint32_t *call, size_t n, double cost);
/* Decisions to begin from beside none at all, such as a heuristic's: open functions look around them too. */
void optimal_start(struct optimal *, const unsigned char *inlined);
void optimal_solve(struct optimal *, struct optimal_answer *);
/* What the tables say of these decisions; nan where an entry is missing. */
double optimal_cost(struct optimal *, const unsigned char *inlined);
/* of one function; nan: none */
double optimal_entry(struct optimal *, uint32_t function, const unsigned char *inlined);
/* it is this after all */
void optimal_mend(struct optimal *, uint32_t function, const unsigned char *inlined, double cost);
void optimal_free(struct optimal *);

/* Mark those calls that lie on a circle of calls: their callee can reach their caller. */
void optimal_circles(size_t nfunctions, const struct optimal_call *, size_t ncalls, bool *on_circle);
#endif

/* descend.h - decisions about inlining that are found in few builds, without a proof, for the costs of optimal.h.
 *
 * What `inline-search --algo=local` does about copies of calls, done about calls of the source: one build decides many
 * calls the other way, no two of which touch the same function, and each is judged by the functions that it touches,
 * its callee and all that hold its caller's code.  Those that helped are then built together.  All calls of one callee
 * are a move too, since a function goes only with the last of them. */
#ifndef MILLRACE_DESCEND_H
#define MILLRACE_DESCEND_H
#include "inline/optimal.h"

/* Of p: the functions, the calls, cost (asked for all functions at once) and builds, the budget, of which *builds were
 * made.  starts: so many sets of decisions, one after the other; the best of them is where it begins, and what it ends
 * at, in `inlined`, is no worse.  The order of moves follows from the seed.  nan: no start could be built. */
double descend(const struct optimal_problem *p, const unsigned char *starts, size_t nstarts, uint64_t seed,
               unsigned char *inlined, long *builds);
#endif

/* search.h - which decisions to try next, from what was tried before; no state of its own.
 *
 * A proposal is a function of the history, the seed, the chain's name and the step, so a search that was killed makes
 * the same proposals again, and the rows it already has are not repeated.  The moves start from a set in the store,
 * where every tried set lies with the calls it inlined and those it left (store/HASH.sexp).
 *   anneal      simulated annealing: the least energy of a step's proposals is taken when it is lower, or by chance
 *               exp(-dE/T); T falls from t_max to t_min over `steps` (inline spec 2.4: 0.04, 0.001, 300)
 *   walk        the same, always taken (2.5)
 *   flip        every call alone, most executed first, then all that helped together, then from there again
 *   exhaustive  every subset of the calls, where they are few
 *   mcts        UCT over the calls from the most executed down (2.6, with the expansion the original lacked)
 *   local       calls in many functions decided the other way at once, see local.c
 *   start       for every heuristic's set: its executed calls, the others as in the default or the smallest set */
#ifndef MILLRACE_SEARCH_H
#define MILLRACE_SEARCH_H
#include "inline/history.h"
#include "inline/live.h"
#include "inline/work.h"
#include <stdint.h>

enum search_algo {
    SEARCH_ANNEAL, SEARCH_WALK, SEARCH_FLIP, SEARCH_LOCAL, SEARCH_EXHAUSTIVE, SEARCH_MCTS, SEARCH_START
};
#define SEARCH_ALGORITHMS "anneal|walk|flip|local|exhaustive|mcts|start"

struct decision_search {
    enum search_algo algorithm;
    const char *chain, *store, *level;
    const struct work *work;
    struct history history;
    struct objective objective;
    const struct intern *heat_key;                       /* "callee base-chain" -> */
    const double *heat;                                  /* executions; NULL: all alike */
    const double *cost;                                  /* the compiler's estimate; nan: not known; NULL: none is */
    uint64_t seed;
    long count, steps, width, hot; /* proposals a step; steps in all; singles a round; least heat */
    long together;                                       /* local: calls decided the other way in one build */
    double t_max, t_min;
};

struct proposal { struct live set; char hash[17]; str parent; long step; };

/* Up to s->count proposals that are not in the history; returns how many, 0 when the search is at its end.  Dies when
 * the store lacks a set that the history names. */
size_t search_propose(struct decision_search *, struct proposal *);

/* ---- for the algorithms: moves.c */

/* calls that may be flipped, hottest first */
struct search_pool { struct live_site *site; double *weight, *heat; size_t n; };

size_t search_local(struct decision_search *, struct proposal *);   /* local.c */
void search_load_inlined(const struct decision_search *, str decisions, struct live *);
/* a set with the calls that were left: from the store, or by a compilation */
void search_load(const struct decision_search *, str decisions, struct live *);
struct search_pool search_pool(const struct decision_search *, const struct live *);
void search_pool_free(struct search_pool *);
/* what is inlined, if legal */
void search_copy(const struct decision_search *, struct live *to, const struct live *from);
double search_cost(const struct decision_search *, const struct live_site *);   /* nan: not known */
/* executions; 1 when none are known */
double search_heat(const struct decision_search *, const struct live_site *);
void search_flip(struct live *, const struct live_site *);   /* decide one call the other way */
void search_finish(struct proposal *, str parent, long step);
/* not among p[0..n-1] nor in the history; rows of this chain from step `before` on do not count, -1: all do */
bool search_is_new(const struct decision_search *, const struct proposal *p, size_t n, long before);
#endif

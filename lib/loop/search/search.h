/* search.h - ways to look for a fast nest: the published ones, as meant and as they ran, and others.
 *
 * greedy1, greedy2: look 1 or 2 actions ahead, go to the best, stop when nothing is better.
 * beam2dfs, beam4dfs, beam2bfs, beam4bfs: follow the 2 or 4 best actions of every state, depth or breadth first.
 * random: random sequences from the start.  anneal: simulated annealing over sequences of actions.
 * heuristic: tiles and orders enumerated, ranked by the model, the first ones measured (after the scripted tuner of
 * LoopStack), the best four unrolled, too, where their rows lie far apart, the best of all again in the last third of
 * the time; as many actions as it takes.
 * `published` brings back what shaped the published comparison: ranking by the name of the action, a tenth of the time
 * for greedy, sequences continued under another prefix, states expanded again and again.
 *
 * Time: the clock, or with the model as evaluator MODEL_EVAL_SECONDS for each evaluation, so that the same seed gives
 * the same result.  Sequences have at most `steps` actions; every visited state is evaluated. */
#ifndef MILLRACE_SEARCH_H
#define MILLRACE_SEARCH_H
#include "loop/code/evaluate.h"
#include <stdio.h>

enum { SEARCH_PATH = 256, SEARCH_NODES = 400000 };
static const double MODEL_EVAL_SECONDS = 1e-4;

struct candidate;
struct search {
    const char *algo;
    int steps;
    double seconds;                                      /* limit of time */
    uint64_t seed;
    bool published;
    uint32_t actions;                                    /* bit set of what may be tried */
    int measure;                                         /* heuristic: how many to measure */
    /* heuristic: what puts its candidates in order (candidate.h), or NULL, and what that knows (not linked for all) */
    size_t *(*order)(const struct candidate *, size_t n, const struct search *);
    /* after order[at] was measured (0: it could not be): may change the order of those behind it; or NULL */
    void (*told)(const struct search *, size_t *order, size_t at, size_t n, double gflops);
    struct rank *rank;                                   /* heuristic: of order_by_rank, see rank.h */
    bool spread;                                         /* heuristic: measure candidates of all ranks, to learn from */
    bool keep;                                           /* keep the visited graph, for search_dot */

    /* results */
    int path[SEARCH_PATH], npath;                        /* actions from the untiled nest to the best one */
    struct nest best;
    double best_gflops, used;                            /* used: time when the search ended */
    double when[SEARCH_PATH + 1]; /* when the state after i actions was evaluated; nan: it was not */
    double gflops[SEARCH_PATH + 1];                      /* of the states along the path; nan likewise */

    /* inside */
    struct evaluator *v;
    const struct problem *p;
    double began;
    size_t evals;
    struct rng rng;
    struct visited { uint64_t key; struct nest t; double gflops, when; int depth, out; } *node;
    size_t nnode, cap, nslot;
    uint32_t *slot;
    struct edge { int from, to, action; } *edge;
    size_t nedge, edge_cap;
};

void search_run(struct search *, struct evaluator *, const struct problem *);
void search_dot(const struct search *, FILE *, double peak);   /* nodes coloured by GFLOPS, best path thick */
void search_free(struct search *);

/* for the modules of searches (visit.c) */
/* its place among the visited states, where it is put when it is fresh; -1: there is no more room */
int search_node(struct search *, const struct nest *, bool *fresh);
double search_elapsed(const struct search *);
bool search_over(const struct search *);
/* evaluate the state that `path` leads to; updates the best; returns its GFLOPS */
double search_visit(struct search *, const struct nest *, const int *path, int npath);
int search_replay(const struct search *, struct nest *, const int *path, int npath, int *legal); /* keeps legal ones */
void search_heuristic(struct search *);
void search_anneal(struct search *);
#endif

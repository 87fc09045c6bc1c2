/* policy.h - nests as something to learn in, and what was learned as a way to find a fast nest.
 *
 * A state is a tree with its cursor, seen as nest_loops_scaled or moves_seen; the reward of an action is the GFLOPS
 * gained over a nominal peak, so that the return of an episode is what it won in all; or (ratio) log2 of the gain over
 * 4, where nests begin so slow that their first gains would not be seen.  States with their masks, successors and
 * GFLOPS are kept in a table, so that an action done before costs a look-up.
 *
 * A roll-out keeps the `width` best states of every step by the network (1: follow the best action) and remembers all
 * of them.  The gain of a state is predicted from the actions before it, Q(s, a) - gamma max Q(s', .) each; those with
 * the largest are measured, the untiled nest first.  Or the model of evaluate.h says which are fastest, and a policy of
 * moves, which sees its terms, also has its gains from there: the network proposes, the model judges what came of
 * it. */
#ifndef MILLRACE_POLICY_H
#define MILLRACE_POLICY_H
#include "rl/learner.h"
#include "loop/search/moves.h"

enum { POLICY_STEPS = 32, POLICY_WIDTH = 32, POLICY_ACTIONS = ENV_ACTIONS };
enum { POLICY_PATH = MOVE_ACTIONS * 6 };                 /* actions of a roll-out at most: 32 moves of 33, the start */

/* what a policy may do: actions of nest.h, of what nest_loops_scaled shows; or moves, of what moves_seen shows */
struct repertoire { bool moves; int action[POLICY_ACTIONS], nact; };
enum repertoire_word { ACTIONS_PUBLISHED, ACTIONS_TILE, ACTIONS_FULL, ACTIONS_MOVES };
struct repertoire repertoire_of(enum repertoire_word);
extern const char repertoire_words[];                    /* "published|tile|full|moves": the published seven; those and
                                                            all splits; all; the moves of moves.h */
struct policy { struct agent g; struct repertoire can; int steps; double gamma; bool ratio; };
void policy_write(const struct policy *, sexpw *);       /* and closes it */
struct policy policy_read(const char *path);             /* dies at file:line */

struct school {                                          /* problems to learn on, and the table of states */
    struct problem *p;
    size_t np;
    struct evaluator *v;
    struct repertoire can;
    bool ratio;                                          /* reward the logarithm of the gain, not GFLOPS */
    int starts;                                          /* random moves before an episode, 0 to so many */

    size_t nstate, cap, nslot;                           /* inside */
    struct policy_state {
        uint64_t key;
        struct nest t;
        uint32_t problem, mask;
        float gflops;
        struct terms terms;                              /* of moves only */
        int32_t next[POLICY_ACTIONS];                    /* -1: not yet done */
    } *state;
    uint32_t *slot;
};
struct school_seat {                                     /* one running episode; many may share a school */
    struct school *school;
    size_t here;
    struct { uint64_t key; uint32_t problem; struct nest t; } now;
};
struct environment school_environment(struct school_seat *, struct school *, int steps);
/* The problems of a table, only those whose split is train where it has that column; names: one a line is added.  Dies
 * where there are none. */
void school_read(struct school *, const char *path, struct buf *names);
void school_free(struct school *);
/* what is good for loop nests; *steps, when it is LONG_MIN: what a minute or two on two cores allows */
extern const double policy_gamma;
struct learner_options policy_learner(enum learning, uint64_t seed, int actors, long *steps);

struct rollout {
    int path[POLICY_PATH], npath;                        /* actions from the untiled nest to the best one */
    double gflops[POLICY_PATH + 1], when[POLICY_PATH + 1];       /* of the states on the path; nan: not measured */
    int measured;
};
/* measure: how many different trees at most, the untiled one included; 0: none, the best is what is predicted.
 * by_model: the states of the beam are put in order by the analytic model, not by the network's prediction.
 * seconds: nothing is measured that would end later than this after the start, by the model; the untiled nest only when
 * it takes less than a tenth; fewer runs of each; infinite: no limit. */
struct rollout policy_roll(const struct policy *, struct evaluator *, const struct problem *, int width, int measure,
                           bool by_model, double seconds);
#endif

/* dqn.h - deep Q-learning for anything that can be reset and stepped, and a memory that survives a kill.
 *
 * Q-network of Mnih et al. (Nature 518, 2015) with double targets (van Hasselt et al., AAAI 2016), dueling heads (Wang
 * et al., ICML 2016: the last layer gives a value and an advantage per action), n-step returns and prioritised replay
 * (Schaul et al., ICLR 2016; proportional, by a sum tree).  Huber loss, Adam.  Illegal actions are never taken, and
 * never count as the best one in a target.  A cut episode is not an ended one: its last state still has a value.
 *
 * Everything is drawn from (seed, "dqn") and linear algebra runs on one thread: same seed, same bytes.  A checkpoint
 * holds all of it, replay included, so that a training that was killed and goes on ends with the same network. */
#ifndef MILLRACE_DQN_H
#define MILLRACE_DQN_H
#include "rl/agent.h"
#include "rl/environment.h"
#include <stdbool.h>

enum { DQN_HIDDEN = 4 };

struct dqn_options {
    int hidden[DQN_HIDDEN], nhidden;
    double gamma, rate, clip;                            /* discount; Adam's rate; limit of the gradient's norm */
    long batch, nstep, capacity;                         /* capacity of the replay in states, final ones included */
    long warmup, every, target;                          /* steps before learning, steps an update, updates a copy */
    double explore, explore_last;                        /* chance of a random action, falling linearly over ... */
    long explore_steps;                                  /* ... these steps */
    double priority, correction;                         /* exponents alpha, and beta that rises to 1 over ... */
    long correction_steps;                               /* ... these updates */
    bool twin, dueling;                                  /* double targets | value and advantages */
    uint64_t seed;
};
struct dqn_options dqn_defaults(void);

/* ---- learning ---- */
struct dqn {
    struct dqn_options o;
    struct environment env;
    struct agent online;
    long steps, updates, episodes, rounds;               /* rounds: of Ape-X */
    double best;                                         /* for the caller, kept in checkpoints */
    struct dqn_inside *in;
};
struct dqn_episode { long steps; double total, loss; };  /* undiscounted; loss: mean over its updates, nan: none */
struct dqn *dqn_new(const struct environment *, const struct dqn_options *);
struct dqn_episode dqn_episode(struct dqn *);            /* one episode of acting and learning */

/* The parts of an episode, for actors in other processes.  A record is a state and what was done in it; the last of an
 * episode has action -1.  dqn_act: one episode by the values of q->online, at most env->limit + 1 records, their
 * observations to x, priorities by these same values; returns how many.  Touches nothing else of q. */
struct dqn_record { uint32_t mask; int16_t action; uint8_t end; float reward, priority; };
long dqn_act(const struct dqn *, const struct environment *, struct rng *, double explore, float *x,
             struct dqn_record *, double *total);
void dqn_take(struct dqn *, const float *x, const struct dqn_record *, long n);      /* n records into the replay */
bool dqn_ready(const struct dqn *);                      /* enough steps, and something to learn from */
double dqn_learn(struct dqn *);                          /* one update; the loss */
double dqn_explore(const struct dqn *);                  /* the present chance of a random action */
double dqn_greedy(struct dqn *, struct rng *);           /* return of one episode without exploration or learning */
void dqn_save(struct dqn *, const char *path, const char *what);    /* atomically; between episodes */
void dqn_begin(struct dqn *, const struct agent *);       /* with these weights, before the first episode */
bool dqn_load(struct dqn *, const char *path, const char *what);   /* false: no file; dies when it is of another task */
void dqn_free(struct dqn *);
#endif

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
#include "base/rng.h"
#include "learn/net.h"
#include "tree/sexp.h"
#include <stdbool.h>

enum { DQN_HIDDEN = 4, DQN_ACTIONS = 32 };

/* What is learned in.  Masks have bit a set when action a is legal; an episode whose mask is 0 is over. */
struct environment {
    void *self;
    int inputs, actions;
    long limit;                                          /* steps after which an episode is cut */
    void (*reset)(void *self, struct rng *, float *x, uint32_t *mask);
    double (*step)(void *self, int action, float *x, uint32_t *mask, bool *ended);   /* returns the reward */
};

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

/* ---- a network that values actions ---- */
struct qnet { struct net *net; bool dueling; int actions; };
void qnet_values(const struct qnet *, const float *x, int n, float *q);   /* n x actions; n at most the net's batch */
int qnet_best(const float *q, int actions, uint32_t mask);                /* the first of the best; -1: mask is 0 */
void qnet_write(const struct qnet *, sexpw *);           /* (qnet (dueling true) (widths ...) (weights ...)) */
struct qnet qnet_read(const struct sexp *, snode, int batch);             /* dies at file:line */
void qnet_free(struct qnet *);

/* ---- learning ---- */
struct dqn {
    struct dqn_options o;
    struct environment env;
    struct qnet online;
    long steps, updates, episodes;
    double best;                                         /* for the caller, kept in checkpoints */
    struct dqn_inside *in;
};
struct dqn_episode { long steps; double total, loss; };  /* undiscounted; loss: mean over its updates, nan: none */
struct dqn *dqn_new(const struct environment *, const struct dqn_options *);
struct dqn_episode dqn_episode(struct dqn *);            /* one episode of acting and learning */
double dqn_explore(const struct dqn *);                  /* the present chance of a random action */
double dqn_greedy(struct dqn *, struct rng *);           /* return of one episode without exploration or learning */
void dqn_save(const struct dqn *, const char *path, const char *what);    /* atomically; between episodes */
bool dqn_load(struct dqn *, const char *path, const char *what);   /* false: no file; dies when it is of another task */
void dqn_free(struct dqn *);
#endif

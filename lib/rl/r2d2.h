/* r2d2.h - Q-learning with memory: a recurrent network, replayed in sequences (R2D2, Kapturowski et al., ICLR 2019).
 *
 * Dense layers, a GRU, a dueling head.  The replay keeps the cell's state of every step as it was when it acted; a
 * sequence is replayed from that state, its first `burn` steps only to bring the state up to the present weights
 * (none at the start of an episode, where the state is right), then `length` steps are learned from: double targets,
 * n-step returns, Huber loss, priorities 0.9 max + 0.1 mean of a sequence's errors.  Sequences begin at every
 * max(1, length / 2)th step.  Without the published rescaling of values and on one machine.
 * Same seed, same bytes; checkpoints go on bit by bit. */
#ifndef MILLRACE_R2D2_H
#define MILLRACE_R2D2_H
#include "rl/agent.h"
#include "rl/environment.h"

struct r2d2_options {
    int hidden, embed, cell;                             /* units: dense, dense (linear), GRU */
    double gamma, rate, clip;
    long batch, length, burn, nstep, capacity;           /* sequences; steps; steps; steps; steps of the replay */
    long warmup, every, target;                          /* steps before learning, steps an update, updates a copy */
    double explore, explore_last;
    long explore_steps;
    double priority, correction;
    uint64_t seed;
};
struct r2d2_options r2d2_defaults(void);

struct r2d2_episode { long steps; double total, loss; };
struct r2d2 {
    struct r2d2_options o;
    struct environment env;
    struct agent online;
    long steps, updates, episodes;
    struct r2d2_inside *in;
};
struct r2d2 *r2d2_new(const struct environment *, const struct r2d2_options *);
struct r2d2_episode r2d2_episode(struct r2d2 *);         /* one episode of acting and learning */
double r2d2_explore(const struct r2d2 *);
double r2d2_greedy(struct r2d2 *, struct rng *);
void r2d2_save(struct r2d2 *, const char *path, const char *what);
void r2d2_begin(struct r2d2 *, const struct agent *);     /* with these weights, before the first episode */
bool r2d2_load(struct r2d2 *, const char *path, const char *what);
void r2d2_free(struct r2d2 *);
#endif

/* ppo.h - a policy that learns by the gradient of its returns: PPO (Schulman et al. 2017).
 *
 * One network gives a score for each action and the value of the state.  A round is `length` steps of each of `seats`
 * episodes that run side by side, then several passes of clipped small batches over them.
 * The order of all this is fixed and every draw is keyed by seed and round: same seed, same network, whatever the clock
 * did.  A checkpoint, taken between rounds, holds all of it, running episodes included. */
#ifndef MILLRACE_PPO_H
#define MILLRACE_PPO_H
#include "rl/agent.h"
#include "rl/gradient.h"
#include "net/net.h"

enum { PPO_HIDDEN = 4 };

struct ppo_options {
    int hidden[PPO_HIDDEN], nhidden;
    double gamma, lambda, rate, norm;                    /* discount; of GAE; Adam's; limit of the gradient's norm */
    long seats, length;
    int epochs; long batch;                              /* passes over a round, rows of a gradient; 0: all */
    struct gradient_options loss;
    double entropy_last, rate_last;                      /* shares that are left of both after `total` steps */
    long total;
    bool normal;                                         /* advantages of a batch to mean 0, deviation 1 */
    uint64_t seed;
};
struct ppo_options ppo_defaults(void);

struct ppo_round { long episodes; double total; struct gradient_loss loss; };   /* ended; their returns summed */
struct ppo {
    struct ppo_options o;
    struct environment env;                              /* the first: shapes */
    struct net *net;
    long rounds, steps, updates, episodes;
    struct ppo_inside *in;
};
struct ppo *ppo_new(const struct environment *seats, const struct ppo_options *);   /* as many as o.seats */
struct ppo_round ppo_round(struct ppo *);
double ppo_greedy(struct ppo *, struct rng *);       /* return of an episode of the likeliest actions */
void ppo_save(struct ppo *, const char *path, const char *what);
bool ppo_load(struct ppo *, const char *path, const char *what);   /* before the first round */
void ppo_free(struct ppo *);
#endif

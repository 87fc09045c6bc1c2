/* actor.h - policies that learn by the gradient of their returns: A2C, A3C, PPO, IMPALA.
 *
 * One network gives a score for each action and the value of the state.  A round is `length` steps of each of `seats`
 * episodes that run side by side, and what is learned from them:
 *   TOGETHER    one gradient from all of it (A2C), or several passes of clipped small batches (PPO)
 *   BY_TURNS    (A3C, Mnih et al., ICML 2016) each of `actors` processes computes the gradient of its own steps; it is
 *               applied to weights that have gone on meanwhile by as many updates as there are other actors, which come
 *               one after the other.  A round is TURNS of them by each actor.
 *   BEHIND      (IMPALA) processes act by the weights of a round ago while the parent learns, which V-trace corrects
 * The order of all this is fixed and every draw is keyed by seed, actor and round: same seed and number of actors, same
 * network, whatever the clock did.  A checkpoint, taken between rounds, holds all of it, running episodes included. */
#ifndef MILLRACE_ACTOR_H
#define MILLRACE_ACTOR_H
#include "rl/agent.h"
#include "rl/gradient.h"
#include "net/net.h"

enum { ACTOR_HIDDEN = 4, ACTOR_TURNS = 8 };
enum actor_kind { TOGETHER, BY_TURNS, BEHIND };

struct actor_options {
    enum actor_kind kind;
    int actors;                                          /* processes, unless TOGETHER; divides seats */
    int hidden[ACTOR_HIDDEN], nhidden;
    double gamma, lambda, rate, norm;                    /* discount; of GAE; Adam's; limit of the gradient's norm */
    long seats, length;
    int epochs; long batch;                              /* passes over a round, rows of a gradient; 0: all */
    struct gradient_options loss;
    double entropy_last, rate_last;                      /* shares that are left of both after `total` steps */
    long total;
    bool normal;                                         /* advantages of a batch to mean 0, deviation 1 */
    uint64_t seed;
};
struct actor_options actor_defaults(enum learning);      /* LEARN_A2C, _A3C, _PPO or _IMPALA */

struct actor_round { long episodes; double total; struct gradient_loss loss; };   /* ended; their returns summed */
struct actor {
    struct actor_options o;
    struct environment env;                              /* the first: shapes */
    struct net *net;
    long rounds, steps, updates, episodes;
    struct actor_inside *in;
};
struct actor *actor_new(const struct environment *seats, const struct actor_options *);   /* as many as o.seats */
struct actor_round actor_round(struct actor *);
double actor_greedy(struct actor *, struct rng *);       /* return of an episode of the likeliest actions */
void actor_save(struct actor *, const char *path, const char *what);
bool actor_load(struct actor *, const char *path, const char *what);   /* before the first round */
void actor_free(struct actor *);
#endif

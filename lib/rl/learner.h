/* learner.h - one face for all that learn by acting: dqn, apex, ppo.
 *
 * A learner advances by its own unit of work, between which it may be saved, tried or stopped: an episode (dqn) or
 * a round (the others; see ppo.h and apex.h).  With the same seed, options and number of actors the network is
 * the same to the last bit; a training that was saved, killed and loaded goes on as if nothing had been. */
#ifndef MILLRACE_LEARNER_H
#define MILLRACE_LEARNER_H
#include "rl/agent.h"
#include "rl/dqn.h"
#include "rl/ppo.h"

extern const char learner_words[];                       /* "dqn|apex|...", for option tables: in the order of */
extern const char *const learner_name[];                 /* the enum, and one by one */

struct learner_options {
    enum learning algo;
    int actors;                                          /* processes of apex */
    long share;                                          /* apex: steps of each actor in a round */
    struct dqn_options dqn;                              /* dqn and apex */
    struct ppo_options ppo;
};
struct learner_options learner_defaults(enum learning, uint64_t seed);
long learner_seats(const struct learner_options *);      /* how many environments it needs */

struct learner_news { long episodes; double total, loss, explore; };     /* ended; returns summed; nan: no loss;
                                                            explore: chance of a random action, or the entropy */
struct learner {
    struct learner_options o;
    long episodes, steps, updates;
    struct dqn *dqn;
    struct apex *apex;
    struct ppo *ppo;
};
struct learner *learner_new(const struct environment *seats, const struct learner_options *);
struct learner_news learner_advance(struct learner *);
double learner_greedy(struct learner *, struct rng *);   /* return of an episode without exploration or learning */
struct agent learner_agent(const struct learner *);      /* borrowed, changes as it learns */
/* begins with the weights of what was learned before; NULL, or what agent_differs says */
const char *learner_begin(struct learner *, const struct agent *);
void learner_save(struct learner *, const char *path, const char *what);     /* what: all else that has to agree */
bool learner_load(struct learner *, const char *path, const char *what);     /* before the first advance */
void learner_free(struct learner *);
#endif

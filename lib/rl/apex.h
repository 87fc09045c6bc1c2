/* apex.h - deep Q-learning whose experience comes from several processes (Ape-X, Horgan et al., ICLR 2018).
 *
 * Rounds: each actor plays whole episodes until it has `share` steps, by the weights at the start of the round and with
 * an exploration of its own, 0.4^(1 + 7i/(n-1)), and gives each step its first priority; meanwhile the parent learns
 * from what is in the replay, one update for `every` steps that came in the round before.  Then the replay takes the
 * actors' steps in the order of the actors.  So no clock decides anything: same seed and number of actors, same
 * network.  Actors remember nothing from round to round, and a checkpoint between rounds is that of a struct dqn. */
#ifndef MILLRACE_APEX_H
#define MILLRACE_APEX_H
#include "rl/dqn.h"

struct apex;
struct apex_round { long episodes, updates; double total, loss; };    /* returns summed; loss: mean, or nan */
/* env: one for each actor.  q is the caller's, and is where everything ends up. */
struct apex *apex_new(struct dqn *q, const struct environment *env, int actors, long share);
struct apex_round apex_round(struct apex *);
void apex_free(struct apex *);
#endif

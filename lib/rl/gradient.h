/* gradient.h - policies as scores of actions, and the gradients of what is minimised to better them.
 *
 * A row of outputs is a score for each action and then the value of the state.  Probabilities are the softmax over the
 * legal actions; an illegal one has probability 0, exactly, and gets no gradient.
 *
 * The loss of a row: value/2 (V - target)^2 - entropy H(p) and, with clip 0, -advantage log p(action), else
 * -min(r advantage, clamp(r, 1 - clip, 1 + clip) advantage) for r = p(action) / p_old(action) (PPO, Schulman et al.
 * 2017).  Of a batch: the mean. */
#ifndef MILLRACE_GRADIENT_H
#define MILLRACE_GRADIENT_H
#include "rl/environment.h"

/* p and logp (either may be NULL) over the legal actions, p 0 and logp -inf elsewhere; returns the entropy.  A mask
 * without a legal action gives no probability at all. */
double policy_softmax(const float *score, uint32_t mask, int actions, float *p, float *logp);
int policy_draw(struct rng *, const float *p, int actions);
int policy_best(const float *score, uint32_t mask, int actions);     /* the first of the best; -1: no legal action */

struct gradient_options { double clip, value, entropy; };
struct gradient_row { uint32_t mask; int action; float advantage, target, old_logp; };
struct gradient_loss { double policy, value, entropy, divergence; };  /* means; divergence of p from p_old: estimated */

/* y, d: n x (actions + 1), the outputs and the gradient at them; d may be y */
struct gradient_loss gradient_of(const struct gradient_options *, const struct gradient_row *, int n, int actions,
                                 const float *y, float *d);
#endif

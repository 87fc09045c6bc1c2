/* cartpole.h - a pole on a cart that is pushed left or right: the usual first task of a learner.
 *
 * Equations of Barto, Sutton and Anderson (IEEE Trans. SMC 13, 1983), their constants, Euler steps of 20 ms.  An
 * episode ends when the cart is 2.4 m from the middle or the pole 12 degrees from upright, and is cut after 500 steps,
 * each with a reward of 1 (CartPole-v1 of the Gym).  State: position, velocity, angle, angular velocity; each starts
 * uniform in +-0.05. */
#ifndef MILLRACE_CARTPOLE_H
#define MILLRACE_CARTPOLE_H
#include "rl/environment.h"

struct cartpole { double x, v, angle, turn; };
bool cartpole_step(struct cartpole *, bool right);       /* false: it has fallen */
struct environment cartpole_environment(struct cartpole *);
#endif

/* environment.h - what a learner learns in: something that can be reset and stepped.
 *
 * Masks have bit a set when action a is legal; an episode whose mask is 0 is over.  An episode that is cut after
 * `limit` steps has not ended: its last state still has a value.
 * One environment runs one episode at a time; learners that run many at once take many. */
#ifndef MILLRACE_ENVIRONMENT_H
#define MILLRACE_ENVIRONMENT_H
#include "base/rng.h"
#include <stdbool.h>
#include <stdint.h>

enum { ENV_ACTIONS = 32 };

struct environment {
    void *self;
    int inputs, actions;
    long limit;                                          /* steps after which an episode is cut */
    void (*reset)(void *self, struct rng *, float *x, uint32_t *mask);
    double (*step)(void *self, int action, float *x, uint32_t *mask, bool *ended);   /* returns the reward */
    void *state;                                         /* plain memory, all there is to a running episode: */
    size_t state_size;                                   /* saved and restored as it is; 0: cannot be */
};

int environment_any(struct rng *, int actions, uint32_t mask);   /* a legal action, uniformly; -1: none */
#endif

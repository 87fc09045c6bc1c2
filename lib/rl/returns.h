/* returns.h - what the steps of a policy were worth: generalised advantages.
 *
 * One stream of n steps in time order.  value[t]: of the state that step t started in; next[t]: of the state that it
 * led to, 0 where the episode ended there; stop[t]: an episode ended or was cut after step t, so that nothing after it
 * counts.  Where no episode stops, next[t] is value[t + 1]; next[n - 1] is the bootstrap.  No array is changed but the
 * outputs: target[t], what the value should have been, and advantage[t], what the action won over it. */
#ifndef MILLRACE_RETURNS_H
#define MILLRACE_RETURNS_H
#include <stdint.h>

struct stream { int n; const float *reward, *value, *next; const uint8_t *stop; };

/* sum over k of (gamma lambda)^k delta(t + k), delta = reward + gamma next - value (Schulman et al., ICLR 2016);
 * target = value + advantage.  lambda 1: whole returns, 0: one step. */
void returns_gae(const struct stream *, double gamma, double lambda, float *target, float *advantage);
#endif

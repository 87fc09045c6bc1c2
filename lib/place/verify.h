/* verify.h - is a plan what it says: rules of residence, moves, capacity, layout, times and bound.
 *
 * Written against graph.h, profile.h and plan.h only; shares nothing with the solver.  The bound is proved from the
 * plan's prices: with lambda (seconds per byte and node) and mu (seconds per movable operand and node),
 *   L = sum_t cheapest life of t
 *       + sum_n min over placements c that fit by themselves of
 *                 (seconds_c + lambda_n staging_c - mu of its slow slots)
 *       - sum_n lambda_n (limit - bytes of small tensors alive)
 * is below the time of every plan that keeps the limit (weak duality), so the plan's bound may not exceed L.  In L a
 * life costs lambda_n bytes wherever the tensor is in fast memory, mu wherever it is used in slow memory, and its
 * copies; static lives do not change tiers; a tensor that cannot fit at a node is not fast there.  For each cut d a
 * life also costs kappa_n floor(bytes / d) in fast memory, and kappa_n floor(room / d) is taken off: memory rows that
 * are divided by d and rounded down stay valid.
 * With moves beside the nodes (async) a step lasts at least as long as its nodes and what they wait for moves, and at
 * least as long as the channel is taken, so at least (nodes + waits + C channel) / (1 + C) for any C >= 0: L is taken
 * with moves at C times their seconds and their wait, and C times the channel's seconds added to those of nodes, and
 * proves L / (1 + C).  C is the plan's channel_price.  A move waits at least for what the channel cannot have (the
 * node's seconds less what its slow operands take of it, in the placement where that is most) beside the nodes for
 * which the tensor takes fast memory before its fetched use, or after it was made until it left; for such nodes before
 * and after its uses a life pays as for any stay. */
#ifndef MILLRACE_PLACE_VERIFY_H
#define MILLRACE_PLACE_VERIFY_H
#include "place/plan.h"

/* a row of a table of options */
#define PLANNED_FROM(profile) { 'p', "profile", STR, &(profile), "FILE", "kernel times the plan was made from" }

/* Calls say(context, sentence) for every rule that breaks; returns how many. */
int verify_plan(const struct graph *, const struct profile *, const struct plan *, void (*say)(void *, const char *),
                void *context);
#endif

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
 * With moves beside the nodes (async) a step takes its nodes' seconds theta_n, those phi_n c_n by which c_n seconds of
 * moves slow node n down (profile_lost), and those for which a node waits for moves.  Each second of a move is made
 * while a node waits, which costs 1, or beside a node n for which the tensor takes fast memory (before its fetched use,
 * or after it was made until it left), which costs phi_n.  There all moves together have c_n <= leaves_n: the channel
 * has theta_n + phi_n c_n seconds for c_n and for kappa_n, what the node's slow operands take, so that leaves_n =
 * (theta_n - kappa_n) / (1 - phi_n).  A price p_n >= 0 of that row makes a second of moves beside n cost phi_n + p_n;
 * above 1 it would be cheaper to wait.  That is the nu_n of the plan, phi_n to 1: (nu_n - phi_n) leaves_n is taken from
 * the seconds of each placement, and a move costs nu_n a second beside node n, for
 * at most as many seconds as the placement that leaves most leaves, and 1 a second for what remains of it, at the least
 * that this can cost; for the nodes before and after its uses a life pays as for any stay. */
#ifndef MILLRACE_PLACE_VERIFY_H
#define MILLRACE_PLACE_VERIFY_H
#include "place/plan.h"

/* a row of a table of options */
#define PLANNED_FROM(profile) { 'p', "profile", STR, &(profile), "FILE", "kernel times the plan was made from" }

/* Calls say(context, sentence) for every rule that breaks; returns how many. */
int verify_plan(const struct graph *, const struct profile *, const struct plan *, void (*say)(void *, const char *),
                void *context);
#endif

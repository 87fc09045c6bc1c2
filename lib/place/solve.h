/* solve.h - placement by Lagrangian relaxation, with a certificate: a plan and a lower bound on any plan.
 *
 * The memory rows get prices lambda >= 0 (seconds per byte), the equality "the tensor is in the tier that the kernel's
 * placement says" gets prices mu (seconds).  What remains falls apart into one shortest path per tensor (three states:
 * fast and never copied, fast with a slow copy, slow only) and one table minimum per kernel:
 *   L = - sum_n lambda_n (limit_n - base_n)
 *       + sum_t min over paths [ fast uses: size lambda_u; stays: size sum of lambda between; slow uses: mu; copies ]
 *       + sum_n min_c [ seconds_c + lambda_n staging_c - sum over slow slots of c of mu ]
 * The rounded memory rows of placing.h have prices kappa >= 0 of their own, which work like lambda.
 * With moves beside nodes a second of the channel beside node n costs nu_n in [phi_n, 1]: phi_n, which the node loses,
 * and the price nu_n - phi_n of the row "moves take no more of the channel beside n than the node leaves", which is
 * leaves_c = (seconds_c - what its slow operands take) / (1 - phi_n), since a node slowed down leaves more.  A node
 * costs seconds_c - (nu_n - phi_n) leaves_c, a move its seconds,
 * shared out over the nodes for which it may be under way (a fetch: those before its use from some node on, at which it
 * pays for its bytes; a write-out: those after the tensor was made, until some node after its last fast use), beside
 * each at most the most time that the node can leave, at nu of that node; what remains stops the step, at a price of 1.
 * L bounds every plan from below for any prices.  They rise by a per-coordinate subgradient step with momentum
 * (Kingma and Ba 2014); plans come from inserting tensors in order of their price-discounted gain, coordinate descent
 * and large-neighbourhood search (Shaw 1998). */
#ifndef MILLRACE_PLACE_SOLVE_H
#define MILLRACE_PLACE_SOLVE_H
#include "place/placing.h"

/* by node; by cut, then node (placing.h); by slot; by node: of a second of the copy channel, for moves beside nodes;
 * all zero at first, but for what a second of moves costs in any case */
struct prices { double *lambda, *kappa, *mu, *nu; };
struct prices prices_new(const struct placing *);
void prices_free(struct prices *);
void prices_copy(const struct placing *, struct prices *to, const struct prices *from);

/* The bound that these prices prove. */
double price_bound(const struct placing *, const struct prices *);

struct effort {
    long dual_steps, search_rounds;
    uint64_t seed;
    double exact;                                        /* seconds for CBC, see exact.h; 0: not asked */
    bool steep;                                          /* moves beside nodes: long first steps */
};
#define EFFORT_OPTIONS(effort)                                                                                         \
    { 0, "steps", INT, &(effort).dual_steps, "N", "steps towards a better bound", 1, 1e7 },                            \
    { 0, "rounds", INT, &(effort).search_rounds, "N", "rounds of search for a better plan", 0, 1e7 }

/* Fills x with the best placement found and best with the prices of the highest bound, rounded to seven digits;
 * returns that bound.  When warm is set, x and best hold a placement and prices to start from, and half the dual steps
 * are made.  Dies when no feasible placement is found; try_placing then is false and x of no use. */
double solve_placing(const struct placing *, const struct effort *, bool warm, struct placement *x,
                     struct prices *best);
bool try_placing(const struct placing *, const struct effort *, bool warm, struct placement *x, struct prices *best,
                 double *bound);

/* Only the search, with given prices: x is made feasible for the current limits and improved; false if it cannot be. */
bool improve_placing(const struct placing *, const struct effort *, const struct prices *, struct placement *x);

/* First touch: in execution order every new tensor takes the tightest gap of a pool of the limit's size, for life, and
 * slow memory when there is none (Linux's first-touch policy as AutoTM emulates it).  The offsets are those of its
 * pool; `reserve` bytes of the limit are left to staging. */
void first_touch(const struct placing *, uint64_t reserve, struct placement *x, uint64_t *offset);
#endif

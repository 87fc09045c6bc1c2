/* path.h - prices of memory, what they make of a tensor's uses, and the cheapest life of one tensor at such prices: a
 * path of three states, fast and never copied, fast with a slow copy, slow only (solve.h). */
#ifndef MILLRACE_PLACE_PATH_H
#define MILLRACE_PLACE_PATH_H
#include "place/solve.h"

static const double NEVER = 1e30;                        /* seconds: not allowed */

/* prices of a tensor's uses: in fast memory, of staying until the next use, in slow memory, of a fetch before it and a
 * write-out after it with the nodes for which they take fast memory besides; and the tables of the DP */
struct life_path {
    double *fast, *stay, *slow, *fetch, *write;
    int *lead, *lag;
    uint8_t *fresh;                                      /* the life found: in fast memory and never copied */
    double (*cost)[3];
    uint8_t (*from)[3];
};
struct life_path path_new(const struct placing *);
void path_free(struct life_path *);
/* the cheapest life of tensor t, by uses; its price */
double path_best(const struct placing *, const struct life_path *, int t, uint8_t *slow, uint8_t *stay);
/* moves that take fast memory only where the tensor is used or stays, for a share of their seconds */
void path_plain(const struct placing *, const struct life_path *, int t, double share);

/* lambda, then each cut's kappa, summed over the nodes before a node */
struct price_sums { const struct prices *v; double *until; };
struct price_sums sums_new(const struct placing *);
double *until_of(const struct placing *, const struct price_sums *, int row);
void sum_up(const struct placing *, struct price_sums *, const struct prices *);
/* what tensor t pays for fast memory at nodes from .. to - 1 */
double rent(const struct placing *, const struct price_sums *, int t, int from, int to);
int slot_of(const struct placing *, int use);
void path_prices(const struct placing *, const struct price_sums *, int t, double share, struct life_path *);
#endif

/* seek.h - plans that follow prices: insertion, coordinate descent and large neighbourhoods (solve.h). */
#ifndef MILLRACE_PLACE_SEEK_H
#define MILLRACE_PLACE_SEEK_H
#include "place/path.h"

struct seek {
    const struct placing *p;
    struct placement *x;
    struct price_sums sums;
    struct life_path path;
    double *gain;                                        /* of tensors, for the order of insertion */
    struct rng *noise;                                   /* NULL, or what blurs the comparison of fast and slow */
    double *spare, *worth;                               /* time of the channel before a node, its worth */
    double weight;                                       /* of the memory prices, of the last life found */
    int *order;
};
struct seek seek_new(const struct placing *, struct placement *);
void seek_free(struct seek *);
/* by price-discounted gain; each tensor given all others until none gains, returns the seconds */
void seek_construct(struct seek *, const struct prices *);
double seek_descend(struct seek *);
double seek_total(const struct placing *, const struct placement *);
#endif

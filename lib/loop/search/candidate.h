/* candidate.h - nests that the analytic search enumerates, and the orders in which they are measured; see search.h. */
#ifndef MILLRACE_CANDIDATE_H
#define MILLRACE_CANDIDATE_H
#include "loop/search/search.h"

enum { MAX_PIECES = NEST_LOOPS };
struct loop_piece { int8_t var; int32_t block; };             /* a loop of var whose block is this many elements */
struct candidate {
    struct loop_piece piece[MAX_PIECES];
    int n, outer, vec;                                   /* outer: pieces outside the tile; vec: needs a mark, or -1 */
    int8_t pack;                                         /* bits of enum packing */
    double seconds;                                      /* by the model */
};

/* an input is packed where each element is once, inside the outer loops that all move through it; or A for each tile */
enum packing { PACK_A_ONCE = 1, PACK_A_TILE = 2, PACK_B_ONCE = 4, PACKINGS = 8 };

/* All that is worth a thought, sorted by the model; free it. */
size_t candidates(const struct search *, struct candidate **);
/* its nest, without vec's mark; false: more loops than a nest may have, or no place to pack where it shall */
bool candidate_build(const struct problem *, const struct candidate *, struct nest *);
void candidate_vectorize(struct nest *, int var);        /* the mark, on the innermost loop of var */

bool candidate_same(const struct candidate *, const struct candidate *);     /* the same nest */

/* Places of all n candidates, which are sorted by the model, in the order of measuring; free it.
 * by_model: in its order, the first of each kind (what is packed, the loops outside) before others about as good.
 * drawn: by chance, ranks of all magnitudes alike: to learn from. */
size_t *order_by_model(const struct candidate *, size_t n);
size_t *order_drawn(size_t n, struct rng *);
/* which of n to take: they took so many seconds, of which so many beyond the second cache.  These count a tenth more,
 * since a measurement does not tell when others will want the third one.  -1: all are infinite */
int candidate_taken(const double *seconds, const double *beyond, int n);
#endif

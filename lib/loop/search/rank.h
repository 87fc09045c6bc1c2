/* rank.h - which nests of a problem are worth measuring first, learned from nests that were measured on this machine.
 *
 * Extremely randomised trees (trees.h) predict the slow-down of a nest, log(seconds / seconds of the problem's best),
 * from its features (features.h), the model's seconds and their ratio to the model's best of the problem.  What matters
 * is near the best: slow-downs count as 1.5 at most, and a row has the weight exp(-3 slow-down) + .05.
 * Use: the model's first RANK_FIRST candidates are measured in turns: the trees' first, the model's first, the trees'
 * second and so on, so that trusting neither costs much.  A single measurement is the model's.
 *
 * File: (rank (machine NAME) (isa WORD) (encoder N) (rows N) (problems N) (features F ..) (tree FEATURE AT .. ) ..), a
 * tree in pre-order, -1 VALUE for a leaf. */
#ifndef MILLRACE_RANK_H
#define MILLRACE_RANK_H
#include "loop/search/features.h"
#include "loop/search/trees.h"
#include "tree/sexp.h"

enum { RANK_FEATURES = NEST_FEATURES + 2, RANK_FIRST = 200 };

struct candidate;
struct search;
struct rank_row { struct seen_nest s; double seconds; size_t group; };   /* group: of a problem's rows, from 0 */
struct rank { char machine[64]; enum isa isa; size_t rows, problems; struct trees trees; };
struct rank_options { struct trees_options trees; bool shuffle; };   /* a control: labels permuted in a problem */

struct rank rank_fit(const struct rank_row *, size_t n, const char *machine, enum isa, const struct rank_options *);
void rank_write(const struct rank *, const char *path);
struct rank rank_read(const char *path);                 /* dies at file:line */
struct rank rank_from(const struct sexp *);
void rank_free(struct rank *);
/* least: the least seconds by the model among the nests that it is compared with */
double rank_slowdown(const struct rank *, const struct seen_nest *, double least);
/* Places of n things in the order of measuring, given the model's order (as they are) and what the trees predict for
 * the first RANK_FIRST of them; free it. */
size_t *rank_turns(const double *slowdown, size_t n);
size_t *rank_alone(const double *slowdown, size_t n);    /* theirs alone */
/* where the trees of a user lie for this machine: MILLRACE_LOOP_RANK, or a file in the user's cache; a fresh string */
char *rank_place(const char *machine, enum isa);
/* for struct search.order */
size_t *order_by_rank(const struct candidate *, size_t n, const struct search *);
#endif

/* rank.h - which nests of a problem are worth measuring first, learned from nests that were measured on this machine.
 *
 * Extremely randomised trees (fit/forest.h) predict the slow-down of a nest, log(seconds / seconds of the problem's
 * best), from its features (features.h), the model's seconds and their ratio to the model's best of the problem.  What
 * matters is near the best: slow-downs count as 1.5 at most, and a row has the weight exp(-3 slow-down) + .05.
 * Use: among the model's first RANK_FIRST candidates the trees' first is measured, then the model's first, then what
 * these and all before it make likely to be better than the best (within.h); every fourth is the model's next, so that
 * trusting the trees costs little.  A single measurement is the model's.
 *
 * File: (rank (machine NAME) (isa WORD) (encoder N) (rows N) (problems N) (model forest ..)), see fit/model.h. */
#ifndef MILLRACE_RANK_H
#define MILLRACE_RANK_H
#include "fit/forest.h"
#include "fit/model.h"
#include "loop/nest/rows.h"
#include "loop/search/features.h"

enum { RANK_FEATURES = NEST_FEATURES + 2, RANK_FIRST = 200 };

struct candidate;
struct search;
struct rank_row { struct seen_nest s; double seconds; size_t group; };   /* group: of a problem's rows, from 0 */
struct rank {
    char machine[64]; enum isa isa; size_t rows, problems;
    struct model *trees;
    struct within *now; size_t *model, first, next;      /* of the problem at hand: the model's first, what is next */
};
struct rank_options { struct forest_options forest; bool shuffle; };   /* a control: labels permuted in a problem */

struct rank rank_fit(const struct rank_row *, size_t n, const char *machine, enum isa, const struct rank_options *);
void rank_write(const struct rank *, const char *path);
struct rank rank_read(const char *path);                 /* dies at file:line */
struct rank rank_from(const struct sexp *);
void rank_free(struct rank *);
/* least: the least seconds by the model among the nests that it is compared with */
double rank_slowdown(const struct rank *, const struct seen_nest *, double least);
/* where the trees of a user lie for this machine: MILLRACE_LOOP_RANK, or a file in the user's cache; a fresh string */
char *rank_place(const char *machine, enum isa);
/* for struct search.order and .told */
size_t *order_by_rank(const struct candidate *, size_t n, const struct search *);
void told_rank(const struct search *, size_t *order, size_t at, size_t n, double gflops);

/* Measured rows of this machine and instruction set, from a table with problem, tree, and seconds or gflops; those with
 * code are added, and their features written to w, unless it is NULL. */
struct rank_rows { struct rank_row *row; size_t n, room; struct intern groups; };
void rank_collect(struct rank_rows *, const char *path, const char *machine, enum isa, csvw *);
void rank_table_head(csvw *);
/* A table to stdout, with the place of each nest among those of its problem, in the order of the model, or as described
 * above from the trees' slow-downs, the model's (untrained), or the trees' dealt out by chance (random). */
enum rank_order { RANK_TREES, RANK_MODEL, RANK_UNTRAINED, RANK_RANDOM };
int rank_place_table(const struct rank *, enum isa, const char *path, enum rank_order, uint64_t seed);
#endif

/* best.h - the decisions of largest total value, by dynamic programming on the union of all trees.
 *
 * For a node: inlining is worth its immediate value plus gamma times the sum (or, as the published labels were made
 * by mistake, the mean) of the children's best values; calling is worth no_inline; what no run tried is worth minus
 * infinity. A call is inlined only where that is strictly better; the root and declarations have no choice. */
#ifndef MILLRACE_INLINE_BEST_H
#define MILLRACE_INLINE_BEST_H
#include "base/str.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct best_node {
    uint32_t parent;                                     /* a smaller number; node 0 is the root */
    bool decl;                                           /* root and declarations */
    double immediate, no_inline;                         /* in; NAN: never tried */
    double long_term, value;                             /* out; long_term is -INFINITY when never inlined */
    bool inlined, reached;                               /* out; reached: all calls around it are inlined */
};

/* Fills the outputs, children before parents in descending order of numbers; returns the value of the root. */
double best(struct best_node *, size_t n, double gamma, bool mean);
double best_margin(const struct best_node *);            /* long_term - no_inline; nan where not both are known */

/* The union of all trees as a table of rewards has it: columns site (steps joined by blanks, / is the root; parents
 * before children), immediate, no_inline, optionally callee. */
struct best_tree {
    struct intern sites, callees;                        /* number of a node: that of its site */
    struct best_node *node;
    uint32_t *callee;
};
void best_read(struct best_tree *, csv *);               /* zero-initialise; closes the table; dies at its line */
/* The decisions about calls that are reached; with `both` only where both sides were tried.  Names may be NULL. */
void best_write(const struct best_tree *, sexpw *, const char *program, const char *compiler, bool both);
#endif

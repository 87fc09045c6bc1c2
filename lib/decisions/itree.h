/* itree.h - inlining trees: what a compiler did at every call, nested as it inlined.
 *
 * Node 0 is the root.  A declaration holds the calls of a function's own body; an inlined call holds what happened
 * in the copied body; an applied (not inlined) call is a leaf.  label: the origin (a closure) of a declaration, the
 * path of a call.  In V0 and V1 trees the path of a call is its whole apply id; in expanded trees it is relative to
 * the enclosing declaration, so that a nested call's path extends its parent's.  All walks are iterative: depth is
 * bounded by memory.  Method: the tree building and labels of "Inlining ML with ML" (OCaml flambda, 2018). */
#ifndef MILLRACE_INLINE_ITREE_H
#define MILLRACE_INLINE_ITREE_H
#include "decisions/decisions.h"

enum node_kind { NODE_ROOT, NODE_DECL, NODE_INLINED, NODE_APPLY };
enum { NODE_NONE = UINT32_MAX };

struct tnode { uint32_t parent, first, last, next, label, func; enum node_kind kind; };

struct itree {
    enum form form; /* FORM_TREE_V0, FORM_TREE_V1, FORM_EXPANDED; FORM_PLAIN: live sites */
    struct tnode *node;
    size_t n, cap;                                       /* nodes made; after edits some may hang nowhere */
    size_t n_lost;                                       /* decisions below a call that was not inlined */
    struct map64 child;                                  /* while building */
};

struct tree_stat {
    size_t n_decl, n_inlined, n_apply, depth, n_unknown;
}; /* without the root; depth of the deepest */

void itree_init(struct itree *, enum form);              /* only the root; keeps memory */
void itree_free(struct itree *);
uint32_t itree_add(struct itree *, uint32_t parent, enum node_kind, uint32_t label, uint32_t func); /* as last child */

/* Insert decisions in file order: an existing node wins, a call not inlined ends the walk.  round < 0: all.
 * Specialise is skipped.  reversed: child lists in reverse order of appearance, as the original left them. */
void itree_build(struct itree *, const struct decisions *, int round, bool reversed);

void itree_read(struct names *, const struct sexp *, struct itree *);       /* V0, V1 or expanded; dies at file:line */
void itree_write(sexpw *, const struct names *, const struct itree *, int n_fields);      /* 0: as read */
struct tree_stat itree_stat(const struct names *, const struct itree *);

/* Depth-first pre-order: the node after n, NODE_NONE at the end; *depth, if given, follows. */
uint32_t itree_next(const struct itree *, uint32_t n, long *depth);

/* Decisions that rebuild the tree: one for each call, depth first, all with this round. */
void itree_decisions(const struct itree *, int round, struct decisions *);
#endif

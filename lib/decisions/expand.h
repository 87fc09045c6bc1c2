/* expand.h - the six passes that give the calls of a V1 tree stable names, and the way back.
 *
 * A call's name in an expanded tree is the list of its sites from the enclosing declaration, one site a level.
 *   1 paths    the path of a node minus that of the inlined call around it is its own step; a step of several sites
 *              gets an inlined node for every proper prefix, with the callee "expanded"
 *   2 merge    siblings of one kind and path become one
 *   3 fill     an inlined call whose callee's declaration was met before takes over what was inlined there
 *   4 merge    again
 *   5 drop     a call that is not inlined beside an inlined one of the same path
 *   6 stubs    stubs leave the tree and the paths
 * Needs apply ids with parents.  Paths longer than 100 sites in pass 3 are an error.  Source: the tree
 * tools of the flambda experiments (2018); node counts of the published example after every pass are a test. */
#ifndef MILLRACE_INLINE_EXPAND_H
#define MILLRACE_INLINE_EXPAND_H
#include "decisions/itree.h"

enum { EXPAND_PASSES = 6 };

/* Runs passes 1..last on a V1 tree; count[i], if given, is the number of nodes without the root after pass i + 1.  Dies
 * with `file` and the call when an apply id does not begin with that of the call around it. */
void expand(struct names *, struct itree *, const char *file, int last, size_t count[EXPAND_PASSES]);

/* Expanded tree to V1 tree: apply ids are the paths, the nodes that pass 1 put in are taken out,
 * unless nothing is left below them. */
void collapse(const struct names *, struct itree *);
#endif

/* node.h - what an expression of sexp.h is made of, for its reader and its writer
 *
 * An expression is one array of 16-byte nodes in pre-order over the text as it was read.  A node knows where its
 * subtree ends and whether it is the last child, so no stack is needed: an open list keeps its parent in `end`. */
#ifndef MILLRACE_NODE_H
#define MILLRACE_NODE_H
#include "tree/sexp.h"

enum { BARE, PLAIN, DECODED, LIST, KIND = 3, LAST = 4 };           /* node kinds; PLAIN: a string without escapes */

struct sexp_node {
    uint32_t start;                                      /* offset in the expression's text; DECODED: in `decoded` */
    uint32_t length;                                     /* bytes of an atom, children of a list */
    uint32_t end;                                        /* one past the subtree; while open: the parent */
    uint32_t kind;
};

struct sexp {
    struct sexp_node *node;
    size_t n, cap;
    const char *text;
    struct buf decoded;                                  /* strings with escapes: 4 bytes of offset, then the text */
    sexpr *reader;
};

str sexp_text_of(const struct sexp *, const struct sexp_node *);      /* of an atom, decoded */
#endif

/* sexp.h - read and write s-expressions: one top-level expression at a time, iterative, arbitrary depth and size.
 *
 * An atom is any run of bytes but blanks, ( ) and ".  A string is "..." with OCaml/C escapes (\n \t \\ \" \ddd \xhh).
 * Dialects (inline spec 1.4): COMPILER takes ; and " as atom bytes (no strings, no comments); CORE and PYTHON take
 * strings; ; to end of line and #| ... |# are comments in CORE only.  Errors name file, line, column and, for an
 * unclosed list, the line where it was opened.  About 16 bytes a node plus the text. */
#ifndef MILLRACE_SEXP_H
#define MILLRACE_SEXP_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sexp_dialect { SEXP_CORE, SEXP_COMPILER, SEXP_PYTHON };
#define SEXP_DIALECTS "core|compiler|python"             /* their names, for option tables */
#define DIALECT_OPTION(dialect) { 0, "dialect", WORD, &(dialect), SEXP_DIALECTS, "form of the input" }
typedef uint32_t snode;                                  /* index of a node; 0 is the root */
enum { SEXP_NONE = UINT32_MAX };

/* One expression: nodes in pre-order.  Borrowed from the reader until its next sexp_next. */
struct sexp;

typedef struct sexpr sexpr;
sexpr *sexp_open(const char *path, enum sexp_dialect);   /* "-" is stdin; dies on error */
sexpr *sexp_files(char **paths, enum sexp_dialect);      /* NULL-terminated operands one after the other; none: stdin */
sexpr *sexp_open_text(const char *text, size_t n, const char *name, enum sexp_dialect);   /* text is borrowed */
const struct sexp *sexp_next(sexpr *);                   /* NULL at end; dies at file:line:column when malformed */
/* the single expression of the input; dies unless exactly one */
const struct sexp *sexp_only(sexpr *);
void sexp_close(sexpr *);

/* Asking about SEXP_NONE is allowed: it is no list, no atom, has no children and no value. */
bool sexp_is_list(const struct sexp *, snode);
bool sexp_is_atom(const struct sexp *, snode);           /* bare or string */
str sexp_atom(const struct sexp *, snode);               /* its text, escapes decoded; dies at file:line for a list */
snode sexp_first(const struct sexp *, snode);            /* first child, SEXP_NONE if none or an atom */
snode sexp_after(const struct sexp *, snode);            /* next sibling, SEXP_NONE at the last */
size_t sexp_count(const struct sexp *, snode);           /* number of children */
snode sexp_nth(const struct sexp *, snode, size_t i);    /* i-th child or SEXP_NONE */
snode sexp_item(const struct sexp *, snode, size_t i, const char *what);   /* dies with "WHAT is missing" */
bool sexp_head(const struct sexp *, snode, const char *word);   /* a list whose first child is the atom `word` */
snode sexp_get(const struct sexp *, snode, const char *key);    /* the child list (key ...); SEXP_NONE if absent */
/* the second item of (key value); SEXP_NONE if absent */
snode sexp_value(const struct sexp *, snode, const char *key);
double sexp_num(const struct sexp *, snode);             /* dies at file:line unless a number */
int64_t sexp_int(const struct sexp *, snode);
double sexp_num_of(const struct sexp *, snode, const char *key);      /* of (key N); dies if absent */
double sexp_num_or(const struct sexp *, snode, const char *key, double missing);
str sexp_str_of(const struct sexp *, snode, const char *key);         /* of (key ATOM); dies if absent */
size_t sexp_line(const struct sexp *, snode);            /* where the node starts; counted on demand */
_Noreturn void sexp_die(const struct sexp *, snode, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Writer.  One canonical form: one blank between items, none inside parentheses, a line per top-level expression;
 * sexpw_line breaks the line and indents by depth.  Atoms are quoted only when they must be. */
typedef struct sexpw sexpw;
sexpw *sexpw_open(const char *path);                     /* atomic, see out.h; "-" or NULL is stdout */
sexpw *sexpw_file(FILE *);                               /* does not close it */
void sexpw_begin(sexpw *, const char *head);             /* "(" or, with a head, "(head" */
void sexpw_end(sexpw *);                                 /* ")"; a line end after a top-level expression */
void sexpw_atom(sexpw *, str);
void sexpw_cstr(sexpw *, const char *);
void sexpw_num(sexpw *, double);
void sexpw_int(sexpw *, int64_t);
void sexpw_pair(sexpw *, const char *key, double);       /* (key N) */
void sexpw_pair_str(sexpw *, const char *key, str);      /* (key ATOM) */
void sexpw_copy(sexpw *, const struct sexp *, snode);    /* a whole sub-expression */
/* a node, and unless alone those after it, in canonical form on one line, in the arena */
str sexp_written(const struct sexp *, snode from, bool alone, struct arena *);
void sexpw_line(sexpw *);
/* bytes of the form on one line; above `most` only roughly */
size_t sexp_width(const struct sexp *, snode, size_t most);
int sexpw_close(sexpw *);                                /* flush, check, commit; EXIT_OK, or dies */
#endif

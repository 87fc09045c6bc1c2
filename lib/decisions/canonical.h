/* canonical.h - the one reader and the one writer of (decisions ...), whoever's call sites the steps name.
 *
 *   (decisions (program P) (compiler C) (form v1) (time_seconds T ...)
 *     (site (path STEP ...) (callee F) (inline true)) ...)
 * program, compiler, form, time_seconds and a site's callee may be absent.  A step is one atom without blanks, from the
 * outside in; the last is the call that was decided.  A site has (inline B) or (action inline|apply|specialise), and
 * (round N) when N is not 0.  What a step means is its reader's: names.h for the 2018 study, live.h for compilers. */
#ifndef MILLRACE_CANONICAL_H
#define MILLRACE_CANONICAL_H
#include "tree/sexp.h"

enum action { ACTION_APPLY, ACTION_INLINE, ACTION_SPECIALISE };

struct canonical_site {
    snode at;        /* for messages: sexp_die(e, site->at, ...) */
    const str *step; /* n of them, at least one; borrowed until the next site */
    size_t n;
    str callee; /* "" when not told */
    enum action action;
    int round;
};

/* Calls take() for each site, in order; dies at file:line. */
void canonical_read(const struct sexp *e, void (*take)(void *, const struct sexp *, const struct canonical_site *),
                    void *closure);

/* The header stays open for further fields, each site is a line, canonical_end closes.  NULL, "" and 0 are not written;
 * program and compiler are, unless their .s is NULL. */
void canonical_begin(sexpw *, str program, str compiler);
void canonical_write(sexpw *, const struct canonical_site *);
void canonical_end(sexpw *);

enum action canonical_action(const struct sexp *, snode); /* of a word: Inline or inline, ... */
bool canonical_bool(const struct sexp *, snode);
int canonical_round(const struct sexp *, snode);
#endif

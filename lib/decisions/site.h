/* site.h - a call site of a compiled program: the callee, and the chain of calls that it stands in.
 *
 * A chain is LLVM's replay key: FUNCTION:LINE:COLUMN[.DISCRIMINATOR], innermost first, joined by " @ ".  With `-flto`
 * the inliner runs twice, and the same call may be decided each time: there the outermost element is a stage instead
 * of a call, `compile` (each source by itself, before the link) or `link`: "h:3:5 @ g:2:3 @ link". */
#ifndef MILLRACE_SITE_H
#define MILLRACE_SITE_H
#include "base/str.h"
#include <stdbool.h>

struct site { str callee, chain; };                      /* borrowed */

int site_cmp(struct site, struct site);                  /* by callee, then chain */
/* The stage of a chain, "" where it has none; the chain without it; the function that its outermost call stands in; a
 * symbol without the numbers that linkers give static functions of one name (loc.3 and loc.3.12 -> loc). */
str site_stage(str chain);
str site_bare(str chain);
str site_outermost(str chain);
str site_plain(str symbol);
bool site_recursive(struct site);                        /* the callee is on its own chain */
bool site_stable(str chain);                             /* no merged location, whose key means nothing */
/* The elements of a chain, outermost first; borrowed from it.  Grows *step, which is the caller's; their number. */
size_t site_steps(str chain, str **step, size_t *cap);

/* As text: "callee chain"; of the base key, which all copies of a call share, only the innermost element. */
void site_add(struct buf *, struct site);                /* behind what is there; the others begin anew */
void site_key(struct buf *, struct site);
void site_base_key(struct buf *, struct site);
long site_base_find(const struct intern *base_keys, struct site);        /* its number, -1 where it is none */
#endif

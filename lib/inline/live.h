/* live.h - decisions about the calls of a C program: which (callee, chain) are inlined, and which were left.
 *
 * The stream is the canonical one of decisions.h, `(decisions ... (site (path STEP ...) (callee F) (inline B)) ...)`,
 * where a step is an element of LLVM's replay key, FUNCTION:LINE:COLUMN[.DISCRIMINATOR], from the outside in; a
 * chain is the same key as the compiler writes it, innermost first, joined by " @ ".  Sets are kept sorted, so equal
 * sets give equal bytes and equal hashes, whoever made them.
 *
 * With `-flto` the inliner runs twice, and the same call may be decided each time: there the outermost step is a stage
 * instead of a call, `compile` (each source by itself, before the link) or `link`: "h:3:5 @ g:2:3 @ link". */
#ifndef MILLRACE_LIVE_H
#define MILLRACE_LIVE_H
#include "base/str.h"
#include "inline/ir.h"
#include "inline/llvm.h"
#include <stdbool.h>

struct live_site { str callee, chain; bool inlined; str reason; };   /* reason: not inlined, says the compiler */
struct live { struct live_site *v; size_t n, cap; struct arena text; };      /* zero-initialise */

void live_add(struct live *, str callee, str chain, bool inlined); /* copies; a duplicate is removed by live_sort */
void live_reason(struct live *, str why);                                /* of the last one added */
void live_sort(struct live *); /* by callee and chain; of duplicates an inlined one stays */
struct live_site *live_find(const struct live *, str callee, str chain); /* in a sorted list; NULL if absent */
uint64_t live_hash(const struct live *);                                 /* of the inlined ones of a sorted list */
size_t live_inlined(const struct live *);
void live_clear(struct live *);
void live_free(struct live *);

void live_read(struct live *, const char *path);                         /* sorted; dies at file:line */
void live_write(const struct live *, const char *path, const char *program, const char *compiler);

/* The stage of a chain, "" where it has none; the chain without it; the function that its outermost call stands in; a
 * symbol without the numbers that linkers give static functions of one name (loc.3 and loc.3.12 -> loc). */
str live_stage(str chain);
str live_bare(str chain);
str live_outermost(str chain);
str live_plain(str symbol);

/* "callee innermost-element": what all copies of a call share */
void live_base_key(struct buf *, str callee, str chain);
long live_key_find(const struct intern *, str callee, str chain); /* of such keys: its number, -1 where it is none */
bool live_recursive(str callee, str chain);                              /* the callee is on its own chain */
bool live_stable(str chain); /* no merged location, whose key means nothing */

/* The inlined ones as the list llvm_build wants; borrowed, arrays freed by the caller. */
struct call_list live_calls(const struct live *);

/* Add what a build did: positive remarks as inlined, calls left in its text module (NULL: not known) as not inlined. */
void live_of_build(struct live *, const struct remarks *, const struct ir_module *);
#endif

/* live.h - decisions about the calls of a C program: which (callee, chain) are inlined, and which were left.
 *
 * The stream is the canonical one of decisions.h, `(decisions ... (site (path STEP ...) (callee F) (inline B)) ...)`; a
 * step is an element of the site's chain, from the outside in.  Sets are kept sorted, so equal
 * sets give equal bytes and equal hashes, whoever made them. */
#ifndef MILLRACE_LIVE_H
#define MILLRACE_LIVE_H
#include "decisions/site.h"
#include "inline/ir.h"
#include "inline/llvm.h"
#include <stdbool.h>

struct live_site { struct site site; bool inlined; str reason; };   /* reason: not inlined, says the compiler */
struct live { struct live_site *v; size_t n, cap; struct arena text; };      /* zero-initialise */

void live_add(struct live *, struct site, bool inlined);     /* copies; a duplicate is removed by live_sort */
void live_reason(struct live *, str why);                                /* of the last one added */
void live_sort(struct live *); /* by callee and chain; of duplicates an inlined one stays */
struct live_site *live_find(const struct live *, struct site); /* in a sorted list; NULL if absent */
uint64_t live_hash(const struct live *);                                 /* of the inlined ones of a sorted list */
size_t live_inlined(const struct live *);
void live_clear(struct live *);
void live_free(struct live *);

void live_read(struct live *, const char *path);                         /* sorted; dies at file:line */
void live_write(const struct live *, const char *path, const char *program, const char *compiler);

/* The inlined ones as the list llvm_build wants; borrowed, arrays freed by the caller. */
struct call_list live_calls(const struct live *);

/* Add what a build did: positive remarks as inlined, calls left in its text module (NULL: not known) as not inlined. */
void live_of_build(struct live *, const struct remarks *, const struct ir_module *);
#endif

/* profile.h - a profile of the runs that are searched on, by clang's own instrumentation.
 *
 * Kinds: fe (-fprofile-instr-generate, in the front end), irn (-fprofile-generate in the middle end, nothing inlined
 * before), ir (the same with the inlining before that users get by default). */
#ifndef MILLRACE_PROFILE_H
#define MILLRACE_PROFILE_H
#include "inline/llvm.h"
#include "inline/program.h"
#include "inline/tool.h"

/* Build instrumented, run every search run, merge into the file `data` (aside, renamed).  NULL or a sentence. */
const char *profile_make(const struct llvm *, const struct program *, const char *kind, const char *data);
void profile_use_words(struct args *, const char *kind, const char *data); /* for the compiler */

/* A program's executable from its units: every one compiled with `compile`, linked with `link` by the driver, objects
 * in `directory`, which stays (gcc finds its counts beside them).  NULL or a sentence. */
const char *units_build(const char *driver, const struct program *, const struct args *compile, const struct args *link,
                        const char *directory, const char *exe);
/* The words that link the units' objects, in order.  For lld (`archives`) members of an archive are taken as from one:
 * where they are needed, which is the order that a build of one's own gets. */
void units_link_words(struct args *, const struct program *, char *const *object, bool archives);
/* run the search runs with NAME=VALUE in the environment, %d of VALUE being the run */
const char *units_run(const struct program *, const char *exe, const char *name, const char *value);
#endif

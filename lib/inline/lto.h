/* lto.h - decisions in clang's own `-flto` pipeline, with or without a profile: the build that users and experts make.
 *
 * The inliner runs twice: on each source, before the link, and in the linker (lld) on all of them together.  A decision
 * belongs to one of these stages (live.h) and both obey a replay file of their own; the compile stage has one file for
 * all sources, since that is what one CFLAGS can say.  What was done is read from the remarks of both.
 *
 * Profiles: `fe` counts in the front end (-fprofile-instr-generate), `irn` in the middle end, its inlining before
 * instrumentation switched off (-fprofile-generate -mllvm -disable-preinline): that inliner would obey the replay file
 * too, and the profile would not fit the control flow any more.
 *
 * Sources are compiled as they are, since a user's build has to find the same calls again: calls from one macro on one
 * line share a key and thus a decision, where clang.c preprocesses first and tells them apart.  (-no-integrated-cpp
 * would cure it, but then clang 14 runs its passes twice.)
 *
 * In the work directory, beside what clang.c leaves: NAME.profdata; defines.csv (unit, function, line: which functions
 * have a body where, so that an object is compiled anew only where a decision on it changes); must.csv (callee, chain:
 * calls that would not link as calls, see write_defines; they are inlined whatever is decided); cache/, objects by what
 * went into them, each with its calls in a table beside it.  Objects are written aside and renamed: any number of
 * builds may share a cache. */
#ifndef MILLRACE_LTO_H
#define MILLRACE_LTO_H
#include "inline/compiler.h"
#include "inline/llvm.h"
#include "inline/tool.h"

/* Each returns NULL or a sentence.  lto_make comes after clang's own layout and adds to its never.csv. */
const char *lto_make(const struct llvm *, const char *work, const struct program *, const char *profile);
const char *lto_build(const struct llvm *, const struct build *, struct live *did);

/* The words of the two commands, without files: what a user's CFLAGS and LDFLAGS need. */
void lto_compile_words(struct args *, const char *level, const char *profile, const char *data);
void lto_link_words(struct args *, const struct llvm *, const char *level);
void lto_replay_words(struct args *, const char *file, bool open, bool link);

/* Lines of a replay file for the decisions of one stage; those that are not inlined only with `open`. */
void lto_replay_text(struct buf *, const struct live *, const char *stage, bool open);
/* From now on these words, and so all builds, also say that code which the profile calls cold is to be small, as gcc
 * makes it; clang by itself does so for programs with a large working set only.  Words of the two stages alone: */
void lto_cold_small(bool on);
void lto_cold_words(struct args *, bool link);
char *lto_profile_path(const char *work, const char *profile); /* NULL for none */
#endif

/* emit.h - take decisions home: files for the user's own build, which then makes the program that was measured.
 *
 * For decisions in the stages of -flto (lto.h).  The lists are open: what they name is decided, yes or no, all other
 * calls are the compiler's, so that code which is edited later falls back to an ordinary build and not to one without
 * any inlining.  What has to be denied is more than what is left in the end: a call is asked about in every function
 * that its caller is inlined into on the way, some of which are gone then.  So the open build is made here and compared
 * with the closed one, and what it inlines besides is denied too, until both inline the same.
 *
 * Written to a directory: compile.replay, link.replay, the profile where there is one, and flags.mk, a fragment of a
 * makefile with CC, AR, RANLIB, CFLAGS and LDFLAGS. */
#ifndef MILLRACE_EMIT_H
#define MILLRACE_EMIT_H
#include "inline/work.h"

struct emitted {
    size_t yes[2], no[2]; /* lines for the compile stage, the link stage */
    size_t rounds;        /* open builds until they agreed */
    size_t differ;        /* calls decided otherwise all the same */
    size_t asked, applied; /* calls that were to be inlined; of them, those that this source still has and inlines */
    bool same_text;       /* the open build's code is that of the closed one, byte for byte */
    double text_bytes, open_text_bytes;
};

/* wanted NULL: the heuristic's own decisions.  Dies where files cannot be written; NULL or a sentence. */
const char *emit_replay(const struct work *, const char *level, const struct live *wanted, const char *directory,
                        struct emitted *);

/* For gcc, by its plugin: decide.txt, gcc.so and flags.mk.  The work directory is one of gcc's; decisions of one whole
 * program, whose calls are asked about when it is linked.  *n: calls to inline. */
const char *emit_gcc(const struct work *, const char *level, const struct live *wanted, const char *directory,
                     size_t *n);
#endif

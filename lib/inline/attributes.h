/* attributes.h - decisions as a patch of the sources: always_inline and noinline where a function's calls agree.
 *
 * An attribute belongs to a function, decisions belong to calls in contexts, so only a part can be said this way: the
 * functions all of whose calls, in every copy and in the end, were inlined, or all were not.  The patch writes the
 * attribute in front of the function's name, at the line where the compiler says that it is defined; where the name is
 * not there with a parenthesis behind it (it comes from a macro, or another file) it is left alone and counted. */
#ifndef MILLRACE_ATTRIBUTES_H
#define MILLRACE_ATTRIBUTES_H
#include "inline/work.h"

struct attributed {
    size_t always, never, mixed, elsewhere; /* functions; mixed: decided both ways; elsewhere: not found in the text */
    size_t calls, expressed;                /* calls that were decided, and those that an attribute speaks for */
    char *top;                              /* the folder in which `patch -p1` is to run */
};

/* wanted NULL: the heuristic's own decisions.  Writes a unified diff to `path`.  NULL or a sentence. */
const char *attributes_patch(const struct work *, const char *level, const struct live *wanted, const char *path,
                             struct attributed *);
#endif

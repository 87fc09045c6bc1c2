/* advise.h - answer LLVM's interactive inliner: one question for every legal call, asked while it compiles.
 *
 * Since LLVM 17 the ML inliner can ask a partner through two named pipes
 * (llvm/lib/Analysis/InteractiveModelRunner.cpp): a line of JSON with the names of the features, then for every call a
 * line {"observation":K}, the features as native 64-bit integers and a line end; the answer is one 64-bit integer,
 * non-zero for inline.  The compiler asks only about legal calls, so no answer can miscompile; the stream has no names
 * of functions. */
#ifndef MILLRACE_ADVISE_H
#define MILLRACE_ADVISE_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ADVISE_FEATURES = 256 };                          /* a compiler has about 20 */

/* {"features":[{"name":"x","type":"int64_t",...}, ...],"advice":...}: the names, copied to the arena; 0 when it is no
 * such header, or has more of them */
size_t advise_header(str text, str name[ADVISE_FEATURES], struct arena *);

struct query {
    size_t number;                                       /* 0, 1, ... in the compiler's order */
    const str *name;                                     /* features, the same for all queries */
    const int64_t *value;
    size_t n;
};

/* Run the compiler command argv (NULL-terminated; the options that open the channel are added) and answer each query
 * with decide(query, closure).  Returns the compiler's exit status, or -1 with a sentence in *why: it did not open the
 * channel, died, or sent something else.  *queries: how many were answered. */
int advise(char *const *argv, bool (*decide)(const struct query *, void *), void *closure, size_t *queries,
           const char **why);
#endif

/* relocate.h - find the calls of a set of decisions again in a source that was edited since.
 *
 * A call is named by its line within its function, so an edit inside a function moves what follows, and one to its
 * head (a declaration of parameters turned into a prototype) moves all.  For each function the distances are counted
 * by which its calls would have to move to stand where the source has a call of the same function in the same column;
 * a call goes by the most frequent distance that leads to such a call.  Where nothing moved that is 0 for all.  Calls
 * that are found nowhere keep their names: they are stale. */
#ifndef MILLRACE_INLINE_RELOCATE_H
#define MILLRACE_INLINE_RELOCATE_H
#include "inline/work.h"

/* *to: empty before, sorted; returns how many calls of the source got another name (0 where its calls are not known) */
size_t live_relocate(const struct work *, const struct live *wanted, struct live *to);
#endif

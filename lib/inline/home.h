/* home.h - decisions taken into the user's own build, by emit.h or attributes.h, and the row that says what came of it.
 *
 * Columns: see the help of inline-emit.  What cannot be done ends the program with a sentence. */
#ifndef MILLRACE_HOME_H
#define MILLRACE_HOME_H
#include "inline/work.h"
#include "table/csvio.h"

struct home {
    const struct work *work;
    const char *level, *directory;
    const struct live *wanted;                           /* NULL: the heuristic's own decisions */
    const char *file;                                    /* where these were read, for messages */
};

/* one row to w; false: the build decides some calls otherwise all the same */
bool home_replay(const struct home *, csvw *w);          /* warns when the decisions are stale */
bool home_attributes(const struct home *, csvw *w);
bool home_gcc(const struct home *, csvw *w);             /* wanted is needed */
#endif

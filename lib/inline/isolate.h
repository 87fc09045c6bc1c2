/* isolate.h - run a program so that it leaves its folder as it was, and say what it would have left there.
 *
 * The run finds its folder where it always is, in a mount namespace of its own: an overlay, whose changes go to a
 * scratch folder.  It has no network.  What it wrote there is hashed: names, modes and contents of the files that it
 * made or changed, names of those that it removed.  Where namespaces or overlays are not allowed, the run has a copy of
 * the folder, and the network of the machine: `how` says so.  Other folders are as they are, to be read and written. */
#ifndef MILLRACE_INLINE_ISOLATE_H
#define MILLRACE_INLINE_ISOLATE_H
#include "measure/child.h"

struct isolated {
    struct ran ran;
    size_t files;                                        /* made, changed or removed; hash 0 for none */
    uint64_t files_hash;
    const char *how;                                     /* "overlay", "copy" */
    const char *why;                                     /* why it was not run; NULL when all is well */
};

/* Several runs, each a child_run of this process in the folder .directory: begin, run, end.  Begun once in
 * the life of a process, which has no network from then on; the folder is as it was before for what follows the end,
 * which tells what the runs together would have left.  NULL or a sentence: nothing was begun. */
struct isolation {
    const char *directory;                               /* where the runs are to be */
    const char *real;
    char *scratch, *changed;
    bool overlaid;
};
const char *isolate_begin(struct isolation *, const char *directory, bool copy);
void isolate_end(struct isolation *, struct isolated *);
#endif

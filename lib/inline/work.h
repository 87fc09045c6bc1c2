/* work.h - the work directory of one program: what inline-module leaves and the other live filters read.
 *
 *   module.bc     the whole program as one module, before any optimisation, only main public
 *   module-Os.bc, module-Oz.bc  the same compiled for size: the attributes differ
 *   program.csv   one row of the table of programs, with the absolute source directory
 *   never.csv     callee,reason: functions that must not be inlined (varargs, setjmp, ...), by the compiler's word */
#ifndef MILLRACE_WORK_H
#define MILLRACE_WORK_H
#include "inline/live.h"
#include "inline/llvm.h"
#include "inline/program.h"

struct work {
    char *path;
    struct program *program;
    struct llvm *llvm;                                   /* the version that made the module */
    char compiler[16];                                   /* "clang-14" */
    struct intern never;
};

void work_make(const char *path, const struct program *, const struct llvm *);   /* compile and write all of it; dies */
struct work *work_open(const char *path);                                        /* dies where it is not one */
const char *work_module(const struct work *, const char *level);                 /* the module for -O2, -O3 or -Oz */

/* May this call be asked for?  Not where the compiler calls the callee never inlinable, nor into itself, nor where the
 * key is not stable: the replay inliner would obey and could miscompile. */
bool work_legal(const struct work *, str callee, str chain);
const char *work_illegal(const struct work *, str callee, str chain);            /* the reason, NULL when legal */

void work_only_legal(const struct work *, const struct live *wanted, struct live *legal);    /* a sorted list */

/* Build under the decisions (NULL: the compiler's heuristic, with an -inline-threshold or NULL) at a level.  *did is
 * what was done; with `sites` also the calls left.  NULL or a sentence. */
const char *work_build(const struct work *, const char *level, const struct live *wanted, const char *threshold,
                       const char *exe, bool sites, struct live *did);
#endif

/* work.h - the work directory of one program: what inline-module leaves and the other live filters read.
 *
 *   program.csv   one row of the table of programs, with the absolute source directory, the compiler, and what is
 *                 compiled at once, and with which profile
 *   units.csv     its compilations, see program.h
 *   calls.csv     the calls of the source whose callee has a body in the same unit: CALL_COLUMNS of compiler.h
 *   never.csv     callee,reason: functions that must not be inlined (varargs, setjmp, ...), by the compiler's word
 *   the rest      the compiler's own: modules or objects, before any inlining; NAME/: the same for another compiler */
#ifndef MILLRACE_WORK_H
#define MILLRACE_WORK_H
#include "inline/calls.h"
#include "inline/compiler.h"
#include "inline/live.h"
#include "inline/llvm.h"
#include "inline/program.h"

struct work {
    char *path;
    struct program *program;
    char compiler[16];                                   /* "clang-14" */
    const struct compiler *adapter;                      /* NULL when missing */
    const char *missing;                                 /* why; NULL when the compiler is there */
    const struct llvm *llvm;                             /* where the compiler is a clang */
    enum build_scope scope;
    char *profile;                                       /* lto: none, fe, irn */
    struct call_row *call;
    size_t ncalls, cap_calls;
    struct intern never;
    const char **never_reason;
    size_t cap_never;
    struct arena text;
};

/* What a compiler that was killed had begun there: clang writes NAME-XXXXXXXX.o.tmp and renames it.  Only
 * names that we give: unit.., module.., numbers. */
void work_remove_begun(const char *directory);
/* Compile and write all of it; dies. */
void work_make(const char *path, const struct program *, const struct compiler *, enum build_scope,
               const char *profile);
/* calls of the source and callees never to be inlined, as the compiler said when the directory was made: read by
 * work_open from calls.csv and never.csv at w->path */
void work_read_calls(struct work *);
struct work *work_open(const char *path);                /* dies where it is not one, not where the compiler is gone */
struct work *work_open_llvm(const char *path);           /* dies too where gcc built it: its modules cannot be built */
/* The same program for another compiler (NULL: the same), in PATH/NAME, made where missing. */
struct work *work_open_for(const char *path, const char *compiler);

/* May this call be asked for?  Not where the compiler calls the callee never inlinable, nor into itself, nor where the
 * key is not stable: the replay inliner would obey and could miscompile. */
bool work_legal(const struct work *, str callee, str chain);
const char *work_illegal(const struct work *, str callee, str chain);            /* the reason, NULL when legal */

/* Why a call that was asked for is not inlined, given what the build did; a sentence valid until the next call. */
const char *work_disobeyed(const struct work *, const struct live_site *asked, const struct live *did);

void work_only_legal(const struct work *, const struct live *wanted, struct live *legal);    /* a sorted list */

/* Build under the decisions (NULL: the compiler's heuristic, with an -inline-threshold or NULL) at a level.  *did is
 * what was done; with `sites` also the calls left.  NULL or a sentence. */
const char *work_build(const struct work *, const char *level, const struct live *wanted, const char *threshold,
                       const char *exe, bool sites, struct live *did);
#endif

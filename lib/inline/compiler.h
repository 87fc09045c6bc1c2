/* compiler.h - one interface to the compilers whose inlining can be decided.
 *
 * A compiler lays a program out in a work directory, once, and then builds it from there under any decisions.  What
 * each can obey differs and is said: `contexts`, whether copies of one call can be decided apart (clang: a replay file
 * names a call with all callers it was inlined into; gcc: a call is decided once).  What happened to a call is always
 * the compiler's own report, never an assumption.  A compiler that is missing or fails is a sentence, not an exit. */
#ifndef MILLRACE_COMPILER_H
#define MILLRACE_COMPILER_H
#include "inline/live.h"
#include "inline/program.h"

/* What is compiled at once: the whole program as one module; each source by itself; or as `-flto` does it, each source
 * up to the link, then all together, decided in both (lto.h). */
enum build_scope { SCOPE_PROGRAM, SCOPE_FILE, SCOPE_LTO };
extern const char *const scope_name[];                   /* program, file, lto */

enum level { LEVEL_O2, LEVEL_O3, LEVEL_OS, LEVEL_OZ };   /* of optimisation */
#define LEVELS "-O2|-O3|-Os|-Oz"
extern const char *const level_name[];

/* rows of tables of options */
#define LEVEL_OPTION(level) { 0, "level", WORD, &(level), LEVELS, "optimisation" }
#define BUILD_OPTIONS(level, compiler)                                                                                 \
    LEVEL_OPTION(level), { 0, "compiler", STR, &(compiler), "NAME", "another compiler than that of WORK" }
#define THRESHOLD_OPTION(threshold) { 0, "threshold", STR, &(threshold), "N", "-inline-threshold of the heuristic" }
#define TIMEOUT_OPTION(limit) { 0, "timeout", NUM, &(limit), "SECONDS", "longest run", 0.001, 1e9 }

struct build {
    const char *work;                                    /* directory that make has filled */
    const struct program *program;
    enum build_scope scope;
    const char *profile;                                 /* lto: none, fe, irn */
    const char *level, *threshold;                       /* "-O2"; threshold NULL: the heuristic's own */
    const struct live *wanted;                           /* sorted; NULL: the heuristic decides */
    bool open;                                           /* lto: it decides about calls that `wanted` does not name */
    const char *exe;                                     /* NULL: only tell what would be done */
    bool sites;                                          /* tell also of the calls that are left */
};

struct compiler {
    char name[16];                                       /* "clang-14", "gcc-12": so tables and decisions call it */
    int version;
    bool contexts;
    const void *tools;
    /* Lay the program out in the directory `work`, with WORK/calls.csv and WORK/never.csv (work.h). */
    const char *(*make)(const struct compiler *, const char *work, const struct program *, enum build_scope,
                        const char *profile);
    /* Add to *did, unsorted, what became of each call. */
    const char *(*build)(const struct compiler *, const struct build *, struct live *did);
};

/* NAME is a family, "clang" or "gcc" (its oldest installed version, so that results do not change when one is added),
 * or a version of it, "clang-19".  NULL and a sentence in *why when it is missing. */
const struct compiler *compiler_find(const char *name, const char **why);

/* The adapters; version 0: the oldest installed. */
struct compiler *clang_find(int version, const char **why);
struct compiler *gcc_find(int version, const char **why);
/* where clang's keeps the modules for a level in a work directory: that of the program, that of unit K */
char *clang_module(const char *work, const char *level);
char *clang_unit(const char *work, const char *level, size_t k);
const struct llvm *compiler_llvm(const struct compiler *);       /* of a clang; NULL for others */
#endif

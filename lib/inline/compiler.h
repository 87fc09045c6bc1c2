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
#include "table/csvio.h"

struct build {
    const char *work;                                    /* directory that make has filled */
    const struct program *program;
    bool per_file;
    const char *level, *threshold;                       /* "-O2"; threshold NULL: the heuristic's own */
    const struct live *wanted;                           /* sorted; NULL: the heuristic decides */
    const char *exe;                                     /* NULL: only tell what would be done */
    bool sites;                                          /* tell also of the calls that are left */
};

struct compiler {
    char name[16];                                       /* "clang-14", "gcc-12": so tables and decisions call it */
    int version;
    bool contexts;
    const void *tools;
    /* Lay the program out in the directory `work`, with WORK/calls.csv and WORK/never.csv (work.h). */
    const char *(*make)(const struct compiler *, const char *work, const struct program *, bool per_file);
    /* Add to *did, unsorted, what became of each call. */
    const char *(*build)(const struct compiler *, const struct build *, struct live *did);
};

/* NAME is a family, "clang" or "gcc" (its oldest installed version, so that results do not change when one is added),
 * or a version of it, "clang-19".  NULL and a sentence in *why when it is missing. */
const struct compiler *compiler_find(const char *name, const char **why);

/* The rows of calls.csv, in source order, as the adapters write them; cost and threshold nan where not known. */
struct call_row { str callee, caller, chain, file; uint32_t line, column; double cost, threshold; };
#define CALL_COLUMNS "callee,caller,chain,file,line,column,cost,threshold"
struct call_tables { csvw *calls, *never; };             /* WORK/calls.csv and WORK/never.csv, headers written */
struct call_tables call_tables_open(const char *work);
void call_tables_close(struct call_tables *);

/* The adapters; version 0: the oldest installed. */
struct compiler *clang_find(int version, const char **why);
struct compiler *gcc_find(int version, const char **why);
const struct llvm *compiler_llvm(const struct compiler *);       /* of a clang; NULL for others */
#endif

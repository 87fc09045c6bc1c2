/* worker.h - build one module again and again under other inlining decisions, in this process, by LLVM's C API.
 *
 * A child process reads the module, marks the calls to be inlined always_inline, keeps LLVM from inlining any other,
 * runs the optimiser's pipeline and generates code into memory; for the next build it reads the module again.  So no
 * driver, no linker and no file stands between two builds, a crash of LLVM is a sentence, and what one build did to the
 * module is forgotten.  Orders of another kind, with an object, remarks or LLVM's own heuristic, have a child each.
 * A decision holds for a call of the source and for all copies of it, unlike the keys of live.h, which tell copies
 * apart.  Code is what clang makes of the same bitcode (t/inline-optimal.t compares the sections byte by byte).
 *
 * What one function becomes depends on what is inlined into it, hardly on the rest of the module.  With `awake` the
 * rest is put to sleep: it stays for the analyses of the whole module, which see its calls and what it uses, and has
 * the attributes that LLVM infers for it when nothing is inlined, but is not optimised.  This is several times faster
 * and not always exact: the caller checks it against builds of the whole.
 *
 * libLLVM-N.so is loaded when the first worker is opened and is not needed to build or start the filter. */
#ifndef MILLRACE_WORKER_H
#define MILLRACE_WORKER_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker_function {
    str name;
    bool local;                                          /* goes when nothing uses it any more */
    bool taken;                                          /* its address is used otherwise than by calling it */
    uint32_t instructions, blocks;                       /* as the source has them, unoptimised */
    const char *never;                                   /* why it cannot be inlined, or always is; NULL: free */
};
struct worker_call {
    uint32_t caller, callee;
    uint32_t arguments, constants;                       /* arguments, and how many of them are constants */
    bool fixed;                                          /* the source says noinline at the call */
};

struct worker {
    struct worker_function *function;                    /* those with a body, in the module's order */
    struct worker_call *call;                            /* direct calls of such, in the module's order */
    size_t nfunctions, ncalls;
    uint64_t hash;                                       /* of the bitcode and the level */
    const char *level;
    struct llvm_state *llvm;
};

struct worker_order {
    const unsigned char *inlined;                        /* of each call; NULL: LLVM's own heuristic decides */
    const unsigned char *wanted;                         /* of each function: generate its code; NULL: of all */
    const unsigned char *awake;                          /* of each function: optimise it; NULL: all */
    const char *threshold;                               /* of the heuristic; NULL: its own */
    const char *object;                                  /* write the object here; NULL: nowhere */
    const char *suffix;                                  /* of the names of local functions in it; NULL: none */
    struct buf *remarks;                                 /* what was inlined, a line each as remarks_parse reads */
};
struct worker_answer {
    double text;                                         /* bytes of the sections with code */
    double *bytes;                                       /* of each function, 0: is gone; with `wanted` only of those */
};

/* level is one of LEVELS (compiler.h); debug: keep what remarks need.  NULL and a sentence in *why. */
struct worker *worker_open(const char *module, int version, const char *level, bool debug, const char **why);

/* bytes is the caller's, nfunctions long.  NULL or a sentence. */
const char *worker_build(struct worker *, const struct worker_order *, struct worker_answer *);
void worker_close(struct worker *);
#endif

/* ir.h - what a text LLVM module says about its functions, its remaining direct calls, and where each came from.
 *
 * Reads the output of `clang -S -emit-llvm` or `opt -S`, versions 14 to 19, typed or opaque pointers: only the lines
 * for define, labels, instructions and the four kinds of debug-info nodes are looked at, whose grammar has not moved.
 * A call's chain is the key of LLVM's replay inliner, innermost first: "h:3:5 @ g:2:3.1 @ f:7:1", each element being
 * FUNCTION:LINE-OFFSET:COLUMN[.DISCRIMINATOR] (see llvm/lib/Analysis/ReplayInlineAdvisor.cpp for the format). */
#ifndef MILLRACE_IR_H
#define MILLRACE_IR_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_function {
    str name;                                            /* symbol */
    bool defined, local;                                 /* has a body here; internal or private linkage */
    uint32_t line;                                       /* of its declaration; 0: no debug info */
    uint32_t blocks, instructions, calls, loads, stores, branches, loops, max_depth, uses, arguments;
};

struct ir_call {
    uint32_t caller, callee;                             /* indices of functions, both defined here */
    str chain;                                           /* empty without debug info */
    str file;                                            /* of the innermost location, "" if not known */
    uint32_t line, column;                               /* in that file */
    size_t at;                                           /* line of the module text that holds the call */
    uint32_t inlined;                                    /* elements of the chain - 1: levels already inlined */
    uint32_t depth;                                      /* loop depth of its block in the caller */
    uint32_t arguments, constants, allocas;              /* actual arguments, how many are literals, are local arrays */
    bool stable; /* no artificial location in the chain: the key can be relied on */
};

struct ir_module {
    struct ir_function *function;
    size_t nfunctions;
    struct ir_call *call;                                /* in the order of the text */
    size_t ncalls;
    struct intern names;                                 /* symbol -> function index */
    struct arena text;
};

void ir_read(struct ir_module *, const char *path);      /* "-" is stdin; dies at path:line on text that is no module */
long ir_find(const struct ir_module *, str symbol);      /* -1 if absent */
void ir_free(struct ir_module *);
#endif

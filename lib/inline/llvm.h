/* llvm.h - drive a stock clang: C sources to one module, a module and a list of inlined calls to an executable.
 *
 * The list is closed: exactly the calls on it are inlined (replay file, scope Module, fallback NeverInline), or, with
 * `original`, the compiler's heuristic decides alone.  What was obeyed is read from the compiler's own remarks, never
 * assumed.  The replay inliner checks no legality, so sites are filtered before: see llvm_discover.
 * Compilers run under limits (CPU time, address space); one that fails or is missing is a result, not an exit. */
#ifndef MILLRACE_LLVM_H
#define MILLRACE_LLVM_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LLVM_FIRST = 14, LLVM_LAST = 19 };                /* those that were tried */
struct llvm { int version; char *clang, *opt, *link, *lld; };  /* lld: NULL where it is not installed */

/* The tools of that version; 0: of that which `clang` is, else the oldest installed of LLVM_FIRST .. LLVM_LAST, so that
 * results do not change when one is added.  NULL and a sentence in *why when they are missing. */
struct llvm *llvm_find(int version, const char **why);
const char *lld_missing(const struct llvm *l);          /* a sentence, NULL where it is there */

struct remark {                                          /* what the compiler said about one call */
    enum { INLINED, TOO_COSTLY, NEVER, OTHER } kind;
    str callee, caller, chain;                           /* chain only when INLINED */
    str reason;                                          /* when NEVER */
    bool forced;                                         /* by an always_inline attribute or the replay file */
    double cost, threshold;                              /* nan when not given */
    uint32_t line, column;                               /* of the call in its source file; 0: not given */
};
struct remarks { struct remark *v; size_t n, cap; struct arena text; };
void remarks_parse(struct remarks *, const char *text, size_t n);
void remarks_sort(struct remarks *);                     /* by callee, caller, line, column, for remark_at */
/* NULL: none was made there */
const struct remark *remark_at(const struct remarks *, str callee, str caller, uint32_t line, uint32_t column);
void remarks_free(struct remarks *);

struct call_list { const str *callee, *chain; size_t n; };   /* calls to inline */

struct llvm_build {
    const char *module;                                  /* bitcode */
    const char *level;                                   /* "-O2" */
    bool original;                                       /* the heuristic decides; calls is not looked at */
    struct call_list calls;
    const char *threshold;                               /* with original: -inline-threshold, NULL for the default */
    bool full_cost; /* costs are added up to the end, not only past the threshold */
    const char *out;                                     /* executable, or text module when `text` */
    bool text;
    bool bitcode;                                        /* out is bitcode, optimised: for the next field */
    bool optimised;                                      /* the module is such a one: generate code, no passes */
    bool object;                                         /* out is an object file, to be linked later */
    bool fixed;                                          /* the code need not be independent of its place */
    char *const *libraries;                              /* "-lm", ..., NULL-terminated; may be NULL */
};

/* Each returns NULL, or a sentence on what went wrong (valid until the next call). */
/* preprocess: in a step of its own, so that every call of a macro has its own column, hence its own key */
const char *llvm_compile(const struct llvm *, const char *source, char *const *flags, const char *directory,
                         bool preprocess, const char *out);
/* link; keep only main public, or with `open` what is */
const char *llvm_merge(const struct llvm *, char *const *modules, bool open, const char *out);
const char *llvm_text(const struct llvm *, const char *module, const char *passes,
                      const char *out); /* passes: NULL for none */
const char *llvm_plain(const struct llvm *, char *const *inputs, char *const *libraries, const char *out);   /* -O1 */
const char *llvm_build(const struct llvm *, const struct llvm_build *, struct remarks *);
#endif

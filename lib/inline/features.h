/* features.h - what is known about a call before deciding: sizes, uses, loops, arguments, cost, executions.
 *
 * Sizes are those after the simplifications that LLVM's inliner sees too (sroa, early-cse, simplifycfg, instcombine);
 * costs are LLVM's own inline cost, added up to the end, for the callee as it is before anything is inlined into it. */
#ifndef MILLRACE_FEATURES_H
#define MILLRACE_FEATURES_H
#include "inline/heat.h"
#include "inline/ir.h"
#include "inline/work.h"

enum { FEATURES = 20 };
extern const char *const feature_name[FEATURES];         /* column names */

struct features {
    struct ir_module base;                               /* the calls of the source, in module order */
    uint64_t *heat;                                      /* of each; NULL when not counted */
    double (*value)[FEATURES];                           /* of each; nan: not known */
    struct intern key;                                   /* "callee base-chain" -> */
    uint32_t *first;                                     /* the first base call with that key */
};

struct features *features_of(const struct work *, bool count);
long features_find(const struct features *, str callee,
                   str chain); /* base call of a copy, by its innermost element; -1 */
#endif

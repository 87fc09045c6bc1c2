/* native.h - kernels as C text: the statements that the encoder writes as code, with intrinsics, and what carries them.
 *
 * One file may hold several kernels; for each there are the functions that image.h names, with the same meaning.  The
 * text needs no flags and no header of ours: functions say by themselves which instructions they may use. */
#ifndef MILLRACE_NATIVE_H
#define MILLRACE_NATIVE_H
#include "loop/code/evaluate.h"
#include "loop/code/image.h"

void native_begin(struct buf *);                         /* what carries; then */
const char *native_emit(struct buf *, const struct image_kernel *);      /* each kernel: NULL, or why it cannot be */

/* compiled with `cc`, or if that is NULL with $CC or cc, and loaded: NULL, or why not; dies where there is none */
struct native {
    void *library;
    void (*run)(float *c, const float *a, const float *b, const float *bias, const float *residual);
};
const char *native_load(struct native *, const struct problem *, const struct nest *, enum isa, const char *cc);
/* seconds of one run on the evaluator's operands, whose kernel is of the same nest and has the weights */
double native_once(const struct native *, const struct evaluator *);
void native_unload(struct native *);

/* compiled with $CC or cc, loaded, checked and timed like evaluate(); dies when there is no compiler.  Not stored. */
struct result native_evaluate(struct evaluator *, const struct nest *);
#endif

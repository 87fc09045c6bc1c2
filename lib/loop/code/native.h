/* native.h - a nest as C text, for people, for other machines and as an oracle of the encoder.
 *
 * The text is a self-contained function void nest(float *c, const float *a, const float *b) in GNU C: the same loops,
 * the same register tile, accumulators as vectors of `lanes` floats (vector extensions; any width compiles anywhere).
 * Kinds without products come out as plain loops. */
#ifndef MILLRACE_NATIVE_H
#define MILLRACE_NATIVE_H
#include "loop/code/evaluate.h"

const char *native_emit(struct buf *, const struct problem *, const struct nest *, int lanes);   /* NULL or a reason */

/* compiled with $CC or cc, loaded, checked and timed like evaluate(); dies when there is no compiler.  Not stored. */
struct result native_evaluate(struct evaluator *, const struct nest *);
#endif

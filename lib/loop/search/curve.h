/* curve.h - the learning curve of a training: rows on standard output, and kept beside the checkpoint, so that a
 * training that goes on, or has ended, prints all of it. */
#ifndef MILLRACE_CURVE_H
#define MILLRACE_CURVE_H
#include "table/csvio.h"

struct point { long episode, steps, updates; double total, explore, loss, states; };     /* nan: not known */
struct curve { const char *algo, *kind; csvw *w; struct point *point; size_t n, cap; };

void curve_open(struct curve *, const char *algo, const char *kind);
void curve_add(struct curve *, struct point);
void curve_save(const struct curve *, const char *checkpoint);   /* in CHECKPOINT.curve, before the checkpoint itself */
void curve_recall(struct curve *, const char *checkpoint, long steps);   /* the rows up to then; dies at file:line */
int curve_close(struct curve *);
#endif

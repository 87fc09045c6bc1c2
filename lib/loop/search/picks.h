/* picks.h - the nests that a search or a roll-out would measure, one row for each, in place of measuring them: ways of
 * choosing are then compared on one measurement of each nest. */
#ifndef MILLRACE_PICKS_H
#define MILLRACE_PICKS_H
#include "loop/code/evaluate.h"

struct picks { struct csvw *w; const char *name; };
/* from now on the evaluator asks the model, and rows problem, algo (name), tree are written; some nests come twice */
void picks_watch(struct picks *, struct evaluator *, struct csvw *, const char *name);
#endif

/* features.h - a nest as numbers to learn from: terms of the model, the shape of the nest, the problem, the machine's
 * table; each is 0 where it does not apply. */
#ifndef MILLRACE_FEATURES_H
#define MILLRACE_FEATURES_H
#include "loop/code/evaluate.h"

enum { NEST_PROBLEM_FEATURES = 15, NEST_FEATURES = 49 };
extern const char *const nest_feature[NEST_FEATURES];    /* the first NEST_PROBLEM_FEATURES are of the problem alone */

struct seen_nest { double f[NEST_FEATURES], seconds; };  /* seconds: the model's */
/* NULL, or why the nest has no code */
const char *nest_features(struct seen_nest *, const struct problem *, const struct nest *, enum isa, bool prepared);
#endif

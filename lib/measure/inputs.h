/* inputs.h - the never-worse rule over all inputs of a program at once: benchmarks are named PROGRAM.INPUT, and a
 * round's value is the mean of their log-ratios.  One input that surely loses keeps the candidate back. */
#ifndef MILLRACE_INPUTS_H
#define MILLRACE_INPUTS_H
#include "measure/guard.h"
#include "measure/runs.h"
#include "measure/sizes.h"
#include "table/csvio.h"

struct inputs_rule {
    struct guard guard;                                  /* its least_gain follows from most_loss */
    double most_loss;                                    /* 0.01: what surely loses less than 1 % may be kept .. */
    const struct sizes *sizes;                           /* .. if it is smaller than the base; NULL: nobody asks */
};

void inputs_names(csvw *);
/* a row for every program and label beside `base`, in order of appearance; columns: bench-guard's help */
void inputs_guard(csvw *, const struct runs *, size_t base, struct inputs_rule);
#endif

/* traces.h - what searches found, read back: for each problem and algo the path to its best nest, and tables over them.
 *
 * A path is a run of rows with the same problem and algo, steps from 0.  Rows of different kind (real, simulated) are
 * never compared: best and base count within a kind, and an algo of two kinds is an error.  Without a column kind it
 * is not known and written empty. */
#ifndef MILLRACE_TRACES_H
#define MILLRACE_TRACES_H
#include "table/csvio.h"

struct trace_path {
    uint32_t problem, algo, kind;
    size_t first, n;                                     /* its steps */
    double base, gflops, seconds, actions;               /* of step 0; of the last known step; nan: not known */
};
struct path_step { double gflops, seconds; };            /* nan: not known */
struct traces {
    struct intern problems, algos, kinds;
    struct trace_path *path;
    struct path_step *step;
    size_t npath, nstep;
    double *base, *best;                                 /* by kind x problem, see trace_at */
};

void traces_read(struct traces *, csv *);                /* to its end; dies at file:line */
/* GFLOPS of the untiled nest by any algo; 0: none */
double trace_base(const struct traces *, const struct trace_path *);
double trace_best(const struct traces *, const struct trace_path *);   /* of the best nest by any algo */
void traces_summary(const struct traces *, csvw *, double peak);   /* rows; header and meaning as in loop-eval's help */
void traces_violin(const struct traces *, csvw *);
void traces_steps(const struct traces *, csvw *, int steps);
#endif

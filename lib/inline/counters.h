/* counters.h - the 51 columns of a pca-data table: one execution of one compiled variant of a program.
 *
 * The original files have no header; ours do.  A row is a step (the path of its execution_stats.sexp); paths with "initial" belong
 * to the program as the compiler leaves it.  N/A becomes an empty field.  The same step may stand there twice, once before
 * and once after its static instruction count was known: it is one step. */
#ifndef MILLRACE_COUNTERS_H
#define MILLRACE_COUNTERS_H
#include "table/csvio.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    COUNTERS = 51,                                       /* columns of the original, 0-based below */
    COUNTER_STEP = 0, COUNTER_HOST = 1, COUNTER_GC = 2, COUNTER_NGC = 14,
    COUNTER_PERF = 18, COUNTER_NPERF = 7,                /* the seven that were divided by the static count */
    COUNTER_STATIC = 49, COUNTER_SECONDS = 50
};
extern const char *const counter_name[COUNTERS];

struct counter_row {
    str step;                                            /* kept in the table's arena */
    double value[COUNTERS];                              /* NAN: not known; [0] and [1] unused */
    bool initial;
};

struct counter_table {                                   /* the rows of one benchmark, in order */
    const char *benchmark;
    struct counter_row *row;
    size_t n, cap;
    size_t n_rows, n_na;                                 /* as found: before counters_dedupe */
};

struct counters { struct counter_table *table; size_t n, cap; struct arena text; };

struct counters counters_read(char **paths);             /* tables made by inline-counters; benchmarks by first appearance */
/* One row per step, the first, with the static count of whichever copy has it.  "current" rows of one step folder and
 * numbered ones are different steps. */
void counters_dedupe(struct counter_table *);
double counters_initial(const struct counter_table *, size_t *n, double *variance);   /* geometric mean; of the logarithms: count, variance */

/* One original file to rows of w: benchmark, the 51 columns, kind.  An empty file gives one row with the benchmark alone. */
void counters_import(const char *path, const char *benchmark, csvw *w);
#endif

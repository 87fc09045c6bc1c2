/* counters.h - tables of executions of compiled variants, one row each: counters, static instruction count, time.
 *
 * A row is a step (in the original the path of its execution_stats.sexp); steps with "initial" in their name belong to
 * the program as the compiler leaves it.  The original files have 51 columns and no header, ours have one and may have
 * other counters.  N/A becomes an empty field.  The same step may stand there twice, once before and once after its
 * static instruction count was known: it is one step. */
#ifndef MILLRACE_COUNTERS_H
#define MILLRACE_COUNTERS_H
#include "table/csvio.h"
#include <stdbool.h>
#include <stddef.h>

enum { COUNTERS = 51 };                                  /* columns of the original */
extern const char *const counter_name[COUNTERS];         /* step, host, ..., static_instructions, seconds */
extern const char counters_plain[], counters_per_instruction[];   /* lists of those that the study's components used */

struct counter_row {
    str step;                                            /* kept in the table's arena */
    double seconds, instructions;                        /* instructions: static; NAN: not known */
    double *value;                                       /* the other columns; NAN: not known */
    bool initial;
};

struct counter_table {                                   /* the rows of one benchmark, in order */
    const char *benchmark;
    struct counter_row *row;
    size_t n, cap;
    /* as found, before counters_dedupe; n_na: rows that lack the static count, or a value in a column that has one in
     * some row of the input */
    size_t n_rows, n_na;
    unsigned kinds;                                      /* of its rows, see table/kind.h */
};

struct counters {
    struct counter_table *table;
    size_t n, cap;
    size_t cols;                                         /* of value */
    char **name;
    struct arena text;
};

/* Columns benchmark, step, seconds; static_instructions and host if there; every other one but kind is a counter.
 * Benchmarks come in order of first appearance; one whose only row has an empty step has no rows. */
struct counters counters_read(char **paths);
/* One row per step, the first, its unknown values from whichever copy has them. */
void counters_dedupe(struct counter_table *, size_t cols);
/* geometric mean of the initial steps; n and variance are those of the logarithms */
double counters_initial(const struct counter_table *, size_t *n, double *variance);

/* One original file to rows of w: benchmark, the 51 columns, kind.  An empty file gives one row with the benchmark
 * alone. */
void counters_import(const char *path, const char *benchmark, csvw *w);
void counters_none(const char *benchmark, csvw *w);      /* that row */
#endif

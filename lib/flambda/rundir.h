/* rundir.h - the run folders of the original study's searches, a row for each execution that they hold.
 *
 * DIR/opt_data/STEP/SUB/execution_stats.sexp, STEP initial or a number, SUB current or a number, in that order:
 * ((raw_execution_time (T T))(worker_hostname H)?(gc_stats STRING)(parsed_gc_stats (...))?(perf_stats (PASS PASS))?), a
 * pass a list of ((name N)(value I)...).  Counters of the collector come from gc_stats where they were not parsed; what
 * is not there is unknown.  instruction_count.txt beside it is the static count; those of `initial` share that of
 * initial/current, whose program they ran. */
#ifndef MILLRACE_RUNDIR_H
#define MILLRACE_RUNDIR_H
#include "table/csvio.h"

/* Rows of w as of counters_import (counters.h); seconds is the geometric mean of the raw times.  Dies when there is no
 * opt_data, and at file:line of what cannot be read.  No execution at all: one row with the benchmark alone. */
void rundir_import(const char *dir, const char *benchmark, csvw *w);
#endif

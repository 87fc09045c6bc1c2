/* calibrate.h - what recording costs a call: from pairs of runs, and the pairs from runs of the user's own program.
 *
 * A table of pairs has a row per repeat: hook, calls, and uninstrumented_ns, instrumented_ns, or instrumented_ns and
 * doubled_ns, optional inside_ns, the part of the cost that falls inside
 * the recorded interval.  The calibration is an s-expression, see prof-correct. */
#ifndef MILLRACE_CALIBRATE_H
#define MILLRACE_CALIBRATE_H
#include "table/csvio.h"
#include "tree/sexp.h"

/* Means and deviations of the rows of t, which is read to its end.  max_spread: largest deviation as a share of the
 * mean, 0: any; dies beyond it. */
void calibration_write(sexpw *, csv *t, double max_spread);

/* Run a command recorded and, as a base, with the recorder loaded but nothing hooked, in turn, `rounds` times each; the
 * environment says how it is recorded, the last run's logs stay in dir.  Costs are CPU time of all threads between
 * their first record and their last, less what the recorder took for itself.  All but the last run have their
 * standard output thrown away.  Leaves dir/pairs.csv and dir/calibration.sexp; returns the exit status of the last run.
 * Dies if a run fails or leaves no log. */
int calibrate_program(const char *dir, char *const command[], int rounds);
#endif

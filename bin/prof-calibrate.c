/* prof-calibrate - what each of the recorder's hooks costs, from pairs of runs
 *
 * Usage: prof-calibrate [--max-spread=RATIO] [FILE]...
 *
 * Columns in: hook, calls (times it ran), uninstrumented_ns, instrumented_ns of
 * the same program; or instrumented_ns and doubled_ns, where every hook ran
 * twice; optional inside_ns, the part of the cost that falls inside the
 * recorded interval.  One row per repeat.  Out: an s-expression
 *   (calibration (host ..) (cost (hook c_wrap) (mean_ns 26.1) (std_ns 1.9)
 *    (min_ns ..) (inside_ns ..) (n 15)) ..)
 * mean and (population) standard deviation of the cost of a call over the
 * repeats.  A negative mean counts as 0, with a warning; a row without calls
 * says nothing.  Repeats that differ too much are refused: measure again.
 *
 * Take the pairs from a short run of the program that is to be corrected: what
 * a call costs depends on what surrounds it (prof-record --calibrate does both).
 * Costs from tight loops (make prof measures such) do for wrapped C functions,
 * to about 5 % of the total on ten programs (8 % at worst), but not for --tree,
 * which also slows down what lies between the calls.
 *
 * Examples:
 *   $ prof-calibrate --max-spread=0.1 pairs.csv > calibration.sexp
 */
#include "base/filter.h"
#include "prof/calibrate.h"
#include HELP

static double max_spread;
static const struct opt options[] = {
    { 0, "max-spread", NUM, &max_spread, "RATIO", "largest deviation as a share of the mean; 0: any" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    sexpw *w = sexpw_open("-");
    calibration_write(w, t, max_spread);
    return sexpw_close(w);
}

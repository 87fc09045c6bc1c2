/* prof-check - is a profile sound?
 *
 * Usage: prof-check EVENTS.csv
 *
 * Columns in: those of events.  Columns out: proc, check, status (pass, warn,
 * fail), value, limit.  Checks, each per process:
 *   wall        all cells together against the stretches in which profiling
 *               was on: 2 % or 1 ms
 *   union       all cells together against the merged intervals: exactly
 *   operation   cells of each operation against its flattened time: exactly
 *   gpu         GPU time at most wall time times devices
 *   async       CUDA calls shorter than the GPU's work: a warning, launches
 *               did not wait
 *   dropped     records lost while recording: none
 *   repaired    empty, reversed, misnested or open intervals: a warning
 *   iterations  all processes have as many: a warning
 * Exit status: 0 sound (warnings allowed), 1 not sound, 2 trouble.
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-check events.csv
 */
#include "base/filter.h"
#include "prof/check.h"
#include HELP

static const struct opt options[] = { { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one file of events expected");
    fail_status = EXIT_USAGE;                            /* 1 is an answer */
    csvw *w = csvw_open("-");
    bool sound = check_profile(argv[i], w);
    csvw_close(w);
    return !sound;
}

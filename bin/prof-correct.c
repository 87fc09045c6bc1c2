/* prof-correct - take the recorder's own cost out of the cells
 *
 * Usage: prof-correct --calibration=FILE --hooks=FILE [CELLS]
 *        prof-correct --placed [CELLS]
 *
 * Columns in: those of cells.  Columns out: the same, total_ns corrected, and
 * raw_ns, removed_ns, clipped_ns, error_ns.  By counts: from each cell goes, for
 * each hook, its cost times the number of intervals that began there (--hooks
 * comes from prof-sweep); of the cost the calibration's inside_ns (or half of
 * mean_ns) falls into the cell that is entered, the rest into the one that is
 * left.  Nothing is taken where the GPU runs: there the cost was hidden.  What
 * a cell cannot give is taken from the largest other cell of the same process,
 * phase and operation that has room, else reported as clipped_ns.  error_ns is
 * one standard error of what was removed, from the calibration's repeats.
 * With --placed, cells in which overhead (ovh:..) was placed as an interval
 * lose it and their CPU categories; cells that become equal are added up.
 * Order as in the input.  Memory: all rows.
 *
 * Examples:
 *   $ prof-sweep --hooks=hooks.csv events.csv > cells.csv
 *   $ prof-correct --calibration=calibration.sexp --hooks=hooks.csv cells.csv
 */
#include "base/filter.h"
#include "prof/correct.h"
#include "table/csvio.h"
#include HELP

static const char *calibration, *hooks;
static bool placed;
static const struct opt options[] = {
    { 'c', "calibration", STR,  &calibration, "FILE", "cost of each hook, from prof-calibrate", 0, 0 },
    {  0,  "hooks",       STR,  &hooks, "FILE", "how often each ran in each cell, from prof-sweep", 0, 0 },
    {  0,  "placed",      FLAG, &placed, NULL, "remove overhead that was placed as intervals", 0, 0 },
    { 0 } };

int main(int argc, char **argv)
{
    struct cells c = { 0 };
    int i = filter_init(argc, argv, help, options);
    filter_operand(argc, argv, i);
    if (placed == (calibration && hooks)) usage("give --calibration and --hooks, or --placed");
    cells_read(&c, argv + i);
    struct correction *r = placed ? correct_placed(&c) : correct_counted(&c, calibration, hooks);
    csvw *w = csvw_open("-");
    csvw_names(w, "proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs,raw_ns,removed_ns,clipped_ns,error_ns");
    csvw_end(w);
    for (size_t k = 0; k < c.n; k++) {
        const struct cell_row *v = &c.v[k];
        csvw_cstr(w, v->proc);
        csvw_cstr(w, v->phase);
        csvw_cstr(w, v->op);
        csvw_cstr(w, v->cats);
        const int64_t n[] = {
            r[k].corrected, v->lo, v->hi, v->runs, v->total, v->total - r[k].corrected, r[k].clipped
        };
        for (size_t f = 0; f < sizeof n / sizeof *n; f++) csvw_int(w, n[f]);
        csvw_num(w, r[k].error);
        csvw_end(w);
    }
    return csvw_close(w);
}

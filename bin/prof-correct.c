/* prof-correct - take the recorder's own cost out of the cells
 *
 * Usage: prof-correct --calibration=FILE --hooks=FILE [OPTION]... [CELLS]
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
 * With --total one row instead: raw_ns, removed_ns, clipped_ns, corrected_ns of
 * all cells together and low_ns, high_ns, an interval.  --repeats has the
 * total_ns of several runs of the same recorded program: their mean takes the
 * place of the cells' own total, and its error enters beside that of the
 * calibration (without it only the latter does).  --against has the total_ns of
 * runs that were not recorded, and adds true_ns, their mean, corrected_ratio to
 * it, low_ratio, high_ratio, in which its error is counted too, and covered: 1 if
 * 1 lies between.  All errors by Student's law (Welch, Satterthwaite). Runs of
 * one round have in common what the machine did meanwhile, so that errors taken
 * as independent come out too small: --pairs, the table from which the costs were
 * taken (prof-record --calibrate leaves it), with a row for each row of --repeats
 * and --against, measured together, takes the differences round by round and
 * their spread.
 *
 * Examples:
 *   $ prof-sweep --hooks=hooks.csv events.csv > cells.csv
 *   $ prof-correct --calibration=calibration.sexp --hooks=hooks.csv cells.csv
 */
#include "base/filter.h"
#include "measure/stats.h"
#include "prof/correct.h"
#include "table/csvio.h"
#include HELP
#include <math.h>

static const char *calibration, *hooks, *repeats, *against, *pairs;
static bool placed, total;
static double confidence = 0.95;
static const struct opt options[] = {
    { 0, "calibration", STR,  &calibration, "FILE", "cost of each hook, from prof-record --calibrate" },
    {  0,  "hooks",       STR,  &hooks, "FILE", "how often each ran in each cell, from prof-sweep" },
    {  0,  "placed",      FLAG, &placed, NULL, "remove overhead that was placed as intervals" },
    {  0,  "total",       FLAG, &total, NULL, "one row for all cells, with an interval" },
    CONFIDENCE_OPTION(confidence, "of that interval, which is two-sided"),
    {  0,  "repeats",     STR,  &repeats, "FILE", "total_ns of repeats of the recorded run" },
    {  0,  "against",     STR,  &against, "FILE", "total_ns of runs that were not recorded" },
    {  0,  "pairs",       STR,  &pairs, "FILE", "the calibration's runs, if made in the rounds of those two" },
    { 0 } };

static int write_total(const struct cells *c, const struct correction *r, struct removed removed)
{
    struct total t = correct_total(c, r, removed, repeats, against, pairs, confidence);
    csvw *w = csvw_open("-");
    csvw_names(w, "raw_ns,removed_ns,clipped_ns,corrected_ns,low_ns,high_ns");
    if (against) csvw_names(w, "true_ns,corrected_ratio,low_ratio,high_ratio,covered");
    csvw_end(w);
    const double v[] = { t.raw, t.taken, t.clipped, t.corrected, t.corrected - t.half, t.corrected + t.half };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) csvw_num(w, round(v[i]));
    if (against) {
        double ratio = t.corrected / t.truth, half = t.half_against / t.truth;
        const double q[] = { round(t.truth), ratio, ratio - half, ratio + half };
        for (size_t i = 0; i < sizeof q / sizeof *q; i++) csvw_num(w, q[i]);
        csvw_int(w, ratio - half <= 1 && ratio + half >= 1);
    }
    csvw_end(w);
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    struct cells c = { 0 };
    int i = filter_init(argc, argv, help, options);
    filter_operand(argc, argv, i);
    if (placed == (calibration && hooks)) usage("give --calibration and --hooks, or --placed");
    if ((repeats || against || pairs) && !total) usage("--repeats, --against and --pairs belong to --total");
    if (pairs && !repeats) usage("--pairs needs --repeats");
    if (total && placed) usage("--total is for --calibration");
    cells_read(&c, argv + i);
    struct removed removed;
    struct correction *r = placed ? correct_placed(&c) : correct_counted(&c, calibration, hooks, &removed);
    if (total) return write_total(&c, r, removed);
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

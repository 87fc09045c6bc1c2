/* prof-view - tables that answer a question, from cells, transitions or raw times
 *
 * Usage: prof-view --view=VIEW [OPTION]... [FILE]...
 *
 * Columns in: those of cells (proc, phase, op, cats, total_ns).  Of the rows,
 * those with an operation and a category count; --noop keeps the others, under
 * operation "".  Columns out, by VIEW, sorted:
 *   metrics      proc, phase, field, value: the IML toolkit's nine times in
 *                seconds and four ratios, over all rows; --raw makes them from
 *                PythonTimeSec, CppAndGPUTimeSec, GPUTimeSec and
 *                GPUAndCudaCppTimeSec, one row of input after the other
 *   resource     proc, resources (CPU, GPU, CPU+GPU), total_ns
 *   subplot      proc, resource, total_ns: CPU, GPU and Total, inclusive
 *   operation    proc, op, resources, total_ns
 *   category     proc, op, resources, cats, total_ns
 *   overhead     proc, overhead, total_ns: "corrected" or the overhead's set
 *   venn         proc, cats, total_ns: each set with all its supersets, with
 *                and without an operation; --exclusive is the way back
 *   transitions  proc, op, category, count, per_pass; in: see prof-sweep
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-view --view=category cells.csv
 *   $ prof-view --view=metrics cells.csv
 */
#include "base/filter.h"
#include "prof/views.h"
#include "table/csvio.h"
#include "table/show.h"
#include HELP
#include <string.h>

static int view = -1;
static bool noop, raw, exclusive;
static double passes;
static bool as_csv;
static const struct opt options[] = {
    { 0, "view",      WORD, &view, VIEWS,
      "which table" },
    {  0,  "noop",      FLAG, &noop, NULL, "keep what ran under no operation" },
    {  0,  "raw",       FLAG, &raw, NULL, "metrics: the input holds raw times, not cells" },
    {  0,  "exclusive", FLAG, &exclusive, NULL, "venn: the input is inclusive, make it exclusive" },
    {  0,  "passes",    NUM,  &passes, "N", "transitions: number of training iterations", 1, 1e18 },
    SHOW_OPTION(as_csv),
    { 0 } };

static int metrics_view(char **paths)
{
    csvw *w = show_open(as_csv);
    csvw_names(w, "proc,phase,field,value");
    csvw_end(w);
    if (raw) metrics_write_raw(w, paths);
    else metrics_write_cells(w, paths);
    return show_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (view < 0) usage("no --view given");
    char **paths = argv + i;
    if (view == VIEW_METRICS) return metrics_view(paths);
    csvw *w = show_open(as_csv);
    if (view == VIEW_TRANSITIONS) view_transitions(w, paths, passes);
    else if (view == VIEW_VENN) view_venn(w, paths, exclusive);
    else view_cells(w, paths, (enum view)view, noop);
    return show_close(w);
}

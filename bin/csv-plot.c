/* csv-plot - a picture of a table
 *
 * Usage: csv-plot -x COL -y COLS [--kind=KIND] [--by=COL] [OPTION]... [FILE]
 *
 * Kinds: line, point and bar draw columns of numbers over -x, which may be
 * texts; box draws the quartiles of -y for each value of -x; hist counts the
 * values of -x; interval draws the number -x with its range, a row for each
 * text of -y.  Each column of -y, and each value of --by, is a series of its
 * own.  The range of a value C is in --low and --high; when not given, in
 * lower_C and upper_C, C_lower and C_upper, or lower and upper, where the
 * table has them.  The title begins with what the column kind says (real,
 * emulated, simulated).  Empty fields and infinities are not drawn,
 * but the range of interval: that goes to the edge.
 *
 * Out: SVG, PNG, or with --term=text letters for a terminal, sixel for one
 * that shows pictures.  Drawn by gnuplot.  Memory: all rows.
 *
 * Examples:
 *   $ csv-plot -x ratio -y loss_ratio --by=network results.csv > loss.svg
 *   $ csv-plot --kind=hist -x cpu_seconds --by=label runs.csv > hist.svg
 *   $ csv-plot --term=text --kind=bar -x name -y seconds t.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "table/input.h"
#include "table/plot.h"
#include HELP
#include <stdlib.h>

static const char *x, *y, *by, *low, *high, *output;
static int kind = -1, axes = -1;
static struct plot p = { .term = PLOT_SVG };
static const struct opt options[] = {
    { 'x', "x", STR, &x, "COL", "along the axis" },
    { 'y', "y", STR, &y, "COLS", "what is drawn over it" },
    { 0, "by", STR, &by, "COL", "a series for each of its values" },
    { 0, "kind", WORD, &kind, "line|point|bar|box|hist|interval", "of picture; default: bar over texts, else line" },
    { 0, "low", STR, &low, "COL", "lower ends of ranges" },
    { 0, "high", STR, &high, "COL", "upper ends" },
    { 0, "log", WORD, &axes, "x|y|xy", "logarithmic axes" },
    { 0, "bins", INT, &p.bins, "N", "of a histogram; 0: chosen", 0, 1000 },
    { 0, "title", STR, &p.title, "TEXT", "above the picture" },
    { 0, "xlabel", STR, &p.xlabel, "TEXT", "instead of the column's name" },
    { 0, "ylabel", STR, &p.ylabel, "TEXT", "instead of the column's name" },
    { 0, "term", WORD, &p.term, "svg|png|text|sixel", "form of the picture" },
    { 0, "width", INT, &p.width, "N", "pixels, of text columns; 0: 900, 100", 0, 10000 },
    { 0, "height", INT, &p.height, "N", "pixels, of text lines; 0: by the kind", 0, 10000 },
    OUTPUT_OPTION(output),
    CSV_INPUT,
    { 0 } };

/* of `lower`: the first of lower_C, C_lower and lower that the table has */
static int range_column(const csv *t, const char *given, const char *end, const char *of)
{
    if (given) return csv_need(t, given);
    char *name[] = { xformat("%s_%s", end, of), xformat("%s_%s", of, end), xstrdup(end) };
    int found = -1;
    for (int k = 0; k < 3; k++) {
        if (found < 0) found = csv_find(t, name[k]);
        free(name[k]);
    }
    return found;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    if (!x && !(kind == PLOT_BOX && y)) usage("no column given, see -x");
    if (!y && kind != PLOT_HIST) usage("no column given, see -y");
    p.x = x ? csv_need(t, x) : -1;
    p.by = by ? csv_need(t, by) : -1;
    if (y) p.y = columns_of(t, y, "y");
    if (kind >= PLOT_BOX && kind != PLOT_HIST && p.y.n > 1) usage("-y: one column for this kind of picture");
    if (kind == PLOT_HIST) p.y.n = 0;
    if (by && kind == PLOT_BOX) usage("--by is not for boxes: a box is of a value of -x");
    const char *of = kind == PLOT_INTERVAL ? x : y;
    p.low = of ? range_column(t, low, "lower", of) : -1;
    p.high = of ? range_column(t, high, "upper", of) : -1;
    if (p.low < 0 || p.high < 0 || p.y.n > 1) p.low = p.high = -1;
    if ((low || high) && p.low < 0) usage("--low and --high go together, and with one column of -y");
    struct table all = table_load(t);
    if (!all.nrow) die("%s: no rows to draw", csv_file(t));
    p.kind = kind >= 0 ? kind : plot_is_text(&all, p.x) ? PLOT_BAR : PLOT_LINE;
    p.log_x = axes == 0 || axes == 2;
    p.log_y = axes == 1 || axes == 2;
    plot_size(&p, &all);
    struct buf script = { 0 };
    plot_script(&script, &all, &p);
    struct out *o = out_open(output);
    plot_draw(&script, out_file(o));
    out_close(o);
    return EXIT_OK;
}

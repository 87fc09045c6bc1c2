/* plot.h - a picture of a table's columns, by gnuplot: lines, points, bars, boxes, histograms, intervals.
 *
 * What goes to gnuplot is text made here; nothing of the table is a command in it: names are quoted, data stand in
 * blocks whose lines begin with a number.  Colours are Tol's, as in plots/house.gp. */
#ifndef MILLRACE_PLOT_H
#define MILLRACE_PLOT_H
#include "table/columns.h"
#include "table/table.h"
#include <stdio.h>

enum plot_kind { PLOT_LINE, PLOT_POINT, PLOT_BAR, PLOT_BOX, PLOT_HIST, PLOT_INTERVAL };
enum plot_term { PLOT_SVG, PLOT_PNG, PLOT_TEXT, PLOT_SIXEL };

struct plot {
    int kind;                                            /* enum plot_kind */
    int term;                                            /* enum plot_term */
    int x, by;                                           /* columns; -1: none (x of a histogram is what is counted) */
    struct columns y;                                    /* one series each, and one for each value of `by` */
    int low, high;                                       /* columns of the interval's ends, or -1 */
    bool log_x, log_y;
    long width, height, bins;                            /* pixels; characters for PLOT_TEXT; 0 bins: chosen */
    const char *title, *xlabel, *ylabel;                 /* NULL: the columns' names, nothing */
};

/* Has the column a field that is no number? */
bool plot_is_text(const struct table *, int col);
/* Width and height where they are 0: as many lines as an interval has rows. */
void plot_size(struct plot *, const struct table *);
/* The script for gnuplot; dies at file:line on what is no number where one is wanted. */
void plot_script(struct buf *, const struct table *, const struct plot *);
/* Runs gnuplot on it, whose picture goes to the stream; dies with its status when it fails. */
void plot_draw(const struct buf *, FILE *);
#endif

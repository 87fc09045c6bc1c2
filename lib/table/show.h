/* show.h - a table for reading: aligned columns, or Markdown; and results that a terminal shows and a pipe gets as CSV.
 *
 * Numbers are rounded to some significant digits, whole ones are not touched; columns of numbers stand to the right.
 * Widths are those of a terminal: East Asian wide characters take two places, combining marks none (Unicode 15). */
#ifndef MILLRACE_SHOW_H
#define MILLRACE_SHOW_H
#include "table/columns.h"
#include <stdio.h>

struct show {
    long rows, width, digits;                            /* 0: all; places of a field, 0: all; significant, 0: as is */
    bool markdown;
};
void show_table(FILE *, csv *, struct columns, const struct show *);   /* what is left of the table, which stays open */

/* A writer for a table that answers a question: where standard output is a terminal and as_csv is false, it is shown
 * aligned when show_close is called; else it is CSV as from csvw_open(NULL). */
csvw *show_open(bool as_csv);
#define SHOW_OPTION(as_csv)                                                                                            \
    { 0, "csv", FLAG, &(as_csv), NULL, "CSV on a terminal too, where else an aligned table is shown" }
int show_close(csvw *);                                  /* as csvw_close */
#endif

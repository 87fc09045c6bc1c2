/* figures.h - the tables behind the study's figures, from the results of runs (columns of place-record) */
#ifndef MILLRACE_PLACE_FIGURES_H
#define MILLRACE_PLACE_FIGURES_H
#include "table/csvio.h"

struct results;
/* What the figure (7 to 12) needs; the last row of a network, batch, formulation and ratio counts. */
struct results *results_read(const char *path, int figure, double price);

/* Header and rows, in the order of the results.  Dies when a run that they are measured against is not there. */
void figure_write(csvw *, const struct results *, int figure);
#endif

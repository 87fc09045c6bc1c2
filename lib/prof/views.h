/* views.h - the reductions of cells that prof-view prints; header and rows are written to w.  See prof-view's help. */
#ifndef MILLRACE_VIEWS_H
#define MILLRACE_VIEWS_H
#include "prof/cells.h"
#include "table/csvio.h"

enum view { VIEW_METRICS, VIEW_RESOURCE, VIEW_SUBPLOT, VIEW_OPERATION, VIEW_CATEGORY, VIEW_OVERHEAD, VIEW_VENN,
            VIEW_TRANSITIONS };
#define VIEWS "metrics|resource|subplot|operation|category|overhead|venn|transitions"

void view_cells(csvw *w, char **paths, enum view, bool noop);   /* resource .. overhead */
void view_venn(csvw *w, char **paths, bool exclusive);
void view_transitions(csvw *w, char **paths, double passes);   /* passes 0: not known */
void metrics_write_cells(csvw *w, char **paths);   /* rows only */
void metrics_write_raw(csvw *w, char **paths);
#endif

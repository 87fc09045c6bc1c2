/* rows.h - the columns that the loop filters share: problem, tree, cursor. */
#ifndef MILLRACE_ROWS_H
#define MILLRACE_ROWS_H
#include "loop/nest/nest.h"
#include "table/csvio.h"

struct nest_rows {                                       /* reads one table; columns tree and cursor may be absent */
    csv *t;
    int problem, tree, cursor;
    struct problem p; /* of the current row; parsed again only when its text changes */
    struct nest nest;                                    /* of the current row: its tree, or the untiled nest */
    bool fresh;                                          /* the problem differs from the row before */
    struct buf last;
};
void rows_open(struct nest_rows *, csv *, bool need_tree);
bool rows_next(struct nest_rows *);                      /* false at the end; dies at file:line */
void rows_close(struct nest_rows *);
void rows_write_tree(csvw *, const struct problem *, const struct nest *);   /* a field */
void rows_write_mask(csvw *, const struct problem *, const struct nest *, unsigned rules);   /* a field */

/* A path of n actions, a row a state from the untiled nest on; numbers of n + 1 states, nan where not known. */
#define PATH_COLUMNS "problem,algo,step,action,tree,gflops,seconds,kind"
void rows_write_path(csvw *, const struct problem *, const char *algo, const int *path, int n, const double *gflops,
                     const double *seconds, bool model);

/* A table that grows by whole problems and may have been cut off by a kill: opened to append, its last problem taken
 * back (its rows may not be all there), the names of the others in `done`.  Dies at a file with another header, or with
 * rows of another algo than this one, and when another process has the file open so. */
csvw *rows_resume(const char *path, const char *columns, const char *algo, struct intern *done);

/* "up,down,split_4" or blanks between; dies with `where` at an unknown action; returns how many, at most max */
int actions_parse(int *actions, int max, str list, const char *where);
int rows_actions(csv *, int column, int *actions, int max);      /* the same of this row's column 'actions' */
#endif

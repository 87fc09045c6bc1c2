/* table.h - a whole CSV table in memory: for what cannot be done row by row.
 *
 * About 16 bytes a field plus its text. */
#ifndef MILLRACE_TABLE_H
#define MILLRACE_TABLE_H
#include "table/csvio.h"

struct table {
    int ncol;
    size_t nrow, cap;
    str *name, *cell;                                    /* cell[row * ncol + col] */
    size_t *line;                                        /* where the row starts in its file */
    const char *file;                                    /* of the first row; for messages */
    struct arena text;
};

struct table table_load(csv *);                          /* what is left of t; t may be closed then */
void table_add(struct table *, const csv *);             /* one more row, the current record */
struct table table_like(const csv *);                    /* no rows yet */
str table_str(const struct table *, size_t row, int col);
double table_num(const struct table *, size_t row, int col);   /* dies at file:line unless a number */
/* the same, integers beyond 2^53 included */
struct exact_number table_exact(const struct table *, size_t row, int col);
void table_write_row(csvw *, const struct table *, size_t row);
void table_write_names(csvw *, const struct table *);
#endif

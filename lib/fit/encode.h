/* encode.h - categories of a table as columns of 0 and 1, one for each value ("one-hot").
 *
 * Values are ordered by their bytes; an empty field is no value.  The same codes give the same columns for any
 * table. */
#ifndef MILLRACE_ENCODE_H
#define MILLRACE_ENCODE_H
#include "table/table.h"

struct column_codes { str *value; size_t n, cap; };      /* sorted; n 0 with value NULL: the column is no category */
struct codes { struct column_codes *of; int ncol; struct arena text; };   /* by column of the table */

struct columns;
/* From the values of these columns, NULL: of all that hold a word; dies when a column has more than `most`. */
struct codes codes_of(const struct table *, const struct columns *, size_t most);
struct codes codes_read(const char *path, const struct table *);     /* dies on a column that the table lacks */
void codes_write(const struct codes *, const struct table *, const char *path);
size_t codes_apply(const struct codes *, const struct table *, csvw *);      /* fields whose value is not known */
#endif

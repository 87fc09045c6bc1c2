/* alike.h - are two fields of tables the same?  Texts that are equal are; so are numbers within a tolerance; a nan is
 * only ever the same as a nan, an infinity as itself. */
#ifndef MILLRACE_TABLE_ALIKE_H
#define MILLRACE_TABLE_ALIKE_H
#include "table/table.h"
#include <stdbool.h>

/* |a - b| <= max(absolute, tol * max(|a|, |b|)), or equal texts; *error is |a - b| / max(|a|, |b|) of two different
 * numbers, otherwise nan */
bool alike(str a, str b, double tol, double absolute, double *error);

/* of fields that are measured: both empty, both finite numbers, or both something else */
bool alike_kind(str a, str b);

struct intern alike_names(const char *list);             /* of "a,b,c", or of NULL none */
/* for each column of left that of right with its name, -1 for those on the list `ignore`; dies where one table lacks a
 * column of the other; caller frees */
int *alike_columns(const struct table *left, const struct table *right, char *const file[2], const char *ignore);
#endif

/* alike.h - are two fields of tables the same?  Texts that are equal are; so are numbers within a tolerance; a nan is
 * only ever the same as a nan, an infinity as itself. */
#ifndef MILLRACE_TABLE_ALIKE_H
#define MILLRACE_TABLE_ALIKE_H
#include "base/str.h"
#include <stdbool.h>

/* |a - b| <= max(absolute, tol * max(|a|, |b|)), or equal texts; *error is |a - b| / max(|a|, |b|) of two different
 * numbers, otherwise nan */
bool alike(str a, str b, double tol, double absolute, double *error);

/* of fields that are measured: both empty, both finite numbers, or both something else */
bool alike_kind(str a, str b);
#endif

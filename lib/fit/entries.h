/* entries.h - a sparse problem from two tables: entries (row, column, value) and targets (row, y).
 *
 * Rows are those of the targets, in their order; columns in order of first appearance.  An entry of a row without a
 * target, or the same entry twice, is an error at its line.  The entries of a row must stand together. */
#ifndef MILLRACE_ENTRIES_H
#define MILLRACE_ENTRIES_H
#include "base/str.h"
#include "fit/model.h"
#include "fit/sparse.h"

struct entries_columns { const char *row, *column, *value, *target; };

struct entries {
    struct sparse a;                                     /* one row per target */
    double *y;
    struct intern rows, columns;
};

struct entries entries_read(const char *entries_path, char **target_paths, const struct entries_columns *);
/* A model of these columns, its weights 0. */
struct model *entries_model(const struct entries *, enum model_kind, const char *target);
#endif

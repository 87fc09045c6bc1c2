/* entries.h - a sparse problem from two tables: entries (row, column, value) and targets (row, y).
 *
 * Rows are those of the targets, in their order; columns in order of first appearance.  An entry of a row without a
 * target, or the same entry twice, is an error at its line.  The entries of a row must stand together. */
#ifndef MILLRACE_ENTRIES_H
#define MILLRACE_ENTRIES_H
#include "base/str.h"
#include "fit/model.h"
#include "fit/sparse.h"

/* Rows of a table of options. */
#define ENTRIES_COLUMNS(path, names)                                                                                   \
    { 0, "entries", STR, &(path), "FILE", "sparse problem: the table of non-zeros" },                                  \
    { 0, "row", STR, &(names).row, "COL", "name of the row, in both tables" },                                         \
    { 0, "column", STR, &(names).column, "COL", "name of the column, in the entries" },                                \
    { 0, "value", STR, &(names).value, "COL", "the entry" }

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

/* entries.c - see entries.h */
#include "fit/entries.h"
#include "base/mem.h"
#include "fit/data.h"
#include "table/csvio.h"
#include <stdlib.h>
#include <string.h>

static void read_targets(struct entries *e, char **paths, const struct entries_columns *c)
{
    csv *t = csv_files(paths);
    int row = csv_need(t, c->row), target = csv_need(t, c->target);
    size_t cap = 0, n = 0;
    while (csv_next(t)) {
        if (intern(&e->rows, csv_str(t, row)) != n) csv_die(t, row, "a row seen once");
        e->y = grow(e->y, n + 1, &cap, sizeof *e->y);
        e->y[n++] = data_value(t, target);
    }
    csv_close(t);
}

/* Entries are kept in file order first, each row a stretch; then the stretches are put in the order of the targets. */
struct entries entries_read(const char *path, char **target_paths, const struct entries_columns *c)
{
    struct entries e = { 0 };
    read_targets(&e, target_paths, c);
    struct sparse found = { 0 };
    size_t *stretch = xcalloc(e.rows.n + 1, sizeof *stretch), cap = 0,
           *seen = NULL; /* 1 + number of the stretch; 1 + last row per column */
    csv *t = csv_open(path);
    int row = csv_need(t, c->row), column = csv_need(t, c->column), value = csv_need(t, c->value);
    long open = -1;
    while (csv_next(t)) {
        long r = intern_find(&e.rows, csv_str(t, row));
        if (r < 0) csv_die(t, row, "a row with a target");
        if (r != open) {
            if (open >= 0) sparse_end_row(&found);
            if (stretch[r]) csv_die(t, row, "next to the other entries of its row");
            stretch[r] = found.rows + 1;
            open = r;
        }
        size_t known = e.columns.n;
        uint32_t j = intern(&e.columns, csv_str(t, column));
        seen = grow(seen, e.columns.n, &cap, sizeof *seen);
        if (j < known && seen[j] == (size_t)r + 1) csv_die(t, column, "an entry seen once in its row");
        seen[j] = (size_t)r + 1;
        sparse_add(&found, j, data_value(t, value));
    }
    if (open >= 0) sparse_end_row(&found);
    csv_close(t);
    free(seen);
    if (!found.start) found.start = xcalloc(1, sizeof *found.start);
    size_t rows = e.rows.n;
    bool ordered = found.rows == rows;
    for (size_t r = 0; r < rows && ordered; r++) ordered = stretch[r] == r + 1;
    if (ordered) {
        e.a = found;
    } else {
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = stretch[r] ? found.start[stretch[r] - 1] : 0; stretch[r] && k < found.start[stretch[r]];
                 k++)
                sparse_add(&e.a, found.column[k], found.value[k]);
            sparse_end_row(&e.a);
        }
        sparse_free(&found);
    }
    e.a.cols = e.columns.n;
    free(stretch);
    return e;
}

struct model *entries_model(const struct entries *e, enum model_kind kind, const char *target)
{
    char **feature = xmalloc(e->columns.n + 1, sizeof *feature);
    for (size_t j = 0; j < e->columns.n; j++)
        feature[j] = xformat("%.*s", (int)e->columns.name[j].n, e->columns.name[j].s);
    struct model *m = model_new(kind, target, NULL, 0, feature, e->columns.n);
    for (size_t j = 0; j < e->columns.n; j++) free(feature[j]);
    free(feature);
    return m;
}

/* csv-pivot - long tables wide, wide tables long
 *
 * Usage: csv-pivot [-k COLS] --names=COL --values=COL [--long] [FILE]...
 *
 * Wide (the default): columns in are the keys COLS, one column of names and one
 * of values; columns out are the keys and one column per different name, with
 * --prefix before it, empty where a key has no such row.  A key that has a
 * name twice is an error.  Order of first appearance, for rows and columns.
 * Memory: the result.
 * Long (--long): columns in are the keys and any others; out comes one row for
 * every other column that is not empty: keys, the column's name, its value.
 * Constant memory.  Columns that are neither are not passed on.
 *
 * Examples:
 *   $ csv-pivot -k network --names=formulation --values=step_seconds results.csv
 *   $ csv-pivot --long -k network --names=formulation --values=seconds w.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include "base/compare.h"
#include "table/columns.h"
#include "table/input.h"
#include HELP
#include <stdlib.h>

static const char *keys, *names, *values, *prefix = "";
static bool to_long;
static const struct opt options[] = {
    { 'k', "key", STR, &keys, "COLS", "columns that stay" },
    { 0, "names", STR, &names, "COL", "the column of names" },
    { 0, "values", STR, &values, "COL", "the column of values" },
    { 0, "prefix", STR, &prefix, "TEXT", "put before every new column's name" },
    { 0, "long", FLAG, &to_long, NULL, "from wide to long" },
    CSV_INPUT,
    { 0 } };

static struct columns key;

static void lengthen(csvw *w, csv *t)
{
    struct columns rest = columns_without(t, key);
    for (int i = 0; i < key.n; i++) csvw_str(w, csv_name(t, key.v[i]));
    csvw_cstr(w, names);
    csvw_cstr(w, values);
    csvw_end(w);
    while (csv_next(t)) {
        for (int k = 0; k < rest.n; k++) {
            if (!csv_has(t, rest.v[k])) continue;
            for (int i = 0; i < key.n; i++) csvw_copy(w, t, key.v[i]);
            csvw_str(w, csv_name(t, rest.v[k]));
            csvw_copy(w, t, rest.v[k]);
            csvw_end(w);
        }
    }
}

struct cell { uint32_t row, name; str value; };

static int by_place(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return ORDER(x->row, y->row) ?: ORDER(x->name, y->name);
}

static void widen(csvw *w, csv *t)
{
    int name_col = csv_need(t, names), value_col = csv_need(t, values);
    struct intern rows = { 0 }, cols = { 0 };
    struct arena text = { 0 };
    struct cell *cell = NULL;
    str *label = NULL;
    size_t n = 0, cap = 0, label_cap = 0, width = (size_t)key.n;
    struct buf b = { 0 };
    buf_add(&b, "", 0);
    while (csv_next(t)) {
        size_t seen = rows.n, row = intern(&rows, columns_key(t, key, &b));
        for (size_t i = 0; row == seen && i < width; i++) {
            label = grow(label, size_mul(row + 1, width), &label_cap, sizeof *label);
            label[row * width + i] = (str){ csv_cstr(t, key.v[i], &text), csv_str(t, key.v[i]).n };
        }
        cell = grow(cell, n + 1, &cap, sizeof *cell);
        str v = csv_str(t, value_col);
        cell[n++] =
            (struct cell){ (uint32_t)row, intern(&cols, csv_str(t, name_col)), { arena_copy(&text, v.s, v.n), v.n } };
    }
    if (n) qsort(cell, n, sizeof *cell, by_place);
    for (int i = 0; i < key.n; i++) csvw_str(w, csv_name(t, key.v[i]));
    for (size_t c = 0; c < cols.n; c++) csvw_format(w, "%s%.*s", prefix, (int)cols.name[c].n, cols.name[c].s);
    if (!key.n && !cols.n) csvw_cstr(w, values);         /* a table has at least one column */
    csvw_end(w);
    for (size_t r = 0, i = 0; r < rows.n; r++) {
        for (size_t k = 0; k < width; k++) csvw_str(w, label[r * width + k]);
        for (size_t c = 0; c < cols.n; c++) {
            if (i == n || cell[i].row != r || cell[i].name != c) {
                csvw_empty(w);
                continue;
            }
            csvw_str(w, cell[i++].value);
            if (i < n && cell[i].row == r && cell[i].name == c)
                die("'%.*s' appears twice with the same key: '%.*s' and '%.*s'", (int)cols.name[c].n, cols.name[c].s,
                    (int)cell[i - 1].value.n, cell[i - 1].value.s, (int)cell[i].value.n, cell[i].value.s);
        }
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (to_long && *prefix) usage("--prefix is for new columns, of which --long makes none");
    if (!names || !values) usage("--names and --values are needed");
    csv *t = csv_files(argv + i);
    if (keys) key = columns_of(t, keys, "--key");
    csvw *w = csvw_open(NULL);
    if (to_long) lengthen(w, t);
    else widen(w, t);
    return csvw_close(w);
}

/* csv-dedupe - one row for every key
 *
 * Usage: csv-dedupe [-k COLS] [--keep=first|last] [FILE]...
 *
 * Columns in: the key COLS; without -k the whole row is the key.  Columns out:
 * the same.  Of the rows with equal keys the first or the last one stays, in
 * its place; a log that was written again holds its newest rows last.  Keys
 * are compared as text.  Memory: all different keys, with --keep=last all rows.
 *
 * Examples:
 *   $ csv-dedupe -k network,batch,formulation,ratio --keep=last results.csv
 */
#include "base/filter.h"
#include "table/columns.h"
#include "table/input.h"
#include "table/table.h"
#include HELP
#include <stdlib.h>
#include <string.h>

static const char *keys;
static enum { FIRST, LAST } which = FIRST;
static const struct opt options[] = {
    { 'k', "key", STR, &keys, "COLS", "columns that make the key" },
    { 0, "keep", WORD, &which, "first|last", "the row that stays" },
    CSV_INPUT,
    { 0 } };

static struct intern seen;
static struct buf b;

static void keep_first(csvw *w, csv *t, struct columns key)
{
    while (csv_next(t)) {
        size_t before = seen.n;
        if (intern(&seen, columns_key(t, key, &b)) < before) continue;
        csvw_copy_all(w, t);
        csvw_end(w);
    }
}

static void keep_last(csvw *w, csv *t, struct columns key)
{
    struct table m = table_like(t);
    uint32_t *key_of = NULL;
    size_t *last = NULL, cap = 0, last_cap = 0;
    while (csv_next(t)) {
        uint32_t k = intern(&seen, columns_key(t, key, &b));
        key_of = grow(key_of, m.nrow + 1, &cap, sizeof *key_of);
        last = grow(last, seen.n, &last_cap, sizeof *last);
        key_of[m.nrow] = k;
        last[k] = m.nrow;
        table_add(&m, t);
    }
    for (size_t row = 0; row < m.nrow; row++) if (last[key_of[row]] == row) table_write_row(w, &m, row);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    struct columns key = keys ? columns_of(t, keys, "--key") : columns_all(t);
    csvw *w = csvw_open(NULL);
    csvw_copy_names(w, t);
    csvw_end(w);
    buf_add(&b, "", 0);
    if (which == FIRST) keep_first(w, t, key);
    else keep_last(w, t, key);
    return csvw_close(w);
}

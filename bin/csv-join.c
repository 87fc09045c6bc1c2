/* csv-join - two tables side by side, where keys agree
 *
 * Usage: csv-join -k COLS [--keep=WHICH] [--suffix=TEXT] LEFT RIGHT
 *
 * Columns in: COLS in both.  Columns out: those of LEFT, then those of RIGHT
 * without COLS; a name that both have gets the suffix on the right.  Rows come
 * in the order of LEFT, several matches in the order of RIGHT.  --keep: only
 * rows that match, all of LEFT (empty fields where nothing matches), all of
 * both (rows only in RIGHT come last), or the rows of LEFT that match nothing.
 * With matched a note says how many rows of LEFT have no partner.
 * Memory: all of RIGHT.  LEFT may be -, standard input.
 *
 * Examples:
 *   $ csv-join -k network,batch results.csv peaks.csv
 *   $ csv-join -k site --keep=unmatched sites.csv done.csv
 */
#include "base/filter.h"
#include "base/message.h"
#include "table/columns.h"
#include "table/input.h"
#include "table/table.h"
#include HELP
#include <stdlib.h>

static const char *keys, *suffix = "_right";
static enum { MATCHED, LEFT, ALL, UNMATCHED } keep = MATCHED;
static bool unique;
static const struct opt options[] = {
    { 'k', "key", STR, &keys, "COLS", "columns whose values must agree" },
    { 0, "keep", WORD, &keep, "matched|left|all|unmatched", "which rows come out" },
    { 0, "suffix", STR, &suffix, "TEXT", "added to a name of RIGHT that LEFT has too" },
    { 0, "unique", FLAG, &unique, NULL, "a key that RIGHT has twice is an error" },
    CSV_INPUT,
    { 0 } };

enum { NONE = -1 };

/* rows of RIGHT with the same key form a chain */
struct chain { long first, last; };

static struct table right;
static struct columns left_key, right_key, right_rest;
static struct intern key_of;
static struct chain *chain;
static long *next;
static bool *used;

static void read_right(const char *path)
{
    csv *t = csv_open(path);
    right_key = columns_of(t, keys, "--key");
    right_rest = columns_without(t, right_key);
    right = table_like(t);
    struct buf b = { 0 };
    size_t next_cap = 0, chain_cap = 0;
    while (csv_next(t)) {
        size_t seen = key_of.n;
        uint32_t k = intern(&key_of, columns_key(t, right_key, &b));
        long row = (long)right.nrow;
        table_add(&right, t);
        next = grow(next, right.nrow, &next_cap, sizeof *next);
        chain = grow(chain, key_of.n, &chain_cap, sizeof *chain);
        next[row] = NONE;
        if (k == seen) {
            chain[k] = (struct chain){ row, row };
            continue;
        }
        if (unique)
            die_at(path, csv_line(t), "a row with this key came before, on line %zu", right.line[chain[k].first]);
        next[chain[k].last] = row;
        chain[k].last = row;
    }
    used = xcalloc(right.nrow, sizeof *used);
    free(b.s);
    csv_close(t);
}

static void write_names(csvw *w, const csv *left, bool both)
{
    csvw_copy_names(w, left);
    for (int i = 0; both && i < right_rest.n; i++) {
        const char *name = right.name[right_rest.v[i]].s;
        csvw_format(w, "%s%s", name, csv_find(left, name) >= 0 ? suffix : "");
    }
    csvw_end(w);
}

static void write_right(csvw *w, long row)
{
    for (int i = 0; i < right_rest.n; i++) {
        if (row == NONE) csvw_empty(w);
        else csvw_str(w, table_str(&right, (size_t)row, right_rest.v[i]));
    }
    csvw_end(w);
}

/* rows of RIGHT that nothing matched: their keys stand in LEFT's key columns */
static void write_unused(csvw *w, const csv *left)
{
    for (size_t row = 0; row < right.nrow; row++) {
        if (used[row]) continue;
        for (int i = 0; i < csv_ncol(left); i++) {
            int k = 0;
            while (k < left_key.n && left_key.v[k] != i) k++;
            if (k < left_key.n) csvw_str(w, table_str(&right, row, right_key.v[k]));
            else csvw_empty(w);
        }
        write_right(w, (long)row);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!keys) usage("no key given, see --key");
    if (argc - i != 2) usage("two tables expected, LEFT and RIGHT");
    bool matched = keep != UNMATCHED, unmatched = keep != MATCHED;
    read_right(argv[i + 1]);
    csv *t = csv_open(argv[i]);
    left_key = columns_of(t, keys, "--key");
    csvw *w = csvw_open(NULL);
    write_names(w, t, matched);
    struct buf b = { 0 };
    size_t rows = 0, partners = 0;
    while (csv_next(t)) {
        long k = intern_find(&key_of, columns_key(t, left_key, &b));
        rows++;
        partners += k >= 0;
        if (k < 0 && unmatched) {
            csvw_copy_all(w, t);
            if (matched) write_right(w, NONE);
            else csvw_end(w);
        }
        for (long row = k < 0 || !matched ? NONE : chain[k].first; row != NONE; row = next[row]) {
            used[row] = true;
            csvw_copy_all(w, t);
            write_right(w, row);
        }
    }
    if (keep == MATCHED && partners < rows && !quiet)
        warn("%zu of %zu rows of %s have no partner in %s", rows - partners, rows, csv_file(t), argv[i + 1]);
    if (keep == ALL) write_unused(w, t);
    return csvw_close(w);
}

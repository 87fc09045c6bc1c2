/* sexp-to-csv - records in s-expressions to rows
 *
 * Usage: sexp-to-csv [--each=KEY[/KEY]...] [--items=NAMES] [-c COLS] [FILE]...
 *
 * A record is a list (HEAD ITEM... (KEY VALUE)...) or ((KEY VALUE)...).  Every
 * top-level expression is one, or with --each the lists one comes to by
 * stepping to the children (KEY ...); the step . goes to all children.
 * Columns out: item1, item2, ... (or NAMES) for the items, and a column for
 * every KEY, in order of first appearance, or just the COLS.  Items are the
 * atoms, and the lists that begin with no name: (), (64 3 3 3), ((a b)).
 * A cell holds the text of a single atom, else the list, or all that follows
 * the KEY, in canonical form.  Empty where a record lacks the key; a key that
 * a record has twice is an error, unless it is not among COLS.
 * Memory: all cells; with -c that of one expression.
 *
 * Examples:
 *   $ sexp-to-csv --each=tensor --items=name graph.sexp
 *   $ sexp-to-csv -c formulation,gap_ratio plan.sexp
 */
#include "base/filter.h"
#include "base/num.h"
#include "table/columns.h"
#include "tree/sexp.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *each, *items, *columns;
static enum sexp_dialect dialect = SEXP_CORE;
static const struct opt options[] = {
    { 0, "each", STR, &each, "PATH", "where the records are" },
    { 0, "items", STR, &items, "NAMES", "names for the items that are atoms" },
    { 'c', "column", STR, &columns, "COLS", "the columns to write" },
    DIALECT_OPTION(dialect),
    { 0 } };

struct cell { size_t row; uint32_t col; str value; };

static struct intern col, item_name;
static struct arena text;
static struct cell *cell;
static size_t ncell, cell_cap, nrow;
static csvw *w;

static void add_cell(const struct sexp *e, snode at, str name, snode value, bool single)
{
    long c = columns ? intern_find(&col, name) : (long)intern(&col, name);
    if (c < 0) return;
    for (size_t i = ncell; i > 0 && cell[i - 1].row == nrow; i--)
        if (cell[i - 1].col == (uint32_t)c) sexp_die(e, at, "the record has '%.*s' twice", (int)name.n, name.s);
    cell = grow(cell, ncell + 1, &cell_cap, sizeof *cell);
    str v = { "", 0 };
    if (sexp_is_atom(e, value) && (single || sexp_after(e, value) == SEXP_NONE)) {
        v = sexp_atom(e, value);
        v.s = arena_copy(&text, v.s, v.n);
    } else if (value != SEXP_NONE) v = sexp_written(e, value, single, &text);
    cell[ncell++] = (struct cell){ nrow, (uint32_t)c, v };
}

static void write_row(size_t *at, size_t row)
{
    static str *value;
    value = xrealloc(value, col.n, sizeof *value);
    for (size_t c = 0; c < col.n; c++) value[c] = (str){ 0 };
    for (; *at < ncell && cell[*at].row == row; ++*at) value[cell[*at].col] = cell[*at].value;
    for (size_t c = 0; c < col.n; c++) csvw_str(w, value[c]);
    csvw_end(w);
}

/* (KEY ..): a list that begins with a name, which no number is */
static bool has_key(const struct sexp *e, snode k)
{
    double v;
    snode key = sexp_is_list(e, k) ? sexp_first(e, k) : SEXP_NONE;
    if (key == SEXP_NONE || !sexp_is_atom(e, key)) return false;
    str name = sexp_atom(e, key);
    return !num_parse(name.s, name.n, &v);
}

static void add_record(const struct sexp *e, snode n)
{
    if (!sexp_is_list(e, n)) sexp_die(e, n, "an atom where a record was expected");
    size_t item = 0;
    for (snode k = sexp_first(e, n); k != SEXP_NONE; k = sexp_after(e, k)) {
        if (has_key(e, k)) {
            snode key = sexp_first(e, k);
            add_cell(e, k, sexp_atom(e, key), sexp_after(e, key), false);
        } else if (k != sexp_first(e, n) || sexp_is_list(e, k)) {
            char name[32];
            snprintf(name, sizeof name, "item%zu", item + 1);
            add_cell(e, k, item < item_name.n ? item_name.name[item] : str_of(name), k, true);
            item++;
        }
    }
    if (columns) {
        size_t at = 0;
        write_row(&at, nrow);
        ncell = 0;
        arena_reset(&text);
    }
    nrow++;
}

static void follow(const struct sexp *e, snode n, const char *step)
{
    if (!step) {
        add_record(e, n);
        return;
    }
    char *key = xformat("%.*s", (int)strcspn(step, "/"), step);
    const char *slash = strchr(step, '/');
    for (snode k = sexp_first(e, n); k != SEXP_NONE; k = sexp_after(e, k))
        if (strcmp(key, ".") == 0 ? sexp_is_list(e, k) : sexp_head(e, k, key)) follow(e, k, slash ? slash + 1 : NULL);
    free(key);
}

static void write_header(void)
{
    if (!col.n) csvw_cstr(w, "item1");                   /* a table has at least one column */
    for (size_t c = 0; c < col.n; c++) csvw_str(w, col.name[c]);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (items) columns_named(&item_name, items, "--items");
    if (columns) columns_named(&col, columns, "--column");
    w = csvw_open(NULL);
    if (columns) write_header();
    sexpr *r = sexp_files(argv + i, dialect);
    for (const struct sexp *e; (e = sexp_next(r));) follow(e, 0, each);
    if (columns) return csvw_close(w);
    write_header();
    for (size_t row = 0, at = 0; row < nrow && col.n; row++) write_row(&at, row);
    return csvw_close(w);
}

/* csv-diff - are two tables the same, within a tolerance?
 *
 * Usage: csv-diff [-k COLS] [--tolerance=X] [--abs=X] [--ignore=COLS]
 *                 LEFT RIGHT
 *
 * Exit status: 0 the same, 1 different, 2 trouble.
 * Columns in: any; both tables must have the same ones, in any order.  Rows are
 * paired by their number, or by the key COLS, which must then be unique.
 * Fields are the same when their texts are, or when both are numbers and
 * |left - right| <= max(abs, tol * max(|left|, |right|)); so a nan is only
 * ever the same as a nan.  Of columns that are measured, --present, only the
 * kind of field is compared: empty, a number, or other text.  Columns out: key
 * (values joined by /, or the row's number), column, left, right, error
 * (|left - right| / max(|left|, |right|), of numbers), what (changed,
 * left_only, right_only); one row per difference, in the order of LEFT.
 * Memory: all rows.
 *
 * Examples:
 *   $ csv-diff -k network,ratio --tolerance=1e-9 --ignore=host old.csv new.csv
 */
#include "base/filter.h"
#include "table/alike.h"
#include "table/columns.h"
#include "table/input.h"
#include "table/table.h"
#include HELP
#include <math.h>
#include <stdlib.h>

static const char *keys, *ignore, *present;
static double tol, absolute;
static const struct opt options[] = {
    { 'k', "key", STR, &keys, "COLS", "pair rows by these columns" },
    { 0, "tolerance", NUM, &tol, "X", "relative tolerance of numbers", 0, INFINITY },
    { 0, "abs", NUM, &absolute, "X", "absolute tolerance of numbers", 0, INFINITY },
    { 0, "ignore", STR, &ignore, "COLS", "columns that are not compared" },
    { 0, "present", STR, &present, "COLS", "measured columns: any number equals any" },
    CSV_INPUT,
    { 0 } };

struct side { struct table m; struct columns key; struct intern keys; long *row; };

static csvw *w;
static bool different;

static struct side read_side(const char *path)
{
    csv *t = csv_open(path);
    struct side s = { .m = table_like(t) };
    if (keys) s.key = columns_of(t, keys, "--key");
    struct buf b = { 0 };
    size_t cap = 0;
    while (csv_next(t)) {
        size_t seen = s.keys.n, row = s.m.nrow;
        b.n = 0;
        if (!keys) buf_format(&b, "%zu", row + 1);
        uint32_t k = intern(&s.keys, keys ? columns_key(t, s.key, &b) : (str){ b.s, b.n });
        if (k < seen) die_at(path, csv_line(t), "a row with this key came before, on line %zu", s.m.line[s.row[k]]);
        s.row = grow(s.row, s.keys.n, &cap, sizeof *s.row);
        s.row[k] = (long)row;
        table_add(&s.m, t);
    }
    free(b.s);
    csv_close(t);
    return s;
}

static void report(const struct side *s, size_t row, str column, const str *left, const str *right, double error,
                   const char *what)
{
    struct buf b = { 0 };
    for (int i = 0; i < s->key.n; i++) {
        if (i) buf_char(&b, '/');
        buf_str(&b, table_str(&s->m, row, s->key.v[i]));
    }
    if (!keys) buf_format(&b, "%zu", row + 1);
    csvw_str(w, (str){ b.s, b.n });
    csvw_str(w, column);
    csvw_str(w, left ? *left : (str){ 0 });
    csvw_str(w, right ? *right : (str){ 0 });
    csvw_known(w, error);
    csvw_cstr(w, what);
    csvw_end(w);
    free(b.s);
    different = true;
}

int main(int argc, char **argv)
{
    fail_status = usage_status = 2;
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 2) usage("two tables expected, LEFT and RIGHT");
    if (isnan(tol) || isnan(absolute)) usage("a tolerance is not nan");
    struct side a = read_side(argv[i]), b = read_side(argv[i + 1]);
    int *to = alike_columns(&a.m, &b.m, argv + i, ignore);
    struct intern measured = alike_names(present);
    w = csvw_open(NULL);
    csvw_names(w, "key,column,left,right,error,what");
    csvw_end(w);
    for (size_t row = 0; row < a.m.nrow; row++) {
        long k = intern_find(&b.keys, a.keys.name[row]);
        if (k < 0) report(&a, row, (str){ 0 }, NULL, NULL, NAN, "left_only");
        for (int c = 0; k >= 0 && c < a.m.ncol; c++) {
            if (to[c] < 0) continue;
            double error = NAN;
            str x = table_str(&a.m, row, c), y = table_str(&b.m, (size_t)b.row[k], to[c]);
            bool timed = intern_find(&measured, a.m.name[c]) >= 0;
            if (timed ? !alike_kind(x, y) : !alike(x, y, tol, absolute, &error))
                report(&a, row, a.m.name[c], &x, &y, error, "changed");
        }
    }
    for (size_t row = 0; row < b.m.nrow; row++)
        if (intern_find(&a.keys, b.keys.name[row]) < 0) report(&b, row, (str){ 0 }, NULL, NULL, NAN, "right_only");
    csvw_close(w);
    return different;
}

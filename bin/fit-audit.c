/* fit-audit - what a table of features cannot tell: dead columns, collisions
 *
 * Usage: fit-audit [-y TARGET] [-x COLS] [FILE]...
 *
 * Columns in: TARGET, a class (optional), and feature columns, numbers or
 * true / false.  Out: item, key, value, one fact a row:
 *   n_rows n_columns rank        of all columns that vary, centred
 *   n_constant, constant         a column that does not vary, and its value
 *   n_equal, equal               a column equal to an earlier one, named
 *   n_collinear, collinear       one that is a multiple (plus a constant)
 *   n_distinct                   different feature vectors
 *   n_colliding                  rows whose vector has other classes too
 *   ceiling_ratio                no function of the features is right on
 *                                more rows than this share
 *   majority_ratio               the commonest class alone
 * Run it before any training.  All rows in memory.
 *
 * Examples:
 *   $ fit-audit -y label --ignore=site,benchmark sites.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/audit.h"
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns = { .classes = true };
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class"),
    CSV_INPUT,
    { 0 } };

static void fact(csvw *w, const char *item, double value)
{
    csvw_cstr(w, item);
    csvw_empty(w);
    csvw_num(w, value);
    csvw_end(w);
}

/* rows of one kind of dead column: how many, then each with what it repeats */
static void dead(csvw *w, const char *item, const struct data *d, const bool *constant, const long *twin)
{
    size_t n = 0;
    for (size_t j = 0; j < d->cols; j++) n += constant ? constant[j] : twin[j] >= 0;
    csvw_format(w, "n_%s", item);
    csvw_empty(w);
    csvw_int(w, (int64_t)n);
    csvw_end(w);
    for (size_t j = 0; j < d->cols; j++) {
        if (constant ? !constant[j] : twin[j] < 0) continue;
        csvw_cstr(w, item);
        csvw_cstr(w, d->feature[j]);
        if (!constant) csvw_cstr(w, d->feature[twin[j]]);
        else if (d->rows) csvw_num(w, d->x[j]);
        else csvw_empty(w);
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct data d = data_read(argv + i, &columns);
    struct audit a = audit_data(&d);
    csvw *w = csvw_open(NULL);
    csvw_names(w, "item,key,value");
    csvw_end(w);
    fact(w, "n_rows", (double)d.rows);
    fact(w, "n_columns", (double)d.cols);
    fact(w, "rank", (double)a.rank);
    dead(w, "constant", &d, a.constant, NULL);
    dead(w, "equal", &d, NULL, a.equal);
    dead(w, "collinear", &d, NULL, a.collinear);
    fact(w, "n_distinct", (double)a.distinct);
    if (columns.target && d.rows) {
        fact(w, "n_colliding", (double)a.colliding);
        fact(w, "ceiling_ratio", (double)a.best / (double)d.rows);
        fact(w, "majority_ratio", (double)a.majority / (double)d.rows);
    }
    return csvw_close(w);
}

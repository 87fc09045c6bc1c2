/* fit-ridge - least squares with a penalty on the squared weights
 *
 * Usage: fit-ridge -y TARGET [options] [FILE]...
 *        fit-ridge -y TARGET --entries=ENTRIES [options] [FILE]...
 *
 * Columns in: TARGET, a number (a class with --classes: then one score per
 * class), and feature columns, numbers or true / false.  Out: the model, an
 * s-expression.  Features that do not vary are left out, numbers are scaled
 * to unit deviation, the intercept is not penalised; --raw takes columns as
 * they are, without intercept.
 *
 * With --entries the problem is sparse: ENTRIES has one row per non-zero
 * (columns --row, --column, --value), FILE one row per equation (--row and
 * TARGET); always raw.  12 bytes an entry; above 6000 rows and columns by
 * conjugate gradients, else by Cholesky in the smaller of primal and dual.
 *
 * A note on stderr gives the objective and the largest gradient.  All rows
 * in memory.
 *
 * Examples:
 *   $ fit-ridge -y seconds -x 'size,depth' --lambda=0.1 runs.csv > model.sexp
 *   $ fit-ridge -y reward --entries=factors.csv --row=run --column=node \
 *         --value=factor --lambda=0.5 times.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/entries.h"
#include "fit/ridge.h"
#include "fit/train.h"
#include "table/input.h"
#include <stdlib.h>

static struct data_columns columns;
static struct entries_columns names = { "row", "column", "value", NULL };
static const char *entries_path, *output;
static enum ridge_method method = RIDGE_AUTO;
static double lambda = 1;
static bool raw;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "what to predict"),
    { 0, "lambda", NUM, &lambda, "L", "weight of the penalty", 1e-300, 1e300 },
    { 0, "classes", FLAG, &columns.classes, NULL, "the target is a class" },
    { 0, "raw", FLAG, &raw, NULL, "no intercept, no scaling, all columns" },
    ENTRIES_COLUMNS(entries_path, names),
    { 0, "method", WORD, &method, "auto|primal|dual|iterative", "how to solve a sparse problem" },
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

static struct model *fit_entries(char **paths)
{
    static const char *const word[] = { "auto", "primal", "dual", "iterative" };
    names.target = columns.target;
    struct entries e = entries_read(entries_path, paths, &names);
    struct model *m = entries_model(&e, MODEL_RIDGE, columns.target);
    struct ridge *r = ridge_new(&e.a, method);
    struct ridge_report f = ridge_solve(r, lambda, e.y, NULL, m->weight + 1);
    if (!quiet)
        warn("%zu rows, %zu columns, %zu entries, by %s; squared error %.12g, gradient %.3g", e.a.rows, e.a.cols,
             e.a.entries, word[ridge_method(r)], f.sse, f.gradient);
    return m;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!columns.target) usage("no target given, see --target");
    if (entries_path && columns.classes) usage("--entries and --classes exclude each other");
    if (entries_path && columns.features.n) usage("--entries are all columns: --features is for a table");
    if (!entries_path && method != RIDGE_AUTO) usage("--method is for --entries");
    struct model *m;
    if (entries_path) {
        m = fit_entries(argv + i);
    } else {
        struct data d = data_read(argv + i, &columns);
        struct train_options o = train_defaults(MODEL_RIDGE);
        struct train_report r;
        o.lambda = lambda;
        o.raw = raw;
        m = train(&d, NULL, d.rows, &o, &r);
        if (!quiet)
            warn("%zu rows, %zu of %zu features; objective %.12g, gradient %.3g", d.rows, m->nfeature, d.cols, r.loss,
                 r.optimality);
    }
    return model_save(m, output);
}

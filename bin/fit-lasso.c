/* fit-lasso - least squares with a penalty on the absolute weights
 *
 * Usage: fit-lasso -y TARGET [--lambda=A | --select=cv|holdout] [options]
 *                  [FILE]...
 *        fit-lasso -y TARGET --entries=ENTRIES [options] [FILE]...
 *
 * Minimises the squared error / (2 rows) + lambda times the sum of absolute
 * weights.  Columns in: TARGET, a number (a class with --classes: then one
 * score per class), and feature columns, numbers or true / false.  Out: the
 * model, an s-expression; weights that are 0 stay in it.  Features that do
 * not vary are left out, numbers are scaled to unit deviation, the intercept
 * is not penalised; --raw takes columns as they are, without intercept.
 *
 * --select=cv chooses lambda by ten-fold cross-validation, where --group
 * names a column whose groups are never split; --select=holdout tries
 * 2^-1 ... 2^-20 on the first fifth of the rows.  --path writes what was
 * tried: lambda, r_squared, chosen.  Both need a number as target.
 *
 * With --entries the problem is sparse: ENTRIES has one row per non-zero
 * (columns --row, --column, --value), FILE one row per equation (--row and
 * TARGET); always raw.  A note on stderr gives the objective and the largest
 * violation of the optimality conditions.  All rows in memory.
 *
 * Examples:
 *   $ fit-lasso -y seconds --select=cv --group=program runs.csv > model.sexp
 */
#include "base/filter.h"
#include HELP
#include "fit/entries.h"
#include "fit/lasso.h"
#include "fit/train.h"
#include "table/input.h"
#include <stdlib.h>

enum { SWEEPS = 100000 };                                /* at most */
static const double tolerance = 1e-9;                    /* optimality wanted */

static struct data_columns columns;
static struct entries_columns names = { "row", "column", "value", NULL };
static const char *entries_path, *output, *path_file;
static enum { NONE, CV, HOLDOUT } select_way = NONE;
static double lambda = 0.01;
static long seed = 1;
static bool raw;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "what to predict"),
    { 'g', "group", STR, &columns.group, "COL", "groups for --select=cv" },
    { 0, "lambda", NUM, &lambda, "L", "weight of the penalty", 1e-300, 1e300 },
    { 0, "select", WORD, &select_way, "none|cv|holdout", "choose lambda by validation" },
    { 0, "path", STR, &path_file, "FILE", "write the lambdas tried there" },
    { 0, "classes", FLAG, &columns.classes, NULL, "the target is a class" },
    { 0, "raw", FLAG, &raw, NULL, "no intercept, no scaling, all columns" },
    ENTRIES_COLUMNS(entries_path, names),
    { 's', "seed", INT, &seed, "N", "for the folds of --select=cv" },
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

static void choose(const struct sparse *by_column, const double *b, const uint32_t *group)
{
    enum lasso_way way = select_way == CV ? LASSO_CV : LASSO_HOLDOUT;
    struct lasso_path p = lasso_choose(by_column, b, group, way, (uint64_t)seed, SWEEPS, 1e-7);
    lambda = p.alpha[p.best];
    if (!path_file) return;
    csvw *w = csvw_open(path_file);
    csvw_names(w, "lambda,r_squared,chosen");
    csvw_end(w);
    for (size_t k = 0; k < p.n; k++) {
        csvw_num(w, p.alpha[k]);
        csvw_num(w, p.r_squared[k]);
        csvw_int(w, k == p.best);
        csvw_end(w);
    }
    csvw_close(w);
}

static struct model *fit_entries(char **paths)
{
    names.target = columns.target;
    struct entries e = entries_read(entries_path, paths, &names);
    struct sparse by_column = sparse_transpose(&e.a);
    sparse_free(&e.a);
    struct model *m = entries_model(&e, MODEL_LASSO, columns.target);
    if (select_way != NONE) choose(&by_column, e.y, NULL);
    struct lasso_report f = lasso_fit(&by_column, e.y, NULL, lambda, SWEEPS, tolerance, m->weight + 1);
    if (!quiet)
        warn("%zu rows, %zu columns; lambda %.12g, objective %.12g, %zu weights, violation %.3g", e.rows.n, e.columns.n,
             lambda, f.objective, f.nonzeros, f.kkt);
    return m;
}

static struct model *fit_table(char **paths)
{
    struct data d = data_read(paths, &columns);
    struct train_options o = train_defaults(MODEL_LASSO);
    struct train_report r;
    o.raw = raw;
    if (select_way != NONE) {
        struct sparse by_column = train_columns(&d, &o);
        choose(&by_column, train_target(&d, &o), columns.group ? d.group : NULL);
    }
    o.lambda = lambda;
    struct model *m = train(&d, NULL, d.rows, &o, &r);
    if (!quiet)
        warn("%zu rows, %zu of %zu features; lambda %.12g, objective %.12g, violation %.3g", d.rows, m->nfeature,
             d.cols, lambda, r.loss, r.optimality);
    return m;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!columns.target) usage("no target given, see --target");
    if (columns.classes && (entries_path || select_way != NONE))
        usage("--classes goes with neither --entries nor --select");
    if (path_file && select_way == NONE) usage("--path writes what --select tries");
    if (entries_path && columns.group) usage("--group is a column of a table, --entries has none");
    struct model *m = entries_path ? fit_entries(argv + i) : fit_table(argv + i);
    return model_save(m, output);
}

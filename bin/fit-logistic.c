/* fit-logistic - multinomial logistic regression
 *
 * Usage: fit-logistic -y TARGET [options] [FILE]...
 *
 * Minimises the mean cross-entropy plus lambda / 2 times the squared weights
 * (not the intercepts) by L-BFGS.  Columns in: TARGET, a class, and feature
 * columns, numbers or true / false.  Out: the model, an s-expression.
 * Features that do not vary are left out, numbers are scaled.  A note on
 * stderr gives the objective and the largest gradient.  All rows in memory.
 *
 * Examples:
 *   $ fit-logistic -y label --ignore=site,benchmark sites.csv > model.sexp
 */
#include "base/filter.h"
#include HELP
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns = { .classes = true };
static const char *output;
static double lambda = 1e-3, tolerance = 1e-7;
static long iterations = 2000;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class to predict"),
    TRAIN_DESCENT(lambda, iterations, tolerance),
    { 'o', "output", STR, &output, "FILE", "write the model there" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!columns.target) usage("no target given, see --target");
    struct train_options o = train_defaults(MODEL_LOGISTIC);
    o.lambda = lambda;
    o.iterations = iterations;
    o.tolerance = tolerance;
    return train_table(argv + i, &columns, &o, output);
}

/* fit-boost - gradient-boosted trees
 *
 * Usage: fit-boost -y TARGET [options] [FILE]...
 *
 * Small regression trees, each fitted to what the ones before left over:
 * softmax loss for a class, squared loss with --number.  Columns in: TARGET,
 * and feature columns, numbers or true / false.  Out: the model, an
 * s-expression, thresholds in scaled units (its scale tells which).
 * Features that do not vary are left out.  Deterministic.  All rows in
 * memory.
 *
 * Examples:
 *   $ fit-boost -y label --rounds=200 --depth=3 sites.csv > model.sexp
 */
#include "base/filter.h"
#include HELP
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns;
static const char *output;
static struct train_options how;
static bool number;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class to predict"),
    TRAIN_NUMBER(number),
    { 'n', "rounds", INT, &how.boost.rounds, "N", "trees per class", 1, 1e6 },
    { 0, "depth", INT, &how.boost.depth, "N", "splits from root to leaf", 1, 30 },
    { 0, "rate", NUM, &how.boost.rate, "R", "share of each tree that is taken", 1e-9, 1 },
    { 0, "lambda", NUM, &how.boost.lambda, "L", "penalty on the leaves", 0, 1e300 },
    { 0, "least", NUM, &how.boost.min_weight, "W", "least weight (hessian) of a leaf", 0, 1e300 },
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    how = train_defaults(MODEL_BOOST);
    int i = filter_init(argc, argv, help, options);
    columns.classes = !number;
    return train_table(argv + i, &columns, &how, output);
}

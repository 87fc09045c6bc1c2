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
static struct train_options how;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class to predict"),
    TRAIN_DESCENT(how),
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    how = train_defaults(MODEL_LOGISTIC);
    int i = filter_init(argc, argv, help, options);
    return train_table(argv + i, &columns, &how, output);
}

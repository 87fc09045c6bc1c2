/* fit-mlp - a small neural network by L-BFGS
 *
 * Usage: fit-mlp -y TARGET [options] [FILE]...
 *
 * ReLU layers and a softmax (with --number: one linear output, squared
 * error); full-batch L-BFGS from a seeded Glorot start; lambda / (2 rows)
 * times the squared weights is added to the mean loss.  Columns in: TARGET,
 * and feature columns, numbers or true / false.  Out: the model, an
 * s-expression.  Features that do not vary are left out, numbers are scaled.
 * A note on stderr gives the objective and the largest gradient.  All rows
 * in memory.
 *
 * Examples:
 *   $ fit-mlp -y label --hidden=32 --seed=7 sites.csv > model.sexp
 */
#include "base/filter.h"
#include HELP
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns;
static const char *output;
static struct train_options how;
static long seed = 1;
static bool number;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class to predict"),
    { 0, "hidden", STR, &how.hidden, "N,N...", "units of the hidden layers" },
    TRAIN_NUMBER(number),
    TRAIN_DESCENT(how),
    { 's', "seed", INT, &seed, "N", "for the starting weights" },
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    how = train_defaults(MODEL_MLP);
    int i = filter_init(argc, argv, help, options);
    columns.classes = !number;
    how.seed = (uint64_t)seed;
    return train_table(argv + i, &columns, &how, output);
}

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
static const char *output, *hidden = "32";
static double lambda = 1e-5, tolerance = 1e-4;
static long iterations = 200, seed = 1;
static bool number;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "the class to predict"),
    { 0, "hidden", STR, &hidden, "N,N...", "units of the hidden layers" },
    { 0, "number", FLAG, &number, NULL, "the target is a number, not a class" },
    TRAIN_DESCENT(lambda, iterations, tolerance),
    { 's', "seed", INT, &seed, "N", "for the starting weights" },
    { 'o', "output", STR, &output, "FILE", "write the model there" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!columns.target) usage("no target given, see --target");
    columns.classes = !number;
    struct train_options o = train_defaults(MODEL_MLP);
    o.lambda = lambda;
    o.iterations = iterations;
    o.tolerance = tolerance;
    o.hidden = hidden;
    o.seed = (uint64_t)seed;
    return train_table(argv + i, &columns, &o, output);
}

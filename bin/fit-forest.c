/* fit-forest - extremely randomised trees
 *
 * Usage: fit-forest -y TARGET [options] [FILE]...
 *
 * The mean of many trees, each grown with cuts drawn at random and the best of
 * them taken; quick to fit and to use, and it learns what is not smooth.
 * Columns in: TARGET, a class or with --number a number, and feature columns,
 * numbers or true / false; with --weight a column that says how much each row
 * counts.  Out: the model, an s-expression, thresholds in scaled units (its
 * scale tells which).  Features that do not vary are left out.  All rows in
 * memory.
 *
 * Examples:
 *   $ fit-forest -y slowdown --number --weight=w nests.csv > model.sexp
 *   $ fit-forest -y label --trees=500 --leaf=1 sites.csv | fit-predict -m - t.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns;
static const char *output;
static struct train_options how;
static bool number;
static long seed = 1;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "what to predict"),
    TRAIN_NUMBER(number),
    { 0, "weight", STR, &columns.weight, "COL", "how much each row counts" },
    { 0, "trees", INT, &how.forest.trees, "N", "trees per class", 1, 1e6 },
    { 0, "leaf", INT, &how.forest.leaf, "N", "least rows of a leaf", 1, 1e9 },
    { 0, "share", NUM, &how.forest.share, "S", "of the features are looked at in a node", 1e-9, 1 },
    { 's', "seed", INT, &seed, "N", "of the draws" },
    MODEL_OUTPUT(output),
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    how = train_defaults(MODEL_FOREST);
    int i = filter_init(argc, argv, help, options);
    columns.classes = !number;
    how.forest.seed = (uint64_t)seed;
    return train_table(argv + i, &columns, &how, output);
}

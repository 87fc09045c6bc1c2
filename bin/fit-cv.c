/* fit-cv - leave one group out: how well models do on what they never saw
 *
 * Usage: fit-cv -y TARGET -g GROUP [--fold=NAME] [options] [FILE]...
 *        fit-cv --pool [--number] [FOLDS]...
 *
 * Columns in: TARGET (a class; a number with --number), GROUP, and feature
 * columns.  Every model is fitted on all groups but one, scaling included,
 * and judged on that one.
 * Out: model, group, n, correct, accuracy_ratio (share of rows right),
 * majority_ratio (the same of always answering the commonest class of the
 * training groups), own_majority_ratio (of the group itself).
 * With --number: model, group, n, mse, mean_mse, r_squared, where mean_mse
 * belongs to the training mean.  The last row of each model, group (all),
 * pools all groups.  Models: constant, ridge, lasso, logistic, mlp, boost,
 * forest, and committee, the mean of logistic, mlp and boost as far as on the
 * list; with --surest, what the surest of them says.  All rows in memory.
 * With --fold only the group NAME is left out, and sums go out instead of
 * ratios: model, group, n, correct, majority, own, sse, base.  With --pool
 * such tables of all groups are read, in the order in which the groups come
 * in the data, and the same bytes go out as from one run over all of them:
 * folds can be fitted side by side, on other machines too.
 *
 * Examples:
 *   $ fit-cv -y label -g benchmark --ignore=site sites.csv
 *   $ fit-cv -y label -g benchmark --fold=lua sites.csv > lua.csv
 *   $ fit-cv --pool lua.csv zlib.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/folds.h"
#include "fit/train.h"
#include "table/input.h"

static struct data_columns columns;
static struct list models;
static const char *fold;
static bool number, pool, surest;
static long seed = 1;
static const struct opt options[] = {
    TRAIN_COLUMNS(columns, "what to predict"),
    { 'g', "group", STR, &columns.group, "COL", "the groups left out in turn" },
    { 0, "models", LIST, &models, "KINDS", "which models (default: all)" },
    TRAIN_NUMBER(number),
    { 0, "surest", FLAG, &surest, NULL, "in a committee the surest member decides" },
    { 0, "fold", STR, &fold, "NAME", "leave out this group alone, and write sums" },
    { 0, "pool", FLAG, &pool, NULL, "read what --fold wrote" },
    { 's', "seed", INT, &seed, "N", "for the starting weights" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (pool) return folds_pool(argv + i, number);
    if (!columns.target) usage("no target given, see --target");
    if (!columns.group) usage("no group given, see --group");
    columns.classes = !number;
    struct intern kinds = { 0 };
    for (int k = 0; k < MODEL_KINDS; k++) intern(&kinds, str_of(model_kind_name[k]));
    const char *odd = data_unmatched(&models, &kinds);
    if (odd) usage("no model is called '%s', see --help", odd);
    struct data d = data_read(argv + i, &columns);
    if (d.groups.n < 2) die("column '%s' has %zu groups, at least 2 are needed", columns.group, d.groups.n);
    struct cv cv = { .data = &d, .number = number, .surest = surest, .seed = (uint64_t)seed };
    for (int k = 0; k < MODEL_KINDS; k++)
        cv.wanted[k] = models.n ? data_matches(&models, kinds.name[k], &kinds) : !(number && k == MODEL_LOGISTIC);
    if (surest && number) usage("no model is sure of a number: --surest or --number");
    if (!fold) return folds_all(&cv, &d.groups);
    long g = intern_find(&d.groups, str_of(fold));
    if (g < 0) die("column '%s' has no group '%s'", columns.group, fold);
    return folds_one(&cv, str_of(fold), (uint32_t)g);
}

/* fit-cv - leave one group out: how well models do on what they never saw
 *
 * Usage: fit-cv -y TARGET -g GROUP [--fold=NAME] [options] [FILE]...
 *        fit-cv --pool [--number] [FOLDS]...
 *
 * Columns in: TARGET (a class; a number with --number), GROUP, and feature
 * columns.  Every model is fitted on all groups but one, scaling included,
 * and judged on that one.
 * Out: model, group, n, correct, accuracy_ratio, majority_ratio,
 * own_majority_ratio: the share of rows right, right by always answering
 * the commonest class of the training groups, and of the group itself.
 * With --number: model, group, n, mse, mean_mse, r_squared, where mean_mse
 * belongs to the training mean.  The last row of each model, group (all),
 * pools all groups.  Models: constant, ridge, lasso, logistic, mlp, boost, and
 * committee, the mean of those of logistic, mlp and boost that are on the
 * list.  All rows in memory.
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
#include "base/checked.h"
#include HELP
#include "fit/cv.h"
#include "table/input.h"
#include "table/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct data_columns columns;
static struct list models;
static const char *fold;
static bool number, pool;
static long seed = 1;
static const struct opt options[] = {
    { 'y', "target", STR, &columns.target, "COL", "what to predict", 0, 0 },
    { 'g', "group", STR, &columns.group, "COL", "the groups left out in turn", 0, 0 },
    { 'x', "features", LIST, &columns.features, "COLS", "feature columns, a,b,c* (default: all others)", 0, 0 },
    { 0, "ignore", LIST, &columns.ignore, "COLS", "columns that are no features", 0, 0 },
    { 0, "models", LIST, &models, "KINDS", "which models (default: all)", 0, 0 },
    { 0, "number", FLAG, &number, NULL, "the target is a number, not a class", 0, 0 },
    { 0, "fold", STR, &fold, "NAME", "leave out this group alone, and write sums", 0, 0 },
    { 0, "pool", FLAG, &pool, NULL, "read what --fold wrote", 0, 0 },
    { 's', "seed", INT, &seed, "N", "for the starting weights", 0, 0 },
    CSV_INPUT,
    { 0, NULL, 0, NULL, NULL, NULL, 0, 0 } };

static bool wanted(int kind)
{
    if (models.n) return data_matches(&models, str_of(model_kind_name[kind]));
    return !(number && kind == MODEL_LOGISTIC);
}

static void write_score(csvw *w, int kind, str group, struct cv_score s)
{
    csvw_cstr(w, model_kind_name[kind]);
    csvw_str(w, group);
    csvw_num(w, s.n);
    csvw_num(w, number ? s.sse / s.n : s.correct);
    csvw_num(w, number ? s.base / s.n : s.correct / s.n);
    csvw_known(w, number ? (s.base > 0 ? 1 - s.sse / s.base : NAN) : s.majority / s.n);
    if (!number) csvw_num(w, s.own / s.n);
    csvw_end(w);
}

/* every group's scores and, in the place behind the last, their sum */
static struct cv_score *scores_of(const struct cv *cv, size_t groups)
{
    struct cv_score *score = xcalloc(size_mul(groups + 1, MODEL_KINDS), sizeof *score);
    for (uint32_t g = 0; g < groups; g++) {
        struct cv_score s[MODEL_KINDS] = { 0 };
        cv_fold(cv, g, s);
        for (int k = 0; k < MODEL_KINDS; k++) {
            score[(size_t)k * (groups + 1) + g] = s[k];
            cv_add(&score[(size_t)k * (groups + 1) + groups], &s[k]);
        }
    }
    return score;
}

static int write_scores(const struct cv_score *score, const bool *want, const struct intern *group)
{
    csvw *w = csvw_open(NULL);
    csvw_names(w, number ? "model,group,n,mse,mean_mse,r_squared"
                         : "model,group,n,correct,accuracy_ratio,majority_ratio,own_majority_ratio");
    csvw_end(w);
    for (int k = 0; k < MODEL_KINDS; k++)
        for (size_t g = 0; want[k] && g <= group->n; g++)
            write_score(w, k, g < group->n ? group->name[g] : str_of("(all)"), score[(size_t)k * (group->n + 1) + g]);
    return csvw_close(w);
}

static int write_fold(const struct cv *cv, str group, uint32_t g)
{
    struct cv_score s[MODEL_KINDS] = { 0 };
    cv_fold(cv, g, s);
    csvw *w = csvw_open(NULL);
    csvw_names(w, "model,group,n,correct,majority,own,sse,base");
    csvw_end(w);
    for (int k = 0; k < MODEL_KINDS; k++) {
        if (!cv->wanted[k]) continue;
        csvw_cstr(w, model_kind_name[k]);
        csvw_str(w, group);
        const double v[] = { s[k].n, s[k].correct, s[k].majority, s[k].own, s[k].sse, s[k].base };
        for (size_t i = 0; i < sizeof v / sizeof *v; i++) csvw_num(w, v[i]);
        csvw_end(w);
    }
    return csvw_close(w);
}

static int pool_folds(char **files)
{
    static const char *const names[] = { "n", "correct", "majority", "own", "sse", "base" };
    csv *t = csv_files(files);
    int model = csv_need(t, "model"), group = csv_need(t, "group"), col[6];
    for (int i = 0; i < 6; i++) col[i] = csv_need(t, names[i]);
    struct table rows = table_load(t);
    struct intern groups = { 0 };
    for (size_t r = 0; r < rows.nrow; r++) intern(&groups, table_str(&rows, r, group));
    struct cv_score *score = xcalloc(size_mul(groups.n + 1, MODEL_KINDS), sizeof *score);
    bool want[MODEL_KINDS] = { 0 };
    for (size_t r = 0; r < rows.nrow; r++) {
        int k = 0;
        while (k < MODEL_KINDS && !str_is(table_str(&rows, r, model), model_kind_name[k])) k++;
        if (k == MODEL_KINDS) die_at(rows.file, rows.line[r], "'%.*s' is no model",
                                     (int)table_str(&rows, r, model).n, table_str(&rows, r, model).s);
        double v[6];
        for (int i = 0; i < 6; i++) v[i] = table_num(&rows, r, col[i]);
        struct cv_score s = { v[0], v[1], v[2], v[3], v[4], v[5] };
        size_t at = (size_t)k * (groups.n + 1), g = intern(&groups, table_str(&rows, r, group));
        if (score[at + g].n) die_at(rows.file, rows.line[r], "a second fold of this group and model");
        score[at + g] = s;
        cv_add(&score[at + groups.n], &s);
        want[k] = true;
    }
    return write_scores(score, want, &groups);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (pool) return pool_folds(argv + i);
    if (!columns.target) usage("no target given, see --target");
    if (!columns.group) usage("no group given, see --group");
    columns.classes = !number;
    struct data d = data_read(argv + i, &columns);
    if (d.groups.n < 2) die("column '%s' has %zu groups, at least 2 are needed", columns.group, d.groups.n);
    struct cv cv = { .data = &d, .number = number, .seed = (uint64_t)seed };
    for (int k = 0; k < MODEL_KINDS; k++) cv.wanted[k] = wanted(k);
    if (!fold) return write_scores(scores_of(&cv, d.groups.n), cv.wanted, &d.groups);
    long g = intern_find(&d.groups, str_of(fold));
    if (g < 0) die("column '%s' has no group '%s'", columns.group, fold);
    return write_fold(&cv, str_of(fold), (uint32_t)g);
}

/* fit-cv - leave one group out: how well models do on what they never saw
 *
 * Usage: fit-cv -y TARGET -g GROUP [--models=KIND,...] [options] [FILE]...
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
 *
 * Examples:
 *   $ fit-cv -y label -g benchmark --ignore=site sites.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/train.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct data_columns columns;
static struct list models;
static bool number;
static long seed = 1;
static const struct opt options[] = {
    { 'y', "target", STR, &columns.target, "COL", "what to predict", 0, 0 },
    { 'g', "group", STR, &columns.group, "COL", "the groups left out in turn", 0, 0 },
    { 'x', "features", LIST, &columns.features, "COLS", "feature columns, a,b,c* (default: all others)", 0, 0 },
    { 0, "ignore", LIST, &columns.ignore, "COLS", "columns that are no features", 0, 0 },
    { 0, "models", LIST, &models, "KINDS", "which models (default: all)", 0, 0 },
    { 0, "number", FLAG, &number, NULL, "the target is a number, not a class", 0, 0 },
    { 's', "seed", INT, &seed, "N", "for the starting weights", 0, 0 },
    { 0, NULL, 0, NULL, NULL, NULL, 0, 0 } };

struct score { double n, correct, majority, own, sse, base; };

static bool wanted(int kind)
{
    if (models.n) return data_matches(&models, str_of(model_kind_name[kind]));
    return !(number && kind == MODEL_LOGISTIC);
}

static void write_score(csvw *w, int kind, str group, struct score s)
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

/* the members of a committee are features-compatible by name, so they may have dropped different columns */
static void gather(const struct data *d, const struct model *m, size_t row, size_t *from, double *x)
{
    if (from[0] == SIZE_MAX)
        for (size_t j = 0, k = 0; j < m->nfeature; j++, k = 0) {
            while (strcmp(d->feature[k], m->feature[j])) k++;
            from[j] = k;
        }
    for (size_t j = 0; j < m->nfeature; j++) x[j] = d->x[row * d->cols + from[j]];
}

static struct score judge(const struct data *d, const struct model *m, const struct model *constant, uint32_t group)
{
    struct score s = { 0 };
    double out[MODEL_MAX_CLASSES], own[MODEL_MAX_CLASSES] = { 0 }, *x = xmalloc(d->cols + 1, sizeof *x);
    size_t *from = xmalloc(d->cols + 1, sizeof *from);
    from[0] = SIZE_MAX;
    for (size_t i = 0; i < d->rows; i++) {
        if (d->group[i] != group) continue;
        gather(d, m, i, from, x);
        model_predict(m, x, out);
        s.n++;
        s.sse += pow(out[0] - d->y[i], 2);
        s.base += pow(constant->weight[0] - d->y[i], 2);
        if (number) continue;
        s.correct += model_choose(m, out) == (int)d->y[i];
        s.majority += model_choose(constant, constant->weight) == (int)d->y[i];
        s.own = fmax(s.own, ++own[(int)d->y[i]]);
    }
    free(from);
    free(x);
    return s;
}

/* fits every model without the group; committee last, from what is there */
static void fit_without(const struct data *d, uint32_t group, struct model **m)
{
    uint32_t *row = xmalloc(d->rows + 1, sizeof *row);
    size_t n = 0;
    for (size_t i = 0; i < d->rows; i++)
        if (d->group[i] != group) row[n++] = (uint32_t)i;
    for (int k = 0; k < MODEL_KINDS; k++) {
        struct train_options o = train_defaults((enum model_kind)k);
        o.seed = (uint64_t)seed;
        m[k] = k == MODEL_CONSTANT || (k != MODEL_COMMITTEE && wanted(k)) ? train(d, row, n, &o, NULL) : NULL;
    }
    free(row);
    if (!wanted(MODEL_COMMITTEE)) return;
    m[MODEL_COMMITTEE] = model_new(MODEL_COMMITTEE, d->target, d->class, d->nclass, NULL, 0);
    for (int k = MODEL_LOGISTIC; k <= MODEL_BOOST; k++)
        if (m[k]) model_add(m[MODEL_COMMITTEE], m[k]);
    if (!m[MODEL_COMMITTEE]->nmember) usage("a committee needs logistic, mlp or boost on the list of --models");
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!columns.target) usage("no target given, see --target");
    if (!columns.group) usage("no group given, see --group");
    columns.classes = !number;
    struct data d = data_read(argv + i, &columns);
    if (d.groups.n < 2) die("column '%s' has %zu groups, at least 2 are needed", columns.group, d.groups.n);
    struct score *score = xcalloc(MODEL_KINDS * (d.groups.n + 1), sizeof *score);
    for (uint32_t g = 0; g < d.groups.n; g++) {
        struct model *m[MODEL_KINDS] = { 0 };
        fit_without(&d, g, m);
        for (int k = 0; k < MODEL_KINDS; k++) {
            if (!wanted(k)) continue;
            struct score s = judge(&d, m[k], m[MODEL_CONSTANT], g),
                         *all = &score[(size_t)k * (d.groups.n + 1) + d.groups.n];
            score[(size_t)k * (d.groups.n + 1) + g] = s;
            *all = (struct score){ all->n + s.n, all->correct + s.correct, all->majority + s.majority, all->own + s.own,
                                   all->sse + s.sse, all->base + s.base };
        }
        for (int k = 0; k < MODEL_KINDS; k++)            /* a committee owns its members */
            if (m[k] && !(m[MODEL_COMMITTEE] && k >= MODEL_LOGISTIC && k <= MODEL_BOOST)) model_free(m[k]);
    }
    csvw *w = csvw_open(NULL);
    csvw_names(w, number ? "model,group,n,mse,mean_mse,r_squared"
                         : "model,group,n,correct,accuracy_ratio,majority_ratio,own_majority_ratio");
    csvw_end(w);
    for (int k = 0; k < MODEL_KINDS; k++)
        for (size_t g = 0; wanted(k) && g <= d.groups.n; g++)
            write_score(w, k, g < d.groups.n ? d.groups.name[g] : str_of("(all)"),
                        score[(size_t)k * (d.groups.n + 1) + g]);
    return csvw_close(w);
}

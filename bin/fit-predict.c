/* fit-predict - apply a fitted model to a table
 *
 * Usage: fit-predict -m MODEL [--probabilities | --score] [FILE]...
 *
 * Columns in: the features of MODEL (any order).  Out: all columns, and
 * `predicted`: the class, or the number; with --probabilities also p_CLASS
 * for every class.  Row for row, constant memory.
 *
 * With --score the table also has the column that MODEL predicts, and one
 * row comes out, how well it does: n_rows and, for a class, accuracy_ratio,
 * majority_ratio (of always answering the class that is most frequent here)
 * and log_loss (mean, in nats; inf: a class got no probability at all); for
 * a number rmse, mae (root of the mean square and mean of the errors, in
 * its unit) and r_squared (1: exact, 0: no better than its mean here).
 *
 * Examples:
 *   $ fit-predict -m model.sexp sites.csv
 *   $ fit-predict -m model.sexp --score test.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/data.h"
#include "fit/model.h"
#include "fit/score.h"
#include "table/input.h"

static const char *model_path, *name;
static bool probabilities, score;
static const struct opt options[] = {
    { 'm', "model", STR, &model_path, "FILE", "the model" },
    { 0, "name", STR, &name, "COL", "name of the new column [predicted]" },
    { 0, "probabilities", FLAG, &probabilities, NULL, "also one column per class" },
    { 0, "score", FLAG, &score, NULL, "only how well it predicts" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!model_path) usage("no model given, see --model");
    if (score && (probabilities || name)) usage("--score adds no columns: neither --probabilities nor --name");
    if (!name) name = "predicted";
    struct model *m = model_read(model_path);
    csv *t = csv_files(argv + i);
    csvw *w = csvw_open(NULL);
    int *col = xmalloc(m->nfeature + 1, sizeof *col);
    double *x = xmalloc(m->nfeature + 1, sizeof *x), out[MODEL_MAX_CLASSES];
    for (size_t j = 0; j < m->nfeature; j++) col[j] = csv_need(t, m->feature[j]);
    if (score) {
        struct score s = { .model = m };
        int target = csv_need(t, m->target);
        while (csv_next(t)) {
            for (size_t j = 0; j < m->nfeature; j++) x[j] = data_value(t, col[j]);
            score_add(&s, x, t, target);
        }
        if (!s.n) die("%s: no rows to score", csv_file(t));
        score_write(&s, w);
        return csvw_close(w);
    }
    csvw_copy_names(w, t);
    csvw_cstr(w, name);
    for (int c = 0; probabilities && c < m->nclass; c++) csvw_format(w, "p_%s", m->class[c]);
    csvw_end(w);
    while (csv_next(t)) {
        for (size_t j = 0; j < m->nfeature; j++) x[j] = data_value(t, col[j]);
        model_predict(m, x, out);
        csvw_copy_all(w, t);
        if (m->nclass) csvw_cstr(w, m->class[model_choose(m, out)]);
        else csvw_num(w, out[0]);
        for (int c = 0; probabilities && c < m->nclass; c++) csvw_num(w, out[c]);
        csvw_end(w);
    }
    return csvw_close(w);
}

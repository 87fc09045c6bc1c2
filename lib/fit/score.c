/* score.c - see score.h */
#include "fit/score.h"
#include "fit/data.h"
#include <math.h>

static void add_class(struct score *s, const double *out, str answer)
{
    uint32_t id = intern(&s->classes, answer);
    size_t before = s->cap;
    s->count = grow(s->count, s->classes.n, &s->cap, sizeof *s->count);
    if (s->cap > before) memset(s->count + before, 0, (s->cap - before) * sizeof *s->count);
    s->count[id]++;
    s->right += str_is(answer, s->model->class[model_choose(s->model, out)]);
    double p = 0;
    for (int c = 0; c < s->model->nclass; c++) if (str_is(answer, s->model->class[c])) p = out[c];
    s->loss -= log(fmin(fmax(p, 0), 1));
}

static void add_number(struct score *s, double predicted, double answer)
{
    double from = answer - s->mean;
    s->mean += from / (double)s->n;
    s->square += from * (answer - s->mean);
    s->error_square += (predicted - answer) * (predicted - answer);
    s->error += fabs(predicted - answer);
}

void score_add(struct score *s, const double *x, const csv *t, int target)
{
    double out[MODEL_MAX_CLASSES];
    model_predict(s->model, x, out);
    s->n++;
    if (s->model->nclass) add_class(s, out, csv_str(t, target));
    else add_number(s, out[0], data_value(t, target));
}

void score_write(const struct score *s, csvw *w)
{
    double n = (double)s->n;
    csvw_names(w, s->model->nclass ? "n_rows,accuracy_ratio,majority_ratio,log_loss" : "n_rows,rmse,mae,r_squared");
    csvw_end(w);
    csvw_int(w, (int64_t)s->n);
    if (s->model->nclass) {
        size_t most = 0;
        for (size_t c = 0; c < s->classes.n; c++) if (s->count[c] > most) most = s->count[c];
        csvw_num(w, (double)s->right / n);
        csvw_num(w, (double)most / n);
        csvw_num(w, s->loss / n + 0.0);
    } else {
        csvw_num(w, sqrt(s->error_square / n));
        csvw_num(w, s->error / n);
        csvw_known(w, s->square > 0 ? 1 - s->error_square / s->square : NAN);
    }
    csvw_end(w);
}

/* cv.c - see cv.h */
#include "fit/cv.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct cv_score judge(const struct cv *cv, const struct model *m, const struct model *constant, uint32_t group)
{
    const struct data *d = cv->data;
    struct cv_score s = { 0 };
    double out[MODEL_MAX_CLASSES], own[MODEL_MAX_CLASSES] = { 0 }, *x = xmalloc(d->cols + 1, sizeof *x);
    size_t *from = xmalloc(d->cols + 1, sizeof *from);
    from[0] = SIZE_MAX;
    for (size_t i = 0; i < d->rows; i++) {
        if (d->group[i] != group) continue;
        gather(d, m, i, from, x);
        model_predict(m, x, out);
        s.n++;
        if (cv->number) {
            s.sse += pow(out[0] - d->y[i], 2);
            s.base += pow(constant->weight[0] - d->y[i], 2);
            continue;
        }
        s.correct += model_choose(m, out) == (int)d->y[i];
        s.majority += model_choose(constant, constant->weight) == (int)d->y[i];
        s.own = fmax(s.own, ++own[(int)d->y[i]]);
    }
    free(from);
    free(x);
    return s;
}

/* fits every model without the group; committee last, from what is there */
static void fit_without(const struct cv *cv, uint32_t group, struct model **m)
{
    const struct data *d = cv->data;
    uint32_t *row = xmalloc(d->rows + 1, sizeof *row);
    size_t n = 0;
    for (size_t i = 0; i < d->rows; i++)
        if (d->group[i] != group) row[n++] = (uint32_t)i;
    for (int k = 0; k < MODEL_KINDS; k++) {
        struct train_options o = train_defaults((enum model_kind)k);
        o.seed = cv->seed;
        m[k] = k == MODEL_CONSTANT || (k != MODEL_COMMITTEE && cv->wanted[k]) ? train(d, row, n, &o, NULL) : NULL;
    }
    free(row);
    if (!cv->wanted[MODEL_COMMITTEE]) return;
    m[MODEL_COMMITTEE] = model_new(MODEL_COMMITTEE, d->target, d->class, d->nclass, NULL, 0);
    m[MODEL_COMMITTEE]->surest = cv->surest;
    for (int k = MODEL_LOGISTIC; k <= MODEL_BOOST; k++)
        if (m[k]) model_add(m[MODEL_COMMITTEE], m[k]);
    if (!m[MODEL_COMMITTEE]->nmember) usage("a committee needs logistic, mlp or boost on the list of --models");
}

void cv_fold(const struct cv *cv, uint32_t group, struct cv_score score[MODEL_KINDS])
{
    struct model *m[MODEL_KINDS] = { 0 };
    fit_without(cv, group, m);
    for (int k = 0; k < MODEL_KINDS; k++)
        if (cv->wanted[k]) score[k] = judge(cv, m[k], m[MODEL_CONSTANT], group);
    for (int k = 0; k < MODEL_KINDS; k++)                /* a committee owns its members */
        if (m[k] && !(m[MODEL_COMMITTEE] && k >= MODEL_LOGISTIC && k <= MODEL_BOOST)) model_free(m[k]);
}

void cv_add(struct cv_score *to, const struct cv_score *s)
{
    *to = (struct cv_score){ to->n + s->n, to->correct + s->correct, to->majority + s->majority, to->own + s->own,
                             to->sse + s->sse, to->base + s->base };
}

/* train.c - see train.h */
#include "fit/train.h"
#include "base/checked.h"
#include "base/filter.h"
#include "base/num.h"
#include "fit/lasso.h"
#include "net/lbfgs.h"
#include "fit/ridge.h"
#include "fit/spread.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct prepared {                                        /* the rows and columns that take part, scaled */
    size_t rows, cols;
    double *x, *y, *weight;                              /* weight: NULL for equal ones */
    int *label;
};

struct train_options train_defaults(enum model_kind kind)
{
    struct train_options o = { .kind = kind, .hidden = "32", .seed = 1, .iterations = 200, .tolerance = 1e-4 };
    static const double lambda[MODEL_KINDS] = {
        [MODEL_RIDGE] = 1, [MODEL_LASSO] = 0.01, [MODEL_LOGISTIC] = 1e-3, [MODEL_MLP] = 1e-5
    };
    o.lambda = lambda[kind];
    if (kind == MODEL_LASSO) o.iterations = 100000;
    if (kind == MODEL_LASSO) o.tolerance = 1e-9;
    if (kind == MODEL_LOGISTIC) o.tolerance = 1e-7;
    if (kind == MODEL_LOGISTIC) o.iterations = 2000;
    o.boost = (struct boost_options){ .rounds = 100, .depth = 4, .rate = 0.1, .lambda = 1, .min_weight = 1 };
    o.forest = (struct forest_options){ .trees = 200, .leaf = 4, .share = 0.5, .seed = 1 };
    return o;
}

static double value_at(const struct data *d, const uint32_t *row, size_t i, size_t j)
{
    return d->x[(row ? row[i] : i) * d->cols + j];
}

/* Chooses and scales the columns: an empty model of the kind, and the data it will be fitted to. */
static struct model *prepare(const struct data *d, const uint32_t *row, size_t n, const struct train_options *o,
                             struct prepared *p)
{
    char **feature = xmalloc(d->cols + 1, sizeof *feature);
    double *scale = xmalloc(2 * d->cols + 1, sizeof *scale);
    size_t *from = xmalloc(d->cols + 1, sizeof *from), cols = 0;
    for (size_t j = 0; j < d->cols; j++) {
        struct spread s = spread_of(d->x + j, d->cols, row, n, 0);
        bool flag = true;
        for (size_t i = 0; i < n; i++) flag = flag && (value_at(d, row, i, j) == 0 || value_at(d, row, i, j) == 1);
        if (!isfinite(s.deviation)) die("column '%s': its numbers are too far apart", d->feature[j]);
        if (!o->raw && s.deviation == 0) continue;
        bool keep = o->raw || flag;
        scale[2 * cols] = keep ? 0 : s.shift + s.mean;
        scale[2 * cols + 1] = keep ? 1 : s.deviation;
        feature[cols] = d->feature[j];
        from[cols++] = j;
    }
    struct model *m = model_new(o->kind, d->target, d->class, d->nclass, feature, cols);
    *p = (struct prepared){ .rows = n, .cols = cols };
    p->x = xmalloc(size_mul(n, cols) + 1, sizeof *p->x);
    p->y = xmalloc(n + 1, sizeof *p->y);
    p->label = xmalloc(n + 1, sizeof *p->label);
    p->weight = d->weight ? xmalloc(n + 1, sizeof *p->weight) : NULL;
    for (size_t j = 0; j < cols; j++) {
        m->mean[j] = scale[2 * j];
        m->deviation[j] = scale[2 * j + 1];
        for (size_t i = 0; i < n; i++)
            p->x[i * cols + j] = (value_at(d, row, i, from[j]) - m->mean[j]) / m->deviation[j];
    }
    for (size_t i = 0; i < n; i++) {
        p->y[i] = d->y[row ? row[i] : i];
        p->label[i] = (int)p->y[i];
        if (p->weight) p->weight[i] = d->weight[row ? row[i] : i];
    }
    free(feature);
    free(scale);
    free(from);
    return m;
}

static void release(struct prepared *p)
{
    free(p->x);
    free(p->y);
    free(p->label);
    free(p->weight);
}

static void centre_columns(struct prepared *p, double *centre)
{
    for (size_t j = 0; j < p->cols; j++) {
        for (size_t i = 0; i < p->rows; i++) centre[j] += p->x[i * p->cols + j] / (double)p->rows;
        for (size_t i = 0; i < p->rows; i++) p->x[i * p->cols + j] -= centre[j];
    }
}

/* Least squares with a penalty.  Centring the columns and the target takes the intercept out of the problem. */
static void fit_linear(struct model *m, struct prepared *p, const struct train_options *o, struct train_report *r)
{
    size_t n = p->rows, cols = p->cols, width = 1 + cols;
    double *centre = xcalloc(cols + 1, sizeof *centre), *b = xmalloc(n + 1, sizeof *b);
    if (!o->raw) centre_columns(p, centre);
    struct sparse a = sparse_dense(p->x, n, cols), columns = sparse_transpose(&a);
    struct ridge *ridge = o->kind == MODEL_RIDGE ? ridge_new(&a, RIDGE_AUTO) : NULL;
    for (int c = 0; c < model_outputs(m); c++) {
        double *w = m->weight + (size_t)c * width, mean = 0;
        for (size_t i = 0; i < n; i++) {
            b[i] = m->nclass ? p->label[i] == c : p->y[i];
            mean += b[i] / (double)n;
        }
        for (size_t i = 0; i < n && !o->raw; i++) b[i] -= mean;
        if (ridge) {
            struct ridge_report f = ridge_solve(ridge, o->lambda, b, NULL, w + 1);
            r->loss += f.sse;
            for (size_t j = 0; j < cols; j++) r->loss += o->lambda * w[1 + j] * w[1 + j];
            r->optimality = fmax(r->optimality, f.gradient);
            r->iterations += f.iterations;
        } else {
            struct lasso_report f = lasso_fit(&columns, b, NULL, o->lambda, o->iterations, o->tolerance, w + 1);
            r->loss += f.objective;
            r->optimality = fmax(r->optimality, f.kkt);
            r->iterations += f.sweeps;
        }
        w[0] = o->raw ? 0 : mean;
        for (size_t j = 0; j < cols; j++) w[0] -= w[1 + j] * centre[j];
    }
    ridge_free(ridge);
    sparse_free(&a);
    sparse_free(&columns);
    free(centre);
    free(b);
}

struct logistic { const struct prepared *p; int nclass; double lambda; };

/* mean cross-entropy of the softmax over scores x'W + bias; w as in the model: classes x (bias, weights) */
static double logistic_loss(void *context, const double *w, double *gradient)
{
    const struct logistic *k = context;
    size_t cols = k->p->cols, width = 1 + cols, n = k->p->rows, classes = (size_t)k->nclass;
    double loss = 0, score[MODEL_MAX_CLASSES] = { 0 };
    memset(gradient, 0, classes * width * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        const double *x = k->p->x + i * cols;
        double top = -INFINITY, sum = 0;
        for (size_t c = 0; c < classes; c++) {
            score[c] = w[c * width];
            for (size_t j = 0; j < cols; j++) score[c] += w[c * width + 1 + j] * x[j];
            top = fmax(top, score[c]);
        }
        for (size_t c = 0; c < classes; c++) sum += exp(score[c] - top);
        loss += (log(sum) + top - score[k->p->label[i]]) / (double)n;
        for (size_t c = 0; c < classes; c++) {
            double d = (exp(score[c] - top) / sum - (k->p->label[i] == (int)c)) / (double)n;
            gradient[c * width] += d;
            for (size_t j = 0; j < cols; j++) gradient[c * width + 1 + j] += d * x[j];
        }
    }
    for (size_t c = 0; c < classes; c++)
        for (size_t j = 1; j <= cols; j++) {
            loss += 0.5 * k->lambda * w[c * width + j] * w[c * width + j];
            gradient[c * width + j] += k->lambda * w[c * width + j];
        }
    return loss;
}

static void keep_report(struct train_report *r, struct lbfgs_report f)
{
    *r = (struct train_report){ f.value, f.gradient, f.iterations };
}

static void fit_logistic(struct model *m, struct prepared *p, const struct train_options *o, struct train_report *r)
{
    struct logistic k = { p, m->nclass, o->lambda };
    keep_report(r, lbfgs((size_t)m->nclass * (1 + p->cols), m->weight, logistic_loss, &k, o->iterations, o->tolerance));
}

struct mlp { const struct prepared *p; struct net *net; const float *x; float *y, *d; int nclass; double lambda; };

/* cross-entropy, or half the squared error, averaged over rows, plus lambda / (2 rows) |W|^2 */
static double mlp_loss(void *context, const double *w, double *gradient)
{
    const struct mlp *k = context;
    int n = (int)k->p->rows, outputs = k->net->width[k->net->layers];
    for (size_t i = 0; i < k->net->size; i++) k->net->weight[i] = (float)w[i];
    net_forward(k->net, k->x, n);
    float *score = k->net->value[k->net->layers];
    double loss = 0;
    if (k->nclass) {
        loss = net_softmax(score, k->p->label, n, outputs, k->d);
    } else {
        for (int i = 0; i < n; i++) {
            k->d[i] = score[i] - k->y[i];
            loss += 0.5 * (double)k->d[i] * (double)k->d[i];
        }
    }
    net_backward(k->net, k->d, n, 0);
    for (size_t i = 0; i < k->net->size; i++) gradient[i] = (double)k->net->gradient[i] / n;
    loss /= n;
    for (int l = 0; l < k->net->layers; l++) {
        size_t at = (size_t)(net_layer(k->net, l) - k->net->weight),
               size = (size_t)k->net->width[l] * (size_t)k->net->width[l + 1];
        for (size_t i = at; i < at + size; i++) {
            loss += 0.5 * k->lambda / n * w[i] * w[i];
            gradient[i] += k->lambda / n * w[i];
        }
    }
    return loss;
}

static int read_widths(const char *text, int inputs, int outputs, int *width)
{
    int n = 0;
    width[n++] = inputs;
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, ",");
        int64_t v;
        if (!int_parse(s, len, &v) || v < 1 || v > 65536 || n >= NET_LAYERS)
            die("hidden layers '%s': widths from 1 to 65536 wanted, '32' or '32,16'", text);
        width[n++] = (int)v;
        s += len + (s[len] == ',');
    }
    width[n++] = outputs;
    return n;
}

/* the last layer gives numbers of the target's size, not z-scores: in doubles, since that may lie far from 0 */
static void unscale(struct model *m, const double *w, double deviation, double mean)
{
    const int last = m->net->layers - 1;
    const size_t in = (size_t)m->net->width[last], out = (size_t)m->net->width[last + 1];
    w += net_layer(m->net, last) - m->net->weight;
    for (size_t o = 0; o < out; o++) {
        double *to = m->weight + o * (in + 1);
        to[0] = w[in * out + o] * deviation + mean;
        for (size_t i = 0; i < in; i++) to[1 + i] = w[o * in + i] * deviation;
    }
}

static void fit_mlp(struct model *m, struct prepared *p, const struct train_options *o, struct train_report *r)
{
    int width[NET_LAYERS + 2], n = read_widths(o->hidden, (int)p->cols, model_outputs(m), width);
    struct mlp k = {
        .p = p, .net = net_new(width, n, (int)p->rows, o->seed), .nclass = m->nclass, .lambda = o->lambda
    };
    float *x = xmalloc(size_mul(p->rows, p->cols) + 1, sizeof *x);
    for (size_t i = 0; i < p->rows * p->cols; i++) x[i] = (float)p->x[i];
    k.x = x;
    struct spread s = m->nclass ? (struct spread){ .deviation = 1 } : spread_of(p->y, 1, NULL, p->rows, 0);
    if (!(s.deviation > 0)) s.deviation = 1;
    k.y = xmalloc(p->rows + 1, sizeof *k.y);
    for (size_t i = 0; i < p->rows; i++) k.y[i] = (float)((p->y[i] - s.shift - s.mean) / s.deviation);
    k.d = xmalloc(size_mul(p->rows, (size_t)model_outputs(m)) + 1, sizeof *k.d);
    double *w = xmalloc(k.net->size, sizeof *w);
    for (size_t i = 0; i < k.net->size; i++) w[i] = (double)k.net->weight[i];
    keep_report(r, lbfgs(k.net->size, w, mlp_loss, &k, o->iterations, o->tolerance));
    model_net(m, width, n, o->seed);
    for (size_t i = 0; i < m->net->size; i++) m->net->weight[i] = (float)w[i];
    r->loss *= s.deviation * s.deviation;
    unscale(m, w, s.deviation, s.shift + s.mean);
    net_free(k.net);
    free(x);
    free_all(k.y, k.d);
    free(w);
}

static void fit_boost(struct model *m, struct prepared *p, const struct train_options *o, struct train_report *r)
{
    m->tree = boost_fit(p->x, p->y, p->rows, p->cols, m->nclass, &o->boost, m->weight, &m->ntree);
    *r = (struct train_report){ NAN, NAN, o->boost.rounds };
}

static void fit_forest(struct model *m, struct prepared *p, const struct train_options *o, struct train_report *r)
{
    m->tree = forest_fit(p->x, p->y, p->weight, p->rows, p->cols, m->nclass, &o->forest, &m->ntree);
    *r = (struct train_report){ NAN, NAN, o->forest.trees };
}

static void fit_constant(struct model *m, struct prepared *p, struct train_report *r)
{
    for (size_t i = 0; i < p->rows; i++)
        m->weight[m->nclass ? p->label[i] : 0] += (m->nclass ? 1 : p->y[i]) / (double)p->rows;
    *r = (struct train_report){ NAN, NAN, 0 };
}

static bool is_finite(const struct model *m)
{
    size_t in = m->kind == MODEL_MLP ? (size_t)m->net->width[m->net->layers - 1] : m->nfeature;
    size_t n = (size_t)model_outputs(m) * (m->kind == MODEL_CONSTANT ? 1 : 1 + in);
    for (size_t k = 0; m->kind == MODEL_MLP && k < m->net->size; k++) if (!isfinite(m->net->weight[k])) return false;
    for (size_t k = 0; k < n; k++) if (!isfinite(m->weight[k])) return false;
    return true;
}

struct model *train(const struct data *d, const uint32_t *row, size_t n, const struct train_options *o,
                    struct train_report *report)
{
    struct train_report ignored;
    struct train_report *r = report ? report : &ignored;
    struct prepared p;
    if (!n) die("no rows to fit a model to");
    if (d->nclass > MODEL_MAX_CLASSES) die("%d classes, at most %d are possible", d->nclass, MODEL_MAX_CLASSES);
    if (o->kind == MODEL_LOGISTIC && !d->nclass) die("logistic: the target must be a class");
    *r = (struct train_report){ 0 };
    struct model *m = prepare(d, row, n, o, &p);
    if (o->kind == MODEL_RIDGE || o->kind == MODEL_LASSO) fit_linear(m, &p, o, r);
    else if (o->kind == MODEL_LOGISTIC) fit_logistic(m, &p, o, r);
    else if (o->kind == MODEL_MLP && !p.cols) die("mlp: no feature varies");
    else if (o->kind == MODEL_MLP) fit_mlp(m, &p, o, r);
    else if (o->kind == MODEL_BOOST) fit_boost(m, &p, o, r);
    else if (o->kind == MODEL_FOREST) fit_forest(m, &p, o, r);
    else fit_constant(m, &p, r);
    if (o->kind != MODEL_BOOST && o->kind != MODEL_FOREST && !is_finite(m))
        die("%s: the weights are not finite; are there huge values in a column?", model_kind_name[o->kind]);
    release(&p);
    return m;
}

struct sparse train_columns(const struct data *d, const struct train_options *o)
{
    struct prepared p;
    struct model *m = prepare(d, NULL, d->rows, o, &p);
    double *centre = xcalloc(p.cols + 1, sizeof *centre);
    if (!o->raw) centre_columns(&p, centre);
    struct sparse a = sparse_dense(p.x, p.rows, p.cols), columns = sparse_transpose(&a);
    sparse_free(&a);
    free(centre);
    release(&p);
    model_free(m);
    return columns;
}

double *train_target(const struct data *d, const struct train_options *o)
{
    double *b = xmalloc(d->rows + 1, sizeof *b), mean = 0;
    for (size_t i = 0; i < d->rows && !o->raw; i++) mean += d->y[i] / (double)d->rows;
    for (size_t i = 0; i < d->rows; i++) b[i] = d->y[i] - mean;
    return b;
}

int train_table(char **paths, const struct data_columns *columns, const struct train_options *o, const char *output)
{
    if (!columns->target) usage("no target given, see --target");
    struct data d = data_read(paths, columns);
    struct train_report r;
    struct model *m = train(&d, NULL, d.rows, o, &r);
    bool trees = o->kind == MODEL_BOOST || o->kind == MODEL_FOREST;
    if (!trees && !(isfinite(r.loss) && isfinite(r.optimality)))
        die("the fit diverged: objective %g, gradient %g after %ld iterations; are there huge values in a column?",
            r.loss, r.optimality, r.iterations);
    bool stopped = o->kind == MODEL_MLP || o->kind == MODEL_LOGISTIC || o->kind == MODEL_LASSO;
    if (!quiet && !trees)
        warn("%zu rows, %zu of %zu features; objective %.12g, gradient %.3g after %ld iterations", d.rows, m->nfeature,
             d.cols, r.loss, r.optimality, r.iterations);
    if (!quiet && stopped && r.optimality > o->tolerance)
        warn("it has not converged: a gradient of %.3g was wanted%s", o->tolerance,
             r.iterations >= o->iterations ? "; more --iterations may do" : ", and no step goes lower");
    return model_save(m, output);
}

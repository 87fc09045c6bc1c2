/* model.c - see model.h */
#include "fit/model.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 };                                /* of boosted trees and of committees in committees */

const char *const model_kind_name[MODEL_KINDS] = {
    [MODEL_RIDGE] = "ridge", [MODEL_LASSO] = "lasso", [MODEL_LOGISTIC] = "logistic", [MODEL_MLP] = "mlp",
    [MODEL_BOOST] = "boost", [MODEL_FOREST] = "forest",
    [MODEL_COMMITTEE] = "committee", [MODEL_CONSTANT] = "constant",
};

static char **copy_names(char **name, size_t n)
{
    char **to = xmalloc(n + 1, sizeof *to);
    for (size_t i = 0; i < n; i++) to[i] = xstrdup(name[i]);
    return to;
}

struct model *model_new(enum model_kind kind, const char *target, char **class, int nclass, char **feature,
                        size_t nfeature)
{
    struct model *m = xcalloc(1, sizeof *m);
    m->kind = kind;
    m->target = xstrdup(target);
    m->nclass = nclass;
    m->class = copy_names(class, (size_t)nclass);
    m->nfeature = nfeature;
    m->feature = copy_names(feature, nfeature);
    m->mean = xcalloc(2 * nfeature + 1, sizeof *m->mean);
    m->deviation = m->mean + nfeature;
    for (size_t j = 0; j < nfeature; j++) m->deviation[j] = 1;
    m->input = xcalloc(nfeature + 1, sizeof *m->input);
    m->otherwise = -1;
    size_t outputs = (size_t)model_outputs(m);
    if (kind <= MODEL_LOGISTIC) m->weight = xcalloc(size_mul(outputs, nfeature + 1), sizeof *m->weight);
    else if (kind != MODEL_COMMITTEE) m->weight = xcalloc(outputs, sizeof *m->weight);
    return m;
}

void model_net(struct model *m, const int width[], int n, uint64_t seed)
{
    m->net = net_new(width, n, 1, seed);
    m->weight = xrealloc(m->weight, size_mul((size_t)model_outputs(m), (size_t)width[n - 2] + 1), sizeof *m->weight);
}

int model_outputs(const struct model *m)
{
    return m->nclass ? m->nclass : 1;
}

static const char *output_name(const struct model *m, int o)
{
    return m->nclass ? m->class[o] : m->target;
}

/* ---- writing ---- */

static void write_numbers(sexpw *w, const char *head, const double *v, size_t n)
{
    sexpw_begin(w, head);
    for (size_t i = 0; i < n; i++) sexpw_num(w, v[i]);
    sexpw_end(w);
}

static void write_names(sexpw *w, const char *head, char **name, size_t n)
{
    sexpw_begin(w, head);
    for (size_t i = 0; i < n; i++) sexpw_cstr(w, name[i]);
    sexpw_end(w);
    sexpw_line(w);
}

static void write_node(const struct model *m, sexpw *w, const struct tree *t, int at)
{
    const struct tree_node *node = &t->node[at];
    if (node->feature < 0) {
        sexpw_num(w, node->value);
        return;
    }
    sexpw_begin(w, NULL);
    sexpw_cstr(w, m->feature[node->feature]);
    sexpw_num(w, node->threshold);
    write_node(m, w, t, node->left);
    write_node(m, w, t, node->right);
    sexpw_end(w);
}

static void write_layers(const struct model *m, sexpw *w)
{
    for (int l = 0; l < m->net->layers; l++) {
        size_t in = (size_t)m->net->width[l], out = (size_t)m->net->width[l + 1];
        const float *weight = net_layer(m->net, l);
        const bool last = l == m->net->layers - 1;
        sexpw_line(w);
        sexpw_begin(w, "layer");
        for (size_t o = 0; o < out; o++) {
            sexpw_line(w);
            sexpw_begin(w, NULL);
            for (size_t i = 0; i <= in; i++)
                sexpw_num(w, last ? m->weight[o * (in + 1) + i] : (double)weight[i ? o * in + i - 1 : in * out + o]);
            sexpw_end(w);
        }
        sexpw_end(w);
    }
}

static void write_weights(const struct model *m, sexpw *w)
{
    size_t outputs = (size_t)model_outputs(m);
    sexpw_begin(w, "weights");
    if (m->kind <= MODEL_LOGISTIC) {
        for (size_t o = 0; o < outputs; o++) {
            sexpw_line(w);
            write_numbers(w, output_name(m, (int)o), m->weight + o * (1 + m->nfeature), 1 + m->nfeature);
        }
    } else if (m->kind == MODEL_MLP) {
        write_layers(m, w);
    } else if (m->kind == MODEL_BOOST || m->kind == MODEL_FOREST) {
        write_numbers(w, "base", m->weight, outputs);
        for (size_t t = 0; t < m->ntree; t++) {
            sexpw_line(w);
            sexpw_begin(w, "tree");
            sexpw_cstr(w, output_name(m, (int)(t % outputs)));
            write_node(m, w, &m->tree[t], 0);
            sexpw_end(w);
        }
    } else if (m->kind == MODEL_CONSTANT) {
        for (size_t o = 0; o < outputs; o++) sexpw_num(w, m->weight[o]);
    } else {
        sexpw_begin(w, "rule");
        if (m->surest) sexpw_cstr(w, "surest");
        else sexpw_num(w, m->threshold);
        if (m->otherwise >= 0) sexpw_cstr(w, m->class[m->otherwise]);
        sexpw_end(w);
        for (size_t k = 0; k < m->nmember; k++) {
            sexpw_line(w);
            model_write(m->member[k], w);
        }
    }
    sexpw_end(w);
}

void model_write(const struct model *m, sexpw *w)
{
    sexpw_begin(w, "model");
    sexpw_cstr(w, model_kind_name[m->kind]);
    sexpw_line(w);
    sexpw_pair_str(w, "target", str_of(m->target));
    sexpw_line(w);
    if (m->nclass) write_names(w, "classes", m->class, (size_t)m->nclass);
    write_names(w, "features", m->feature, m->nfeature);
    sexpw_begin(w, "scale");
    write_numbers(w, "mean", m->mean, m->nfeature);
    write_numbers(w, "deviation", m->deviation, m->nfeature);
    sexpw_end(w);
    sexpw_line(w);
    write_weights(m, w);
    sexpw_end(w);
}

int model_save(const struct model *m, const char *path)
{
    sexpw *w = sexpw_open(path);
    model_write(m, w);
    return sexpw_close(w);
}

/* ---- reading ---- */

static snode need_list(const struct sexp *e, snode n, const char *head)
{
    snode list = sexp_get(e, n, head);
    if (list == SEXP_NONE) sexp_die(e, n, "a model needs (%s ...)", head);
    return list;
}

static char *text_of(const struct sexp *e, snode n)
{
    str s = sexp_atom(e, n);
    if (memchr(s.s, 0, s.n)) sexp_die(e, n, "a NUL byte in a name");
    char *text = xmalloc(s.n + 1, 1);
    memcpy(text, s.s, s.n);
    text[s.n] = 0;
    return text;
}

static char **read_names(const struct sexp *e, snode list, size_t *n)
{
    *n = sexp_count(e, list) - 1;
    char **name = xmalloc(*n + 1, sizeof *name);
    snode c = sexp_after(e, sexp_first(e, list));
    for (size_t i = 0; i < *n; i++, c = sexp_after(e, c)) name[i] = text_of(e, c);
    return name;
}

static double finite_num(const struct sexp *e, snode n)
{
    double v = sexp_num(e, n);
    if (!isfinite(v)) sexp_die(e, n, "a weight is not finite");
    return v;
}

/* the n numbers from item c on */
static void read_numbers(const struct sexp *e, snode list, snode c, double *v, size_t n)
{
    for (size_t i = 0; i < n; i++, c = sexp_after(e, c)) {
        if (c == SEXP_NONE) sexp_die(e, list, "%zu numbers wanted, %zu found", n, i);
        v[i] = finite_num(e, c);
    }
    if (c != SEXP_NONE) sexp_die(e, c, "more than the %zu numbers wanted", n);
}

static long place(char **name, size_t n, str s)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, name[i])) return (long)i;
    return -1;
}

static int read_node(const struct model *m, const struct sexp *e, snode n, struct tree *t, size_t *cap, int depth)
{
    int at = t->n++;
    t->node = grow(t->node, (size_t)t->n, cap, sizeof *t->node);
    t->node[at] = (struct tree_node){ .feature = -1 };
    if (depth > MAX_DEPTH) sexp_die(e, n, "a tree deeper than %d", MAX_DEPTH);
    if (sexp_is_atom(e, n)) {
        t->node[at].value = finite_num(e, n);
        return at;
    }
    if (sexp_count(e, n) != 4) sexp_die(e, n, "a node is (FEATURE threshold NODE NODE)");
    long feature = place(m->feature, m->nfeature, sexp_atom(e, sexp_nth(e, n, 0)));
    if (feature < 0) sexp_die(e, n, "a node tests what is no feature");
    double threshold = finite_num(e, sexp_nth(e, n, 1));
    int left = read_node(m, e, sexp_nth(e, n, 2), t, cap, depth + 1);
    int right = read_node(m, e, sexp_nth(e, n, 3), t, cap, depth + 1);
    t->node[at] = (struct tree_node){ (int)feature, threshold, 0, left, right };
    return at;
}

static void read_layers(struct model *m, const struct sexp *e, snode weights)
{
    int width[NET_LAYERS + 1] = { (int)m->nfeature }, layers = (int)sexp_count(e, weights) - 1;
    if (layers < 1 || layers > NET_LAYERS || !m->nfeature) sexp_die(e, weights, "1 to %d layers wanted", NET_LAYERS);
    snode layer = sexp_after(e, sexp_first(e, weights));
    for (int l = 0; l < layers; l++, layer = sexp_after(e, layer)) {
        if (!sexp_head(e, layer, "layer") || sexp_count(e, layer) < 2)
            sexp_die(e, layer, "(layer (bias weight ...) ...) wanted");
        width[l + 1] = (int)sexp_count(e, layer) - 1;
        /* before memory is taken for it: every unit has its numbers, so memory is in proportion to the file */
        for (snode u = sexp_after(e, sexp_first(e, layer)); u != SEXP_NONE; u = sexp_after(e, u))
            if (!sexp_is_list(e, u) || sexp_count(e, u) != (size_t)width[l] + 1)
                sexp_die(e, u, "a unit of layer %d is (bias weight ...), %d numbers", l + 1, width[l] + 1);
    }
    if (width[layers] != model_outputs(m))
        sexp_die(e, weights, "the last layer has %d units for %d outputs", width[layers], model_outputs(m));
    model_net(m, width, layers + 1, 0);
    layer = sexp_after(e, sexp_first(e, weights));
    for (int l = 0; l < layers; l++, layer = sexp_after(e, layer)) {
        size_t in = (size_t)width[l], out = (size_t)width[l + 1];
        double *row = xmalloc(in + 1, sizeof *row);
        float *weight = net_layer(m->net, l);
        snode unit = sexp_after(e, sexp_first(e, layer));
        for (size_t o = 0; o < out; o++, unit = sexp_after(e, unit)) {
            read_numbers(e, unit, sexp_first(e, unit), row, in + 1);
            weight[in * out + o] = (float)row[0];
            for (size_t i = 0; i < in; i++) weight[o * in + i] = (float)row[i + 1];
            if (l == layers - 1) memcpy(m->weight + o * (in + 1), row, (in + 1) * sizeof *row);
        }
        free(row);
    }
}

static void read_trees(struct model *m, const struct sexp *e, snode weights)
{
    size_t outputs = (size_t)model_outputs(m);
    snode base = need_list(e, weights, "base");
    read_numbers(e, base, sexp_after(e, sexp_first(e, base)), m->weight, outputs);
    m->tree = xmalloc(sexp_count(e, weights), sizeof *m->tree);
    for (snode t = sexp_after(e, base); t != SEXP_NONE; t = sexp_after(e, t)) {
        if (!sexp_head(e, t, "tree") || sexp_count(e, t) != 3) sexp_die(e, t, "(tree OUTPUT NODE) wanted");
        if (!str_is(sexp_atom(e, sexp_nth(e, t, 1)), output_name(m, (int)(m->ntree % outputs))))
            sexp_die(e, t, "trees take turns by output");
        m->tree[m->ntree] = (struct tree){ 0 };
        size_t cap = 0;
        read_node(m, e, sexp_nth(e, t, 2), &m->tree[m->ntree], &cap, 0);
        m->ntree++;
    }
}

static struct model *read_model(const struct sexp *e, snode n, int depth);

static void read_committee(struct model *m, const struct sexp *e, snode weights, int depth)
{
    snode rule = need_list(e, weights, "rule"), name = sexp_nth(e, rule, 2);
    if (sexp_count(e, rule) < 2) sexp_die(e, rule, "(rule THRESHOLD CLASS) or (rule surest) wanted");
    m->surest = m->nclass && str_is(sexp_atom(e, sexp_nth(e, rule, 1)), "surest");
    if (!m->surest) m->threshold = sexp_num(e, sexp_nth(e, rule, 1));
    if (name != SEXP_NONE) m->otherwise = (int)place(m->class, (size_t)m->nclass, sexp_atom(e, name));
    if (name != SEXP_NONE && m->otherwise < 0) sexp_die(e, name, "the rule names no class");
    for (snode c = sexp_after(e, rule); c != SEXP_NONE; c = sexp_after(e, c)) model_add(m, read_model(e, c, depth + 1));
    if (!m->nmember) sexp_die(e, weights, "a committee without members");
}

static void read_linear(struct model *m, const struct sexp *e, snode weights)
{
    snode c = sexp_after(e, sexp_first(e, weights));
    for (int o = 0; o < model_outputs(m); o++, c = sexp_after(e, c)) {
        if (c == SEXP_NONE || !sexp_head(e, c, output_name(m, o)))
            sexp_die(e, weights, "(%s bias weight ...) wanted", output_name(m, o));
        read_numbers(e, c, sexp_after(e, sexp_first(e, c)), m->weight + (size_t)o * (1 + m->nfeature), 1 + m->nfeature);
    }
    if (c != SEXP_NONE) sexp_die(e, c, "more weights than outputs");
}

static void free_names(char **name, size_t n)
{
    for (size_t i = 0; i < n; i++) free(name[i]);
    free(name);
}

static struct model *read_model(const struct sexp *e, snode n, int depth)
{
    if (depth > MAX_DEPTH || !sexp_head(e, n, "model") || sexp_count(e, n) < 2)
        sexp_die(e, n, "(model KIND ...) wanted");
    char *kind_name = text_of(e, sexp_nth(e, n, 1)), *target = NULL;
    int kind = 0;
    while (kind < MODEL_KINDS && strcmp(kind_name, model_kind_name[kind])) kind++;
    if (kind == MODEL_KINDS) sexp_die(e, n, "'%s' is no kind of model", kind_name);
    size_t nfeature, nclass = 0;
    snode classes = sexp_get(e, n, "classes"), weights = need_list(e, n, "weights"), scale = need_list(e, n, "scale");
    target = text_of(e, sexp_nth(e, need_list(e, n, "target"), 1));
    char **feature = read_names(e, need_list(e, n, "features"), &nfeature), **class = NULL;
    if (classes != SEXP_NONE) class = read_names(e, classes, &nclass);
    if (nclass > MODEL_MAX_CLASSES) sexp_die(e, classes, "more than %d classes", MODEL_MAX_CLASSES);
    struct model *m = model_new((enum model_kind)kind, target, class, (int)nclass, feature, nfeature);
    snode mean = need_list(e, scale, "mean"), deviation = need_list(e, scale, "deviation");
    read_numbers(e, mean, sexp_after(e, sexp_first(e, mean)), m->mean, nfeature);
    read_numbers(e, deviation, sexp_after(e, sexp_first(e, deviation)), m->deviation, nfeature);
    for (size_t j = 0; j < nfeature; j++)
        if (!(m->deviation[j] > 0)) sexp_die(e, deviation, "the deviation of '%s' is not positive", feature[j]);
    if (kind <= MODEL_LOGISTIC) read_linear(m, e, weights);
    else if (kind == MODEL_MLP) read_layers(m, e, weights);
    else if (kind == MODEL_BOOST || kind == MODEL_FOREST) read_trees(m, e, weights);
    else if (kind == MODEL_COMMITTEE) read_committee(m, e, weights, depth);
    else read_numbers(e, weights, sexp_after(e, sexp_first(e, weights)), m->weight, (size_t)model_outputs(m));
    free_names(feature, nfeature);
    free_names(class, nclass);
    free(kind_name);
    free(target);
    return m;
}

struct model *model_from(const struct sexp *e, snode n)
{
    return read_model(e, n, 0);
}

struct model *model_read(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    struct model *m = model_from(sexp_only(r), 0);
    sexp_close(r);
    return m;
}

void model_add(struct model *m, struct model *member)
{
    if (member->nclass != m->nclass) die("committee: a member with %d classes, want %d", member->nclass, m->nclass);
    for (int c = 0; c < m->nclass; c++)
        if (strcmp(m->class[c], member -> class[c]))
            die("committee: class '%s' where '%s' is wanted", member->class[c], m -> class[c]);
    size_t *from = xmalloc(member->nfeature + 1, sizeof *from);
    for (size_t j = 0; j < member->nfeature; j++) {
        long at = place(m->feature, m->nfeature, str_of(member->feature[j]));
        if (at < 0) {
            at = (long)m->nfeature++;
            m->feature = xrealloc(m->feature, m->nfeature, sizeof *m->feature);
            m->feature[at] = xstrdup(member->feature[j]);
            double *scale = xmalloc(2 * m->nfeature, sizeof *scale);
            for (size_t i = 0; i < 2 * m->nfeature; i++) scale[i] = i >= m->nfeature; /* members scale for themselves */
            free(m->mean);
            m->mean = scale;
            m->deviation = scale + m->nfeature;
            m->input = xrealloc(m->input, m->nfeature, sizeof *m->input);
        }
        from[j] = (size_t)at;
    }
    m->member = xrealloc(m->member, m->nmember + 1, sizeof *m->member);
    m->from = xrealloc(m->from, m->nmember + 1, sizeof *m->from);
    m->member[m->nmember] = member;
    m->from[m->nmember++] = from;
}

/* ---- predicting ---- */

static void softmax(double *v, int n)
{
    double top = v[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, v[i]);
    for (int i = 0; i < n; i++) sum += v[i] = exp(v[i] - top);
    for (int i = 0; i < n; i++) v[i] /= sum;
}

static double largest(const double *v, int n)
{
    double most = v[0];
    for (int i = 1; i < n; i++) most = fmax(most, v[i]);
    return most;
}

static void predict_committee(const struct model *m, const double *x, double *out)
{
    int outputs = model_outputs(m);
    double own[MODEL_MAX_CLASSES];
    for (int o = 0; o < outputs; o++) out[o] = 0;
    for (size_t k = 0; k < m->nmember; k++) {
        const struct model *member = m->member[k];
        double *row = xmalloc(member->nfeature + 1, sizeof *row);
        for (size_t j = 0; j < member->nfeature; j++) row[j] = x[m->from[k][j]];
        model_predict(member, row, own);
        free(row);
        if (m->surest && k && largest(own, outputs) <= largest(out, outputs)) continue;
        for (int o = 0; o < outputs; o++) out[o] = m->surest ? own[o] : out[o] + own[o] / (double)m->nmember;
    }
}

static void predict_net(const struct model *m, double *out)
{
    float *x = m->net->value[0];
    for (size_t j = 0; j < m->nfeature; j++) x[j] = (float)m->input[j];
    net_forward(m->net, x, 1);
    const int last = m->net->layers - 1;
    const size_t in = (size_t)m->net->width[last];
    for (int o = 0; o < model_outputs(m); o++) {
        const double *w = m->weight + (size_t)o * (in + 1);
        out[o] = w[0];
        for (size_t j = 0; j < in; j++) out[o] += w[1 + j] * (double)m->net->value[last][j];
    }
}

void model_predict(const struct model *m, const double *x, double *out)
{
    int outputs = model_outputs(m);
    if (m->kind == MODEL_COMMITTEE) {
        predict_committee(m, x, out);
        return;
    }
    for (size_t j = 0; j < m->nfeature; j++) m->input[j] = (x[j] - m->mean[j]) / m->deviation[j];
    if (m->kind == MODEL_MLP) predict_net(m, out);
    for (int o = 0; o < outputs && m->kind != MODEL_MLP; o++) {
        const double *w = m->weight + (size_t)o * (m->kind <= MODEL_LOGISTIC ? 1 + m->nfeature : 1);
        out[o] = w[0];
        for (size_t j = 0; m->kind <= MODEL_LOGISTIC && j < m->nfeature; j++) out[o] += w[1 + j] * m->input[j];
    }
    for (size_t t = 0; t < m->ntree; t++) out[t % (size_t)outputs] += tree_value(&m->tree[t], m->input);
    if (m->nclass && (m->kind == MODEL_LOGISTIC || m->kind == MODEL_MLP || m->kind == MODEL_BOOST))
        softmax(out, outputs);
    double sum = 0;
    for (int o = 0; m->kind == MODEL_FOREST && o < m->nclass; o++) sum += out[o];
    for (int o = 0; sum > 0 && o < m->nclass; o++) out[o] /= sum;
}

int model_choose(const struct model *m, const double *out)
{
    int best = 0;
    for (int o = 1; o < model_outputs(m); o++)
        if (out[o] > out[best]) best = o;
    if (m->kind == MODEL_COMMITTEE && m->otherwise >= 0 && !(out[best] > m->threshold)) return m->otherwise;
    return best;
}

void model_free(struct model *m)
{
    if (!m) return;
    for (size_t k = 0; k < m->nmember; k++) {
        model_free(m->member[k]);
        free(m->from[k]);
    }
    for (size_t t = 0; t < m->ntree; t++) free(m->tree[t].node);
    free_names(m->class, (size_t)m->nclass);
    free_names(m->feature, m->nfeature);
    net_free(m->net);
    free_all(m->member, m->from, m->tree, m->mean, m->weight, m->input, m->target, m);
}

/* boost.c - see boost.h */
#include "fit/boost.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/mem.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 256 };

struct sums { double gradient, hessian; };

struct grower {
    size_t rows, cols;
    uint8_t *bin;                                        /* cols x rows: the bin of each value */
    double *cut;                                         /* cols x BINS: x <= cut[b] for bins up to b */
    int *nbin;
    double *gradient, *hessian;                          /* rows */
    uint32_t *order, *scratch;                           /* rows of a node lie together */
    struct sums *histogram;                              /* BINS */
    const struct boost_options *o;
    double least;                                        /* a gain: less is rounding */
    struct tree tree;
    size_t cap;
};

static void make_bins(struct grower *g, const double *x)
{
    double *v = xmalloc(g->rows + 1, sizeof *v);
    for (size_t j = 0; j < g->cols; j++) {
        double *cut = g->cut + j * BINS;
        for (size_t i = 0; i < g->rows; i++) v[i] = x[i * g->cols + j];
        qsort(v, g->rows, sizeof *v, order_doubles);
        size_t distinct = 0;
        for (size_t i = 0; i < g->rows; i++)
            if (!i || v[i] != v[i - 1]) v[distinct++] = v[i];
        int n = 0;
        size_t bins = distinct < BINS ? distinct : BINS;
        for (size_t b = 1; b < bins; b++) {
            size_t at = b * distinct / bins;
            cut[n++] = v[at - 1] + (v[at] - v[at - 1]) / 2;
        }
        g->nbin[j] = n + 1;
        for (size_t i = 0; i < g->rows; i++) {
            int low = 0, high = n;
            while (low < high) {
                int mid = (low + high) / 2;
                if (x[i * g->cols + j] <= cut[mid]) high = mid;
                else low = mid + 1;
            }
            g->bin[j * g->rows + i] = (uint8_t)low;
        }
    }
    free(v);
}

struct split { double gain; size_t feature; int bin; };

static struct split best_split(struct grower *g, const uint32_t *row, size_t n, struct sums all)
{
    struct split best = { .gain = g->least };
    double lambda = g->o->lambda, whole = all.gradient * all.gradient / (all.hessian + lambda);
    for (size_t j = 0; j < g->cols; j++) {
        if (g->nbin[j] < 2) continue;
        const uint8_t *bin = g->bin + j * g->rows;
        memset(g->histogram, 0, (size_t)g->nbin[j] * sizeof *g->histogram);
        for (size_t i = 0; i < n; i++) {
            struct sums *s = &g->histogram[bin[row[i]]];
            s->gradient += g->gradient[row[i]];
            s->hessian += g->hessian[row[i]];
        }
        struct sums left = { 0 };
        for (int b = 0; b + 1 < g->nbin[j]; b++) {
            left.gradient += g->histogram[b].gradient;
            left.hessian += g->histogram[b].hessian;
            double right_gradient = all.gradient - left.gradient, right_hessian = all.hessian - left.hessian;
            if (left.hessian < g->o->min_weight || right_hessian < g->o->min_weight) continue;
            double gain = left.gradient * left.gradient / (left.hessian + lambda)
                        + right_gradient * right_gradient / (right_hessian + lambda) - whole;
            if (gain > best.gain * (1 + 1e-12)) best = (struct split){ gain, j, b };
        }
    }
    return best;
}

/* Grows the node over order[from .. from + n); returns its number.  Depth is bounded by the options. */
static int grow_node(struct grower *g, size_t from, size_t n, long depth)
{
    uint32_t *row = g->order + from;
    struct sums all = { 0 };
    for (size_t i = 0; i < n; i++) {
        all.gradient += g->gradient[row[i]];
        all.hessian += g->hessian[row[i]];
    }
    int at = g->tree.n++;
    g->tree.node = grow(g->tree.node, (size_t)g->tree.n, &g->cap, sizeof *g->tree.node);
    g->tree.node[at] =
        (struct tree_node){ .feature = -1, .value = -g->o->rate * all.gradient / (all.hessian + g->o->lambda) };
    struct split s = depth > 0 ? best_split(g, row, n, all) : (struct split){ 0 };
    if (depth <= 0 || s.gain <= g->least) return at;
    size_t left = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        if (g->bin[s.feature * g->rows + row[i]] <= s.bin) row[left++] = row[i];
        else g->scratch[right++] = row[i];
    }
    memcpy(row + left, g->scratch, right * sizeof *row);
    int a = grow_node(g, from, left, depth - 1), b = grow_node(g, from + left, right, depth - 1);
    g->tree.node[at] = (struct tree_node){ (int)s.feature, g->cut[s.feature * BINS + (size_t)s.bin], 0, a, b };
    return at;
}

double tree_value(const struct tree *t, const double *x)
{
    int at = 0;
    while (t->node[at].feature >= 0)
        at = x[t->node[at].feature] <= t->node[at].threshold ? t->node[at].left : t->node[at].right;
    return t->node[at].value;
}

/* gradient and hessian of the loss in score c of every row */
static void derivatives(struct grower *g, const double *y, const double *score, int nclass, int c)
{
    for (size_t i = 0; i < g->rows; i++) {
        if (!nclass) {
            g->gradient[i] = score[i] - y[i];
            g->hessian[i] = 1;
            continue;
        }
        const double *s = score + i * (size_t)nclass;
        double top = s[0], sum = 0;
        for (int k = 1; k < nclass; k++) top = fmax(top, s[k]);
        for (int k = 0; k < nclass; k++) sum += exp(s[k] - top);
        double p = exp(s[c] - top) / sum;
        g->gradient[i] = p - (y[i] == c);
        g->hessian[i] = fmax(p * (1 - p), 1e-16);
    }
}

/* numbers may be nanoseconds in seconds: what is too little to gain is a part of their variance */
static void starting_scores(struct grower *g, const double *y, size_t rows, int nclass, double *base)
{
    memset(base, 0, (size_t)(nclass ? nclass : 1) * sizeof *base);
    for (size_t i = 0; i < rows; i++) base[nclass ? (size_t)y[i] : 0] += nclass ? 1 : y[i] / (double)rows;
    g->least = nclass ? 1e-12 : 0;
    for (size_t i = 0; i < rows && !nclass; i++) g->least += 1e-12 * (y[i] - *base) * (y[i] - *base) / (double)rows;
    for (int c = 0; c < nclass; c++) base[c] = log((base[c] + 1) / ((double)rows + nclass));   /* Laplace: no log 0 */
}

struct tree *boost_fit(const double *x, const double *y, size_t rows, size_t cols, int nclass,
                       const struct boost_options *o, double *base, size_t *ntree)
{
    struct grower g = { .rows = rows, .cols = cols, .o = o };
    size_t width = nclass ? (size_t)nclass : 1;
    g.bin = xmalloc(size_mul(rows, cols) + 1, sizeof *g.bin);
    g.cut = xmalloc(size_mul(cols, BINS) + 1, sizeof *g.cut);
    g.nbin = xmalloc(cols + 1, sizeof *g.nbin);
    g.gradient = xmalloc(2 * rows + 1, sizeof *g.gradient);
    g.hessian = g.gradient + rows;
    g.order = xmalloc(2 * rows + 1, sizeof *g.order);
    g.scratch = g.order + rows;
    g.histogram = xmalloc(BINS, sizeof *g.histogram);
    make_bins(&g, x);
    starting_scores(&g, y, rows, nclass, base);
    double *score = xmalloc(size_mul(size_mul(rows, width), 2) + 1, sizeof *score), *next = score + rows * width;
    for (size_t i = 0; i < rows * width; i++) score[i] = base[i % width];
    struct tree *all = xmalloc(size_mul((size_t)o->rounds, width) + 1, sizeof *all);
    *ntree = 0;
    for (long r = 0; r < o->rounds; r++) {
        memcpy(next, score, rows * width * sizeof *next);
        for (size_t c = 0; c < width; c++) {
            derivatives(&g, y, score, nclass, (int)c);
            for (size_t i = 0; i < rows; i++) g.order[i] = (uint32_t)i;
            g.tree = (struct tree){ 0 };
            g.cap = 0;
            grow_node(&g, 0, rows, o->depth);
            for (size_t i = 0; i < rows; i++) next[i * width + c] += tree_value(&g.tree, x + i * cols);
            all[(*ntree)++] = g.tree;
        }
        memcpy(score, next, rows * width * sizeof *next);
    }
    free_all(g.bin, g.cut, g.nbin, g.gradient, g.order, g.histogram, score);
    return all;
}

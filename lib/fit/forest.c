/* forest.c - see forest.h */
#include "fit/forest.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* weights, and weighted sums of the target and of its square */
struct moments { double weight, sum, squares; };

struct planter {
    const double *x, *weight;
    double *y, centre;                                   /* the target of this tree: numbers without their mean */
    size_t rows, cols, tried;
    const struct forest_options *o;
    uint32_t *order, *scratch;                           /* rows of a node lie together */
    double *column;                                      /* a feature of a node's rows */
    size_t *feature;                                     /* in the order drawn last */
    struct rng rng;
    struct tree tree;
    size_t cap;
};

static double value(const struct planter *p, uint32_t row, size_t feature) { return p->x[row * p->cols + feature]; }

static void count(const struct planter *p, uint32_t row, struct moments *m)
{
    double w = p->weight ? p->weight[row] : 1, y = p->y[row];
    m->weight += w;
    m->sum += w * y;
    m->squares += w * y * y;
}

static double error(const struct moments *m)
{
    return m->weight > 0 ? fmax(0, m->squares - m->sum * m->sum / m->weight) : 0;
}

/* rows of weight 0 are as if they were not there */
static size_t take_rows(struct planter *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->rows; i++)
        if (!p->weight || p->weight[i] > 0) p->order[n++] = (uint32_t)i;
    if (!n) die("no row has a weight above 0");
    return n;
}

struct cut { double error, at; size_t feature; };

/* the error that a cut of p->column leaves; infinite where a side is too small */
static double error_of(const struct planter *p, const uint32_t *row, size_t n, double at)
{
    struct moments side[2] = { 0 };
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        bool right = p->column[i] > at;
        left += !right;
        count(p, row[i], &side[right]);
    }
    size_t least = (size_t)p->o->leaf;
    bool light = side[0].weight < p->o->weight || side[1].weight < p->o->weight;
    return light || left < least || n - left < least ? INFINITY : error(&side[0]) + error(&side[1]);
}

/* the best of the cuts drawn for this node; features that do not vary in it are no draw */
static struct cut best_cut(struct planter *p, const uint32_t *row, size_t n)
{
    struct cut best = { .error = INFINITY };
    size_t tried = 0;
    for (size_t k = 0; k < p->cols && tried < p->tried; k++) {
        size_t other = k + rng_below(&p->rng, p->cols - k), j = p->feature[other];
        p->feature[other] = p->feature[k];
        p->feature[k] = j;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            double v = p->column[i] = value(p, row[i], j);
            if (v < low) low = v;
            if (v > high) high = v;
        }
        if (!(low < high)) continue;
        tried++;
        double at = low + rng_unit(&p->rng) * (high - low), e;
        if (!(at < high)) at = low;                      /* rounded up: the greatest value stays on the right */
        e = error_of(p, row, n, at);
        if (e < best.error) best = (struct cut){ e, at, j };
    }
    return best;
}

/* Grows the node over order[from .. from + n); returns its number.  Each side has a row or more, so depth is bounded
 * by the rows; of sorted values it is not often deep, yet it may be: the model's reader has a limit. */
static int grow_node(struct planter *p, size_t from, size_t n, int depth)
{
    enum { DEEPEST = 190 };
    uint32_t *row = p->order + from;
    struct moments all = { 0 };
    for (size_t i = 0; i < n; i++) count(p, row[i], &all);
    int at = p->tree.n++;
    p->tree.node = grow(p->tree.node, (size_t)p->tree.n, &p->cap, sizeof *p->tree.node);
    double mean = p->centre + all.sum / all.weight;
    p->tree.node[at] = (struct tree_node){ .feature = -1, .value = mean / (double)p->o->trees };
    bool small = n < 2 * (size_t)p->o->leaf || all.weight < 2 * p->o->weight;
    if (small || depth >= DEEPEST || error(&all) <= 1e-15 * fabs(all.squares)) return at;
    struct cut c = best_cut(p, row, n);
    if (!isfinite(c.error)) return at;
    size_t left = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        if (value(p, row[i], c.feature) <= c.at) row[left++] = row[i];
        else p->scratch[right++] = row[i];
    }
    memcpy(row + left, p->scratch, right * sizeof *row);
    int a = grow_node(p, from, left, depth + 1), b = grow_node(p, from + left, right, depth + 1);
    p->tree.node[at] = (struct tree_node){ (int)c.feature, c.at, 0, a, b };
    return at;
}

struct tree *forest_fit(const double *x, const double *y, const double *weight, size_t rows, size_t cols, int nclass,
                        const struct forest_options *o, size_t *ntree)
{
    struct planter p = { .x = x, .weight = weight, .rows = rows, .cols = cols, .o = o };
    size_t width = nclass ? (size_t)nclass : 1, n = size_mul((size_t)o->trees, width);
    p.tried = (size_t)ceil(o->share * (double)cols);
    if (p.tried < 1) p.tried = 1;
    p.y = xmalloc(rows + 1, sizeof *p.y);
    p.order = xmalloc(size_mul(rows, 2) + 1, sizeof *p.order);
    p.scratch = p.order + rows;
    p.feature = xmalloc(cols + 1, sizeof *p.feature);
    p.column = xmalloc(rows + 1, sizeof *p.column);
    struct tree *all = xmalloc(n + 1, sizeof *all);
    size_t used = take_rows(&p);
    for (size_t i = 0; i < used && !nclass; i++) p.centre += y[p.order[i]] / (double)used;
    for (size_t t = 0; t < n; t++) {
        char key[40];
        snprintf(key, sizeof key, "tree/%zu", t);
        p.rng = rng_for(o->seed, str_of(key));
        take_rows(&p);
        for (size_t i = 0; i < rows; i++) p.y[i] = nclass ? (double)((size_t)y[i] == t % width) : y[i] - p.centre;
        for (size_t j = 0; j < cols; j++) p.feature[j] = j;
        p.tree = (struct tree){ 0 };
        p.cap = 0;
        grow_node(&p, 0, used, 0);
        all[t] = p.tree;
    }
    free_all(p.y, p.order, p.feature, p.column);
    *ntree = n;
    return all;
}

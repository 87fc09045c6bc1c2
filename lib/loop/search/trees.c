#include "loop/search/trees.h"
#include "base/mem.h"
#include "base/rng.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_FEATURES = 256 };
struct fit {
    const float *x;
    const double *y, *w;
    int features;
    const struct trees_options *o;
    struct trees *t;
    struct rng r;
    uint32_t *row, *other;                               /* rows in the order of the nodes; room to part them */
};
struct part { double w, wy, wyy; size_t n; };

static void add(struct part *p, double w, double y) { p->n++, p->w += w, p->wy += w * y, p->wyy += w * y * y; }
static double error(const struct part *p) { return p->w > 0 ? p->wyy - p->wy * p->wy / p->w : 0; }

static size_t push(struct trees *t, struct trees_node node)
{
    t->node = grow(t->node, t->n + 1, &t->room, sizeof *t->node);
    t->node[t->n] = node;
    return t->n++;
}

static struct part sums(const struct fit *f, size_t from, size_t to)
{
    struct part p = { 0 };
    for (size_t i = from; i < to; i++) add(&p, f->w[f->row[i]], f->y[f->row[i]]);
    return p;
}

/* a threshold for this feature, and the error that it leaves; infinite where it cannot part the rows */
static double tried(struct fit *f, size_t from, size_t to, int feature, float *at)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t i = from; i < to; i++) {
        const float v = f->x[(size_t)f->row[i] * (size_t)f->features + (size_t)feature];
        if (v < low) low = v;
        if (v > high) high = v;
    }
    if (!(low < high)) return INFINITY;
    *at = (float)((double)low + rng_unit(&f->r) * ((double)high - (double)low));
    if (!(*at < high)) *at = low;
    struct part side[2] = { { 0 }, { 0 } };
    for (size_t i = from; i < to; i++) {
        const uint32_t k = f->row[i];
        add(&side[f->x[(size_t)k * (size_t)f->features + (size_t)feature] > *at], f->w[k], f->y[k]);
    }
    for (int s = 0; s < 2; s++)
        if (side[s].n < (size_t)f->o->leaf || side[s].w < f->o->weight) return INFINITY;
    return error(&side[0]) + error(&side[1]);
}

static void split(struct fit *f, size_t from, size_t to, int depth)
{
    struct part all = sums(f, from, to);
    const size_t here = push(f->t, (struct trees_node){ (float)(all.w > 0 ? all.wy / all.w : 0), -1, 0 });
    const bool small = to - from < 2 * (size_t)f->o->leaf || all.w < 2 * f->o->weight;
    if (depth == TREES_DEEP || small || error(&all) <= 1e-12 * all.w) return;
    int order[MOST_FEATURES], best = -1, good = 0;
    double least = error(&all);
    float at = 0;
    for (int i = 0; i < f->features; i++) order[i] = i;
    for (int i = 0; i < f->features && good < (f->features + 1) / 2; i++) {      /* of those that vary, half */
        const int j = i + (int)rng_below(&f->r, (uint64_t)(f->features - i)), feature = order[j];
        float here_at = 0;
        order[j] = order[i];
        const double e = tried(f, from, to, feature, &here_at);
        good += e < INFINITY;
        if (e < least) least = e, best = feature, at = here_at;
    }
    if (best < 0) return;
    size_t n[2] = { 0, 0 };
    for (size_t i = from; i < to; i++) {                 /* in their order, so that all is the same for any sort */
        const uint32_t k = f->row[i];
        if (f->x[(size_t)k * (size_t)f->features + (size_t)best] > at) f->other[n[1]++] = k;
        else f->row[from + n[0]++] = k;
    }
    memcpy(f->row + from + n[0], f->other, n[1] * sizeof *f->row);
    f->t->node[here].feature = (int16_t)best;
    f->t->node[here].at = at;
    const size_t middle = from + n[0];
    split(f, from, middle, depth + 1);
    f->t->node[here].right = (int32_t)f->t->n;
    split(f, middle, to, depth + 1);
}

struct trees trees_fit(const float *x, const double *y, const double *weight, size_t n, int features,
                       const struct trees_options *o)
{
    struct trees t = { .count = o->trees, .features = features < MOST_FEATURES ? features : MOST_FEATURES };
    struct fit f = { .x = x, .y = y, .w = weight, .features = t.features, .o = o, .t = &t };
    t.root = xmalloc((size_t)o->trees, sizeof *t.root);
    f.row = xmalloc(n + 1, sizeof *f.row);
    f.other = xmalloc(n + 1, sizeof *f.other);
    for (int k = 0; k < o->trees; k++) {
        char key[32];
        snprintf(key, sizeof key, "tree %d", k);
        f.r = rng_for(o->seed, str_of(key));
        for (size_t i = 0; i < n; i++) f.row[i] = (uint32_t)i;
        t.root[k] = t.n;
        split(&f, 0, n, 0);
    }
    free_all(f.row, f.other);
    return t;
}

double trees_predict(const struct trees *t, const float *x)
{
    double sum = 0;
    for (int k = 0; k < t->count; k++) {
        const struct trees_node *node = t->node + t->root[k];
        while (node->feature >= 0) node = x[node->feature] <= node->at ? node + 1 : t->node + node->right;
        sum += (double)node->at;
    }
    return sum / t->count;
}

void trees_free(struct trees *t)
{
    free_all(t->node, t->root);
    *t = (struct trees){ 0 };
}

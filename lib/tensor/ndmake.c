#include "tensor/ndcode.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>

/* same: operands with the same letter have equal numbers of elements, "." is free; dims: of the first one, 0: any */
static const struct {
    const char *name;
    enum nd_code code;
    int nin, nout;
    const char *same;
    int dims;
} table[] = {
    { "NdBinary", BINARY, 2, 1, "...", 0 },
    { "NdUnary", UNARY, 1, 1, "aa", 0 },
    { "NdUnaryGrad", UNARY_GRAD, 2, 1, "aaa", 0 },
    { "NdReduce", REDUCE, 1, 1, "..", 0 },
    { "NdExpand", EXPAND, 1, 1, "..", 0 },
    { "NdReshape", RESHAPE, 1, 1, "aa", 0 },
    { "NdTranspose", TRANSPOSE, 1, 1, "aa", 0 },
    { "NdMatMul", MATMUL, 2, 1, "...", 0 },
    { "NdConv", CONV, 2, 1, "...", 4 },
    { "NdConvGradX", CONV_X, 2, 1, "...", 4 },
    { "NdConvGradW", CONV_W, 2, 1, "...", 4 },
    { "NdMaxPool", MAXPOOL, 1, 2, ".aa", 4 },
    { "NdMaxPoolGrad", MAXPOOL_GRAD, 2, 1, "aa.", 4 },
    { "NdAvgPool", AVGPOOL, 1, 1, "..", 4 },
    { "NdAvgPoolGrad", AVGPOOL_GRAD, 1, 1, "..", 4 },
    { "NdNorm", NORM, 3, 3, "abbabb", 0 },
    { "NdNormGrad", NORM_GRAD, 5, 3, "abbbaabb", 0 },
    { "NdSoftmax", SOFTMAX, 1, 1, "aa", 0 },
    { "NdSoftmaxGrad", SOFTMAX_GRAD, 2, 1, "aaa", 0 },
    { "NdLogSoftmax", LOG_SOFTMAX, 1, 1, "aa", 0 },
    { "NdLogSoftmaxGrad", LOG_SOFTMAX_GRAD, 2, 1, "aaa", 0 },
    { "NdConcat", CONCAT, -1, 1, "", 0 },
    { "NdSlice", SLICE, 1, 1, "..", 0 },
    { "NdPad", PAD, 1, 1, "..", 0 },
    { "NdGather", GATHER, 2, 1, "...", 0 },
    { "NdGatherGrad", GATHER_GRAD, 2, 1, "...", 0 },
    { "NdUpsample", UPSAMPLE, 1, 1, "..", 4 },
    { "NdUpsampleGrad", UPSAMPLE_GRAD, 1, 1, "..", 4 },
    { "NdLoss", LOSS, 2, 2, "a..a", 2 },
    { "NdLossGrad", LOSS_GRAD, 2, 1, "a.a", 2 },
    { "NdDropout", DROPOUT, 2, 1, "a.a", 0 },
    { "NdCount", COUNT, 1, 1, "aa", 0 },
    { "NdSgd", SGD, 2, 1, "aaa", 0 },
    { "NdAdam", ADAM, 5, 3, "aaaa.aaa", 0 },
};
enum { OPERATORS = sizeof table / sizeof *table };

static int row_of(const char *op)
{
    int i = 0;
    while (i < OPERATORS && strcmp(table[i].name, op) != 0) i++;
    return i;
}
bool nd_is(const char *op)
{
    return row_of(op) < OPERATORS;
}

static bool broadcasts(const struct array *from, const struct array *to)
{
    if (from->n > to->n) return false;
    for (int k = 1; k <= from->n; k++)
        if (from->d[from->n - k] != 1 && from->d[from->n - k] != to->d[to->n - k]) return false;
    return true;
}

static bool conv_fits(const struct nd *o, const struct array *x, const struct array *w, const struct array *y)
{
    if (x->n != 4 || w->n != 4 || y->n != 4 || o->group < 1 || o->dilation < 1) return false;
    bool good = x->d[0] == y->d[0] && x->d[1] == w->d[1] * o->group && y->d[1] == w->d[0] && w->d[0] % o->group == 0;
    for (int k = 0; k < 2; k++)
        good &= o->stride[k] >= 1 && o->pad[k] >= 0 &&
                x->d[2 + k] + 2 * o->pad[k] >= (w->d[2 + k] - 1) * o->dilation + 1 &&
                (x->d[2 + k] + 2 * o->pad[k] - (w->d[2 + k] - 1) * o->dilation - 1) / o->stride[k] + 1 >= y->d[2 + k];
    return good;
}

static bool matmul_fits(const struct nd *o)
{
    const struct array *a = &o->t[0], *b = &o->t[1], *y = &o->t[2];
    if (a->n < 2 || b->n < 2 || y->n < 2) return false;
    int64_t m = a->d[a->n - 2], k = a->d[a->n - 1], k2 = b->d[b->n - 2], n = b->d[b->n - 1], swap;
    if (o->ta) swap = m, m = k, k = swap;
    if (o->tb) swap = k2, k2 = n, n = swap;
    int64_t batch = y->count / (y->d[y->n - 2] * y->d[y->n - 1]);
    return k == k2 && y->d[y->n - 2] == m && y->d[y->n - 1] == n && (a->count == batch * m * k || a->count == m * k) &&
           (b->count == batch * k * n || b->count == k * n);
}

static bool part_fits(const struct nd *o, const struct array *large, const struct array *small)
{
    if (large->n != small->n || o->axis < 0 || o->axis >= large->n || o->begin < 0) return false;
    for (int k = 0; k < large->n; k++)
        if (k != o->axis && large->d[k] != small->d[k]) return false;
    return small->d[o->axis] <= large->d[o->axis] - o->begin;
}

static bool pool_fits(const struct nd *o, const struct array *x, const struct array *y)
{
    bool good = x->n == 4 && y->n == 4 && x->d[0] == y->d[0] && x->d[1] == y->d[1];
    for (int k = 0; good && k < 2; k++)
        good = o->kernel[k] >= 1 && o->stride[k] >= 1 && o->pad[k] >= 0 && o->pad[k] < o->kernel[k] &&
               (y->d[2 + k] - 1) * o->stride[k] - o->pad[k] < x->d[2 + k];
    return good;
}

static bool fits(const struct nd *o)
{
    const struct array *t = o->t;
    switch ((enum nd_code)o->code) {
    case BINARY:
        return o->kind >= 0 && o->kind < ND_BINARIES && broadcasts(&t[0], &t[2]) && broadcasts(&t[1], &t[2]);
    case UNARY:
    case UNARY_GRAD:
        return o->kind >= 0 && o->kind < ND_UNARIES;
    case REDUCE: {
        int64_t n = 1;
        for (int k = 0; k < t[0].n; k++) n *= o->axes >> k & 1 ? 1 : t[0].d[k];
        return n == t[1].count;
    }
    case EXPAND:
        return broadcasts(&t[0], &t[1]);
    case TRANSPOSE: {
        int seen = 0;
        for (int k = 0; k < t[0].n; k++) {
            if (o->perm[k] < 0 || o->perm[k] >= t[0].n || t[1].n != t[0].n || t[1].d[k] != t[0].d[o->perm[k]])
                return false;
            seen |= 1 << o->perm[k];
        }
        return seen == (1 << t[0].n) - 1;
    }
    case MATMUL:
        return matmul_fits(o);
    case CONV:
        return conv_fits(o, &t[0], &t[1], &t[2]);
    case CONV_X:
        return conv_fits(o, &t[2], &t[0], &t[1]);
    case CONV_W:
        return conv_fits(o, &t[0], &t[2], &t[1]);
    case MAXPOOL:
    case AVGPOOL:
        return pool_fits(o, &t[0], &t[o->nin]);
    case MAXPOOL_GRAD:
    case AVGPOOL_GRAD:
        return pool_fits(o, &t[o->nin], &t[0]);
    case NORM:
        return t[0].n >= 2 && t[1].count == t[0].d[1];
    case NORM_GRAD:
        return t[0].n >= 2 && t[1].count == t[0].d[1];
    case SOFTMAX:
    case SOFTMAX_GRAD:
    case LOG_SOFTMAX:
    case LOG_SOFTMAX_GRAD:
        return t[0].n >= 1;
    case CONCAT: {
        int64_t sum = 0;
        struct nd at = *o;
        for (int i = 0; i < o->nin; i++) {
            at.begin = sum;
            if (!part_fits(&at, &t[o->nin], &t[i])) return false;
            sum += t[i].d[o->axis];
        }
        return sum == t[o->nin].d[o->axis];
    }
    case SLICE:
        return part_fits(o, &t[0], &t[1]);
    case PAD:
        return part_fits(o, &t[1], &t[0]);
    case GATHER:
        return t[0].n >= 1 && t[2].count == t[1].count * (t[0].count / t[0].d[0]);
    case GATHER_GRAD:
        return t[2].n >= 1 && t[1].count == t[0].count * (t[2].count / t[2].d[0]);
    case UPSAMPLE:
    case UPSAMPLE_GRAD: {
        const struct array *small = &t[o->code == UPSAMPLE_GRAD], *large = &t[o->code == UPSAMPLE];
        return o->a >= 1 && large->n == 4 && small->n == 4 && large->d[0] == small->d[0] &&
               large->d[1] == small->d[1] && (double)large->d[2] == o->a * (double)small->d[2] &&
               (double)large->d[3] == o->a * (double)small->d[3];
    }
    case LOSS:
    case LOSS_GRAD:
        return t[1].count == t[0].d[0];
    case DROPOUT:
        return o->rate >= 0 && o->rate < 1;
    case RESHAPE:
    case COUNT:
    case SGD:
    case ADAM:
        return true;
    }
    return false;
}

struct nd *nd_make(const struct graph *g, int node)
{
    const struct node *n = &g->node[node];
    int r = row_of(n->op);
    if ((table[r].nin >= 0 && n->nin != table[r].nin) || n->nin < 1 || n->nin >= ND_OPERANDS ||
        n->nout != table[r].nout)
        die("node '%s': %s does not take %d inputs and %d outputs", n->name, n->op, n->nin, n->nout);
    struct nd *o = xcalloc(1, sizeof *o);
    *o = (struct nd){ .code = table[r].code, .nin = n->nin, .nout = n->nout };
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        o->t[i] = (struct array){ .n = t->ndim, .count = (int64_t)(t->bytes / 4) };
        memcpy(o->t[i].d, t->shape, sizeof o->t[i].d);
    }
    struct {
        int *to;
        const char *name;
        int i;
        double missing;
    } whole[] = { { &o->kind, "kind", 0, 0 },
                  { &o->axis, "axis", 0, 0 },
                  { &o->axes, "axes", 0, 0 },
                  { &o->group, "group", 0, 1 },
                  { &o->dilation, "dilation", 0, 1 },
                  { &o->ta, "ta", 0, 0 },
                  { &o->tb, "tb", 0, 0 },
                  { &o->mean, "mean", 0, 0 },
                  { &o->counted, "counted", 0, 1 },
                  { &o->kernel[0], "kernel", 0, 1 },
                  { &o->kernel[1], "kernel", 1, 1 },
                  { &o->stride[0], "stride", 0, 1 },
                  { &o->stride[1], "stride", 1, 1 },
                  { &o->pad[0], "pad", 0, 0 },
                  { &o->pad[1], "pad", 1, 0 },
                  { &o->perm[0], "perm", 0, 0 },
                  { &o->perm[1], "perm", 1, 0 },
                  { &o->perm[2], "perm", 2, 0 },
                  { &o->perm[3], "perm", 3, 0 } };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        double v = node_attr(n, whole[i].name, whole[i].i, whole[i].missing);
        if (!(v >= 0 && v <= 1 << 20)) die("node '%s': attribute %s is %g", n->name, whole[i].name, v);
        *whole[i].to = (int)v;
    }
    double begin = node_attr(n, "begin", 0, 0), seed = node_attr(n, "seed", 0, 0);
    if (!(begin >= 0 && begin < 0x1p53)) die("node '%s': attribute begin is %g", n->name, begin);
    if (!(seed >= 0 && seed < 0x1p53)) die("node '%s': attribute seed is %g", n->name, seed);
    o->a = node_attr(n, o->code == EXPAND || o->code == UPSAMPLE || o->code == UPSAMPLE_GRAD ? "factor" : "a", 0, 1);
    o->b = node_attr(n, "b", 0, o->kind == ND_ELU && (o->code == UNARY || o->code == UNARY_GRAD));
    o->begin = (int64_t)begin;
    o->epsilon = node_attr(n, "epsilon", 0, 1e-5);
    o->first = node_attr(n, "first", 0, 0.9);
    o->second = node_attr(n, "second", 0, 0.999);
    o->rate = node_attr(n, "rate", 0, 0);
    o->seed = (uint64_t)seed;
    for (size_t i = 0; table[r].same[i]; i++)
        for (size_t k = i + 1; table[r].same[k]; k++)
            if (table[r].same[i] != '.' && table[r].same[i] == table[r].same[k] && o->t[i].count != o->t[k].count)
                die("node '%s': operands %zu and %zu of %s differ in size", n->name, i, k, n->op);
    if ((table[r].dims && o->t[0].n != table[r].dims) || !fits(o))
        die("node '%s': operands and attributes of %s do not fit each other", n->name, n->op);
    return o;
}

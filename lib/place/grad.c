#include "place/grad.h"
#include "base/checked.h"
#include "base/message.h"
#include "tensor/nd.h"
#include <stdlib.h>
#include <string.h>

struct grad {
    struct graph *g; /* the step; begins as a copy of the forward graph */
    const struct optimiser *opt;
    int *of;           /* tensor of the forward graph -> its gradient, -1: none yet */
    bool *leads;       /* depends on a parameter */
    int *first_reader; /* of a parameter */
    int counter;
};

bool grad_parameter(const struct tensor *t)
{
    static const char *const tail[] = { "weight", "bias", "scale", "shift" };
    size_t n = strlen(t->name);
    if (t->role != ROLE_ARG || strcmp(t->dtype, "f32") != 0) return false;
    if (t->trained) return true;
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        size_t m = strlen(tail[i]);
        if (n < m || strcmp(t->name + n - m, tail[i]) != 0) continue;
        if (n == m || t->name[n - m - 1] == '.' || t->name[n - m - 1] == '_') return true;
    }
    return false;
}

bool grad_counter(const struct tensor *t)
{
    return !strcmp(t->name, "step") && t->role == ROLE_ARG && !strcmp(t->dtype, "i32") && t->bytes == 4;
}

/* ---- nodes of the step ---- */

static const struct tensor *tensor(const struct grad *s, int t)
{
    return &s->g->tensor[t];
}
static int make(struct grad *s, const char *like, const char *dtype, int n, const int64_t *shape)
{
    char *name = xformat("d.%s", like);
    int t = graph_tensor(s->g, name, ROLE_INTER, dtype, n, shape);
    free(name);
    return t;
}

static int like(struct grad *s, int t)
{
    struct tensor c = *tensor(s, t);
    return make(s, c.name, "f32", c.ndim, c.shape);
}

static int emit(struct grad *s, const char *op, const char *name, int nin, const int *in, int nout, const int *out)
{
    return graph_node(s->g, name, op, nin, in, nout, out);
}

static int apply(struct grad *s, const char *op, int a, int b, int to)
{
    int in[2] = { a, b };
    return emit(s, op, tensor(s, to)->name, b < 0 ? 1 : 2, in, 1, &to);
}

/* what a node does and how much work it is */
static void copy_attrs(struct graph *g, int to, const struct node *from)
{
    struct attr *a = arena_get(&g->text, size_mul((size_t)from->nattr + 1, sizeof *a));
    for (int i = 0; i < from->nattr; i++) {
        a[i] = from->attr[i];
        a[i].name = arena_copy(&g->text, a[i].name, strlen(a[i].name));
    }
    g->node[to].attr = a;
    g->node[to].nattr = from->nattr;
    g->node[to].flops = from->flops;
}

static int binary(struct grad *s, int kind, int a, int b, int shape_of)
{
    int y = like(s, shape_of);
    graph_attr(s->g, apply(s, "NdBinary", a, b, y), "kind", 1, kind, 0);
    return y;
}

static int unary(struct grad *s, enum nd_unary kind, double a, int x)
{
    int y = like(s, x), n = apply(s, "NdUnary", x, -1, y);
    graph_attr(s->g, n, "kind", 1, kind, 0);
    graph_attr(s->g, n, "a", 1, a, 0);
    return y;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

static int reshape(struct grad *s, int x, int n, const int64_t *shape)
{
    struct tensor want = { .ndim = n };
    memcpy(want.shape, shape, (size_t)n * sizeof *shape);
    if (same_shape(tensor(s, x), &want)) return x;
    int y = make(s, tensor(s, x)->name, "f32", n, shape);
    apply(s, "NdReshape", x, -1, y);
    return y;
}

/* the sum over what broadcasting repeated */
static int unbroadcast(struct grad *s, int dy, int target)
{
    struct tensor d = *tensor(s, dy), want = *tensor(s, target);
    if (same_shape(&d, &want)) return dy;
    int axes = 0, lead = d.ndim - want.ndim;
    for (int k = 0; k < d.ndim; k++)
        if (k < lead || (want.shape[k - lead] == 1 && d.shape[k] != 1)) {
            axes |= 1 << k;
            d.shape[k] = 1;
        }
    int y = dy;
    if (axes) {
        y = make(s, want.name, "f32", d.ndim, d.shape);
        graph_attr(s->g, apply(s, "NdReduce", dy, -1, y), "axes", 1, axes, 0);
    }
    return reshape(s, y, want.ndim, want.shape);
}

/* ---- gradients ---- */

static void add_gradient(struct grad *s, int t, int d)
{
    s->of[t] = s->of[t] < 0 ? d : binary(s, 0, s->of[t], d, t);
}

static void back_binary(struct grad *s, const struct node *n, int dy)
{
    int a = n->operand[0], b = n->operand[1], y = n->operand[2], kind = (int)node_attr(n, "kind", 0, 0);
    if (kind >= ND_GREATER && kind <= ND_EQUAL) return;
    if (kind >= ND_WHERE) {
        if (s->leads[a]) add_gradient(s, a, unbroadcast(s, binary(s, kind, dy, b, y), a));
        return;
    }
    if (s->leads[a]) {
        int d = kind == 2 ? binary(s, 2, dy, b, y) : kind == 3 ? binary(s, 3, dy, b, y) : dy;
        add_gradient(s, a, unbroadcast(s, d, a));
    }
    if (!s->leads[b]) return;
    int d = dy;
    if (kind == 1) d = unary(s, ND_SCALE, -1, dy);
    if (kind == 2) d = binary(s, 2, dy, a, y);
    if (kind == 3) d = unary(s, ND_SCALE, -1, binary(s, 3, binary(s, 2, dy, y, y), b, y));
    add_gradient(s, b, unbroadcast(s, d, b));
}

static int product(struct grad *s, int a, bool ta, int b, bool tb, const char *name, int n, const int64_t *shape)
{
    int y = make(s, name, "f32", n, shape), k = apply(s, "NdMatMul", a, b, y);
    graph_attr(s->g, k, "ta", 1, ta, 0);
    graph_attr(s->g, k, "tb", 1, tb, 0);
    const struct tensor *t = tensor(s, a);
    s->g->node[k].flops = 2 * (double)tensor(s, y)->bytes / 4 * (double)t->shape[t->ndim - (ta ? 2 : 1)];
    return y;
}

/* as one matrix: all dimensions but the last are rows */
static int rows(struct grad *s, int t)
{
    struct tensor c = *tensor(s, t);
    int64_t last = c.shape[c.ndim - 1];
    return reshape(s, t, 2, (int64_t[]){ (int64_t)(c.bytes / 4) / last, last });
}

static void back_matmul(struct grad *s, const struct node *n, int dy)
{
    int a = n->operand[0], b = n->operand[1];
    struct tensor ta = *tensor(s, a), tb = *tensor(s, b), ty = *tensor(s, dy);
    bool flip = node_attr(n, "tb", 0, 0) == 1;
    if (node_attr(n, "ta", 0, 0) == 1) die("node '%s': the gradient of a product with a transposed left side", n->name);
    if (s->leads[a]) {
        int64_t shape[GRAPH_DIMS];
        memcpy(shape, ty.shape, sizeof shape);
        shape[ty.ndim - 1] = ta.shape[ta.ndim - 1];
        add_gradient(s, a, unbroadcast(s, product(s, dy, false, b, !flip, ta.name, ty.ndim, shape), a));
    }
    if (!s->leads[b]) return;
    if (tb.ndim == 2) {
        int x = rows(s, a), d = rows(s, dy);
        add_gradient(s, b,
                     flip ? product(s, d, true, x, false, tb.name, 2, tb.shape)
                          : product(s, x, true, d, false, tb.name, 2, tb.shape));
        return;
    }
    int64_t shape[GRAPH_DIMS];
    memcpy(shape, ty.shape, sizeof shape);
    shape[ty.ndim - 2] = tb.shape[tb.ndim - 2];
    shape[ty.ndim - 1] = tb.shape[tb.ndim - 1];
    int d = flip ? product(s, dy, true, a, false, tb.name, ty.ndim, shape)
                 : product(s, a, true, dy, false, tb.name, ty.ndim, shape);
    add_gradient(s, b, unbroadcast(s, d, b));
}

static void back_norm(struct grad *s, const struct node *n, int dy)
{
    const int *o = n->operand;
    int in[5] = { o[0], o[1], o[4], o[5], dy }, out[3] = { like(s, o[0]), like(s, o[1]), like(s, o[2]) };
    emit(s, "NdNormGrad", n->name, 5, in, 3, out);
    for (int i = 0; i < 3; i++)
        if (s->leads[o[i]]) add_gradient(s, o[i], out[i]);
}

static void back_concat(struct grad *s, const struct node *n, int dy)
{
    int axis = (int)node_attr(n, "axis", 0, 0);
    int64_t begin = 0;
    for (int i = 0; i < n->nin; i++) {
        int x = n->operand[i];
        if (s->leads[x]) {
            int d = like(s, x), k = apply(s, "NdSlice", dy, -1, d);
            graph_attr(s->g, k, "axis", 1, axis, 0);
            graph_attr(s->g, k, "begin", 1, (double)begin, 0);
            add_gradient(s, x, d);
        }
        begin += tensor(s, x)->shape[axis];
    }
}

static void back_reduce(struct grad *s, const struct node *n, int dy)
{
    struct tensor x = *tensor(s, n->operand[0]), y = *tensor(s, n->operand[1]);
    int64_t shape[GRAPH_DIMS];
    int axes = (int)node_attr(n, "axes", 0, 0);
    for (int k = 0; k < x.ndim; k++) shape[k] = axes >> k & 1 ? 1 : x.shape[k];
    int d = reshape(s, dy, x.ndim, shape), dx = like(s, n->operand[0]);
    double factor = node_attr(n, "mean", 0, 0) == 1 ? (double)y.bytes / (double)x.bytes : 1;
    graph_attr(s->g, apply(s, "NdExpand", d, -1, dx), "factor", 1, factor, 0);
    add_gradient(s, n->operand[0], dx);
}

static void back_expand(struct grad *s, const struct node *n, int dy)
{
    double factor = node_attr(n, "factor", 0, 1);
    if (factor != 1) dy = unary(s, ND_SCALE, factor, dy);
    add_gradient(s, n->operand[0], unbroadcast(s, dy, n->operand[0]));
}

static void back_transpose(struct grad *s, const struct node *n, int dy)
{
    int dx = like(s, n->operand[0]), k = apply(s, "NdTranspose", dy, -1, dx);
    struct attr *a = arena_get(&s->g->text, sizeof *a);
    *a = (struct attr){ .name = "perm", .n = tensor(s, dy)->ndim };
    for (int i = 0; i < a->n; i++) a->v[(int)node_attr(n, "perm", i, 0)] = i;
    s->g->node[k].attr = a;
    s->g->node[k].nattr = 1;
    add_gradient(s, n->operand[0], dx);
}

/* x -> y and the gradient's operator takes (first, second) -> dx with the same attributes */
static void back_simple(struct grad *s, const struct node *n, const char *op, int first, int second, int of)
{
    if (!s->leads[of]) return;
    int d = like(s, of);
    copy_attrs(s->g, apply(s, op, first, second, d), n);
    add_gradient(s, of, d);
}

static bool back(struct grad *s, const struct node *n, int dy)
{
    const int *o = n->operand;
    const char *op = n->op;
    if (!strcmp(op, "NdBinary")) back_binary(s, n, dy);
    else if (!strcmp(op, "NdUnary")) back_simple(s, n, "NdUnaryGrad", o[0], dy, o[0]);
    else if (!strcmp(op, "NdReduce")) back_reduce(s, n, dy);
    else if (!strcmp(op, "NdReshape"))
        add_gradient(s, o[0], reshape(s, dy, tensor(s, o[0])->ndim, tensor(s, o[0])->shape));
    else if (!strcmp(op, "NdTranspose")) back_transpose(s, n, dy);
    else if (!strcmp(op, "NdMatMul")) back_matmul(s, n, dy);
    else if (!strcmp(op, "NdConv")) {
        back_simple(s, n, "NdConvGradX", o[1], dy, o[0]);
        back_simple(s, n, "NdConvGradW", o[0], dy, o[1]);
    } else if (!strcmp(op, "NdConvGradX")) {
        back_simple(s, n, "NdConv", dy, o[0], o[1]);
        back_simple(s, n, "NdConvGradW", dy, o[1], o[0]);
    } else if (!strcmp(op, "NdMaxPool")) back_simple(s, n, "NdMaxPoolGrad", dy, o[2], o[0]);
    else if (!strcmp(op, "NdAvgPool")) back_simple(s, n, "NdAvgPoolGrad", dy, -1, o[0]);
    else if (!strcmp(op, "NdNorm")) back_norm(s, n, dy);
    else if (!strcmp(op, "NdSoftmax")) back_simple(s, n, "NdSoftmaxGrad", o[1], dy, o[0]);
    else if (!strcmp(op, "NdLogSoftmax")) back_simple(s, n, "NdLogSoftmaxGrad", o[1], dy, o[0]);
    else if (!strcmp(op, "NdExpand")) back_expand(s, n, dy);
    else if (!strcmp(op, "NdConcat")) back_concat(s, n, dy);
    else if (!strcmp(op, "NdSlice")) back_simple(s, n, "NdPad", dy, -1, o[0]);
    else if (!strcmp(op, "NdPad")) back_simple(s, n, "NdSlice", dy, -1, o[0]);
    else if (!strcmp(op, "NdGather")) back_simple(s, n, "NdGatherGrad", o[1], dy, o[0]);
    else if (!strcmp(op, "NdUpsample")) back_simple(s, n, "NdUpsampleGrad", dy, -1, o[0]);
    else if (!strcmp(op, "NdDropout")) back_simple(s, n, "NdDropout", dy, o[1], o[0]);
    else return false;
    return true;
}

static int arg_like(struct grad *s, const char *name, const char *tail, int of, int updates)
{
    struct tensor t = *tensor(s, of);
    char *full = xformat("%s%s", name, tail);
    int id = graph_tensor(s->g, full, ROLE_ARG, t.dtype, t.ndim, t.shape);
    s->g->tensor[id].updates = updates;
    free(full);
    return id;
}

static void update(struct grad *s, int w)
{
    const char *name = tensor(s, w)->name;
    int d = s->of[w], k;
    if (!s->opt->adam) {
        int in[2] = { w, d }, out = arg_like(s, name, ".next", w, w);
        k = emit(s, "NdSgd", name, 2, in, 1, &out);
    } else {
        int m = arg_like(s, name, ".m", w, -1), v = arg_like(s, name, ".v", w, -1);
        int in[5] = { w, d, m, v, s->counter };
        int out[3] = { arg_like(s, name, ".next", w, w), arg_like(s, name, ".m.next", m, m),
                       arg_like(s, name, ".v.next", v, v) };
        k = emit(s, "NdAdam", name, 5, in, 3, out);
        graph_attr(s->g, k, "epsilon", 1, 1e-8, 0);
    }
    graph_attr(s->g, k, "rate", 1, s->opt->rate, 0);
}

static struct graph *copy_forward(const struct graph *f)
{
    struct graph *g = graph_new(f->name, f->batch);
    for (int i = 0; i < f->ntensor; i++) {
        const struct tensor *t = &f->tensor[i];
        int id = graph_tensor(g, t->name, t->role, t->dtype, t->ndim, t->shape);
        g->tensor[id].trained = t->trained;
    }
    for (int i = 0; i < f->nnode; i++) {
        const struct node *n = &f->node[i];
        int k = graph_node(g, n->name, n->op, n->nin, n->operand, n->nout, n->operand + n->nin);
        copy_attrs(g, k, n);
    }
    return g;
}

/* loss and p of the output's rows; returns the gradient of the output */
static int add_loss(struct grad *s, int output)
{
    struct tensor y = *tensor(s, output);
    if (y.ndim < 2) die("%s: the output '%s' has no rows of classes", s->g->file, y.name);
    int x = rows(s, output);
    int64_t n = tensor(s, x)->shape[0];
    int labels = graph_tensor(s->g, "labels", ROLE_ARG, "i32", 1, &n);
    int loss = graph_tensor(s->g, "loss", ROLE_ARG, "f32", 1, (int64_t[]){ 1 }), p = like(s, x);
    emit(s, "NdLoss", "loss", 2, (int[]){ x, labels }, 2, (int[]){ loss, p });
    int d = like(s, x);
    apply(s, "NdLossGrad", p, labels, d);
    return reshape(s, d, y.ndim, y.shape);
}

static int find_output(const struct graph *f, const char *name)
{
    for (int i = f->nnode; i-- > 0;) {                   /* of several with that name the last: the others lead to it */
        int y = f->node[i].operand[f->node[i].nin];
        if (!name || !strcmp(f->tensor[y].name, name)) return y;
    }
    die("%s: there is no tensor '%s'", f->file, name);
}

/* what the step adds is found by name */
static void check_name(const struct graph *f, int i)
{
    const char *name = f->tensor[i].name;
    if (f->tensor[i].role != ROLE_INTER && (!strcmp(name, "step") || !strcmp(name, "labels") || !strcmp(name, "loss")))
        die("%s: '%s' is the name of an arg that the step adds: the network's needs another", f->file, name);
}

struct graph *grad_step(const struct graph *f, const char *output, const struct optimiser *opt)
{
    struct grad s = { .g = copy_forward(f), .opt = opt, .counter = -1 };
    s.g->file = f->file;
    size_t n = (size_t)f->ntensor + 1;
    s.of = xmalloc(n, sizeof *s.of);
    s.leads = xcalloc(n, sizeof *s.leads);
    s.first_reader = xmalloc(n, sizeof *s.first_reader);
    for (int i = 0; i < f->ntensor; i++) {
        s.of[i] = s.first_reader[i] = -1;
        s.leads[i] = grad_parameter(&f->tensor[i]);
        if (grad_counter(&f->tensor[i])) s.counter = i;
        else check_name(f, i);
    }
    for (int i = 0; i < f->nnode; i++)
        for (int k = 0; k < f->node[i].nin; k++) {
            int t = f->node[i].operand[k];
            if (t == s.counter && strcmp(f->node[i].op, "NdDropout") != 0)
                die("%s: node '%s' reads 'step', which counts for dropout: what it reads needs another name",
                    f->file, f->node[i].name);
            if (s.first_reader[t] < 0) s.first_reader[t] = i;
            for (int o = f->node[i].nin; s.leads[t] && o < f->node[i].nin + f->node[i].nout; o++)
                s.leads[f->node[i].operand[o]] = true;
        }
    for (int i = 0; i < f->nnode; i++)                   /* how many operands there are, and what attributes may be */
        if (nd_is(f->node[i].op)) nd_free(nd_make(f, i));
    int y = find_output(f, output);
    if (!s.leads[y])
        die("%s: no parameter leads to the output '%s' (place-import --parameters=REGEX says which initialisers are "
            "trained)", f->file, f->tensor[y].name);
    if (s.counter < 0 && opt->adam) s.counter = graph_tensor(s.g, "step", ROLE_ARG, "i32", 1, (int64_t[]){ 1 });
    s.of[y] = add_loss(&s, y);
    struct buf missing = { 0 };
    for (int i = f->nnode; i-- > 0;) {
        const struct node *d = &f->node[i];
        int dy = s.of[d->operand[d->nin]];
        if (dy >= 0 && !back(&s, d, dy) && !strstr(missing.n ? missing.s : "", d->op))
            buf_format(&missing, " %s", d->op);
        for (int k = 0; k < d->nin; k++) {
            int t = d->operand[k];
            bool again = false;
            for (int j = 0; j < k; j++) again |= d->operand[j] == t;
            if (!again && s.first_reader[t] == i && s.of[t] >= 0 && grad_parameter(&f->tensor[t])) update(&s, t);
        }
    }
    if (missing.n) die("%s: operators without a gradient:%s", f->file, missing.s);
    if (s.counter >= 0) {
        int next = arg_like(&s, "step", ".next", s.counter, s.counter);
        emit(&s, "NdCount", "step", 1, &s.counter, 1, &next);
    }
    free(s.of);
    free(s.leads);
    free(s.first_reader);
    graph_finish(s.g);
    return s.g;
}

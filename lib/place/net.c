/* net.c - see net.h */
#include "place/net.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/num.h"
#include "base/str.h"
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct image { int id; int64_t c, h, w; bool grad; };    /* an activation; grad: a gradient is wanted for it */

enum step_kind { CONV, NORM, RELU, MAXPOOL, AVGPOOL, ADD, CONCAT, DENSE };

struct step {                                            /* one forward operation, kept for the way back */
    enum step_kind kind;
    struct image x, y;
    int w, b, mean, var, index;                          /* parameters and saved tensors */
    bool relu;
    int64_t kernel[2], stride[2], pad[2];
    double flops;
    int nin;
    struct image *in;                                    /* ADD, CONCAT */
    const char *name;
};

struct net {
    struct graph *g;
    int64_t n;                                           /* batch */
    bool study;                                          /* kernels of the study, nothing fused beyond them */
    bool *shared;                                        /* tensor: a gradient that arrives at several places */
    size_t capshared;
    struct step *tape;
    size_t nstep, capstep;
    int *grad;                                           /* tensor -> its gradient so far, -1 none */
    size_t capgrad, ngrad;
    int count[DENSE + 1];
    struct arena text;
};

/* ---- tensors and nodes ---- */

static int64_t elements(const struct net *t, int id)
{
    return (int64_t)t->g->tensor[id].bytes / 4;
}

static int make(struct net *t, enum role role, const char *dtype, const char *layer, const char *what, int ndim,
                const int64_t *shape)
{
    double product = 4;
    for (int i = 0; i < ndim; i++) product *= (double)shape[i];
    if (product > 1e15) die("tensor %s%s of %s would take %g bytes", layer, what, t->g->name, product);
    char *name = xformat("%s%s", layer, what);
    int id = graph_tensor(t->g, name, role, dtype, ndim, shape);
    free(name);
    t->grad = grow(t->grad, (size_t)id + 1, &t->capgrad, sizeof *t->grad);
    t->shared = grow(t->shared, (size_t)id + 1, &t->capshared, sizeof *t->shared);
    t->shared[id] = false;
    while (t->ngrad <= (size_t)id) t->grad[t->ngrad++] = -1;
    return id;
}

static int inter_like(struct net *t, const char *layer, const char *what, int like)
{
    struct tensor model = t->g->tensor[like];
    return make(t, ROLE_INTER, "f32", layer, what, model.ndim, model.shape);
}

static int inter_image(struct net *t, const char *layer, const char *what, int64_t c, int64_t h, int64_t w)
{
    return make(t, ROLE_INTER, "f32", layer, what, 4, (int64_t[]){ t->n, c, h, w });
}

static int parameter(struct net *t, const char *layer, const char *what, int ndim, const int64_t *shape)
{
    return make(t, ROLE_ARG, "f32", layer, what, ndim, shape);
}

static int node(struct net *t, const char *layer, const char *what, const char *op, double flops, int nin,
                const int *in, int nout, const int *out)
{
    char *name = xformat("%s%s", layer, what);
    int k = graph_node(t->g, name, op, nin, in, nout, out);
    t->g->node[k].flops = flops;
    free(name);
    return k;
}

static struct step *step(struct net *t, enum step_kind kind, struct image x)
{
    static const char *const names[] = { "conv", "norm", "relu", "maxpool", "avgpool", "add", "concat", "dense" };
    t->tape = grow(t->tape, t->nstep + 1, &t->capstep, sizeof *t->tape);
    char *name = xformat("%s%d", names[kind], ++t->count[kind]);
    struct step *s = &t->tape[t->nstep++];
    *s = (struct step){ .kind = kind, .x = x, .name = arena_copy(&t->text, name, strlen(name)) };
    free(name);
    return s;
}

static void window(struct net *t, int k, const struct step *s)
{
    graph_attr(t->g, k, "kernel", 2, (double)s->kernel[0], (double)s->kernel[1]);
    graph_attr(t->g, k, "stride", 2, (double)s->stride[0], (double)s->stride[1]);
    graph_attr(t->g, k, "pad", 2, (double)s->pad[0], (double)s->pad[1]);
}

static int64_t side(const struct net *t, int64_t x, int64_t k, int64_t stride, int64_t pad)
{
    if (x + 2 * pad < k)
        die("the image is too small for %s: a window of %lld meets %lld points", t->g->name, (long long)k,
            (long long)x);
    return (x + 2 * pad - k) / stride + 1;
}

/* ---- forward ---- */

static struct image conv_window(struct net *t, struct image x, int64_t kh, int64_t kw, int64_t co, int64_t stride,
                                int64_t ph, int64_t pw, bool relu)
{
    struct step *s = step(t, CONV, x);
    memcpy(s->kernel, (int64_t[]){ kh, kw }, sizeof s->kernel);
    memcpy(s->stride, (int64_t[]){ stride, stride }, sizeof s->stride);
    memcpy(s->pad, (int64_t[]){ ph, pw }, sizeof s->pad);
    s->relu = relu;
    s->w = parameter(t, s->name, ".weight", 4, (int64_t[]){ co, x.c, kh, kw });
    s->b = parameter(t, s->name, ".bias", 1, &co);
    s->y = (struct image){ 0, co, side(t, x.h, kh, stride, ph), side(t, x.w, kw, stride, pw), true };
    s->y.id = inter_image(t, s->name, "", co, s->y.h, s->y.w);
    s->flops = 2.0 * (double)elements(t, s->y.id) * (double)(x.c * kh * kw);
    int k = node(t, s->name, "", "ConvolutionBias", s->flops, 3, (int[]){ x.id, s->w, s->b }, 1, &s->y.id);
    window(t, k, s);
    if (relu) graph_attr(t->g, k, "relu", 1, 1, 0);
    return s->y;
}

/* square window, relu */
static struct image conv(struct net *t, struct image x, int64_t k, int64_t co, int64_t stride, int64_t pad)
{
    return conv_window(t, x, k, k, co, stride, pad, pad, true);
}

static struct image conv_plain(struct net *t, struct image x, int64_t k, int64_t co, int64_t stride, int64_t pad)
{
    return conv_window(t, x, k, k, co, stride, pad, pad, false);
}

static struct image norm(struct net *t, struct image x, bool relu)
{
    struct step *s = step(t, NORM, x);
    s->relu = relu;
    s->w = parameter(t, s->name, ".scale", 1, &x.c);
    s->b = parameter(t, s->name, ".shift", 1, &x.c);
    s->y = x;
    s->y.grad = true;
    s->y.id = inter_like(t, s->name, "", x.id);
    s->mean = make(t, ROLE_INTER, "f32", s->name, ".mean", 1, &x.c);
    s->var = make(t, ROLE_INTER, "f32", s->name, ".var", 1, &x.c);
    node(t, s->name, "", relu ? "BatchNormTrainingRelu" : "BatchNormTraining", 8 * (double)elements(t, x.id), 3,
         (int[]){ s->w, s->b, x.id }, 3, (int[]){ s->y.id, s->mean, s->var });
    return s->y;
}

static struct image relu(struct net *t, struct image x)
{
    struct step *last = &t->tape[t->nstep - 1];
    if (!t->study && last->kind == ADD && last->y.id == x.id) {
        last->relu = true;
        graph_attr(t->g, t->g->nnode - 1, "relu", 1, 1, 0);
        return x;
    }
    struct step *s = step(t, RELU, x);
    s->y = x;
    s->y.grad = true;
    s->y.id = inter_like(t, s->name, "", x.id);
    node(t, s->name, "", "Relu", (double)elements(t, x.id), 1, &x.id, 1, &s->y.id);
    return s->y;
}

static struct image pool(struct net *t, struct image x, enum step_kind kind, int64_t kh, int64_t kw, int64_t stride,
                         int64_t pad)
{
    struct step *s = step(t, kind, x);
    memcpy(s->kernel, (int64_t[]){ kh, kw }, sizeof s->kernel);
    memcpy(s->stride, (int64_t[]){ stride, stride }, sizeof s->stride);
    memcpy(s->pad, (int64_t[]){ pad, pad }, sizeof s->pad);
    s->y = (struct image){ 0, x.c, side(t, x.h, kh, stride, pad), side(t, x.w, kw, stride, pad), true };
    s->y.id = inter_image(t, s->name, "", x.c, s->y.h, s->y.w);
    s->flops = (double)(kh * kw) * (double)elements(t, s->y.id);
    int k;
    if (kind == MAXPOOL) {
        s->index = make(t, ROLE_INTER, "i32", s->name, ".index", 4, (int64_t[]){ t->n, x.c, s->y.h, s->y.w });
        k = node(t, s->name, "", "MaxPoolWithIndices", s->flops, 1, &x.id, 2, (int[]){ s->y.id, s->index });
    } else k = node(t, s->name, "", "AvgPool", s->flops, 1, &x.id, 1, &s->y.id);
    window(t, k, s);
    return s->y;
}

static struct image maxpool(struct net *t, struct image x, int64_t k, int64_t stride, int64_t pad)
{
    return pool(t, x, MAXPOOL, k, k, stride, pad);
}

static struct image meanpool(struct net *t, struct image x)   /* over the whole image */
{
    return pool(t, x, AVGPOOL, x.h, x.w, 1, 0);
}

static void keep_inputs(struct net *t, struct step *s, int n, const struct image *x)
{
    s->nin = n;
    s->in = arena_get(&t->text, size_mul((size_t)n, sizeof *x));
    memcpy(s->in, x, (size_t)n * sizeof *x);
}

static struct image add(struct net *t, struct image a, struct image b)
{
    struct step *s = step(t, ADD, a);
    keep_inputs(t, s, 2, (struct image[]){ a, b });
    s->y = a;
    s->y.grad = true;
    s->y.id = inter_like(t, s->name, "", a.id);
    node(t, s->name, "", "Add", (double)elements(t, a.id), 2, (int[]){ a.id, b.id }, 1, &s->y.id);
    return s->y;
}

static struct image concat(struct net *t, int n, const struct image *x)
{
    struct step *s = step(t, CONCAT, x[0]);
    keep_inputs(t, s, n, x);
    int id[8];
    s->y = x[0];
    s->y.grad = true;
    s->y.c = 0;
    for (int i = 0; i < n; i++) {
        id[i] = x[i].id;
        s->y.c += x[i].c;
        if (x[i].h != x[0].h || x[i].w != x[0].w)
            die("the image is too small for %s: branches of %s differ in size", t->g->name, s->name);
    }
    s->y.id = inter_image(t, s->name, "", s->y.c, s->y.h, s->y.w);
    node(t, s->name, "", "Concat", 0, n, id, 1, &s->y.id);
    return s->y;
}

static struct image dense(struct net *t, struct image x, int64_t out)
{
    struct step *s = step(t, DENSE, x);
    int64_t in = x.c * x.h * x.w;
    s->w = parameter(t, s->name, ".weight", 2, (int64_t[]){ out, in });
    s->b = parameter(t, s->name, ".bias", 1, &out);
    s->flops = 2.0 * (double)t->n * (double)in * (double)out;
    s->y = (struct image){ make(t, ROLE_INTER, "f32", s->name, "", 2, (int64_t[]){ t->n, out }), out, 1, 1, true };
    node(t, s->name, "", "MatmulBias", s->flops, 3, (int[]){ s->w, x.id, s->b }, 1, &s->y.id);
    return s->y;
}

/* ---- backward ---- */

/* the last node whose i-th output a tensor is; -1: there is none */
static int maker(const struct net *t, int id, int i)
{
    int k = t->g->nnode - 1;
    while (k >= 0 && (t->g->node[k].nout <= i || t->g->node[k].operand[t->g->node[k].nin + i] != id)) k--;
    return k;
}

/* the node whose first output a tensor is, if it can do more with it before others see it; -1: there is none */
static int fusible(const struct net *t, int id)
{
    static const char *const can[] = { "ConvolutionBackpropData", "BatchNormTrainingBackprop", "MaxPoolBackprop",
                                       "AvgPoolBackprop", "Slice", "Add" };
    int k = maker(t, id, 0);
    if (k < 0 || t->study || t->shared[id] || node_attr(&t->g->node[k], "mask", 0, 0) == 1) return -1;
    for (size_t i = 0; i < sizeof can / sizeof *can; i++)
        if (strcmp(t->g->node[k].op, can[i]) == 0) return k;
    return -1;
}

static void fuse(struct net *t, int k, const char *what, int input)
{
    graph_input(t->g, k, input);
    graph_attr(t->g, k, what, 1, 1, 0);
    t->g->node[k].flops += (double)elements(t, input);
}

static void accumulate(struct net *t, const struct step *s, int id, int grad)
{
    int before = t->grad[id];
    if (before < 0) {
        t->grad[id] = grad;
        return;
    }
    int k = fusible(t, grad);
    if (k >= 0 && node_attr(&t->g->node[k], "plus", 0, 0) != 1 && strcmp(t->g->node[k].op, "Add") != 0
        && maker(t, before, 0) < k) {
        fuse(t, k, "plus", before);
        t->grad[id] = grad;
        return;
    }
    int sum = inter_like(t, t->g->tensor[id].name, ".grad_sum", id);
    node(t, s->name, ".grad_sum", "Add", (double)elements(t, id), 2, (int[]){ t->grad[id], grad }, 1, &sum);
    t->grad[id] = sum;
}

static int next_of(struct net *t, int parameter_id)
{
    struct tensor p = t->g->tensor[parameter_id];
    int next = make(t, ROLE_ARG, "f32", p.name, ".next", p.ndim, p.shape);
    t->g->tensor[next].updates = parameter_id;
    return next;
}

static void update(struct net *t, int parameter_id, int grad)
{
    int next = next_of(t, parameter_id);
    struct tensor p = t->g->tensor[parameter_id];
    node(t, p.name, ".update", "Add", (double)elements(t, next), 2, (int[]){ parameter_id, grad }, 1, &next);
}

static int through_relu(struct net *t, const struct step *s, int dy)
{
    int k = fusible(t, dy);
    struct node *n = k < 0 ? NULL : &t->g->node[k];
    if (n && strcmp(n->op, "MaxPoolBackprop") == 0 && node_extras(n) == 0) {   /* the pool's output is smaller */
        n->op = "MaxPoolReluBackprop";
        const struct node *pool = &t->g->node[maker(t, n->operand[1], 1)];
        graph_input(t->g, k, pool->operand[pool->nin]);
        int *o = n->operand;
        memcpy(o, (int[]){ o[2], o[0], o[1] }, 3 * sizeof *o);
        return dy;
    }
    if (n) {
        fuse(t, k, "mask", s->y.id);
        return dy;
    }
    int dz = inter_like(t, s->name, ".grad_relu", s->y.id);
    node(t, s->name, ".grad_relu", "ReluBackprop", (double)elements(t, dz), 2, (int[]){ s->y.id, dy }, 1, &dz);
    return dz;
}

/* parameters are updated after the gradient of the input, which still needs their old values */
static void conv_back(struct net *t, const struct step *s, int dy)
{
    int dz = s->relu ? through_relu(t, s, dy) : dy;
    int dw = inter_like(t, s->name, ".grad_weight", s->w), db = inter_like(t, s->name, ".grad_bias", s->b);
    window(t,
           node(t, s->name, ".grad_filters", "ConvolutionBiasBackpropFiltersBias", s->flops, 2, (int[]){ s->x.id, dz },
                2, (int[]){ dw, db }),
           s);
    if (s->x.grad) {
        int dx = inter_like(t, s->name, ".grad_data", s->x.id);
        window(t, node(t, s->name, ".grad_data", "ConvolutionBackpropData", s->flops, 2, (int[]){ s->w, dz }, 1, &dx),
               s);
        accumulate(t, s, s->x.id, dx);
    }
    update(t, s->w, dw);
    update(t, s->b, db);
}

static void norm_back(struct net *t, const struct step *s, int dy)
{
    int dz = s->relu ? through_relu(t, s, dy) : dy;
    int dx = inter_like(t, s->name, ".grad_data", s->x.id);
    int dscale = inter_like(t, s->name, ".grad_scale", s->w), dshift = inter_like(t, s->name, ".grad_shift", s->b);
    node(t, s->name, ".grad", "BatchNormTrainingBackprop", 16 * (double)elements(t, s->x.id), 6,
         (int[]){ s->w, s->b, s->x.id, s->mean, s->var, dz }, 3, (int[]){ dx, dscale, dshift });
    if (s->x.grad) accumulate(t, s, s->x.id, dx);
    update(t, s->w, dscale);
    update(t, s->b, dshift);
}

static void pool_back(struct net *t, const struct step *s, int dy)
{
    if (!s->x.grad) return;
    int dx = inter_like(t, s->name, ".grad", s->x.id);
    int k = s->kind == MAXPOOL && t->study
        ? node(t, s->name, ".grad", "MaxPoolWithIndicesBackprop", s->flops, 3, (int[]){ s->x.id, dy, s->index }, 1, &dx)
        : s->kind == MAXPOOL
        ? node(t, s->name, ".grad", "MaxPoolBackprop", s->flops, 2, (int[]){ dy, s->index }, 1, &dx)
        : node(t, s->name, ".grad", "AvgPoolBackprop", s->flops, 1, &dy, 1, &dx);
    window(t, k, s);
    accumulate(t, s, s->x.id, dx);
}

static void concat_back(struct net *t, const struct step *s, int dy)
{
    int64_t from = 0;
    for (int i = 0; i < s->nin; from += s->in[i++].c) {
        if (!s->in[i].grad) continue;
        char what[32];
        snprintf(what, sizeof what, ".grad%d", i + 1);
        int dx = inter_like(t, s->name, what, s->in[i].id);
        graph_attr(t->g, node(t, s->name, what, "Slice", 0, 1, &dy, 1, &dx), "from", 1, (double)from, 0);
        accumulate(t, s, s->in[i].id, dx);
    }
}

/* The gradient of the weights, in many nets the largest tensor of all, is added to them row by row and never whole;
 * in the study it is a tensor. */
static void dense_back(struct net *t, const struct step *s, int dy)
{
    int dw = t->study ? inter_like(t, s->name, ".grad_weight", s->w) : -1,
        db = inter_like(t, s->name, ".grad_bias", s->b), k;
    if (t->study) {
        k = node(t, s->name, ".grad_weight", "Dot", s->flops, 2, (int[]){ dy, s->x.id }, 1, &dw);
        graph_attr(t->g, k, "grad_weights", 1, 1, 0);
    }
    node(t, s->name, ".grad_bias", "Sum", (double)elements(t, dy), 1, &dy, 1, &db);
    if (s->x.grad) {
        int dx = inter_like(t, s->name, ".grad_data", s->x.id);
        k = node(t, s->name, ".grad_data", "Dot", s->flops, 2, (int[]){ s->w, dy }, 1, &dx);
        graph_attr(t->g, k, "grad_data", 1, 1, 0);
        accumulate(t, s, s->x.id, dx);
    }
    if (t->study) update(t, s->w, dw);
    else {
        int next = next_of(t, s->w);
        k = node(t, s->name, ".grad_weight", "DotAdd", s->flops, 3, (int[]){ dy, s->x.id, s->w }, 1, &next);
        graph_attr(t->g, k, "grad_weights", 1, 1, 0);
    }
    update(t, s->b, db);
}

static void backward(struct net *t)
{
    for (size_t i = t->nstep; i-- > 0; ) {
        const struct step *s = &t->tape[i];
        int dy = t->grad[s->y.id];
        if (dy < 0) continue;
        switch (s->kind) {
        case CONV: conv_back(t, s, dy); break;
        case NORM: norm_back(t, s, dy); break;
        case RELU: accumulate(t, s, s->x.id, through_relu(t, s, dy)); break;
        case MAXPOOL:
        case AVGPOOL: pool_back(t, s, dy); break;
        case ADD:
            if (s->relu) dy = through_relu(t, s, dy);
            if (s->in[0].grad && s->in[1].grad) t->shared[dy] = true;
            for (int k = 0; k < 2; k++)
                if (s->in[k].grad) accumulate(t, s, s->in[k].id, dy);
            break;
        case CONCAT: concat_back(t, s, dy); break;
        case DENSE: dense_back(t, s, dy); break;
        }
    }
}

/* softmax and cross entropy; the gradient carries the step of -rate / batch */
static void loss(struct net *t, struct image x, double rate)
{
    int p = inter_like(t, "softmax", "", x.id), one = make(t, ROLE_ARG, "f32", "loss", "", 0, NULL);
    int labels = make(t, ROLE_ARG, "f32", "labels", "", 2, (int64_t[]){ t->n, x.c });
    node(t, "softmax", "", "Softmax", 5 * (double)elements(t, p), 1, &x.id, 1, &p);
    node(t, "loss", "", "CrossEntropy", (double)elements(t, p), 2, (int[]){ p, labels }, 1, &one);
    int d = inter_like(t, "softmax", ".grad", x.id);
    graph_attr(t->g,
               node(t, "softmax", ".grad", "Subtract", 2 * (double)elements(t, p), 2, (int[]){ p, labels }, 1, &d),
               "scale", 1, -rate / (double)t->n, 0);
    t->grad[x.id] = d;
    backward(t);
}

/* ---- networks ---- */

static struct image input(struct net *t, int64_t c, int64_t image)
{
    return (struct image){ make(t, ROLE_ARG, "f32", "input", "", 4, (int64_t[]){ t->n, c, image, image }), c, image,
                           image, false };
}

static void vgg(struct net *t, int64_t image, const int *layers)
{
    static const int64_t channels[] = { 64, 128, 256, 512, 512 };
    struct image x = input(t, 3, image);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < layers[i]; k++) x = conv(t, x, 3, channels[i], 1, 1);
        x = maxpool(t, x, 2, 2, 0);
    }
    x = relu(t, dense(t, x, 4096));
    x = relu(t, dense(t, x, 4096));
    loss(t, relu(t, dense(t, x, 1000)), 0.05);
}

static void vgg16(struct net *t, int64_t image)
{
    vgg(t, image, (const int[]){ 2, 2, 3, 3, 3 });
}

static void vgg19(struct net *t, int64_t image)
{
    vgg(t, image, (const int[]){ 2, 2, 4, 4, 4 });
}

static void vgg416(struct net *t, int64_t image)
{
    static const struct { int64_t c; int n; int64_t next; } stage[] =
        { { 64, 80, 128 }, { 128, 81, 256 }, { 256, 82, 512 }, { 512, 83, 0 }, { 512, 83, 0 } };
    struct image x = conv(t, input(t, 3, image), 3, 64, 1, 1);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < stage[i].n; k++) x = conv(t, x, 3, stage[i].c, 1, 1);
        if (stage[i].next) x = conv(t, x, 3, stage[i].next, 1, 1);
        x = maxpool(t, x, 2, 2, 0);
    }
    x = relu(t, dense(t, x, 4096));
    x = relu(t, dense(t, x, 4096));
    loss(t, dense(t, x, 1000), 0.05);
}

/* shortcut: stride of a convolution on the short way, 0 for the identity */
static struct image bottleneck(struct net *t, struct image x, int64_t f, int64_t stride, int64_t shortcut)
{
    struct image y = norm(t, conv_plain(t, x, 1, f, 1, 0), true);
    y = norm(t, conv_plain(t, y, 3, f, 1, 1), true);
    y = norm(t, conv_plain(t, y, 1, 4 * f, stride, 0), false);
    if (shortcut) x = norm(t, conv_plain(t, x, 1, 4 * f, shortcut, 0), false);
    return relu(t, add(t, y, x));
}

/* two 3 x 3 convolutions; otherwise as the other */
static struct image basic(struct net *t, struct image x, int64_t f, int64_t stride, int64_t shortcut)
{
    struct image y = norm(t, conv_plain(t, x, 3, f, 1, 1), true);
    y = norm(t, conv_plain(t, y, 3, f, stride, 1), false);
    if (shortcut > 1) x = norm(t, conv_plain(t, x, 1, f, shortcut, 0), false);
    return relu(t, add(t, y, x));
}

static void resnet(struct net *t, int64_t image, const int *layers,
                   struct image (*block)(struct net *, struct image, int64_t, int64_t, int64_t))
{
    struct image x = conv_plain(t, input(t, 3, image), 7, 64, 2, 3);
    x = maxpool(t, x, 3, 2, 1);
    int64_t f = 64;
    for (int i = 0; i < 4; i++, f *= 2)
        for (int k = 0; k < layers[i]; k++) x = block(t, x, f, i > 0 && k == 0 ? 2 : 1, k > 0 ? 0 : i > 0 ? 2 : 1);
    loss(t, dense(t, meanpool(t, x), 1000), 0.001);
}

static void resnet50(struct net *t, int64_t image)
{
    resnet(t, image, (const int[]){ 3, 4, 6, 3 }, bottleneck);
}

static void resnet200(struct net *t, int64_t image)
{
    resnet(t, image, (const int[]){ 3, 24, 36, 3 }, bottleneck);
}

static void resnet101(struct net *t, int64_t image)
{
    resnet(t, image, (const int[]){ 3, 4, 23, 3 }, bottleneck);
}

static void resnet18(struct net *t, int64_t image)
{
    resnet(t, image, (const int[]){ 2, 2, 2, 2 }, basic);
}

static void resnet34(struct net *t, int64_t image)
{
    resnet(t, image, (const int[]){ 3, 4, 6, 3 }, basic);
}

static void densenet264(struct net *t, int64_t image)
{
    static const int layers[] = { 6, 12, 64, 48 };
    enum { GROWTH = 32 };
    struct image x = conv(t, input(t, 3, image), 7, 2 * GROWTH, 2, 3);
    x = maxpool(t, x, 3, 2, 1);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < layers[i]; k++) {
            struct image y = norm(t, conv_plain(t, norm(t, x, true), 1, 4 * GROWTH, 1, 0), true);
            x = concat(t, 2, (struct image[]){ x, conv_plain(t, y, 3, GROWTH, 1, 1) });
        }
        if (i < 3) x = pool(t, conv_plain(t, norm(t, x, true), 1, 2 * GROWTH, 1, 0), AVGPOOL, 2, 2, 2, 0);
    }
    loss(t, dense(t, meanpool(t, x), 1000), 0.001);
}

static struct image conv1(struct net *t, struct image x, int64_t co)
{
    return conv(t, x, 1, co, 1, 0);
}

/* k points wide (across) or high, same size out */
static struct image wide(struct net *t, struct image x, int64_t k, int64_t co)
{
    return conv_window(t, x, 1, k, co, 1, 0, k / 2, true);
}

static struct image high(struct net *t, struct image x, int64_t k, int64_t co)
{
    return conv_window(t, x, k, 1, co, 1, k / 2, 0, true);
}

static struct image smooth(struct net *t, struct image x)
{
    return pool(t, x, AVGPOOL, 3, 3, 1, 1);
}

static struct image inception_stem(struct net *t, struct image x)
{
    x = conv(t, conv(t, conv(t, x, 3, 32, 2, 0), 3, 32, 1, 0), 3, 64, 1, 1);
    struct image p = maxpool(t, x, 3, 2, 0), q = conv(t, x, 3, 96, 2, 0);
    x = concat(t, 2, (struct image[]){ p, q });
    p = conv(t, conv1(t, x, 64), 3, 96, 1, 0);
    q = conv(t, wide(t, high(t, conv1(t, x, 64), 7, 64), 7, 64), 3, 96, 1, 0);
    x = concat(t, 2, (struct image[]){ p, q });
    p = conv(t, x, 3, 192, 2, 0);
    q = maxpool(t, x, 3, 2, 0);
    return concat(t, 2, (struct image[]){ p, q });
}

static struct image inception_a(struct net *t, struct image x)
{
    struct image b[4];
    b[0] = conv1(t, smooth(t, x), 96);
    b[1] = conv1(t, x, 96);
    b[2] = conv(t, conv1(t, x, 64), 3, 96, 1, 1);
    b[3] = conv(t, conv(t, conv1(t, x, 64), 3, 96, 1, 1), 3, 96, 1, 1);
    return concat(t, 4, b);
}

static struct image inception_b(struct net *t, struct image x)
{
    struct image b[4];
    b[2] = high(t, wide(t, conv1(t, x, 192), 7, 224), 7, 256);
    b[3] = high(t, wide(t, high(t, wide(t, conv1(t, x, 192), 7, 192), 7, 224), 7, 224), 7, 256);
    b[0] = conv_plain(t, smooth(t, x), 1, 128, 1, 0);
    b[1] = conv1(t, x, 384);
    return concat(t, 4, b);
}

static struct image inception_c(struct net *t, struct image x)
{
    struct image b[4], s[2];
    b[0] = conv1(t, smooth(t, x), 256);
    b[1] = conv1(t, x, 256);
    struct image d = conv1(t, x, 384);
    s[0] = wide(t, d, 3, 256);
    s[1] = high(t, d, 3, 256);
    b[2] = concat(t, 2, s);
    d = high(t, wide(t, conv1(t, x, 384), 3, 448), 3, 512);
    s[0] = wide(t, d, 3, 256);
    s[1] = high(t, d, 3, 256);
    b[3] = concat(t, 2, s);
    return concat(t, 4, b);
}

static struct image reduce_a(struct net *t, struct image x)
{
    struct image b[3];
    b[0] = maxpool(t, x, 3, 2, 0);
    b[1] = conv(t, x, 3, 384, 2, 0);
    b[2] = conv(t, conv(t, conv1(t, x, 192), 3, 224, 1, 1), 3, 256, 2, 0);
    return concat(t, 3, b);
}

static struct image reduce_b(struct net *t, struct image x)
{
    struct image b[3];
    b[0] = maxpool(t, x, 3, 2, 0);
    b[1] = conv(t, conv1(t, x, 192), 3, 192, 2, 0);
    b[2] = conv(t, high(t, wide(t, conv1(t, x, 256), 7, 256), 7, 320), 3, 320, 2, 0);
    return concat(t, 3, b);
}

static void inception4(struct net *t, int64_t image)
{
    struct image x = inception_stem(t, input(t, 3, image));
    for (int i = 0; i < 4; i++) x = inception_a(t, x);
    x = reduce_a(t, x);
    for (int i = 0; i < 7; i++) x = inception_b(t, x);
    x = reduce_b(t, x);
    for (int i = 0; i < 3; i++) x = inception_c(t, x);
    loss(t, relu(t, dense(t, meanpool(t, x), 1000)), 0.05);
}

static void mlp(struct net *t, int64_t image)
{
    t->study = true;                                     /* a test of tensors above the limit */
    struct image x = relu(t, dense(t, input(t, 1, image), 1024));
    x = relu(t, dense(t, x, 1024));
    loss(t, dense(t, x, 10), 0.05);
}

static const struct { const char *name; void (*build)(struct net *, int64_t); int64_t image;
} nets[] = {
    { "vgg16", vgg16, 224 },
    { "vgg19", vgg19, 224 },
    { "vgg416", vgg416, 224 },
    { "inception4", inception4, 299 },
    { "resnet18", resnet18, 224 },
    { "resnet34", resnet34, 224 },
    { "resnet50", resnet50, 224 },
    { "resnet101", resnet101, 224 },
    { "resnet200", resnet200, 224 },
    { "densenet264", densenet264, 224 },
    { "mlp", mlp, 28 },
};

/* the next word of a layer; false at its end */
static bool word(const char **p, str *w)
{
    while (**p == ' ') ++*p;
    size_t n = strcspn(*p, " ;");
    *w = (str){ *p, n };
    *p += n;
    return n > 0;
}

static int64_t number(const char **p, str layer, int64_t missing)
{
    const char *at = *p;
    str w;
    double v = (double)missing;
    if (!word(p, &w) || str_is(w, "relu")) *p = at;
    else if (!num_parse(w.s, w.n, &v) || v != floor(v)) v = 0;
    if (!(v >= 1 && v <= 1 << 20)) usage("layer '%.*s': a number from 1 on is wanted", (int)layer.n, layer.s);
    return (int64_t)v;
}

static struct image layer(struct net *t, struct image x, str text)
{
    static const char wanted[] = "dense N [relu], conv SIDE CHANNELS [STRIDE] or maxpool SIDE";
    const char *p = text.s;
    str kind, w;
    word(&p, &kind);
    if (str_is(kind, "dense")) {
        x = dense(t, x, number(&p, text, 0));
        if (word(&p, &w) && str_is(w, "relu")) x = relu(t, x);
        else p -= w.n;
    } else if (str_is(kind, "conv")) {
        int64_t side = number(&p, text, 0), channels = number(&p, text, 0);
        if (channels % 16) usage("layer '%.*s': channels come in sixteens", (int)text.n, text.s);
        x = conv(t, x, side, channels, number(&p, text, 1), side / 2);
    } else if (str_is(kind, "maxpool")) {
        int64_t side = number(&p, text, 0);
        x = maxpool(t, x, side, side, 0);
    } else usage("layer '%.*s' is none of %s", (int)text.n, text.s, wanted);
    if (word(&p, &w)) usage("layer '%.*s': '%.*s' is too much: %s", (int)text.n, text.s, (int)w.n, w.s, wanted);
    return x;
}

static struct graph *finish_net(struct net *t)
{
    graph_finish(t->g);
    free(t->tape);
    free(t->grad);
    free(t->shared);
    arena_free(&t->text);
    return t->g;
}

struct graph *net_of_line(const char *line, long batch, long image, long features, bool study)
{
    struct net t = { .g = graph_new("line", batch), .n = batch, .study = study };
    struct image x = features ? input(&t, features, 1) : input(&t, 3, image ? image : 224);
    for (const char *p = line; *p; p += *p == ';') {
        while (*p == ' ') p++;
        size_t n = strcspn(p, ";");
        x = layer(&t, x, (str){ p, n });
        p += n;
    }
    if (x.h != 1 || x.w != 1) usage("the last layer of '%s' is not dense", line);
    loss(&t, x, 0.05);
    return finish_net(&t);
}

const char *net_names(void)
{
    return "vgg16 vgg19 vgg416 inception4 resnet18 resnet34 resnet50 resnet101 resnet200 densenet264 mlp mobilenetv2 "
           "unet vit";
}

struct graph *net_build(const char *name, long batch, long image, bool study)
{
    size_t i = 0;
    while (i < sizeof nets / sizeof *nets && strcmp(nets[i].name, name) != 0) i++;
    if (i == sizeof nets / sizeof *nets) return net_of_arrays(name, batch, image);
    struct net t = { .g = graph_new(name, batch), .n = batch, .study = study };
    nets[i].build(&t, image > 0 ? image : nets[i].image);
    return finish_net(&t);
}

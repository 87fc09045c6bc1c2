#include "base/message.h"
#include "place/grad.h"
#include "place/net.h"
#include "tensor/nd.h"
#include <stdlib.h>
#include <string.h>

struct arrays { struct graph *g; int convs, norms, dense, others, last; };   /* last: the node made last */

static const struct tensor *tensor(const struct arrays *a, int id) { return &a->g->tensor[id]; }

static int make(struct arrays *a, enum role role, const char *name, int n, const int64_t *shape)
{
    double bytes = 4;
    for (int i = 0; i < n; i++) bytes *= (double)shape[i];
    if (bytes > 1e15) die("tensor %s of %s would take %g bytes", name, a->g->name, bytes);
    return graph_tensor(a->g, name, role, "f32", n, shape);
}

static int parameter(struct arrays *a, const char *layer, int number, const char *what, int n, const int64_t *shape)
{
    char *name = xformat("%s%d.%s", layer, number, what);
    int id = make(a, ROLE_ARG, name, n, shape);
    free(name);
    return id;
}

static int apply(struct arrays *a, const char *op, int nin, const int *in, int n, const int64_t *shape)
{
    char *name = xformat("%s_%d", op + 2, ++a->others);   /* without Nd */
    int y = make(a, ROLE_INTER, name, n, shape);
    a->last = graph_node(a->g, name, op, nin, in, 1, &y);
    a->g->node[a->last].flops = (double)a->g->tensor[y].bytes / 4;
    free(name);
    return y;
}

static void attr(struct arrays *a, const char *name, double v) { graph_attr(a->g, a->last, name, 1, v, 0); }

static void attr_pair(struct arrays *a, const char *name, int64_t v)
{
    graph_attr(a->g, a->last, name, 2, (double)v, (double)v);
}

static int like(struct arrays *a, const char *op, int nin, const int *in, int model)
{
    struct tensor t = *tensor(a, model);
    return apply(a, op, nin, in, t.ndim, t.shape);
}

enum binary { PLUS, MINUS, TIMES, OVER };

static int binary(struct arrays *a, enum binary kind, int x, int y)   /* as large as x */
{
    int z = like(a, "NdBinary", 2, (int[]){ x, y }, x);
    attr(a, "kind", kind);
    return z;
}

static int unary(struct arrays *a, enum nd_unary kind, double first, double second, int x)
{
    int y = like(a, "NdUnary", 1, &x, x);
    attr(a, "kind", kind);
    attr(a, "a", first);
    if (kind == ND_CLIP) attr(a, "b", second);
    return y;
}

static int relu(struct arrays *a, int x) { return unary(a, ND_RELU, 0, 0, x); }
static int relu6(struct arrays *a, int x) { return unary(a, ND_CLIP, 0, 6, x); }

/* ---- images, N C H W ---- */

static int input(struct arrays *a, int64_t batch, int64_t image)
{
    return make(a, ROLE_ARG, "input", 4, (int64_t[]){ batch, 3, image, image });
}

static void window(struct arrays *a, int64_t stride, int64_t pad, int64_t group)
{
    attr_pair(a, "stride", stride);
    attr_pair(a, "pad", pad);
    attr(a, "group", (double)group);
}

static int conv(struct arrays *a, int x, int64_t k, int64_t co, int64_t stride, int64_t pad, int64_t group)
{
    struct tensor t = *tensor(a, x);
    int64_t ci = t.shape[1] / group, h = (t.shape[2] + 2 * pad - k) / stride + 1,
            v = (t.shape[3] + 2 * pad - k) / stride + 1;
    int w = parameter(a, "conv", ++a->convs, "weight", 4, (int64_t[]){ co, ci, k, k });
    int y = apply(a, "NdConv", 2, (int[]){ x, w }, 4, (int64_t[]){ t.shape[0], co, h, v });
    window(a, stride, pad, group);
    a->g->node[a->last].flops *= 2 * (double)(ci * k * k);
    return y;
}

/* one number for each channel of an image */
static int add_channels(struct arrays *a, int x)
{
    int b = parameter(a, "conv", a->convs, "bias", 4, (int64_t[]){ 1, tensor(a, x)->shape[1], 1, 1 });
    return binary(a, PLUS, x, b);
}

/* twice as large, half the channels: a convolution of windows of 2 x 2 turned around, with bias */
static int up(struct arrays *a, int x)
{
    struct tensor t = *tensor(a, x);
    int64_t c = t.shape[1];
    int w = parameter(a, "conv", ++a->convs, "weight", 4, (int64_t[]){ c, c / 2, 2, 2 });
    int y = apply(a, "NdConvGradX", 2, (int[]){ w, x }, 4,
                  (int64_t[]){ t.shape[0], c / 2, 2 * t.shape[2], 2 * t.shape[3] });
    window(a, 2, 0, 1);
    a->g->node[a->last].flops *= 2 * (double)c;
    return add_channels(a, y);
}

static int norm(struct arrays *a, int x)
{
    struct tensor t = *tensor(a, x);
    int64_t c = t.shape[1];
    int in[3] = { x, parameter(a, "norm", ++a->norms, "scale", 1, &c), parameter(a, "norm", a->norms, "shift", 1, &c) };
    char *name = xformat("norm%d", a->norms), *mean = xformat("%s.mean", name), *inverse = xformat("%s.inverse", name);
    int out[3] = { make(a, ROLE_INTER, name, t.ndim, t.shape), make(a, ROLE_INTER, mean, 1, &c),
                   make(a, ROLE_INTER, inverse, 1, &c) };
    a->last = graph_node(a->g, name, "NdNorm", 3, in, 3, out);
    a->g->node[a->last].flops = 8 * (double)t.bytes / 4;
    free(name);
    free(mean);
    free(inverse);
    return out[0];
}

static int maxpool(struct arrays *a, int x)
{
    struct tensor t = *tensor(a, x);
    int64_t shape[4] = { t.shape[0], t.shape[1], t.shape[2] / 2, t.shape[3] / 2 };
    char *name = xformat("pool_%d", ++a->others), *index = xformat("%s.index", name);
    int out[2] = { make(a, ROLE_INTER, name, 4, shape), graph_tensor(a->g, index, ROLE_INTER, "i32", 4, shape) };
    a->last = graph_node(a->g, name, "NdMaxPool", 1, &x, 2, out);
    attr_pair(a, "kernel", 2);
    attr_pair(a, "stride", 2);
    free(name);
    free(index);
    return out[0];
}

static int concat(struct arrays *a, int x, int y)        /* of channels */
{
    struct tensor t = *tensor(a, x);
    t.shape[1] += tensor(a, y)->shape[1];
    int z = apply(a, "NdConcat", 2, (int[]){ x, y }, 4, t.shape);
    attr(a, "axis", 1);
    return z;
}

/* ---- rows of numbers ---- */

static int reshape(struct arrays *a, int x, int n, const int64_t *shape)
{
    return apply(a, "NdReshape", 1, &x, n, shape);
}

static int transpose(struct arrays *a, int x, const int perm[])
{
    struct tensor t = *tensor(a, x);
    int64_t shape[GRAPH_DIMS];
    struct attr *p = arena_get(&a->g->text, sizeof *p);
    *p = (struct attr){ .name = "perm", .n = t.ndim };
    for (int i = 0; i < t.ndim; i++) {
        shape[i] = t.shape[perm[i]];
        p->v[i] = perm[i];
    }
    int y = apply(a, "NdTranspose", 1, &x, t.ndim, shape);
    a->g->node[a->last].attr = p;
    a->g->node[a->last].nattr = 1;
    return y;
}

/* mean over the axes of a set of bits, which stay as 1 */
static int mean(struct arrays *a, int x, int axes)
{
    struct tensor t = *tensor(a, x);
    for (int i = 0; i < t.ndim; i++)
        if (axes >> i & 1) t.shape[i] = 1;
    int y = apply(a, "NdReduce", 1, &x, t.ndim, t.shape);
    attr(a, "axes", axes);
    attr(a, "mean", 1);
    a->g->node[a->last].flops = (double)tensor(a, x)->bytes / 4;
    return y;
}

static int matmul(struct arrays *a, int x, int y, bool turned)
{
    struct tensor s = *tensor(a, x), t = *tensor(a, y);
    int64_t inner = s.shape[s.ndim - 1];
    s.shape[s.ndim - 1] = t.shape[t.ndim - (turned ? 2 : 1)];
    int z = apply(a, "NdMatMul", 2, (int[]){ x, y }, s.ndim, s.shape);
    attr(a, "tb", turned);
    a->g->node[a->last].flops *= 2 * (double)inner;
    return z;
}

static int dense(struct arrays *a, int x, int64_t out)
{
    struct tensor t = *tensor(a, x);
    int w = parameter(a, "dense", ++a->dense, "weight", 2, (int64_t[]){ out, t.shape[t.ndim - 1] });
    int b = parameter(a, "dense", a->dense, "bias", 1, &out);
    return binary(a, PLUS, matmul(a, x, w, true), b);
}

/* over the last dimension */
static int layernorm(struct arrays *a, int x)
{
    struct tensor t = *tensor(a, x);
    int64_t c = t.shape[t.ndim - 1];
    int scale = parameter(a, "norm", ++a->norms, "scale", 1, &c);
    int shift = parameter(a, "norm", a->norms, "shift", 1, &c);
    int d = binary(a, MINUS, x, mean(a, x, 1 << (t.ndim - 1)));
    int var = mean(a, unary(a, ND_POW, 2, 0, d), 1 << (t.ndim - 1));
    int y = binary(a, OVER, d, unary(a, ND_SQRT, 0, 0, unary(a, ND_SHIFT, 1e-6, 0, var)));
    return binary(a, PLUS, binary(a, TIMES, y, scale), shift);
}

static int gelu(struct arrays *a, int x)
{
    int e = unary(a, ND_SHIFT, 1, 0, unary(a, ND_ERF, 0, 0, unary(a, ND_SCALE, 0.70710678118654752, 0, x)));
    return unary(a, ND_SCALE, 0.5, 0, binary(a, TIMES, x, e));
}

/* ---- networks ---- */

static void multiple(const struct arrays *a, int64_t image, int64_t of)
{
    if (image % of) die("%s wants an image whose side is a multiple of %lld, not %lld", a->g->name, (long long)of,
                        (long long)image);
}

static void mobilenetv2(struct arrays *a, int64_t batch, int64_t image)
{
    static const struct { int64_t expand, channels; int n; int64_t stride; } stage[] = {
        { 1, 16, 1, 1 }, { 6, 24, 2, 2 }, { 6, 32, 3, 2 }, { 6, 64, 4, 2 }, { 6, 96, 3, 1 }, { 6, 160, 3, 2 },
        { 6, 320, 1, 1 } };
    int x = relu6(a, norm(a, conv(a, input(a, batch, image), 3, 32, 2, 1, 1)));
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++) {
        for (int k = 0; k < stage[i].n; k++) {
            int64_t in = tensor(a, x)->shape[1], wide = in * stage[i].expand, stride = k ? 1 : stage[i].stride;
            int y = stage[i].expand > 1 ? relu6(a, norm(a, conv(a, x, 1, wide, 1, 0, 1))) : x;
            y = relu6(a, norm(a, conv(a, y, 3, wide, stride, 1, wide)));
            y = norm(a, conv(a, y, 1, stage[i].channels, 1, 0, 1));
            x = stride == 1 && in == stage[i].channels ? binary(a, PLUS, y, x) : y;
        }
    }
    x = mean(a, relu6(a, norm(a, conv(a, x, 1, 1280, 1, 0, 1))), 4 | 8);
    dense(a, reshape(a, x, 2, (int64_t[]){ batch, 1280 }), 1000);
}

static int convs(struct arrays *a, int x, int64_t c)     /* two */
{
    for (int i = 0; i < 2; i++) x = relu(a, norm(a, conv(a, x, 3, c, 1, 1, 1)));
    return x;
}

static void unet(struct arrays *a, int64_t batch, int64_t image)
{
    enum { CLASSES = 2, DEEP = 4 };
    int skip[DEEP], x = input(a, batch, image);
    multiple(a, image, 1 << DEEP);
    for (int i = 0; i < DEEP; i++) {
        skip[i] = convs(a, x, 64 << i);
        x = maxpool(a, skip[i]);
    }
    x = convs(a, x, 64 << DEEP);
    for (int i = DEEP; i-- > 0;) {
        int y = up(a, x);
        x = convs(a, concat(a, skip[i], y), 64 << i);
    }
    x = add_channels(a, conv(a, x, 1, CLASSES, 1, 0, 1));
    transpose(a, x, (int[]){ 0, 2, 3, 1 });              /* a row of classes for each pixel */
}

enum { VIT_WIDTH = 768, VIT_HEADS = 12, VIT_LAYERS = 12, VIT_PATCH = 16 };

static int head(struct arrays *a, int qkv, int which, int64_t batch, int64_t tokens)
{
    int x = apply(a, "NdSlice", 1, &qkv, 3, (int64_t[]){ batch, tokens, VIT_WIDTH });
    attr(a, "axis", 2);
    attr(a, "begin", which * VIT_WIDTH);
    x = reshape(a, x, 4, (int64_t[]){ batch, tokens, VIT_HEADS, VIT_WIDTH / VIT_HEADS });
    return transpose(a, x, (int[]){ 0, 2, 1, 3 });
}

static int attention(struct arrays *a, int x, int64_t batch, int64_t tokens)
{
    int qkv = dense(a, x, 3 * VIT_WIDTH), q = head(a, qkv, 0, batch, tokens), k = head(a, qkv, 1, batch, tokens),
        v = head(a, qkv, 2, batch, tokens);
    int s = unary(a, ND_SCALE, 0.125, 0, matmul(a, q, k, true));   /* 1 / sqrt(VIT_WIDTH / VIT_HEADS) */
    s = like(a, "NdSoftmax", 1, &s, s);
    x = transpose(a, matmul(a, s, v, false), (int[]){ 0, 2, 1, 3 });
    return dense(a, reshape(a, x, 3, (int64_t[]){ batch, tokens, VIT_WIDTH }), VIT_WIDTH);
}

static void vit(struct arrays *a, int64_t batch, int64_t image)
{
    multiple(a, image, VIT_PATCH);
    int64_t side = image / VIT_PATCH, patches = side * side, tokens = patches + 1;
    int class = make(a, ROLE_ARG, "class.weight", 3, (int64_t[]){ 1, 1, VIT_WIDTH });
    int x = add_channels(a, conv(a, input(a, batch, image), VIT_PATCH, VIT_WIDTH, VIT_PATCH, 0, 1));
    int place = make(a, ROLE_ARG, "place.weight", 3, (int64_t[]){ 1, tokens, VIT_WIDTH });
    x = transpose(a, reshape(a, x, 3, (int64_t[]){ batch, VIT_WIDTH, patches }), (int[]){ 0, 2, 1 });
    x = apply(a, "NdPad", 1, &x, 3, (int64_t[]){ batch, tokens, VIT_WIDTH });   /* patches, and 0 for the class */
    attr(a, "axis", 1);
    attr(a, "begin", 1);
    class = apply(a, "NdPad", 1, &class, 3, (int64_t[]){ 1, tokens, VIT_WIDTH });
    attr(a, "axis", 1);
    attr(a, "begin", 0);
    x = binary(a, PLUS, binary(a, PLUS, x, class), place);
    for (int i = 0; i < VIT_LAYERS; i++) {
        x = binary(a, PLUS, x, attention(a, layernorm(a, x), batch, tokens));
        x = binary(a, PLUS, x, dense(a, gelu(a, dense(a, layernorm(a, x), 4 * VIT_WIDTH)), VIT_WIDTH));
    }
    x = layernorm(a, x);
    x = apply(a, "NdSlice", 1, &x, 3, (int64_t[]){ batch, 1, VIT_WIDTH });
    attr(a, "axis", 1);
    attr(a, "begin", 0);
    dense(a, reshape(a, x, 2, (int64_t[]){ batch, VIT_WIDTH }), 1000);
}

static const struct { const char *name; void (*build)(struct arrays *, int64_t, int64_t); int64_t image; double rate;
} nets[] = {
    { "mobilenetv2", mobilenetv2, 224, 0.001 },
    { "unet", unet, 256, 0.001 },
    { "vit", vit, 224, 0.001 },
};

struct graph *net_of_arrays(const char *name, long batch, long image)
{
    size_t i = 0;
    while (i < sizeof nets / sizeof *nets && strcmp(nets[i].name, name) != 0) i++;
    if (i == sizeof nets / sizeof *nets) return NULL;
    struct arrays a = { .g = graph_new(name, batch) };
    nets[i].build(&a, batch, image > 0 ? image : nets[i].image);
    graph_finish(a.g);
    struct graph *step = grad_step(a.g, NULL, &(struct optimiser){ .rate = nets[i].rate });
    graph_free(a.g);
    return step;
}

#include "tensor/ops.h"
#include "base/mem.h"
#include "base/message.h"
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum code {
    CONV,
    CONV_DATA,
    CONV_WEIGHTS,
    RELU,
    RELU_GRAD,
    NORM,
    NORM_RELU,
    NORM_GRAD,
    MAXPOOL,
    MAXPOOL_GRAD,
    AVGPOOL,
    AVGPOOL_GRAD,
    CONCAT,
    SLICE,
    ADD,
    DENSE,
    DENSE_WEIGHTS,
    DENSE_DATA,
    SUM,
    SOFTMAX,
    LOSS,
    SUBTRACT,
    ND
};

static const struct { const char *op; enum code code;
} names[] = {
    { "ConvolutionBias", CONV },
    { "ConvolutionBackpropData", CONV_DATA },
    { "ConvolutionBiasBackpropFiltersBias", CONV_WEIGHTS },
    { "Relu", RELU },
    { "ReluBackprop", RELU_GRAD },
    { "BatchNormTraining", NORM },
    { "BatchNormTrainingRelu", NORM_RELU },
    { "BatchNormTrainingBackprop", NORM_GRAD },
    { "MaxPoolWithIndices", MAXPOOL },
    { "MaxPoolWithIndicesBackprop", MAXPOOL_GRAD },
    { "MaxPoolBackprop", MAXPOOL_GRAD },
    { "MaxPoolReluBackprop", MAXPOOL_GRAD },
    { "AvgPool", AVGPOOL },
    { "AvgPoolBackprop", AVGPOOL_GRAD },
    { "Concat", CONCAT },
    { "Slice", SLICE },
    { "Add", ADD },
    { "MatmulBias", DENSE },
    { "Sum", SUM },
    { "Softmax", SOFTMAX },
    { "CrossEntropy", LOSS },
    { "Subtract", SUBTRACT },
};

static const struct tensor *operand(const struct graph *g, const struct node *n, int i)
{
    return &g->tensor[n->operand[i]];
}
static int dim(const struct tensor *t, int i) { return i < t->ndim ? (int)t->shape[i] : 1; }
static uint64_t plane_bytes(int h, int w) { return (uint64_t)h * (uint64_t)w * BLOCK * sizeof(float); }
static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

static enum code code_of(const struct node *n)
{
    if (!strcmp(n->op, "DotAdd") && node_attr(n, "grad_weights", 0, 0) == 1) return DENSE_WEIGHTS;
    if (!strcmp(n->op, "Dot")) {
        if (node_attr(n, "grad_weights", 0, 0) == 1) return DENSE_WEIGHTS;
        if (node_attr(n, "grad_data", 0, 0) == 1) return DENSE_DATA;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(n->op, names[i].op)) return names[i].code;
    die("node '%s': the engine has no kernel for operator '%s'", n->name, n->op);
}

static int blocks_of(const struct node *n, const struct tensor *t)
{
    if (t->ndim != 4 || t->shape[1] % BLOCK)
        die("node '%s': tensor '%s' needs a shape N C H W with a multiple of %d channels", n->name, t->name, BLOCK);
    return (int)t->shape[1] / BLOCK;
}

static uint64_t at_least_one(uint64_t n) { return n ? n : 1; }
static int parts_of(uint64_t n, uint64_t per) { return (int)((n + per - 1) / per); }
static uint64_t up_to(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }
static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Bands of rows where planes and bands begin at multiples of every device's unit, so that all extents of an operand lie
 * equally far apart in a buffer; else an image is a unit. */
static void make_bands(struct op *o, int rows, uint64_t row_bytes, bool even)
{
    uint64_t fit = OP_UNIT_BYTES / row_bytes / 8 * 8;
    o->rows = even && fit < (uint64_t)rows ? max_int(8, (int)fit) : rows;
    o->bands = (rows + o->rows - 1) / o->rows;
    o->units = o->bands * o->images;
}

/* Where dw is larger than x, a unit is some output channels of dw and dy, and x is whole; else dw is whole. */
static void make_weights_grad(struct op *o)
{
    o->by_channels = o->bytes[2] > o->bytes[0];
    o->whole[0] = o->by_channels;
    o->whole[2] = o->whole[3] = !o->by_channels;
    if (!o->by_channels) return;
    o->blocks = o->conv.oc / BLOCK;
    uint64_t block = o->bytes[2] / (uint64_t)o->blocks;
    o->per = (OP_UNIT_BYTES + block - 1) / block;
    if (o->per % 2 && o->per > 1) o->per++;              /* register tiles take two blocks */
    o->units = parts_of((uint64_t)o->blocks, o->per);
    o->bands = 1;
    o->most = max_int(o->most, o->images);
}

static void make_conv(struct op *o, const struct graph *g, const struct node *n)
{
    const struct tensor *x = operand(g, n, o->code == CONV_DATA ? 2 : 0);
    const struct tensor *w = operand(g, n, o->code == CONV ? 1 : o->code == CONV_DATA ? 0 : 2);
    const struct tensor *y = operand(g, n, o->code == CONV ? 3 : 1);
    struct conv *c = &o->conv;
    *c = (struct conv){ dim(x, 1),
                        dim(x, 2),
                        dim(x, 3),
                        dim(y, 1),
                        dim(y, 2),
                        dim(y, 3),
                        dim(w, 2),
                        dim(w, 3),
                        (int)node_attr(n, "stride", 0, 1),
                        (int)node_attr(n, "pad", 0, 0),
                        (int)node_attr(n, "pad", 1, 0),
                        node_attr(n, "relu", 0, 0) == 1 };
    if (node_attr(n, "stride", 1, c->stride) != c->stride)
        die("node '%s': strides differ in height and width", n->name);
    if (c->ic >= BLOCK || o->code == CONV_DATA) blocks_of(n, x);
    else if (c->ic != 3) die("node '%s': the first layer of the engine wants 3 channels, not %d", n->name, c->ic);
    blocks_of(n, y);
    if (c->kh * c->kw > 49) die("node '%s': the window %d x %d is larger than 7 x 7", n->name, c->kh, c->kw);
    o->images = dim(x, 0);
    bool even = (c->ic < BLOCK || c->ih * c->iw % 64 == 0) && c->oh * c->ow % 64 == 0;
    uint64_t xrow = (uint64_t)(c->ic * c->iw) * 4 * (uint64_t)c->stride, yrow = (uint64_t)(c->oc * c->ow) * 4;
    if (o->code == CONV_DATA) make_bands(o, c->ih, xrow > yrow ? xrow : yrow, even && c->stride == 1);
    else make_bands(o, c->oh, xrow > yrow ? xrow : yrow, even);
    o->most = max_int(1, max_int(c->ic, c->oc) / BLOCK);
    o->scratch = conv_scratch(c) * sizeof(float);
    if (o->code == CONV) o->whole[1] = o->whole[2] = true;
    else if (o->code == CONV_DATA) o->whole[0] = true;
    else make_weights_grad(o);
}

static void make_pool(struct op *o, const struct graph *g, const struct node *n)
{
    bool back = o->code == AVGPOOL_GRAD || o->code == MAXPOOL_GRAD;
    const struct tensor *x = operand(g, n, back ? n->nin : 0),
                        *y = operand(g, n, !back || (o->code == MAXPOOL_GRAD && n->nin == 3) ? 1 : 0);
    o->pool = (struct pool){ dim(x, 2),
                             dim(x, 3),
                             dim(y, 2),
                             dim(y, 3),
                             (int)node_attr(n, "kernel", 0, 1),
                             (int)node_attr(n, "kernel", 1, 1),
                             (int)node_attr(n, "stride", 0, 1),
                             (int)node_attr(n, "pad", 0, 0),
                             (int)node_attr(n, "pad", 1, 0) };
    o->elements = (uint64_t)(dim(x, 0) * blocks_of(n, x));   /* planes */
    o->per = at_least_one(OP_UNIT_BYTES / plane_bytes(o->pool.ih, o->pool.iw));
    o->units = parts_of(o->elements, o->per);
    o->relu = strcmp(n->op, "MaxPoolReluBackprop") == 0;
}

/* Concat and Slice: runs of bytes, image by image, an input's share at a time */
static void make_copies(struct op *o, const struct graph *g, const struct node *n)
{
    const struct tensor *y = operand(g, n, n->nin);
    size_t cap = 0;
    o->images = dim(y, 0);
    uint64_t image = y->bytes / (uint64_t)o->images;
    for (int i = 0; i < o->images; i++) {
        uint64_t to = (uint64_t)i * image;
        for (int k = 0; k < n->nin; k++) {
            const struct tensor *x = operand(g, n, k);
            blocks_of(n, x);
            uint64_t bytes = o->code == SLICE ? image : x->bytes / (uint64_t)o->images,
                     from = (uint64_t)i * (x->bytes / (uint64_t)o->images);
            if (o->code == SLICE)
                from += (uint64_t)node_attr(n, "from", 0, 0) * (uint64_t)(dim(x, 2) * dim(x, 3)) * sizeof(float);
            for (uint64_t done = 0; done < bytes; done += OP_UNIT_BYTES) {
                size_t part = bytes - done < OP_UNIT_BYTES ? (size_t)(bytes - done) : OP_UNIT_BYTES;
                o->copy = grow(o->copy, (size_t)o->units + 1, &cap, sizeof *o->copy);
                o->copy[o->units++] = (struct op_copy){ k, from + done, to + done, part };
            }
            to += bytes;
        }
    }
    blocks_of(n, y);
    if (o->code == SLICE && (int)node_attr(n, "from", 0, 0) % BLOCK)
        die("node '%s': the slice does not start at a multiple of %d channels", n->name, BLOCK);
}

static void make_dense(struct op *o, const struct graph *g, const struct node *n)
{
    const struct tensor *w = operand(g, n, o->code == DENSE_WEIGHTS ? 2 : 0), *y = operand(g, n,
                                                                                           o->code == DENSE        ? 3
                                                                                           : o->code == DENSE_DATA ? 1
                                                                                                                   : 0);
    o->dense_rows = dim(w, 0);
    o->dense_columns = dim(w, 1);
    o->images = dim(y, 0);
    /* w and dw, the largest tensors of many nets, by rows; beside a unit of w all of x or dx is read or written */
    enum { W_BYTES = 16 << 20, EVEN = 16 };              /* rows: units begin at whole vectors */
    uint64_t row = (uint64_t)o->dense_columns * sizeof(float), rows = (uint64_t)o->dense_rows;
    bool grad = o->code == DENSE_WEIGHTS;
    for (int i = 0; i < o->nin + o->nout; i++) o->whole[i] = grad ? i < 2 : i > 0;
    o->per = up_to(grad ? at_least_one(OP_UNIT_BYTES / row) : max_u64(W_BYTES / row, 4 * (uint64_t)o->images), EVEN);
    if (o->per > rows) o->per = rows;
    o->units = parts_of(rows, o->per);
}

/* makes room for the inputs of `plus` and `mask`, which come unit by unit like the first output */
static void add_extras(struct op *o, int extras)
{
    for (int i = o->nin + o->nout; i-- > o->nin;) {
        o->bytes[i + extras] = o->bytes[i];
        o->whole[i + extras] = o->whole[i];
        o->buffer[i + extras] = o->buffer[i];
    }
    for (int i = o->nin; i < o->nin + extras; i++) {
        o->bytes[i] = o->bytes[o->nin + extras];
        o->whole[i] = o->whole[o->nin + extras];
        o->buffer[i] = o->buffer[o->nin + extras];
    }
    o->nin += extras;
}

/* ---- do operands and attributes belong together? ----
 *
 * A graph is a file of anybody's: what a kernel reads or writes is inside of its operands, or the graph is refused. */

static uint64_t count_of(const struct graph *g, const struct node *n, int i)
{
    return operand(g, n, i)->bytes / sizeof(float);
}

static bool sound_attributes(const struct node *n)
{
    static const char *const name[] = { "stride", "kernel", "pad", "from" };
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        for (int i = 0; i < 2; i++) {
            double v = node_attr(n, name[k], i, 1);
            if (!(v >= (k < 2) && v <= 1 << 20)) return false;
        }
    return true;
}

static bool sound_sizes(const struct graph *g, const struct node *n)
{
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = operand(g, n, i);
        int64_t image = 1;
        for (int d = 0; d < t->ndim; d++) {
            if (t->shape[d] > INT32_MAX || (d > 0 && t->shape[d] > INT32_MAX / image)) return false;
            if (d > 0) image *= t->shape[d];
        }
        if (t->bytes / OP_UNIT_BYTES > INT32_MAX) return false;
    }
    return true;
}

/* the same but for the number of channels */
static bool same_images(const struct tensor *a, const struct tensor *b)
{
    return a->ndim == 4 && b->ndim == 4 && a->shape[0] == b->shape[0] && a->shape[2] == b->shape[2] &&
           a->shape[3] == b->shape[3];
}

static bool pool_fits(const struct op *o, const struct graph *g, const struct node *n)
{
    bool back = o->code == AVGPOOL_GRAD || o->code == MAXPOOL_GRAD;
    const struct tensor *x = operand(g, n, back ? n->nin : 0),
                        *y = operand(g, n, !back || (o->code == MAXPOOL_GRAD && n->nin == 3) ? 1 : 0);
    const struct pool *c = &o->pool;
    return x->ndim == 4 && y->ndim == 4 && x->shape[0] == y->shape[0] && x->shape[1] == y->shape[1] && c->ph < c->kh &&
           c->pw < c->kw && c->kh <= 1 << 10 && c->kw <= 1 << 10 &&
           (int64_t)(c->oh - 1) * c->stride - c->ph < c->ih && (int64_t)(c->ow - 1) * c->stride - c->pw < c->iw;
}

static bool copies_fit(const struct op *o, const struct graph *g, const struct node *n)
{
    const struct tensor *y = operand(g, n, n->nin);
    for (int k = 0; k < n->nin; k++)
        if (!same_images(operand(g, n, k), y)) return false;
    return o->code == CONCAT ||
           node_attr(n, "from", 0, 0) + (double)y->shape[1] <= (double)operand(g, n, 0)->shape[1];
}

static bool dense_fits(const struct op *o, const struct graph *g, const struct node *n)
{
    uint64_t rows = (uint64_t)o->dense_rows, k = (uint64_t)o->dense_columns, m = (uint64_t)o->images;
    if (m * rows > INT32_MAX || m * k > INT32_MAX) return false;
    if (o->code == DENSE)
        return count_of(g, n, 0) == rows * k && count_of(g, n, 1) == m * k && count_of(g, n, 2) == rows &&
               count_of(g, n, 3) == m * rows;
    if (o->code == DENSE_DATA)
        return count_of(g, n, 0) == rows * k && count_of(g, n, 1) == m * rows && count_of(g, n, 2) == m * k;
    return count_of(g, n, 0) == m * rows && count_of(g, n, 1) == m * k && count_of(g, n, 2) == rows * k &&
           count_of(g, n, n->nin) == rows * k;
}

static bool fits(const struct op *o, const struct graph *g, const struct node *n)
{
    switch ((enum code)o->code) {
    case CONV:
        return count_of(g, n, 2) == (uint64_t)o->conv.oc;
    case CONV_WEIGHTS:
        return count_of(g, n, 3) == (uint64_t)o->conv.oc;
    case NORM: case NORM_RELU: case NORM_GRAD:           /* an array of one number a channel is told by its size */
        return count_of(g, n, 0) == (uint64_t)operand(g, n, 2)->shape[1] &&
               operand(g, n, 0)->bytes < operand(g, n, 2)->bytes;
    case MAXPOOL: case MAXPOOL_GRAD: case AVGPOOL: case AVGPOOL_GRAD:
        return pool_fits(o, g, n);
    case DENSE: case DENSE_WEIGHTS: case DENSE_DATA:
        return dense_fits(o, g, n);
    case SUM:
        return count_of(g, n, 1) == o->elements;
    default:
        return true;
    }
}

static void must(const struct node *n, bool good)
{
    if (!good) die("node '%s': operands and attributes of %s do not fit each other", n->name, n->op);
}

struct op op_make(const struct graph *g, int node)
{
    const struct node *whole = &g->node[node];
    int extras = node_extras(whole), own = whole->nin - extras, operands[OP_OPERANDS];
    if (whole->nin + whole->nout > OP_OPERANDS) die("node '%s': more than %d operands", whole->name, OP_OPERANDS);
    if (own < 1) die("node '%s': too few operands", whole->name);
    for (int i = 0; i < own + whole->nout; i++) operands[i] = whole->operand[i < own ? i : i + extras];
    struct node without = *whole, *n = &without;         /* without `plus` and `mask` */
    without.nin = own;
    without.operand = operands;
    struct op o = { .code = nd_is(n->op) ? ND : (int)code_of(n), .nin = own, .own = own, .nout = n->nout, .most = 1 };
    o.plus = node_attr(n, "plus", 0, 0) == 1;
    o.mask = node_attr(n, "mask", 0, 0) == 1;
    if (o.code == ND && extras) die("node '%s': %s with plus or mask", n->name, n->op);
    must(n, o.code == ND || (sound_attributes(n) && sound_sizes(g, n)));
    must(n, (o.code != CONCAT && o.code != SLICE) || copies_fit(&o, g, n));
    for (int i = 0; i < n->nin + n->nout; i++) o.bytes[i] = operand(g, n, i)->bytes;
    o.elements = o.bytes[n->nin] / sizeof(float);
    switch ((enum code)o.code) {
    case CONV: case CONV_DATA: case CONV_WEIGHTS:
        make_conv(&o, g, n);
        break;
    case NORM: case NORM_RELU: case NORM_GRAD: {
        const struct tensor *x = operand(g, n, 2);
        o.images = o.most = dim(x, 0);
        o.blocks = blocks_of(n, x);
        o.pixels = (uint64_t)(dim(x, 2) * dim(x, 3));
        o.per = at_least_one(OP_UNIT_BYTES / (plane_bytes(dim(x, 2), dim(x, 3)) * (uint64_t)o.images));
        o.units = parts_of((uint64_t)o.blocks, o.per);
        for (int i = 0; i < n->nin + n->nout; i++) o.whole[i] = o.bytes[i] != x->bytes;
        break;
    }
    case MAXPOOL: case MAXPOOL_GRAD: case AVGPOOL: case AVGPOOL_GRAD:
        make_pool(&o, g, n);
        break;
    case CONCAT: case SLICE:
        make_copies(&o, g, n);
        break;
    case RELU: case RELU_GRAD: case ADD:
        o.relu = o.code == ADD && node_attr(n, "relu", 0, 0) == 1;
        o.per = OP_UNIT_BYTES / sizeof(float);
        o.units = parts_of(o.elements, o.per);
        break;
    case DENSE: case DENSE_WEIGHTS: case DENSE_DATA:
        make_dense(&o, g, n);
        break;
    case SUM: case SOFTMAX: case LOSS: case SUBTRACT: {
        const struct tensor *x = operand(g, n, 0);
        o.images = dim(x, 0);
        o.elements = x->bytes / sizeof(float) / (uint64_t)o.images;
        o.scale = (float)node_attr(n, "scale", 0, 1);
        o.units = 1;
        for (int i = 0; i < n->nin + n->nout; i++) o.whole[i] = true;
        break;
    }
    case ND:
        o.nd = nd_make(g, node);
        o.scratch = nd_scratch(o.nd);
        o.units = 1;
        for (int i = 0; i < n->nin + n->nout; i++) o.whole[i] = true;
        break;
    }
    must(n, fits(&o, g, n));
    struct extent *e = xmalloc((size_t)o.most, sizeof *e);
    for (int i = 0; i < n->nin + n->nout; i++) {
        for (int u = 0; u < o.units; u++) {
            uint64_t sum = 0;
            for (int k = op_extents(&o, i, u, e); k-- > 0;) sum += op_slot(e[k].bytes);
            if (sum > o.buffer[i]) o.buffer[i] = sum;
        }
    }
    o.rest = e;
    add_extras(&o, extras);
    return o;
}

void op_free(struct op *o)
{
    free(o->copy);
    free(o->rest);
    o->copy = NULL;
    o->rest = NULL;
    nd_free(o->nd);
    o->nd = NULL;
}

/* rows a..b-1 of every block of channels of an image */
static int rows_of(int image, int channels, int h, int w, int a, int b, struct extent *e)
{
    a = max_int(a, 0), b = min_int(b, h);
    uint64_t row = (uint64_t)w * BLOCK * sizeof(float), plane = row * (uint64_t)h;
    if (channels < BLOCK || (a == 0 && b == h)) {        /* an image in one piece */
        uint64_t bytes = (uint64_t)channels * (uint64_t)(h * w) * sizeof(float);
        *e = (struct extent){ (uint64_t)image * bytes, bytes };
        return 1;
    }
    int nb = channels / BLOCK;
    for (int i = 0; i < nb; i++)
        e[i] = (struct extent){ (uint64_t)(image * nb + i) * plane + (uint64_t)a * row, (uint64_t)(b - a) * row };
    return nb;
}

static int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static void band(const struct op *o, int unit, int *image, int *a, int *b)
{
    *image = unit / o->bands;
    *a = unit % o->bands * o->rows;
    *b = min_int(*a + o->rows, o->code == CONV_DATA ? o->conv.ih : o->conv.oh);
}

/* the first row of x and dy that a band of a convolution touches */
static int first_row(const struct op *o, bool of_x, int a)
{
    const struct conv *c = &o->conv;
    if (o->bands == 1) return 0;
    if (o->code == CONV_DATA) return of_x ? a : max_int(0, floor_div(a + c->ph - c->kh + 1, c->stride));
    return of_x ? max_int(0, a * c->stride - c->ph) : a;
}

static int conv_extents(const struct op *o, bool of_x, int unit, struct extent *e)
{
    const struct conv *c = &o->conv;
    int image, a, b;
    band(o, unit, &image, &a, &b);
    int lo = first_row(o, of_x, a), hi = b;
    if (of_x && o->code != CONV_DATA) hi = (b - 1) * c->stride + c->kh - c->ph;
    if (!of_x && o->code == CONV_DATA) hi = (b - 1 + c->ph) / c->stride + 1;
    if (o->bands == 1) hi = 1 << 20;
    return of_x ? rows_of(image, c->ic, c->ih, c->iw, lo, hi, e) : rows_of(image, c->oc, c->oh, c->ow, lo, hi, e);
}

/* some blocks of channels: of every image of dy, of dw and db */
static int channel_extents(const struct op *o, int i, int unit, struct extent *e)
{
    uint64_t blocks = (uint64_t)o->blocks, first = (uint64_t)unit * o->per,
             n = blocks - first < o->per ? blocks - first : o->per;
    int images = i == 1 ? o->images : 1;
    uint64_t block = o->bytes[i] / blocks / (uint64_t)images;
    for (int k = 0; k < images; k++) e[k] = (struct extent){ ((uint64_t)k * blocks + first) * block, n * block };
    return images;
}

int op_extents(const struct op *o, int i, int unit, struct extent *e)
{
    if (i >= o->own && i < o->nin) i = o->nin;           /* as the first output */
    if (o->whole[i]) {
        *e = (struct extent){ 0, o->bytes[i] };
        return 1;
    }
    uint64_t u = (uint64_t)unit;
    switch ((enum code)o->code) {
    case CONV_WEIGHTS:
        if (o->by_channels) return channel_extents(o, i, unit, e);
        return conv_extents(o, i == 0, unit, e);
    case CONV:
        return conv_extents(o, i == 0, unit, e);
    case CONV_DATA:
        return conv_extents(o, i == o->nin, unit, e);
    case NORM: case NORM_RELU: case NORM_GRAD: {
        uint64_t plane = o->pixels * BLOCK * sizeof(float),
                 n = (uint64_t)o->blocks - u * o->per < o->per ? (uint64_t)o->blocks - u * o->per : o->per;
        for (int k = 0; k < o->images; k++)
            e[k] = (struct extent){ ((uint64_t)k * (uint64_t)o->blocks + u * o->per) * plane, n * plane };
        return o->images;
    }
    case MAXPOOL: case MAXPOOL_GRAD: case AVGPOOL: case AVGPOOL_GRAD: {
        uint64_t plane = o->bytes[i] / o->elements,
                 n = o->elements - u * o->per < o->per ? o->elements - u * o->per : o->per;
        *e = (struct extent){ u * o->per * plane, n * plane };
        return 1;
    }
    case CONCAT: case SLICE: {
        const struct op_copy *c = &o->copy[unit];
        if (i < o->nin && i != c->input) return 0;
        *e = (struct extent){ i < o->nin ? c->from : c->to, c->bytes };
        return 1;
    }
    case RELU: case RELU_GRAD: case ADD: {
        uint64_t n = o->elements - u * o->per < o->per ? o->elements - u * o->per : o->per;
        *e = (struct extent){ u * o->per * sizeof(float), n * sizeof(float) };
        return 1;
    }
    case DENSE: case DENSE_WEIGHTS: case DENSE_DATA: {
        uint64_t rows = (uint64_t)o->dense_rows, n = rows - u * o->per < o->per ? rows - u * o->per : o->per,
                 row = (uint64_t)o->dense_columns * sizeof(float);
        *e = (struct extent){ u * o->per * row, n * row };
        return 1;
    }
    case SUM: case SOFTMAX: case LOSS: case SUBTRACT: case ND:
        break;
    }
    return 0;                                            /* all their operands are whole */
}

struct run { const struct op *o; const struct kernels *k; int unit; char *const *const *at; char *scratch; };

static float *f(char *p) { return (float *)(void *)p; }

/* where row 0 of block 0 would lie, and floats from block to block */
static float *origin(const struct run *r, int i, bool of_x, size_t *plane)
{
    const struct conv *c = &r->o->conv;
    int image, a, b, h = of_x ? c->ih : c->oh, w = of_x ? c->iw : c->ow, nb = (of_x ? c->ic : c->oc) / BLOCK;
    band(r->o, r->unit, &image, &a, &b);
    *plane = (size_t)h * (size_t)w * BLOCK;
    char *const *at = r->at[i];
    if (r->o->bands == 1 || (of_x && c->ic < BLOCK)) return f(at[0]);
    if (nb > 1) *plane = (size_t)(at[1] - at[0]) / sizeof(float);
    return f(at[0]) - (ptrdiff_t)first_row(r->o, of_x, a) * w * BLOCK;
}

static void run_by_channels(const struct run *r, int part, int parts)
{
    const struct op *o = r->o;
    struct conv c = o->conv;
    int first = r->unit * (int)o->per;
    c.oc = min_int((int)o->per, o->blocks - first) * BLOCK;
    size_t image = (size_t)(c.ic * c.ih * c.iw);
    for (int n = 0; n < o->images; n++)
        r->k->conv_weights_grad(&c, f(r->at[0][0]) + (size_t)n * image, (size_t)(c.ih * c.iw) * BLOCK, f(r->at[1][n]),
                                (size_t)(c.oh * c.ow) * BLOCK, f(r->at[2][0]), f(r->at[3][0]), n > 0, 0, c.oh,
                                f(r->scratch + (size_t)part * o->scratch), part, parts);
}

static void run_conv(const struct run *r, int part, int parts)
{
    const struct op *o = r->o;
    const struct conv *c = &o->conv;
    if (o->by_channels) {
        run_by_channels(r, part, parts);
        return;
    }
    int image, a, b;
    size_t xplane, yplane;
    band(o, r->unit, &image, &a, &b);
    float *scratch = f(r->scratch + (size_t)part * o->scratch);
    if (o->code == CONV) {
        float *x = origin(r, 0, true, &xplane), *y = origin(r, 3, false, &yplane);
        r->k->conv_forward(c, x, xplane, f(r->at[1][0]), f(r->at[2][0]), y, yplane, a, b, scratch, part, parts);
    } else if (o->code == CONV_DATA) {
        float *dy = origin(r, 1, false, &yplane), *dx = origin(r, 2, true, &xplane);
        r->k->conv_data_grad(c, f(r->at[0][0]), dy, yplane, dx, xplane, a, b, scratch, part, parts);
    } else {
        float *x = origin(r, 0, true, &xplane), *dy = origin(r, 1, false, &yplane);
        r->k->conv_weights_grad(c, x, xplane, dy, yplane, f(r->at[2][0]), f(r->at[3][0]), r->unit > 0, a, b, scratch,
                                part, parts);
    }
}

static void run_norm(const struct run *r, int part, int parts)
{
    const struct op *o = r->o;
    int n = o->images, at = r->unit * (int)o->per * BLOCK, nb = min_int((int)o->per, o->blocks - r->unit * (int)o->per);
    float *const *x = (float *const *)(const void *)r->at[2];
    if (o->code == NORM_GRAD)
        r->k->batchnorm_grad(f(r->at[0][0]) + at, x, f(r->at[3][0]) + at, f(r->at[4][0]) + at,
                             (float *const *)(const void *)r->at[5], (float *const *)(const void *)r->at[6],
                             f(r->at[7][0]) + at, f(r->at[8][0]) + at, n, nb, o->pixels, part, parts);
    else
        r->k->batchnorm(f(r->at[0][0]) + at, f(r->at[1][0]) + at, x, (float *const *)(const void *)r->at[3],
                        f(r->at[4][0]) + at, f(r->at[5][0]) + at, n, nb, o->pixels, o->code == NORM_RELU, part, parts);
}

/* Many images: sgemm, block by block of weight rows (or columns, for dx), so that threads never change a sum. */
enum { DENSE_BLOCK = 256 };

static void run_dense_blocks(const struct run *r, int part, int parts)
{
    const struct op *o = r->o;
    int n = o->images, rows = (int)o->dense_rows, k = (int)o->dense_columns, row = r->unit * (int)o->per,
        here = min_int(rows - row, (int)o->per), begin = o->code == DENSE_DATA ? 0 : row,
        end = o->code == DENSE_DATA ? k : row + here;
    for (int at = begin, b = 0; at < end; at += DENSE_BLOCK, b++) {
        if (b % parts != part) continue;
        int m = min_int(DENSE_BLOCK, end - at);
        if (o->code == DENSE) {
            float *y = f(r->at[3][0]) + at, *bias = f(r->at[2][0]) + at;
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, m, k, 1, f(r->at[1][0]), k,
                        f(r->at[0][0]) + (size_t)(at - begin) * (size_t)k, k, 0, y, rows);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) y[i * rows + j] += bias[j];
        } else if (o->code == DENSE_DATA) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, here, 1, f(r->at[1][0]) + row, rows,
                        f(r->at[0][0]) + at, k, r->unit > 0, f(r->at[2][0]) + at, k);
        } else {
            size_t from = (size_t)(at - begin) * (size_t)k;
            float *out = f(r->at[o->own][0]) + from, *w = o->own > 2 ? f(r->at[2][0]) + from : NULL;
            if (w && w != out) memcpy(out, w, (size_t)m * (size_t)k * sizeof *out);
            cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, k, n, 1, f(r->at[0][0]) + at, rows, f(r->at[1][0]),
                        k, w ? 1 : 0, out, k);
        }
    }
}

static void run_dense(const struct run *r, int part, int parts)
{
    const struct op *o = r->o;
    int n = o->images;
    size_t rows = (size_t)o->dense_rows, k = (size_t)o->dense_columns, at = (size_t)r->unit * o->per,
           end = at + o->per < rows ? at + o->per : rows;
    if (n > DENSE_FEW) run_dense_blocks(r, part, parts);
    else if (o->code == DENSE)
        r->k->dense(f(r->at[0][0]), f(r->at[1][0]), f(r->at[2][0]), f(r->at[3][0]), n, rows, k, at, end, part, parts);
    else if (o->code == DENSE_DATA)
        r->k->dense_data_grad(f(r->at[0][0]), f(r->at[1][0]), f(r->at[2][0]), n, rows, k, at, end, at > 0, part, parts);
    else
        r->k->dense_weights_grad(f(r->at[0][0]), f(r->at[1][0]), o->own > 2 ? f(r->at[2][0]) : NULL,
                                 f(r->at[o->own][0]), n, rows, k, at, end, part, parts);
}

static void softmax(const float *x, float *p, int images, size_t classes)
{
    for (int i = 0; i < images; i++, x += classes, p += classes) {
        float top = x[0], sum = 0;
        for (size_t j = 1; j < classes; j++) top = x[j] > top ? x[j] : top;
        for (size_t j = 0; j < classes; j++) sum += p[j] = expf(x[j] - top);
        for (size_t j = 0; j < classes; j++) p[j] /= sum;
    }
}

static float cross_entropy(const float *p, const float *label, int images, size_t classes)
{
    double sum = 0;
    for (size_t j = 0; j < (size_t)images * classes; j++)
        if (label[j] != 0) sum -= (double)label[j] * log(p[j] < 1e-30f ? 1e-30 : (double)p[j]);   /* nan stays nan */
    return (float)(sum / images);
}

/* small things that one thread does */
static void run_small(const struct run *r)
{
    const struct op *o = r->o;
    size_t n = o->elements;
    float *a = f(r->at[0][0]), *out = f(r->at[o->own][0]);
    if (o->code == SOFTMAX) softmax(a, out, o->images, n);
    else if (o->code == LOSS) *out = cross_entropy(a, f(r->at[1][0]), o->images, n);
    else if (o->code == SUBTRACT)
        for (size_t j = 0; j < n * (size_t)o->images; j++) out[j] = o->scale * (a[j] - f(r->at[1][0])[j]);
    else
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (int i = 0; i < o->images; i++) sum += a[(size_t)i * n + j];
            out[j] = sum;
        }
}

static void run_part(void *context, int part, int parts)
{
    const struct run *r = context;
    const struct op *o = r->o;
    char *const *const *at = r->at;
    uint64_t u = (uint64_t)r->unit, left = o->elements - u * o->per, n = left < o->per ? left : o->per;
    switch ((enum code)o->code) {
    case CONV: case CONV_DATA: case CONV_WEIGHTS:
        run_conv(r, part, parts);
        break;
    case NORM: case NORM_RELU: case NORM_GRAD:
        run_norm(r, part, parts);
        break;
    case MAXPOOL:
        r->k->maxpool(&o->pool, f(at[0][0]), f(at[1][0]), (int32_t *)(void *)at[2][0], n, part, parts);
        break;
    case MAXPOOL_GRAD:
        r->k->maxpool_grad(&o->pool, o->relu ? f(at[0][0]) : NULL, f(at[o->own - 2][0]),
                           (const int32_t *)(const void *)at[o->own - 1][0], f(at[o->own][0]), n, part, parts);
        break;
    case AVGPOOL:
        r->k->avgpool(&o->pool, f(at[0][0]), f(at[1][0]), n, part, parts);
        break;
    case AVGPOOL_GRAD:
        r->k->avgpool_grad(&o->pool, f(at[0][0]), f(at[1][0]), n, part, parts);
        break;
    case CONCAT: case SLICE: {
        const struct op_copy *c = &o->copy[r->unit];
        size_t from = c->bytes / 64 * (size_t)part / (size_t)parts * 64,
               to = c->bytes / 64 * (size_t)(part + 1) / (size_t)parts * 64;
        memcpy(at[o->own][0] + from, at[c->input][0] + from, to - from);
        break;
    }
    case RELU:
        r->k->relu(f(at[0][0]), f(at[1][0]), n, part, parts);
        break;
    case RELU_GRAD:
        r->k->relu_grad(f(at[0][0]), f(at[1][0]), f(at[2][0]), n, part, parts);
        break;
    case ADD:
        r->k->add(f(at[0][0]), f(at[1][0]), f(at[2][0]), n, part, parts);
        if (o->relu) r->k->relu(f(at[2][0]), f(at[2][0]), n, part, parts);
        break;
    case DENSE: case DENSE_WEIGHTS: case DENSE_DATA:
        run_dense(r, part, parts);
        break;
    case SUM: case SOFTMAX: case LOSS: case SUBTRACT:
        if (part == 0) run_small(r);
        break;
    case ND: {
        char *operand[OP_OPERANDS];
        for (int i = 0; i < o->nin + o->nout; i++) operand[i] = at[i][0];
        if (part == 0) nd_run(o->nd, operand, r->scratch);
        break;
    }
    }
}

struct rest { const struct op *o; const struct kernels *k; char *const *const *at; int n; };

/* `plus`, then `mask`, on what the unit has written, while it is in a cache */
static void run_rest(void *context, int part, int parts)
{
    const struct rest *r = context;
    const struct op *o = r->o;
    for (int e = 0; e < r->n; e++) {
        size_t n = o->rest[e].bytes / sizeof(float);
        float *out = f(r->at[o->nin][e]);
        if (o->plus) r->k->add(f(r->at[o->own][e]), out, out, n, part, parts);
        if (o->mask) r->k->relu_grad(f(r->at[o->own + o->plus][e]), out, out, n, part, parts);
    }
}

void op_run(const struct op *o, const struct kernels *k, struct team *team, int unit, char *const *const *at,
            char *scratch)
{
    char *const *own[OP_OPERANDS];                       /* without what `plus` and `mask` read */
    for (int i = 0; i < o->own + o->nout; i++) own[i] = at[i < o->own ? i : i - o->own + o->nin];
    struct run r = { o, k, unit, own, scratch };
    team_run(team, run_part, &r);
    if ((!o->plus && !o->mask) || (o->whole[o->nin] && unit + 1 < o->units)) return;
    struct rest rest = { o, k, at, op_extents(o, o->nin, unit, o->rest) };
    team_run(team, run_rest, &rest);
}

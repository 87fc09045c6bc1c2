/* import_more.c - operators of ONNX that are made of others: activations, comparisons, norms of groups, softmaxes along
 * any axis, einsum of two arrays.  One more is a row of the table at the end. */
#include "place/importing.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- element by element ---- */

static void op_leaky(struct import *m)
{
    im_result(m, 0, im_unary(m, ND_LEAKY, im_attr_f(m, "alpha", 0.01f), 0, im_floats(m, 0)));
}

static void op_elu(struct import *m)
{
    im_result(m, 0, im_unary(m, ND_ELU, im_attr_f(m, "alpha", 1), 1, im_floats(m, 0)));
}

static void op_celu(struct import *m)
{
    double alpha = im_attr_f(m, "alpha", 1);
    if (!(alpha > 0)) im_refuse(m, "an alpha that is not above 0");
    im_result(m, 0, im_unary(m, ND_ELU, alpha, alpha, im_floats(m, 0)));
}

static void op_mish(struct import *m)
{
    int x = im_floats(m, 0), y = im_unary(m, ND_TANH, 0, 0, im_unary(m, ND_SOFTPLUS, 0, 0, x));
    im_result(m, 0, im_binary_of(m, ND_MUL, x, y));
}

static void op_hardsigmoid(struct import *m)
{
    double alpha = im_attr_f(m, "alpha", 0.2f), beta = im_attr_f(m, "beta", 0.5f);
    im_result(m, 0, im_unary(m, ND_HARDSIGMOID, alpha, beta, im_floats(m, 0)));
}

static void op_hardswish(struct import *m)
{
    int x = im_floats(m, 0);
    im_result(m, 0, im_binary_of(m, ND_MUL, x, im_unary(m, ND_HARDSIGMOID, 1. / 6, 0.5, x)));
}

/* relu(x) - slope relu(-x) */
static void op_prelu(struct import *m)
{
    int x = im_floats(m, 0), slope = im_floats(m, 1);
    int below = im_unary(m, ND_RELU, 0, 0, im_unary(m, ND_SCALE, -1, 0, x));
    im_result(m, 0, im_binary_of(m, ND_SUB, im_unary(m, ND_RELU, 0, 0, x), im_binary_of(m, ND_MUL, below, slope)));
}

/* ---- comparisons: 1 or 0 ---- */

enum { NEGATED = 256 };

static int negated(struct import *m, int x)
{
    return im_unary(m, ND_SHIFT, 1, 0, im_unary(m, ND_SCALE, -1, 0, x));
}

/* kind: NEGATED too */
static void op_compare(struct import *m)
{
    enum nd_binary kind = (enum nd_binary)(m->kind & ~NEGATED);
    static const enum nd_unary with_number[] = { ND_ABOVE, ND_BELOW, ND_IS }, turned[] = { ND_BELOW, ND_ABOVE, ND_IS };
    int which = kind - ND_GREATER, y;
    double c;
    if (im_scalar(m, 1, &c)) y = im_unary(m, with_number[which], c, 0, im_floats(m, 0));
    else if (im_scalar(m, 0, &c)) y = im_unary(m, turned[which], c, 0, im_floats(m, 1));
    else y = im_binary_of(m, kind, im_floats(m, 0), im_floats(m, 1));
    im_result_truth(m, m->kind & NEGATED ? negated(m, y) : y);
}

static void op_not(struct import *m) { im_result_truth(m, negated(m, im_floats(m, 0))); }

/* a cast of numbers cuts them off when it is to whole ones; a tensor has nobody who would */
static void op_cast(struct import *m)
{
    const double *p;
    size_t n;
    int to = (int)im_attr_i(m, "to", 1);
    bool whole = (to >= 2 && to <= ONNX_INT64) || to == 12 || to == 13;   /* bytes to int64; uint32, uint64 */
    if (im_input(m, 0)->kind != TENSOR && im_numbers(m, 0, &p, &n)) {
        double x[CONSTANTS];
        for (size_t i = 0; i < n; i++) x[i] = whole ? trunc(p[i]) : to == ONNX_BOOL ? p[i] != 0 : p[i];
        m->whole = whole;
        im_result_like(m, x, 0);
        return;
    }
    int x = whole ? im_as_tensor(m, 0) : im_floats(m, 0);
    struct imported v = *im_input(m, 0);
    bool floats = !strcmp(im_shape_of(m, x)->dtype, "f32") && !v.whole;
    if (whole && floats) im_refuse(m, "floats that become integers");
    if (to == ONNX_BOOL && floats) im_result_truth(m, negated(m, im_unary(m, ND_IS, 0, 0, x)));
    else im_define(m, m->node->out[0], v);
}

/* What operand i is where the condition holds (or does not), else 0; -1: 0 everywhere.  An infinite number, as masks
 * have it, becomes the largest float, so that nothing is infinity times 0. */
static int chosen(struct import *m, size_t i, int condition, bool holds)
{
    double c;
    if (!im_scalar(m, i, &c)) return im_binary_of(m, holds ? ND_WHERE : ND_ELSE, im_floats(m, i), condition);
    if (c == 0) return -1;
    c = fmin(fmax(c, -(double)FLT_MAX), (double)FLT_MAX);
    return im_unary(m, ND_SCALE, c, 0, holds ? condition : negated(m, condition));
}

static void op_where(struct import *m)
{
    int condition = im_floats(m, 0), a = chosen(m, 1, condition, true), b = chosen(m, 2, condition, false);
    if (a < 0 && b < 0) im_refuse(m, "a choice between 0 and 0");
    im_result(m, 0, a < 0 ? b : b < 0 ? a : im_binary_of(m, ND_ADD, a, b));
}

static void op_expand(struct import *m)
{
    size_t n;
    const double *want = im_want_numbers(m, 1, &n);
    int x = im_floats(m, 0);
    struct tensor t = *im_shape_of(m, x);
    int dims = (int)n > t.ndim ? (int)n : t.ndim;
    int64_t shape[GRAPH_DIMS];
    if (dims > GRAPH_DIMS) im_refuse(m, "a result of more than four dimensions");
    bool same = dims == t.ndim;
    for (int k = 1; k <= dims; k++) {
        int64_t have = k <= t.ndim ? t.shape[t.ndim - k] : 1;
        double ask = k <= (int)n ? want[(int)n - k] : 1;
        if (!(ask >= 1 && ask <= (double)IMPORT_ELEMENTS) || (have != 1 && ask > 1 && (int64_t)ask != have))
            im_refuse(m, "a shape that its operand does not go into");
        shape[dims - k] = (int64_t)ask > have ? (int64_t)ask : have;
        same &= shape[dims - k] == have;
    }
    if (same) {
        im_result(m, 0, x);
        return;
    }
    int y = im_new_tensor(m, "f32", dims, shape);
    graph_attr(m->g, im_node(m, "NdExpand", x, -1, y), "factor", 1, 1, 0);
    im_result(m, 0, y);
}

/* ---- norms and softmaxes ---- */

/* (x - mean) / sqrt(variance + epsilon) over the axes */
static int normalised(struct import *m, int x, int axes, double epsilon)
{
    int d = im_binary_of(m, ND_SUB, x, im_reduced(m, x, axes, true));
    int variance = im_reduced(m, im_binary_of(m, ND_MUL, d, d), axes, true);
    int inverse = im_unary(m, ND_POW, -0.5, 0, im_unary(m, ND_SHIFT, epsilon, 0, variance));
    return im_binary_of(m, ND_MUL, d, inverse);
}

/* times inputs 1, plus input 2: of dimension 1 */
static int of_channels(struct import *m, int y, int dims)
{
    for (size_t i = 1; i < 3; i++) {
        int c = im_floats(m, i);
        int64_t shape[GRAPH_DIMS] = { 1, im_shape_of(m, c)->shape[0], 1, 1 };
        if (im_shape_of(m, c)->ndim != 1) im_refuse(m, "statistics that are not of channels");
        y = im_binary_of(m, i == 1 ? ND_MUL : ND_ADD, y, im_reshaped(m, c, dims, shape));
    }
    return y;
}

static void op_instance(struct import *m)
{
    int x = im_floats(m, 0), dims = im_shape_of(m, x)->ndim;
    if (dims < 3) im_refuse(m, "a norm of something without a plane");
    im_result(m, 0, of_channels(m, normalised(m, x, (1 << dims) - 4, im_attr_f(m, "epsilon", 1e-5f)), dims));
}

static void op_group(struct import *m)
{
    int x = im_floats(m, 0);
    struct tensor t = *im_shape_of(m, x);
    int64_t groups = (int64_t)im_attr_i(m, "num_groups", 0);
    if (t.ndim < 3 || groups < 1 || t.shape[1] % groups) im_refuse(m, "an impossible number of groups");
    if (im_shape_of(m, im_floats(m, 1))->shape[0] != t.shape[1]) im_refuse(m, "statistics that are not of channels");
    int64_t all = im_elements(t.shape, t.ndim), shape[3] = { t.shape[0], groups, all / t.shape[0] / groups };
    int y = normalised(m, im_reshaped(m, x, 3, shape), 4, im_attr_f(m, "epsilon", 1e-5f));
    im_result(m, 0, of_channels(m, im_reshaped(m, y, t.ndim, t.shape), t.ndim));
}

static void op_layer(struct import *m)
{
    int x = im_floats(m, 0), dims = im_shape_of(m, x)->ndim, axis = im_axis_of(m, im_attr_i(m, "axis", -1), dims);
    int y = normalised(m, x, (1 << dims) - (1 << axis), im_attr_f(m, "epsilon", 1e-5f));
    y = im_binary_of(m, ND_MUL, y, im_floats(m, 1));
    im_result(m, 0, im_given(m, 2) ? im_binary_of(m, ND_ADD, y, im_floats(m, 2)) : y);
}

static void op_softmax(struct import *m)
{
    bool joint = m->o->opset && m->o->opset < 13;        /* over the axis and all after it */
    int x = im_floats(m, 0), dims = im_shape_of(m, x)->ndim,
        axis = im_axis_of(m, im_attr_i(m, "axis", joint ? 1 : -1), dims);
    if (joint && im_elements(im_shape_of(m, x)->shape + axis + 1, dims - axis - 1) != 1)
        im_refuse(m, "a softmax over several axes, which it is before opset 13");
    int perm[GRAPH_DIMS] = { 0, 1, 2, 3 };
    perm[axis] = dims - 1;
    perm[dims - 1] = axis;
    x = im_transposed(m, x, perm);
    struct tensor t = *im_shape_of(m, x);
    int y = im_new_tensor(m, "f32", t.ndim, t.shape);
    im_node(m, m->kind ? "NdLogSoftmax" : "NdSoftmax", x, -1, y);
    im_result(m, 0, im_transposed(m, y, perm));
}

/* ---- pieces of space ---- */

/* Channel c b b + i b + j (CRD) or (i b + j) C + c (DCR) of a pixel becomes pixel (i, j) of a b x b square of channel
 * c: in four dimensions one axis after the other. */
static void op_depth_to_space(struct import *m)
{
    int x = im_floats(m, 0);
    struct tensor t = *im_shape_of(m, x);
    int64_t b = (int64_t)im_attr_i(m, "blocksize", 0);
    if (t.ndim != 4 || b < 1 || b > 1 << 10 || t.shape[1] % (b * b)) im_refuse(m, "blocks of an impossible size");
    int64_t n = t.shape[0], c = t.shape[1] / (b * b), h = t.shape[2], w = t.shape[3];
    const struct onnx_attr *mode = onnx_attr(m->node, "mode");
    if (!mode || !str_is(mode->text, "CRD")) {
        x = im_reshaped(m, x, 4, (int64_t[]){ n, b * b, c, h * w });
        x = im_transposed(m, x, (int[]){ 0, 2, 1, 3 });
    }
    x = im_reshaped(m, x, 3, (int64_t[]){ n * c * b, b, h * w });
    x = im_transposed(m, x, (int[]){ 0, 2, 1 });
    x = im_reshaped(m, x, 4, (int64_t[]){ n * c, b, h, w * b });
    x = im_transposed(m, x, (int[]){ 0, 2, 1, 3 });
    im_result(m, 0, im_reshaped(m, x, 4, (int64_t[]){ n, c, h * b, w * b }));
}

/* ---- einsum of one or two arrays ---- */

enum { LETTERS = 52 };
struct term { int n, at[LETTERS]; int letter[GRAPH_DIMS]; };   /* at: axis + 1 of a letter */

static struct term term_of(const struct import *m, const char **p, const char *end)
{
    struct term t = { 0 };
    for (; *p < end && **p != ',' && **p != '-'; ++*p) {
        if (**p == ' ') continue;
        int l = **p >= 'a' && **p <= 'z' ? **p - 'a' : **p >= 'A' && **p <= 'Z' ? 26 + **p - 'A' : -1;
        if (l < 0 || t.at[l] || t.n == GRAPH_DIMS)
            im_refuse(m, "an equation that is not of four different letters each");
        t.letter[t.n++] = l;
        t.at[l] = t.n;
    }
    return t;
}

/* without the letters that are nowhere else */
static int summed(struct import *m, int x, struct term *t, const struct term *other, const struct term *out)
{
    int axes = 0, n = 0;
    struct term left = { 0 };
    int64_t shape[GRAPH_DIMS] = { 1 };
    for (int k = 0; k < t->n; k++) {
        int l = t->letter[k];
        if (!other->at[l] && !out->at[l]) axes |= 1 << k;
        else {
            left.letter[left.n++] = l;
            left.at[l] = left.n;
            shape[n++] = im_shape_of(m, x)->shape[k];
        }
    }
    if (!axes) return x;
    *t = left;
    return im_reshaped(m, im_reduced(m, x, axes, false), n ? n : 1, shape);
}

/* in the order of these letters */
static int ordered(struct import *m, int x, const struct term *t, const int *letter)
{
    int perm[GRAPH_DIMS];
    for (int k = 0; k < t->n; k++) perm[k] = t->at[letter[k]] - 1;
    return t->n > 1 ? im_transposed(m, x, perm) : x;
}

/* the letters of a term that the other has (or not) and the result has (or not); their elements in all */
static int gather(const struct term *t, const struct term *other, const struct term *out, bool shared, bool kept,
                  const int64_t *size, int *letter, int64_t *count)
{
    int n = 0;
    *count = 1;
    for (int k = 0; k < t->n; k++) {
        int l = t->letter[k];
        if ((other->at[l] > 0) != shared || (out->at[l] > 0) != kept) continue;
        letter[n++] = l;
        *count *= size[l];
    }
    return n;
}

/* (batch, kept, summed) times (batch, summed, kept); `got` is what comes out */
static int contracted(struct import *m, int x, struct term *a, int y, struct term *b, const struct term *out,
                      const int64_t *size, struct term *got)
{
    int first[GRAPH_DIMS] = { 0 }, second[GRAPH_DIMS], all[2 * GRAPH_DIMS];
    int64_t each, rows, inner, columns, shape[GRAPH_DIMS];
    int batch = gather(a, b, out, true, true, size, first, &each);
    memcpy(second, first, sizeof second);
    int left = gather(a, b, out, false, true, size, first + batch, &rows);
    int over = gather(a, b, out, true, false, size, first + batch + left, &inner);
    memcpy(second + batch, first + batch + left, (size_t)over * sizeof *second);
    int right = gather(b, a, out, false, true, size, second + batch + over, &columns);
    memcpy(all, first, (size_t)(batch + left) * sizeof *all);
    memcpy(all + batch + left, second + batch + over, (size_t)right * sizeof *all);
    if (batch + left + right > GRAPH_DIMS) im_refuse(m, "a result of more than four dimensions");
    for (int k = 0; k < batch + left + right; k++) {
        got->letter[got->n++] = all[k];
        got->at[all[k]] = got->n;
        shape[k] = size[all[k]];
    }
    x = im_reshaped(m, ordered(m, x, a, first), 3, (int64_t[]){ each, rows, inner });
    y = im_reshaped(m, ordered(m, y, b, second), 3, (int64_t[]){ each, inner, columns });
    return im_reshaped(m, im_product(m, x, y, false), got->n, shape);
}

static void set_sizes(const struct import *m, int x, const struct term *t, int64_t *size)
{
    const struct tensor *of = im_shape_of(m, x);
    if (of->ndim != t->n) im_refuse(m, "an equation for arrays of other dimensions");
    for (int k = 0; k < t->n; k++) {
        int l = t->letter[k];
        if (size[l] && size[l] != of->shape[k]) im_refuse(m, "an equation whose letters do not go together");
        size[l] = of->shape[k];
    }
}

static void op_einsum(struct import *m)
{
    const struct onnx_attr *equation = onnx_attr(m->node, "equation");
    if (!equation || m->node->nin < 1 || m->node->nin > 2) im_refuse(m, "an equation of more than two arrays");
    const char *p = equation->text.s, *end = p + equation->text.n;
    struct term a = term_of(m, &p, end), b = { 0 }, got = { 0 };
    bool two = p < end && *p == ',';
    if (two) {
        p++;
        b = term_of(m, &p, end);
    }
    if (end - p < 3 || p[0] != '-' || p[1] != '>' || two != (m->node->nin == 2))
        im_refuse(m, "an equation that does not say its result, or of other arrays");
    p += 2;
    struct term out = term_of(m, &p, end);
    int64_t size[LETTERS] = { 0 };
    int x = im_floats(m, 0), y = two ? im_floats(m, 1) : -1;
    set_sizes(m, x, &a, size);
    if (two) set_sizes(m, y, &b, size);
    for (int k = 0; k < out.n; k++)
        if (!size[out.letter[k]]) im_refuse(m, "an equation whose letters do not go together");
    if (p != end || !out.n || !a.n || (two && !b.n)) im_refuse(m, "an equation without letters");
    x = summed(m, x, &a, &b, &out);
    if (two) x = contracted(m, x, &a, summed(m, y, &b, &a, &out), &b, &out, size, &got);
    else got = a;
    im_result(m, 0, ordered(m, x, &got, out.letter));
}

const struct import_op import_more[] = {
    { "Cast", op_cast },
    { "Celu", op_celu },
    { "DepthToSpace", op_depth_to_space },
    { "Einsum", op_einsum },
    { "Elu", op_elu },
    { "Equal", op_compare, ND_EQUAL },
    { "Expand", op_expand },
    { "Greater", op_compare, ND_GREATER },
    { "GreaterOrEqual", op_compare, ND_LESS | NEGATED },
    { "GroupNormalization", op_group },
    { "HardSigmoid", op_hardsigmoid },
    { "HardSwish", op_hardswish },
    { "InstanceNormalization", op_instance },
    { "LayerNormalization", op_layer },
    { "LeakyRelu", op_leaky },
    { "Less", op_compare, ND_LESS },
    { "LessOrEqual", op_compare, ND_GREATER | NEGATED },
    { "LogSoftmax", op_softmax, true },
    { "Mish", op_mish },
    { "Not", op_not },
    { "PRelu", op_prelu },
    { "Softmax", op_softmax },
    { "Where", op_where },
    { 0 },
};

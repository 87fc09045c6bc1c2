/* import.c - see import.h */
#include "place/importing.h"
#include "base/checked.h"
#include "base/filter.h"
#include "base/mem.h"
#include "base/message.h"
#include "place/grad.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONCAT = 8 };                                     /* operands of a concatenation */

static void op_binary(struct import *m)
{
    int kind = m->kind;
    const double *p, *q;
    size_t n, k;
    bool known = im_input(m, 0)->kind != TENSOR && im_input(m, 1)->kind != TENSOR;
    if (known && im_numbers(m, 0, &p, &n) && im_numbers(m, 1, &q, &k)) {
        double x[CONSTANTS];
        const int64_t *s, *t;
        int dims = im_form(m, 0, &s), more = im_form(m, 1, &t);
        bool second = more > dims || (more == dims && k > n);   /* has the shape of the result; or one number only */
        size_t most = second ? k : n, other = second ? n : k;
        if (other != 1 && (dims != more || memcmp(s, t, (size_t)dims * sizeof *s) != 0))
            im_refuse(m, "constants whose shapes do not go together");
        for (size_t i = 0; i < most; i++) {
            double a = p[n == 1 ? 0 : i], b = q[k == 1 ? 0 : i];
            if (kind == 3 && m->whole && b == 0) im_refuse(m, "an integer divided by 0");
            x[i] = kind == 0 ? a + b : kind == 1 ? a - b : kind == 2 ? a * b : a / b;
            if (kind == 3 && m->whole) x[i] = trunc(x[i]);   /* integers stay integers */
        }
        im_result_like(m, x, second);
        return;
    }
    double c;
    if (im_scalar(m, 1, &c)) {
        int x = im_floats(m, 0);
        im_result(m, 0, kind < 2 ? im_unary(m, ND_SHIFT, kind ? -c : c, 0, x)
                                 : im_unary(m, ND_SCALE, kind == 2 ? c : 1 / c, 0, x));
        return;
    }
    if (im_scalar(m, 0, &c)) {
        int x = im_floats(m, 1);
        if (kind == 3) x = im_unary(m, ND_POW, -1, 0, x);
        if (kind == 1) x = im_unary(m, ND_SCALE, -1, 0, x);
        im_result(m, 0, im_unary(m, kind < 2 ? ND_SHIFT : ND_SCALE, c, 0, x));
        return;
    }
    im_result(m, 0, im_binary_of(m, kind, im_floats(m, 0), im_floats(m, 1)));
}

static void op_unary(struct import *m)
{
    enum nd_unary kind = (enum nd_unary)m->kind;
    double c;
    if (kind == ND_SQRT && im_scalar(m, 0, &c)) {
        c = sqrt(c);
        im_result_like(m, &c, 0);
        return;
    }
    im_result(m, 0, im_unary(m, kind, 0, 0, im_floats(m, 0)));
}

static void op_pow(struct import *m)
{
    double c, x;
    if (!im_scalar(m, 1, &c)) im_refuse(m, "an exponent that is not one constant");
    if (im_scalar(m, 0, &x)) {
        x = pow(x, c);
        im_result_like(m, &x, 0);
        return;
    }
    im_result(m, 0, im_unary(m, ND_POW, c, 0, im_floats(m, 0)));
}

static void op_clip(struct import *m)
{
    double low = im_attr_f(m, "min", -3e38), high = im_attr_f(m, "max", 3e38);
    if (im_given(m, 1) && !im_scalar(m, 1, &low)) im_refuse(m, "a bound that is not constant");
    if (im_given(m, 2) && !im_scalar(m, 2, &high)) im_refuse(m, "a bound that is not constant");
    im_result(m, 0, im_unary(m, ND_CLIP, low, high, im_floats(m, 0)));
}

static void op_reduce(struct import *m)
{
    int x = im_floats(m, 0), axes = 0, n = 0;
    struct tensor t = *im_shape_of(m, x);
    const struct onnx_attr *a = onnx_attr(m->node, "axes");
    bool keep = im_attr_i(m, "keepdims", 1) != 0;
    for (size_t i = 0; a && i < a->nint; i++) axes |= 1 << im_axis_of(m, (double)a->ints[i], t.ndim);
    if (im_given(m, 1)) {
        size_t count;
        const double *p = im_want_numbers(m, 1, &count);
        for (size_t i = 0; i < count; i++) axes |= 1 << im_axis_of(m, p[i], t.ndim);
    }
    if (str_is(m->node->op, "GlobalAveragePool")) {
        if (t.ndim < 3) im_refuse(m, "a mean of something without a plane");
        axes = (1 << t.ndim) - 4;
    }
    if (!axes) axes = (1 << t.ndim) - 1;
    int64_t left[GRAPH_DIMS] = { 1 };
    for (int k = 0; k < t.ndim; k++)
        if (!(axes >> k & 1)) left[n++] = t.shape[k];
    int y = im_reduced(m, x, axes, m->kind);
    im_result(m, 0, keep ? y : im_reshaped(m, y, n ? n : 1, left));
}

static void op_gemm(struct import *m)
{
    if (im_attr_i(m, "transA", 0) != 0 || im_attr_f(m, "alpha", 1) != 1 || im_attr_f(m, "beta", 1) != 1)
        im_refuse(m, "a product with transA, alpha or beta");
    int y = im_product(m, im_floats(m, 0), im_floats(m, 1), im_attr_i(m, "transB", 0) != 0);
    im_result(m, 0, im_given(m, 2) ? im_binary_of(m, 0, y, im_floats(m, 2)) : y);
}

/* Window attributes of node k; the sizes of the output's plane.  Of sequences (flat) the plane is one row high. */
static void window(struct import *m, int k, const int64_t *in, const int64_t *kernel, bool transposed, bool flat,
                   int64_t *out)
{
    const struct onnx_attr *text = onnx_attr(m->node, "auto_pad");
    bool valid = text && str_is(text->text, "VALID");    /* whatever pads says */
    if (text && text->text.n && !str_is(text->text, "NOTSET") && !valid) im_refuse(m, "padding by auto_pad");
    if (im_attr_i(m, "ceil_mode", 0) != 0) im_refuse(m, "ceil_mode");
    int64_t s[2], p[2], d = im_attr_ints(m, "dilations", 0, 1);
    for (size_t i = 0; i < 2; i++) {
        bool none = flat && i == 0, unpadded = none || valid;
        size_t at = flat ? 0 : i;
        s[i] = none ? 1 : im_attr_ints(m, "strides", at, 1);
        p[i] = unpadded ? 0 : im_attr_ints(m, "pads", at, 0);
        bool good = s[i] >= 1 && s[i] < 1 << 16 && p[i] >= 0 && p[i] < 1 << 16 && kernel[i] >= 1 && kernel[i] < 1 << 16;
        if (!good || d < 1 || d > 1 << 10 || in[i] > 1 << 30) im_refuse(m, "strides, padding or kernel out of range");
        if (!unpadded && im_attr_ints(m, "pads", at + (flat ? 1 : 2), p[i]) != p[i])
            im_refuse(m, "padding that differs at begin and end");
        if (im_attr_ints(m, "dilations", at, 1) != d) im_refuse(m, "dilations that differ");
        int64_t reach = (kernel[i] - 1) * d + 1, more = none ? 0 : im_attr_ints(m, "output_padding", at, 0);
        out[i] = transposed ? (in[i] - 1) * s[i] - 2 * p[i] + reach + more
                 : in[i] + 2 * p[i] - reach < 0 ? 0
                                                : (in[i] + 2 * p[i] - reach) / s[i] + 1;
    }
    if (k < 0) return;
    graph_attr(m->g, k, "stride", 2, (double)s[0], (double)s[1]);
    graph_attr(m->g, k, "pad", 2, (double)p[0], (double)p[1]);
    if (d > 1) graph_attr(m->g, k, "dilation", 1, (double)d, 0);
}

/* images as they are, sequences as images of one row */
static int images(struct import *m, int x, bool flat)
{
    struct tensor t = *im_shape_of(m, x);
    if (t.ndim != (flat ? 3 : 4)) im_refuse(m, "an operand that is neither images nor sequences");
    return flat ? im_reshaped(m, x, 4, (int64_t[]){ t.shape[0], t.shape[1], 1, t.shape[2] }) : x;
}

static int back_from(struct import *m, int y, bool flat)
{
    struct tensor t = *im_shape_of(m, y);
    return flat ? im_reshaped(m, y, 3, (int64_t[]){ t.shape[0], t.shape[1], t.shape[3] }) : y;
}

static void op_conv(struct import *m)
{
    bool transposed = m->kind;
    int x = im_floats(m, 0), w = im_floats(m, 1);
    bool flat = im_shape_of(m, x)->ndim == 3;
    x = images(m, x, flat);
    w = images(m, w, flat);
    struct tensor t = *im_shape_of(m, x), f = *im_shape_of(m, w);
    int64_t group = (int64_t)im_attr_i(m, "group", 1), plane[2];
    if (group < 1 || group > 1 << 20) im_refuse(m, "an impossible number of groups");
    window(m, -1, t.shape + 2, f.shape + 2, transposed, flat, plane);
    int64_t channels = transposed ? f.shape[1] * group : f.shape[0],
            shape[4] = { t.shape[0], channels, plane[0], plane[1] };
    if (t.shape[1] != (transposed ? f.shape[0] : f.shape[1] * group) || f.shape[0] % group)
        im_refuse(m, "weights for another number of channels");
    int y = im_new_tensor(m, "f32", 4, shape);
    int k = transposed ? im_node(m, "NdConvGradX", w, x, y) : im_node(m, "NdConv", x, w, y);
    window(m, k, t.shape + 2, f.shape + 2, transposed, flat, plane);
    graph_attr(m->g, k, "group", 1, (double)group, 0);
    m->g->node[k].flops =
        2 * (double)im_elements(transposed ? t.shape : shape, 4) * (double)(f.shape[1] * f.shape[2] * f.shape[3]);
    if (im_given(m, 2)) {
        int b = im_floats(m, 2);
        y = im_binary_of(m, 0, y, im_reshaped(m, b, 4, (int64_t[]){ 1, channels, 1, 1 }));
    }
    im_result(m, 0, back_from(m, y, flat));
}

static void op_pool(struct import *m)
{
    bool max = m->kind;
    int x = im_floats(m, 0);
    bool flat = im_shape_of(m, x)->ndim == 3;
    x = images(m, x, flat);
    struct tensor t = *im_shape_of(m, x);
    int64_t plane[2], first = im_attr_ints(m, "kernel_shape", 0, 0);
    int64_t kernel[2] = { flat ? 1 : first, flat ? first : im_attr_ints(m, "kernel_shape", 1, 0) };
    window(m, -1, t.shape + 2, kernel, false, flat, plane);
    if (im_attr_ints(m, "dilations", 0, 1) != 1) im_refuse(m, "a pool with dilations");
    int64_t shape[4] = { t.shape[0], t.shape[1], plane[0], plane[1] };
    int y = im_new_tensor(m, "f32", 4, shape), k;
    if (max) {
        int index = im_new_tensor(m, "i32", 4, shape);
        k = graph_node(m->g, m->label, "NdMaxPool", 1, &x, 2, (int[]){ y, index });
    } else {
        k = im_node(m, "NdAvgPool", x, -1, y);
        graph_attr(m->g, k, "counted", 1, im_attr_i(m, "count_include_pad", 0), 0);
    }
    window(m, k, t.shape + 2, kernel, false, flat, plane);
    graph_attr(m->g, k, "kernel", 2, (double)kernel[0], (double)kernel[1]);
    im_result(m, 0, back_from(m, y, flat));
}

static void op_norm(struct import *m)
{
    int x = im_floats(m, 0), in[3] = { x, im_floats(m, 1), im_floats(m, 2) };
    struct tensor t = *im_shape_of(m, x);
    if (t.ndim < 2 || im_shape_of(m, in[1])->bytes != 4 * (uint64_t)t.shape[1] ||
        im_shape_of(m, in[2])->bytes != 4 * (uint64_t)t.shape[1])
        im_refuse(m, "statistics for another number of channels");
    int out[3] = { im_new_tensor(m, "f32", t.ndim, t.shape), im_new_tensor(m, "f32", 1, &t.shape[1]),
                   im_new_tensor(m, "f32", 1, &t.shape[1]) };
    int k = graph_node(m->g, m->label, "NdNorm", 3, in, 3, out);
    graph_attr(m->g, k, "epsilon", 1, im_attr_f(m, "epsilon", 1e-5), 0);
    im_result(m, 0, out[0]);
}

/* what input 0 is, of at most four dimensions: numbers p, or p is NULL and it is the tensor x */
static struct tensor constant_or_tensor(struct import *m, const double **p, int *x)
{
    struct tensor t = { 0 };
    const int64_t *shape;
    size_t n;
    if (im_input(m, 0)->kind == TENSOR || !im_numbers(m, 0, p, &n)) {
        *p = NULL;
        *x = im_as_tensor(m, 0);
        return *im_shape_of(m, *x);
    }
    t.ndim = im_form(m, 0, &shape);
    if (t.ndim > GRAPH_DIMS || !n) im_refuse(m, "a constant that is empty or of more than four dimensions");
    if (t.ndim) memcpy(t.shape, shape, (size_t)t.ndim * sizeof *shape);
    return t;
}

static void reshaped(struct import *m, const double *p, int x, const struct tensor *t, int n, const int64_t *shape)
{
    if (p && im_elements(shape, n) != im_elements(t->shape, t->ndim))
        im_refuse(m, "a reshape to another number of elements");
    if (p) im_result_numbers(m, p, n, shape);
    else im_result(m, 0, im_reshaped(m, x, n, shape));
}

static void op_reshape(struct import *m)
{
    size_t n;
    const double *want = im_want_numbers(m, 1, &n), *p;
    int x, open = -1;
    struct tensor t = constant_or_tensor(m, &p, &x);
    int64_t shape[ONNX_DIMS], rest = 1;
    if (n > GRAPH_DIMS) im_refuse(m, "a result of more than four dimensions");
    for (size_t i = 0; i < n; i++) {
        bool copy = want[i] == 0 && (int)i < t.ndim;
        if (!copy && !(want[i] == -1 || (want[i] >= 1 && want[i] <= (double)IMPORT_ELEMENTS)))
            im_refuse(m, "an impossible shape");
        shape[i] = copy ? t.shape[i] : (int64_t)want[i];
        if (shape[i] == -1 && open >= 0) im_refuse(m, "a shape with two open dimensions");
        if (shape[i] == -1) open = (int)i;
        else if (shape[i] > IMPORT_ELEMENTS / rest) im_refuse(m, "a result that is too large");
        else rest *= shape[i];
    }
    if (open >= 0) shape[open] = im_elements(t.shape, t.ndim) / rest;
    reshaped(m, p, x, &t, (int)n, shape);
}

static void op_flatten(struct import *m)
{
    int x = im_as_tensor(m, 0);
    struct tensor t = *im_shape_of(m, x);
    double at = im_attr_i(m, "axis", 1);
    int axis = at == t.ndim ? t.ndim : im_axis_of(m, at, t.ndim);
    int64_t shape[2] = { im_elements(t.shape, axis), im_elements(t.shape + axis, t.ndim - axis) };
    im_result(m, 0, im_reshaped(m, x, 2, shape));
}

static void op_squeeze(struct import *m)
{
    bool wider = m->kind;
    const double *axes = NULL, *p;
    size_t n = 0;
    double listed[ONNX_DIMS];
    const struct onnx_attr *a = onnx_attr(m->node, "axes");
    if (im_given(m, 1)) axes = im_want_numbers(m, 1, &n);
    else if (a) {
        for (; n < a->nint && n < ONNX_DIMS; n++) listed[n] = (double)a->ints[n];
        axes = listed;
    }
    int x, to = 0;
    struct tensor t = constant_or_tensor(m, &p, &x);
    int all = wider ? t.ndim + (int)n : t.ndim;
    if (all > GRAPH_DIMS) im_refuse(m, "a result of more than four dimensions");
    unsigned marked = 0;
    for (size_t i = 0; i < n; i++) marked |= 1u << im_axis_of(m, axes[i], all);
    int64_t shape[GRAPH_DIMS];
    for (int k = 0, from = 0; k < all; k++) {
        if (wider) shape[to++] = marked >> k & 1 || from >= t.ndim ? 1 : t.shape[from++];
        else if (!(marked >> k & 1) && (n || t.shape[k] != 1)) shape[to++] = t.shape[k];
    }
    reshaped(m, p, x, &t, to, shape);
}

static void op_transpose(struct import *m)
{
    int x = im_as_tensor(m, 0), n = im_shape_of(m, x)->ndim, from[GRAPH_DIMS];
    unsigned seen = 0;
    for (int k = 0; k < n; k++) {
        from[k] = im_axis_of(m, (double)im_attr_ints(m, "perm", (size_t)k, n - 1 - k), n);
        seen |= 1u << from[k];
    }
    if (seen != (1u << n) - 1) im_refuse(m, "a permutation that is none");
    im_result(m, 0, im_transposed(m, x, from));
}

/* at most CONCAT operands at a time */
static int concat(struct import *m, int axis, const int *x, int n)
{
    if (n == 1) return x[0];
    if (n > CONCAT) {
        int part[CONCAT], each = (n + CONCAT - 1) / CONCAT, parts = 0;
        for (int i = 0; i < n; i += each) part[parts++] = concat(m, axis, x + i, n - i < each ? n - i : each);
        return concat(m, axis, part, parts);
    }
    struct tensor t = *im_shape_of(m, x[0]);
    for (int i = 1; i < n; i++) {
        const struct tensor *u = im_shape_of(m, x[i]);
        bool good = u->ndim == t.ndim;
        for (int k = 0; good && k < t.ndim; k++) good = k == axis || u->shape[k] == t.shape[k];
        if (!good) im_refuse(m, "arrays whose shapes do not go together");
        t.shape[axis] += u->shape[axis];
    }
    int y = im_new_tensor(m, t.dtype, t.ndim, t.shape);
    graph_attr(m->g, graph_node(m->g, m->label, "NdConcat", n, x, 1, &y), "axis", 1, axis, 0);
    return y;
}

static void op_concat(struct import *m)
{
    bool constant = true;
    const int64_t *shape;
    for (size_t i = 0; i < m->node->nin; i++) constant &= im_input(m, i)->kind != TENSOR && im_form(m, i, &shape) <= 1;
    if (constant) {
        double all[CONSTANTS];
        size_t n = 0, k;
        for (size_t i = 0; i < m->node->nin; i++) {
            const double *p = im_want_numbers(m, i, &k);
            if (n + k > CONSTANTS) im_refuse(m, "a computed constant of more than 64 numbers");
            memcpy(all + n, p, k * sizeof *p);
            n += k;
        }
        im_result_numbers(m, all, 1, &(int64_t){ (int64_t)n });
        return;
    }
    if (m->node->nin > 4096) im_refuse(m, "more than 4096 arrays");
    int *x = xmalloc(m->node->nin, sizeof *x);
    for (size_t i = 0; i < m->node->nin; i++) x[i] = im_as_tensor(m, i);
    int axis = im_axis_of(m, im_attr_i(m, "axis", 0), im_shape_of(m, x[0])->ndim);
    im_result(m, 0, concat(m, axis, x, (int)m->node->nin));
    free(x);
}

static int slice(struct import *m, int x, int axis, int64_t begin, int64_t n)
{
    struct tensor t = *im_shape_of(m, x);
    if (begin == 0 && n == t.shape[axis]) return x;
    if (begin < 0 || n < 1 || begin > t.shape[axis] - n) im_refuse(m, "a part that lies outside its array");
    t.shape[axis] = n;
    int y = im_new_tensor(m, t.dtype, t.ndim, t.shape), k = im_node(m, "NdSlice", x, -1, y);
    graph_attr(m->g, k, "axis", 1, axis, 0);
    graph_attr(m->g, k, "begin", 1, (double)begin, 0);
    return y;
}

static void op_split(struct import *m)
{
    int x = im_as_tensor(m, 0), axis = im_axis_of(m, im_attr_i(m, "axis", 0), im_shape_of(m, x)->ndim);
    int64_t all = im_shape_of(m, x)->shape[axis], even = (all + (int64_t)m->node->nout - 1) / (int64_t)m->node->nout,
            begin = 0;
    size_t n = 0;
    const double *p = im_given(m, 1) ? im_want_numbers(m, 1, &n) : NULL;
    for (size_t i = 0; i < m->node->nout; i++) {
        bool said = p && i < n && p[i] >= 1 && p[i] <= (double)all;
        int64_t size = said ? (int64_t)p[i] : im_attr_ints(m, "split", i, even);
        if (size > all - begin && !p) size = all - begin;
        im_result(m, i, slice(m, x, axis, begin, size));
        begin += size;
    }
}

static int64_t clamp(const struct import *m, double v, int64_t n)
{
    if (isnan(v)) im_refuse(m, "a part that ends nowhere");
    if (v < 0) v += (double)n;
    return v < 0 ? 0 : v > (double)n ? n : (int64_t)v;
}

/* is input 0 a list of numbers, known now? */
static bool listed(struct import *m, const double **p, size_t *n)
{
    const int64_t *shape;
    return im_input(m, 0)->kind != TENSOR && im_form(m, 0, &shape) <= 1 && im_numbers(m, 0, p, n);
}

static void op_slice(struct import *m)
{
    size_t n, k, count = 0, have;
    const double *begin = im_want_numbers(m, 1, &n), *end = im_want_numbers(m, 2, &k), *axes = NULL, *steps = NULL, *p;
    if (im_given(m, 3)) axes = im_want_numbers(m, 3, &count);
    if (k != n || (axes && count != n)) im_refuse(m, "a part without an end");
    if (im_given(m, 4)) {
        steps = im_want_numbers(m, 4, &count);
        for (size_t i = 0; i < count; i++)
            if (steps[i] != 1) im_refuse(m, "a part in steps");
    }
    if (listed(m, &p, &have)) {
        int64_t a = n ? clamp(m, begin[0], (int64_t)have) : 0, b = n ? clamp(m, end[0], (int64_t)have) : (int64_t)have;
        im_result_numbers(m, p + a, 1, &(int64_t){ b > a ? b - a : 0 });
        return;
    }
    int x = im_as_tensor(m, 0);
    for (size_t i = 0; i < n; i++) {
        int axis = im_axis_of(m, axes ? axes[i] : (double)i, im_shape_of(m, x)->ndim);
        int64_t all = im_shape_of(m, x)->shape[axis], a = clamp(m, begin[i], all), b = clamp(m, end[i], all);
        x = slice(m, x, axis, a, b - a);
    }
    im_result(m, 0, x);
}

/* zeros around, axis by axis */
static void op_pad(struct import *m)
{
    const struct onnx_attr *mode = onnx_attr(m->node, "mode"), *a = onnx_attr(m->node, "pads");
    double value = im_attr_f(m, "value", 0), listed[2 * ONNX_DIMS];
    size_t n = 0;
    if ((mode && mode->text.n && !str_is(mode->text, "constant")) || (im_given(m, 2) && !im_scalar(m, 2, &value)) ||
        value != 0)
        im_refuse(m, "padding that is not with zeros");
    if (im_given(m, 3)) im_refuse(m, "padding of named axes");
    for (; a && n < a->nint && n < 2 * ONNX_DIMS; n++) listed[n] = (double)a->ints[n];
    const double *pads = im_given(m, 1) ? im_want_numbers(m, 1, &n) : listed;
    int x = im_floats(m, 0), dims = im_shape_of(m, x)->ndim;
    if (n != 2 * (size_t)dims) im_refuse(m, "padding for another number of dimensions");
    for (int k = 0; k < dims; k++) {
        struct tensor t = *im_shape_of(m, x);
        double before = pads[k], after = pads[k + dims];
        if (!(before >= 0 && after >= 0 && before < 1 << 20 && after < 1 << 20)) im_refuse(m, "padding out of range");
        if (before + after == 0) continue;
        t.shape[k] += (int64_t)before + (int64_t)after;
        int y = im_new_tensor(m, "f32", t.ndim, t.shape), d = im_node(m, "NdPad", x, -1, y);
        graph_attr(m->g, d, "axis", 1, k, 0);
        graph_attr(m->g, d, "begin", 1, trunc(before), 0);
        x = y;
    }
    im_result(m, 0, x);
}

static bool consecutive(struct import *m, const double **index, size_t *n)
{
    if (!im_numbers(m, 1, index, n)) return false;
    for (size_t i = 1; i < *n; i++)                      /* from the end to the begin is not */
        if ((*index)[i] != (*index)[0] + (double)i || ((*index)[0] < 0 && (*index)[i] >= 0)) return false;
    return true;
}

static void op_gather(struct import *m)
{
    const double *p, *index;
    const int64_t *form;
    size_t n, k;
    if (listed(m, &p, &n) && im_numbers(m, 1, &index, &k)) {
        double x[CONSTANTS];
        for (size_t i = 0; i < k; i++) {
            double at = index[i] < 0 ? index[i] + (double)n : index[i];
            if (!(at >= 0 && at < (double)n)) im_refuse(m, "an index out of range");
            x[i] = p[(size_t)at];
        }
        im_result_like(m, x, 1);
        return;
    }
    int x = im_as_tensor(m, 0), axis = im_axis_of(m, im_attr_i(m, "axis", 0), im_shape_of(m, x)->ndim);
    struct tensor t = *im_shape_of(m, x);
    if (im_input(m, 1)->kind != TENSOR && consecutive(m, &index, &k)) { /* known: a part of the array */
        int ndim = im_form(m, 1, &form);
        double first = k && index[0] < 0 ? index[0] + (double)t.shape[axis] : k ? index[0] : -1;
        if (!(first >= 0 && first < (double)t.shape[axis])) im_refuse(m, "an index out of range");
        int y = slice(m, x, axis, (int64_t)first, (int64_t)k), dims = 0;
        int64_t shape[GRAPH_DIMS + ONNX_DIMS];           /* the axis becomes those of the indices */
        for (int d = 0; d < t.ndim; d++) {
            if (d != axis) shape[dims++] = t.shape[d];
            for (int e = 0; d == axis && e < ndim; e++) shape[dims++] = form[e];
        }
        im_result(m, 0, im_reshaped(m, y, dims, shape));
        return;
    }
    int i = im_as_tensor(m, 1);
    struct tensor u = *im_shape_of(m, i);
    if (axis != 0 || t.ndim != 2 || strcmp(t.dtype, "f32") != 0 || strcmp(u.dtype, "i32") != 0 || u.ndim == GRAPH_DIMS)
        im_refuse(m, "indices that are not whole numbers into the rows of a table of floats");
    int64_t shape[GRAPH_DIMS];
    memcpy(shape, u.shape, sizeof shape);
    shape[u.ndim] = t.shape[1];
    int y = im_new_tensor(m, "f32", u.ndim + 1, shape);
    im_node(m, "NdGather", x, i, y);
    im_result(m, 0, y);
}

static void op_resize(struct import *m)
{
    const struct onnx_attr *mode = onnx_attr(m->node, "mode"), *rounding = onnx_attr(m->node, "nearest_mode"),
                           *where = onnx_attr(m->node, "coordinate_transformation_mode");
    bool corners = where && str_is(where->text, "asymmetric"), down = rounding && str_is(rounding->text, "floor");
    bool halves = !where || str_is(where->text, "half_pixel") || str_is(where->text, "pytorch_half_pixel");
    if ((mode && mode->text.n && !str_is(mode->text, "nearest")) || corners != down || !(corners || halves) ||
        (rounding && str_is(rounding->text, "ceil")))
        im_refuse(m, "an enlargement that is not to the nearest, each pixel as often as the others");
    int x = im_floats(m, 0);
    struct tensor t = *im_shape_of(m, x);
    if (t.ndim != 4) im_refuse(m, "an enlargement of something that is not images");
    size_t n = 0, at = str_is(m->node->op, "Upsample") ? 1 : 2;
    const double *p = im_given(m, at) ? im_want_numbers(m, at, &n) : NULL;
    double f = 0;
    if (n == 4) f = p[0] == 1 && p[1] == 1 && p[2] == p[3] ? p[2] : 0;
    else if (im_given(m, 3)) {
        p = im_want_numbers(m, 3, &n);
        f = n == 4 ? p[2] / (double)t.shape[2] : 0;
        if (f * (double)t.shape[3] != (n == 4 ? p[3] : -1)) f = 0;
    }
    if (!(f >= 1 && f <= 64) || f != floor(f)) im_refuse(m, "an enlargement that is not by one whole number");
    t.shape[2] *= (int64_t)f;
    t.shape[3] *= (int64_t)f;
    int y = im_new_tensor(m, "f32", 4, t.shape);
    graph_attr(m->g, im_node(m, "NdUpsample", x, -1, y), "factor", 1, f, 0);
    im_result(m, 0, y);
}

static void op_identity(struct import *m)
{
    struct imported v = *im_input(m, 0);
    if (v.kind == STORED) v = (struct imported){ .kind = TENSOR, .tensor = im_as_tensor(m, 0) };
    im_define(m, m->node->out[0], v);
}

static void op_dropout(struct import *m)
{
    double rate = im_attr_f(m, "ratio", 0.5), on = 0;
    if (im_given(m, 1) && !im_scalar(m, 1, &rate)) im_refuse(m, "a rate that is not constant");
    if (im_given(m, 2) && !im_scalar(m, 2, &on)) im_refuse(m, "a mode that is not constant");
    if (on == 0 || rate == 0) {
        op_identity(m);
        return;
    }
    int x = im_floats(m, 0), step = -1;
    struct tensor t = *im_shape_of(m, x);
    for (int i = 0; i < m->g->ntensor && step < 0; i++)
        if (grad_counter(&m->g->tensor[i])) step = i;
    if (step < 0) step = graph_tensor(m->g, "step", ROLE_ARG, "i32", 1, (int64_t[]){ 1 });
    if (!(rate > 0 && rate < 1)) im_refuse(m, "an impossible rate");
    int y = im_new_tensor(m, "f32", t.ndim, t.shape), k = im_node(m, "NdDropout", x, step, y);
    graph_attr(m->g, k, "rate", 1, rate, 0);
    graph_attr(m->g, k, "seed", 1, k + 1, 0);
    im_result(m, 0, y);
}

static void op_constant(struct import *m)
{
    const struct onnx_attr *a = onnx_attr(m->node, "value");
    if (!a || !a->tensor) {
        a = onnx_attr(m->node, "value_float");
        const struct onnx_attr *i = onnx_attr(m->node, "value_int");
        if (!a && !i) im_refuse(m, "a constant that is not numbers");
        double x = a ? (double)a->f : (double)i->i;
        m->whole = !a;
        im_result_numbers(m, &x, 0, NULL);
        return;
    }
    struct onnx_tensor *t = arena_get(&m->g->text, sizeof *t);
    *t = *a->tensor;
    t->name = m->node->out[0];
    im_define(m, m->node->out[0], (struct imported){ .kind = STORED, .stored = t });
}

static void op_shape(struct import *m)
{
    struct imported *v = im_input(m, 0);
    double x[ONNX_DIMS];
    const int64_t *shape;
    int n = im_form(m, 0, &shape);
    if (v->kind == TENSOR) {
        n = im_shape_of(m, v->tensor)->ndim;
        shape = im_shape_of(m, v->tensor)->shape;
    }
    for (int k = 0; k < n; k++) x[k] = (double)shape[k];
    m->whole = true;
    im_result_numbers(m, x, 1, &(int64_t){ n });
}

static void op_range(struct import *m)
{
    double a, b, d, x[CONSTANTS];
    size_t n = 0;
    if (!im_scalar(m, 0, &a) || !im_scalar(m, 1, &b) || !im_scalar(m, 2, &d) || d != 1)
        im_refuse(m, "a range that is not known");
    if (b - a > CONSTANTS) im_refuse(m, "a range of more than 64 numbers");
    for (double v = a; v < b; v += 1) x[n++] = v;
    im_result_numbers(m, x, 1, &(int64_t){ (int64_t)n });
}

/* ---- the table ---- */

static void op_minus_one(struct import *m)
{
    im_result(m, 0, im_unary(m, (enum nd_unary)m->kind, -1, 0, im_floats(m, 0)));
}

static void op_matmul(struct import *m)
{
    im_result(m, 0, im_product(m, im_floats(m, 0), im_floats(m, 1), false));
}

static const struct import_op operators[] = {
    { "Add", op_binary },
    { "AveragePool", op_pool },
    { "BatchNormalization", op_norm },
    { "Clip", op_clip },
    { "Concat", op_concat },
    { "Constant", op_constant },
    { "Conv", op_conv },
    { "ConvTranspose", op_conv, true },
    { "Div", op_binary, 3 },
    { "Dropout", op_dropout },
    { "Erf", op_unary, ND_ERF },
    { "Exp", op_unary, ND_EXP },
    { "Flatten", op_flatten },
    { "Gather", op_gather },
    { "Gemm", op_gemm },
    { "GlobalAveragePool", op_reduce, true },
    { "Identity", op_identity },
    { "Log", op_unary, ND_LOG },
    { "MatMul", op_matmul },
    { "MaxPool", op_pool, true },
    { "Mul", op_binary, 2 },
    { "Neg", op_minus_one, ND_SCALE },
    { "Pad", op_pad },
    { "Pow", op_pow },
    { "Range", op_range },
    { "Reciprocal", op_minus_one, ND_POW },
    { "ReduceMean", op_reduce, true },
    { "ReduceSum", op_reduce },
    { "Relu", op_unary, ND_RELU },
    { "Reshape", op_reshape },
    { "Resize", op_resize },
    { "Shape", op_shape },
    { "Sigmoid", op_unary, ND_SIGMOID },
    { "Slice", op_slice },
    { "Softplus", op_unary, ND_SOFTPLUS },
    { "Split", op_split },
    { "Sqrt", op_unary, ND_SQRT },
    { "Squeeze", op_squeeze },
    { "Sub", op_binary, 1 },
    { "Tanh", op_unary, ND_TANH },
    { "Transpose", op_transpose },
    { "Unsqueeze", op_squeeze, true },
    { "Upsample", op_resize },
};
enum { OPERATORS = sizeof operators / sizeof *operators };

const char *import_operator(int i)
{
    return i < OPERATORS ? operators[i].op : import_more[i - OPERATORS].op;
}

/* NULL: not known */
static const struct import_op *find(str op)
{
    for (int i = 0; i < OPERATORS; i++)
        if (str_is(op, operators[i].op)) return &operators[i];
    const struct import_op *more = import_more;
    while (more->op && !str_is(op, more->op)) more++;
    return more->op ? more : NULL;
}

/* are the constants that a node computes with integers? */
static bool of_integers(struct import *m)
{
    bool two = str_is(m->node->op, "Add") || str_is(m->node->op, "Sub") || str_is(m->node->op, "Mul") ||
               str_is(m->node->op, "Div"), whole = m->node->nin > 0;
    for (size_t i = 0; i < (two ? 2 : 1) && whole; i++) {
        if (!im_given(m, i)) return false;
        const struct imported *v = im_input(m, i);
        whole = v->kind == NUMBERS ? v->whole : v->kind == STORED && !im_real(v->stored);
    }
    return whole;
}

static void check_operators(const struct onnx *o)
{
    struct intern unknown = { 0 };
    struct buf text = { 0 };
    for (size_t i = 0; i < o->nnode; i++) {
        size_t before = unknown.n;
        if (!find(o->node[i].op) && intern(&unknown, o->node[i].op) == before)
            buf_format(&text, " %.*s", (int)(o->node[i].op.n < 100 ? o->node[i].op.n : 100), o->node[i].op.s);
    }
    if (unknown.n) die("%s: operators that are not known here:%s", o->file, text.s);
    intern_free(&unknown);
    free(text.s);
}

static void add_inputs(struct import *m)
{
    for (size_t i = 0; i < m->o->ninitialiser; i++)
        im_define(m, m->o->initialiser[i].name, (struct imported){ .kind = STORED, .stored = &m->o->initialiser[i] });
    for (size_t i = 0; i < m->o->ninput; i++) {
        struct onnx_tensor t = m->o->input[i];
        long k = intern_find(&m->names, t.name);
        if (k >= 0 && m->known[k]) continue; /* an initialiser that is listed as an input too */
        for (int d = 0; d < t.ndim; d++) {
            if (t.shape[d] < 0 && !m->batch)
                die("%s: a dimension of input '%.*s' has no size; see --batch", m->o->file, (int)t.name.n, t.name.s);
            if (t.shape[d] < 0) t.shape[d] = m->batch;
        }
        if (t.ndim > GRAPH_DIMS || !im_elements(t.shape, t.ndim))
            die("%s: input '%.*s' has more than four dimensions, or is empty or too large", m->o->file, (int)t.name.n,
                t.name.s);
        char *name = xformat("%.*s", (int)t.name.n, t.name.s);
        int64_t one = 1;
        int id = graph_tensor(m->g, name, ROLE_ARG, im_real(&t) ? "f32" : "i32", t.ndim ? t.ndim : 1,
                              t.ndim ? t.shape : &one);
        if (grad_parameter(&m->g->tensor[id]))
            die("%s: input '%s' would be trained: a name that ends in weight, bias, scale or shift is a parameter's",
                m->o->file, name);
        free(name);
        im_define(m, t.name, (struct imported){ .kind = TENSOR, .tensor = id, .whole = t.type == ONNX_BOOL });
    }
}

/* the batch: the first dimension of the first input that the file does not hold */
static void set_batch(struct import *m)
{
    for (int i = 0; i < m->g->ntensor; i++)
        if (m->g->tensor[i].ndim > 0) {
            m->g->batch = (long)m->g->tensor[i].shape[0];
            return;
        }
}

struct graph *import_onnx(const struct onnx *o, long batch, const regex_t *parameters)
{
    static const char *const unread[] = { "output_shape", "start", "end", "noop_with_empty_axes" };
    check_operators(o);
    struct import m = { .o = o, .g = graph_new("onnx", 1), .batch = batch, .parameters = parameters };
    m.g->file = arena_copy(&m.g->text, o->file, strlen(o->file));
    add_inputs(&m);
    set_batch(&m);
    for (size_t i = 0; i < o->nnode; i++) {
        m.node = &o->node[i];
        str label = m.node->name.n ? m.node->name : m.node->out[0];
        m.label = xformat("%.*s", (int)label.n, label.s);
        m.whole = of_integers(&m);
        for (size_t k = 0; k < sizeof unread / sizeof *unread; k++) {
            const struct onnx_attr *a = onnx_attr(m.node, unread[k]);
            if (a && (a->i || a->nint)) im_refuse(&m, "output_shape, start, end or noop_with_empty_axes");
        }
        const struct import_op *op = find(m.node->op);
        m.kind = op->kind;
        op->make(&m);
        free(m.label);
    }
    long k = intern_find(&m.names, o->output);
    if (k < 0 || !m.known[k] || m.value[k].kind != TENSOR)
        die("%s: no node gives the output '%.*s'", o->file, (int)o->output.n, o->output.s);
    if (!m.g->nnode) die("%s: a network that computes nothing", o->file);
    const struct node *last = &m.g->node[m.g->nnode - 1];
    if (last->operand[last->nin] != m.value[k].tensor) { /* the last node makes the output: place-grad looks there */
        const struct tensor t = *im_shape_of(&m, m.value[k].tensor);
        m.label = xformat("%.*s", (int)o->output.n, o->output.s);
        im_node(&m, "NdReshape", m.value[k].tensor, -1, im_new_tensor(&m, t.dtype, t.ndim, t.shape));
        free(m.label);
    }
    if (m.frozen.n && !quiet)
        warn("%s: not trained, since their names do not end in weight, bias, scale or shift (--parameters=REGEX):%s",
             o->file, m.frozen.s);
    free(m.frozen.s);
    intern_free(&m.names);
    free(m.value);
    free(m.known);
    graph_finish(m.g);
    for (int i = 0; i < m.g->nnode; i++)
        if (nd_is(m.g->node[i].op)) nd_free(nd_make(m.g, i));
    return m.g;
}

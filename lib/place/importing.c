/* importing.c - see importing.h */
#include "place/importing.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "place/grad.h"
#include <stdlib.h>
#include <string.h>

_Noreturn void im_refuse(const struct import *m, const char *why)
{
    die("%s: node '%s' (%.*s): %s", m->o->file, m->label, (int)m->node->op.n, m->node->op.s, why);
}

/* ---- names and values ---- */

void im_define(struct import *m, str name, struct imported v)
{
    uint32_t i = intern(&m->names, name);
    while (m->names.n > m->cap || !m->value) {
        m->value = grow(m->value, m->names.n, &m->cap, sizeof *m->value);
        size_t was = m->capknown;
        m->known = grow(m->known, m->cap, &m->capknown, sizeof *m->known);
        memset(m->known + was, 0, (m->capknown - was) * sizeof *m->known);
    }
    if (m->known[i]) die("%s: '%.*s' is given twice", m->o->file, (int)name.n, name.s);
    m->known[i] = true;
    m->value[i] = v;
}

bool im_given(const struct import *m, size_t i)
{
    return i < m->node->nin && m->node->in[i].n > 0;
}

int64_t im_elements(const int64_t *shape, int n)
{
    int64_t count = 1;
    for (int i = 0; i < n; i++)
        if (shape[i] < 1 || shape[i] > IMPORT_ELEMENTS / count) return 0;
        else count *= shape[i];
    return count;
}

bool im_real(const struct onnx_tensor *t)
{
    return t->type == ONNX_FLOAT || t->type == ONNX_DOUBLE || t->type == ONNX_BOOL;
}

/* by name, or because the user says so */
static bool learned(const struct import *m, const struct onnx_tensor *t)
{
    char *name = xformat("%.*s", (int)t->name.n, t->name.s);
    struct tensor like = { .name = name, .dtype = im_real(t) ? "f32" : "i32", .role = ROLE_ARG };
    bool floats = t->type == ONNX_FLOAT || t->type == ONNX_DOUBLE;
    bool is = grad_parameter(&like) || (floats && m->parameters && regexec(m->parameters, name, 0, NULL, 0) == 0);
    free(name);
    return is;
}

static void note_frozen(struct import *m, const struct onnx_tensor *t)
{
    const struct onnx *o = m->o;
    bool stored = t >= o->initialiser && t < o->initialiser + o->ninitialiser;
    if (stored && t->type != ONNX_BOOL && im_real(t) && t->count > 1)
        buf_format(&m->frozen, " %.*s", (int)(t->name.n < 100 ? t->name.n : 100), t->name.s);
}

static void make_tensor(struct import *m, struct imported *v)
{
    const struct onnx_tensor *t = v->stored;
    if (t->ndim > GRAPH_DIMS) im_refuse(m, "an initialiser of more than four dimensions");
    if (!im_elements(t->shape, t->ndim)) im_refuse(m, "an initialiser that is empty or too large");
    char *name = xformat("%.*s", (int)t->name.n, t->name.s);
    int64_t one = 1;
    bool trained = learned(m, t);
    v->tensor = graph_tensor(m->g, name, trained ? ROLE_ARG : ROLE_CONST, im_real(t) ? "f32" : "i32",
                             t->ndim ? t->ndim : 1, t->ndim ? t->shape : &one);
    if (trained) m->g->tensor[v->tensor].trained = !grad_parameter(&m->g->tensor[v->tensor]);
    else note_frozen(m, t);
    v->kind = TENSOR;
    v->whole = t->type == ONNX_BOOL;
    free(name);
}

struct imported *im_input(struct import *m, size_t i)
{
    if (!im_given(m, i)) im_refuse(m, "an input is missing");
    str name = m->node->in[i];
    long k = intern_find(&m->names, name);
    if (k < 0 || !m->known[k])
        die("%s: node '%s' (%.*s) reads '%.*s', which no earlier node, input or initialiser gives", m->o->file,
            m->label, (int)m->node->op.n, m->node->op.s, (int)name.n, name.s);
    struct imported *v = &m->value[k];
    if (v->kind == STORED && learned(m, v->stored)) make_tensor(m, v); /* nothing that is learned is a constant */
    return v;
}

int im_as_tensor(struct import *m, size_t i)
{
    struct imported *v = im_input(m, i);
    if (v->kind == NUMBERS) im_refuse(m, "an operand is a computed constant, which only shapes and scalars may be");
    if (v->kind == STORED) make_tensor(m, v);
    return v->tensor;
}

int im_floats(struct import *m, size_t i)
{
    int x = im_as_tensor(m, i);
    if (strcmp(im_shape_of(m, x)->dtype, "f32") != 0) im_refuse(m, "an operand that is not of floats");
    return x;
}

bool im_numbers(struct import *m, size_t i, const double **p, size_t *n)
{
    struct imported *v = im_input(m, i);
    if (v->kind == STORED && v->stored->count <= CONSTANTS) {
        const struct onnx_tensor *t = v->stored;
        double *x = arena_get(&m->g->text, size_mul((size_t)t->count, sizeof *x) + 1);
        for (uint64_t k = 0; k < t->count; k++) x[k] = onnx_number(m->o, t, k);
        *p = x;
        *n = (size_t)t->count;
        return true;
    }
    *p = v->number;
    *n = v->n;
    return v->kind == NUMBERS;
}

const double *im_want_numbers(struct import *m, size_t i, size_t *n)
{
    const double *p;
    if (!im_numbers(m, i, &p, n)) im_refuse(m, "needs an operand that is known before the network runs");
    return p;
}

int im_form(struct import *m, size_t i, const int64_t **shape)
{
    const struct imported *v = im_input(m, i);
    *shape = v->kind == STORED ? v->stored->shape : v->shape;
    return v->kind == STORED ? v->stored->ndim : v->ndim;
}

bool im_scalar(struct import *m, size_t i, double *x)
{
    const double *p;
    const int64_t *shape;
    size_t n;
    if (im_form(m, i, &shape) > 1 || !im_numbers(m, i, &p, &n) || n != 1) return false;
    *x = *p;
    return true;
}

const struct tensor *im_shape_of(const struct import *m, int t)
{
    return &m->g->tensor[t];
}

void im_result(struct import *m, size_t i, int tensor)
{
    if (i < m->node->nout && m->node->out[i].n)
        im_define(m, m->node->out[i], (struct imported){ .kind = TENSOR, .tensor = tensor });
}

void im_result_truth(struct import *m, int tensor)
{
    im_define(m, m->node->out[0], (struct imported){ .kind = TENSOR, .tensor = tensor, .whole = true });
}

void im_result_numbers(struct import *m, const double *x, int ndim, const int64_t *shape)
{
    if (ndim > ONNX_DIMS) im_refuse(m, "a constant of more than eight dimensions");
    size_t n = (size_t)im_elements(shape, ndim);
    if (n > CONSTANTS) im_refuse(m, "a computed constant of more than 64 numbers");
    struct imported v = { .kind = NUMBERS, .n = n, .ndim = ndim, .whole = m->whole };
    v.number = arena_get(&m->g->text, size_mul(n, sizeof *x) + 1);
    memcpy(v.number, x, n * sizeof *x);
    if (ndim) memcpy(v.shape, shape, (size_t)ndim * sizeof *shape);
    im_define(m, m->node->out[0], v);
}

void im_result_like(struct import *m, const double *x, size_t i)
{
    const int64_t *shape;
    int ndim = im_form(m, i, &shape);
    im_result_numbers(m, x, ndim, shape);
}

/* ---- nodes ---- */

int im_new_tensor(struct import *m, const char *dtype, int n, const int64_t *shape)
{
    if (n > GRAPH_DIMS) im_refuse(m, "a result of more than four dimensions");
    if (!im_elements(shape, n)) im_refuse(m, "a result that is empty or too large");
    int64_t one = 1;
    return graph_tensor(m->g, m->label, ROLE_INTER, dtype, n ? n : 1, n ? shape : &one);
}

int im_node(struct import *m, const char *op, int a, int b, int y)
{
    int in[2] = { a, b };
    return graph_node(m->g, m->label, op, b < 0 ? 1 : 2, in, 1, &y);
}

double im_attr_i(const struct import *m, const char *name, double missing)
{
    const struct onnx_attr *a = onnx_attr(m->node, name);
    return a ? (double)a->i : missing;
}
double im_attr_f(const struct import *m, const char *name, double missing)
{
    const struct onnx_attr *a = onnx_attr(m->node, name);
    return a ? (double)a->f : missing;
}
int64_t im_attr_ints(const struct import *m, const char *name, size_t i, int64_t missing)
{
    const struct onnx_attr *a = onnx_attr(m->node, name);
    return a && i < a->nint ? a->ints[i] : missing;
}

int im_axis_of(const struct import *m, double axis, int n)
{
    if (axis < 0) axis += n;
    if (!(axis >= 0 && axis < n)) im_refuse(m, "an axis that its operand does not have");
    return (int)axis;
}

int im_unary(struct import *m, enum nd_unary kind, double a, double b, int x)
{
    struct tensor t = *im_shape_of(m, x);
    int y = im_new_tensor(m, "f32", t.ndim, t.shape), k = im_node(m, "NdUnary", x, -1, y);
    graph_attr(m->g, k, "kind", 1, kind, 0);
    graph_attr(m->g, k, "a", 1, a, 0);
    if (kind == ND_CLIP || kind == ND_ELU || kind == ND_HARDSIGMOID) graph_attr(m->g, k, "b", 1, b, 0);
    return y;
}

int im_reshaped(struct import *m, int x, int n, const int64_t *shape)
{
    struct tensor t = *im_shape_of(m, x);
    if (n <= GRAPH_DIMS && im_elements(shape, n) != im_elements(t.shape, t.ndim))
        im_refuse(m, "a reshape to another number of elements");
    if (n == t.ndim && !memcmp(shape, t.shape, (size_t)n * sizeof *shape)) return x;
    int y = im_new_tensor(m, t.dtype, n, shape);
    im_node(m, "NdReshape", x, -1, y);
    return y;
}

int im_binary_of(struct import *m, int kind, int a, int b)
{
    struct tensor s = *im_shape_of(m, a), t = *im_shape_of(m, b);
    int n = s.ndim > t.ndim ? s.ndim : t.ndim;
    int64_t shape[GRAPH_DIMS];
    for (int k = 1; k <= n; k++) {
        int64_t u = k <= s.ndim ? s.shape[s.ndim - k] : 1, v = k <= t.ndim ? t.shape[t.ndim - k] : 1;
        if (u != v && u != 1 && v != 1) im_refuse(m, "operands whose shapes do not go together");
        shape[n - k] = u > v ? u : v;
    }
    int y = im_new_tensor(m, "f32", n, shape);
    graph_attr(m->g, im_node(m, "NdBinary", a, b, y), "kind", 1, kind, 0);
    return y;
}

int im_product(struct import *m, int a, int b, bool tb)
{
    struct tensor s = *im_shape_of(m, a), t = *im_shape_of(m, b);
    if (s.ndim < 2 || t.ndim < 2) im_refuse(m, "a product of vectors");
    if (t.ndim > s.ndim || (t.ndim > 2 && t.ndim < s.ndim)) im_refuse(m, "a product of arrays of these shapes");
    for (int k = 0; k < t.ndim - 2; k++)
        if (s.shape[k] != t.shape[k]) im_refuse(m, "a product of batches of different size");
    int64_t inner = t.shape[t.ndim - (tb ? 1 : 2)], last = t.shape[t.ndim - (tb ? 2 : 1)];
    if (s.shape[s.ndim - 1] != inner) im_refuse(m, "a product of matrices that do not fit");
    s.shape[s.ndim - 1] = last;
    int y = im_new_tensor(m, "f32", s.ndim, s.shape), k = im_node(m, "NdMatMul", a, b, y);
    graph_attr(m->g, k, "tb", 1, tb, 0);
    m->g->node[k].flops = 2 * (double)im_elements(s.shape, s.ndim) * (double)inner;
    return y;
}

int im_transposed(struct import *m, int x, const int *from)
{
    struct tensor t = *im_shape_of(m, x);
    int64_t shape[GRAPH_DIMS];
    struct attr *a = arena_get(&m->g->text, sizeof *a);
    *a = (struct attr){ .name = "perm", .n = t.ndim };
    bool moved = false;
    for (int k = 0; k < t.ndim; k++) {
        a->v[k] = from[k];
        shape[k] = t.shape[from[k]];
        moved |= from[k] != k;
    }
    if (!moved) return x;
    int y = im_new_tensor(m, t.dtype, t.ndim, shape), k = im_node(m, "NdTranspose", x, -1, y);
    m->g->node[k].attr = a;
    m->g->node[k].nattr = 1;
    return y;
}

int im_reduced(struct import *m, int x, int axes, bool mean)
{
    struct tensor t = *im_shape_of(m, x);
    for (int k = 0; k < t.ndim; k++)
        if (axes >> k & 1) t.shape[k] = 1;
    int y = im_new_tensor(m, "f32", t.ndim, t.shape), k = im_node(m, "NdReduce", x, -1, y);
    graph_attr(m->g, k, "axes", 1, axes, 0);
    graph_attr(m->g, k, "mean", 1, mean, 0);
    return y;
}

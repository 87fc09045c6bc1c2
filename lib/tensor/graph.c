/* graph.c - see graph.h */
#include "tensor/graph.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/sexp.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS_MAX = 4096 };
static const int64_t ELEMENTS_MAX = (int64_t)1 << 50;
static const double ATTR_MOST = 1 << 20;                  /* a stride, a padding */
static const char *const role_names[] = { "arg", "const", "inter" };

/* ---- building ---- */

struct graph *graph_new(const char *name, long batch)
{
    struct graph *g = xcalloc(1, sizeof *g);
    g->name = arena_copy(&g->text, name, strlen(name));
    g->file = g->name;
    g->batch = batch;
    return g;
}

void graph_free(struct graph *g)
{
    if (!g) return;
    arena_free(&g->text);
    free_all(g->tensor, g->node, g->kernel, g);
}

static int64_t elements(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
    return n;
}

int graph_tensor(struct graph *g, const char *name, enum role role, const char *dtype, int ndim, const int64_t *shape)
{
    /* made before the array moves: the shape may be that of a tensor in it */
    struct tensor made = { .name = arena_copy(&g->text, name, strlen(name)),
                           .role = role,
                           .ndim = ndim,
                           .updates = -1,
                           .dtype = arena_copy(&g->text, dtype, strlen(dtype)),
                           .producer = -1,
                           .first = -1,
                           .last = -1 };
    if (ndim > 0) memcpy(made.shape, shape, (size_t)ndim * sizeof *shape);
    made.bytes = 4 * (uint64_t)elements(&made);
    g->tensor = grow(g->tensor, (size_t)g->ntensor + 1, &g->captensor, sizeof *g->tensor);
    g->tensor[g->ntensor] = made;
    return g->ntensor++;
}

int graph_node(struct graph *g, const char *name, const char *op, int nin, const int *in, int nout, const int *out)
{
    g->node = grow(g->node, (size_t)g->nnode + 1, &g->capnode, sizeof *g->node);
    struct node *n = &g->node[g->nnode];
    *n = (struct node){ .name = arena_copy(&g->text, name, strlen(name)), .op = arena_copy(&g->text, op, strlen(op)),
                        .nin = nin, .nout = nout, .kernel = -1 };
    n->operand = arena_get(&g->text, size_mul((size_t)(nin + nout + 1), sizeof(int)));
    if (nin > 0) memcpy(n->operand, in, (size_t)nin * sizeof(int));
    memcpy(n->operand + nin, out, (size_t)nout * sizeof(int));
    return g->nnode++;
}

static void add_attr(struct graph *g, int node, str name, int n, const double *v)
{
    struct node *d = &g->node[node];
    struct attr *all = arena_get(&g->text, size_mul((size_t)(d->nattr + 1), sizeof *all));
    if (d->nattr > 0) memcpy(all, d->attr, (size_t)d->nattr * sizeof *all);
    all[d->nattr] = (struct attr){ .name = arena_copy(&g->text, name.s, name.n), .n = n };
    if (n > 0) memcpy(all[d->nattr].v, v, (size_t)n * sizeof *v);
    d->attr = all;
    d->nattr++;
}

void graph_attr(struct graph *g, int node, const char *name, int n, double a, double b)
{
    add_attr(g, node, str_of(name), n, (double[]){ a, b });
}

int graph_copy_node(struct graph *g, const struct node *n, const char *name, const int *in, const int *out)
{
    int k = graph_node(g, name, n->op, n->nin, in, n->nout, out);
    for (int a = 0; a < n->nattr; a++) add_attr(g, k, str_of(n->attr[a].name), n->attr[a].n, n->attr[a].v);
    g->node[k].flops = n->flops;
    g->node[k].workspace = n->workspace;
    return k;
}

void graph_input(struct graph *g, int node, int tensor)
{
    struct node *d = &g->node[node];
    int *all = arena_get(&g->text, size_mul((size_t)(d->nin + d->nout + 2), sizeof(int)));
    memcpy(all, d->operand, (size_t)d->nin * sizeof *all);
    memcpy(all + d->nin + 1, d->operand + d->nin, (size_t)d->nout * sizeof *all);
    all[d->nin++] = tensor;
    d->operand = all;
}

int node_extras(const struct node *n)
{
    return (node_attr(n, "plus", 0, 0) == 1) + (node_attr(n, "mask", 0, 0) == 1);
}

double node_attr(const struct node *n, const char *name, int i, double missing)
{
    for (int k = 0; k < n->nattr; k++)
        if (strcmp(n->attr[k].name, name) == 0) return i < n->attr[k].n ? n->attr[k].v[i] : missing;
    return missing;
}

/* ---- faults ---- */

struct judge {
    const struct graph *g;
    void (*say)(void *, const char *);
    void *context;
    int n;
};

static void fault(struct judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct judge *j, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    j->n++;
    j->say(j->context, text);
}

/* Operands of the operators: counts (in -1: one or more) and groups of operands with equal numbers of elements, as
 * letters: "aba" says that operands 0 and 2 have as many elements as each other. '.' is free. */
static const struct rule { const char *op; int nin, nout; const char *same; } rules[] = {
    { "ConvolutionBias", 3, 1, "...." },
    { "ConvolutionBackpropData", 2, 1, "..." },
    { "ConvolutionBiasBackpropFiltersBias", 2, 2, "...." },
    { "Relu", 1, 1, "aa" },
    { "ReluBackprop", 2, 1, "aaa" },
    { "BatchNormTraining", 3, 3, "aabbaa" },
    { "BatchNormTrainingRelu", 3, 3, "aabbaa" },
    { "BatchNormTrainingBackprop", 6, 3, "aabaabbaa" },
    { "MaxPoolWithIndices", 1, 2, ".aa" },
    { "MaxPoolWithIndicesBackprop", 3, 1, "abba" },
    { "MaxPoolBackprop", 2, 1, "aa." },
    { "MaxPoolReluBackprop", 3, 1, "aaa." },
    { "AvgPool", 1, 1, ".." },
    { "AvgPoolBackprop", 1, 1, ".." },
    { "Concat", -1, 1, "" },
    { "Slice", 1, 1, ".." },
    { "Add", 2, 1, "aaa" },
    { "MatmulBias", 3, 1, "...." },
    { "Dot", 2, 1, "..." },
    { "DotAdd", 3, 1, "..aa" },
    { "Sum", 1, 1, ".." },
    { "Softmax", 1, 1, "aa" },
    { "CrossEntropy", 2, 1, "aa." },
    { "Subtract", 2, 1, "aaa" },
};

static void check_conv_shape(struct judge *j, int node, const struct tensor *x, const struct tensor *w,
                             const struct tensor *y)
{
    const struct node *n = &j->g->node[node];
    bool good = x->ndim == 4 && w->ndim == 4 && y->ndim == 4 && x->shape[0] == y->shape[0] && w->shape[0] == y->shape[1]
        && w->shape[1] == x->shape[1];
    for (int d = 0; good && d < 2; d++) {
        double k = node_attr(n, "kernel", d, 0), s = node_attr(n, "stride", d, 1), p = node_attr(n, "pad", d, 0);
        good = (double)w->shape[2 + d] == k && s >= 1 && p >= 0 && s <= ATTR_MOST && p <= ATTR_MOST
            && (int64_t)(((double)x->shape[2 + d] + 2 * p - k) / s) + 1 == y->shape[2 + d];
    }
    if (!good) fault(j, "node %d '%s': shapes of a convolution do not agree with its attributes", node, n->name);
}

static void check_operator(struct judge *j, int node)
{
    const struct graph *g = j->g;
    const struct node *n = &g->node[node];
    const struct rule *r = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !r; i++)
        if (strcmp(rules[i].op, n->op) == 0) r = &rules[i];
    if (!r) return;
    int own = n->nin - node_extras(n);
    if ((r->nin < 0 ? own < 1 : own != r->nin) || n->nout != r->nout) {
        fault(j, "node %d '%s': %s has %d inputs and %d outputs", node, n->name, n->op, n->nin, n->nout);
        return;
    }
    const struct tensor *t[9];
    for (int i = 0; r->nin > 0 && i < own + n->nout; i++) t[i] = &g->tensor[n->operand[i < own ? i : n->nin - own + i]];
    for (int i = own; i < n->nin; i++)
        if (elements(&g->tensor[n->operand[i]]) != elements(&g->tensor[n->operand[n->nin]]))
            fault(j, "node %d '%s': operands '%s' and '%s' of %s differ in size", node, n->name,
                  g->tensor[n->operand[i]].name, g->tensor[n->operand[n->nin]].name, n->op);
    for (size_t i = 0; r->same[i]; i++)
        for (size_t k = i + 1; r->same[k]; k++)
            if (r->same[i] != '.' && r->same[i] == r->same[k] && elements(t[i]) != elements(t[k]))
                fault(j, "node %d '%s': operands '%s' and '%s' of %s differ in size", node, n->name, t[i]->name,
                      t[k]->name, n->op);
    if (strcmp(n->op, "ConvolutionBias") == 0) check_conv_shape(j, node, t[0], t[1], t[3]);
    if (strcmp(n->op, "ConvolutionBackpropData") == 0) check_conv_shape(j, node, t[2], t[0], t[1]);
    if (strcmp(n->op, "ConvolutionBiasBackpropFiltersBias") == 0) check_conv_shape(j, node, t[0], t[2], t[1]);
    if (r->nin < 0) {
        int64_t sum = 0;
        for (int i = 0; i < n->nin; i++) sum += elements(&g->tensor[n->operand[i]]);
        if (sum != elements(&g->tensor[n->operand[n->nin]]))
            fault(j, "node %d '%s': the inputs of Concat do not add up to its output", node, n->name);
    }
}

static void check_tensor(struct judge *j, int id)
{
    const struct tensor *t = &j->g->tensor[id];
    if (t->bytes != 4 * (uint64_t)elements(t))
        fault(j, "tensor %d '%s': %llu bytes, but its shape makes %lld", id, t->name, (unsigned long long)t->bytes,
              4 * (long long)elements(t));
    if (strcmp(t->dtype, "f32") != 0 && strcmp(t->dtype, "i32") != 0)
        fault(j, "tensor %d '%s': type '%s' is neither f32 nor i32", id, t->name, t->dtype);
    if (t->updates < 0) return;
    const struct tensor *p = t->updates < j->g->ntensor ? &j->g->tensor[t->updates] : NULL;
    if (!p || p->role != ROLE_ARG || t->role != ROLE_ARG || p->bytes != t->bytes)
        fault(j, "tensor %d '%s': updates %d, which is not an arg of the same size", id, t->name, t->updates);
    else if (p->updates >= 0)
        fault(j, "tensor %d '%s': updates %d, which is a next value itself", id, t->name, t->updates);
}

int graph_faults(const struct graph *g, void (*say)(void *, const char *), void *context)
{
    struct judge j = { g, say, context, 0 };
    for (int i = 0; i < g->ntensor; i++) check_tensor(&j, i);
    int *writer = xmalloc((size_t)g->ntensor + 1, sizeof *writer),
        *reader = xmalloc((size_t)g->ntensor + 1, sizeof *reader),
        *next = xmalloc((size_t)g->ntensor + 1, sizeof *next);   /* value of a parameter: the tensor that has it */
    for (int i = 0; i < g->ntensor; i++) writer[i] = reader[i] = next[i] = -1;
    for (int i = 0; i < g->nnode; i++) {
        const struct node *n = &g->node[i];
        for (int k = 0; k < n->nin; k++) {
            int id = n->operand[k];
            const struct tensor *t = &g->tensor[id];
            if (t->role == ROLE_INTER && writer[id] < 0)
                fault(&j, "node %d '%s' reads tensor %d '%s', which no earlier node writes", i, n->name, id, t->name);
            reader[id] = i;
        }
        for (int k = n->nin; k < n->nin + n->nout; k++) {
            int id = n->operand[k];
            const struct tensor *t = &g->tensor[id];
            if (writer[id] >= 0)
                fault(&j, "node %d '%s' writes tensor %d '%s', which node %d has written", i, n->name, id, t->name,
                      writer[id]);
            if (t->role == ROLE_CONST) fault(&j, "node %d '%s' writes the constant %d '%s'", i, n->name, id, t->name);
            if (t->role == ROLE_ARG && t->updates < 0 && reader[id] >= 0)
                fault(&j, "node %d '%s' writes tensor %d '%s', which node %d has read", i, n->name, id, t->name,
                      reader[id]);
            writer[id] = i;
        }
        check_operator(&j, i);
    }
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if ((t->role == ROLE_INTER || t->updates >= 0) && writer[i] < 0)
            fault(&j, "no node writes tensor %d '%s'", i, t->name);
        if (t->updates < 0 || t->updates >= g->ntensor) continue;
        if (reader[t->updates] > writer[i])
            fault(&j, "node %d reads tensor %d '%s' after its update", reader[t->updates], t->updates,
                  g->tensor[t->updates].name);
        if (next[t->updates] >= 0)
            fault(&j, "tensors %d and %d are both the next value of tensor %d '%s'", next[t->updates], i, t->updates,
                  g->tensor[t->updates].name);
        next[t->updates] = i;
    }
    free_all(writer, reader, next);
    return j.n;
}

/* ---- what follows from the nodes ---- */

static void set_uses(struct graph *g)
{
    for (int i = 0; i < g->ntensor; i++) {
        struct tensor *t = &g->tensor[i];
        t->producer = t->first = t->last = -1;
        t->nuse = 0;
        if (t->updates >= 0) g->tensor[t->updates].updated = true;
    }
    for (int pass = 0; pass < 2; pass++) {               /* count, then fill */
        for (int i = 0; pass == 1 && i < g->ntensor; i++) {
            struct tensor *t = &g->tensor[i];
            t->use = arena_get(&g->text, size_mul((size_t)t->nuse, sizeof(int)) + 1);
            t->nuse = 0;
            t->last = -1;
        }
        for (int i = 0; i < g->nnode; i++) {
            const struct node *n = &g->node[i];
            for (int k = 0; k < n->nin + n->nout; k++) {
                struct tensor *t = &g->tensor[n->operand[k]];
                if (t->last == i) continue;              /* the same tensor twice */
                if (t->first < 0) t->first = i;
                if (pass == 1) t->use[t->nuse] = i;
                t->nuse++;
                t->last = i;
                if (k >= n->nin) t->producer = i;
            }
        }
    }
}

static void set_key(const struct graph *g, const struct node *n, struct buf *shapes, struct buf *key)
{
    shapes->n = key->n = 0;
    for (int k = 0; k < n->nin + n->nout; k++) {
        if (k == n->nin) buf_char(shapes, '>');
        else if (k > 0) buf_char(shapes, ';');
        int same = 0;
        while (n->operand[same] != n->operand[k]) same++;
        if (same < k) {
            buf_format(shapes, "=%d", same);
            continue;
        }
        const struct tensor *t = &g->tensor[n->operand[k]];
        for (int d = 0; d < t->ndim; d++) buf_format(shapes, "%s%lld", d ? "x" : "", (long long)t->shape[d]);
        if (t->ndim == 0) buf_char(shapes, '1');
        if (strcmp(t->dtype, "f32") != 0) buf_format(shapes, ":%s", t->dtype);
    }
    buf_format(key, "%s %s", n->op, shapes->s);
    char separator = ' ';
    for (int a = 0; a < n->nattr; a++) {
        const struct attr *attr = &n->attr[a];
        if (strcmp(attr->name, "from") == 0 || strcmp(attr->name, "scale") == 0) continue;
        buf_format(key, "%c%s", separator, attr->name);
        for (int i = 0; i < attr->n; i++) {
            char v[NUM_MAX];
            buf_char(key, i ? 'x' : '=');
            buf_add(key, v, num_print(v, attr->v[i]));
        }
        separator = ';';
    }
}

static void set_kernels(struct graph *g)
{
    struct intern keys = { 0 };
    struct buf key = { 0 }, shapes = { 0 };
    size_t cap = 0;
    g->nkernel = 0;
    for (int i = 0; i < g->nnode; i++) {
        struct node *n = &g->node[i];
        set_key(g, n, &shapes, &key);
        n->kernel = (int)intern(&keys, (str){ key.s, key.n });
        if (n->kernel == g->nkernel) {
            g->kernel = grow(g->kernel, (size_t)g->nkernel + 1, &cap, sizeof *g->kernel);
            g->kernel[g->nkernel++] = (struct graph_kernel){ .key = arena_copy(&g->text, key.s, key.n), .node = i,
                                                       .shapes = arena_copy(&g->text, shapes.s, shapes.n) };
        }
        struct graph_kernel *k = &g->kernel[n->kernel];
        k->uses++;
        for (int o = 0; o < n->nin + n->nout && o < 32; o++)
            if (graph_movable(g, n->operand[o])) k->movable |= (uint32_t)1 << o;
    }
    free(key.s);
    free(shapes.s);
    intern_free(&keys);
}

static void first_fault(void *context, const char *what)
{
    die("%s: %s", ((const struct graph *)context)->file, what);
}

void graph_finish(struct graph *g)
{
    graph_faults(g, first_fault, g);
    set_uses(g);
    set_kernels(g);
    for (int i = 0; i < g->nnode; i++) {
        int slot[GRAPH_SLOTS];
        node_slots(g, i, slot);
    }
}

bool graph_movable(const struct graph *g, int tensor)
{
    return g->tensor[tensor].role == ROLE_INTER && g->tensor[tensor].bytes >= GRAPH_PIN_BYTES;
}

bool graph_offloadable(const struct graph *g, int tensor)
{
    return g->tensor[graph_home(g, tensor)].updated && g->tensor[tensor].bytes >= GRAPH_PIN_BYTES;
}

uint32_t node_operands(const struct graph *g, int node, int home)
{
    const struct node *n = &g->node[node];
    uint32_t set = 0;
    for (int i = 0; i < n->nin + n->nout && i < 32; i++)
        if (graph_home(g, n->operand[i]) == home) set |= (uint32_t)1 << i;
    return set;
}

uint32_t kernel_movable(const struct graph *g, int kernel, int first)
{
    const struct node *n = &g->node[g->kernel[kernel].node];
    uint32_t set = 0;
    if (!(g->kernel[kernel].movable >> first & 1)) return 0;
    for (int i = 0; i < n->nin + n->nout && i < 32; i++)
        if (n->operand[i] == n->operand[first]) set |= (uint32_t)1 << i;
    return set & (((uint32_t)1 << first) - 1) ? 0 : set;
}

int node_slots(const struct graph *g, int node, int slot[GRAPH_SLOTS])
{
    const struct node *n = &g->node[node];
    int k = 0;
    for (int i = 0; i < n->nin + n->nout; i++) {
        if (!graph_movable(g, n->operand[i])) continue;
        int j = 0;
        while (j < k && slot[j] != n->operand[i]) j++;
        if (j == GRAPH_SLOTS || i >= 32)
            die("%s: node %d '%s' has more than %d operands that can move, or one after its 32nd", g->file, node,
                n->name, GRAPH_SLOTS);
        if (j == k) slot[k++] = n->operand[i];
    }
    return k;
}

uint64_t graph_peak(const struct graph *g)
{
    int64_t *change = xcalloc((size_t)g->nnode + 2, sizeof *change);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role != ROLE_INTER) continue;
        change[t->first] += (int64_t)t->bytes;
        change[t->last + 1] -= (int64_t)t->bytes;
    }
    int64_t load = 0, peak = 0;
    for (int i = 0; i < g->nnode; i++) {
        load += change[i];
        if (load > peak) peak = load;
    }
    free(change);
    return (uint64_t)peak;
}

/* ---- reading ---- */

static const char *keep(struct graph *g, const struct sexp *e, snode n)
{
    str s = sexp_atom(e, n);
    if (s.n == 0) sexp_die(e, n, "an empty name");
    return arena_copy(&g->text, s.s, s.n);
}

static void read_tensor(struct graph *g, const struct sexp *e, snode n)
{
    int64_t id = sexp_int(e, sexp_item(e, n, 1, "the tensor's id"));
    if (id != g->ntensor) sexp_die(e, n, "tensor %lld where %d is expected", (long long)id, g->ntensor);
    const char *name = keep(g, e, sexp_item(e, n, 2, "the tensor's name"));
    snode at = sexp_item(e, n, 3, "the tensor's role");
    int role = 0;
    while (role < 3 && !str_is(sexp_atom(e, at), role_names[role])) role++;
    if (role == 3)
        sexp_die(e, at, "role '%.*s' is none of arg, const, inter", (int)sexp_atom(e, at).n, sexp_atom(e, at).s);
    at = sexp_item(e, n, 4, "the tensor's size");
    int64_t bytes = sexp_int(e, at);
    if (bytes <= 0) sexp_die(e, at, "a tensor of %lld bytes", (long long)bytes);
    const char *dtype = keep(g, e, sexp_item(e, n, 5, "the tensor's type"));
    snode dims = sexp_item(e, n, 6, "the tensor's shape");
    if (!sexp_is_list(e, dims)) sexp_die(e, dims, "the shape is not a list");
    int64_t shape[GRAPH_DIMS] = { 0 }, product = 1;
    int ndim = 0;
    for (snode d = sexp_first(e, dims); d != SEXP_NONE; d = sexp_after(e, d)) {
        if (ndim == GRAPH_DIMS) sexp_die(e, dims, "more than %d dimensions", GRAPH_DIMS);
        shape[ndim] = sexp_int(e, d);
        if (shape[ndim] <= 0 || shape[ndim] > ELEMENTS_MAX / product)
            sexp_die(e, d, "dimension %lld is not positive, or the tensor is too large", (long long)shape[ndim]);
        product *= shape[ndim++];
    }
    int t = graph_tensor(g, name, (enum role)role, dtype, ndim, shape);
    g->tensor[t].bytes = (uint64_t)bytes;
    for (snode x = sexp_after(e, dims); x != SEXP_NONE; x = sexp_after(e, x)) {
        bool trained = sexp_head(e, x, "trained");
        if (!trained && !sexp_head(e, x, "updates"))
            sexp_die(e, x, "only (updates ID) or (trained 1) may follow the shape");
        snode v = sexp_item(e, x, 1, trained ? "0 or 1" : "the id");
        if (trained) {
            g->tensor[t].trained = sexp_int(e, v) != 0;
            continue;
        }
        int64_t of = sexp_int(e, v);
        if (of < 0 || of > INT32_MAX) sexp_die(e, v, "there is no tensor %lld", (long long)of);
        g->tensor[t].updates = (int)of;
    }
}

static int read_ids(struct graph *g, const struct sexp *e, snode list, int *id)
{
    int n = 0;
    for (snode x = sexp_after(e, sexp_first(e, list)); x != SEXP_NONE; x = sexp_after(e, x)) {
        int64_t v = sexp_int(e, x);
        if (v < 0 || v >= g->ntensor) sexp_die(e, x, "there is no tensor %lld", (long long)v);
        if (n == OPERANDS_MAX) sexp_die(e, list, "more than %d operands", OPERANDS_MAX);
        id[n++] = (int)v;
    }
    return n;
}

static void read_attributes(struct graph *g, const struct sexp *e, int node, snode list)
{
    for (snode a = sexp_after(e, sexp_first(e, list)); a != SEXP_NONE; a = sexp_after(e, a)) {
        double v[GRAPH_ATTR];
        int n = 0;
        snode name = sexp_item(e, a, 0, "the attribute's name");
        for (snode x = sexp_after(e, name); x != SEXP_NONE; x = sexp_after(e, x)) {
            if (n == GRAPH_ATTR) sexp_die(e, a, "more than %d numbers in an attribute", GRAPH_ATTR);
            v[n++] = sexp_num(e, x);
        }
        str s = sexp_atom(e, name);
        for (size_t i = 0; i < s.n; i++)
            if (!isalnum((unsigned char)s.s[i]) && s.s[i] != '_')
                sexp_die(e, name, "an attribute's name has letters, digits and _ only");
        add_attr(g, node, s, n, v);
    }
}

static void read_node(struct graph *g, const struct sexp *e, snode n)
{
    static int in[OPERANDS_MAX], out[OPERANDS_MAX];
    int64_t index = sexp_int(e, sexp_item(e, n, 1, "the node's number"));
    if (index != g->nnode) sexp_die(e, n, "node %lld where %d is expected", (long long)index, g->nnode);
    const char *name = keep(g, e, sexp_item(e, n, 2, "the node's name"));
    snode at = sexp_item(e, n, 3, "the operator");
    const char *op = keep(g, e, at);
    for (const char *s = op; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            sexp_die(e, at, "an operator's name has letters, digits and _ only");
    snode ins = sexp_get(e, n, "in"), outs = sexp_get(e, n, "out");
    if (ins == SEXP_NONE || outs == SEXP_NONE) sexp_die(e, n, "a node needs (in ..) and (out ..)");
    int nin = read_ids(g, e, ins, in), nout = read_ids(g, e, outs, out);
    if (nout == 0) sexp_die(e, outs, "a node without outputs");
    int k = graph_node(g, name, op, nin, in, nout, out);
    snode attr = sexp_get(e, n, "attr");
    if (attr != SEXP_NONE) read_attributes(g, e, k, attr);
    struct node *d = &g->node[k];
    d->flops = sexp_num_or(e, n, "flops", 0);
    double workspace = sexp_num_or(e, n, "workspace", 0);
    if (!(d->flops >= 0) || !(workspace >= 0 && workspace < (double)ELEMENTS_MAX))
        sexp_die(e, n, "negative or absurd flops or workspace");
    d->workspace = (uint64_t)workspace;
    uint64_t bytes = 0;
    for (int i = 0; i < nin + nout; i++) bytes += g->tensor[d->operand[i]].bytes;
    snode b = sexp_value(e, n, "bytes");
    if (b != SEXP_NONE && sexp_num(e, b) != (double)bytes)
        sexp_die(e, b, "bytes where its operands make %llu", (unsigned long long)bytes);
}

struct graph *graph_read_raw(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (!sexp_head(e, 0, "graph")) sexp_die(e, 0, "this is not a (graph ..)");
    str name = sexp_str_of(e, 0, "name");
    struct graph *g = graph_new("", 0);
    g->name = arena_copy(&g->text, name.s, name.n);
    g->file = strcmp(path, "-") == 0 ? "stdin" : arena_copy(&g->text, path, strlen(path));
    double batch = sexp_num_of(e, 0, "batch");
    if (!(batch >= 1 && batch <= 1e9)) sexp_die(e, 0, "the batch is not a positive number");
    g->batch = (long)batch;
    for (snode n = sexp_after(e, sexp_first(e, 0)); n != SEXP_NONE; n = sexp_after(e, n)) {
        if (sexp_head(e, n, "tensor")) read_tensor(g, e, n);
        else if (sexp_head(e, n, "node")) read_node(g, e, n);
        else if (!sexp_head(e, n, "name") && !sexp_head(e, n, "batch"))
            sexp_die(e, n, "neither name, batch, tensor nor node");
    }
    if (g->nnode == 0) sexp_die(e, 0, "a graph without nodes");
    sexp_close(r);
    return g;
}

struct graph *graph_read(const char *path)
{
    struct graph *g = graph_read_raw(path);
    graph_finish(g);
    return g;
}

/* ---- writing ---- */

static void write_node(sexpw *w, const struct graph *g, int index)
{
    const struct node *n = &g->node[index];
    sexpw_line(w);
    sexpw_begin(w, "node");
    sexpw_int(w, index);
    sexpw_cstr(w, n->name);
    sexpw_cstr(w, n->op);
    uint64_t bytes = 0;
    for (int i = 0; i < n->nin + n->nout; i++) bytes += g->tensor[n->operand[i]].bytes;
    for (int side = 0; side < 2; side++) {
        sexpw_begin(w, side ? "out" : "in");
        for (int i = side ? n->nin : 0; i < (side ? n->nin + n->nout : n->nin); i++) sexpw_int(w, n->operand[i]);
        sexpw_end(w);
    }
    if (n->nattr > 0) {
        sexpw_begin(w, "attr");
        for (int a = 0; a < n->nattr; a++) {
            sexpw_begin(w, n->attr[a].name);
            for (int i = 0; i < n->attr[a].n; i++) sexpw_num(w, n->attr[a].v[i]);
            sexpw_end(w);
        }
        sexpw_end(w);
    }
    sexpw_pair(w, "flops", n->flops);
    sexpw_pair(w, "bytes", (double)bytes);
    if (n->workspace > 0) sexpw_pair(w, "workspace", (double)n->workspace);
    sexpw_end(w);
}

void graph_write(const struct graph *g, const char *path)
{
    sexpw *w = sexpw_open(path);
    sexpw_begin(w, "graph");
    sexpw_pair_str(w, "name", str_of(g->name));
    sexpw_pair(w, "batch", (double)g->batch);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        sexpw_line(w);
        sexpw_begin(w, "tensor");
        sexpw_int(w, i);
        sexpw_cstr(w, t->name);
        sexpw_cstr(w, role_names[t->role]);
        sexpw_int(w, (int64_t)t->bytes);
        sexpw_cstr(w, t->dtype);
        sexpw_begin(w, NULL);
        for (int d = 0; d < t->ndim; d++) sexpw_int(w, t->shape[d]);
        sexpw_end(w);
        if (t->updates >= 0) sexpw_pair(w, "updates", t->updates);
        if (t->trained) sexpw_pair(w, "trained", 1);
        sexpw_end(w);
    }
    for (int i = 0; i < g->nnode; i++) write_node(w, g, i);
    sexpw_end(w);
    sexpw_close(w);
}

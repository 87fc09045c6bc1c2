/* Gradients that grad_step makes, operator by operator, against finite differences of the loss. */
#include "base/rng.h"
#include "place/grad.h"
#include "tap.h"
#include "tensor/nd.h"
#include <stdlib.h>
#include <string.h>

static struct graph *g;

static int add(const char *name, int n, const int64_t *shape)
{
    return graph_tensor(g, name, ROLE_ARG, "f32", n, shape);
}
static int out(const char *op, int a, int b, const char *type, int n, const int64_t *shape)
{
    int in[2] = { a, b }, y = graph_tensor(g, op, ROLE_INTER, type, n, shape);
    graph_node(g, op, op, b < 0 ? 1 : 2, in, 1, &y);
    return y;
}
static void attr(const char *name, double v)
{
    graph_attr(g, g->nnode - 1, name, 1, v, 0);
}
static void pair(const char *name, double v, double w)
{
    graph_attr(g, g->nnode - 1, name, 2, v, w);
}
#define DIMS(...)                                                                                                      \
    (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (int64_t[])                                           \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* ends in rows of classes */
static void rows(int y)
{
    int64_t n = (int64_t)g->tensor[y].bytes / 4;
    out("NdReshape", y, -1, "f32", DIMS(2, n / 2));
}

static char **run(const struct graph *s, char **at)
{
    for (int i = 0; i < s->nnode; i++) {
        struct nd *o = nd_make(s, i);
        char *operand[32], *scratch = xcalloc(nd_scratch(o) + 1, 1);
        for (int k = 0; k < s->node[i].nin + s->node[i].nout; k++) operand[k] = at[s->node[i].operand[k]];
        nd_run(o, operand, scratch);
        free(scratch);
        nd_free(o);
    }
    return at;
}

static int named(const struct graph *s, const char *name)
{
    for (int i = 0; i < s->ntensor; i++)
        if (!strcmp(s->tensor[i].name, name)) return i;
    return -1;
}

/* positive values where a function wants them */
static void fill(const struct graph *s, char **at)
{
    struct rng r = rng_for(3, str_of("lib-nd"));
    for (int i = 0; i < s->ntensor; i++) {
        at[i] = xcalloc((size_t)s->tensor[i].bytes + 1, 1);
        float *f = (float *)(void *)at[i];
        int32_t *k = (int32_t *)(void *)at[i];
        if (s->tensor[i].role != ROLE_ARG || s->tensor[i].updates >= 0) continue;
        for (uint64_t j = 0; j < s->tensor[i].bytes / 4; j++)
            if (!strcmp(s->tensor[i].dtype, "i32")) k[j] = (int32_t)rng_below(&r, 2);
            else f[j] = (float)(0.3 + rng_unit(&r));
    }
}

/* every parameter of the graph; a step with rate 1 has moved it by its gradient */
static void check(const char *name)
{
    graph_finish(g);
    struct graph *s = grad_step(g, NULL, &(struct optimiser){ false, 1 });
    char **at = xcalloc((size_t)s->ntensor, sizeof *at);
    fill(s, at);
    run(s, at);
    double worst = 0, most = 0;
    int checked = 0, loss = named(s, "loss");
    for (int t = 0; t < g->ntensor; t++) {
        if (!grad_parameter(&g->tensor[t])) continue;
        char *next = xformat("%s.next", g->tensor[t].name);
        int moved = named(s, next);
        uint64_t n = g->tensor[t].bytes / 4;
        float *w = (float *)(void *)at[t], *to = (float *)(void *)at[moved], *gradient = xmalloc(n, sizeof *gradient);
        for (uint64_t i = 0; i < n; i++) gradient[i] = w[i] - to[i];
        for (uint64_t i = 0; i < n && i < 40; i++) {
            float was = w[i], l[2];
            for (int side = 0; side < 2; side++) {
                w[i] = was + (side ? 0.003f : -0.003f);
                run(s, at);
                l[side] = *(float *)(void *)at[loss];
            }
            w[i] = was;
            double slope = ((double)l[1] - (double)l[0]) / 0.006;
            worst = fmax(worst, fabs(slope - (double)gradient[i]));
            most = fmax(most, fabs(slope));
            checked++;
        }
        free(gradient);
        free(next);
    }
    char *text = xformat("%s: %d derivatives, at most %.1g off, the largest %.2g", name, checked, worst, most);
    ok(checked > 0 && most > 1e-3 && worst < 2e-3 * fmax(1, most), text);
    free(text);
    for (int i = 0; i < s->ntensor; i++) free(at[i]);
    free(at);
    graph_free(s);
    graph_free(g);
}

static void begin(void)
{
    g = graph_new("case", 2);
}

static void elementwise(void)
{
    static const char *const kinds[] = { "add", "sub", "mul", "div" };
    for (int k = 0; k < 4; k++) {
        begin();
        int a = add("a.weight", DIMS(2, 3, 4)), b = add("b.weight", DIMS(3, 1));
        out("NdBinary", a, b, "f32", DIMS(2, 3, 4));
        attr("kind", k);
        rows(g->ntensor - 1);
        check(kinds[k]);
    }
    static const char *const functions[] = { "relu", "sqrt", "erf", "exp", "tanh", "sigmoid", "pow", "scale", "shift",
        "clip", "log", "softplus", "leaky", "elu", "hardsigmoid" };
    for (int k = 0; k < ND_ABOVE; k++) {
        bool around = k == ND_SOFTPLUS || k == ND_LEAKY || k == ND_ELU;   /* on both sides of 0 */
        begin();
        out("NdUnary", add("a.weight", DIMS(2, 5)), -1, "f32", DIMS(2, 5));
        attr("kind", around ? ND_SHIFT : k);
        attr("a", around ? -0.81 : k == ND_CLIP ? 0.1 : k == ND_HARDSIGMOID ? 0.6 : 1.5);
        attr("b", k == ND_HARDSIGMOID ? -0.2 : 9);
        if (around) {
            out("NdUnary", g->ntensor - 1, -1, "f32", DIMS(2, 5));
            attr("kind", k);
            attr("a", 1.5);
            attr("b", k == ND_ELU ? 0.7 : 0);
        }
        check(functions[k]);
    }
    for (int k = ND_WHERE; k <= ND_ELSE; k++) {          /* repeated operands, a condition that no gradient reaches */
        begin();
        int a = add("a.weight", DIMS(3, 1)), b = add("b", DIMS(2, 3, 4));
        out("NdUnary", b, -1, "f32", DIMS(2, 3, 4));
        attr("kind", ND_ABOVE);
        attr("a", 0.8);
        int above = g->ntensor - 1;
        out("NdBinary", a, above, "f32", DIMS(2, 3, 4));
        attr("kind", k);
        out("NdBinary", g->ntensor - 1, a, "f32", DIMS(2, 3, 4));
        attr("kind", ND_MUL);
        rows(g->ntensor - 1);
        check(k == ND_WHERE ? "where" : "else");
    }
    begin();
    out("NdLogSoftmax", add("a.weight", DIMS(2, 3, 4)), -1, "f32", DIMS(2, 3, 4));
    rows(g->ntensor - 1);
    check("log softmax");
    begin();
    int wide = out("NdExpand", add("a.weight", DIMS(3, 1)), -1, "f32", DIMS(2, 3, 4));
    attr("factor", 1.5);
    out("NdBinary", wide, add("b.weight", DIMS(2, 3, 4)), "f32", DIMS(2, 3, 4));
    attr("kind", ND_MUL);
    rows(g->ntensor - 1);
    check("expand");
}

static void shapes(void)
{
    for (int mean = 0; mean < 2; mean++) {
        begin();
        out("NdReduce", add("a.weight", DIMS(2, 3, 2, 2)), -1, "f32", DIMS(2, 1, 2, 1));
        attr("axes", 10);
        attr("mean", mean);
        rows(g->ntensor - 1);
        check(mean ? "mean" : "sum");
    }
    begin();
    out("NdTranspose", add("a.weight", DIMS(2, 3, 4)), -1, "f32", DIMS(4, 2, 3));
    struct attr *perm = arena_get(&g->text, sizeof *perm);
    *perm = (struct attr){ .name = "perm", .n = 3, .v = { 2, 0, 1 } };
    g->node[0].attr = perm;
    g->node[0].nattr = 1;
    int scale = add("b.weight", DIMS(4, 2, 3));
    rows(out("NdBinary", g->ntensor - 2, scale, "f32", DIMS(4, 2, 3)));
    check("transpose");
    begin();
    int a = add("a.weight", DIMS(2, 2, 3)), b = add("b.weight", DIMS(2, 4, 3));
    rows(out("NdConcat", a, b, "f32", DIMS(2, 6, 3)));
    graph_attr(g, 0, "axis", 1, 1, 0);
    check("concat");
    begin();
    out("NdSlice", add("a.weight", DIMS(2, 6, 2)), -1, "f32", DIMS(2, 3, 2));
    attr("axis", 1);
    attr("begin", 2);
    rows(g->ntensor - 1);
    check("slice");
    begin();
    out("NdPad", add("a.weight", DIMS(2, 3, 2)), -1, "f32", DIMS(2, 6, 2));
    attr("axis", 1);
    attr("begin", 2);
    rows(g->ntensor - 1);
    check("pad");
    begin();
    int index = graph_tensor(g, "index", ROLE_ARG, "i32", 1, (int64_t[]){ 5 });
    out("NdGather", add("a.weight", DIMS(3, 4)), index, "f32", DIMS(5, 4));
    check("gather");
    begin();
    rows(out("NdUpsample", add("a.weight", DIMS(1, 2, 2, 3)), -1, "f32", DIMS(1, 2, 4, 6)));
    graph_attr(g, 0, "factor", 1, 2, 0);
    check("upsample");
    begin();
    int step = graph_tensor(g, "step", ROLE_ARG, "i32", 1, (int64_t[]){ 1 });
    out("NdDropout", add("a.weight", DIMS(4, 10)), step, "f32", DIMS(4, 10));
    attr("rate", 0.3);
    attr("seed", 5);
    check("dropout");
}

static void products(void)
{
    for (int tb = 0; tb < 2; tb++) {
        begin();
        int a = add("a.weight", DIMS(2, 3, 4)), b = tb ? add("b.weight", DIMS(5, 4)) : add("b.weight", DIMS(4, 5));
        rows(out("NdMatMul", a, b, "f32", DIMS(2, 3, 5)));
        graph_attr(g, 0, "tb", 1, tb, 0);
        check(tb ? "a batch times a transposed matrix" : "a batch times a matrix");
        begin();
        a = add("a.weight", DIMS(2, 2, 3, 4)),
        b = tb ? add("b.weight", DIMS(2, 2, 5, 4)) : add("b.weight", DIMS(2, 2, 4, 5));
        rows(out("NdMatMul", a, b, "f32", DIMS(2, 2, 3, 5)));
        graph_attr(g, 0, "tb", 1, tb, 0);
        check(tb ? "a batch times a transposed batch" : "a batch times a batch");
    }
    for (int k = 0; k < 3; k++) { /* plain; stride and padding and groups; dilation */
        begin();
        int a = add("a.weight", DIMS(2, 4, 6, 5)),
            b = k == 1 ? add("b.weight", DIMS(6, 2, 3, 3)) : add("b.weight", DIMS(3, 4, 3, 3));
        out("NdConv", a, b, "f32", 4, k == 1 ? (int64_t[]){ 2, 6, 3, 3 } : (int64_t[]){ 2, 3, 4, 3 });
        pair("stride", k == 1 ? 2 : 1, k == 1 ? 2 : 1);
        pair("pad", k > 0, k > 0);
        attr("group", k == 1 ? 2 : 1);
        attr("dilation", k == 2 ? 2 : 1);
        rows(g->ntensor - 1);
        check(k == 0 ? "convolution" : k == 1 ? "convolution, groups and strides" : "convolution, dilated");
    }
    begin();
    int w = add("b.weight", DIMS(4, 3, 2, 2)), x = add("a.weight", DIMS(2, 4, 3, 3));
    out("NdConvGradX", w, x, "f32", DIMS(2, 3, 6, 6));
    pair("stride", 2, 2);
    rows(g->ntensor - 1);
    check("transposed convolution");
}

static void statistics(void)
{
    begin();
    int x = add("a.weight", DIMS(2, 3, 4, 4));
    out("NdAvgPool", x, -1, "f32", DIMS(2, 3, 2, 2));
    pair("kernel", 3, 3);
    pair("stride", 2, 2);
    pair("pad", 1, 1);
    attr("counted", 0);
    rows(g->ntensor - 1);
    check("average pooling");
    begin();
    x = add("a.weight", DIMS(2, 3, 4, 4));
    int y = graph_tensor(g, "y", ROLE_INTER, "f32", 4, (int64_t[]){ 2, 3, 2, 2 }),
        index = graph_tensor(g, "i", ROLE_INTER, "i32", 4, (int64_t[]){ 2, 3, 2, 2 });
    graph_node(g, "pool", "NdMaxPool", 1, &x, 2, (int[]){ y, index });
    pair("kernel", 2, 2);
    pair("stride", 2, 2);
    rows(y);
    check("maximum pooling");
    begin();
    int in[3] = { add("a.weight", DIMS(4, 3, 2, 2)), add("b.scale", DIMS(3)), add("b.shift", DIMS(3)) };
    int o[3] = { graph_tensor(g, "y", ROLE_INTER, "f32", 4, (int64_t[]){ 4, 3, 2, 2 }),
                 graph_tensor(g, "m", ROLE_INTER, "f32", 1, (int64_t[]){ 3 }),
                 graph_tensor(g, "v", ROLE_INTER, "f32", 1, (int64_t[]){ 3 }) };
    graph_node(g, "norm", "NdNorm", 3, in, 3, o);
    attr("epsilon", 1e-3);
    rows(o[0]);
    check("batch norm");
    begin();
    x = out("NdSoftmax", add("a.weight", DIMS(3, 4)), -1, "f32", DIMS(3, 4));
    out("NdBinary", x, add("b.weight", DIMS(3, 4)), "f32", DIMS(3, 4));
    attr("kind", 2);
    check("softmax");
    begin(); /* one parameter read by several nodes */
    x = add("a.weight", DIMS(3, 4));
    y = out("NdUnary", x, -1, "f32", DIMS(3, 4));
    attr("kind", ND_TANH);
    out("NdBinary", y, x, "f32", DIMS(3, 4));
    attr("kind", 2);
    out("NdBinary", g->ntensor - 1, x, "f32", DIMS(3, 4));
    check("a parameter that is read three times");
}

/* the loss of two equal rows of two logits, after one function */
static double loss_of(int kind, float first, float second, int label)
{
    begin();
    int w = add("a.weight", DIMS(2, 2)), y = graph_tensor(g, "y", ROLE_INTER, "f32", 2, (int64_t[]){ 2, 2 });
    graph_node(g, "y", "NdUnary", 1, &w, 1, &y);
    attr("kind", kind);
    attr("a", kind == ND_CLIP ? -1e30 : 1);
    attr("b", kind == ND_CLIP ? 1e30 : 0);
    graph_finish(g);
    struct graph *s = grad_step(g, NULL, &(struct optimiser){ false, 1 });
    char **at = xcalloc((size_t)s->ntensor, sizeof *at);
    fill(s, at);
    for (int i = 0; i < 4; i++) ((float *)(void *)at[w])[i] = i % 2 ? second : first;
    for (int i = 0; i < 2; i++) ((int32_t *)(void *)at[named(s, "labels")])[i] = label;
    run(s, at);
    double loss = (double)*(float *)(void *)at[named(s, "loss")];
    for (int i = 0; i < s->ntensor; i++) free(at[i]);
    free(at);
    graph_free(s);
    graph_free(g);
    return loss;
}

static void losses(void)
{
    near(loss_of(ND_SCALE, 200, 0, 1), 200, 1e-6, "logits of 200 and 0, the label is the second: 200");
    near(loss_of(ND_SCALE, -300, 50, 0), 350, 1e-6, "or 350");
    near(loss_of(ND_SCALE, 0.25f, -1.5f, 0), log(1 + exp(-1.75)), 1e-6, "and what is near as ever");
    static const int kinds[] = { ND_SCALE, ND_RELU, ND_CLIP, ND_HARDSIGMOID, ND_LEAKY };
    for (int i = 0; i < 5; i++) ok(isnan(loss_of(kinds[i], 1, NAN, 0)), "a nan reaches the loss");
}

/* the higher of neighbours, of which one is nan */
static void maximum(void)
{
    begin();
    int x = add("x", DIMS(1, 1, 1, 4)), y = graph_tensor(g, "y", ROLE_INTER, "f32", 4, (int64_t[]){ 1, 1, 1, 2 });
    int index = graph_tensor(g, "i", ROLE_INTER, "i32", 4, (int64_t[]){ 1, 1, 1, 2 });
    graph_node(g, "pool", "NdMaxPool", 1, &x, 2, (int[]){ y, index });
    pair("kernel", 1, 2);
    pair("stride", 1, 2);
    graph_finish(g);
    float in[4] = { 1, NAN, NAN, 1 }, got[2];
    int32_t where[2];
    run(g, (char *[]){ (char *)in, (char *)got, (char *)where });
    ok(isnan(got[0]) && isnan(got[1]) && where[0] == 1 && where[1] == 2, "a nan is the maximum of its window");
    graph_free(g);
}

int main(void)
{
    losses();
    maximum();
    elementwise();
    shapes();
    products();
    statistics();
    return done();
}

/* lib-exec.c - every operator with operands in slow memory, streamed and staged, gives the bits of the direct run. */
#include "tensor/exec.h"
#include "base/rng.h"
#include "tap.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct graph *g;
static int count;

static int tensor(enum role role, int a, int b, int c, int d)
{
    int64_t shape[] = { a, b, c, d };
    char name[20];
    snprintf(name, sizeof name, "t%d", count++);
    return graph_tensor(g, name, role, "f32", d ? 4 : b ? 2 : 1, shape);
}

static int node(const char *op, int nin, const int *in, int nout, const int *out)
{
    char name[20];
    snprintf(name, sizeof name, "n%d", count++);
    return graph_node(g, name, op, nin, in, nout, out);
}

static void window(int n, int kh, int kw, int stride, int ph, int pw)
{
    graph_attr(g, n, "kernel", 2, kh, kw);
    graph_attr(g, n, "stride", 2, stride, stride);
    graph_attr(g, n, "pad", 2, ph, pw);
}

/* the three kernels of a convolution */
static void conv(int images, int ic, int h, int w, int oc, int kh, int kw, int s, int ph, int pw)
{
    int oh = (h + 2 * ph - kh) / s + 1, ow = (w + 2 * pw - kw) / s + 1;
    int x = tensor(ROLE_ARG, images, ic, h, w), k = tensor(ROLE_ARG, oc, ic, kh, kw), b = tensor(ROLE_ARG, oc, 0, 0, 0);
    int y = tensor(ROLE_INTER, images, oc, oh, ow), n = node("ConvolutionBias", 3, (int[]){ x, k, b }, 1, &y);
    window(n, kh, kw, s, ph, pw);
    graph_attr(g, n, "relu", 1, 1, 0);
    int dw = tensor(ROLE_INTER, oc, ic, kh, kw), db = tensor(ROLE_INTER, oc, 0, 0, 0);
    window(node("ConvolutionBiasBackpropFiltersBias", 2, (int[]){ x, y }, 2, (int[]){ dw, db }), kh, kw, s, ph, pw);
    if (ic < 16) return;
    int dx = tensor(ROLE_INTER, images, ic, h, w);
    window(node("ConvolutionBackpropData", 2, (int[]){ k, y }, 1, &dx), kh, kw, s, ph, pw);
}

static void image_ops(int images, int channels, int h, int w, int k, int s, int p)
{
    int oh = (h + 2 * p - k) / s + 1, ow = (w + 2 * p - k) / s + 1;
    int x = tensor(ROLE_ARG, images, channels, h, w), x2 = tensor(ROLE_ARG, images, channels, h, w);
    int y = tensor(ROLE_INTER, images, channels, h, w), sum = tensor(ROLE_INTER, images, channels, h, w);
    node("Relu", 1, &x, 1, &y);
    node("Add", 2, (int[]){ x, x2 }, 1, &sum);
    int d = tensor(ROLE_INTER, images, channels, h, w);
    node("ReluBackprop", 2, (int[]){ y, sum }, 1, &d);
    int m = tensor(ROLE_INTER, images, channels, oh, ow), at = tensor(ROLE_INTER, images, channels, oh, ow);
    window(node("MaxPoolWithIndices", 1, &x, 2, (int[]){ m, at }), k, k, s, p, p);
    int dm = tensor(ROLE_INTER, images, channels, h, w);
    window(node("MaxPoolWithIndicesBackprop", 3, (int[]){ x, m, at }, 1, &dm), k, k, s, p, p);
    int du = tensor(ROLE_INTER, images, channels, h, w), dv = tensor(ROLE_INTER, images, channels, h, w);
    window(node("MaxPoolBackprop", 2, (int[]){ m, at }, 1, &du), k, k, s, p, p);
    window(node("MaxPoolReluBackprop", 3, (int[]){ m, m, at }, 1, &dv), k, k, s, p, p);
    int a = tensor(ROLE_INTER, images, channels, oh, ow), da = tensor(ROLE_INTER, images, channels, h, w);
    window(node("AvgPool", 1, &x, 1, &a), k, k, s, p, p);
    window(node("AvgPoolBackprop", 1, &a, 1, &da), k, k, s, p, p);
    int scale = tensor(ROLE_ARG, channels, 0, 0, 0), shift = tensor(ROLE_ARG, channels, 0, 0, 0);
    int n = tensor(ROLE_INTER, images, channels, h, w), mean = tensor(ROLE_INTER, channels, 0, 0, 0),
        var = tensor(ROLE_INTER, channels, 0, 0, 0);
    node("BatchNormTrainingRelu", 3, (int[]){ scale, shift, x }, 3, (int[]){ n, mean, var });
    int dn = tensor(ROLE_INTER, images, channels, h, w), ds = tensor(ROLE_INTER, channels, 0, 0, 0),
        dt = tensor(ROLE_INTER, channels, 0, 0, 0);
    node("BatchNormTrainingBackprop", 6, (int[]){ scale, shift, x, mean, var, x2 }, 3, (int[]){ dn, ds, dt });
    int cat = tensor(ROLE_INTER, images, 2 * channels, h, w), part = tensor(ROLE_INTER, images, 16, h, w);
    graph_attr(g, node("Concat", 2, (int[]){ x, x2 }, 1, &cat), "axis", 1, 1, 0);
    int sl = node("Slice", 1, &cat, 1, &part);
    graph_attr(g, sl, "axis", 1, 1, 0);
    graph_attr(g, sl, "from", 1, channels, 0);
}

static void dense(int images, int in, int out)
{
    int w = tensor(ROLE_ARG, out, in, 0, 0), x = tensor(ROLE_ARG, images, in, 0, 0), b = tensor(ROLE_ARG, out, 0, 0, 0);
    int y = tensor(ROLE_INTER, images, out, 0, 0), dw = tensor(ROLE_INTER, out, in, 0, 0),
        dx = tensor(ROLE_INTER, images, in, 0, 0);
    node("MatmulBias", 3, (int[]){ w, x, b }, 1, &y);
    graph_attr(g, node("Dot", 2, (int[]){ y, x }, 1, &dw), "grad_weights", 1, 1, 0);
    graph_attr(g, node("Dot", 2, (int[]){ w, y }, 1, &dx), "grad_data", 1, 1, 0);
    int next = tensor(ROLE_INTER, out, in, 0, 0);
    graph_attr(g, node("DotAdd", 3, (int[]){ y, x, w }, 1, &next), "grad_weights", 1, 1, 0);
    int p = tensor(ROLE_INTER, images, out, 0, 0), db = tensor(ROLE_INTER, out, 0, 0, 0),
        d = tensor(ROLE_INTER, images, out, 0, 0);
    int l = tensor(ROLE_ARG, images, out, 0, 0);
    node("Softmax", 1, &y, 1, &p);
    graph_attr(g, node("Subtract", 2, (int[]){ p, l }, 1, &d), "scale", 1, -.5, 0);
    node("Sum", 1, &d, 1, &db);
}

static int plain_of[1000];                               /* node with `plus` and `mask` -> the one without */

/* each of these operators again, with `plus`, with `mask` and with both */
static void extras(void)
{
    static const char *const can[] = { "ConvolutionBackpropData", "BatchNormTrainingBackprop", "MaxPoolBackprop",
                                       "MaxPoolReluBackprop", "AvgPoolBackprop", "Slice", "Add", "Dot" };
    for (int i = 0, n = g->nnode; i < n; i++) {
        bool may = false;
        for (size_t c = 0; c < sizeof can / sizeof *can; c++) may |= !strcmp(g->node[i].op, can[c]);
        for (int what = 1; may && what < 4; what++) {
            struct node d = g->node[i];
            int out[3];
            for (int k = 0; k < d.nout; k++) {
                struct tensor t = g->tensor[d.operand[d.nin + k]];
                out[k] = tensor(ROLE_INTER, (int)t.shape[0], (int)t.shape[1], (int)t.shape[2], (int)t.shape[3]);
                g->tensor[out[k]].ndim = t.ndim;
            }
            int twin = node(d.op, d.nin, d.operand, d.nout, out);
            for (int a = 0; a < d.nattr; a++)
                graph_attr(g, twin, d.attr[a].name, d.attr[a].n, d.attr[a].v[0], d.attr[a].v[1]);
            for (int bit = 1; bit < 3; bit++) {
                if (!(what & bit)) continue;
                graph_input(g, twin, d.operand[d.nin]);
                graph_attr(g, twin, bit == 1 ? "plus" : "mask", 1, 1, 0);
            }
            plain_of[twin] = i;
        }
    }
}

/* what the node without them makes of the same operands, and then a plain sum and choice */
static bool extras_agree(struct exec *x, int i, char *const *at)
{
    const struct node *n = &g->node[i];
    struct op o = op_make(g, plain_of[i]);
    struct place place[OP_OPERANDS];
    char *out[3] = { 0 };
    int own = n->nin - node_extras(n);
    for (int k = 0; k < own; k++) place[k] = (struct place){ false, at[k], 0 };
    for (int k = 0; k < n->nout; k++) place[own + k] = (struct place){ false, out[k] = pages(o.bytes[own + k]), 0 };
    exec_run(x, &o, place, EXEC_DIRECT, NULL);
    float *sum = (float *)(void *)out[0];
    const float *plus = (float *)(void *)at[own], *mask = (float *)(void *)at[n->nin - 1];
    for (uint64_t k = 0; k < o.bytes[own] / 4; k++) {
        if (node_attr(n, "plus", 0, 0) == 1) sum[k] = plus[k] + sum[k];
        if (node_attr(n, "mask", 0, 0) == 1 && !(mask[k] > 0)) sum[k] = 0;
    }
    bool good = true;
    for (int k = 0; k < n->nout; k++) {
        good &= !memcmp(out[k], at[n->nin + k], o.bytes[own + k]);
        pages_free(out[k], o.bytes[own + k]);
    }
    op_free(&o);
    return good;
}

/* inputs at random, indices within the window */
static void fill(struct rng *r, const struct op *o, int i, const char *op, char *p)
{
    for (uint64_t k = 0; k < o->bytes[i] / 4; k++) {
        bool index = !strcmp(op, "MaxPoolBackprop") ? i == 1 : !strncmp(op, "MaxPool", 7) && i == 2;
        if (index) ((int32_t *)(void *)p)[k] = o->pool.kw + 1;
        else if (!strcmp(op, "BatchNormTrainingBackprop") && i == 4) ((float *)(void *)p)[k] = 1 + (float)rng_unit(r);
        else ((float *)(void *)p)[k] = (float)(rng_unit(r) - .5);
    }
}

/* a part of the outputs of dense layers, in doubles */
static bool dense_agrees(const struct node *n, char *const *at)
{
    bool forward = !strcmp(n->op, "MatmulBias"), data = node_attr(n, "grad_data", 0, 0) == 1;
    if ((!forward && !data) || node_extras(n)) return true;
    const int64_t *shape = g->tensor[n->operand[0]].shape;
    size_t rows = (size_t)shape[0], k = (size_t)shape[1], images = (size_t)g->tensor[n->operand[1]].shape[0],
           out = forward ? rows : k, in = forward ? k : rows;
    const float *w = (float *)(void *)at[0], *x = (float *)(void *)at[1], *b = (float *)(void *)at[2],
                *y = (float *)(void *)at[forward ? 3 : 2];
    for (size_t i = 0; i < images * out; i += 7) {
        double want = forward ? b[i % out] : 0, most = fabs(want);
        for (size_t j = 0; j < in; j++) {
            double term = (double)x[i / out * in + j] * w[forward ? i % out * k + j : j * k + i % out];
            want += term, most += fabs(term);
        }
        if (!(fabs(want - y[i]) <= 1e-6 * most)) return false;
    }
    return true;
}

/* takes long: tried less often */
static bool is_big(const struct node *n)
{
    for (int k = 0; k < n->nin + n->nout; k++)
        if (g->tensor[n->operand[k]].bytes > 8 << 20) return true;
    return false;
}

static uint64_t room(uint64_t n) { return (n + 4095) / 4096 * 4096; }

static bool node_agrees(struct exec *x, struct tier *tier, int i, struct rng *r)
{
    const struct node *n = &g->node[i];
    struct op o = op_make(g, i);
    struct place fast[OP_OPERANDS], place[OP_OPERANDS];
    char *want[OP_OPERANDS], *got[OP_OPERANDS];
    int all = n->nin + n->nout;
    bool good = true;
    for (int k = 0; k < all; k++) {
        want[k] = pages(room(o.bytes[k])), got[k] = pages(room(o.bytes[k]));
        fast[k] = (struct place){ false, want[k], 0 };
        if (k < n->nin) fill(r, &o, k, n->op, want[k]);
    }
    exec_run(x, &o, fast, EXEC_DIRECT, NULL);
    if (!dense_agrees(n, want)) printf("# %s: wrong\n", n->op), good = false;
    if (node_extras(n) && !extras_agree(x, i, want)) printf("# %s: plus or mask is wrong\n", n->op), good = false;
    for (int trial = 0; trial < (is_big(n) ? 1 : node_extras(n) ? 2 : 6); trial++) {
        uint32_t slow = trial == 0 ? ~0u : (uint32_t)rng_u64(r) & ((1u << all) - 1);
        uint64_t at = 0;
        for (int mode = EXEC_STREAMED; mode <= EXEC_STAGED; mode++) {
            struct transfer t = { 0 };
            for (int k = 0; k < all; at += room(o.bytes[k]), k++) {
                bool s = slow >> k & 1;
                place[k] = (struct place){ s, s ? NULL : got[k], at };
                if (k < n->nin) memcpy(got[k], want[k], o.bytes[k]);
                else memset(got[k], 77, room(o.bytes[k]));
                if (s) tier_start(tier, &t, true, got[k], at, room(o.bytes[k]));
            }
            tier_finish(tier, &t);
            uint64_t bytes = exec_staging(&o, slow & ((1u << all) - 1), (enum exec_mode)mode);
            char *staging = pages(bytes + 4096);
            memset(staging + bytes, 99, 4096);
            exec_run(x, &o, place, (enum exec_mode)mode, staging);
            for (int q = 0; q < 4096; q++) good &= staging[bytes + (uint64_t)q] == 99;
            pages_free(staging, bytes + 4096);
            for (int k = n->nin; k < all; k++) {
                if (place[k].slow) {
                    tier_start(tier, &t, false, got[k], place[k].offset, room(o.bytes[k]));
                    tier_finish(tier, &t);
                }
                bool same = !memcmp(got[k], want[k], o.bytes[k]);
                if (!same) printf("# %s operand %d mode %d slow %x\n", n->op, k, mode, slow);
                good &= same;
            }
            at = 0;
        }
    }
    for (int k = 0; k < all; k++) pages_free(want[k], room(o.bytes[k])), pages_free(got[k], room(o.bytes[k]));
    op_free(&o);
    return good;
}

int main(void)
{
    g = graph_new("parts", 2);
    conv(2, 16, 64, 64, 32, 3, 3, 1, 1, 1);              /* bands */
    conv(2, 64, 64, 128, 16, 3, 3, 1, 1, 1);
    conv(1, 32, 96, 64, 32, 1, 1, 1, 0, 0);
    conv(2, 32, 64, 64, 32, 3, 3, 2, 1, 1);
    conv(2, 48, 17, 17, 32, 1, 7, 1, 0, 3);              /* planes that meet no disk block */
    conv(2, 32, 7, 7, 64, 1, 1, 1, 0, 0);
    conv(3, 128, 7, 7, 272, 3, 3, 1, 1, 1);              /* weights larger than images */
    conv(2, 3, 32, 32, 64, 7, 7, 2, 3, 3);
    conv(2, 3, 128, 128, 64, 3, 3, 1, 1, 1);
    image_ops(2, 48, 15, 13, 3, 2, 1);
    image_ops(1, 32, 64, 64, 2, 2, 0);
    image_ops(3, 160, 33, 35, 3, 1, 1);
    dense(2, 3000, 300);
    dense(9, 1000, 700);
    dense(2, 4000, 1060);                                /* weights of more than one unit */
    dense(9, 4000, 1060);
    extras();
    graph_finish(g);
    const char *build = getenv("B");
    char *spec = xformat("file:%s", build ? build : ".");
    struct tier *tiers[] = { tier_open("dram", 64 << 20), tier_open(spec, 64 << 20) };
    struct rng r = rng_for(1, str_of("exec"));
    char name[200];
    for (int i = 0; i < 2; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            struct team *team = team_start(threads);
            struct exec *x = exec_new(kernels_for(NULL), team, tiers[i]);
            for (int n = 0; n < g->nnode; n++) {
                if (is_big(&g->node[n]) && i + 1 != threads) continue;
                snprintf(name, sizeof name, "%s, node %d, %s, %d threads: all placements agree", g->node[n].op, n,
                         tier_method(tiers[i]), threads);
                ok(node_agrees(x, tiers[i], n, &r), name);
            }
            exec_free(x);
            team_stop(team);
        }
        tier_close(tiers[i]);
    }
    free(spec);
    graph_free(g);
    return done();
}

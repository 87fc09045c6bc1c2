/* place-kernels.c - our convolutions against oneDNN's on every layer shape of the graphs given, one thread, one image.
 *
 * Usage: place-kernels GRAPH...
 * Columns out: shape, direction, flops, own_gflops, peer_gflops, speed_ratio (above 1: ours is faster), step_ratio; on
 * stderr the geometric means.  Activations are nChw16c for both (plain for the image), weights in the layout each likes
 * best and converted by neither.  In step_ratio oneDNN's data gradient also pays for its weights to come from the
 * layout of its forward kernel, as in a training step, where they are new each time; ours always does.  CPU seconds,
 * best of interleaved runs.  oneDNN 2.x. */
#include "base/message.h"
#include "tensor/ops.h"
#include "tensor/tier.h"
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7 };

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static void must(dnnl_status_t s)
{
    if (s != dnnl_success) die("oneDNN: status %d", (int)s);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static dnnl_memory_desc_t describe(int n, int c, int h, int w, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t d;
    must(dnnl_memory_desc_init_by_tag(&d, 4, (dnnl_dims_t){ n, c, h, w }, dnnl_f32, tag));
    return d;
}

/* operands of a step do not all begin at a multiple of 2 MiB, where they would meet in the same lines of the caches */
enum { STAGGER = 17 * 4096 + 256 };
static float *staggered(size_t bytes, int i)
{
    return (float *)pages(bytes + 4 * STAGGER) + i * STAGGER / 4;
}

struct peer { dnnl_primitive_t primitive, turn; dnnl_exec_arg_t arg[4], turned[2]; int n; float *own[4]; };

static void peer_arg(struct peer *p, dnnl_primitive_desc_t d, int what, dnnl_query_t query)
{
    const dnnl_memory_desc_t *m = dnnl_primitive_desc_query_md(d, query, 0);
    p->own[p->n] = staggered(dnnl_memory_desc_get_size(m), p->n);
    p->arg[p->n].arg = what;
    must(dnnl_memory_create(&p->arg[p->n].memory, m, engine, p->own[p->n]));
    for (size_t i = 0; i < dnnl_memory_desc_get_size(m) / 4; i++) p->own[p->n][i] = (float)(i % 97) * 0.01f;
    p->n++;
}

/* weights from the layout that the forward kernel likes to that of the data gradient; none where they are the same */
static void peer_turn_make(struct peer *p, dnnl_primitive_desc_t forward, dnnl_primitive_desc_t back)
{
    const dnnl_memory_desc_t *from = dnnl_primitive_desc_query_md(forward, dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *to = dnnl_primitive_desc_query_md(back, dnnl_query_weights_md, 0);
    dnnl_primitive_desc_t d;
    if (dnnl_memory_desc_equal(from, to)) return;
    float *own = staggered(dnnl_memory_desc_get_size(from), 3);
    memset(own, 0, dnnl_memory_desc_get_size(from));
    p->turned[0].arg = DNNL_ARG_FROM;
    must(dnnl_memory_create(&p->turned[0].memory, from, engine, own));
    p->turned[1] = (dnnl_exec_arg_t){ DNNL_ARG_TO, p->arg[1].memory };
    must(dnnl_reorder_primitive_desc_create(&d, from, engine, to, engine, NULL));
    must(dnnl_primitive_create(&p->turn, d));
    dnnl_primitive_desc_destroy(d);
}

/* direction 0: forward, 1: data, 2: weights and bias */
static struct peer peer_make(const struct conv *c, int direction)
{
    struct peer p = { 0 };
    dnnl_memory_desc_t x = describe(1, c->ic, c->ih, c->iw, c->ic < BLOCK ? dnnl_nchw : dnnl_nChw16c), b;
    dnnl_memory_desc_t y = describe(1, c->oc, c->oh, c->ow, dnnl_nChw16c),
                       w = describe(c->oc, c->ic, c->kh, c->kw, dnnl_format_tag_any);
    must(dnnl_memory_desc_init_by_tag(&b, 1, (dnnl_dims_t){ c->oc }, dnnl_f32, dnnl_a));
    dnnl_dims_t stride = { c->stride, c->stride }, left = { c->ph, c->pw };
    dnnl_dims_t right = { (c->oh - 1) * c->stride + c->kh - c->ih - c->ph,
                          (c->ow - 1) * c->stride + c->kw - c->iw - c->pw };
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t forward, pd;
    must(dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_direct, &x, &w, &b, &y, stride,
                                            left, right));
    must(dnnl_primitive_desc_create(&forward, &d, NULL, engine, NULL));
    pd = forward;
    if (direction == 1) {
        must(dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &x, &w, &y, stride, left, right));
        must(dnnl_primitive_desc_create(&pd, &d, NULL, engine, forward));
        peer_arg(&p, pd, DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md);
        peer_arg(&p, pd, DNNL_ARG_WEIGHTS, dnnl_query_weights_md);
        peer_arg(&p, pd, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md);
    } else if (direction == 2) {
        must(dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct, &x, &w, &b, &y, stride, left,
                                                         right));
        must(dnnl_primitive_desc_create(&pd, &d, NULL, engine, forward));
        peer_arg(&p, pd, DNNL_ARG_SRC, dnnl_query_src_md);
        peer_arg(&p, pd, DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md);
        p.own[p.n] = pages((size_t)c->oc * 4);
        p.arg[p.n].arg = DNNL_ARG_DIFF_BIAS;
        must(dnnl_memory_create(&p.arg[p.n].memory, &b, engine, p.own[p.n]));
        p.n++;
        peer_arg(&p, pd, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md);
    } else {
        peer_arg(&p, pd, DNNL_ARG_SRC, dnnl_query_src_md);
        peer_arg(&p, pd, DNNL_ARG_WEIGHTS, dnnl_query_weights_md);
        p.own[p.n] = pages((size_t)c->oc * 4);
        p.arg[p.n].arg = DNNL_ARG_BIAS;
        must(dnnl_memory_create(&p.arg[p.n].memory, &b, engine, p.own[p.n]));
        p.n++;
        peer_arg(&p, pd, DNNL_ARG_DST, dnnl_query_dst_md);
    }
    must(dnnl_primitive_create(&p.primitive, pd));
    if (direction == 1) peer_turn_make(&p, forward, pd);
    if (pd != forward) dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_desc_destroy(forward);
    return p;
}

static void peer_run(struct peer *p)
{
    must(dnnl_primitive_execute(p->primitive, stream, p->n, p->arg));
    must(dnnl_stream_wait(stream));
}

static void own_run(const struct kernels *k, const struct conv *c, int direction, float **a, float *scratch)
{
    size_t xplane = (size_t)(c->ih * c->iw) * BLOCK, yplane = (size_t)(c->oh * c->ow) * BLOCK;
    if (direction == 0) k->conv_forward(c, a[0], xplane, a[1], a[2], a[3], yplane, 0, c->oh, scratch, 0, 1);
    else if (direction == 1) k->conv_data_grad(c, a[1], a[3], yplane, a[0], xplane, 0, c->ih, scratch, 0, 1);
    else k->conv_weights_grad(c, a[0], xplane, a[3], yplane, a[1], a[2], false, 0, c->oh, scratch, 0, 1);
}

static void best_of(const struct kernels *k, const struct conv *c, int direction, double *own, double *peer,
                    double *turn)
{
    size_t n[4] = { (size_t)(c->ic * c->ih * c->iw), (size_t)(c->oc * c->ic * c->kh * c->kw), (size_t)c->oc,
                    (size_t)(c->oc * c->oh * c->ow) };
    float *a[4], *scratch = pages(conv_scratch(c) * 4);
    for (int i = 0; i < 4; i++) {
        a[i] = staggered(n[i] * 4, i);
        for (size_t j = 0; j < n[i]; j++) a[i][j] = (float)(j % 97) * 0.01f;
    }
    struct peer p = peer_make(c, direction);
    *own = *peer = INFINITY;
    *turn = p.turn ? INFINITY : 0;
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        own_run(k, c, direction, a, scratch);
        double mid = cpu_seconds();
        peer_run(&p);
        double end = cpu_seconds();
        if (p.turn) must(dnnl_primitive_execute(p.turn, stream, 2, p.turned));
        double turned = cpu_seconds();
        if (r == 0) continue;
        *own = fmin(*own, mid - start);
        *peer = fmin(*peer, end - mid);
        if (p.turn) *turn = fmin(*turn, turned - end);
    }
    for (int i = 0; i < 4; i++) pages_free(a[i] - i * STAGGER / 4, n[i] * 4 + 4 * STAGGER);
    pages_free(scratch, conv_scratch(c) * 4);
    for (int i = 0; i < p.n; i++) dnnl_memory_destroy(p.arg[i].memory);   /* the buffers stay: a benchmark ends soon */
    dnnl_primitive_destroy(p.primitive);
}

int main(int argc, char **argv)
{
    static const char *const ops[] = { "ConvolutionBias", "ConvolutionBackpropData",
                                       "ConvolutionBiasBackpropFiltersBias" };
    static const char *const names[] = { "forward", "data", "weights" };
    double sum[3] = { 0 }, steps = 0;
    int count[3] = { 0 };
    const struct kernels *k = kernels_for(NULL);
    prog = "place-kernels";
    must(dnnl_engine_create(&engine, dnnl_cpu, 0));
    must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    printf("shape,direction,flops,own_gflops,peer_gflops,speed_ratio,step_ratio\n");
    for (int i = 1; i < argc; i++) {
        struct graph *g = graph_read(argv[i]);
        for (int n = 0; n < g->nkernel; n++) {
            int direction = 0, node = g->kernel[n].node;
            while (direction < 3 && strcmp(g->node[node].op, ops[direction])) direction++;
            if (direction == 3) continue;
            struct op o = op_make(g, node);
            const struct conv *c = &o.conv;
            double own, peer, turn, flops = 2.0 * c->oc * c->oh * c->ow * c->ic * c->kh * c->kw;
            best_of(k, c, direction, &own, &peer, &turn);
            printf("%dx%dx%d-%d-%dx%d-s%d,%s,%.0f,%.1f,%.1f,%.3f,%.3f\n", c->ic, c->ih, c->iw, c->oc, c->kh, c->kw,
                   c->stride, names[direction], flops, flops / own * 1e-9, flops / peer * 1e-9, peer / own,
                   (peer + turn) / own);
            steps += log((peer + turn) / own);
            sum[direction] += log(peer / own);
            count[direction]++;
            op_free(&o);
        }
        graph_free(g);
    }
    int all = count[0] + count[1] + count[2];
    for (int d = 0; d < 3; d++)
        fprintf(stderr, "%-8s %3d shapes: %s is %.3f times as fast as oneDNN (geometric mean)\n", names[d], count[d],
                k->name, exp(sum[d] / count[d]));
    double mean = exp((sum[0] + sum[1] + sum[2]) / all);
    fprintf(stderr, "all      %3d shapes: %.3f; with oneDNN's weights turned anew for the data gradient: %.3f\n", all,
            mean, exp(steps / all));
    if (mean < 0.9) die("more than 10 %% slower than oneDNN");
    return 0;
}

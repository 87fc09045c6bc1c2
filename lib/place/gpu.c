#include "place/gpu.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "measure/clock.h"
#include "measure/stats.h"
#include "place/guest/kernels.h"
#include "tensor/ops.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INDEX(name) K_##name,
enum { GPU_KERNELS(INDEX) K_ALL };

enum code { CONV, CONV_DATA, CONV_WEIGHTS, NORM, NORM_GRAD, MAXPOOL, MAXPOOL_GRAD, AVGPOOL, AVGPOOL_GRAD, COPY, FLAT,
            DENSE, SUM, SOFTMAX, LOSS, SUBTRACT };
static const struct { const char *op; enum code code; int kernel; } names[] = {
    { "ConvolutionBias", CONV, K_conv_direct }, { "ConvolutionBackpropData", CONV_DATA, K_conv_data },
    { "ConvolutionBiasBackpropFiltersBias", CONV_WEIGHTS, K_conv_weights },
    { "BatchNormTraining", NORM, K_norm_sums }, { "BatchNormTrainingRelu", NORM, K_norm_sums },
    { "BatchNormTrainingBackprop", NORM_GRAD, K_norm_grad_sums }, { "MaxPoolWithIndices", MAXPOOL, K_pool_max },
    { "MaxPoolWithIndicesBackprop", MAXPOOL_GRAD, K_pool_max_grad }, { "AvgPool", AVGPOOL, K_pool_mean },
    { "AvgPoolBackprop", AVGPOOL_GRAD, K_pool_mean_grad },
    { "Concat", COPY, K_copy_rows }, { "Slice", COPY, K_copy_rows },
    { "Relu", FLAT, K_relu }, { "ReluBackprop", FLAT, K_relu_grad }, { "Add", FLAT, K_add },
    { "MatmulBias", DENSE, K_dense }, { "Sum", SUM, K_sum_rows }, { "Softmax", SOFTMAX, K_softmax },
    { "CrossEntropy", LOSS, K_cross_entropy }, { "Subtract", SUBTRACT, K_subtract },
};

struct gpu_op {
    enum code code;
    int kernel, nin, nout;
    struct gpu_call call;                                /* sizes; operands are filled in */
    uint64_t bytes[OP_OPERANDS];
    int64_t images, pitch[OP_OPERANDS], from;            /* Concat, Slice: floats of an image; before it */
};

static void sizes_of_conv(struct gpu_op *o, const struct op *p)
{
    const struct conv *c = &p->conv;
    int64_t v[] = { c->ic, c->ih,     c->iw, c->oc, c->oh,   c->ow,    c->kh,
                    c->kw, c->stride, c->ph, c->pw, c->relu, p->images };
    memcpy(o->call.v, v, sizeof v);
}

static void sizes_of_pool(struct gpu_op *o, const struct op *p)
{
    const struct pool *c = &p->pool;
    int64_t v[] = { 0, c->ih, c->iw, 0, c->oh, c->ow, c->kh, c->kw, c->stride, c->ph, c->pw, 0, (int64_t)p->elements };
    memcpy(o->call.v, v, sizeof v);
}

static void sizes(struct gpu_op *o, const struct op *p, const struct node *n)
{
    int64_t *v = o->call.v;
    o->images = p->images;
    if (o->code <= CONV_WEIGHTS) {
        sizes_of_conv(o, p);
    } else if (o->code >= MAXPOOL && o->code <= AVGPOOL_GRAD) {
        sizes_of_pool(o, p);
    } else if (o->code == NORM || o->code == NORM_GRAD) {
        v[0] = p->images, v[1] = p->blocks, v[2] = (int64_t)p->pixels;
        v[3] = !strcmp(n->op, "BatchNormTrainingRelu");
    } else if (o->code == DENSE) {
        v[0] = p->images, v[1] = p->dense_rows, v[2] = p->dense_columns;
    } else if (o->code == FLAT) {
        v[0] = node_attr(n, "relu", 0, 0) == 1;
    } else if (o->code == SUM) {
        v[0] = p->images, v[1] = (int64_t)p->elements;
    } else if (o->code == SOFTMAX) {
        v[0] = (int64_t)p->elements;
    } else if (o->code == LOSS) {
        v[0] = (int64_t)p->elements * p->images, v[1] = p->images;
    }
    o->call.scale = (double)p->scale;
}

struct gpu_op *gpu_op_make(const struct graph *g, int node)
{
    const struct node *n = &g->node[node];
    struct gpu_op *o = xcalloc(1, sizeof *o);
    size_t k = 0;
    while (k < sizeof names / sizeof *names && strcmp(n->op, names[k].op)) k++;
    o->code = k < sizeof names / sizeof *names ? names[k].code : CONV;
    o->kernel = k < sizeof names / sizeof *names ? names[k].kernel : -1;
    if (!strcmp(n->op, "Dot")) {
        o->code = DENSE;
        o->kernel = node_attr(n, "grad_weights", 0, 0) == 1 ? K_dense_weights : K_dense_data;
    }
    if (o->kernel < 0 || node_extras(n))
        die("node '%s': GPUs have no kernel for operator '%s'%s; see place-net --study", n->name, n->op,
            node_extras(n) ? " with plus or mask" : "");
    if (n->nin + n->nout > GPU_OPERANDS && o->code != COPY)
        die("node '%s': more than %d operands", n->name, GPU_OPERANDS);
    struct op p = op_make(g, node);
    o->nin = n->nin;
    o->nout = n->nout;
    sizes(o, &p, n);
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        o->bytes[i] = t->bytes;
        o->pitch[i] = o->images > 0 ? (int64_t)(t->bytes / sizeof(float)) / o->images : 0;
        if (o->code == COPY && !strcmp(n->op, "Slice") && t->ndim == 4)
            o->from = (int64_t)node_attr(n, "from", 0, 0) * t->shape[2] * t->shape[3];
    }
    op_free(&p);
    return o;
}

void gpu_op_free(struct gpu_op *o) { free(o); }
int gpu_op_algorithms(const struct gpu_op *o) { return o->code == CONV || o->code == CONV_WEIGHTS ? 2 : 1; }

uint64_t gpu_op_workspace(const struct gpu_op *o, int algorithm)
{
    const int64_t *v = o->call.v;
    if (algorithm == 0) return 0;
    uint64_t window = (uint64_t)(v[V_IC] * v[V_KH] * v[V_KW]) * sizeof(float);
    return o->code == CONV ? window * (uint64_t)(v[V_OH] * v[V_OW]) : window * (uint64_t)(v[V_OC] * o->images);
}

static void launch(struct gpu *g, const struct gpu_op *o, int kernel, uint64_t threads, const gpu_memory *at, int n,
                   gpu_stream s)
{
    struct gpu_call c = o->call;
    c.threads = threads;
    for (int i = 0; i < n; i++) c.p[i] = (float *)(uintptr_t)at[i];
    gpu_launch(g, kernel, &c, s);
}

static void run_conv(struct gpu *g, const struct gpu_op *o, int algorithm, const gpu_memory *at, gpu_memory work,
                     gpu_stream s)
{
    const int64_t *v = o->call.v;
    uint64_t out = (uint64_t)(v[V_OH] * v[V_OW]), window = (uint64_t)(v[V_IC] * v[V_KH] * v[V_KW]),
             blocks = (uint64_t)v[V_OC] / BLOCK, images = (uint64_t)o->images;
    if (o->code == CONV_DATA) {
        launch(g, o, K_conv_data, images * (uint64_t)(v[V_IC] / BLOCK * v[V_IH] * v[V_IW]), at, 3, s);
    } else if (o->code == CONV && algorithm == 0) {
        launch(g, o, K_conv_direct, images * blocks * out, at, 4, s);
    } else if (o->code == CONV) {
        for (uint64_t i = 0; i < images; i++) {
            gpu_memory x = at[0] + i * (uint64_t)o->pitch[0] * sizeof(float),
                       y = at[3] + i * (uint64_t)o->pitch[3] * sizeof(float);
            launch(g, o, K_conv_columns, window * out, (gpu_memory[]){ x, work }, 2, s);
            launch(g, o, K_conv_product, blocks * out, (gpu_memory[]){ work, at[1], at[2], y }, 4, s);
        }
    } else {
        if (algorithm == 0) {
            launch(g, o, K_conv_weights, window * blocks, at, 3, s);
        } else {
            launch(g, o, K_conv_weights_image, images * window * blocks, (gpu_memory[]){ at[0], at[1], work }, 3, s);
            struct gpu_op sum = *o;
            sum.call.v[0] = o->images;
            launch(g, &sum, K_sum_images, window * blocks * BLOCK, (gpu_memory[]){ work, at[2] }, 2, s);
        }
        launch(g, o, K_conv_bias, blocks * BLOCK, (gpu_memory[]){ at[1], at[3] }, 2, s);
    }
}

/* inputs one after the other into an image of the output; or a part of every image of the input */
static void run_copy(struct gpu *g, const struct gpu_op *o, const gpu_memory *at, gpu_stream s)
{
    int64_t to = 0;
    for (int i = 0; i < o->nin; i++) {
        int64_t row = o->nin == 1 ? o->pitch[1] : o->pitch[i];
        struct gpu_op part = *o;
        part.call.v[0] = row, part.call.v[1] = o->pitch[i], part.call.v[2] = o->pitch[o->nin];
        gpu_memory from = at[i] + (uint64_t)(o->nin == 1 ? o->from : 0) * sizeof(float);
        launch(g, &part, K_copy_rows, (uint64_t)(row * o->images),
               (gpu_memory[]){ from, at[o->nin] + (uint64_t)to * sizeof(float) }, 2, s);
        to += row;
    }
}

static void gpu_op_run(struct gpu *g, const struct gpu_op *o, int algorithm, const gpu_memory *at, gpu_memory work,
                       gpu_stream s)
{
    uint64_t first = o->bytes[o->nin] / sizeof(float), channels = (uint64_t)o->call.v[1] * BLOCK;
    switch (o->code) {
    case CONV: case CONV_DATA: case CONV_WEIGHTS:
        run_conv(g, o, algorithm, at, work, s);
        break;
    case NORM:                                           /* gamma, beta, x -> y, mean, var */
        launch(g, o, K_norm_sums, channels, (gpu_memory[]){ at[2], at[4], at[5] }, 3, s);
        launch(g, o, K_norm_apply, first, at, 6, s);
        break;
    case NORM_GRAD:                                      /* gamma, beta, x, mean, var, dy -> dx, dgamma, dbeta */
        launch(g, o, K_norm_grad_sums, channels, (gpu_memory[]){ at[2], at[3], at[4], at[5], at[7], at[8] }, 6, s);
        launch(g, o, K_norm_grad_apply, first,
               (gpu_memory[]){ at[0], at[2], at[3], at[4], at[5], at[6], at[7], at[8] }, 8, s);
        break;
    case MAXPOOL_GRAD:                                   /* x, dy, index -> dx */
        launch(g, o, o->kernel, first, (gpu_memory[]){ at[o->nin - 2], at[o->nin - 1], at[o->nin] }, 3, s);
        break;
    case COPY:
        run_copy(g, o, at, s);
        break;
    case SOFTMAX:
        launch(g, o, o->kernel, (uint64_t)o->images, at, 2, s);
        break;
    case LOSS:
        launch(g, o, o->kernel, 1, at, 3, s);
        break;
    case MAXPOOL: case AVGPOOL: case AVGPOOL_GRAD: case FLAT: case DENSE: case SUM: case SUBTRACT:
        launch(g, o, o->kernel, first, at, o->nin + o->nout, s);
        break;
    }
}

/* ---- a step ---- */

struct job { const struct gpu_op *op; gpu_memory at[OP_OPERANDS], work; int algorithm; gpu_event begin, end; };
struct transfer_of { gpu_memory fast; char *slow; uint64_t bytes; gpu_event over; bool begun; };

struct gpu_engine {
    struct gpu *gpu;
    const struct graph *graph;
    const struct plan *plan;
    struct gpu_op **op;                                  /* by node */
    struct job *job;
    struct transfer_of *move;
    gpu_memory pool, args, kept;                         /* kept: from memory that the driver moves */
    char *slow;
    gpu_stream compute, copy;
    gpu_event reached;                                   /* by the stream of kernels */
    gpu_memory loss;
    bool beside;                                         /* moves in a stream of their own */
};

static const struct stay *stay_at(const struct plan *p, int tensor, enum plan_tier tier, int node, uint64_t bytes)
{
    const struct stay *s = plan_find(p, tensor, tier, node);
    uint64_t pool = tier == TIER_SLOW ? p->slow_bytes : p->fast_bytes;
    if (!s)
        die("%s: tensor %d has no place in %s memory at node %d", p->file, tensor, tier == TIER_SLOW ? "slow" : "fast",
            node);
    if (s->offset > pool || bytes > pool - s->offset)
        die("%s: tensor %d lies beyond the end of its pool", p->file, tensor);
    return s;
}

static void place_node(struct gpu_engine *e, int node, const uint64_t *args)
{
    const struct node *n = &e->graph->node[node];
    const struct plan_node *p = &e->plan->node[node];
    struct job *j = &e->job[node];
    *j = (struct job){ .op = e->op[node], .begin = gpu_event_new(e->gpu), .end = gpu_event_new(e->gpu) };
    if (strspn(p->in_tiers, "D") != (size_t)n->nin || strspn(p->out_tiers, "D") != (size_t)n->nout)
        die("%s: node %d '%s' has operands in slow memory, which a kernel on a GPU does not reach", e->plan->file, node,
            n->name);
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &e->graph->tensor[n->operand[i]];
        bool inside = t->role == ROLE_INTER;
        j->at[i] = inside ? e->pool + stay_at(e->plan, n->operand[i], TIER_FAST, node, t->bytes)->offset
                          : e->args + args[n->operand[i]];
    }
    j->algorithm = p->mode == EXEC_STAGED;
    uint64_t need = j->algorithm < gpu_op_algorithms(j->op) ? gpu_op_workspace(j->op, j->algorithm) : UINT64_MAX;
    if (need > p->staging)
        die("%s: node %d '%s' needs another workspace than the plan grants", e->plan->file, node, n->name);
    if (p->staging > e->plan->fast_bytes || p->staging_offset > e->plan->fast_bytes - p->staging)
        die("%s: the workspace of node %d is out of bounds", e->plan->file, node);
    j->work = e->pool + p->staging_offset;
}

static void place_moves(struct gpu_engine *e)
{
    const struct plan *p = e->plan;
    for (int i = 0; i < p->nmove; i++) {
        const struct plan_move *m = &p->move[i];
        uint64_t bytes = e->graph->tensor[m->tensor].bytes;
        bool to_fast = m->to == TIER_FAST;
        enum plan_tier other = to_fast ? TIER_SLOW : TIER_FAST;
        const struct stay *to = stay_at(p, m->tensor, m->to, m->before, bytes),
                          *from = plan_find(p, m->tensor, other, m->before - 1);
        if (!from) from = stay_at(p, m->tensor, other, m->before, bytes);
        const struct stay *fast = to_fast ? to : from, *slow = to_fast ? from : to;
        e->move[i] = (struct transfer_of){ e->pool + fast->offset, e->slow + slow->offset, bytes,
                                           gpu_event_new(e->gpu), false };
    }
}

struct gpu_engine *gpu_engine_open(struct gpu *gpu, const struct graph *g, const struct plan *p, bool managed,
                                   uint64_t limit, uint64_t seed)
{
    struct gpu_engine *e = xcalloc(1, sizeof *e);
    uint64_t args_bytes, *args = engine_arg_offsets(g, NULL, &args_bytes);
    *e = (struct gpu_engine){ .gpu = gpu, .graph = g, .plan = p, .beside = !strcmp(p->formulation, "async") };
    if (managed && p->nmove) die("%s: managed memory is for a plan without moves", p->file);
    e->op = xcalloc((size_t)g->nnode, sizeof *e->op);
    e->job = xcalloc((size_t)g->nnode, sizeof *e->job);
    e->move = xcalloc((size_t)p->nmove + 1, sizeof *e->move);
    for (int n = 0; n < g->nnode; n++) e->op[n] = gpu_op_make(g, n);
    e->compute = gpu_stream_new(gpu);
    e->copy = e->beside ? gpu_stream_new(gpu) : e->compute;
    e->reached = gpu_event_new(gpu);
    const uint64_t most = size_add(args_bytes, limit), left = gpu_free_bytes(gpu);
    if (managed && limit && left > most) e->kept = gpu_take(gpu, left - most, false, "what is over the limit");
    e->args = gpu_take(gpu, size_add(args_bytes, 1), managed, "what is no intermediate");
    e->pool = gpu_take(gpu, size_add(p->fast_bytes, 1), managed, "the plan's fast memory");
    e->slow = gpu_pinned(gpu, size_add(p->slow_bytes, 1));
    for (int n = 0; n < g->nnode; n++) place_node(e, n, args);
    place_moves(e);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER || t->updates >= 0) continue;
        char *host = xcalloc(1, size_add(t->bytes, 8));
        engine_draw_arg(host, g, i, seed);
        gpu_to_device(gpu, e->args + args[i], host, t->bytes, e->compute);
        gpu_finish(gpu, e->compute);
        free(host);
        if (!strcmp(t->name, "loss")) e->loss = e->args + args[i];
    }
    free(args);
    return e;
}

void gpu_engine_close(struct gpu_engine *e)
{
    for (int i = 0; i < e->plan->nmove; i++) gpu_event_free(e->gpu, e->move[i].over);
    for (int n = 0; n < e->graph->nnode; n++) {
        gpu_event_free(e->gpu, e->job[n].begin);
        gpu_event_free(e->gpu, e->job[n].end);
        free(e->op[n]);
    }
    gpu_event_free(e->gpu, e->reached);
    gpu_give(e->gpu, e->pool);
    gpu_give(e->gpu, e->args);
    if (e->kept) gpu_give(e->gpu, e->kept);
    gpu_pinned_free(e->gpu, e->slow);
    if (e->beside) gpu_stream_free(e->gpu, e->copy);
    gpu_stream_free(e->gpu, e->compute);
    free_all(e->op, e->job, e->move, e);
}

static void begin_move(struct gpu_engine *e, int i)
{
    struct transfer_of *m = &e->move[i];
    if (e->plan->move[i].to == TIER_FAST) gpu_to_device(e->gpu, m->fast, m->slow, m->bytes, e->copy);
    else gpu_to_host(e->gpu, m->slow, m->fast, m->bytes, e->copy);
    gpu_record(e->gpu, m->over, e->copy);
    m->begun = true;
}

/* Node n is next: moves that may begin are put into their stream, in the plan's order; one to fast memory after all to
 * slow memory that are over by the same node.  Then the kernels wait for those that must be over.  `first`: the first
 * move that is not begun; those of which the kernels have not waited yet follow from `*waited`. */
static void make_moves(struct gpu_engine *e, int n, int *first, int *waited)
{
    const struct plan *p = e->plan;
    bool asked = false;
    int held = INT32_MAX;                                /* a move to slow memory over by this node has not begun */
    for (int i = *first; i < p->nmove; i++) {
        const struct plan_move *m = &p->move[i];
        bool to_fast = m->to == TIER_FAST;
        if (e->move[i].begun) continue;
        if (m->begin > n || (to_fast && m->before >= held)) {
            if (!to_fast && m->before < held) held = m->before;
            continue;
        }
        if (!asked && e->beside) {
            gpu_record(e->gpu, e->reached, e->compute);
            gpu_wait(e->gpu, e->copy, e->reached);
        }
        asked = true;
        begin_move(e, i);
    }
    while (*first < p->nmove && e->move[*first].begun) ++*first;
    for (; *waited < p->nmove && p->move[*waited].before <= n; ++*waited)
        if (e->beside) gpu_wait(e->gpu, e->compute, e->move[*waited].over);
}

struct step_result gpu_engine_step(struct gpu_engine *e, double *node_seconds)
{
    struct step_result s = { .loss = NAN, .delay_seconds = NAN, .others_seconds = NAN };
    int first = 0, waited = 0;
    for (int i = 0; i < e->plan->nmove; i++) {
        bool to_fast = e->plan->move[i].to == TIER_FAST;
        *(to_fast ? &s.fetched_bytes : &s.evicted_bytes) += e->move[i].bytes;
        *(to_fast ? &s.read_bytes : &s.written_bytes) += e->move[i].bytes;
        e->move[i].begun = false;
        s.moves++;
    }
    double start = now_seconds();
    for (int n = 0; n < e->graph->nnode; n++) {
        struct job *j = &e->job[n];
        make_moves(e, n, &first, &waited);
        gpu_record(e->gpu, j->begin, e->compute);
        gpu_op_run(e->gpu, j->op, j->algorithm, j->at, j->work, e->compute);
        gpu_record(e->gpu, j->end, e->compute);
    }
    gpu_finish(e->gpu, e->compute);
    if (e->beside) gpu_finish(e->gpu, e->copy);
    s.seconds = now_seconds() - start;
    for (int n = 0; n < e->graph->nnode; n++) {
        double took = gpu_seconds(e->gpu, e->job[n].begin, e->job[n].end);
        s.kernel_seconds += took;
        if (node_seconds) node_seconds[n] = took;
    }
    s.move_seconds = s.seconds > s.kernel_seconds ? s.seconds - s.kernel_seconds : 0;
    float loss;
    if (e->loss) {
        gpu_to_host(e->gpu, &loss, e->loss, sizeof loss, e->compute);
        gpu_finish(e->gpu, e->compute);
        s.loss = loss;
        s.has_loss = true;
    }
    return s;
}

/* ---- times ---- */

double gpu_probe(struct gpu *g, const struct graph *graph, int node, int algorithm, long runs)
{
    struct gpu_op *o = gpu_op_make(graph, node);
    gpu_memory at[OP_OPERANDS], work = gpu_take(g, gpu_op_workspace(o, algorithm) + 1, false, "a workspace");
    gpu_stream s = gpu_stream_new(g);
    gpu_event from = gpu_event_new(g), to = gpu_event_new(g);
    double *took = xcalloc((size_t)runs + 1, sizeof *took);
    for (int i = 0; i < o->nin + o->nout; i++) {
        void *zero = xcalloc(1, size_add(o->bytes[i], 8));
        at[i] = gpu_take(g, size_add(o->bytes[i], 8), false, "an operand");
        gpu_to_device(g, at[i], zero, o->bytes[i], s);
        gpu_finish(g, s);
        free(zero);
    }
    for (long r = 0; r <= runs; r++) {                   /* the first is not counted */
        gpu_record(g, from, s);
        gpu_op_run(g, o, algorithm, at, work, s);
        gpu_record(g, to, s);
        gpu_finish(g, s);
        took[r] = gpu_seconds(g, from, to);
    }
    double m = median(took + 1, (size_t)runs);
    for (int i = 0; i < o->nin + o->nout; i++) gpu_give(g, at[i]);
    gpu_give(g, work);
    gpu_event_free(g, from);
    gpu_event_free(g, to);
    gpu_stream_free(g, s);
    free(took);
    free(o);
    return m;
}

double gpu_probe_move(struct gpu *g, uint64_t bytes, bool to_fast, long runs)
{
    gpu_memory at = gpu_take(g, bytes, false, "a copy");
    char *host = gpu_pinned(g, bytes);
    gpu_stream s = gpu_stream_new(g);
    gpu_event from = gpu_event_new(g), to = gpu_event_new(g);
    double *took = xcalloc((size_t)runs + 1, sizeof *took);
    memset(host, 0, bytes);
    for (long r = 0; r <= runs; r++) {
        gpu_record(g, from, s);
        if (to_fast) gpu_to_device(g, at, host, bytes, s);
        else gpu_to_host(g, host, at, bytes, s);
        gpu_record(g, to, s);
        gpu_finish(g, s);
        took[r] = gpu_seconds(g, from, to);
    }
    double m = median(took + 1, (size_t)runs);
    gpu_give(g, at);
    gpu_pinned_free(g, host);
    gpu_event_free(g, from);
    gpu_event_free(g, to);
    gpu_stream_free(g, s);
    free(took);
    return m;
}

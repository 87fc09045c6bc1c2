#include "place/engine.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/rng.h"
#include "place/mover.h"
#include "measure/clock.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job { struct op *op; struct place *place; char *staging; };   /* of a node: where its operands lie */

struct engine {
    const struct graph *graph;
    const struct plan *plan;
    struct op *op;                                       /* by kernel */
    struct job *job;
    struct copy *copy;
    char *pool, *args;
    uint64_t *arg_at;                                    /* by tensor: offset in args */
    bool *offloaded;                                     /* by tensor */
    uint64_t args_bytes, used;
    float *loss;
    struct tier *tier;
    struct calibration before;
    struct team *team;
    struct exec *exec;
    struct mover *mover;                                 /* NULL: moves are made between nodes */
};

static const double CALIBRATE = 0.2;                     /* seconds */

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* ---- what stays outside the pools ---- */

uint64_t *engine_arg_offsets(const struct graph *g, const bool *offloaded, uint64_t *total)
{
    uint64_t *at = xcalloc((size_t)g->ntensor, sizeof *at);
    *total = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER || t->updates >= 0 || (offloaded && offloaded[i])) continue;
        at[i] = *total;
        *total += round_up(t->bytes, OP_ALIGN);
    }
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].updates >= 0) at[i] = at[g->tensor[i].updates];
    return at;
}

uint64_t engine_beside_bytes(const struct graph *g, const bool *offloaded)
{
    /* libraries, threads' stacks, queues and scratch; for each node its operands' places, its stays and its row */
    static const uint64_t PROGRAM = 20 << 20, NODE = 4 << 10;
    uint64_t total;
    free(engine_arg_offsets(g, offloaded, &total));
    return total + PROGRAM + NODE * (uint64_t)g->nnode;
}

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && !strcmp(s + n - m, tail);
}

/* Uniform with the variance that keeps activations at their size through rectifiers, 2 / fan-in; dense layers a tenth
 * of that, so that the study's learning rates do not blow nets without normalisation up: infinities slow kernels. */
static void draw_weights(float *p, uint64_t n, const struct tensor *t, struct rng *r)
{
    double fan = 1;
    for (int d = 1; d < t->ndim; d++) fan *= (double)t->shape[d];
    float reach = (float)sqrt(6 / fan) * (t->ndim == 2 ? 0.1f : 1);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t u = rng_u64(r);
        p[i] = ((float)(u >> 40) * 0x1p-23f - 1) * reach;
    }
}

/* labels that are numbers of classes: as many classes as the logits have that they are compared with */
static void draw_classes(int32_t *p, const struct graph *g, int tensor, struct rng *r)
{
    for (int i = 0; i < g->nnode; i++) {
        const struct node *n = &g->node[i];
        if (strcmp(n->op, "NdLoss") != 0 || n->nin != 2 || n->operand[1] != tensor) continue;
        const struct tensor *logits = &g->tensor[n->operand[0]];
        uint64_t classes = (uint64_t)logits->shape[logits->ndim - 1];
        for (uint64_t k = 0; k < g->tensor[tensor].bytes / sizeof *p; k++) p[k] = (int32_t)rng_below(r, classes);
        return;
    }
}

/* the next n numbers of an arg, of labels all, into zeroed memory */
static void draw(float *p, uint64_t n, const struct graph *g, int tensor, struct rng *r)
{
    const struct tensor *t = &g->tensor[tensor];
    if (ends(t->name, ".weight")) {
        draw_weights(p, n, t, r);
    } else if (ends(t->name, ".scale")) {
        for (uint64_t i = 0; i < n; i++) p[i] = 1;
    } else if (!strcmp(t->name, "labels") && !strcmp(t->dtype, "i32")) {
        draw_classes((int32_t *)(void *)p, g, tensor, r);
    } else if (!strcmp(t->name, "labels")) {
        uint64_t classes = (uint64_t)t->shape[t->ndim - 1];
        for (uint64_t i = 0; i + classes <= n; i += classes) p[i + rng_below(r, classes)] = 1;
    } else if (!strcmp(t->name, "input")) {
        for (uint64_t i = 0; i < n; i++)
            p[i] = (float)rng_normal(r) / 16; /* small, or nets without normalisation diverge */
    }
}

void engine_draw_arg(char *at, const struct graph *g, int tensor, uint64_t seed)
{
    struct rng r = rng_for(seed, str_of(g->tensor[tensor].name));
    draw((float *)(void *)at, g->tensor[tensor].bytes / sizeof(float), g, tensor, &r);
}

/* ---- from plan to addresses ---- */

static const struct stay *stay_at(const struct engine *e, int tensor, enum plan_tier tier, int node, const char *what)
{
    const struct stay *s = plan_find(e->plan, tensor, tier, node);
    if (!s)
        die("%s: tensor %d '%s' has no place in %s memory at node %d, where %s needs it", e->plan->file, tensor,
            e->graph->tensor[tensor].name, tier == TIER_SLOW ? "slow" : "fast", node, what);
    uint64_t pool = tier == TIER_SLOW ? e->plan->slow_bytes : e->plan->fast_bytes,
             bytes = e->graph->tensor[tensor].bytes;
    if (s->offset > pool || bytes > pool - s->offset)
        die("%s: tensor %d '%s' lies beyond the end of its pool", e->plan->file, tensor, e->graph->tensor[tensor].name);
    if (tier == TIER_SLOW && s->offset % OP_ALIGN)
        die("%s: slow offset %llu is not a multiple of %d", e->plan->file, (unsigned long long)s->offset, OP_ALIGN);
    return s;
}

/* `from` and `scale` change what a kernel does, not its time: nodes of one kernel may differ in them */
static struct op *op_of(const struct engine *e, int node)
{
    const struct graph *g = e->graph;
    const struct node *n = &g->node[node], *first = &g->node[g->kernel[n->kernel].node];
    bool same = node_attr(n, "from", 0, 0) == node_attr(first, "from", 0, 0)
        && node_attr(n, "scale", 0, 0) == node_attr(first, "scale", 0, 0);
    if (same) return &e->op[n->kernel];
    struct op *own = xmalloc(1, sizeof *own);
    *own = op_make(g, node);
    return own;
}

static void place_node(struct engine *e, int node, const uint64_t *args)
{
    const struct node *n = &e->graph->node[node];
    const struct plan_node *pn = &e->plan->node[node];
    struct job *j = &e->job[node];
    const struct op *op = j->op = op_of(e, node);
    uint32_t slow = 0;
    j->place = xcalloc(size_add((size_t)n->nin, (size_t)n->nout), sizeof *j->place);
    if (strlen(pn->in_tiers) != (size_t)n->nin || strlen(pn->out_tiers) != (size_t)n->nout)
        die("%s: node %d has other operands", e->plan->file, node);
    for (int i = 0; i < n->nin + n->nout; i++) {
        int t = n->operand[i];
        bool is_slow = (i < n->nin ? pn->in_tiers[i] : pn->out_tiers[i - n->nin]) == 'P',
             arg = e->graph->tensor[t].role != ROLE_INTER;
        if (arg && e->offloaded[graph_home(e->graph, t)] != is_slow)
            die("%s: node %d '%s' has '%s' in another tier than it lies in", e->plan->file, node, n->name,
                e->graph->tensor[t].name);
        if (arg && !is_slow) {
            j->place[i].fast = e->args + args[t];
            continue;
        }
        if (arg) t = graph_home(e->graph, t);
        const struct stay *s = stay_at(e, t, is_slow ? TIER_SLOW : TIER_FAST, node, n->name);
        j->place[i] = (struct place){ is_slow, is_slow ? NULL : e->pool + s->offset, s->offset };
        if (is_slow) slow |= 1u << i;
    }
    if (!slow) return;
    uint64_t need = exec_staging(op, slow, (enum exec_mode)pn->mode);
    if (pn->mode == EXEC_DIRECT)
        die("%s: node %d '%s' has operands in slow memory, which this engine cannot reach directly", e->plan->file,
            node, n->name);
    if (need > pn->staging)
        die("%s: node %d '%s' needs %llu bytes of staging, the plan grants %llu", e->plan->file, node, n->name,
            (unsigned long long)need, (unsigned long long)pn->staging);
    if (pn->staging > e->plan->fast_bytes || pn->staging_offset > e->plan->fast_bytes - pn->staging ||
        pn->staging_offset % OP_ALIGN)
        die("%s: the staging area of node %d is out of bounds", e->plan->file, node);
    j->staging = e->pool + pn->staging_offset;
}

static void place_moves(struct engine *e)
{
    const struct plan *p = e->plan;
    e->copy = xcalloc((size_t)p->nmove + 1, sizeof *e->copy);
    for (int i = 0; i < p->nmove; i++) {
        const struct plan_move *m = &p->move[i];
        bool to_fast = m->to == TIER_FAST;
        const struct stay *to = stay_at(e, m->tensor, m->to, m->before, "a move");
        const struct stay *from = plan_find(p, m->tensor, to_fast ? TIER_SLOW : TIER_FAST, m->before - 1);
        if (!from) from = stay_at(e, m->tensor, to_fast ? TIER_SLOW : TIER_FAST, m->before, "a move");
        const struct stay *fast = to_fast ? to : from, *slow = to_fast ? from : to;
        e->copy[i] = (struct copy){ m->before, m->begin, to_fast, e->pool + fast->offset, slow->offset,
                                    (size_t)round_up(e->graph->tensor[m->tensor].bytes, tier_align(e->tier)) };
        if (i && m->before < p->move[i - 1].before) die("%s: moves are out of order", p->file);
    }
}

/* most bytes in use at a node: what lives there and its staging */
uint64_t engine_most_used(const struct graph *g, const struct plan *p)
{
    int64_t *change = xcalloc((size_t)g->nnode + 1, sizeof *change);
    for (int i = 0; i < p->nstay; i++) {
        if (p->stay[i].tier != TIER_FAST) continue;
        change[p->stay[i].first] += (int64_t)g->tensor[p->stay[i].tensor].bytes;
        change[p->stay[i].last + 1] -= (int64_t)g->tensor[p->stay[i].tensor].bytes;
    }
    int64_t live = 0, most = 0;
    for (int n = 0; n < g->nnode; n++) {
        live += change[n];
        if (live + (int64_t)p->node[n].staging > most) most = live + (int64_t)p->node[n].staging;
    }
    free(change);
    return (uint64_t)most;
}

/* bytes of an offloaded parameter from `done` on, a multiple of OP_ALIGN */
static void copy_offloaded(struct engine *e, int tensor, uint64_t done, const void *put, void *get, size_t bytes)
{
    uint64_t at = stay_at(e, tensor, TIER_SLOW, 0, "the step")->offset + done, room = round_up(bytes, OP_ALIGN);
    char *copy = pages(room);
    if (put) memcpy(copy, put, bytes);
    tier_copy(e->tier, put, copy, at, (size_t)room);
    if (get) memcpy(get, copy, bytes);
    pages_free(copy, room);
}

/* in parts: all of it may be more than there is memory */
static void draw_offloaded(struct engine *e, int tensor, uint64_t seed)
{
    enum { PART = 1 << 20 };
    const struct tensor *t = &e->graph->tensor[tensor];
    struct rng r = rng_for(seed, str_of(t->name));
    for (uint64_t done = 0; done < t->bytes; done += PART) {
        float *part = xcalloc(1, PART);
        size_t bytes = t->bytes - done < PART ? (size_t)(t->bytes - done) : PART;
        draw(part, bytes / sizeof *part, e->graph, tensor, &r);
        copy_offloaded(e, tensor, done, part, NULL, bytes);
        free(part);
    }
}

static char *memory(const char *paged, size_t bytes) { return paged ? pages_paged(paged, bytes) : pages(bytes); }

struct engine *engine_open(const struct graph *g, const struct plan *p, const struct kernels *k, int threads,
                           const char *tier, uint64_t seed, unsigned delay, const char *paged)
{
    struct engine *e = xcalloc(1, sizeof *e);
    e->graph = g;
    e->plan = p;
    e->offloaded = plan_offloaded(p, g);
    uint64_t *args = e->arg_at = engine_arg_offsets(g, e->offloaded, &e->args_bytes);
    e->op = xcalloc((size_t)g->nkernel, sizeof *e->op);
    for (int i = 0; i < g->nkernel; i++) e->op[i] = op_make(g, g->kernel[i].node);
    e->pool = memory(paged, p->fast_bytes + OP_ALIGN);
    e->args = memory(paged, e->args_bytes + OP_ALIGN);
    e->job = xcalloc((size_t)g->nnode, sizeof *e->job);
    for (int i = 0; i < g->nnode; i++) place_node(e, i, args);
    team_keep_off(pthread_self(), threads);              /* the threads of tier and mover */
    e->tier = tier_open(tier, p->slow_bytes);
    e->before = tier_bytes(e->tier) ? tier_calibrate(e->tier, CALIBRATE)
                                    : (struct calibration){ NAN, NAN, NAN, NAN };
    place_moves(e);
    e->used = engine_most_used(g, p);
    if (!strcmp(p->formulation, "async") && p->nmove > 0) e->mover = mover_start(e->tier, e->copy, p->nmove, delay);
    e->team = team_start(threads);
    e->exec = exec_new(k, e->team, e->tier);
    memset(e->pool, 1, p->fast_bytes);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER || t->updates >= 0) continue;
        if (e->offloaded[i]) {
            draw_offloaded(e, i, seed);
            continue;
        }
        engine_draw_arg(e->args + args[i], g, i, seed);
        if (!strcmp(t->name, "loss")) e->loss = (float *)(void *)(e->args + args[i]);
    }
    return e;
}

void engine_put(struct engine *e, int tensor, const void *from)
{
    size_t bytes = (size_t)e->graph->tensor[tensor].bytes;
    if (e->offloaded[tensor]) copy_offloaded(e, tensor, 0, from, NULL, bytes);
    else memcpy(e->args + e->arg_at[tensor], from, bytes);
}

void engine_get(struct engine *e, int tensor, void *to)
{
    size_t bytes = (size_t)e->graph->tensor[tensor].bytes;
    if (e->offloaded[tensor]) copy_offloaded(e, tensor, 0, NULL, to, bytes);
    else memcpy(to, e->args + e->arg_at[tensor], bytes);
}

void engine_close(struct engine *e)
{
    mover_stop(e->mover);
    for (int i = 0; i < e->graph->nnode; i++) {
        struct op *op = e->job[i].op;
        free(e->job[i].place);
        if (op == &e->op[e->graph->node[i].kernel]) continue;
        op_free(op);
        free(op);
    }
    for (int i = 0; i < e->graph->nkernel; i++) op_free(&e->op[i]);
    exec_free(e->exec);
    team_stop(e->team);
    tier_close(e->tier);
    pages_free(e->pool, e->plan->fast_bytes + OP_ALIGN);
    pages_free(e->args, e->args_bytes + OP_ALIGN);
    free_all(e->arg_at, e->offloaded, e->op, e->job, e->copy, e);
}

/* copies before a node from `i` on: first those to slow memory, which may make room for the others */
static int make_moves(struct engine *e, int i, int node)
{
    int end = i;
    while (end < e->plan->nmove && e->copy[end].before == node) end++;
    if (end == i) return end;
    for (int to_fast = 0; to_fast < 2; to_fast++) {
        struct transfer t = { 0 };
        for (int k = i; k < end; k++) {
            const struct copy *c = &e->copy[k];
            if (c->to_fast != to_fast) continue;
            tier_start(e->tier, &t, !to_fast, c->fast, c->offset, c->bytes);
        }
        tier_finish(e->tier, &t);
    }
    return end;
}

struct step_result engine_step(struct engine *e, double *node_seconds)
{
    struct step_result s = { .loss = NAN };
    uint64_t read = tier_moved(e->tier, false), written = tier_moved(e->tier, true);
    for (int i = 0; i < e->plan->nmove; i++) {
        const struct copy *c = &e->copy[i];
        *(c->to_fast ? &s.fetched_bytes : &s.evicted_bytes) += e->graph->tensor[e->plan->move[i].tensor].bytes;
        s.moves++;
    }
    if (e->mover) mover_begin(e->mover);
    double delay = core_delays(), others = others_seconds();
    double start = now_seconds();
    for (int n = 0, move = 0; n < e->graph->nnode; n++) {
        double wait = now_seconds();
        if (e->mover) mover_reach(e->mover, n);
        else move = make_moves(e, move, n);
        double from = now_seconds();
        s.move_seconds += from - wait;
        exec_run(e->exec, e->job[n].op, e->job[n].place, (enum exec_mode)e->plan->node[n].mode,
                 e->job[n].staging);
        double took = now_seconds() - from;
        s.kernel_seconds += took;
        if (node_seconds) node_seconds[n] = took;
    }
    s.seconds = now_seconds() - start;
    s.delay_seconds = core_delays() - delay;
    others = others_seconds() - others;
    s.others_seconds = others < 0 ? 0 : others;          /* in ticks */
    s.read_bytes = tier_moved(e->tier, false) - read;
    s.written_bytes = tier_moved(e->tier, true) - written;
    s.has_loss = e->loss != NULL;
    if (e->loss) s.loss = *e->loss;
    return s;
}

const struct tier *engine_tier(const struct engine *e) { return e->tier; }
uint64_t engine_fast_bytes(const struct engine *e) { return e->used; }
uint64_t engine_scratch_bytes(const struct engine *e) { return exec_scratch(e->exec); }
struct calibration engine_calibration(const struct engine *e) { return e->before; }

#include "rl/r2d2.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "rl/checkpoint.h"
#include "rl/gradient.h"
#include "rl/sumtree.h"
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOES_ON, ENDED, CUT };
static const double PRIORITY_FLOOR = 1e-3;

struct step { uint32_t mask; int16_t action; uint8_t end, first; float reward; };    /* the last of an episode: -1 */

struct r2d2_inside {
    struct agent target;
    struct adam adam[3];                                 /* of layers, cell and head */
    struct rng rng;
    float *x, *h;                                        /* rings: observations, states before the step */
    struct step *step;
    struct sumtree tree;                                 /* priorities of the sequences that begin there */
    long at, used;
    double top;
    long window;                                         /* burn + length + nstep */
    float *now, *h0, *q, *q2, *d;                        /* batches: row t * batch + i */
    long *pick;
    int *valid, *first;                                  /* steps of a sequence that exist; where learning begins */
    double *weight;
};

struct r2d2_options r2d2_defaults(void)
{
    return (struct r2d2_options){ .hidden = 64, .embed = 64, .cell = 64, .gamma = 0.99, .rate = 1e-3, .clip = 10,
                                  .batch = 32, .length = 16, .burn = 8, .nstep = 3, .capacity = 50000, .warmup = 1000,
                                  .every = 4, .target = 100, .explore = 1, .explore_last = 0.02,
                                  .explore_steps = 10000, .priority = 0.6, .correction = 0.6, .seed = 1 };
}

static struct agent agent_new(const struct r2d2_options *o, const struct environment *e)
{
    int rows = (int)(o->batch * (o->burn + o->length + o->nstep));
    openblas_set_num_threads(1);
    return (struct agent){ .kind = AGENT_MEMORY, .dueling = true, .inputs = e->inputs, .actions = e->actions,
                           .memory = o->cell,
                           .net = net_new((int[]){ e->inputs, o->hidden, o->embed }, 3, rows, o->seed),
                           .cell = gru_new(o->embed, o->cell, (int)o->batch, rows / (int)o->batch, o->seed),
                           .head = net_new((int[]){ o->cell, e->actions + 1 }, 2, rows, o->seed + 1) };
}

static long push(struct r2d2 *q, const float *x, const float *h, uint32_t mask, bool first)
{
    struct r2d2_inside *r = q->in;
    long i = r->at;
    memcpy(r->x + i * q->env.inputs, x, (size_t)q->env.inputs * sizeof *x);
    memcpy(r->h + i * q->o.cell, h, (size_t)q->o.cell * sizeof *h);
    r->step[i] = (struct step){ .mask = mask, .action = -1, .first = first };
    sumtree_set(&r->tree, i, 0);
    r->at = (i + 1) % q->o.capacity;
    if (r->used < q->o.capacity) r->used++;
    return i;
}

/* windows into the batch, as long as their episodes last */
static void lay(struct r2d2 *q)
{
    struct r2d2_inside *r = q->in;
    long n = q->o.batch, in = q->env.inputs, h = q->o.cell;
    memset(r->now, 0, (size_t)(r->window * n * in) * sizeof *r->now);
    for (long b = 0; b < n; b++) {
        long i = r->pick[b];
        memcpy(r->h0 + b * h, r->h + i * h, (size_t)h * sizeof *r->h);
        r->first[b] = r->step[i].first ? 0 : (int)q->o.burn;
        r->valid[b] = 0;
        for (long t = 0; t < r->window; t++) {
            memcpy(r->now + (t * n + b) * in, r->x + i * in, (size_t)in * sizeof *r->x);
            r->valid[b]++;
            if (r->step[i].action < 0) break;
            i = (i + 1) % q->o.capacity;
        }
    }
}

static void unroll(const struct r2d2 *q, const struct agent *g, float *out)
{
    struct r2d2_inside *r = q->in;
    int n = (int)q->o.batch, rows = (int)r->window * n;
    const float *e = net_forward(g->net, r->now, rows);
    const float *h = gru_forward(g->cell, e, r->h0, n, (int)r->window);
    agent_duel(net_forward(g->head, h, rows), rows, q->env.actions, true, out);
}

/* the n-step goal of step t of sequence b, whose values are in q and q2 */
static double goal(const struct r2d2 *q, long b, long t)
{
    const struct r2d2_inside *r = q->in;
    double sum = 0, g = 1;
    for (long k = 0; k < q->o.nstep; k++, t++) {
        const struct step *s = &r->step[(r->pick[b] + t) % q->o.capacity];
        sum += g * (double)s->reward;
        g *= q->o.gamma;
        if (s->end == ENDED) return sum;
        if (s->end == CUT) {
            t++;
            break;
        }
    }
    uint32_t mask = r->step[(r->pick[b] + t) % q->o.capacity].mask;
    long row = (t * q->o.batch + b) * q->env.actions;
    int best = policy_best(r->q + row, mask, q->env.actions);
    return best < 0 ? sum : sum + g * (double)r->q2[row + best];
}

static void backward(struct r2d2 *q)
{
    struct r2d2_inside *r = q->in;
    struct agent *g = &q->online;
    int n = (int)q->o.batch, rows = (int)r->window * n;
    agent_through_duel(r->d, rows, q->env.actions, true);
    net_backward(g->head, r->d, rows, 1);
    gru_backward(g->cell, g->head->delta[0], r->first, n, (int)r->window);
    net_backward(g->net, g->cell->d_x, rows, 0);
    adam_step(&r->adam[0], g->net->weight, g->net->gradient);
    adam_step(&r->adam[1], g->cell->weight, g->cell->gradient);
    adam_step(&r->adam[2], g->head->weight, g->head->gradient);
}

static double learn(struct r2d2 *q)
{
    struct r2d2_inside *r = q->in;
    const struct r2d2_options *o = &q->o;
    long n = o->batch, acts = q->env.actions, learned = 0;
    double total = r->tree.sum[1], heaviest = 0, loss = 0;
    for (long b = 0; b < n; b++) {
        long i = r->pick[b] = sumtree_find(&r->tree, total * ((double)b + rng_unit(&r->rng)) / (double)n);
        r->weight[b] = pow(sumtree_get(&r->tree, i) / total, -o->correction);
        heaviest = fmax(heaviest, r->weight[b]);
    }
    lay(q);
    unroll(q, &r->target, r->q2);
    unroll(q, &q->online, r->q);
    memset(r->d, 0, (size_t)(r->window * n * (acts + 1)) * sizeof *r->d);
    for (long b = 0; b < n; b++)
        for (long t = r->first[b]; t < r->first[b] + o->length && t < r->valid[b]; t++)
            learned += r->step[(r->pick[b] + t) % o->capacity].action >= 0;
    for (long b = 0; b < n; b++) {
        double most = 0, mean = 0, count = 0;
        for (long t = r->first[b]; t < r->first[b] + o->length && t < r->valid[b]; t++) {
            const struct step *s = &r->step[(r->pick[b] + t) % o->capacity];
            if (s->action < 0) break;
            long row = (t * n + b) * acts;
            double error = (double)r->q[row + s->action] - goal(q, b, t), size = fabs(error);
            double w = r->weight[b] / heaviest / (double)learned;
            loss += w * (size < 1 ? error * error / 2 : size - 0.5);
            r->d[row + s->action] = (float)(w * fmax(-1, fmin(1, error)));
            most = fmax(most, size);
            mean += size;
            count++;
        }
        double p = pow(0.9 * most + 0.1 * mean / fmax(1, count) + PRIORITY_FLOOR, o->priority);
        r->top = fmax(r->top, p);
        sumtree_set(&r->tree, r->pick[b], p);
    }
    backward(q);
    if (++q->updates % o->target == 0) agent_copy(&r->target, &q->online);
    return loss;
}

double r2d2_explore(const struct r2d2 *q)
{
    double share = q->o.explore_steps ? fmin(1, (double)q->steps / (double)q->o.explore_steps) : 1;
    return q->o.explore + (q->o.explore_last - q->o.explore) * share;
}

struct r2d2_episode r2d2_episode(struct r2d2 *q)
{
    struct r2d2_inside *r = q->in;
    struct r2d2_episode e = { 0 };
    long stride = q->o.length / 2 > 1 ? q->o.length / 2 : 1, learned = 0;
    float *x = xmalloc((size_t)q->env.inputs, sizeof *x), *h = xcalloc((size_t)q->o.cell, sizeof *h), v[ENV_ACTIONS];
    uint32_t mask = 0;
    uint8_t end = GOES_ON;
    q->env.reset(q->env.self, &r->rng, x, &mask);
    long i = push(q, x, h, mask, true), begin = i;
    while (mask && end == GOES_ON) {
        bool ended = false;
        agent_values(&q->online, x, &mask, 1, v, h);     /* also when it is not asked: the memory goes on */
        int a = rng_unit(&r->rng) < r2d2_explore(q) ? environment_any(&r->rng, q->env.actions, mask)
                                                    : policy_best(v, mask, q->env.actions);
        double reward = q->env.step(q->env.self, a, x, &mask, &ended);
        struct step *s = &r->step[i];
        s->action = (int16_t)a;
        s->reward = (float)reward;
        e.total += reward;
        e.steps++;
        q->steps++;
        end = s->end = ended || !mask ? ENDED : e.steps >= q->env.limit ? CUT : GOES_ON;
        i = push(q, x, h, mask, false);
        if (q->steps < q->o.warmup || q->steps % q->o.every || r->tree.sum[1] <= 0) continue;
        e.loss += learn(q);
        learned++;
    }
    for (long t = 0; t < e.steps; t += stride) sumtree_set(&r->tree, (begin + t) % q->o.capacity, r->top);
    q->episodes++;
    e.loss = learned ? e.loss / (double)learned : NAN;
    free(x);
    free(h);
    return e;
}

double r2d2_greedy(struct r2d2 *q, struct rng *rng)
{
    float *x = xmalloc((size_t)q->env.inputs, sizeof *x), *h = xcalloc((size_t)q->o.cell, sizeof *h), v[ENV_ACTIONS];
    uint32_t mask = 0;
    double total = 0;
    bool ended = false;
    q->env.reset(q->env.self, rng, x, &mask);
    for (long n = 0; mask && !ended && n < q->env.limit; n++) {
        agent_values(&q->online, x, &mask, 1, v, h);
        total += q->env.step(q->env.self, policy_best(v, mask, q->env.actions), x, &mask, &ended);
    }
    free(x);
    free(h);
    return total;
}

/* ---- its life ---- */

struct r2d2 *r2d2_new(const struct environment *env, const struct r2d2_options *o)
{
    if (env->actions < 1 || env->actions > ENV_ACTIONS)
        die("r2d2: %d actions, 1 to %d can be", env->actions, ENV_ACTIONS);
    struct r2d2 *q = xcalloc(1, sizeof *q);
    struct r2d2_inside *r = q->in = xcalloc(1, sizeof *r);
    q->o = *o;
    q->env = *env;
    r->window = o->burn + o->length + o->nstep;
    if (o->capacity < 2 * (env->limit + 1) + r->window)
        die("r2d2: a replay of %ld steps has no room for two episodes of %ld", o->capacity, env->limit);
    q->online = agent_new(o, env);
    r->target = agent_new(o, env);
    size_t part[3] = { q->online.net->size, q->online.cell->size, q->online.head->size };
    for (int i = 0; i < 3; i++) {
        r->adam[i] = adam_new(part[i], (float)o->rate);
        r->adam[i].clip = (float)o->clip;
    }
    r->rng = rng_for(o->seed, str_of("r2d2"));
    r->tree = sumtree_new(o->capacity);
    r->top = 1;
    size_t cap = (size_t)o->capacity, n = (size_t)o->batch, rows = n * (size_t)r->window, in = (size_t)env->inputs,
           out = (size_t)env->actions + 1;
    r->x = xcalloc(size_mul(cap, in), sizeof *r->x);
    r->h = xcalloc(size_mul(cap, (size_t)o->cell), sizeof *r->h);
    r->step = xcalloc(cap, sizeof *r->step);
    r->now = xmalloc(size_mul(rows, in), sizeof *r->now);
    r->h0 = xmalloc(size_mul(n, (size_t)o->cell), sizeof *r->h0);
    r->q = xmalloc(size_mul(rows, out), sizeof *r->q);
    r->q2 = xmalloc(size_mul(rows, out), sizeof *r->q2);
    r->d = xmalloc(size_mul(rows, out), sizeof *r->d);
    r->pick = xmalloc(n, sizeof *r->pick);
    r->valid = xmalloc(n, sizeof *r->valid);
    r->first = xmalloc(n, sizeof *r->first);
    r->weight = xmalloc(n, sizeof *r->weight);
    return q;
}

void r2d2_free(struct r2d2 *q)
{
    struct r2d2_inside *r = q->in;
    void *all[] = { r->x, r->h, r->step, r->now, r->h0, r->q, r->q2, r->d, r->pick, r->valid, r->first, r->weight };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    for (int i = 0; i < 3; i++) adam_free(&r->adam[i]);
    sumtree_free(&r->tree);
    agent_free(&r->target);
    agent_free(&q->online);
    free(r);
    free(q);
}

void r2d2_begin(struct r2d2 *q, const struct agent *g)
{
    agent_copy(&q->online, g);
    agent_copy(&q->in->target, g);
}

/* ---- checkpoints ---- */

static uint64_t task_of(const struct r2d2 *q, const char *what)
{
    const struct r2d2_options *o = &q->o;
    struct buf b = { 0 };
    buf_format(&b, "%s|%d %d %ld|%d %d %d|%.17g %.17g %.17g|%ld %ld %ld %ld %ld %ld %ld %ld|", what, q->env.inputs,
               q->env.actions, q->env.limit, o->hidden, o->embed, o->cell, o->gamma, o->rate, o->clip, o->batch,
               o->length, o->burn, o->nstep, o->capacity, o->warmup, o->every, o->target);
    buf_format(&b, "%.17g %.17g %.17g %.17g %llu", o->explore, o->explore_last, o->priority, o->correction,
               (unsigned long long)o->seed);
    uint64_t h = hash_bytes(b.s, b.n, 0);
    free(b.s);
    return h;
}

static void items(struct r2d2 *q, struct checkpoint *c)
{
    struct r2d2_inside *r = q->in;
    struct { long steps, updates, episodes, adam, at, used; double top; struct rng rng; } n = {
        q->steps, q->updates, q->episodes, r->adam[0].steps, r->at, r->used, r->top, r->rng };
    checkpoint_item(c, &n, sizeof n);
    if (n.used < 0 || n.used > q->o.capacity || n.at < 0 || n.at >= q->o.capacity) checkpoint_damaged(c);
    q->steps = n.steps, q->updates = n.updates, q->episodes = n.episodes;
    r->at = n.at, r->used = n.used, r->top = n.top, r->rng = n.rng;
    float *on[] = { q->online.net->weight, q->online.cell->weight, q->online.head->weight };
    float *target[] = { r->target.net->weight, r->target.cell->weight, r->target.head->weight };
    size_t used = (size_t)r->used;
    for (int i = 0; i < 3; i++) {
        size_t bytes = r->adam[i].size * sizeof(float);
        r->adam[i].steps = n.adam;
        checkpoint_item(c, on[i], bytes);
        checkpoint_item(c, target[i], bytes);
        checkpoint_item(c, r->adam[i].first, bytes);
        checkpoint_item(c, r->adam[i].second, bytes);
    }
    checkpoint_item(c, r->x, used * (size_t)q->env.inputs * sizeof *r->x);
    checkpoint_item(c, r->h, used * (size_t)q->o.cell * sizeof *r->h);
    checkpoint_item(c, r->step, used * sizeof *r->step);
    checkpoint_item(c, r->tree.sum + r->tree.leaves, used * sizeof *r->tree.sum);
}

void r2d2_save(struct r2d2 *q, const char *path, const char *what)
{
    struct checkpoint *c = checkpoint_create(path, "r2d2", task_of(q, what));
    items(q, c);
    checkpoint_close(c);
}

bool r2d2_load(struct r2d2 *q, const char *path, const char *what)
{
    struct checkpoint *c = checkpoint_open(path, "r2d2", task_of(q, what));
    if (!c) return false;
    items(q, c);
    checkpoint_close(c);
    sumtree_again(&q->in->tree);
    return true;
}

#include "rl/dqn.h"
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

struct dqn_inside {
    struct agent target;
    struct adam adam;
    struct rng rng;
    float *x;                                            /* capacity x inputs: a ring */
    struct dqn_record *frame;
    struct sumtree tree;                                 /* priorities */
    long at, used;
    double top;                                          /* the largest priority so far */
    float *now, *then, *q, *q2, *d;                      /* batches */
    long *pick;
    double *weight;
};

struct dqn_options dqn_defaults(void)
{
    return (struct dqn_options){ .hidden = { 128, 128 }, .nhidden = 2, .gamma = 0.99, .rate = 1e-3, .clip = 10,
                                 .batch = 64, .nstep = 3, .capacity = 50000, .warmup = 1000, .every = 1, .target = 250,
                                 .explore = 1, .explore_last = 0.02, .explore_steps = 10000, .priority = 0.6,
                                 .correction = 0.4, .correction_steps = 50000, .twin = true, .dueling = true,
                                 .seed = 1 };
}

/* ---- the network ---- */

static struct agent agent_new(const struct dqn_options *o, const struct environment *e, int batch)
{
    int width[DQN_HIDDEN + 2] = { e->inputs };
    for (int l = 0; l < o->nhidden; l++) width[l + 1] = o->hidden[l];
    width[o->nhidden + 1] = e->actions + o->dueling;
    openblas_set_num_threads(1);
    return (struct agent){ .kind = AGENT_VALUES, .dueling = o->dueling, .inputs = e->inputs, .actions = e->actions,
                           .net = net_new(width, o->nhidden + 2, batch, o->seed) };
}

/* ---- replay ---- */

static long push(struct dqn *q, const float *x, uint32_t mask)
{
    struct dqn_inside *r = q->in;
    long i = r->at;
    memcpy(r->x + (size_t)i * (size_t)q->env.inputs, x, (size_t)q->env.inputs * sizeof *x);
    r->frame[i] = (struct dqn_record){ .mask = mask, .action = -1 };
    sumtree_set(&r->tree, i, 0);
    r->at = (i + 1) % q->o.capacity;
    if (r->used < q->o.capacity) r->used++;
    return i;
}

static long back(const struct dqn *q, long i, long n)    /* the place n states before i */
{
    return (i - n + q->o.capacity) % q->o.capacity;
}

/* n-step return from place i; *to: where to bootstrap from, -1: the episode ended; *discount: for it */
static double gain(const struct dqn *q, long i, long *to, double *discount)
{
    double sum = 0, g = 1;
    for (long k = 0; k < q->o.nstep; k++) {
        const struct dqn_record *f = &q->in->frame[i];
        sum += g * (double)f->reward;
        g *= q->o.gamma;
        i = (i + 1) % q->o.capacity;
        if (f->end == GOES_ON) continue;
        if (f->end == ENDED) i = -1;
        break;
    }
    *to = i;
    *discount = g;
    return sum;
}

/* ---- learning ---- */

static void values(const struct agent *g, const float *x, long n, float *q)
{
    agent_values(g, x, NULL, (int)n, q);
}

double dqn_learn(struct dqn *q)
{
    struct dqn_inside *r = q->in;
    const struct dqn_options *o = &q->o;
    size_t in = (size_t)q->env.inputs;
    int acts = q->env.actions;
    double share = o->correction_steps ? fmin(1, (double)q->updates / (double)o->correction_steps) : 1;
    double beta = o->correction + (1 - o->correction) * share, total = r->tree.sum[1], heaviest = 0, loss = 0;
    for (long b = 0; b < o->batch; b++) {                /* one from each of equal slices of the priorities' sum */
        long i = r->pick[b] = sumtree_find(&r->tree, total * ((double)b + rng_unit(&r->rng)) / (double)o->batch), to;
        r->weight[b] = pow(sumtree_get(&r->tree, i) / total * (double)r->used, -beta);
        heaviest = fmax(heaviest, r->weight[b]);
        double g;
        gain(q, i, &to, &g);
        memcpy(r->now + (size_t)b * in, r->x + (size_t)i * in, in * sizeof *r->x);
        memcpy(r->then + (size_t)b * in, r->x + (size_t)(to < 0 ? i : to) * in, in * sizeof *r->x);
    }
    values(&r->target, r->then, o->batch, r->q2);
    if (o->twin) values(&q->online, r->then, o->batch, r->q);
    else memcpy(r->q, r->q2, (size_t)(o->batch * acts) * sizeof *r->q);
    for (long b = 0; b < o->batch; b++) {                /* the goals go to q2[b * acts] */
        long to;
        double g, goal = gain(q, r->pick[b], &to, &g);
        int best = to < 0 ? -1 : policy_best(r->q + b * acts, r->frame[to].mask, acts);
        if (best >= 0) goal += g * (double)r->q2[b * acts + best];
        r->q2[b * acts] = (float)goal;
    }
    values(&q->online, r->now, o->batch, r->q);
    memset(r->d, 0, (size_t)(o->batch * (acts + 1)) * sizeof *r->d);
    for (long b = 0; b < o->batch; b++) {
        int a = r->frame[r->pick[b]].action;
        double error = (double)(r->q[b * acts + a] - r->q2[b * acts]), size = fabs(error),
               w = r->weight[b] / heaviest / (double)o->batch;
        loss += w * (size < 1 ? error * error / 2 : size - 0.5);
        r->d[b * acts + a] = (float)(w * fmax(-1, fmin(1, error)));
        double p = pow(size + PRIORITY_FLOOR, o->priority);
        r->top = fmax(r->top, p);
        sumtree_set(&r->tree, r->pick[b], p);
    }
    agent_through_duel(r->d, o->batch, acts, o->dueling);
    net_backward(q->online.net, r->d, (int)o->batch, 0);
    adam_step(&r->adam, q->online.net->weight, q->online.net->gradient);
    if (++q->updates % o->target == 0) net_copy(r->target.net, q->online.net);
    return loss;
}

double dqn_explore(const struct dqn *q)
{
    double share = q->o.explore_steps ? fmin(1, (double)q->steps / (double)q->o.explore_steps) : 1;
    return q->o.explore + (q->o.explore_last - q->o.explore) * share;
}

struct dqn_episode dqn_episode(struct dqn *q)
{
    struct dqn_inside *r = q->in;
    struct dqn_episode e = { 0 };
    float *x = xmalloc((size_t)q->env.inputs, sizeof *x);
    uint32_t mask = 0;
    long learned = 0;
    q->env.reset(q->env.self, &r->rng, x, &mask);
    long i = push(q, x, mask);
    for (uint8_t end = GOES_ON; mask && end == GOES_ON; ) {
        bool ended = false, random = rng_unit(&r->rng) < dqn_explore(q);
        if (!random) values(&q->online, x, 1, r->q);
        struct dqn_record *f = &r->frame[i];
        f->action = (int16_t)(random ? environment_any(&r->rng, q->env.actions, mask)
                                     : policy_best(r->q, mask, q->env.actions));
        double reward = q->env.step(q->env.self, f->action, x, &mask, &ended);
        f->reward = (float)reward;
        e.total += reward;
        e.steps++;
        q->steps++;
        end = f->end = ended || !mask ? ENDED : e.steps >= q->env.limit ? CUT : GOES_ON;
        i = push(q, x, mask);
        /* what may be drawn from now on: the state n steps ago, at the end all that still wait */
        for (long k = end == GOES_ON ? q->o.nstep : 1; k <= q->o.nstep && k <= e.steps; k++)
            sumtree_set(&r->tree, back(q, i, k), r->top);
        if (!dqn_ready(q) || q->steps % q->o.every) continue;
        e.loss += dqn_learn(q);
        learned++;
    }
    q->episodes++;
    e.loss = learned ? e.loss / (double)learned : NAN;
    free(x);
    return e;
}

bool dqn_ready(const struct dqn *q)
{
    return q->steps >= q->o.warmup && q->in->tree.sum[1] > 0;
}

/* ---- actors elsewhere ---- */

long dqn_act(const struct dqn *q, const struct environment *e, struct rng *rng, double explore, float *x,
             struct dqn_record *f, double *total)
{
    float value[ENV_ACTIONS];
    double took = 0;                                     /* the value of the action before */
    uint32_t mask = 0;
    *total = 0;
    e->reset(e->self, rng, x, &mask);
    for (long n = 0;; n++, x += e->inputs) {
        bool ended = false, over = !mask || (n && f[n - 1].end != GOES_ON);
        values(&q->online, x, 1, value);
        int a = policy_best(value, mask, e->actions);
        if (n) {
            double next = f[n - 1].end == ENDED || a < 0 ? 0 : (double)value[a];
            double error = (double)f[n - 1].reward + q->o.gamma * next - took;
            f[n - 1].priority = (float)pow(fabs(error) + PRIORITY_FLOOR, q->o.priority);
        }
        f[n] = (struct dqn_record){ .mask = mask, .action = -1 };
        if (over) return n + 1;
        if (rng_unit(rng) < explore) a = environment_any(rng, e->actions, mask);
        took = (double)value[a];
        double reward = e->step(e->self, a, x + e->inputs, &mask, &ended);
        f[n].action = (int16_t)a;
        f[n].reward = (float)reward;
        f[n].end = ended || !mask ? ENDED : n + 1 >= e->limit ? CUT : GOES_ON;
        *total += reward;
    }
}

void dqn_take(struct dqn *q, const float *x, const struct dqn_record *f, long n)
{
    for (long i = 0; i < n; i++) {
        long at = push(q, x + i * q->env.inputs, f[i].mask);
        q->in->frame[at] = f[i];
        if (f[i].action < 0) continue;
        q->steps++;
        q->episodes += f[i].end != GOES_ON;
    }
    for (long i = 0; i < n; i++)                         /* whole episodes: every record knows what follows it */
        if (f[i].action >= 0) {
            q->in->top = fmax(q->in->top, (double)f[i].priority);
            sumtree_set(&q->in->tree, back(q, q->in->at, n - i), (double)f[i].priority);
        }
}

double dqn_greedy(struct dqn *q, struct rng *rng)
{
    float *x = xmalloc((size_t)q->env.inputs, sizeof *x);
    uint32_t mask = 0;
    double total = 0;
    bool ended = false;
    q->env.reset(q->env.self, rng, x, &mask);
    for (long n = 0; mask && !ended && n < q->env.limit; n++) {
        values(&q->online, x, 1, q->in->q);
        total += q->env.step(q->env.self, policy_best(q->in->q, mask, q->env.actions), x, &mask, &ended);
    }
    free(x);
    return total;
}

/* ---- its life ---- */

struct dqn *dqn_new(const struct environment *env, const struct dqn_options *o)
{
    if (env->actions < 1 || env->actions > ENV_ACTIONS)
        die("dqn: %d actions, 1 to %d can be", env->actions, ENV_ACTIONS);
    if (o->capacity < 4 * (o->nstep + o->batch)) die("dqn: a replay of %ld states is too small", o->capacity);
    struct dqn *q = xcalloc(1, sizeof *q);
    struct dqn_inside *r = q->in = xcalloc(1, sizeof *r);
    q->o = *o;
    q->env = *env;
    q->best = -INFINITY;
    q->online = agent_new(o, env, (int)o->batch);
    r->target = agent_new(o, env, (int)o->batch);
    r->adam = adam_new(q->online.net->size, (float)o->rate);
    r->adam.clip = (float)o->clip;
    r->rng = rng_for(o->seed, str_of("dqn"));
    r->tree = sumtree_new(o->capacity);
    r->top = 1;
    size_t rows = (size_t)o->batch, in = (size_t)env->inputs, out = (size_t)env->actions + 1;
    r->x = xcalloc(size_mul((size_t)o->capacity, in), sizeof *r->x);
    r->frame = xcalloc((size_t)o->capacity, sizeof *r->frame);
    r->now = xmalloc(size_mul(rows, in), sizeof *r->now);
    r->then = xmalloc(size_mul(rows, in), sizeof *r->then);
    r->q = xmalloc(size_mul(rows, out), sizeof *r->q);
    r->q2 = xmalloc(size_mul(rows, out), sizeof *r->q2);
    r->d = xmalloc(size_mul(rows, out), sizeof *r->d);
    r->pick = xmalloc(rows, sizeof *r->pick);
    r->weight = xmalloc(rows, sizeof *r->weight);
    return q;
}

void dqn_free(struct dqn *q)
{
    struct dqn_inside *r = q->in;
    free_all(r->x, r->frame, r->now, r->then, r->q, r->q2, r->d, r->pick, r->weight);
    sumtree_free(&r->tree);
    adam_free(&r->adam);
    agent_free(&r->target);
    agent_free(&q->online);
    free(r);
    free(q);
}

void dqn_begin(struct dqn *q, const struct agent *g)
{
    agent_copy(&q->online, g);
    agent_copy(&q->in->target, g);
}

/* ---- checkpoints ---- */

static uint64_t task_of(const struct dqn *q, const char *what)
{
    const struct dqn_options *o = &q->o;
    struct buf b = { 0 };
    buf_format(&b, "%s|%d %d %ld|", what, q->env.inputs, q->env.actions, q->env.limit);
    for (int l = 0; l < o->nhidden; l++) buf_format(&b, "%d ", o->hidden[l]);
    buf_format(&b, "|%.17g %.17g %.17g|%ld %ld %ld %ld %ld %ld|%.17g %.17g|%.17g %.17g|%d %d|%llu", o->gamma, o->rate,
               o->clip, o->batch, o->nstep, o->capacity, o->warmup, o->every, o->target, o->explore, o->explore_last,
               o->priority, o->correction, o->twin, o->dueling, (unsigned long long)o->seed);
    uint64_t h = hash_bytes(b.s, b.n, 0);
    free(b.s);
    return h;
}

struct counters { long steps, updates, episodes, rounds, adam, at, used; double best, top; struct rng rng; };

static void items(struct dqn *q, struct checkpoint *c)
{
    struct dqn_inside *r = q->in;
    struct counters n;
    memset(&n, 0, sizeof n);
    n = (struct counters){ q->steps, q->updates, q->episodes, q->rounds, r->adam.steps, r->at, r->used, q->best, r->top,
                           r->rng };
    checkpoint_item(c, &n, sizeof n);
    if (n.used < 0 || n.used > q->o.capacity || n.at < 0 || n.at >= q->o.capacity) checkpoint_damaged(c);
    q->steps = n.steps, q->updates = n.updates, q->episodes = n.episodes, q->rounds = n.rounds, r->adam.steps = n.adam;
    r->at = n.at, r->used = n.used, q->best = n.best, r->top = n.top, r->rng = n.rng;
    size_t w = q->online.net->size * sizeof(float), used = (size_t)r->used;
    checkpoint_item(c, q->online.net->weight, w);
    checkpoint_item(c, r->target.net->weight, w);
    checkpoint_item(c, r->adam.first, w);
    checkpoint_item(c, r->adam.second, w);
    checkpoint_item(c, r->x, used * (size_t)q->env.inputs * sizeof *r->x);
    checkpoint_item(c, r->frame, used * sizeof *r->frame);
    checkpoint_item(c, r->tree.sum + r->tree.leaves, used * sizeof *r->tree.sum);
}

void dqn_save(struct dqn *q, const char *path, const char *what)
{
    struct checkpoint *c = checkpoint_create(path, "dqn", task_of(q, what));
    items(q, c);
    checkpoint_close(c);
}

bool dqn_load(struct dqn *q, const char *path, const char *what)
{
    struct checkpoint *c = checkpoint_open(path, "dqn", task_of(q, what));
    if (!c) return false;
    items(q, c);
    checkpoint_close(c);
    sumtree_again(&q->in->tree);
    return true;
}

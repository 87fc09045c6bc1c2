#include "learn/dqn.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOES_ON, ENDED, CUT };
static const double PRIORITY_FLOOR = 1e-3;
static const char magic[] = "millrace dqn 1\n";

/* One state of the replay and what was done in it.  The state that an episode stops in has action -1. */
struct frame { uint32_t mask; int16_t action; uint8_t end; float reward; };

struct dqn_inside {
    struct qnet target;
    struct adam adam;
    struct rng rng;
    float *x;                                            /* capacity x inputs: a ring */
    struct frame *frame;
    double *tree;                                        /* 2 x leaves: sums of priorities; leaf i at leaves + i */
    long leaves, at, used;
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

static struct qnet qnet_new(const struct dqn_options *o, const struct environment *e, int batch)
{
    int width[DQN_HIDDEN + 2] = { e->inputs };
    for (int l = 0; l < o->nhidden; l++) width[l + 1] = o->hidden[l];
    width[o->nhidden + 1] = e->actions + o->dueling;
    openblas_set_num_threads(1);
    return (struct qnet){ net_new(width, o->nhidden + 2, batch, o->seed), o->dueling, e->actions };
}

/* Q = value + advantage - mean advantage */
void qnet_values(const struct qnet *n, const float *x, int rows, float *q)
{
    const float *y = net_forward(n->net, x, rows);
    for (int i = 0; i < rows; i++, q += n->actions, y += n->actions + n->dueling) {
        float shift = 0;
        for (int a = 0; a < n->actions && n->dueling; a++) shift += y[a];
        if (n->dueling) shift = y[n->actions] - shift / (float)n->actions;
        for (int a = 0; a < n->actions; a++) q[a] = y[a] + shift;
    }
}

int qnet_best(const float *q, int actions, uint32_t mask)
{
    int best = -1;
    for (int a = 0; a < actions; a++)
        if (mask >> a & 1 && (best < 0 || q[a] > q[best])) best = a;
    return best;
}

void qnet_write(const struct qnet *n, sexpw *w)
{
    sexpw_begin(w, "qnet");
    sexpw_pair_str(w, "dueling", str_of(n->dueling ? "true" : "false"));
    sexpw_begin(w, "widths");
    for (int l = 0; l <= n->net->layers; l++) sexpw_int(w, n->net->width[l]);
    sexpw_end(w);
    sexpw_begin(w, "weights");
    for (size_t i = 0; i < n->net->size; i++) {
        if (i % 16 == 0) sexpw_line(w);
        char b[32];
        snprintf(b, sizeof b, "%.9g", (double)n->net->weight[i]);    /* nine digits: every float reads back equal */
        sexpw_cstr(w, b);
    }
    sexpw_end(w);
    sexpw_end(w);
}

struct qnet qnet_read(const struct sexp *s, snode at, int batch)
{
    snode widths = sexp_get(s, at, "widths"), weights = sexp_get(s, at, "weights");
    if (!sexp_head(s, at, "qnet") || widths == SEXP_NONE || weights == SEXP_NONE)
        sexp_die(s, at, "not a (qnet (dueling true|false) (widths N ...) (weights W ...))");
    int width[NET_LAYERS + 1], n = 0;
    size_t size = 0;
    for (snode c = sexp_nth(s, widths, 1); c != SEXP_NONE; c = sexp_after(s, c)) {
        int64_t v = sexp_int(s, c);
        if (n > NET_LAYERS || v < 1 || v > 1 << 16) sexp_die(s, c, "not a layer's width, or too many layers");
        if (n) size += (size_t)v * (size_t)(width[n - 1] + 1);
        width[n++] = (int)v;
    }
    bool dueling = str_is(sexp_str_of(s, at, "dueling"), "true");
    if (n < 2 || width[n - 1] <= dueling) sexp_die(s, widths, "too few layers or outputs");
    if (sexp_count(s, weights) != size + 1)
        sexp_die(s, weights, "%zu weights, the widths need %zu", sexp_count(s, weights) - 1, size);
    openblas_set_num_threads(1);
    struct qnet q = { net_new(width, n, batch, 0), dueling, width[n - 1] - dueling };
    float *to = q.net->weight;
    for (snode c = sexp_nth(s, weights, 1); c != SEXP_NONE; c = sexp_after(s, c)) {
        double v = sexp_num(s, c);
        if (!isfinite(v)) sexp_die(s, c, "a weight that is not finite");
        *to++ = (float)v;
    }
    return q;
}

void qnet_free(struct qnet *q)
{
    net_free(q->net);
    *q = (struct qnet){ 0 };
}

/* ---- replay ---- */

static void set_priority(struct dqn_inside *r, long i, double p)
{
    i += r->leaves;
    r->tree[i] = p;
    for (i /= 2; i >= 1; i /= 2) r->tree[i] = r->tree[2 * i] + r->tree[2 * i + 1];
}

static long drawn(struct dqn_inside *r, double mass)
{
    long i = 1;
    while (i < r->leaves) {
        i *= 2;
        if (mass >= r->tree[i] && r->tree[i + 1] > 0) mass -= r->tree[i++];
    }
    return i - r->leaves;
}

static long push(struct dqn *q, const float *x, uint32_t mask)
{
    struct dqn_inside *r = q->in;
    long i = r->at;
    memcpy(r->x + (size_t)i * (size_t)q->env.inputs, x, (size_t)q->env.inputs * sizeof *x);
    r->frame[i] = (struct frame){ .mask = mask, .action = -1 };
    set_priority(r, i, 0);
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
        const struct frame *f = &q->in->frame[i];
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

/* d: gradients at the action values, turned in place into those at the network's outputs (row by row, from the end) */
static void through_duel(const struct qnet *n, float *d, long rows)
{
    if (!n->dueling) return;
    int a = n->actions;
    for (long i = rows; i-- > 0; ) {
        float *from = d + i * a, *to = d + i * (a + 1), sum = 0;
        for (int k = 0; k < a; k++) sum += from[k];
        memmove(to, from, (size_t)a * sizeof *d);
        for (int k = 0; k < a; k++) to[k] -= sum / (float)a;
        to[a] = sum;
    }
}

static double learn(struct dqn *q)
{
    struct dqn_inside *r = q->in;
    const struct dqn_options *o = &q->o;
    size_t in = (size_t)q->env.inputs;
    int acts = q->env.actions;
    double share = o->correction_steps ? fmin(1, (double)q->updates / (double)o->correction_steps) : 1;
    double beta = o->correction + (1 - o->correction) * share, total = r->tree[1], heaviest = 0, loss = 0;
    for (long b = 0; b < o->batch; b++) {                /* one from each of equal slices of the priorities' sum */
        long i = r->pick[b] = drawn(r, total * ((double)b + rng_unit(&r->rng)) / (double)o->batch), to;
        r->weight[b] = pow(r->tree[r->leaves + i] / total * (double)r->used, -beta);
        heaviest = fmax(heaviest, r->weight[b]);
        double g;
        gain(q, i, &to, &g);
        memcpy(r->now + (size_t)b * in, r->x + (size_t)i * in, in * sizeof *r->x);
        memcpy(r->then + (size_t)b * in, r->x + (size_t)(to < 0 ? i : to) * in, in * sizeof *r->x);
    }
    qnet_values(&r->target, r->then, (int)o->batch, r->q2);
    if (o->twin) qnet_values(&q->online, r->then, (int)o->batch, r->q);
    else memcpy(r->q, r->q2, (size_t)(o->batch * acts) * sizeof *r->q);
    for (long b = 0; b < o->batch; b++) {                /* the goals go to q2[b * acts] */
        long to;
        double g, goal = gain(q, r->pick[b], &to, &g);
        int best = to < 0 ? -1 : qnet_best(r->q + b * acts, acts, r->frame[to].mask);
        if (best >= 0) goal += g * (double)r->q2[b * acts + best];
        r->q2[b * acts] = (float)goal;
    }
    qnet_values(&q->online, r->now, (int)o->batch, r->q);
    memset(r->d, 0, (size_t)(o->batch * (acts + 1)) * sizeof *r->d);
    for (long b = 0; b < o->batch; b++) {
        int a = r->frame[r->pick[b]].action;
        double error = (double)(r->q[b * acts + a] - r->q2[b * acts]), size = fabs(error),
               w = r->weight[b] / heaviest / (double)o->batch;
        loss += w * (size < 1 ? error * error / 2 : size - 0.5);
        r->d[b * acts + a] = (float)(w * fmax(-1, fmin(1, error)));
        double p = pow(size + PRIORITY_FLOOR, o->priority);
        r->top = fmax(r->top, p);
        set_priority(r, r->pick[b], p);
    }
    through_duel(&q->online, r->d, o->batch);
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

static int any_legal(struct rng *r, int actions, uint32_t mask)
{
    uint64_t k = rng_below(r, (uint64_t)__builtin_popcount(mask));
    for (int a = 0; a < actions; a++)
        if (mask >> a & 1 && k-- == 0) return a;
    return -1;
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
        if (!random) qnet_values(&q->online, x, 1, r->q);
        struct frame *f = &r->frame[i];
        f->action = (int16_t)(random ? any_legal(&r->rng, q->env.actions, mask)
                                     : qnet_best(r->q, q->env.actions, mask));
        double reward = q->env.step(q->env.self, f->action, x, &mask, &ended);
        f->reward = (float)reward;
        e.total += reward;
        e.steps++;
        q->steps++;
        end = f->end = ended || !mask ? ENDED : e.steps >= q->env.limit ? CUT : GOES_ON;
        i = push(q, x, mask);
        /* what may be drawn from now on: the state n steps ago, at the end all that still wait */
        for (long k = end == GOES_ON ? q->o.nstep : 1; k <= q->o.nstep && k <= e.steps; k++)
            set_priority(r, back(q, i, k), r->top);
        if (q->steps < q->o.warmup || q->steps % q->o.every || r->tree[1] <= 0) continue;
        e.loss += learn(q);
        learned++;
    }
    q->episodes++;
    e.loss = learned ? e.loss / (double)learned : NAN;
    free(x);
    return e;
}

double dqn_greedy(struct dqn *q, struct rng *rng)
{
    float *x = xmalloc((size_t)q->env.inputs, sizeof *x);
    uint32_t mask = 0;
    double total = 0;
    bool ended = false;
    q->env.reset(q->env.self, rng, x, &mask);
    for (long n = 0; mask && !ended && n < q->env.limit; n++) {
        qnet_values(&q->online, x, 1, q->in->q);
        total += q->env.step(q->env.self, qnet_best(q->in->q, q->env.actions, mask), x, &mask, &ended);
    }
    free(x);
    return total;
}

/* ---- its life ---- */

struct dqn *dqn_new(const struct environment *env, const struct dqn_options *o)
{
    if (env->actions < 1 || env->actions > DQN_ACTIONS)
        die("dqn: %d actions, 1 to %d can be", env->actions, DQN_ACTIONS);
    if (o->capacity < 4 * (o->nstep + o->batch)) die("dqn: a replay of %ld states is too small", o->capacity);
    struct dqn *q = xcalloc(1, sizeof *q);
    struct dqn_inside *r = q->in = xcalloc(1, sizeof *r);
    q->o = *o;
    q->env = *env;
    q->best = -INFINITY;
    q->online = qnet_new(o, env, (int)o->batch);
    r->target = qnet_new(o, env, (int)o->batch);
    r->adam = adam_new(q->online.net->size, (float)o->rate);
    r->adam.clip = (float)o->clip;
    r->rng = rng_for(o->seed, str_of("dqn"));
    for (r->leaves = 1; r->leaves < o->capacity; ) r->leaves *= 2;
    r->top = 1;
    size_t rows = (size_t)o->batch, in = (size_t)env->inputs, out = (size_t)env->actions + 1;
    r->x = xcalloc((size_t)o->capacity * in, sizeof *r->x);
    r->frame = xcalloc((size_t)o->capacity, sizeof *r->frame);
    r->tree = xcalloc((size_t)r->leaves * 2, sizeof *r->tree);
    r->now = xmalloc(rows * in, sizeof *r->now);
    r->then = xmalloc(rows * in, sizeof *r->then);
    r->q = xmalloc(rows * out, sizeof *r->q);
    r->q2 = xmalloc(rows * out, sizeof *r->q2);
    r->d = xmalloc(rows * out, sizeof *r->d);
    r->pick = xmalloc(rows, sizeof *r->pick);
    r->weight = xmalloc(rows, sizeof *r->weight);
    return q;
}

void dqn_free(struct dqn *q)
{
    struct dqn_inside *r = q->in;
    void *all[] = { r->x, r->frame, r->tree, r->now, r->then, r->q, r->q2, r->d, r->pick, r->weight };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    adam_free(&r->adam);
    qnet_free(&r->target);
    qnet_free(&q->online);
    free(r);
    free(q);
}

/* ---- checkpoints: the same blocks in the same order, out or in ---- */

struct block { void *p; size_t bytes; };

static int blocks(const struct dqn *q, struct block b[16])
{
    struct dqn_inside *r = q->in;
    size_t w = q->online.net->size * sizeof(float), used = (size_t)r->used;
    int n = 0;
    b[n++] = (struct block){ q->online.net->weight, w };
    b[n++] = (struct block){ r->target.net->weight, w };
    b[n++] = (struct block){ r->adam.first, w };
    b[n++] = (struct block){ r->adam.second, w };
    b[n++] = (struct block){ r->x, used * (size_t)q->env.inputs * sizeof *r->x };
    b[n++] = (struct block){ r->frame, used * sizeof *r->frame };
    b[n++] = (struct block){ r->tree + r->leaves, used * sizeof *r->tree };
    return n;
}

struct counters {
    uint64_t task;                                       /* hash of options, shapes and the caller's text */
    long steps, updates, episodes, adam, at, used;
    double best, top;
    struct rng rng;
};

static uint64_t task_of(const struct dqn *q, const char *what)
{
    const struct dqn_options *o = &q->o;
    struct buf b = { 0 };
    buf_format(&b, "%s|%d %d %ld|", what, q->env.inputs, q->env.actions, q->env.limit);
    for (int l = 0; l < o->nhidden; l++) buf_format(&b, "%d ", o->hidden[l]);
    buf_format(&b, "|%.17g %.17g %.17g|%ld %ld %ld %ld %ld %ld|%.17g %.17g %ld|%.17g %.17g %ld|%d %d|%llu", o->gamma,
               o->rate, o->clip, o->batch, o->nstep, o->capacity, o->warmup, o->every, o->target, o->explore,
               o->explore_last, o->explore_steps, o->priority, o->correction, o->correction_steps, o->twin, o->dueling,
               (unsigned long long)o->seed);
    uint64_t h = hash_bytes(b.s, b.n, 0);
    free(b.s);
    return h;
}

void dqn_save(const struct dqn *q, const char *path, const char *what)
{
    const struct dqn_inside *r = q->in;
    struct counters c;
    memset(&c, 0, sizeof c);
    c.task = task_of(q, what);
    c.steps = q->steps, c.updates = q->updates, c.episodes = q->episodes, c.adam = r->adam.steps;
    c.at = r->at, c.used = r->used, c.best = q->best, c.top = r->top, c.rng = r->rng;
    struct block b[16];
    int n = blocks(q, b);
    struct out *o = out_open(path);
    fwrite(magic, sizeof magic, 1, out_file(o));
    fwrite(&c, sizeof c, 1, out_file(o));
    for (int i = 0; i < n; i++) fwrite(b[i].p, 1, b[i].bytes, out_file(o));
    out_close(o);
}

bool dqn_load(struct dqn *q, const char *path, const char *what)
{
    struct dqn_inside *r = q->in;
    FILE *f = fopen(path, "rb");
    if (!f && errno == ENOENT) return false;
    if (!f) die_errno("%s", path);
    char m[sizeof magic] = "";
    struct counters c;
    if (fread(m, sizeof m, 1, f) != 1 || memcmp(m, magic, sizeof m) || fread(&c, sizeof c, 1, f) != 1)
        die("%s: not a checkpoint of a Q-network", path);
    if (c.task != task_of(q, what)) die("%s: a checkpoint of another training (problems, options or seed)", path);
    if (c.used < 0 || c.used > q->o.capacity || c.at < 0 || c.at >= q->o.capacity) die("%s: damaged", path);
    q->steps = c.steps, q->updates = c.updates, q->episodes = c.episodes, r->adam.steps = c.adam;
    r->at = c.at, r->used = c.used, q->best = c.best, r->top = c.top, r->rng = c.rng;
    struct block b[16];
    int n = blocks(q, b);
    for (int i = 0; i < n; i++)
        if (fread(b[i].p, 1, b[i].bytes, f) != b[i].bytes) die("%s: cut short", path);
    fclose(f);
    for (long i = r->leaves - 1; i >= 1; i--) r->tree[i] = r->tree[2 * i] + r->tree[2 * i + 1];
    return true;
}

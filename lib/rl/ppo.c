#include "rl/ppo.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "rl/checkpoint.h"
#include "rl/returns.h"
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOES_ON, ENDED, CUT };

/* One running episode.  `fresh`: none runs. */
struct seat { bool fresh; uint32_t mask; long steps; double total; };

/* What `length` steps of `seats` episodes were; row t * seats + b.  Lies in one piece of memory, see lay_out. */
struct segment {
    long seats, length;
    long *episodes;                                      /* ended here, and the sum of their returns */
    double *total;
    struct seat *seat;                                   /* seats: as they are after it */
    float *x;                                            /* (length + 1) x seats x inputs: the last row is after it */
    float *cut;                                          /* length x seats x inputs: last states of cut episodes */
    float *reward, *logp;
    uint32_t *mask;
    int32_t *action;
    uint8_t *end;
    char *state;                                         /* seats x state_size: of their environments */
};

struct ppo_inside {
    struct environment *env;                             /* seats of them */
    struct segment now;
    char *memory;
    struct adam adam;
    float *d, *x;                                        /* batches of gradients at the outputs and of inputs */
    float *value, *next, *line[5];
    uint8_t *stop, *line_stop;
    struct gradient_row *row, *pick;
    long *order;
};

struct ppo_options ppo_defaults(void)
{
    return (struct ppo_options){ .hidden = { 128, 128 }, .nhidden = 2, .gamma = 0.99, .lambda = 0.95, .rate = 1e-3,
                                   .norm = 0.5, .seats = 16, .length = 64, .epochs = 6, .batch = 256,
                                   .loss = { .clip = 0.2, .value = 0.5, .entropy = 0.01 }, .entropy_last = 1,
                                   .rate_last = 0.1, .total = 200000, .normal = true, .seed = 1 };
}

/* ---- segments ---- */

static void *cut_off(char **at, size_t n, size_t size)
{
    char *p = *at;
    *at += (n * size + 63) & ~(size_t)63;
    return p;
}

/* pointers into memory that begins at `at`; returns its size: call with NULL to learn that */
static size_t lay_out(struct segment *s, char *at, const struct environment *e, long seats, long length)
{
    char *begin = at;
    size_t b = (size_t)seats, n = b * (size_t)length, in = (size_t)e->inputs;
    *s = (struct segment){ .seats = seats, .length = length };
    s->episodes = cut_off(&at, 1, sizeof *s->episodes);
    s->total = cut_off(&at, 1, sizeof *s->total);
    s->seat = cut_off(&at, b, sizeof *s->seat);
    s->x = cut_off(&at, (n + b) * in, sizeof *s->x);
    s->cut = cut_off(&at, n * in, sizeof *s->cut);
    s->reward = cut_off(&at, n, sizeof *s->reward);
    s->logp = cut_off(&at, n, sizeof *s->logp);
    s->mask = cut_off(&at, n, sizeof *s->mask);
    s->action = cut_off(&at, n, sizeof *s->action);
    s->end = cut_off(&at, n, 1);
    s->state = cut_off(&at, b, e->state_size);
    return (size_t)(at - begin);
}

static void begin_episode(const struct environment *e, struct seat *s, struct rng *r, float *x)
{
    *s = (struct seat){ 0 };
    e->reset(e->self, r, x, &s->mask);
    if (!s->mask) die("ppo: an episode begins without a legal action");
}

/* Acts in env[0 .. seats-1], which stand where s->seat says and see the last row of s->x. */
static void collect(struct net *net, const struct environment *env, struct rng *r, struct segment *s)
{
    int in = env->inputs, acts = env->actions;
    size_t row = (size_t)in * sizeof(float);
    float *last = s->x + s->length * s->seats * in;
    *s->episodes = 0;
    *s->total = 0;
    memcpy(s->x, last, (size_t)s->seats * row);
    for (long b = 0; b < s->seats; b++)
        if (s->seat[b].fresh) begin_episode(&env[b], &s->seat[b], r, s->x + b * in);
    for (long t = 0; t < s->length; t++) {
        float *x = s->x + t * s->seats * in;
        const float *y = net_forward(net, x, (int)s->seats);
        for (long b = 0; b < s->seats; b++) {
            long i = t * s->seats + b;
            struct seat *seat = &s->seat[b];
            float p[ENV_ACTIONS], logp[ENV_ACTIONS], *after = x + (s->seats + b) * in;
            bool ended = false;
            s->mask[i] = seat->mask;
            policy_softmax(y + b * (acts + 1), seat->mask, acts, p, logp);
            int a = s->action[i] = policy_draw(r, p, acts);
            s->logp[i] = logp[a];
            double reward = env[b].step(env[b].self, a, after, &seat->mask, &ended);
            s->reward[i] = (float)reward;
            seat->total += reward;
            seat->steps++;
            s->end[i] = ended || !seat->mask ? ENDED : seat->steps >= env->limit ? CUT : GOES_ON;
            if (s->end[i] == CUT) memcpy(s->cut + i * in, after, row);
            if (s->end[i] == GOES_ON) continue;
            ++*s->episodes;
            *s->total += seat->total;
            begin_episode(&env[b], seat, r, after);
        }
    }
    for (long b = 0; b < s->seats; b++) memcpy(s->state + (size_t)b * env->state_size, env[b].state, env->state_size);
}

/* of this round: 0 for what acts, -1 for what learns */
static struct rng drawn_for(const struct ppo *a, int who)
{
    char key[64];
    snprintf(key, sizeof key, "actor %d turn %ld", who, a->rounds);
    return rng_for(a->o.seed, str_of(key));
}

/* ---- learning from a segment ---- */

static void values_after(struct ppo *a, const struct segment *s)
{
    struct ppo_inside *r = a->in;
    int in = a->env.inputs, out = a->env.actions + 1;
    long n = s->seats * s->length, m = 0;
    const float *y = net_forward(a->net, s->x, (int)(n + s->seats));
    for (long i = 0; i < n + s->seats; i++) r->value[i] = y[i * out + out - 1];
    for (long i = 0; i < n; i++) {
        r->next[i] = s->end[i] == ENDED ? 0 : r->value[i + s->seats];
        r->stop[i] = s->end[i] != GOES_ON;
        if (s->end[i] != CUT) continue;
        r->order[m] = i;
        memcpy(r->x + m++ * in, s->cut + i * in, (size_t)in * sizeof *r->x);
    }
    if (!m) return;
    y = net_forward(a->net, r->x, (int)m);
    for (long k = 0; k < m; k++) r->next[r->order[k]] = y[k * out + out - 1];
}

/* rows of the gradient: targets and advantages, seat by seat */
static void weigh(struct ppo *a, const struct segment *s)
{
    struct ppo_inside *r = a->in;
    values_after(a, s);
    for (long b = 0; b < s->seats; b++) {
        float *reward = r->line[0], *value = r->line[1], *next = r->line[2], *target = r->line[3],
              *advantage = r->line[4];
        for (long t = 0; t < s->length; t++) {
            long i = t * s->seats + b;
            reward[t] = s->reward[i], value[t] = r->value[i], next[t] = r->next[i];
            r->line_stop[t] = r->stop[i];
        }
        struct stream w = { (int)s->length, reward, value, next, r->line_stop };
        returns_gae(&w, a->o.gamma, a->o.lambda, target, advantage);
        for (long t = 0; t < s->length; t++) {
            long i = t * s->seats + b;
            r->row[i] = (struct gradient_row){ s->mask[i], s->action[i], advantage[t], target[t], s->logp[i] };
        }
    }
}

static void normalise(struct gradient_row *w, long n)
{
    double mean = 0, square = 0;
    for (long i = 0; i < n; i++) mean += (double)w[i].advantage / (double)n;
    for (long i = 0; i < n; i++) square += pow((double)w[i].advantage - mean, 2) / (double)n;
    for (long i = 0; i < n; i++) w[i].advantage = (float)(((double)w[i].advantage - mean) / (sqrt(square) + 1e-8));
}

static double share_left(const struct ppo *a, double last)
{
    double share = a->o.total ? fmin(1, (double)a->steps / (double)a->o.total) : 0;
    return 1 + (last - 1) * share;
}

/* the gradient of these rows of s, left in a->net->gradient */
static struct gradient_loss slope(struct ppo *a, const struct segment *s, const long *order, long n)
{
    struct ppo_inside *r = a->in;
    int in = a->env.inputs;
    struct gradient_options o = a->o.loss;
    o.entropy *= share_left(a, a->o.entropy_last);
    for (long k = 0; k < n; k++) {
        r->pick[k] = r->row[order[k]];
        memcpy(r->x + k * in, s->x + order[k] * in, (size_t)in * sizeof *r->x);
    }
    if (a->o.normal && n > 1) normalise(r->pick, n);
    const float *y = net_forward(a->net, r->x, (int)n);
    struct gradient_loss l = gradient_of(&o, r->pick, (int)n, a->env.actions, y, r->d);
    net_backward(a->net, r->d, (int)n, 0);
    return l;
}

static void add_loss(struct gradient_loss *sum, struct gradient_loss l, double share)
{
    sum->policy += share * l.policy, sum->value += share * l.value;
    sum->entropy += share * l.entropy, sum->divergence += share * l.divergence;
}

static struct gradient_loss learn(struct ppo *a, const struct segment *s)
{
    struct ppo_inside *r = a->in;
    struct gradient_loss sum = { 0 };
    long n = s->seats * s->length, batch = a->o.batch > 0 && a->o.batch < n ? a->o.batch : n, parts = n / batch;
    weigh(a, s);
    struct rng g = drawn_for(a, -1);
    for (long i = 0; i < n; i++) r->order[i] = i;
    for (int e = 0; e < a->o.epochs; e++) {
        if (parts > 1) rng_shuffle(&g, r->order, (size_t)n, sizeof *r->order);
        for (long k = 0; k < parts; k++) {
            add_loss(&sum, slope(a, s, r->order + k * batch, batch), 1 / (double)(parts * a->o.epochs));
            r->adam.rate = (float)(a->o.rate * share_left(a, a->o.rate_last));
            adam_step(&r->adam, a->net->weight, a->net->gradient);
            a->updates++;
        }
    }
    return sum;
}

/* ---- rounds ---- */

struct ppo_round ppo_round(struct ppo *a)
{
    struct segment *s = &a->in->now;
    struct rng r = drawn_for(a, 0);
    collect(a->net, a->in->env, &r, s);
    a->steps += s->seats * s->length;
    a->episodes += *s->episodes;
    struct ppo_round e = { *s->episodes, *s->total, learn(a, s) };
    a->rounds++;
    return e;
}

double ppo_greedy(struct ppo *a, struct rng *rng)
{
    const struct environment *e = a->in->env;
    float *x = xmalloc((size_t)e->inputs, sizeof *x);
    char *kept = xmalloc(e->state_size + 1, 1);
    uint32_t mask = 0;
    double total = 0;
    bool ended = false;
    memcpy(kept, e->state, e->state_size);
    e->reset(e->self, rng, x, &mask);
    for (long n = 0; mask && !ended && n < e->limit; n++)
        total += e->step(e->self, policy_best(net_forward(a->net, x, 1), mask, e->actions), x, &mask, &ended);
    memcpy(e->state, kept, e->state_size);
    free(kept);
    free(x);
    return total;
}

/* ---- its life ---- */

struct ppo *ppo_new(const struct environment *seats, const struct ppo_options *o)
{
    if (seats->actions < 1 || seats->actions > ENV_ACTIONS)
        die("ppo: %d actions, 1 to %d can be", seats->actions, ENV_ACTIONS);
    struct ppo *a = xcalloc(1, sizeof *a);
    struct ppo_inside *r = a->in = xcalloc(1, sizeof *r);
    a->o = *o;
    a->env = *seats;
    size_t b = (size_t)o->seats, n = b * (size_t)o->length, in = (size_t)seats->inputs;
    size_t out = (size_t)seats->actions + 1;
    r->env = xmalloc(b, sizeof *r->env);
    memcpy(r->env, seats, b * sizeof *r->env);
    int width[PPO_HIDDEN + 2] = { seats->inputs };
    for (int l = 0; l < o->nhidden; l++) width[l + 1] = o->hidden[l];
    width[o->nhidden + 1] = (int)out;
    openblas_set_num_threads(1);
    a->net = net_new(width, o->nhidden + 2, (int)(n + b), o->seed);
    float *last = net_layer(a->net, o->nhidden);         /* a policy that starts out almost indifferent */
    for (size_t i = 0; i < (size_t)seats->actions * (size_t)width[o->nhidden]; i++) last[i] *= 0.01F;
    r->adam = adam_new(a->net->size, (float)o->rate);
    r->adam.clip = (float)o->norm;
    r->adam.epsilon = 1e-5F;
    size_t bytes = lay_out(&r->now, NULL, seats, o->seats, o->length);
    lay_out(&r->now, r->memory = xcalloc(bytes, 1), seats, o->seats, o->length);
    for (size_t i = 0; i < b; i++) r->now.seat[i].fresh = true;
    r->d = xmalloc(size_mul(size_add(n, b), out), sizeof *r->d);
    r->x = xmalloc(size_mul(n, in), sizeof *r->x);
    r->value = xmalloc(size_add(n, b), sizeof *r->value);
    r->next = xmalloc(n, sizeof *r->next);
    r->stop = xmalloc(n, 1);
    r->line_stop = xmalloc((size_t)o->length, 1);
    r->row = xmalloc(n, sizeof *r->row);
    r->pick = xmalloc(n, sizeof *r->pick);
    r->order = xmalloc(n, sizeof *r->order);
    for (int i = 0; i < 5; i++) r->line[i] = xmalloc((size_t)o->length, sizeof(float));
    return a;
}

void ppo_free(struct ppo *a)
{
    struct ppo_inside *r = a->in;
    free_all(r->env, r->memory, r->d, r->x, r->value, r->next, r->stop, r->line_stop, r->row, r->pick, r->order);
    for (int i = 0; i < 5; i++) free(r->line[i]);
    adam_free(&r->adam);
    net_free(a->net);
    free(r);
    free(a);
}

/* ---- checkpoints ---- */

static uint64_t task_of(const struct ppo *a, const char *what)
{
    const struct ppo_options *o = &a->o;
    struct buf b = { 0 };
    buf_format(&b, "%s|%d %d %ld|", what, a->env.inputs, a->env.actions, a->env.limit);
    for (int l = 0; l < o->nhidden; l++) buf_format(&b, "%d ", o->hidden[l]);
    buf_format(&b, "|%.17g %.17g %.17g %.17g|%ld %ld %d %ld|%.17g %.17g %.17g %.17g %.17g|%d %llu", o->gamma,
               o->lambda, o->rate, o->norm, o->seats, o->length, o->epochs, o->batch, o->loss.clip, o->loss.value,
               o->loss.entropy, o->entropy_last, o->rate_last, o->normal, (unsigned long long)o->seed);
    uint64_t h = hash_bytes(b.s, b.n, 0);
    free(b.s);
    return h;
}

static void items(struct ppo *a, struct checkpoint *c)
{
    struct ppo_inside *r = a->in;
    struct { long rounds, steps, updates, episodes, adam; } n = { a->rounds, a->steps, a->updates, a->episodes,
                                                                 r->adam.steps };
    checkpoint_item(c, &n, sizeof n);
    a->rounds = n.rounds, a->steps = n.steps, a->updates = n.updates, a->episodes = n.episodes;
    r->adam.steps = n.adam;
    size_t w = a->net->size * sizeof(float);
    struct segment s;
    checkpoint_item(c, a->net->weight, w);
    checkpoint_item(c, r->adam.first, w);
    checkpoint_item(c, r->adam.second, w);
    checkpoint_item(c, r->memory, lay_out(&s, NULL, &a->env, a->o.seats, a->o.length));
}

void ppo_save(struct ppo *a, const char *path, const char *what)
{
    if (!a->env.state_size) die("ppo: this environment cannot be saved");
    struct checkpoint *c = checkpoint_create(path, "ppo", task_of(a, what));
    items(a, c);
    checkpoint_close(c);
}

bool ppo_load(struct ppo *a, const char *path, const char *what)
{
    struct ppo_inside *r = a->in;
    struct checkpoint *c = checkpoint_open(path, "ppo", task_of(a, what));
    if (!c) return false;
    items(a, c);
    checkpoint_close(c);
    for (long b = 0; b < a->o.seats; b++)
        memcpy(r->env[b].state, r->now.state + (size_t)b * a->env.state_size, a->env.state_size);
    return true;
}

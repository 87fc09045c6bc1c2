#include "rl/actor.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "rl/checkpoint.h"
#include "rl/crew.h"
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

struct actor_inside {
    struct environment *env;                             /* seats of them */
    struct segment now, late;                            /* of this round; of the round before (BEHIND) */
    char *memory, *late_memory;
    bool have_late;
    struct adam adam;
    struct crew *crew;
    float *d, *x;                                        /* batches of gradients at the outputs and of inputs */
    float *value, *next, *target, *advantage, *ratio, *line[6];
    uint8_t *stop, *line_stop;
    struct gradient_row *row, *pick;
    long *order;
};

struct actor_options actor_defaults(enum learning algo)
{
    struct actor_options o = { .actors = 2, .hidden = { 128, 128 }, .nhidden = 2, .gamma = 0.99, .lambda = 0.95,
                               .rate = 2e-3, .norm = 0.5, .seats = 16, .length = 8, .epochs = 1,
                               .loss = { .value = 0.5, .entropy = 0.01 }, .entropy_last = 1, .rate_last = 0.1,
                               .total = 200000, .seed = 1 };
    if (algo == LEARN_PPO) {
        o.loss.clip = 0.2, o.epochs = 6, o.batch = 256, o.length = 64, o.normal = true, o.rate = 1e-3;
    } else if (algo == LEARN_A3C) {
        o.kind = BY_TURNS;
    } else if (algo == LEARN_IMPALA) {
        o.kind = BEHIND;
    }
    return o;
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
    if (!s->mask) die("actor: an episode begins without a legal action");
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

static struct rng drawn_for(const struct actor *a, long actor, long turn)
{
    char key[64];
    snprintf(key, sizeof key, "actor %ld turn %ld", actor, turn);
    return rng_for(a->o.seed, str_of(key));
}

/* ---- learning from a segment ---- */

static void values_after(struct actor *a, const struct segment *s)
{
    struct actor_inside *r = a->in;
    int in = a->env.inputs, out = a->env.actions + 1;
    long n = s->seats * s->length, m = 0;
    const float *y = net_forward(a->net, s->x, (int)(n + s->seats));
    for (long i = 0; i < n + s->seats; i++) {
        float logp[ENV_ACTIONS];
        r->value[i] = y[i * out + out - 1];
        if (a->o.kind != BEHIND || i >= n) continue;
        policy_softmax(y + i * out, s->mask[i], out - 1, NULL, logp);
        r->ratio[i] = expf(logp[s->action[i]] - s->logp[i]);
    }
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
static void weigh(struct actor *a, const struct segment *s)
{
    struct actor_inside *r = a->in;
    values_after(a, s);
    for (long b = 0; b < s->seats; b++) {
        float *reward = r->line[0], *value = r->line[1], *next = r->line[2], *ratio = r->line[3], *target = r->line[4],
              *advantage = r->line[5];
        for (long t = 0; t < s->length; t++) {
            long i = t * s->seats + b;
            reward[t] = s->reward[i], value[t] = r->value[i], next[t] = r->next[i], ratio[t] = r->ratio[i];
            r->line_stop[t] = r->stop[i];
        }
        struct stream w = { (int)s->length, reward, value, next, r->line_stop };
        if (a->o.kind == BEHIND) returns_vtrace(&w, ratio, a->o.gamma, 1, 1, target, advantage);
        else returns_gae(&w, a->o.gamma, a->o.lambda, target, advantage);
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

static double share_left(const struct actor *a, double last)
{
    double share = a->o.total ? fmin(1, (double)a->steps / (double)a->o.total) : 0;
    return 1 + (last - 1) * share;
}

/* the gradient of these rows of s, left in a->net->gradient */
static struct gradient_loss slope(struct actor *a, const struct segment *s, const long *order, long n)
{
    struct actor_inside *r = a->in;
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

static void apply(struct actor *a, const float *gradient)
{
    a->in->adam.rate = (float)(a->o.rate * share_left(a, a->o.rate_last));
    adam_step(&a->in->adam, a->net->weight, gradient);
    a->updates++;
}

static void add_loss(struct gradient_loss *sum, struct gradient_loss l, double share)
{
    sum->policy += share * l.policy, sum->value += share * l.value;
    sum->entropy += share * l.entropy, sum->divergence += share * l.divergence;
}

static struct gradient_loss learn(struct actor *a, const struct segment *s)
{
    struct actor_inside *r = a->in;
    struct gradient_loss sum = { 0 };
    long n = s->seats * s->length, batch = a->o.batch > 0 && a->o.batch < n ? a->o.batch : n, parts = n / batch;
    weigh(a, s);
    struct rng g = drawn_for(a, -1, a->rounds);
    for (long i = 0; i < n; i++) r->order[i] = i;
    for (int e = 0; e < a->o.epochs; e++) {
        if (parts > 1) rng_shuffle(&g, r->order, (size_t)n, sizeof *r->order);
        for (long k = 0; k < parts; k++) {
            add_loss(&sum, slope(a, s, r->order + k * batch, batch), 1 / (double)(parts * a->o.epochs));
            apply(a, a->net->gradient);
        }
    }
    return sum;
}

/* ---- rounds ---- */

static void count(struct actor *a, struct actor_round *e, const struct segment *s)
{
    e->episodes += *s->episodes;
    e->total += *s->total;
    a->steps += s->seats * s->length;
    a->episodes += *s->episodes;
}

/* what a worker shares with its parent: weights and the number of steps so far; segment, gradient and loss */
struct orders { long steps; float weight[]; };
struct answer { struct gradient_loss loss; size_t gradient, segment; };  /* where these begin, in bytes */

static struct segment answer_segment(const struct actor *a, struct answer *w)
{
    struct segment s;
    lay_out(&s, (char *)w + w->segment, &a->env, a->o.seats / a->o.actors, a->o.length);
    return s;
}

static void work(void *self, int k, long turn, const void *in, void *out)
{
    struct actor *a = self;
    const struct orders *o = in;
    struct answer *w = out;
    struct segment s = answer_segment(a, w);
    struct rng r = drawn_for(a, k, turn);
    memcpy(a->net->weight, o->weight, a->net->size * sizeof *o->weight);
    a->steps = o->steps;
    collect(a->net, a->in->env + k * s.seats, &r, &s);
    if (a->o.kind != BY_TURNS) return;
    long n = s.seats * s.length;
    weigh(a, &s);
    for (long i = 0; i < n; i++) a->in->order[i] = i;
    w->loss = slope(a, &s, a->in->order, n);
    memcpy((char *)w + w->gradient, a->net->gradient, a->net->size * sizeof(float));
}

/* seats and their last observations, between the whole and the pieces of the workers */
static void deal(struct actor *a, bool out)
{
    struct segment *all = &a->in->now;
    size_t row = (size_t)a->env.inputs * sizeof(float);
    for (int k = 0; k < a->o.actors; k++) {
        struct segment s = answer_segment(a, crew_out(a->in->crew, k));
        long first = k * s.seats, last = all->length * all->seats;
        struct seat *seat = all->seat + first;
        float *x = all->x + (last + first) * a->env.inputs, *wx = s.x + s.length * s.seats * a->env.inputs;
        char *state = all->state + (size_t)first * a->env.state_size;
        size_t n = (size_t)s.seats;
        memcpy(out ? s.seat : seat, out ? seat : s.seat, n * sizeof *seat);
        memcpy(out ? wx : x, out ? x : wx, n * row);
        memcpy(out ? s.state : state, out ? state : s.state, n * a->env.state_size);
    }
}

static void begin_crew(struct actor *a)
{
    struct segment s;
    size_t weights = a->net->size * sizeof(float), at = (sizeof(struct answer) + 63) & ~(size_t)63;
    size_t gradient = a->o.kind == BY_TURNS ? (weights + 63) & ~(size_t)63 : 0;
    size_t bytes = lay_out(&s, NULL, &a->env, a->o.seats / a->o.actors, a->o.length);
    a->in->crew = crew_new(a->o.actors, sizeof(struct orders) + weights, at + gradient + bytes, work, a);
    for (int k = 0; k < a->o.actors; k++)
        *(struct answer *)crew_out(a->in->crew, k) = (struct answer){ .gradient = at, .segment = at + gradient };
    deal(a, true);
}

static void go(struct actor *a, int k, long turn)
{
    struct orders *o = crew_in(a->in->crew, k);
    o->steps = a->steps;
    memcpy(o->weight, a->net->weight, a->net->size * sizeof *o->weight);
    crew_go(a->in->crew, k, turn);
}

static struct actor_round by_turns(struct actor *a)
{
    struct actor_round e = { 0 };
    long n = a->o.actors, ticks = n * ACTOR_TURNS;
    for (int k = 0; k < n; k++) go(a, k, a->rounds * ACTOR_TURNS);
    for (long j = 0; j < ticks; j++) {
        int k = (int)(j % n);
        crew_wait(a->in->crew, k);
        struct answer *w = crew_out(a->in->crew, k);
        struct segment s = answer_segment(a, w);
        count(a, &e, &s);
        add_loss(&e.loss, w->loss, 1 / (double)ticks);
        apply(a, (const float *)((char *)w + w->gradient));
        if (j + n < ticks) go(a, k, a->rounds * ACTOR_TURNS + j / n + 1);
    }
    return e;
}

/* segments of the workers side by side in one */
static void gather(struct actor *a, struct segment *all)
{
    size_t row = (size_t)a->env.inputs * sizeof(float);
    *all->episodes = 0, *all->total = 0;
    for (int k = 0; k < a->o.actors; k++) {
        struct segment s = answer_segment(a, crew_out(a->in->crew, k));
        size_t n = (size_t)s.seats;
        *all->episodes += *s.episodes;
        *all->total += *s.total;
        for (long t = 0; t <= s.length; t++) {
            long to = t * all->seats + k * s.seats, from = t * s.seats;
            memcpy(all->x + to * a->env.inputs, s.x + from * a->env.inputs, n * row);
            if (t == s.length) break;
            memcpy(all->cut + to * a->env.inputs, s.cut + from * a->env.inputs, n * row);
            memcpy(all->reward + to, s.reward + from, n * sizeof *s.reward);
            memcpy(all->logp + to, s.logp + from, n * sizeof *s.logp);
            memcpy(all->mask + to, s.mask + from, n * sizeof *s.mask);
            memcpy(all->action + to, s.action + from, n * sizeof *s.action);
            memcpy(all->end + to, s.end + from, n);
        }
    }
}

static struct actor_round behind(struct actor *a)
{
    struct actor_inside *r = a->in;
    struct actor_round e = { 0 };
    for (int k = 0; k < a->o.actors; k++) go(a, k, a->rounds);
    if (r->have_late) e.loss = learn(a, &r->late);
    for (int k = 0; k < a->o.actors; k++) crew_wait(r->crew, k);
    gather(a, &r->late);
    count(a, &e, &r->late);
    r->have_late = true;
    return e;
}

struct actor_round actor_round(struct actor *a)
{
    struct actor_round e = { 0 };
    if (a->o.kind != TOGETHER && !a->in->crew) begin_crew(a);
    if (a->o.kind == BY_TURNS) {
        e = by_turns(a);
    } else if (a->o.kind == BEHIND) {
        e = behind(a);
    } else {
        struct rng r = drawn_for(a, 0, a->rounds);
        collect(a->net, a->in->env, &r, &a->in->now);
        count(a, &e, &a->in->now);
        e.loss = learn(a, &a->in->now);
    }
    a->rounds++;
    return e;
}

double actor_greedy(struct actor *a, struct rng *rng)
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

struct actor *actor_new(const struct environment *seats, const struct actor_options *o)
{
    if (seats->actions < 1 || seats->actions > ENV_ACTIONS)
        die("actor: %d actions, 1 to %d can be", seats->actions, ENV_ACTIONS);
    if (o->kind != TOGETHER && (o->actors < 1 || o->seats % o->actors))
        die("actor: %ld episodes at once cannot be shared by %d processes", o->seats, o->actors);
    struct actor *a = xcalloc(1, sizeof *a);
    struct actor_inside *r = a->in = xcalloc(1, sizeof *r);
    a->o = *o;
    a->env = *seats;
    size_t b = (size_t)o->seats, n = b * (size_t)o->length, in = (size_t)seats->inputs;
    size_t out = (size_t)seats->actions + 1;
    r->env = xmalloc(b, sizeof *r->env);
    memcpy(r->env, seats, b * sizeof *r->env);
    int width[ACTOR_HIDDEN + 2] = { seats->inputs };
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
    if (o->kind == BEHIND) lay_out(&r->late, r->late_memory = xcalloc(bytes, 1), seats, o->seats, o->length);
    for (size_t i = 0; i < b; i++) r->now.seat[i].fresh = true;
    r->d = xmalloc(size_mul(size_add(n, b), out), sizeof *r->d);
    r->x = xmalloc(size_mul(n, in), sizeof *r->x);
    r->value = xmalloc(size_add(n, b), sizeof *r->value);
    r->next = xmalloc(n, sizeof *r->next);
    r->ratio = xcalloc(n, sizeof *r->ratio);
    r->stop = xmalloc(n, 1);
    r->line_stop = xmalloc((size_t)o->length, 1);
    r->row = xmalloc(n, sizeof *r->row);
    r->pick = xmalloc(n, sizeof *r->pick);
    r->order = xmalloc(n, sizeof *r->order);
    for (int i = 0; i < 6; i++) r->line[i] = xmalloc((size_t)o->length, sizeof(float));
    return a;
}

void actor_free(struct actor *a)
{
    struct actor_inside *r = a->in;
    crew_free(r->crew);
    void *all[] = { r->env, r->memory, r->late_memory, r->d, r->x, r->value, r->next, r->ratio, r->stop,
                    r->line_stop, r->row, r->pick, r->order };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    for (int i = 0; i < 6; i++) free(r->line[i]);
    adam_free(&r->adam);
    net_free(a->net);
    free(r);
    free(a);
}

/* ---- checkpoints ---- */

static uint64_t task_of(const struct actor *a, const char *what)
{
    const struct actor_options *o = &a->o;
    struct buf b = { 0 };
    buf_format(&b, "%s|%d %d %ld|%d %d|", what, a->env.inputs, a->env.actions, a->env.limit, o->kind,
               o->kind == TOGETHER ? 1 : o->actors);
    for (int l = 0; l < o->nhidden; l++) buf_format(&b, "%d ", o->hidden[l]);
    buf_format(&b, "|%.17g %.17g %.17g %.17g|%ld %ld %d %ld|%.17g %.17g %.17g %.17g %.17g|%d %llu", o->gamma,
               o->lambda, o->rate, o->norm, o->seats, o->length, o->epochs, o->batch, o->loss.clip, o->loss.value,
               o->loss.entropy, o->entropy_last, o->rate_last, o->normal, (unsigned long long)o->seed);
    uint64_t h = hash_bytes(b.s, b.n, 0);
    free(b.s);
    return h;
}

static void items(struct actor *a, struct checkpoint *c)
{
    struct actor_inside *r = a->in;
    struct { long rounds, steps, updates, episodes, adam, late; } n = { a->rounds, a->steps, a->updates, a->episodes,
                                                                       r->adam.steps, r->have_late };
    checkpoint_item(c, &n, sizeof n);
    a->rounds = n.rounds, a->steps = n.steps, a->updates = n.updates, a->episodes = n.episodes;
    r->adam.steps = n.adam, r->have_late = n.late;
    size_t w = a->net->size * sizeof(float);
    struct segment s;
    checkpoint_item(c, a->net->weight, w);
    checkpoint_item(c, r->adam.first, w);
    checkpoint_item(c, r->adam.second, w);
    checkpoint_item(c, r->memory, lay_out(&s, NULL, &a->env, a->o.seats, a->o.length));
    if (n.late) checkpoint_item(c, r->late_memory, lay_out(&s, NULL, &a->env, a->o.seats, a->o.length));
}

void actor_save(struct actor *a, const char *path, const char *what)
{
    if (!a->env.state_size) die("actor: this environment cannot be saved");
    if (a->in->crew) deal(a, false);
    struct checkpoint *c = checkpoint_create(path, "actor", task_of(a, what));
    items(a, c);
    checkpoint_close(c);
}

bool actor_load(struct actor *a, const char *path, const char *what)
{
    struct actor_inside *r = a->in;
    struct checkpoint *c = checkpoint_open(path, "actor", task_of(a, what));
    if (!c) return false;
    items(a, c);
    checkpoint_close(c);
    for (long b = 0; b < a->o.seats; b++)
        memcpy(r->env[b].state, r->now.state + (size_t)b * a->env.state_size, a->env.state_size);
    return true;
}

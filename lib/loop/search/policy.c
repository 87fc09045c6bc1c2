#include "loop/search/policy.h"
#include "base/message.h"
#include "loop/nest/rows.h"
#include "rl/gradient.h"
#include "measure/clock.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 1 << 18, MOST_SEEN = 400 };
_Static_assert(MOST_SEEN >= (int)SEEN_ALL && MOST_SEEN >= (int)OBS_SCALED, "room for what is seen");
static const double NOMINAL_GHZ = 4, SLOWEST = 1e-3;

/* ---- what can be done and seen ---- */

const char repertoire_words[] = "published|tile|full|moves";

struct repertoire repertoire_of(enum repertoire_word word)
{
    struct repertoire r = { .moves = word == ACTIONS_MOVES };
    int last = word == ACTIONS_PUBLISHED ? ACT_PUBLISHED : word == ACTIONS_TILE ? ACT_MERGE : ACT_PACK_A;
    if (r.moves) last = MOVES;
    for (int a = 0; a < last; a++) r.action[r.nact++] = r.moves ? moves_all[a] : a;
    return r;
}

static int inputs(const struct repertoire *r)
{
    return r->moves ? SEEN_ALL : OBS_SCALED;
}

static uint32_t legal(const struct repertoire *r, const struct problem *p, const struct nest *t)
{
    uint32_t all = r->moves ? 0 : nest_mask(p, t, RULE_NONE), mask = 0;
    for (int a = 0; a < r->nact; a++) {
        struct nest copy = *t;
        bool can = r->moves ? move_do(p, &copy, r->action[a], NULL) : all >> r->action[a] & 1;
        mask |= (uint32_t)can << a;
    }
    return mask;
}

static void start(const struct repertoire *r, const struct problem *p, struct nest *t, struct moved *m)
{
    nest_reset(p, t);
    m->n = 0;
    if (r->moves) move_begin(p, t, m);
}

static void apply(const struct repertoire *r, const struct problem *p, struct nest *t, int action, struct moved *m)
{
    if (r->moves) {
        move_do(p, t, action, m);
    } else {
        nest_act(p, t, action, RULE_NONE);
        m->action[0] = action, m->n = 1;
    }
}

static void see(const struct repertoire *r, const struct problem *p, const struct nest *t, enum isa isa,
                const struct terms *k, float *x)
{
    if (r->moves) moves_seen(p, t, isa, k, x);
    else nest_loops_scaled(p, t, x);
}

/* ---- the table of states ---- */

static void forget(struct school *s)
{
    s->nstate = 0;
    if (!s->slot) s->slot = xcalloc(s->nslot = 2 * MAX_STATES, sizeof *s->slot);
    else memset(s->slot, 0, s->nslot * sizeof *s->slot);
}

static size_t state_of(struct school *s, uint32_t problem, const struct nest *t)
{
    uint64_t key = hash_bytes(&problem, sizeof problem, nest_hash(t, true));
    size_t k = key & (s->nslot - 1);
    while (s->slot[k] && s->state[s->slot[k] - 1].key != key) k = (k + 1) & (s->nslot - 1);
    if (s->slot[k]) return s->slot[k] - 1;
    const struct problem *p = &s->p[problem];
    if (s->v->p != p) evaluator_problem(s->v, p);
    s->state = grow(s->state, s->nstate + 1, &s->cap, sizeof *s->state);
    struct policy_state *to = &s->state[s->nstate];
    *to = (struct policy_state){ .key = key, .t = *t, .problem = problem, .mask = legal(&s->can, p, t) };
    if (s->can.moves) to->terms = moves_terms(p, t, s->v->isa, s->v->prepared);
    if (s->can.moves && s->v->model) to->gflops = (float)(problem_flops(p) / to->terms.seconds * 1e-9);
    else to->gflops = (float)evaluate(s->v, t).gflops;
    memset(to->next, -1, sizeof to->next);
    s->slot[k] = (uint32_t)++s->nstate;
    return s->nstate - 1;
}

/* where the seat is in the table: looked up again when the table was emptied, or the seat restored from a file */
static struct policy_state *place(struct school_seat *d)
{
    struct school *s = d->school;
    if (!s->slot || s->nstate + 2 > MAX_STATES) forget(s);
    if (d->here >= s->nstate || s->state[d->here].key != d->now.key) {
        d->here = state_of(s, d->now.problem, &d->now.t);
        d->now.key = s->state[d->here].key;
    }
    return &s->state[d->here];
}

static void reset(void *self, struct rng *r, float *x, uint32_t *mask)
{
    struct school_seat *d = self;
    struct school *s = d->school;
    memset(&d->now, 0, sizeof d->now);
    d->now.problem = (uint32_t)rng_below(r, s->np);
    start(&s->can, &s->p[d->now.problem], &d->now.t, &(struct moved){ 0 });
    for (uint64_t n = s->starts ? rng_below(r, (uint64_t)s->starts + 1) : 0; n-- > 0; ) {
        int a = environment_any(r, s->can.nact, legal(&s->can, &s->p[d->now.problem], &d->now.t));
        if (a >= 0) apply(&s->can, &s->p[d->now.problem], &d->now.t, s->can.action[a], &(struct moved){ 0 });
    }
    const struct policy_state *here = place(d);
    see(&s->can, &s->p[d->now.problem], &here->t, s->v->isa, &here->terms, x);
    *mask = here->mask;
}

/* of a state; the reward of a step is what it adds */
static double worth(double gflops, enum isa isa, bool ratio)
{
    double peak = NOMINAL_GHZ * 4 * (isa == ISA_AVX2 ? 8 : 16);     /* two units, two operations */
    return ratio ? log2(gflops / peak + SLOWEST) / 4 : gflops / peak;
}

static double step(void *self, int action, float *x, uint32_t *mask, bool *ended)
{
    struct school_seat *d = self;
    struct school *s = d->school;
    const struct problem *p = &s->p[d->now.problem];
    struct policy_state *from = place(d);
    float before = from->gflops;
    if (from->next[action] < 0) {
        struct nest t = from->t;
        apply(&s->can, p, &t, s->can.action[action], &(struct moved){ 0 });
        int32_t to = (int32_t)state_of(s, d->now.problem, &t);
        s->state[d->here].next[action] = to;             /* the table may have moved */
    }
    d->here = (size_t)s->state[d->here].next[action];
    const struct policy_state *to = &s->state[d->here];
    d->now.key = to->key;
    d->now.t = to->t;
    see(&s->can, p, &to->t, s->v->isa, &to->terms, x);
    *mask = to->mask;
    *ended = false;
    return worth(to->gflops, s->v->isa, s->ratio) - worth(before, s->v->isa, s->ratio);
}

struct environment school_environment(struct school_seat *d, struct school *s, int steps)
{
    memset(d, 0, sizeof *d);
    d->school = s;
    return (struct environment){ d, inputs(&s->can), s->can.nact, steps, reset, step, &d->now, sizeof d->now };
}

void school_read(struct school *s, const char *path, struct buf *names)
{
    struct nest_rows r;
    size_t cap = 0;
    rows_open(&r, csv_open(path), false);
    int split = csv_find(r.t, "split");
    while (rows_next(&r)) {
        if (split >= 0 && !str_is(csv_str(r.t, split), "train")) continue;
        s->p = grow(s->p, s->np + 1, &cap, sizeof *s->p);
        s->p[s->np++] = r.p;
        buf_format(names, "%s\n", r.p.text);
    }
    rows_close(&r);
    if (!s->np) die("%s: no problem to learn from", path);
}

void school_free(struct school *s)
{
    free(s->state);
    free(s->slot);
}

const double policy_gamma = 0.95;

struct learner_options policy_learner(enum learning algo, uint64_t seed, int actors, long *steps)
{
    struct learner_options o = learner_defaults(algo, seed);
    bool values = algo != LEARN_PPO;
    if (*steps == LONG_MIN) *steps = values ? 100000 : 200000;
    o.actors = actors;
    o.dqn.hidden[0] = 256, o.dqn.capacity = 20000, o.dqn.gamma = policy_gamma, o.dqn.every = 4, o.dqn.rate = 5e-4;
    o.dqn.explore_steps = *steps / 2, o.dqn.explore_last = 0.05, o.dqn.correction_steps = *steps / o.dqn.every;
    o.share = 100;
    o.ppo.hidden[0] = 256, o.ppo.gamma = policy_gamma, o.ppo.total = *steps;
    o.ppo.length = 10, o.ppo.loss.entropy = 0.01, o.ppo.entropy_last = 0.1;
    o.ppo.seats = 64, o.ppo.epochs = 4, o.ppo.batch = 160, o.ppo.rate = 5e-4;
    return o;
}

/* ---- policies as files ---- */

void policy_write(const struct policy *p, sexpw *w)
{
    char b[40];
    sexpw_begin(w, "policy");
    sexpw_pair_str(w, "observe", str_of(p->can.moves ? "moves" : "scaled"));
    sexpw_pair_str(w, "reward", str_of(p->ratio ? "ratio" : "gain"));
    sexpw_pair(w, "gamma", p->gamma);
    sexpw_pair(w, "steps", p->steps);
    sexpw_begin(w, "actions");
    for (int a = 0; a < p->can.nact; a++) sexpw_cstr(w, move_name(p->can.action[a], b));
    sexpw_end(w);
    sexpw_line(w);
    agent_write(&p->g, w);
    sexpw_end(w);
    sexpw_close(w);
}

struct policy policy_read(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    const struct sexp *s = sexp_only(r);
    snode acts = sexp_get(s, 0, "actions"), net = sexp_first(s, 0);
    while (net != SEXP_NONE && !agent_is(s, net)) net = sexp_after(s, net);
    if (!sexp_head(s, 0, "policy") || acts == SEXP_NONE || net == SEXP_NONE) sexp_die(s, 0, "not a (policy ...)");
    struct policy p = { .gamma = sexp_num_of(s, 0, "gamma") };
    double steps = sexp_num_of(s, 0, "steps");
    if (!(steps >= 1 && steps <= POLICY_STEPS && p.gamma >= 0 && p.gamma <= 1)) sexp_die(s, 0, "bad steps or gamma");
    p.steps = (int)steps;
    p.ratio = str_is(sexp_str_of(s, 0, "reward"), "ratio");
    p.can.moves = str_is(sexp_str_of(s, 0, "observe"), "moves");
    for (snode c = sexp_nth(s, acts, 1); c != SEXP_NONE; c = sexp_after(s, c)) {
        int a = p.can.moves ? move_of(sexp_atom(s, c)) : act_of(sexp_atom(s, c));
        if (a < 0 || (!p.can.moves && a >= ACT_COUNT) || p.can.nact == POLICY_ACTIONS)
            sexp_die(s, c, "unknown or one action too many");
        p.can.action[p.can.nact++] = a;
    }
    p.g = agent_read(s, net, POLICY_WIDTH);
    int want = inputs(&p.can);
    if (p.g.inputs != want || p.g.actions != p.can.nact)
        sexp_die(s, net, "%d inputs and %d actions, not %d and %d", p.g.inputs, p.g.actions, want, p.can.nact);
    sexp_close(r);
    return p;
}

/* ---- roll-outs ---- */

struct seen {
    struct nest t;
    int path[POLICY_STEPS], npath;
    double gain, value, gflops, when;
    uint32_t mask;
    struct terms terms;                                  /* of moves only */
    float q[POLICY_ACTIONS];
};
struct choice { int from, action; double score; };

static int by_score(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->from != y->from ? x->from - y->from : x->action - y->action;
}

/* network values of states first .. last-1 */
static void judge(const struct policy *k, const struct evaluator *v, const struct problem *p, struct seen *s, int first,
                  int last)
{
    static float x[POLICY_WIDTH * MOST_SEEN], q[POLICY_WIDTH * POLICY_ACTIONS];
    uint32_t mask[POLICY_WIDTH] = { 0 };
    for (int i = first; i < last; i++) {
        if (k->can.moves) s[i].terms = moves_terms(p, &s[i].t, v->isa, v->prepared);
        see(&k->can, p, &s[i].t, v->isa, &s[i].terms, x + (i - first) * inputs(&k->can));
        mask[i - first] = s[i].mask = legal(&k->can, p, &s[i].t);
    }
    agent_values(&k->g, x, mask, last - first, q);
    for (int i = first; i < last; i++) {
        memcpy(s[i].q, q + (i - first) * k->can.nact, (size_t)k->can.nact * sizeof *q);
        int best = policy_best(s[i].q, mask[i - first], k->can.nact);
        s[i].value = best < 0 ? 0 : (double)s[i].q[best];
    }
}

static double said(const struct policy *k, const struct evaluator *v, const struct problem *p, const struct seen *s)
{
    return worth(problem_flops(p) / s->terms.seconds * 1e-9, v->isa, k->ratio);
}

static int beam(const struct policy *k, const struct evaluator *v, const struct problem *p, struct seen *s, int width,
                bool by_model)
{
    int n = 1, first = 0;
    start(&k->can, p, &s[0].t, &(struct moved){ 0 });
    judge(k, v, p, s, 0, 1);
    for (int d = 0; d < k->steps; d++) {
        struct choice c[POLICY_WIDTH * POLICY_ACTIONS];
        int m = 0, last = n;
        for (int i = first; i < last; i++)
            for (int a = 0; a < k->can.nact; a++)
                if (s[i].mask >> a & 1) c[m++] = (struct choice){ i, a, s[i].gain + (double)s[i].q[a] };
        qsort(c, (size_t)m, sizeof *c, by_score);
        for (int j = 0; j < m && n - last < width; j++) {
            struct seen *to = &s[n];
            *to = s[c[j].from];
            to->path[to->npath++] = k->can.action[c[j].action];
            apply(&k->can, p, &to->t, k->can.action[c[j].action], &(struct moved){ 0 });
            bool known = false;
            for (int i = 0; i < n && width > 1; i++) known |= nest_hash(&s[i].t, true) == nest_hash(&to->t, true);
            if (known) continue;
            to->gain = c[j].score;
            n++;
        }
        if (n == last) break;
        judge(k, v, p, s, last, n);
        for (int i = last; i < n; i++) {
            if (by_model && k->can.moves) s[i].gain = said(k, v, p, &s[i]) - said(k, v, p, &s[0]);
            else s[i].gain -= k->gamma * s[i].value;
        }
        first = last;
    }
    return n;
}

/* measures a state, unless twice what the model expects of it is more than the time that is left */
static bool try(struct evaluator *v, const struct problem *p, struct seen *c, bool first, double left)
{
    struct nest t = c->t;
    double expected = 0;
    if (first) nest_reset(p, &t);                        /* loops of one iteration are elsewhere there */
    if (isfinite(left) && (model_seconds(&expected, p, &t, v->isa, v->prepared) || !(2 * expected < left)))
        return false;
    c->gflops = evaluate(v, &t).gflops;
    return true;
}

static int path_to(const struct policy *k, const struct problem *p, const struct seen *s, int path[POLICY_PATH])
{
    struct nest t;
    struct moved m;
    int n = 0;
    start(&k->can, p, &t, &m);
    for (int i = -1; i < s->npath && n + MOVE_ACTIONS <= POLICY_PATH; i++) {
        if (i >= 0) apply(&k->can, p, &t, s->path[i], &m);
        memcpy(path + n, m.action, (size_t)m.n * sizeof *m.action);
        n += m.n;
    }
    return n;
}

struct rollout policy_roll(const struct policy *k, struct evaluator *v, const struct problem *p, int width, int measure,
                           bool by_model, double seconds)
{
    static struct seen s[POLICY_STEPS * POLICY_WIDTH + 1];
    static struct choice order[POLICY_STEPS * POLICY_WIDTH + 1];
    static struct rollout r;
    r = (struct rollout){ 0 };
    double began = now_seconds(), cap = v->cap_seconds, last = NAN;
    int runs = v->min_runs;
    s[0] = (struct seen){ 0 };
    if (v->p != p) evaluator_problem(v, p);
    v->check = false;                                    /* as in searches: the encoder is tested elsewhere */
    if (isfinite(seconds)) v->cap_seconds = fmin(cap, seconds / 50), v->min_runs = 1;
    int n = beam(k, v, p, s, width, by_model), best = 0;
    for (int i = 0; i < n; i++) {
        double score = s[i].gain;
        if (by_model && k->can.moves) score = -s[i].terms.seconds;
        else if (by_model) score = model_seconds(&score, p, &s[i].t, v->isa, v->prepared) ? -INFINITY : -score;
        order[i] = (struct choice){ i, 0, i ? score : INFINITY };
        s[i].gflops = s[i].when = NAN;
    }
    qsort(order, (size_t)n, sizeof *order, by_score);
    if (n > 1) best = order[1].from;                     /* until something is measured */
    for (int i = 0; i < n && r.measured < measure; i++) {
        struct seen *c = &s[order[i].from];
        bool known = false;
        for (int j = 0; j < i; j++)
            known |= !isnan(s[order[j].from].gflops) && nest_same(&s[order[j].from].t, &c->t);
        double left = seconds - (now_seconds() - began);
        if (known || !try(v, p, c, c == s, c == s ? left / 10 : left)) continue;
        c->when = last = v->model ? (double)(r.measured + 1) * 1e-4 : now_seconds() - began;
        r.measured++;
        if (!(c->gflops <= s[best].gflops)) best = order[i].from;
    }
    v->cap_seconds = cap, v->min_runs = runs;
    v->check = true;
    if (best) r.npath = path_to(k, p, &s[best], r.path);
    for (int i = 0; i <= r.npath; i++) r.gflops[i] = r.when[i] = NAN;
    r.gflops[0] = s[0].gflops, r.when[0] = s[0].when;
    r.gflops[r.npath] = s[best].gflops, r.when[r.npath] = last;
    return r;
}

/* learner: every algorithm finds the way through a small grid, respects masks, and goes on from a checkpoint as if it
 * had not stopped. */
#include "rl/crew.h"
#include "rl/learner.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 3 x 3, start anywhere, 1 for reaching the last cell, -1 for the pit in the middle; left right up down, and one
 * action that is never legal */
enum { SIDE = 3, CELLS = SIDE * SIDE, GOAL = CELLS - 1, PIT = 4, ACTS = 5, SEATS = 64 };
struct grid { int at; };

static uint32_t legal(int at)
{
    int x = at % SIDE, y = at / SIDE;
    return (uint32_t)((x > 0) | (x < SIDE - 1) << 1 | (y > 0) << 2 | (y < SIDE - 1) << 3);
}

static void show(const struct grid *g, float *x, uint32_t *mask)
{
    memset(x, 0, CELLS * sizeof *x);
    x[g->at] = 1;
    *mask = legal(g->at);
}

static bool corner;                                      /* always begin in the first cell */
static void grid_reset(void *self, struct rng *r, float *x, uint32_t *mask)
{
    struct grid *g = self;
    do g->at = corner ? 0 : (int)rng_below(r, CELLS);
    while (g->at == GOAL || g->at == PIT);
    show(g, x, mask);
}

static double grid_step(void *self, int action, float *x, uint32_t *mask, bool *ended)
{
    static const int move[] = { -1, 1, -SIDE, SIDE, 0 };
    struct grid *g = self;
    if (!(legal(g->at) >> action & 1)) abort();          /* also in a worker, whose variables are its own */
    g->at += move[action];
    show(g, x, mask);
    *ended = g->at == GOAL || g->at == PIT;
    return g->at == GOAL ? 1 : g->at == PIT ? -1 : 0;
}

static struct learner_options small(enum learning algo)
{
    struct learner_options o = learner_defaults(algo, 1);
    o.dqn.hidden[0] = o.ppo.hidden[0] = 32, o.dqn.nhidden = o.ppo.nhidden = 1;
    o.dqn.gamma = o.ppo.gamma = 0.9;
    o.dqn.batch = 32, o.dqn.capacity = 3000, o.dqn.warmup = 100, o.dqn.target = 50, o.dqn.nstep = 1;
    o.dqn.explore_steps = 2000, o.dqn.explore_last = 0.2, o.dqn.correction_steps = 4000;
    o.share = 50;
    o.ppo.length = 8, o.ppo.rate = 5e-3, o.ppo.total = 40000, o.ppo.batch = 64;
    return o;
}

static struct learner *made(enum learning algo, struct grid *g)
{
    static struct environment e[SEATS];
    struct learner_options o = small(algo);
    memset(g, 0, SEATS * sizeof *g);
    for (int k = 0; k < SEATS; k++)
        e[k] = (struct environment){ &g[k], CELLS, ACTS, 20, grid_reset, grid_step, &g[k], sizeof *g };
    return learner_new(e, &o);
}

static bool same_weights(const struct learner *a, const struct learner *b)
{
    struct agent x = learner_agent(a), y = learner_agent(b);
    return !memcmp(x.net->weight, y.net->weight, x.net->size * sizeof(float));
}

static void one(enum learning algo, long steps, const char *path)
{
    struct grid g[SEATS], g2[SEATS];
    char name[100];
    struct learner *l = made(algo, g), *half = made(algo, g2);
    while (l->steps < steps) learner_advance(l);
    struct rng r = rng_for(1, str_of("greedy"));
    corner = true;
    snprintf(name, sizeof name, "%s: the likeliest way reaches the goal", learner_name[algo]);
    near(learner_greedy(l, &r), 1, 1e-9, name);
    corner = false;
    struct agent a = learner_agent(l);                   /* values of all states but ends, against the distance */
    double far = 0;
    for (int at = 0; at < CELLS; at++) {
        if (at == PIT || at == GOAL) continue;
        float x[CELLS], q[ACTS];
        uint32_t mask;
        show(&(struct grid){ at }, x, &mask);
        agent_values(&a, x, &mask, 1, q);
        double best = -1e9, want = pow(0.9, 4 - at % SIDE - at / SIDE - 1);
        for (int k = 0; k < ACTS; k++)
            if (mask >> k & 1) best = fmax(best, (double)q[k]);
        far = fmax(far, fabs(best - want));
    }
    snprintf(name, sizeof name, "%s: the best actions are worth what they should be", learner_name[algo]);
    near(far, 0, 0.15, name);

    while (half->steps < steps / 4) learner_advance(half);
    learner_save(half, path, "grid");
    while (half->steps < steps / 2) learner_advance(half);
    struct learner *again = made(algo, g);
    bool there = learner_load(again, path, "grid");
    while (again->steps < steps / 2) learner_advance(again);
    snprintf(name, sizeof name, "%s: from a checkpoint it goes on to the same network", learner_name[algo]);
    ok(there && again->steps == half->steps && again->episodes == half->episodes && same_weights(again, half), name);
    learner_free(l);
    learner_free(half);
    learner_free(again);
}

static void add(void *self, int worker, long turn, const void *in, void *out)
{
    (void)self;
    *(long *)out = 100 * worker + turn + *(const long *)in;
}

static void crews(void)
{
    struct crew *c = crew_new(3, sizeof(long), sizeof(long), add, NULL);
    bool right = true;
    for (long turn = 0; turn < 50; turn++) {
        for (int k = 0; k < 3; k++) *(long *)crew_in(c, k) = 1000 * turn, crew_go(c, k, turn);
        for (int k = 3; k-- > 0; ) {
            crew_wait(c, k);
            right &= *(long *)crew_out(c, k) == 100 * k + turn + 1000 * turn;
        }
    }
    ok(right, "workers answer what they were asked");
    crew_free(c);
}

/* any legal action, each as often as another; none where nothing is legal */
static void drawn(void)
{
    struct rng r = rng_for(5, str_of("any"));
    int count[ACTS] = { 0 };
    for (int i = 0; i < 3000; i++) count[environment_any(&r, ACTS, 0x15)]++;
    ok(count[1] + count[3] == 0 && count[0] > 900 && count[2] > 900 && count[4] > 900, "legal actions, evenly");
    ok(environment_any(&r, ACTS, 0) == -1 && environment_any(&r, ACTS, 1u << ACTS) == -1, "none is legal");
}

int main(void)
{
    char path[] = "/tmp/lib-learner-XXXXXX";
    close(mkstemp(path));
    crews();
    drawn();
    one(LEARN_DQN, 8000, path);
    one(LEARN_APEX, 8000, path);
    one(LEARN_PPO, 60000, path);
    unlink(path);
    return done();
}

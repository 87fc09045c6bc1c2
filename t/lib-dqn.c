/* dqn: a grid with a known optimum, masks, checkpoints that continue bit by bit, files; first push of the cart. */
#include "rl/cartpole.h"
#include "rl/dqn.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 4 x 4, start in a corner, 1 for reaching the opposite one, a pit at (1,1) ends with -1; left right up down */
enum { SIDE = 4, GOAL = 15, PIT = 5 };
struct grid { int at; bool anywhere; long illegal; };

static uint32_t legal(int at)
{
    int x = at % SIDE, y = at / SIDE;
    return (uint32_t)((x > 0) | (x < SIDE - 1) << 1 | (y > 0) << 2 | (y < SIDE - 1) << 3);
}

static void show(const struct grid *g, float *x, uint32_t *mask)
{
    memset(x, 0, SIDE * SIDE * sizeof *x);
    x[g->at] = 1;
    *mask = legal(g->at);
}

static void reset(void *self, struct rng *r, float *x, uint32_t *mask)
{
    struct grid *g = self;
    do g->at = g->anywhere ? (int)rng_below(r, SIDE * SIDE) : 0;
    while (g->at == GOAL || g->at == PIT);
    show(g, x, mask);
}

static double step(void *self, int action, float *x, uint32_t *mask, bool *ended)
{
    static const int move[] = { -1, 1, -SIDE, SIDE, 0 };
    struct grid *g = self;
    g->illegal += !(legal(g->at) >> action & 1);
    g->at += move[action];
    show(g, x, mask);
    *ended = g->at == GOAL || g->at == PIT;
    return g->at == GOAL ? 1 : g->at == PIT ? -1 : 0;
}

static struct dqn_options small(void)
{
    struct dqn_options o = dqn_defaults();
    o.hidden[0] = 32, o.nhidden = 1, o.gamma = 0.9, o.batch = 32, o.capacity = 2000, o.warmup = 100, o.target = 50;
    o.explore_steps = 3000, o.explore_last = 0.3, o.correction_steps = 4000;
    return o;
}

/* largest distance from the values of value iteration, over states and legal actions */
static double apart(const struct dqn *q)
{
    double v[SIDE * SIDE] = { 0 }, worst = 0;
    struct grid g = { 0 };
    float x[SIDE * SIDE], value[5];
    uint32_t mask;
    bool ended;
    for (int pass = 0; pass < 2 * 50; pass++)
        for (int s = 0; s < SIDE * SIDE; s++) {
            double best = -10;
            if (s == GOAL || s == PIT) continue;
            for (int a = 0; a < 4; a++) {
                if (!(legal(s) >> a & 1)) continue;
                g.at = s;
                double r = step(&g, a, x, &mask, &ended), want = r + (ended ? 0 : 0.9 * v[g.at]);
                best = fmax(best, want);
                if (pass < 99) continue;
                g.at = s;
                show(&g, x, &mask);
                agent_values(&q->online, x, &mask, 1, value);
                worst = fmax(worst, fabs((double)value[a] - want));
            }
            v[s] = best;
        }
    return worst;
}

static struct dqn *trained(struct grid *g, struct dqn_options o, long steps)
{
    struct environment e = { g, SIDE * SIDE, 5, 30, reset, step };
    struct dqn *q = dqn_new(&e, &o);
    while (q->steps < steps) dqn_episode(q);
    return q;
}

int main(void)
{
    struct grid g = { .anywhere = true };
    struct dqn_options o = small();
    o.nstep = 1;
    struct dqn *q = trained(&g, o, 8000);
    near(apart(q), 0, 0.1, "one-step values agree with value iteration in all states");
    ok(g.illegal == 0, "no illegal action was taken");
    g.anywhere = false;
    struct rng r = rng_for(1, str_of("greedy"));
    near(dqn_greedy(q, &r), 1, 1e-9, "the greedy way reaches the goal");
    dqn_free(q);
    g.anywhere = true;
    o.dueling = o.twin = false, o.priority = 0;
    q = trained(&g, o, 8000);
    near(apart(q), 0, 0.1, "so do those of the plain form");
    dqn_free(q);
    o = small();                                         /* everything on, three steps: greedy way at least */
    q = trained(&g, o, 8000);
    g.anywhere = false;
    near(dqn_greedy(q, &r), 1, 1e-9, "three-step returns find the way too");

    char path[] = "/tmp/lib-dqn-XXXXXX";
    close(mkstemp(path));
    sexpw *w = sexpw_open(path);
    agent_write(&q->online, w);
    sexpw_close(w);
    sexpr *in = sexp_open(path, SEXP_CORE);
    struct agent back = agent_read(sexp_only(in), 0, 1);
    ok(back.dueling && back.actions == 5 && back.net->size == q->online.net->size &&
           !memcmp(back.net->weight, q->online.net->weight, back.net->size * sizeof(float)),
       "a network reads back bit by bit");
    sexp_close(in);
    agent_free(&back);
    dqn_free(q);

    struct grid g1 = { .anywhere = true }, g2 = g1, g3 = g1;
    struct dqn *whole = trained(&g1, o, 3000), *half = trained(&g2, o, 1500);
    dqn_save(half, path, "grid");
    struct environment e = { &g3, SIDE * SIDE, 5, 30, reset, step };
    struct dqn *again = dqn_new(&e, &o);
    ok(dqn_load(again, path, "grid"), "a checkpoint is read");
    while (again->steps < 3000) dqn_episode(again);
    ok(again->steps == whole->steps &&
           !memcmp(again->online.net->weight, whole->online.net->weight, whole->online.net->size * sizeof(float)),
       "a training that was interrupted ends with the same network");
    ok(!dqn_load(again, "/nonexistent/x", "grid"), "no file is no error");
    dqn_free(whole);
    dqn_free(half);
    dqn_free(again);
    unlink(path);

    struct cartpole c = { 0, 0, 0, 0 };
    cartpole_step(&c, true);
    near(c.v, 0.02 * 0.19512195121951220 * 50, 1e-12, "the first push: 9.756 m/s2");
    near(c.turn, -0.02 * 14.634146341463415, 1e-12, "and -14.63 /s2");
    return done();
}

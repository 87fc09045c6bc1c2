#include "rl/cartpole.h"
#include <math.h>

static const double GRAVITY = 9.8, CART = 1, POLE = 0.1, HALF = 0.5, FORCE = 10, TICK = 0.02;      /* m, kg, s, N */
static const double FAR = 2.4, TILTED = 12 * M_PI / 180;

bool cartpole_step(struct cartpole *c, bool right)
{
    double sine = sin(c->angle), cosine = cos(c->angle);
    double push = ((right ? FORCE : -FORCE) + POLE * HALF * c->turn * c->turn * sine) / (CART + POLE);
    double spin = (GRAVITY * sine - cosine * push) / (HALF * (4.0 / 3 - POLE * cosine * cosine / (CART + POLE)));
    double speed_up = push - POLE * HALF * spin * cosine / (CART + POLE);
    c->x += TICK * c->v;
    c->v += TICK * speed_up;
    c->angle += TICK * c->turn;
    c->turn += TICK * spin;
    return fabs(c->x) <= FAR && fabs(c->angle) <= TILTED;
}

static void observe(const struct cartpole *c, float *x, uint32_t *mask)
{
    x[0] = (float)c->x, x[1] = (float)c->v, x[2] = (float)c->angle, x[3] = (float)c->turn;
    *mask = 3;
}

static void reset(void *self, struct rng *r, float *x, uint32_t *mask)
{
    struct cartpole *c = self;
    double *to[] = { &c->x, &c->v, &c->angle, &c->turn };
    for (int i = 0; i < 4; i++) *to[i] = 0.1 * rng_unit(r) - 0.05;
    observe(c, x, mask);
}

static double step(void *self, int action, float *x, uint32_t *mask, bool *ended)
{
    *ended = !cartpole_step(self, action == 1);
    observe(self, x, mask);
    return 1;
}

struct environment cartpole_environment(struct cartpole *c)
{
    return (struct environment){ c, 4, 2, 500, reset, step, c, sizeof *c };
}

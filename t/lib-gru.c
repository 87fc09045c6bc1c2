/* gru: against the equations one by one, and its gradient against finite differences. */
#include "base/rng.h"
#include "net/gru.h"
#include "tap.h"
#include <string.h>

enum { IN = 3, H = 4, BATCH = 2, STEPS = 5 };
static float x[STEPS * BATCH * IN], h0[BATCH * H], want[STEPS * BATCH * H];
static const int first[BATCH] = { 0, 2 };

static double loss(struct gru *g)                        /* sum of want * h over the steps that count */
{
    const float *h = gru_forward(g, x, h0, BATCH, STEPS);
    double sum = 0;
    for (int i = 0; i < STEPS * BATCH * H; i++) sum += (double)(want[i] * h[i]);
    return sum;
}

static double slope(struct gru *g, float *at)
{
    float kept = *at, e = 5e-3F;
    *at = kept + e;
    double up = loss(g), step = (double)*at;
    *at = kept - e;
    double down = loss(g);
    step -= (double)*at;
    *at = kept;
    return (up - down) / step;
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

int main(void)
{
    struct rng r = rng_for(1, str_of("gru"));
    struct gru *g = gru_new(IN, H, BATCH, STEPS, 7);
    for (size_t i = 0; i < g->size; i++) g->weight[i] += (float)(0.3 * rng_normal(&r));
    for (int i = 0; i < STEPS * BATCH * IN; i++) x[i] = (float)rng_normal(&r);
    for (int i = 0; i < BATCH * H; i++) h0[i] = (float)rng_normal(&r) / 2;
    for (int i = 0; i < STEPS * BATCH * H; i++) want[i] = (float)rng_normal(&r);

    const float *h = gru_forward(g, x, h0, BATCH, STEPS), *w = g->weight, *u = w + 3 * H * IN, *b = u + 3 * H * H,
                *ub = b + 3 * H;
    double far = 0, before[BATCH][H];
    for (int i = 0; i < BATCH * H; i++) before[i / H][i % H] = (double)h0[i];
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < BATCH; i++) {
            double a[3 * H], c[3 * H], now[H];
            for (int k = 0; k < 3 * H; k++) {
                a[k] = (double)b[k], c[k] = (double)ub[k];
                for (int j = 0; j < IN; j++) a[k] += (double)(w[k * IN + j] * x[(t * BATCH + i) * IN + j]);
                for (int j = 0; j < H; j++) c[k] += (double)u[k * H + j] * before[i][j];
            }
            for (int k = 0; k < H; k++) {
                double z = sigmoid(a[k] + c[k]), reset = sigmoid(a[H + k] + c[H + k]);
                now[k] = (1 - z) * tanh(a[2 * H + k] + reset * c[2 * H + k]) + z * before[i][k];
                far = fmax(far, fabs(now[k] - (double)h[(t * BATCH + i) * H + k]));
            }
            memcpy(before[i], now, sizeof now);
        }
    near(far, 0, 1e-5, "a step is its equations");

    loss(g);
    gru_backward(g, want, NULL, BATCH, STEPS);
    float *gradient = g->gradient, d_x[STEPS * BATCH * IN];
    memcpy(d_x, g->d_x, sizeof d_x);
    far = 0;
    for (size_t i = 0; i < g->size; i++) far = fmax(far, fabs(slope(g, &g->weight[i]) - (double)gradient[i]));
    near(far, 0, 2e-3, "the gradient through time is the finite difference");
    far = 0;
    for (int i = 0; i < STEPS * BATCH * IN; i++) far = fmax(far, fabs(slope(g, &x[i]) - (double)d_x[i]));
    near(far, 0, 2e-3, "so is that at the inputs");

    /* a warmed-up state: what lies before has no gradient, what follows the same as if it had been given */
    loss(g);
    gru_backward(g, want, first, BATCH, STEPS);
    memcpy(d_x, g->d_x, sizeof d_x);
    bool none = true;
    for (int t = 0; t < first[1]; t++)
        for (int k = 0; k < IN; k++) none &= d_x[(t * BATCH + 1) * IN + k] == 0;
    ok(none, "nothing is differentiated before the first step");
    float given[H], tail[(STEPS - 2) * IN];
    memcpy(given, g->h + (2 * BATCH + 1) * H, sizeof given);
    for (int t = 2; t < STEPS; t++) memcpy(tail + (t - 2) * IN, x + (t * BATCH + 1) * IN, IN * sizeof *x);
    float d[(STEPS - 2) * H];
    for (int t = 2; t < STEPS; t++) memcpy(d + (t - 2) * H, want + (t * BATCH + 1) * H, H * sizeof *d);
    gru_forward(g, tail, given, 1, STEPS - 2);
    gru_backward(g, d, NULL, 1, STEPS - 2);
    far = 0;
    for (int t = 2; t < STEPS; t++)
        for (int k = 0; k < IN; k++)
            far = fmax(far, fabs((double)(g->d_x[(t - 2) * IN + k] - d_x[(t * BATCH + 1) * IN + k])));
    near(far, 0, 1e-5, "and afterwards the state counts as given");
    gru_free(g);
    return done();
}

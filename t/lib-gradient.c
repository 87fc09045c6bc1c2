/* gradient and returns: probabilities, slopes against finite differences, advantages against their definitions. */
#include "rl/gradient.h"
#include "rl/returns.h"
#include "tap.h"
#include <string.h>

enum { ACTS = 5, ROWS = 7, N = 23 };

static double loss_of(const struct gradient_options *o, const struct gradient_row *row, const float *y)
{
    static float d[ROWS * (ACTS + 1)];
    struct gradient_loss l = gradient_of(o, row, ROWS, ACTS, y, d);
    return l.policy + o->value * l.value - o->entropy * l.entropy;
}

/* largest difference between the gradient and a central difference */
static double worst(const struct gradient_options *o, const struct gradient_row *row, float *y)
{
    float d[ROWS * (ACTS + 1)];
    double far = 0;
    gradient_of(o, row, ROWS, ACTS, y, d);
    for (int i = 0; i < ROWS * (ACTS + 1); i++) {
        float kept = y[i], h = 4e-3F;
        y[i] = kept + h;
        double up = loss_of(o, row, y), step = (double)y[i];
        y[i] = kept - h;
        double down = loss_of(o, row, y);
        step -= (double)y[i];
        y[i] = kept;
        far = fmax(far, fabs((up - down) / step - (double)d[i]));
    }
    return far;
}

static void gradients(void)
{
    struct rng r = rng_for(1, str_of("gradient"));
    float y[ROWS * (ACTS + 1)], p[ACTS], logp[ACTS], d[ROWS * (ACTS + 1)];
    struct gradient_row row[ROWS];
    for (int i = 0; i < ROWS * (ACTS + 1); i++) y[i] = (float)rng_normal(&r);
    for (int i = 0; i < ROWS; i++) {
        row[i].mask = (uint32_t)(1 + rng_below(&r, (1 << ACTS) - 1));
        row[i].action = environment_any(&r, ACTS, row[i].mask);
        row[i].advantage = (float)rng_normal(&r);
        row[i].target = (float)rng_normal(&r);
        policy_softmax(y + i * (ACTS + 1), row[i].mask, ACTS, p, logp);
        row[i].old_logp = logp[row[i].action] + (float)(rng_unit(&r) - 0.5);
    }
    struct gradient_options plain = { .value = 0.7, .entropy = 0.3 };
    struct gradient_options clip = { .clip = 0.2, .value = 0.7, .entropy = 0.3 };
    near(worst(&plain, row, y), 0, 2e-4, "the slope of the plain loss is its finite difference");
    near(worst(&clip, row, y), 0, 2e-4, "so is that of the clipped one");
    gradient_of(&plain, row, ROWS, ACTS, y, d);
    bool none = true, exact = true;
    for (int i = 0; i < ROWS; i++) {
        policy_softmax(y + i * (ACTS + 1), row[i].mask, ACTS, p, logp);
        double sum = 0;
        for (int a = 0; a < ACTS; a++) {
            sum += (double)p[a];
            if (row[i].mask >> a & 1) continue;
            exact &= p[a] == 0 && isinf(logp[a]);
            none &= d[i * (ACTS + 1) + a] == 0;
        }
        exact &= fabs(sum - 1) < 1e-6;
    }
    ok(exact, "an illegal action has probability 0, exactly, the others 1 together");
    ok(none, "and no gradient");

    struct gradient_row one = { .mask = 3, .action = 0, .advantage = 1, .target = 0, .old_logp = logf(0.5F) };
    float two[] = { logf(4), 0, 0 }, slope[3];           /* p(0) = 0.8, ratio 1.6 */
    struct gradient_options only = { .clip = 0.2 };
    gradient_of(&only, &one, 1, 2, two, slope);
    ok(slope[0] == 0 && slope[1] == 0, "beyond the clip a gain has no slope");
    one.advantage = -1;
    gradient_of(&only, &one, 1, 2, two, slope);
    near((double)slope[0], 1.6 * 0.2, 1e-5, "a loss has: r A (1 - p)");

    struct rng s = rng_for(1, str_of("draw"));
    float q[] = { 0, 0.25F, 0, 0.75F };
    int count[4] = { 0 };
    for (int i = 0; i < 10000; i++) count[policy_draw(&s, q, 4)]++;
    ok(count[0] == 0 && count[2] == 0, "what has probability 0 is never drawn");
    near(count[1] / 10000.0, 0.25, 0.02, "the others as often as they should be");
    float huge[] = { 1e30F, -1e30F, 5 };
    near(policy_softmax(huge, 7, 3, p, logp), 0, 1e-9, "large scores do not overflow");
    near(policy_softmax(huge, 0, 3, p, logp) + (double)(p[0] + p[1] + p[2]), 0, 1e-9,
         "no legal action: no probability");
}

static void advantages(void)
{
    struct rng r = rng_for(2, str_of("returns"));
    float reward[N], value[N], next[N], target[N], advantage[N];
    uint8_t stop[N];
    for (int t = 0; t < N; t++) {
        reward[t] = (float)rng_normal(&r), value[t] = (float)rng_normal(&r);
        stop[t] = rng_below(&r, 5) == 0;
    }
    for (int t = 0; t < N; t++) next[t] = stop[t] || t == N - 1 ? (float)rng_normal(&r) : value[t + 1];
    struct stream s = { N, reward, value, next, stop };
    double far = 0, gamma = 0.9, lambda = 0.8;
    returns_gae(&s, gamma, lambda, target, advantage);
    for (int t = 0; t < N; t++) {                        /* sum of (gamma lambda)^k delta up to the stop */
        double sum = 0, w = 1;
        for (int k = t; k < N; k++, w *= gamma * lambda) {
            sum += w * ((double)reward[k] + gamma * (double)next[k] - (double)value[k]);
            if (stop[k]) break;
        }
        far = fmax(far, fabs(sum - (double)advantage[t]) + fabs(sum + (double)value[t] - (double)target[t]));
    }
    near(far, 0, 1e-5, "generalised advantages are their definition");
    returns_gae(&s, gamma, 1, target, advantage);
    double whole = 0, g = 1;
    int t = 0;
    for (bool over = false; !over; t++) {                /* lambda 1: the discounted rewards and the bootstrap */
        whole += g * (double)reward[t];
        g *= gamma;
        over = stop[t] || t == N - 1;
    }
    near((double)target[0], whole + g * (double)next[t - 1], 1e-5, "with lambda 1 a target is the whole return");
}

int main(void)
{
    gradients();
    advantages();
    return done();
}

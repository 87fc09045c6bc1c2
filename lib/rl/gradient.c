#include "rl/gradient.h"
#include <math.h>

int policy_best(const float *score, uint32_t mask, int actions)
{
    int best = -1;
    for (int a = 0; a < actions; a++)
        if (mask >> a & 1 && (best < 0 || score[a] > score[best])) best = a;
    return best;
}

double policy_softmax(const float *score, uint32_t mask, int actions, float *p, float *logp)
{
    int best = policy_best(score, mask, actions);
    double sum = 0, entropy = 0;
    for (int a = 0; a < actions; a++)
        if (mask >> a & 1) sum += exp((double)score[a] - (double)score[best]);
    double shift = sum > 0 ? (double)score[best] + log(sum) : 0;
    for (int a = 0; a < actions; a++) {
        bool legal = mask >> a & 1;
        double l = legal ? (double)score[a] - shift : -INFINITY, q = legal ? exp(l) : 0;
        if (q > 0) entropy -= q * l;
        if (p) p[a] = (float)q;
        if (logp) logp[a] = (float)l;
    }
    return entropy;
}

int policy_draw(struct rng *r, const float *p, int actions)
{
    double u = rng_unit(r);
    int last = -1;
    for (int a = 0; a < actions; a++) {
        if (!(p[a] > 0)) continue;
        last = a;
        u -= (double)p[a];
        if (u < 0) break;
    }
    return last;
}

struct gradient_loss gradient_of(const struct gradient_options *o, const struct gradient_row *row, int n, int actions,
                                 const float *y, float *d)
{
    struct gradient_loss sum = { 0 };
    for (int i = 0; i < n; i++, y += actions + 1, d += actions + 1) {
        const struct gradient_row *w = &row[i];
        float p[ENV_ACTIONS], logp[ENV_ACTIONS];
        double entropy = policy_softmax(y, w->mask, actions, p, logp), a = (double)w->advantage;
        double log_ratio = (double)logp[w->action] - (double)w->old_logp, r = exp(log_ratio), slope;
        if (o->clip > 0) {                               /* slope: of the policy's loss by log p(action) */
            double bound = fmax(1 - o->clip, fmin(1 + o->clip, r));
            bool free = r * a <= bound * a;
            sum.policy -= free ? r * a : bound * a;
            slope = free ? -r * a : 0;
        } else {
            sum.policy -= a * (double)logp[w->action];
            slope = -a;
        }
        double error = (double)y[actions] - (double)w->target;
        sum.value += error * error / 2;
        sum.entropy += entropy;
        sum.divergence += r - 1 - log_ratio;
        for (int k = 0; k < actions; k++) {
            double g = 0;
            if (p[k] > 0)
                g = slope * ((k == w->action) - (double)p[k]) +
                    o->entropy * (double)p[k] * ((double)logp[k] + entropy);
            d[k] = (float)(g / n);
        }
        d[actions] = (float)(o->value * error / n);
    }
    sum.policy /= n, sum.value /= n, sum.entropy /= n, sum.divergence /= n;
    return sum;
}

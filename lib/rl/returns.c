#include "rl/returns.h"
#include <math.h>

void returns_gae(const struct stream *s, double gamma, double lambda, float *target, float *advantage)
{
    double sum = 0;
    for (int t = s->n; t-- > 0; ) {
        double delta = (double)s->reward[t] + gamma * (double)s->next[t] - (double)s->value[t];
        sum = delta + (s->stop[t] ? 0 : gamma * lambda * sum);
        advantage[t] = (float)sum;
        target[t] = (float)(sum + (double)s->value[t]);
    }
}

void returns_vtrace(const struct stream *s, const float *ratio, double gamma, double rho, double c, float *target,
                    float *advantage)
{
    double more = 0;                                     /* target - value of the state that follows */
    for (int t = s->n; t-- > 0; ) {
        double w = fmin(rho, (double)ratio[t]), keep = fmin(c, (double)ratio[t]);
        double gain = (double)s->reward[t] + gamma * (double)s->next[t] - (double)s->value[t];
        if (s->stop[t] || t == s->n - 1) more = 0;
        advantage[t] = (float)(w * (gain + gamma * more));
        more = w * gain + gamma * keep * more;
        target[t] = (float)((double)s->value[t] + more);
    }
}

#include "rl/returns.h"

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

/* net: forward by hand, gradient against finite differences, softmax, Adam against its formula, XOR. */
#include "base/rng.h"
#include "net/net.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

/* the same network in doubles, written out */
static double loss_by_hand(const struct net *net, const float *x, const int *label, int n)
{
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double v[2][32];
        for (int j = 0; j < net->width[0]; j++) v[0][j] = (double)x[i * net->width[0] + j];
        for (int l = 0; l < net->layers; l++) {
            const float *w = net_layer(net, l), *bias = w + net->width[l] * net->width[l + 1];
            for (int o = 0; o < net->width[l + 1]; o++) {
                double s = (double)bias[o];
                for (int j = 0; j < net->width[l]; j++) s += (double)w[o * net->width[l] + j] * v[l % 2][j];
                v[(l + 1) % 2][o] = s > 0 || l == net->layers - 1 ? s : 0;
            }
        }
        double sum = 0, *out = v[net->layers % 2];
        for (int c = 0; c < net->width[net->layers]; c++) sum += exp(out[c]);
        loss += log(sum) - out[label[i]];
    }
    return loss;
}

int main(void)
{
    enum { N = 7, IN = 5, OUT = 3 };
    int width[4] = { IN, 8, 6, OUT }, label[N];
    float x[N * IN], d[N * OUT];
    struct rng g = rng_for(1, str_of("test"));
    for (int i = 0; i < N * IN; i++) x[i] = (float)rng_normal(&g);
    for (int i = 0; i < N; i++) label[i] = (int)rng_below(&g, OUT);
    struct net *net = net_new(width, 4, N, 7), *twin = net_new(width, 4, N, 7), *other = net_new(width, 4, N, 8);
    for (int l = 0; l < 3; l++)
        for (int o = 0; o < width[l + 1]; o++)
            net_layer(net, l)[width[l] * width[l + 1] + o] = (float)rng_normal(&g) * 0.1F;
    net_forward(net, x, N);
    double loss = net_softmax(net->value[3], label, N, OUT, d);
    near(loss, loss_by_hand(net, x, label, N), 1e-5, "forward and softmax agree with loops in doubles");
    net_backward(net, d, N, 1);
    double worst = 0;
    for (size_t i = 0; i < net->size; i++) {
        float keep = net->weight[i], h = 1e-3F;
        net->weight[i] = keep + h;
        double up = loss_by_hand(net, x, label, N), step = (double)net->weight[i];
        net->weight[i] = keep - h;
        double down = loss_by_hand(net, x, label, N);
        step -= (double)net->weight[i];
        net->weight[i] = keep;
        worst = fmax(worst, fabs((up - down) / step - (double)net->gradient[i]));
    }
    near(worst, 0, 2e-3, "every component of the gradient agrees with a central difference");
    worst = 0;
    for (int i = 0; i < N * IN; i++) {
        float keep = x[i];
        x[i] = keep + 1e-3F;
        double up = loss_by_hand(net, x, label, N);
        x[i] = keep - 1e-3F;
        worst = fmax(worst, fabs((up - loss_by_hand(net, x, label, N)) / 2e-3 - (double)net->delta[0][i]));
        x[i] = keep;
    }
    near(worst, 0, 2e-3, "so does the gradient at the inputs");
    float single[OUT], batch[OUT];
    memcpy(batch, net_forward(net, x, N) + OUT, sizeof batch);
    memcpy(single, net_forward(net, x + IN, 1), sizeof single);
    double apart = 0;
    for (int c = 0; c < OUT; c++) apart = fmax(apart, fabs((double)(batch[c] - single[c])));
    near(apart, 0, 1e-5, "one row alone and in a batch give the same");

    ok(memcmp(twin->weight, other->weight, twin->size * sizeof(float)), "another seed, another start");
    net_copy(twin, net);
    ok(!memcmp(twin->weight, net->weight, net->size * sizeof(float)), "a copy is equal");
    float big[3] = { 1000, 0, -1000 };
    near(net_softmax(big, &(int){ 0 }, 1, 3, NULL), 0, 1e-12, "a score of 1000 does not overflow");

    struct adam a = adam_new(1, 0.1F);
    float w = 1, grad = 4;
    adam_step(&a, &w, &grad);
    near((double)w, 0.9, 1e-6, "the first step of Adam has the size of the rate");
    grad = -2;
    adam_step(&a, &w, &grad);
    double m = (0.9 * 0.4 - 0.2) / (1 - 0.81), v = (0.999 * 0.016 + 0.004) / (1 - 0.999 * 0.999);
    near((double)w, 0.9 - 0.1 * m / sqrt(v), 1e-5, "the second follows the formula");

    /* XOR is learned */
    int shape[3] = { 2, 8, 2 }, want[4] = { 0, 1, 1, 0 };
    float corner[8] = { 0, 0, 0, 1, 1, 0, 1, 1 }, dx[8];
    struct net *xor = net_new(shape, 3, 4, 1);
    struct adam opt = adam_new(xor->size, 0.05F);
    double last = 0;
    for (int t = 0; t < 500; t++) {
        net_forward(xor, corner, 4);
        last = net_softmax(xor->value[2], want, 4, 2, dx);
        net_backward(xor, dx, 4, 0);
        adam_step(&opt, xor->weight, xor->gradient);
    }
    ok(last < 0.05, "500 steps of Adam learn XOR");
    adam_free(&a);
    adam_free(&opt);
    net_free(net);
    net_free(twin);
    net_free(other);
    net_free(xor);
    return done();
}

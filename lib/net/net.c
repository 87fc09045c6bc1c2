/* net.c - see net.h */
#include "net/net.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t layer_offset(const struct net *net, int layer)
{
    size_t at = 0;
    for (int l = 0; l < layer; l++) at += (size_t)net->width[l + 1] * (size_t)(net->width[l] + 1);
    return at;
}

float *net_layer(const struct net *net, int layer)
{
    return net->weight + layer_offset(net, layer);
}

struct net *net_new(const int *width, int nwidth, int batch, uint64_t seed)
{
    if (nwidth < 2 || nwidth > NET_LAYERS + 1) die("net: %d layers, 1 to %d are possible", nwidth - 1, NET_LAYERS);
    struct net *net = xcalloc(1, sizeof *net);
    net->layers = nwidth - 1;
    net->batch = batch;
    for (int l = 0; l < nwidth; l++) {
        if (width[l] < 1) die("net: a layer of %d units", width[l]);
        net->width[l] = width[l];
        net->value[l] = xcalloc(size_mul((size_t)batch, (size_t)width[l]), sizeof(float));
        net->delta[l] = xcalloc(size_mul((size_t)batch, (size_t)width[l]), sizeof(float));
    }
    net->size = layer_offset(net, net->layers);
    net->weight = xcalloc(net->size, sizeof(float));
    net->gradient = xcalloc(net->size, sizeof(float));
    struct rng g = rng_for(seed, str_of("net"));
    for (int l = 0; l < net->layers; l++) {
        float *w = net_layer(net, l);
        double bound = sqrt(6.0 / (width[l] + width[l + 1]));
        for (size_t i = 0; i < (size_t)width[l] * (size_t)width[l + 1]; i++)
            w[i] = (float)(bound * (2 * rng_unit(&g) - 1));
    }
    return net;
}

/* y (n x out) = x (n x in) W' + bias, then ReLU unless it is the last layer */
static void layer_forward(const struct net *net, int l, int n)
{
    int in = net->width[l], out = net->width[l + 1];
    const float *w = net_layer(net, l), *bias = w + (size_t)in * (size_t)out;
    float *y = net->value[l + 1];
    for (int i = 0; i < n; i++) memcpy(y + (size_t)i * (size_t)out, bias, (size_t)out * sizeof *y);
    if (n == 1) cblas_sgemv(CblasRowMajor, CblasNoTrans, out, in, 1, w, in, net->value[l], 1, 1, y, 1);
    else cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out, in, 1, net->value[l], in, w, in, 1, y, out);
    if (l == net->layers - 1) return;
    for (size_t i = 0; i < (size_t)n * (size_t)out; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

const float *net_forward(struct net *net, const float *x, int n)
{
    if (n < 1 || n > net->batch) die("net: a batch of %d rows, room for %d", n, net->batch);
    if (x != net->value[0]) memcpy(net->value[0], x, (size_t)n * (size_t)net->width[0] * sizeof *x);
    for (int l = 0; l < net->layers; l++) layer_forward(net, l, n);
    return net->value[net->layers];
}

void net_backward(struct net *net, const float *d_output, int n, int want_inputs)
{
    memcpy(net->delta[net->layers], d_output, (size_t)n * (size_t)net->width[net->layers] * sizeof *d_output);
    for (int l = net->layers - 1; l >= 0; l--) {
        int in = net->width[l], out = net->width[l + 1];
        const float *w = net_layer(net, l), *dy = net->delta[l + 1], *x = net->value[l];
        float *dw = net->gradient + layer_offset(net, l), *db = dw + (size_t)in * (size_t)out, *dx = net->delta[l];
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, n, 1, dy, out, x, in, 0, dw, in);
        memset(db, 0, (size_t)out * sizeof *db);
        for (int i = 0; i < n; i++)
            for (int o = 0; o < out; o++) db[o] += dy[(size_t)i * (size_t)out + (size_t)o];
        if (l == 0 && !want_inputs) break;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in, out, 1, dy, out, w, in, 0, dx, in);
        if (l == 0) break;
        for (size_t i = 0; i < (size_t)n * (size_t)in; i++) dx[i] = x[i] > 0 ? dx[i] : 0;
    }
}

void net_copy(struct net *to, const struct net *from)
{
    if (to->size != from->size) die("net: %zu parameters into %zu", from->size, to->size);
    memcpy(to->weight, from->weight, to->size * sizeof *to->weight);
}

void net_free(struct net *net)
{
    if (!net) return;
    for (int l = 0; l <= net->layers; l++) {
        free(net->value[l]);
        free(net->delta[l]);
    }
    free(net->weight);
    free(net->gradient);
    free(net);
}

double net_softmax(float *p, const int *label, int n, int classes, float *d)
{
    double loss = 0;
    for (int i = 0; i < n; i++) {
        float *row = p + (size_t)i * (size_t)classes, *to = d ? d + (size_t)i * (size_t)classes : NULL, top = row[0];
        double sum = 0;
        for (int c = 1; c < classes; c++) top = row[c] > top ? row[c] : top;
        double own = label ? (double)row[label[i]] - (double)top : 0;
        for (int c = 0; c < classes; c++) {
            row[c] = expf(row[c] - top);
            sum += (double)row[c];
        }
        if (label) loss += log(sum) - own;
        for (int c = 0; c < classes; c++) {
            row[c] = (float)((double)row[c] / sum);
            if (to) to[c] = row[c] - (label && label[i] == c ? 1 : 0);
        }
    }
    return loss;
}

struct adam adam_new(size_t size, float rate)
{
    struct adam a = { .rate = rate, .beta1 = 0.9F, .beta2 = 0.999F, .epsilon = 1e-8F, .size = size };
    a.first = xcalloc(size, sizeof *a.first);
    a.second = xcalloc(size, sizeof *a.second);
    return a;
}

void adam_step(struct adam *a, float *weight, const float *gradient)
{
    float scale = 1;
    if (a->clip > 0) {
        float norm = cblas_snrm2((int)a->size, gradient, 1);
        if (norm > a->clip) scale = a->clip / norm;
    }
    a->steps++;
    float c1 = (float)(1 - pow((double)a->beta1, (double)a->steps)),
          c2 = (float)(1 - pow((double)a->beta2, (double)a->steps));
    float step = a->rate / c1, root = 1 / c2, keep1 = 1 - a->beta1, keep2 = 1 - a->beta2, epsilon = a->epsilon;
    float *restrict first = a->first, *restrict second = a->second, *restrict w = weight;
    for (size_t i = 0, n = a->size; i < n; i++) {
        float g = scale * gradient[i];
        first[i] += keep1 * (g - first[i]);
        second[i] += keep2 * (g * g - second[i]);
        w[i] -= step * first[i] / (sqrtf(second[i] * root) + epsilon);
    }
}

void adam_free(struct adam *a)
{
    free(a->first);
    free(a->second);
    *a = (struct adam){ 0 };
}

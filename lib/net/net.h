/* net.h - a dense network (ReLU between layers, linear output), its gradient, and Adam; float32, on OpenBLAS.
 *
 * Everything is allocated by net_new for batches of at most `batch` rows; forward, backward and steps allocate nothing.
 * All parameters lie in one vector, layer by layer: the matrix (outputs x inputs, row-major), then the biases.
 * They start Glorot-uniform with zero bias (Glorot and Bengio, AISTATS 2010), drawn from (seed, "net").
 * Batches are row-major, one example a row.  Not thread-safe: one net per thread. */
#ifndef MILLRACE_NET_H
#define MILLRACE_NET_H
#include <stddef.h>
#include <stdint.h>

enum { NET_LAYERS = 8 };

struct net {
    int layers;                                          /* of weights: one fewer than widths */
    int width[NET_LAYERS + 1];                           /* inputs, hidden ..., outputs */
    int batch;
    size_t size;                                         /* parameters */
    float *weight;                                       /* size */
    float *gradient;                                     /* size: what net_backward leaves */
    float *value[NET_LAYERS + 1];                        /* activations; value[0] holds the inputs */
    float *delta[NET_LAYERS + 1];                        /* loss gradients at them; delta[0] at the inputs */
};

struct net *net_new(const int *width, int nwidth, int batch, uint64_t seed);
float *net_layer(const struct net *, int layer);         /* its matrix; the biases follow it */
const float *net_forward(struct net *, const float *x, int n);   /* n x outputs, until the next; x may be value[0] */
/* After net_forward on the same n rows: d_output (n x outputs) is the loss gradient at the outputs; net->gradient
 * becomes the gradient summed over rows.  want_inputs: also fill delta[0], n x inputs. */
void net_backward(struct net *, const float *d_output, int n, int want_inputs);
void net_copy(struct net *to, const struct net *from);   /* parameters only; equal widths */
void net_free(struct net *);

/* Softmax cross-entropy: probabilities replace the scores in p (n x classes); d (may be p) gets p - onehot.
 * Returns the summed loss.  Shifted by the largest score, so no score overflows. */
double net_softmax(float *p, const int *label, int n, int classes, float *d);

/* Adam (Kingma and Ba, ICLR 2015) with bias correction and an optional limit on the gradient's norm (0: none). */
struct adam { float rate, beta1, beta2, epsilon, clip; long steps; size_t size; float *first, *second; };
struct adam adam_new(size_t size, float rate);           /* 0.9, 0.999, 1e-8, no clip */
void adam_step(struct adam *, float *weight, const float *gradient);
void adam_free(struct adam *);
#endif

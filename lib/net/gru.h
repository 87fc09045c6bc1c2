/* gru.h - a layer that remembers: gated recurrent units over sequences, and their gradient through time; float32.
 *
 *     z = sigmoid(Wz x + Uz h + bz)   r = sigmoid(Wr x + Ur h + br)   c = tanh(Wc x + bc + r (Uc h + uc))
 *     h' = (1 - z) c + z h
 * (Cho et al., EMNLP 2014, with the reset after the product as cuDNN has it, so that U h is one product.)
 * Sequences run side by side: step t of sequence i is row t * n + i.  Everything is allocated by gru_new for `batch`
 * sequences of `length` steps.  Weights start Glorot-uniform, drawn from (seed, "gru"). */
#ifndef MILLRACE_GRU_H
#define MILLRACE_GRU_H
#include <stddef.h>
#include <stdint.h>

struct gru {
    int in, hidden, batch, length;
    size_t size;                                         /* parameters: W (3 hidden x in), U (3 hidden x hidden), b u */
    float *weight, *gradient;
    float *x, *h;                                        /* inputs; h: (length + 1) x n states, the first is given */
    float *gate, *gated;                                 /* z r c of every step; U h + u of every step */
    float *d, *dw, *du, *d_x;                            /* scratch of backward; d_x: gradients at the inputs */
};
struct gru *gru_new(int in, int hidden, int batch, int length, uint64_t seed);
/* x: steps x n rows; h0: n rows, NULL: zeros.  Returns steps x n states, after each step, until the next call. */
const float *gru_forward(struct gru *, const float *x, const float *h0, int n, int steps);
/* After gru_forward with the same n and steps: d_h (steps x n rows) is the loss gradient at the states that it
 * returned; gradient and d_x are filled.  The first state is taken as given.  first (NULL: zeros): for each sequence
 * the step before which nothing is differentiated (a state that was only warmed up). */
void gru_backward(struct gru *, const float *d_h, const int *first, int n, int steps);
void gru_free(struct gru *);
#endif

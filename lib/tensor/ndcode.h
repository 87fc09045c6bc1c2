/* ndcode.h - an operator of nd.h as ndmake.c reads it from a graph and nd.c runs it. */
#ifndef MILLRACE_TENSOR_NDCODE_H
#define MILLRACE_TENSOR_NDCODE_H
#include "tensor/nd.h"
#include <stdint.h>

enum nd_code {
    BINARY, UNARY, UNARY_GRAD, REDUCE, EXPAND, RESHAPE, TRANSPOSE, MATMUL, CONV, CONV_X, CONV_W, MAXPOOL,
    MAXPOOL_GRAD, AVGPOOL, AVGPOOL_GRAD, NORM, NORM_GRAD, SOFTMAX, SOFTMAX_GRAD, LOG_SOFTMAX, LOG_SOFTMAX_GRAD,
    CONCAT, SLICE, PAD, GATHER, GATHER_GRAD, UPSAMPLE, UPSAMPLE_GRAD, LOSS, LOSS_GRAD, DROPOUT, COUNT, SGD, ADAM
};

enum { ND_OPERANDS = 32 };

struct array {
    int n;
    int64_t d[GRAPH_DIMS], count;
};

struct nd {
    int code, nin, nout;
    struct array t[ND_OPERANDS];
    int kind, axis, axes, group, dilation, ta, tb, mean, counted, perm[GRAPH_DIMS];
    int kernel[2], stride[2], pad[2];
    int64_t begin;
    double a, b, epsilon, first, second, rate;
    uint64_t seed;
};
#endif

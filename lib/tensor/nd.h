/* nd.h - operators on plain row-major arrays of up to four dimensions: what imported networks are made of.
 *
 * The names begin with Nd; every operand is needed whole, so they are staged, not streamed.  Broadcasting as in NumPy.
 *   NdBinary (kind: enum nd_binary) a b -> y                 NdReduce (axes BITS mean 0|1) x -> y (axes kept as 1)
 *   NdExpand (factor F) x -> y: F times x, repeated           NdReshape x -> y        NdTranspose (perm ..) x -> y
 *   NdUnary (kind K a A b B) x -> y          NdUnaryGrad (same) x dy -> dx;  kinds: enum nd_unary
 *   NdMatMul (ta tb) a b -> y, transposed when 1; leading dimensions are a batch, b may have none
 *   NdConv (stride pad dilation group) x w -> y     NdConvGradX (same) w dy -> dx     NdConvGradW (same) x dy -> dw
 *   NdMaxPool (kernel stride pad) x -> y index      NdMaxPoolGrad dy index -> dx
 *   NdAvgPool (kernel stride pad counted 0|1) x -> y         NdAvgPoolGrad (same) dy -> dx
 *   NdNorm (epsilon) x scale shift -> y mean inverse_deviation, over all but dimension 1
 *   NdNormGrad x scale mean inverse dy -> dx dscale dshift
 *   NdSoftmax x -> y (last dimension)              NdSoftmaxGrad y dy -> dx       NdLogSoftmax, NdLogSoftmaxGrad alike
 *   NdConcat (axis) x.. -> y    NdSlice (axis begin) x -> y   NdPad (axis begin) dy -> dx, zero around
 *   NdGather table index -> y, rows of a table, below 0 from its end     NdGatherGrad index dy -> dtable
 *   NdUpsample (factor) x -> y, nearest            NdUpsampleGrad dy -> dx
 *   NdLoss logits labels -> loss p: mean cross entropy of rows            NdLossGrad p labels -> dlogits
 *   NdDropout (rate seed) x counter -> y, also its gradient              NdCount counter -> next
 *   NdSgd (rate) w g -> w'      NdAdam (rate first second epsilon) w g m v counter -> w' m' v' (Kingma and Ba 2014)
 * index, labels and counters are i32.  An index out of range counts as 0.  One thread computes, in one order. */
#ifndef MILLRACE_TENSOR_ND_H
#define MILLRACE_TENSOR_ND_H
#include "tensor/graph.h"

enum nd_unary {
    ND_RELU, ND_SQRT, ND_ERF, ND_EXP, ND_TANH, ND_SIGMOID, ND_POW, ND_SCALE, ND_SHIFT, ND_CLIP, ND_LOG,
    ND_SOFTPLUS,
    ND_LEAKY,                                            /* a x below 0 */
    ND_ELU,                                              /* a (exp(x / b) - 1) below 0 */
    ND_HARDSIGMOID,                                      /* a x + b, between 0 and 1 */
    ND_ABOVE, ND_BELOW, ND_IS,                           /* than a: 1 or 0 */
    ND_UNARIES
};
/* comparisons are 1 or 0; WHERE: a where b is not 0, else 0; ELSE: a where b is 0, else 0 */
enum nd_binary {
    ND_ADD, ND_SUB, ND_MUL, ND_DIV, ND_GREATER, ND_LESS, ND_EQUAL, ND_WHERE, ND_ELSE, ND_BINARIES
};

struct nd;
bool nd_is(const char *op);                              /* an operator of this family? */
/* Dies when operands and attributes do not fit each other, naming the node. */
struct nd *nd_make(const struct graph *, int node);
void nd_free(struct nd *);
size_t nd_scratch(const struct nd *);                    /* bytes */
void nd_run(const struct nd *, char *const *operand, char *scratch);
#endif

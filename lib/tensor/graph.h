/* graph.h - a training step as a list of kernels in execution order, and the tensors they read and write.
 *
 * Text form (spec of the graph stream; ids and node numbers count from 0 without holes):
 *   (graph (name vgg19) (batch 64)
 *     (tensor ID NAME ROLE BYTES DTYPE (D0 D1 ..) [(updates ID)|(trained 1)])
 *     (node IDX NAME OP (in ID..) (out ID..) [(attr (kernel 3 3) (relu 1) ..)] (flops F) (bytes B) [(workspace W)]))
 * ROLE is arg (lives as long as the program: inputs, labels, parameters, updated parameters, the loss), const, or
 * inter (born by one node, dead after its last reader: what placement is about).  Shapes are N C H W, weights
 * O I H W.  `updates` marks an arg that is the parameter's value in the next step; every other reader of that
 * parameter comes before the node that writes the update, so the update may be done in place.
 * Fixed names: "input", "labels", "loss"; parameters end in .weight .bias .scale .shift.
 *
 * Operators and operands, in order (attributes; images have layout N C H W in the shapes):
 *   ConvolutionBias x w b -> y (kernel stride pad relu)       ConvolutionBackpropData w dy -> dx (kernel stride pad)
 *   ConvolutionBiasBackpropFiltersBias x dy -> dw db (same)   Relu x -> y           ReluBackprop y dy -> dx
 *   BatchNormTraining scale shift x -> y mean var             BatchNormTrainingRelu, the same with relu
 *   BatchNormTrainingBackprop scale shift x mean var dy -> dx dscale dshift
 *   MaxPoolWithIndices x -> y index (kernel stride pad)       MaxPoolWithIndicesBackprop x dy index -> dx
 *   AvgPool x -> y (kernel stride pad)                        AvgPoolBackprop dy -> dx (kernel stride pad)
 *   Concat x.. -> y along channels            Slice dy -> dx, channels C, C+1, .. of dy (from C)
 *   Add a b -> y, also parameter gradient -> updated parameter
 *   MatmulBias w x b -> y with w of shape OUT IN, x of shape N IN or N C H W       Sum dy -> db
 *   Dot (grad_weights 1) dy x -> dw           Dot (grad_data 1) w dy -> dx
 *   DotAdd (grad_weights 1) dy x w -> updated w, of which the gradient is never a tensor
 *   MaxPoolBackprop dy index -> dx            MaxPoolReluBackprop y dy index -> dx: dy counts where y > 0 (both: kernel
 *     stride pad; y is the pool's output)
 *   Softmax x -> p     CrossEntropy p labels -> loss (a p below 1e-30 counts as that: at most 69 for an image)
 *   Subtract p labels -> dx (scale S): dx = S (p - labels)
 * S is minus the learning rate over the batch, so that gradients are ready to be added.  Other operators are accepted:
 * only an engine needs to know them.
 * What follows an operator may be done with it, on its first output: (plus 1) adds the next input after its own,
 * (mask 1) then keeps what stands where the last input is above 0; both are as large as the output.  Add may have
 * (relu 1). */
#ifndef MILLRACE_PLACE_GRAPH_H
#define MILLRACE_PLACE_GRAPH_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum { GRAPH_DIMS = 4, GRAPH_ATTR = 4 };
enum { GRAPH_PIN_BYTES = 65536 };                        /* intermediates below this size always live in fast memory */
enum { GRAPH_SLOTS = 10 };                               /* movable operands of one node, at most */

enum role { ROLE_ARG, ROLE_CONST, ROLE_INTER };

struct tensor {
    const char *name, *dtype;                            /* dtype: f32 or i32 */
    enum role role;
    uint64_t bytes;
    int ndim;
    int64_t shape[GRAPH_DIMS];
    int updates;                                         /* -1, or the parameter whose next value this is */
    bool trained;                                        /* a parameter, whatever it is called */
    bool updated;                                        /* another tensor is its value in the next step */
    int producer;                                        /* node, -1 when none: comes from outside */
    int first, last;                                     /* inter: lifetime in node numbers, both ends live */
    int nuse, *use;                                      /* inter: nodes that touch it, ascending, producer first */
};

struct attr { const char *name; int n; double v[GRAPH_ATTR]; };

struct node {
    const char *name, *op;
    int nin, nout;
    int *operand;                                        /* tensor ids: nin inputs, then nout outputs */
    int nattr;
    struct attr *attr;
    double flops;
    uint64_t workspace;                                  /* scratch bytes in fast memory while it runs */
    int kernel;                                          /* index in graph.kernel */
};

/* What is timed: nodes of the same operator, shapes, types and attributes are the same kernel.  The attributes `from`
 * and `scale` do not change the time and are not part of the key; an operand that is the same tensor as operand I
 * appears as =I; types other than f32 follow the shape after a colon. */
struct graph_kernel {
    const char *key;                                     /* "OP IN;IN>OUT;OUT ATTR=1x1;.."; no commas or quotes */
    const char *shapes;                                  /* "2x64x8x8;64>2x64x8x8" */
    int node, uses;                                      /* its first node; how many nodes there are */
    uint32_t movable;                                    /* bit i: operand i may be in slow memory at some node */
};

struct graph {
    const char *name, *file;                             /* file: for messages */
    long batch;
    struct tensor *tensor;
    int ntensor;
    struct node *node;
    int nnode;
    struct graph_kernel *kernel;
    int nkernel;
    size_t captensor, capnode;
    struct arena text;
};

struct graph *graph_read(const char *path);              /* "-" is stdin; dies at the first fault; file order kept */
struct graph *graph_read_raw(const char *path);          /* only the syntax is judged; graph_finish is still to come */
void graph_write(const struct graph *, const char *path);   /* atomic; "-" or NULL is stdout */
void graph_free(struct graph *);

/* Building: add tensors and nodes, then graph_finish once, which fills producer, lifetimes, kernels. */
struct graph *graph_new(const char *name, long batch);
int graph_tensor(struct graph *, const char *name, enum role, const char *dtype, int ndim, const int64_t *shape);
int graph_node(struct graph *, const char *name, const char *op, int nin, const int *in, int nout, const int *out);
void graph_attr(struct graph *, int node, const char *name, int n, double a, double b);   /* n is 1 or 2 */
void graph_input(struct graph *, int node, int tensor);  /* one more input, after the others */
/* A node of another graph, with all its attributes, under this name and with these operands. */
int graph_copy_node(struct graph *, const struct node *, const char *name, const int *in, const int *out);
void graph_finish(struct graph *);                       /* dies at the first fault */

/* Calls say(context, fault) for every fault of a graph; returns their number.  Sound: each inter is written once,
 * before it is read, no arg is written twice, sizes agree with shapes, operands with what the operator wants. */
int graph_faults(const struct graph *, void (*say)(void *, const char *), void *context);

bool graph_movable(const struct graph *, int tensor);    /* an intermediate of at least GRAPH_PIN_BYTES */
/* A parameter that steps change, or its next value, of at least GRAPH_PIN_BYTES: a plan may offload it, that is, keep
 * it in slow memory for the whole step. */
bool graph_offloadable(const struct graph *, int tensor);
/* the tensor whose memory it has: the parameter that it updates, or itself */
static inline int graph_home(const struct graph *g, int tensor)
{
    return g->tensor[tensor].updates >= 0 ? g->tensor[tensor].updates : tensor;
}
/* operands of a node that have the memory of `home`, as bits */
uint32_t node_operands(const struct graph *, int node, int home);
/* operand `first` of a kernel and those that are the same tensor, as bits; 0: it cannot move, or is not their first */
uint32_t kernel_movable(const struct graph *, int kernel, int first);
double node_attr(const struct node *, const char *name, int i, double missing);   /* i-th number of an attribute */
int node_extras(const struct node *);                    /* inputs that (plus 1) and (mask 1) have added */
/* distinct movable operands of a node in operand order: tensor ids into slot[GRAPH_SLOTS]; returns their number */
int node_slots(const struct graph *, int node, int slot[GRAPH_SLOTS]);
uint64_t graph_peak(const struct graph *);               /* most bytes of intermediates alive at one node */
#endif

/* ops.h - what a node of the graph computes, cut into units that can be streamed through small buffers.
 *
 * A unit needs certain byte ranges (extents) of its operands: an image, a band of its rows, some planes, some
 * channels of every image, a stretch of a flat array.  Running all units in order gives the node's result; whatever
 * lies in slow memory may be brought in before its unit and sent out after it.  An operand that every unit needs is
 * `whole`: it comes before the first and, an output, leaves after the last. */
#ifndef MILLRACE_PLACE_OPS_H
#define MILLRACE_PLACE_OPS_H
#include "tensor/graph.h"
#include "tensor/kernels.h"
#include "tensor/nd.h"
#include "tensor/team.h"

enum { OP_OPERANDS = 32, OP_UNIT_BYTES = 1 << 20, OP_ALIGN = 4096 };

struct extent { uint64_t offset; size_t bytes; };

struct op_copy { int input; uint64_t from, to; size_t bytes; };   /* a unit of Concat and Slice */

struct op {
    int code;                                            /* of the operator, private */
    int nin, nout;
    int own;                                             /* inputs of the operator; then what is added, what masks */
    bool plus, mask, relu;
    struct extent *rest;                                 /* room for the extents of a unit of the first output */
    uint64_t bytes[OP_OPERANDS];
    bool whole[OP_OPERANDS];
    uint64_t buffer[OP_OPERANDS];                        /* bytes to hold what the largest unit needs of an operand */
    int units;
    int most;                                            /* extents an operand of a unit has, at most */
    int images, blocks;                                  /* of 16 channels */
    uint64_t pixels, elements;                           /* of a plane; of the first output */
    struct conv conv;
    struct pool pool;
    int bands, rows;                                     /* convolutions: units of an image, rows of output in one */
    bool by_channels;                                    /* weights gradient: units are blocks of output channels */
    uint64_t per; /* units of other operators: planes, blocks, rows or elements */
    int64_t dense_rows, dense_columns;
    float scale;
    struct op_copy *copy;
    struct nd *nd;                                       /* of plain arrays, see nd.h */
    size_t scratch;                                      /* bytes of workspace for each thread */
};

/* Dies with a clear message when the engine has no kernel for the node (an unknown operator, channels not in 16s). */
struct op op_make(const struct graph *, int node);
void op_free(struct op *);

/* The extents of an operand that a unit reads or writes, in ascending order; at most op.most of them. */
int op_extents(const struct op *, int operand, int unit, struct extent *);

/* Room for an extent whose ends do not meet the units of a device: those of all extents lie one after another. */
static inline uint64_t op_slot(uint64_t bytes) { return (bytes + OP_ALIGN - 1) / OP_ALIGN * OP_ALIGN + OP_ALIGN; }

/* Runs one unit: at[operand][extent] is where an extent lies.  Those of convolution operands are equally far apart. */
void op_run(const struct op *, const struct kernels *, struct team *, int unit, char *const *const *at, char *scratch);
#endif

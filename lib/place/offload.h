/* offload.h - what a training step saves for its backward pass: keep it, send it away in time, or make it again.
 *
 * The step is fixed, node by node, as a record of PyTorch or a graph of place-net; kernels find their operands in fast
 * memory.  A tensor is saved when a forward node makes it and a backward node reads it.  It is kept, or written out
 * while the forward pass goes on and read back before its first backward reader: one channel for writes, one for
 * reads, each a queue, beside the kernels.  A group of modules may run once more in the backward pass; then what is
 * saved only inside it takes no memory until its backward nodes begin, and its inputs must be there by then.
 *
 * Nodes say what they are by attributes: backward 1 (without any, all nodes after the one that writes "loss"),
 * group K (forward, inside group K), enter K (forward: the inputs of group K are its operands).  Workspace of a
 * backward node is memory that it needs as well.
 *
 * Bound.  Let B(i) be what is saved up to forward node i, L(j) what backward node j and later ones read, G_g the part
 * of group g in either, r_g its seconds, x_g whether it runs again, C(i) the seconds of the nodes up to i.  All writes
 * before i ends take time after the first save, all reads after j begins time before the end, so that stalls y, z are
 *   y >= (B(i) - sum x_g G_g(i) - limit) / write rate - (C(i) - C(first)),
 *   z >= (L(j) - sum x_g G_g(j) - limit) / read rate - (C(end) - C(j)) - sum x_g r_g [g not over at j].
 * The linear relaxation of min sum x_g r_g + y + z is bounded from below by its Lagrangian for any prices p, q >= 0
 * with sums at most 1 (weak duality); they are found by exponentiated subgradient steps (Kivinen and Warmuth 1997). */
#ifndef MILLRACE_PLACE_OFFLOAD_H
#define MILLRACE_PLACE_OFFLOAD_H
#include "place/profile.h"
#include "tensor/graph.h"

struct saved {
    int tensor;                                          /* of the graph */
    double bytes;
    bool movable;                                        /* large enough to be sent away */
    int born, first, last;                               /* nodes: producer; first and last backward reader, -1: none */
    int group;                                           /* that alone saves it, or -1 */
};

struct offload_group {
    int id;                                              /* K */
    double seconds, bytes;                               /* of a second run; that it saves once more */
    int begin, end;                                      /* first and last backward node that reads what it saves */
    int nin, *in, enter;                                 /* saved tensors it must find; its first node */
};

struct offload {
    int nodes, forward;                                  /* forward: how many of the nodes */
    double *seconds;
    uint64_t *workspace;
    double read_rate, write_rate;                        /* bytes per second */
    struct saved *saved;                                 /* by birth */
    int nsaved;
    struct offload_group *group;
    int ngroup;
    double saved_bytes, plain_seconds;
};

struct offload *offload_new(const struct graph *, const struct profile *);
void offload_free(struct offload *);

struct offload_plan {
    uint8_t *away, *again;                               /* by saved tensor; by group */
    double seconds, bound;                               /* of the step */
    double most;                                         /* bytes of saved tensors, most at any time */
};
struct offload_plan *offload_plan_new(const struct offload *);
void offload_plan_free(struct offload_plan *);

/* Seconds of the step; sets *most to the most bytes, which are above the limit when the plan does not keep it. */
double offload_simulate(const struct offload *, double limit, const struct offload_plan *, double *most);

struct offload_effort { long steps, rounds; uint64_t seed; };
/* The best plan found; false when none keeps the limit: then it holds the one that needs least, in `most`. */
bool offload_solve(const struct offload *, double limit, const struct offload_effort *, struct offload_plan *);
#endif

/* gpu.h - kernels and training steps on a GPU: tensors that a plan calls slow lie in pinned memory of the host.
 *
 * Kernels find all operands on the GPU (the study's rule too), so a plan for it has moves only: between kernels, in the
 * same stream (sync), or beside them in a stream of their own (async), held together by events.  Convolutions have
 * algorithms to choose from: 0 needs no workspace; 1 lays windows side by side (forward), or sums gradients image by
 * image (weights), in a workspace, which is the staging of the plan's node, mode `staged`.  Parameters begin as those
 * of engine.h do, so losses can be compared with the CPU's.  Graphs are those of place-net --study. */
#ifndef MILLRACE_PLACE_GPU_H
#define MILLRACE_PLACE_GPU_H
#include "place/cuda.h"
#include "place/engine.h"

struct gpu_op;
struct gpu_op *gpu_op_make(const struct graph *, int node);              /* dies when there is no kernel for it */
void gpu_op_free(struct gpu_op *);
int gpu_op_algorithms(const struct gpu_op *);
uint64_t gpu_op_workspace(const struct gpu_op *, int algorithm);

struct gpu_engine;
/* managed: all in managed memory, which the driver moves; the plan must have everything fast.  limit: so many bytes are
 * left it of the GPU for intermediates, as many as the plans beside it have; 0: all. */
struct gpu_engine *gpu_engine_open(struct gpu *, const struct graph *, const struct plan *, bool managed,
                                   uint64_t limit, uint64_t seed);
void gpu_engine_close(struct gpu_engine *);
struct step_result gpu_engine_step(struct gpu_engine *, double *node_seconds);   /* node_seconds[nnode], or NULL */

/* Median seconds of runs of a node's kernel, and of a copy. */
double gpu_probe(struct gpu *, const struct graph *, int node, int algorithm, long runs);
double gpu_probe_move(struct gpu *, uint64_t bytes, bool to_fast, long runs);
#endif

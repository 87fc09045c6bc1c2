/* engine.h - executes a training step as planned: tensors at their addresses, moves made, kernels run, all timed.
 *
 * Fast memory holds the plan's pool (fast_bytes, staging areas included), the tier its slow pool; parameters, inputs
 * and other args lie outside both, but for parameters that the plan offloads: they are read from the tier and updated
 * there.  A parameter's next value takes the place of the old one.  Parameters begin at
 * random (He et al. 2015), images normal, labels one class each, all drawn by rng_for(seed, tensor name), so that the
 * losses of one graph and seed are equal to the last bit under every plan, thread count and tier. */
#ifndef MILLRACE_PLACE_ENGINE_H
#define MILLRACE_PLACE_ENGINE_H
#include "tensor/exec.h"
#include "place/plan.h"

struct engine;
/* Dies when the plan cannot be executed: an operand without a place, a place beyond its pool. */
struct engine *engine_open(const struct graph *, const struct plan *, const struct kernels *, int threads,
                           const char *tier, uint64_t seed, unsigned delay,    /* delay: see mover.h; 0 but in tests */
                           const char *paged);           /* NULL, or all memory is paged to files here, see tier.h */
void engine_close(struct engine *);
/* All bytes of an arg or constant: what the step begins with, before the first one; what it has become. */
void engine_put(struct engine *, int tensor, const void *from);
void engine_get(struct engine *, int tensor, void *to);

struct step_result {
    double seconds, kernel_seconds;
    double move_seconds;                                 /* for which nodes waited for moves */
    double delay_seconds;                                /* ready to run, but others had the core; nan: unknown */
    double others_seconds;                               /* CPU that other programs used meanwhile; nan: unknown */
    double loss;
    bool has_loss;
    uint64_t read_bytes, written_bytes;                  /* from and to the tier */
    uint64_t fetched_bytes, evicted_bytes;               /* the part of them that moves made */
    int moves;
};
struct step_result engine_step(struct engine *, double *node_seconds);   /* node_seconds[nnode], or NULL */

const struct tier *engine_tier(const struct engine *);
uint64_t engine_fast_bytes(const struct engine *); /* most bytes of the pool ever in use at a node, staging included */
uint64_t engine_scratch_bytes(const struct engine *);
struct calibration engine_calibration(const struct engine *);   /* of the tier, before parameters were put there */

/* What lies outside the pools: where, by tensor (the caller frees), how much in all, and what it begins with.  The set
 * is that of offloaded parameters, NULL: none. */
uint64_t *engine_arg_offsets(const struct graph *, const bool *offloaded, uint64_t *total);
/* of a process beside its pool: these, scratch, the program */
uint64_t engine_beside_bytes(const struct graph *, const bool *offloaded);
void engine_draw_arg(char *at, const struct graph *, int tensor, uint64_t seed);
uint64_t engine_most_used(const struct graph *, const struct plan *);    /* of the fast pool, see engine_fast_bytes */
#endif

/* record.h - what there is to say about one planned and executed training step, as the study records it.
 *
 * Sizes in bytes, times in seconds.  "fast" is the study's DRAM, "slow" its PMM.  The study's io_size,
 * default_alloc_size, num_*_move_nodes, bytes_moved_*, num_*_tensors, *_alloc_size, move_time, config_map and
 * kernel_times are all here; moves beside kernels are counted apart as well. */
#ifndef MILLRACE_PLACE_RECORD_H
#define MILLRACE_PLACE_RECORD_H
#include "place/plan.h"
#include "tree/sexp.h"

struct record {
    uint64_t io_bytes;                                   /* of args: inputs, labels, parameters and their next values */
    uint64_t peak_bytes; /* most intermediates alive at once: what all in fast memory needs */
    int moves, moves_to_slow, moves_to_fast;
    uint64_t moved, moved_to_slow, moved_to_fast;
    bool beside;                                         /* the moves are made beside kernels */
    int kernels, inputs, outputs, fast_inputs, fast_outputs;   /* operand slots over all nodes; args count as fast */
    uint64_t input_bytes, output_bytes, fast_input_bytes, fast_output_bytes; /* the same, by size; args weigh nothing */
    double move_seconds;                                 /* planned; nan without a profile */
    double creation_seconds, optimisation_seconds;       /* CPU of place-plan; nan where it did not say */
    const struct profile *profile;                       /* as given */
};
struct record record_of(const struct graph *, const struct plan *, const struct profile *);   /* profile may be NULL */

/* Fills creation and optimisation time from the table that place-plan --times wrote. */
void record_times(struct record *, const char *path);

/* The step without moves and with any workspace, as the study has it: the sum over nodes of the fastest profiled time
 * or, if less, the measured one (a table of nodes by place-run or place-gpu, or NULL). */
double record_oracle(const struct graph *, const struct profile *, const char *kernels);

/* Writes that table: node, name, op, key, seconds (median of the steps), planned_seconds.  seconds: steps by nodes. */
void record_kernels(const char *path, const struct graph *, const struct plan *, const double *seconds, long steps);

/* As s-expressions: (NAME BYTES) .. of tensors, args 0; (NAME IN_TIERS OUT_TIERS MODE) .. of nodes, - where none. */
void record_sizes(const struct graph *, sexpw *);
void record_tiers(const struct graph *, const struct plan *, sexpw *);
#endif

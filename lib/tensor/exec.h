/* exec.h - runs one kernel with each operand in fast or in slow memory.
 *
 * direct: all operands are fast.  streamed: while one unit is computed, the next one's inputs are read and the last
 * one's outputs written; two buffers for each slow operand.  staged: slow inputs are read whole, the kernel runs, slow
 * outputs are written whole.  All three give the same bits.  When exec_run returns, everything is where it belongs. */
#ifndef MILLRACE_PLACE_EXEC_H
#define MILLRACE_PLACE_EXEC_H
#include "tensor/ops.h"
#include "tensor/tier.h"

enum exec_mode { EXEC_DIRECT, EXEC_STREAMED, EXEC_STAGED };   /* as profile_modes */

struct place {
    bool slow;
    char *fast;
    uint64_t offset;
}; /* fast: address; slow: offset in the tier, a multiple of OP_ALIGN */

struct exec;
struct exec *exec_new(const struct kernels *, struct team *, struct tier *);   /* borrows all three; tier may be NULL */
void exec_free(struct exec *);

/* Bytes of fast memory that operands in `slow` (bit i: operand i) need beside the kernel. */
uint64_t exec_staging(const struct op *, uint32_t slow, enum exec_mode);
void exec_run(struct exec *, const struct op *, const struct place *, enum exec_mode, char *staging);
uint64_t exec_scratch(const struct exec *);              /* most bytes of kernel scratch and edge blocks used so far */
#endif

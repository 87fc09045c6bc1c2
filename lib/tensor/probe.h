/* probe.h - times one kernel as a training step meets it: operands where they would lie, caches as they would be.
 *
 * An operand that the step touched shortly before (less than CACHE_BYTES of other operands ago) is warm: it lies at
 * the same addresses in every run.  So does a new one that takes the place of tensors that ended so shortly before (of
 * those that end, the last is replaced first), and what slow operands are staged in.  All others move on through a
 * large arena from run to run and are cold, as they are in the step. */
#ifndef MILLRACE_PLACE_PROBE_H
#define MILLRACE_PLACE_PROBE_H
#include "tensor/exec.h"

struct probe;
/* offloaded: of each kernel the operands that cannot move but are timed in slow memory, as bits; asks for disk first */
struct probe *probe_open(const struct graph *, const struct kernels *, int threads, const char *tier,
                         const uint32_t *offloaded);
void probe_close(struct probe *);
const struct tier *probe_tier(const struct probe *);

struct timing { double seconds; long runs; uint64_t staging; };   /* median of the runs */

/* `slow`: bit i, operand i in slow memory.  At least `runs` runs, fewer (never below 3) of a kernel that takes long. */
struct timing probe_kernel(struct probe *, int kernel, uint32_t slow, enum exec_mode, long runs);
struct timing probe_move(struct probe *, uint64_t bytes, bool to_fast, long runs);
/* Seconds that kernels lose by a second of copies beside them: nodes of an operator (NULL: of all) from all over the
 * graph, all operands fast, by turns alone and while another thread copies without a break; of each node the medians
 * count.  Between 0 and 1. */
struct timing probe_interference(struct probe *, const char *op, bool to_fast);
bool probe_streams(const struct probe *, int kernel); /* has more than one unit, so that streamed differs from staged */
#endif

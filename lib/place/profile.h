/* profile.h - how long each kernel takes with each operand in fast or slow memory: a CSV table and its lookup.
 *
 * Columns: key, op, shapes, in_tiers, out_tiers (a letter per operand: D fast, P slow; operands that cannot move are
 * D), mode (how slow operands are reached: direct, streamed, staged; direct when all are fast), staging_bytes (fast
 * memory needed beside the operands, empty 0), time_seconds, runs, method, kind (real, emulated, simulated).  Further
 * columns are welcome; when `threads`, `tier` or `machine` is among them it must have one value in the whole file, so
 * that tables of different settings never mix.  Copies are rows of op Move: key "Move BYTES", in_tiers P and
 * out_tiers D for a fetch, D and P for a write-out.  Rows of op Interference (key "Interference", of all kernels, or
 * "Interference OPERATOR"; tiers alike) have in time_seconds what kernels lose by a second of such copies beside them;
 * what a busy machine measures above PROFILE_LOST_MOST counts as that, with a warning: plans are made of less than 1.
 * Later rows replace earlier ones of the same (key, in_tiers, out_tiers, mode). */
#ifndef MILLRACE_PLACE_PROFILE_H
#define MILLRACE_PLACE_PROFILE_H
#include "tensor/graph.h"
#include "table/csvio.h"

#define PROFILE_INTERFERENCE "Interference"
#define PROFILE_LOST_MOST 0.95
#define PROFILE_COLUMNS "key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind"
enum { PROFILE_MODES = 3 };
extern const char *const profile_modes[PROFILE_MODES];   /* direct, streamed, staged */

struct profile;
struct profile *profile_read(const char *path);          /* dies on a bad row */
void profile_free(struct profile *);
const char *profile_kind(const struct profile *);        /* real, emulated, simulated; the weakest when mixed */

struct choice { double seconds; uint64_t staging; int mode; };   /* mode: index in profile_modes */

/* The exact row, in the mode given or, for mode -1, the fastest; false when absent. */
bool profile_find(const struct profile *, const char *key, const char *in_tiers, const char *out_tiers, int mode,
                  struct choice *);

/* Times of a node for all 2^k placements of its k slots (node_slots); bit i set: slot i is slow.  Mode by mode, a
 * placement without a row of its own gets the all-fast time plus the penalties of its slots one by one (mean error
 * 7 % on the Optane tables); the fastest mode whose staging and workspace leave room under `limit` for the operands
 * that are fast is taken (where none does, for none of them).  A placement that cannot be had has infinite
 * seconds, none takes less time than all operands in fast memory.  Dies when the kernel or a slot has no rows. */
void profile_table(const struct profile *, const struct graph *, int node, uint64_t limit, struct choice *table);

/* Seconds of one copy of `bytes` bytes: linear between the measured sizes, by the last slope beyond, and in
 * proportion below the smallest.  Dies when there is no Move row in that direction. */
double profile_move(const struct profile *, uint64_t bytes, bool to_fast);

/* Two slow tiers at once: `last` also knows the times of `middle` from now on, and owns it.  Dies when the two were
 * measured with other threads or on other machines, or a kernel's staging differs. */
void profile_join(struct profile *last, struct profile *middle);
bool profile_is_joined(const struct profile *);
bool profile_is_open(const struct profile *);            /* joined, and no view: no part is decided */
/* The same profile for slow tensors that lie in the middle where in_middle (by tensor of a graph, borrowed) says so; a
 * kernel with slow operands in both takes its all-fast time and the penalties of each from its own table.  Without a
 * view times of a joined profile are those of the better part for each operand: none of a view is below.  To be freed
 * by free(). */
struct profile *profile_view(const struct profile *, const bool *in_middle);
/* Times of a node for one placement: `slow` and, of these slots, `middle` are sets of slots. */
struct choice profile_choice(const struct profile *, const struct graph *, int node, uint64_t limit, unsigned slow,
                             unsigned middle);
/* Of a joined profile without a view: the most time of a node, over all placements in both parts that fit under the
 * limit by themselves, that the copies of its slow operands would not take; so much of the copy channel can others have
 * beside it. */
double profile_spare(const struct profile *, const struct graph *, int node, uint64_t limit);
/* profile_move for a tensor, from or to the part where it lies */
double profile_copy(const struct profile *, const struct graph *, int tensor, bool to_fast);

/* Seconds that a node loses by a second of copies beside it, below 1: the mean of both directions, of its operator
 * where that was measured, else of all kernels; 0 where nobody measured anything; of a joined profile the lesser
 * of both. */
double profile_lost(const struct profile *, const struct graph *, int node);
void profile_set_lost(struct profile *, double part);    /* so much from now on, whatever was measured */

/* Writing: one row (csvw_end is still to come, for further columns); in_tiers and out_tiers as above. */
void profile_row(csvw *, const struct graph *, int kernel, const char *in_tiers, const char *out_tiers, int mode,
                 uint64_t staging, double seconds, long runs, const char *method, const char *kind);
void profile_move_row(csvw *, uint64_t bytes, bool to_fast, double seconds, long runs, const char *method,
                      const char *kind);
/* op: NULL, all kernels */
void profile_interference_row(csvw *, const char *op, bool to_fast, double lost, long runs, const char *method,
                              const char *kind);
/* tiers of a kernel's operands as letters: bit i of `slow` is operand i; into in[nin + 1], out[nout + 1] */
void profile_tiers(const struct graph *, int kernel, uint32_t slow, char *in, char *out);
#endif

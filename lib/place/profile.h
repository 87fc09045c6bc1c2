/* profile.h - how long each kernel takes with each operand in fast or slow memory: a CSV table and its lookup.
 *
 * Columns: key, op, shapes, in_tiers, out_tiers (a letter per operand: D fast, P slow; operands that cannot move and
 * those after the 32nd are D), mode (how slow operands are reached: direct, streamed, staged; direct when all are
 * fast), staging_bytes (fast memory needed beside the operands, empty 0), time_seconds, runs, method, kind (real,
 * emulated, simulated).  Further columns are welcome; when `threads`, `tier` or `machine` is among them it must have
 * one value in the whole file, so that tables of different settings never mix.  Copies are rows of op Move: key "Move
 * BYTES", in_tiers P and out_tiers D for a fetch, D and P for a write-out.  Rows of op Interference (key
 * "Interference", of all kernels, or "Interference OPERATOR"; tiers alike) have in time_seconds what kernels lose by a
 * second of such copies beside them; what a busy machine measures above PROFILE_LOST_MOST counts as that, with a
 * warning: plans are made of less than 1.
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

/* The slow operands that the columns in_tiers and out_tiers of a row name, as bits; dies on other letters. */
uint64_t profile_slow(csv *, int in_tiers, int out_tiers);

/* The row with just these operands slow (bits), in the mode given or, for mode -1, the fastest; false when absent. */
bool profile_find(const struct profile *, const char *key, uint64_t slow, int mode, struct choice *);

/* Times of a node for all 2^k placements of its k slots (node_slots); bit i set: slot i is slow.  Mode by mode, a
 * placement without a row of its own gets the all-fast time plus the penalties of its slots one by one (mean error
 * 7 % on the Optane tables); the fastest mode whose staging and workspace leave room under `limit` for the operands
 * that are fast is taken (where none does, for none of them).  A placement that cannot be had has infinite
 * seconds, none takes less time than all operands in fast memory.  Operands of the set `offloaded` (bit i: operand i)
 * are slow in all of them.  Dies when the kernel or a slot has no rows. */
void profile_table(const struct profile *, const struct graph *, int node, uint32_t offloaded, uint64_t limit,
                   struct choice *table);

/* Seconds of one copy of `bytes` bytes: linear between the measured sizes, by the last slope beyond, and in
 * proportion below the smallest.  Dies when there is no Move row in that direction. */
double profile_move(const struct profile *, uint64_t bytes, bool to_fast);

/* Seconds of copies of the operands of that set, each operand once. */
double profile_copies(const struct profile *, const struct graph *, int node, uint32_t operands);

/* Seconds that a node loses by a second of copies beside it, below 1: the mean of both directions, of its operator
 * where that was measured, else of all kernels; 0 where nobody measured anything. */
double profile_lost(const struct profile *, const struct graph *, int node);

/* Writing: one row (csvw_end is still to come, for further columns); bit i of `slow` is operand i. */
void profile_row(csvw *, const struct graph *, int kernel, uint32_t slow, int mode, uint64_t staging, double seconds,
                 long runs, const char *method, const char *kind);
void profile_move_row(csvw *, uint64_t bytes, bool to_fast, double seconds, long runs, const char *method,
                      const char *kind);
/* op: NULL, all kernels */
void profile_interference_row(csvw *, const char *op, bool to_fast, double lost, long runs, const char *method,
                              const char *kind);
/* appends the letters of its inputs, or those of its outputs */
void profile_tiers(struct buf *, const struct graph *, int kernel, uint32_t slow, bool outputs);
#endif

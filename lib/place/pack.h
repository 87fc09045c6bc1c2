/* pack.h - offline packing: buffers with known lifetimes get offsets below a capacity, none overlapping in both.
 *
 * First orders and best-fitting gaps with the troublesome buffers moved forward between passes, then, if that is not
 * enough, depth-first search in canonical order (offsets never fall) with inference per section of time, dominance and
 * decomposition into parts that no buffer bridges, after MiniMalloc (Moffitt, ASPLOS 2023).  Deterministic. */
#ifndef MILLRACE_PLACE_PACK_H
#define MILLRACE_PLACE_PACK_H
#include <stdbool.h>
#include <stdint.h>

struct buffer {
    int64_t lower, upper;                                /* alive from lower to before upper; lower < upper */
    uint64_t size, align;                                /* align: the offset is a multiple; 0 is 1 */
    uint64_t offset;                                     /* the answer */
};

enum pack_result { PACK_DONE, PACK_IMPOSSIBLE, PACK_GAVE_UP };

/* The most bytes alive at once: no packing can be lower. */
uint64_t pack_load(const struct buffer *, int n);
/* The highest end of any buffer. */
uint64_t pack_top(const struct buffer *, int n);
/* As low as `passes` passes get; returns the top.  Stops when `enough` is reached. */
uint64_t pack_low(struct buffer *, int n, long passes, uint64_t enough);
/* Into `capacity` bytes; once `nodes` nodes of the search tree were looked at no search begins, of which the first
 * has 2 000 (0: no limit).  Offsets are only meaningful when done; impossible is a proof. */
enum pack_result pack(struct buffer *, int n, uint64_t capacity, long passes, long nodes);
#endif

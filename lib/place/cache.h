/* cache.h - fast memory as a hardware cache of slow memory, which is what a machine does without a plan.
 *
 * A direct-mapped write-back cache with allocation on every miss, as Optane servers have in memory mode (Izraelevitz et
 * al., 2019).  A line that misses is read from slow memory and written to fast memory before it is used, even when it
 * is about to be overwritten whole; a dirty line that makes room is written back first.  Everything here is simulated.
 * Cost: one step per line touched and 4 bytes per line of capacity. */
#ifndef MILLRACE_PLACE_CACHE_H
#define MILLRACE_PLACE_CACHE_H
#include "place/cost.h"

struct cache;
struct traffic { uint64_t read, written, missed, evicted; };   /* bytes, whole lines; evicted: dirty ones only */

struct cache *cache_new(uint64_t bytes, uint64_t line);  /* empty; line is a power of two, bytes at least a line */
void cache_free(struct cache *);
void cache_touch(struct cache *, uint64_t address, uint64_t bytes, bool write, struct traffic *);   /* adds */

/* One address for every tensor: args one after the other (an updated parameter where the parameter lies), then
 * intermediates, packed by their lifetimes.  Returns the bytes in use; address[ntensor], multiples of 4096. */
uint64_t cache_addresses(const struct graph *, uint64_t *address);

/* Executes the kernel of a node through the cache, operands in order. */
struct traffic cache_node(struct cache *, const struct graph *, int node, const uint64_t *address);
/* Seconds of that kernel, by the model of cost.h, misses and write-backs added to its memory time: reading at the rate
 * of slow reads, filling at that of fast writes, writing back at that of slow writes. */
double cache_seconds(const struct cost_model *, const struct graph *, int node, const struct traffic *);
#endif

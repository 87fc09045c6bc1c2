/* tier.h - a slow memory: bytes at offsets, reached by transfers, never by pointer.
 *
 * SPEC is one of
 *   dram                        plain copies; what fast memory itself would give
 *   file:DIR[,buffered]         a nameless file in the directory DIR, read and written past the page cache by
 *                               O_DIRECT with several requests in flight.  Where the file system refuses O_DIRECT
 *                               (or with ",buffered") each write is pushed out and each page dropped behind, and
 *                               the method says `buffered`.  Memory file systems are refused: they are DRAM.
 *   numa:N                      memory of node N (a CXL or PMM node, another socket), bound by mbind and proven by
 *                               get_mempolicy; refused where N is the only node that has memory: that is DRAM
 *   dax:DIR                     a nameless file mapped with MAP_SYNC, which only persistent memory's file systems grant
 *   emu:READ,WRITE[,LATENCY]    copies held to READ and WRITE bytes per second (16G,5.5G) and at least LATENCY
 *                               seconds a request; the kind says `emulated`
 * A file that the page cache holds is never offered as slow memory.  The file has no name, so that nothing is left
 * behind however the program ends.
 *
 * Transfers need offsets, lengths and addresses in multiples of tier_align, and huge-page buffers to be fast.  Errors
 * of the device end the program with a message. */
#ifndef MILLRACE_PLACE_TIER_H
#define MILLRACE_PLACE_TIER_H
#include "base/filter.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tier;
struct tier *tier_open(const char *spec,
                       uint64_t bytes); /* dies; asks for free space before it writes, then writes all once */
void tier_close(struct tier *);
/* The value of an option that is given once: plans know fast memory and one other.  Dies with none or two. */
const char *tier_given(const struct list *);
void tier_check(const char *spec, uint64_t bytes); /* dies now if tier_open would for lack of space or a bad path */

const char *tier_kind(const struct tier *);              /* real | emulated */
const char *tier_method(const struct tier *);            /* memory | o_direct | buffered | paced | node | dax */
size_t tier_align(const struct tier *);
uint64_t tier_bytes(const struct tier *);

/* Transfers in flight: zero-initialise, add with tier_start, wait for all with tier_finish (the caller helps). */
struct transfer { int left; };
void tier_start(struct tier *, struct transfer *, bool write, void *p, uint64_t offset, size_t bytes);
void tier_finish(struct tier *, struct transfer *);
/* One request, made by the caller alone: no thread is woken, which would cost the kernels beside it a core's time. */
void tier_copy(struct tier *, bool write, void *p, uint64_t offset, size_t bytes);
uint64_t tier_moved(const struct tier *, bool write);    /* bytes since tier_open */

/* Zeroed memory on huge pages where the system has them, 2 MiB aligned; freed by pages_free. */
void *pages(size_t bytes);
void pages_free(void *, size_t bytes);
/* Memory that the system pages to a nameless file in the directory: what a program gets that has too little.  Dies when
 * the directory lies in memory or lacks the space; freed by pages_free. */
void *pages_paged(const char *directory, size_t bytes);

/* Memory like pages(), every page of it on that NUMA node, proven; dies where there is no such node. */
void *pages_on_node(int node, size_t bytes);

struct calibration {
    double read_bytes_per_second, write_bytes_per_second, read_latency_seconds, write_latency_seconds;
};
struct calibration tier_calibrate(struct tier *,
                                  double seconds); /* medians of requests of 4 MiB and of one alignment unit */
#endif

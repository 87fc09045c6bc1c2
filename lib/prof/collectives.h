/* collectives.h - which kernels of several processes are one collective: an all-reduce, a broadcast.
 *
 * Kernels of communication of one name in several processes that ran at the same time are one.  None of them can end
 * before all have come, so of what is left in each process those that overlap the first to end belong together. */
#ifndef MILLRACE_COLLECTIVES_H
#define MILLRACE_COLLECTIVES_H
#include "prof/events.h"

struct collectives {
    uint32_t *group;                                     /* of a row: which it is in, from 1; 0 none; NULL: none is */
    int64_t *met;                                        /* by collective: when its last rank came */
    size_t n, alone;                                     /* alone: such kernels of one process that no other met */
};
/* rows: by thread and time; communication: number of that category's text.  The caller frees group and met. */
struct collectives collectives_match(const struct rows *rows, uint32_t communication);
#endif

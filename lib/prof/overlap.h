/* overlap.h - from rows of the events table, in any order, to cells and transitions of each process; see sweep.h.
 *
 * While rows come in order of start the sweep runs along, and memory is that of what is open at once.  A regular file
 * that turns out to be out of order is read again and held, 16 bytes a row and as many while it is sorted; a pipe is
 * held until a quarter of a million rows were in order; then one that is not is an error, unless `hold`. */
#ifndef MILLRACE_OVERLAP_H
#define MILLRACE_OVERLAP_H
#include "prof/events.h"
#include <stdbool.h>

struct overlap_options {
    bool transitions;                                    /* count them */
    bool hooks;                                          /* count the recorder's hooks, column hook of the input */
    bool across;                                         /* one sweep over all processes, named "" */
    bool on;                                             /* phases are the stretches in which profiling was on */
    bool hold;                                           /* rows from a pipe in any order */
    bool sorted;                                         /* rows out of order are an error */
};
typedef struct overlap overlap;
overlap *overlap_read(char **paths, struct overlap_options);
/* proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs: header and rows */
void overlap_write_cells(overlap *, csvw *);
void overlap_write_transitions(overlap *, csvw *);       /* proc,op,from,to,count: header and rows */
void overlap_write_hooks(overlap *, csvw *);             /* proc,phase,op,cats,hook,before,begun: header and rows */
size_t overlap_processes(const overlap *);
str overlap_process(const overlap *, size_t p);
struct cell;
size_t overlap_cells(overlap *, size_t p, const struct cell **);   /* see sweep_cells */
struct repairs overlap_repairs(const overlap *);
void overlap_free(overlap *);
#endif

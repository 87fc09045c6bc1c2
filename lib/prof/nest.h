/* nest.h - properly nested intervals of one thread as disjoint pieces of the innermost one.
 *
 * Innermost at t is the interval that covers t with the latest start, then the shorter one, then the later in the
 * input. One that outlives its parent is cut at the parent's end and counted, unless repairs is NULL. */
#ifndef MILLRACE_NEST_H
#define MILLRACE_NEST_H
#include "prof/events.h"

struct event_piece { int64_t start, end; const struct row *of; };
/* zero-initialise; reused */
struct pieces { struct event_piece *v; size_t n, cap; struct nest_level *stack; size_t depth_cap; };

/* Rows sorted as by table_sort_threads, all of one thread; only those of one kind with a length are considered.  Pieces
 * come in order of time; what touches and belongs to the same row is one piece. */
void nest_flatten(struct pieces *, const struct row *, size_t n, enum event_kind, struct repairs *);

/* Ranges of rows with the same proc and tid: [*begin, *end) after *end; false when there is none left. */
bool next_thread(const struct rows *, size_t *begin, size_t *end);
#endif

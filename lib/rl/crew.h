/* crew.h - processes that act while their parent learns, in an order that no clock decides.
 *
 * Each of n forked workers has two pieces of memory shared with the parent: `in`, written by the parent before it says
 * go, and `out`, written by the worker and the parent's to read after wait.  Between go and wait a piece belongs to
 * the worker.  Everything else a worker has is its own copy of the parent's memory as it was at crew_new.  Since who
 * waits for whom is fixed by the calls, results depend on nothing else.
 * Workers end with their parent, also by kill -9; a worker that ends makes crew_wait die. */
#ifndef MILLRACE_CREW_H
#define MILLRACE_CREW_H
#include <stddef.h>

enum { CREW_MAX = 64 };
typedef void crew_work(void *self, int worker, long turn, const void *in, void *out);
struct crew;
struct crew *crew_new(int n, size_t in, size_t out, crew_work *, void *self);
void *crew_in(struct crew *, int worker);
void *crew_out(struct crew *, int worker);
void crew_go(struct crew *, int worker, long turn);
void crew_wait(struct crew *, int worker);
void crew_free(struct crew *);                           /* NULL too; not while a worker works */
#endif

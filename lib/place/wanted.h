/* wanted.h - which measurements a profile needs: kernels with sets of slow operands, and copies.  Those that a file has
 * already are dropped, so that profiling goes on where it stopped. */
#ifndef MILLRACE_PLACE_WANTED_H
#define MILLRACE_PLACE_WANTED_H
#include "place/plan.h"

enum { WANT_COPY = -1, WANT_INTERFERENCE = -2 };         /* not a kernel: a copy of `bytes`; kernels beside copies */
struct want { int kernel; uint32_t slow; int mode; uint64_t bytes; bool to_fast; const char *op; };   /* op: or NULL */
struct wanted { struct want *want; size_t n, cap; };     /* zero-initialise */

/* singles, or all combinations; copies of 64 KiB and up; offload: and each parameter, with its next value */
void wanted_all(struct wanted *, const struct graph *, bool full, bool offload);
void wanted_by_plans(struct wanted *, const struct graph *, const char *const *plans, int n);

/* Removes rows that are in the profile at `path`; dies when it was made in another setting. */
void wanted_drop(struct wanted *, const struct graph *, const char *path, int threads, const char *tier,
                 const char *machine);
#endif

/* team.h - a fixed team of threads, one per core, that all call the same function.
 *
 * Members spin for some microseconds between calls and then sleep, so kernels of a fraction of a millisecond can be
 * shared and an idle team costs nothing.  With one thread nothing is started.
 *
 * Caller and members take denormal numbers for zero from team_start on: gradients fade into them and an addition with
 * one costs a hundred others. */
#ifndef MILLRACE_PLACE_TEAM_H
#define MILLRACE_PLACE_TEAM_H
#include <pthread.h>

struct team;
/* A thread that moves data, and those that it starts, keeps to the cores that a team of so many leaves, if there are
 * any; else it takes a kernel's core for 50 us at a time.  The caller may be one of them until team_start. */
void team_keep_off(pthread_t, int threads);
struct team *team_start(int threads);                    /* pins the caller and the members to cores of its own set */
int team_size(const struct team *);
void team_run(struct team *, void (*fn)(void *context, int part, int parts), void *context); /* returns when all have */
void team_stop(struct team *);
#endif

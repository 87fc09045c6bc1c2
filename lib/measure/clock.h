/* clock.h - time that only goes forward, and the machine-wide lock that keeps two measurements apart. */
#ifndef MILLRACE_CLOCK_H
#define MILLRACE_CLOCK_H
#include <stdint.h>

int64_t now_ns(void);                                    /* CLOCK_MONOTONIC */
double now_seconds(void);
/* Seconds for which the calling thread was ready to run but others had the core; nan where the kernel does not tell. */
double core_delays(void);
/* CPU seconds that all the others have used on this machine, stolen ones included; nan where the kernel does not tell.
 * In ticks, mostly 10 ms, of each core: for differences over tenths of seconds. */
double others_seconds(void);
int64_t cpu_ns(void);                                    /* CPU time of this process, all threads */
void clock_fake(int64_t (*source_ns)(void));             /* tests: replace now_ns; NULL restores */

/* Held while anything is timed, by bench-run, loop-run, place-run and others: one measurement at a time per machine.
 * Waits, and says after half a second and then every minute for which process.  Released by process exit, also by
 * kill -9; a holder that is stopped keeps it.  A child of a holder does not wait for its parent.  The lock file is
 * /run/lock/millrace-measure.lock, or in /tmp where not all users may write to that folder; MILLRACE_MEASURE_LOCK=PATH
 * is another. */
void measure_lock(void);
void measure_unlock(void);
#endif

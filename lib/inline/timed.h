/* timed.h - builds of which both are known, what cachegrind counted and how long they took.
 *
 * Two tables meet here: counts (bench-count with a column run, PROGRAM.K) and paired rounds (bench-run, benchmark being
 * PROGRAM.K).  A build is a label of a program, over those of its runs that both tables have; the base is none. */
#ifndef MILLRACE_INLINE_TIMED_H
#define MILLRACE_INLINE_TIMED_H
#include "base/str.h"
#include <stddef.h>
#include <stdint.h>

enum { TIMED_EVENTS = 10 };
extern const char *const timed_event[TIMED_EVENTS];      /* instructions come first */

struct timed_build {
    uint32_t program, label;
    double x[TIMED_EVENTS];                              /* how many more than the base, per instruction of the base */
    double y, half[2];                                   /* log of CPU time over the base's; of even and odd rounds */
    double runs;
};
struct timed {
    struct timed_build *build;
    size_t n, room;
    struct intern programs;
};

/* events: files, ended by NULL.  Dies on a bad row, and where the base is not in both tables.  Memory: all rows. */
void timed_read(struct timed *, char **events, const char *runs, const char *base);
void timed_free(struct timed *);

/* Weights from all programs but one, -1: from all; see cost_fit().  Where the data do not say, an instruction costs one
 * and nothing else costs anything.  A negative penalty: that which does best when each program is left out in turn. */
void timed_fit(const struct timed *, long without, double penalty, double weight[TIMED_EVENTS]);

/* How well weights tell the time of a program's builds; numbers are nan where there are too few. */
struct timed_verdict {
    size_t builds;
    double rank_instructions, rank_cost, rank_halves;    /* rank correlations with the time; of its halves */
    double error_instructions, error_cost, error_halves; /* root mean squares of differences of logarithms */
};
struct timed_verdict timed_judge(const struct timed *, uint32_t program, const double weight[TIMED_EVENTS]);
/* Both rank correlations of so many draws of the program's builds, with replacement; nan where all are one build. */
void timed_resample(const struct timed *, uint32_t program, const double weight[TIMED_EVENTS], uint64_t seed,
                    size_t draws, double *instructions, double *cost);
#endif

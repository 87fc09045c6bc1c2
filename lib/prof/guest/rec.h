/* rec.h - the writing side of the recorder: 16-byte records from any thread, without locks, that survive kill -9.
 *
 * Shared by the CPython extension, the preload library and anything else inside the recorded process; it uses libc
 * alone. A record costs one time stamp and 16 bytes stored to a mapped page; every LOG_HALF records one write(2), of a
 * thread that has written many every LOG_HALF_LARGE, which is a call of category Profiler in the log.
 * The recorder keeps no descriptor: whatever the program closes, and whatever it opens afterwards, its files are its
 * own.  The few system calls that need a descriptor run where no other code of the process can see it, see
 * rec_apart.  After fork the child makes files of its own, after exec the new program does.  When the disk is full the
 * program goes on and the loss is counted in the head. */
#ifndef MILLRACE_REC_H
#define MILLRACE_REC_H
#include "prof/guest/apart.h"
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

/* With the preload library in the process its copy serves the extension too: one set of files, one numbering. */
#pragma GCC visibility push(default)
struct rec_thread {
    struct log_record *p, *end;                          /* where the next record goes; at the end: rec_more */
    uint64_t last, waited;                               /* the last record's time; ticks waited for the GIL since */
    uint64_t cpu, clocked;                               /* ns of its CPU clock when last read, 0: never; ticks then */
    int64_t slept;                                       /* how often it had let go of the CPU by itself then */
    /* the thread's Python base is open: closed at the thread's end */
    bool in_base;
};
extern __thread struct rec_thread rec_thread __attribute__((tls_model("initial-exec")));
extern bool rec_on;                                      /* records are wanted */
extern double rec_pair_ns;                               /* what recording a call costs; whoever records sets it */
extern uint64_t rec_gap;                                 /* ticks after which the CPU clock is read */
extern bool rec_ticks;                                   /* time stamp counter instead of the system clock */

/* Records go to directory `dir`, made if missing.  False with a message on stderr when that is impossible. */
bool rec_start(const char *dir);
/* write out what this thread holds; others' rings stay readable */
void rec_stop(void);
void rec_finish(void);                                   /* the process ends without the usual: complete the files */
const char *rec_dir(void);                               /* NULL before rec_start */
/* A new id, with its meaning; thread-safe.  kind: c, py, op, phase, or asked, a pattern; cat: category or "". */
uint32_t rec_name(const char *kind, const char *cat, const char *module, const char *name);
/* this thread spent so much CPU time for the recorder alone, not for the program */
void rec_own(uint64_t ns);
/* The program locks itself in, see lock.h: what there is is written out, and from now on no system call is made.  What
 * has room in the mapped rings is kept, the rest counted as dropped; nothing is printed. */
void rec_lock(void);
void rec_unlock(void);                                   /* it did not come to that */
extern void (*rec_before_lock)(void);                    /* what else must be put to rest; or NULL */
double rec_tick_ns(void);                                /* after rec_start */
uint64_t rec_dropped(void);                              /* records lost so far, all threads */
/* make room for this thread; false: none, the record is lost */
bool rec_more(void);
/* What the thread did since its last record, on the CPU or off it: a record or two before the next, whose time is
 * returned.  To ask takes a moment, in which others often get the processor: what begins, begins after it. */
uint64_t rec_clock(uint64_t t, bool begins);
/* an event of n << the lower bits of aux */
void rec_put_number(enum log_event event, uint64_t n, unsigned flag, uint64_t t);
/* the same as rec_put_at, when there is no room yet */
void rec_put_full(enum log_event event, uint32_t id, enum log_hook hook, uint64_t t);
#pragma GCC visibility pop

static inline uint64_t rec_now(void)
{
#if defined __x86_64__
    if (rec_ticks) return __rdtsc();
#endif
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void rec_put_at(enum log_event event, uint32_t id, enum log_hook hook, uint64_t t)
{
    if (__builtin_expect(t - rec_thread.last > rec_gap, 0)) t = rec_clock(t, log_begins(event));
    rec_thread.last = t;
    if (__builtin_expect(rec_thread.p >= rec_thread.end, 0)) {
        rec_put_full(event, id, hook, t);
        return;
    }
    struct log_record *r = rec_thread.p++;
    r->id = id;
    r->event = (uint16_t)event;
    r->aux = (uint16_t)hook;
    __atomic_store_n(&r->t, t, __ATOMIC_RELEASE);        /* last: a record with a time is whole */
}

/* before the first record of a thread: its files take a moment, which is not the program's */
static inline void rec_ready(void)
{
    if (rec_thread.p >= rec_thread.end) rec_more();
}

static inline void rec_put(enum log_event event, uint32_t id, enum log_hook hook)
{
    rec_put_at(event, id, hook, rec_now());
}
#endif

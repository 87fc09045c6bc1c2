/* logfile.h - the recorder's files: what it writes is what prof-log reads.
 *
 * Per thread  ev.PID.IMAGE.N.log   a head of 4096 bytes, then records of 16 bytes, little-endian, appended by halves;
 *                                  a thread that begins goes on in that of one that has ended, see LOG_THREAD
 *             ev.PID.IMAGE.N.tail  the same head, then a ring of two halves in a shared mapping, removed at a clean
 *                                  end or, where nothing was written out, then the log: with zero bytes behind it
 * Per process names.PID.IMAGE.csv  id,kind,cat,module,name: what the ids mean, written when first seen; what follows
 *                                  the last line is zero bytes where the process was killed, or forked and short
 *             gpu.PID.csv          rows of the events table, by whoever knows of GPU work; CLOCK_MONOTONIC
 * IMAGE counts the programs that a process has run one after the other (exec), N its threads.  All are readable by
 * their owner alone, since a command line may hold a password.  A mapped page belongs to the kernel as soon as it is
 * stored to, so kill -9 loses nothing: records not yet in the log are in the tail.  Half number (records in the log /
 * H) mod 2 of the tail holds them, up to the first that is older than its predecessor; H is what the tail's head says,
 * since the ring grows once, when it is first written out.  A log that keeps only the last `kept` halves overwrites the
 * oldest: half number k lies at place k mod kept. */
#ifndef MILLRACE_LOGFILE_H
#define MILLRACE_LOGFILE_H
#include <stdint.h>

/* bytes of the head; records in a half: in the beginning, in a child, and later, where the log keeps all */
enum { LOG_HEAD = 4096, LOG_HALF = 8192, LOG_HALF_SMALL = 512, LOG_HALF_LARGE = 65536, LOG_VERSION = 2 };
#define LOG_MAGIC "MRPROF2"

enum log_event {
    LOG_CALL = 1, LOG_RETURN, LOG_EXCEPTION,             /* a C function; the end carries the same id */
    LOG_PYTHON, LOG_PYTHON_END,                          /* a Python function, id 0: the thread's base */
    LOG_OP, LOG_OP_END,
    LOG_DROPPED,                                         /* id records before this one could not be written */
    LOG_PHASE,                                           /* from now on the process is in phase id */
    LOG_PASS,                                            /* pass number id ends */
    LOG_PROGRESS,                                        /* id millionths are done */
    LOG_ON, LOG_OFF,                                     /* profiling is enabled, disabled; 1: that was no iteration */
    LOG_SKIPPED,                                         /* 2^aux more calls of C function id were only counted */
    LOG_COUNTED,                                         /* aux calls of C function id were counted since the last */
    LOG_CPU,                                             /* id << aux ns on the CPU since the last of these */
    LOG_GIL,                                             /* id << aux ns waiting for the GIL, until now */
    LOG_POST,                                            /* id: key of what others may have waited for; aux: a link */
    LOG_AWAIT, LOG_TAKE,                                 /* what was waited for from here, and that it came */
    LOG_AMOUNT,                                          /* id << aux bytes, items or ns of the link that follows */
    LOG_THREAD,                                          /* the thread has ended; what follows is thread id's */
    LOG_COST,                                            /* a counted call of C function id takes aux / 32 ns */
    LOG_EVENTS
};
/* Links, see links.h.  PEEK: what is there was only looked for (poll). */
enum log_link {
    LINK_LOCK, LINK_PIPE, LINK_SOCKET, LINK_CONNECT, LINK_START, LINK_EXIT, LINK_THREAD, LINK_QUEUE, LINK_TIMER,
    LINK_CLOSED, LINK_TIMEOUT, LINK_GIL, LINKS, LINK_PEEK = 0x100
};
/* A record of which the one before is 20 us old or more has a LOG_CPU before it: of the thread's CPU clock.  With this
 * aux it is the thread's first, or the first after a fork, and says nothing. */
enum { LOG_CPU_FIRST = 0xffff };
/* In the aux of a LOG_CPU: since the last one the thread never let go of the CPU by itself, it was only preempted. */
enum { LOG_CPU_RAN = 0x100 };
enum log_hook {                                          /* in aux: by what means */
    HOOK_NONE, HOOK_WRAP, HOOK_PATCH, HOOK_CTYPES, HOOK_TREE, HOOK_OP, HOOK_PRELOAD, HOOKS
};

struct log_record { uint64_t t; uint32_t id; uint16_t event, aux; };

/* one instant on four clocks; cpu: the thread's */
struct log_anchor { uint64_t ticks, monotonic_ns, realtime_ns, cpu_ns; };

/* What was written, counted by the writer: the reader's counts must be these.  Brought up to date with every half. */
struct log_totals {
    uint64_t records, sum;                               /* sum: log_sum of all of them */
    uint64_t begun[HOOKS];                               /* intervals begun, by hook */
};

struct log_head {
    char magic[8];
    uint32_t version, half;                              /* half: records in a half of the ring */
    uint32_t pid, tid, parent, image, thread;
    uint32_t ticks;                                      /* t counts 0: monotonic ns, 1: time stamp counter */
    uint32_t clean;                                      /* the end was orderly */
    uint32_t kept;                                       /* halves kept in the log, 0: all */
    uint64_t dropped;                                    /* records that did not reach the disk */
    uint64_t halves;                                     /* written so far */
    struct log_anchor first, last;
    double ns_per_tick;                                  /* a first estimate, for when the two anchors are the same */
    struct log_totals totals;
    char process[64], command[1024];
    uint64_t own_ns;                                     /* the recorder's own part of the thread's CPU time */
    double pair_ns;                                      /* what recording a call costs, tried at the start; 0: not */
};

/* Sum that tells records apart, also by their place k among all of the thread. */
static inline uint64_t log_sum(const struct log_record *r, uint64_t k)
{
    uint64_t rest = (uint64_t)r->id << 32 | (uint64_t)r->event << 16 | r->aux;
    return (r->t ^ (rest << 23 | rest >> 41)) * (2 * k + 0x9e3779b97f4a7c15u);
}

static inline int log_begins(uint16_t event)
{
    return event == LOG_CALL || event == LOG_PYTHON || event == LOG_OP;
}
#endif

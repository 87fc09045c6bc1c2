/* logfile.h - the recorder's files: what it writes is what prof-log reads.
 *
 * Per thread  ev.PID.TID.GEN.log   a head of 4096 bytes, then records of 16 bytes, little-endian, appended by halves
 *             ev.PID.TID.GEN.tail  the same head, then a ring of two halves in a shared mapping, removed at a clean end
 * Per process names.PID.csv        id,kind,cat,module,name: what the ids mean, written when first seen
 *             gpu.PID.csv          rows of the events table, by whoever knows of GPU work; CLOCK_MONOTONIC
 * A mapped page belongs to the kernel as soon as it is stored to, so kill -9 loses nothing: records not yet in the log
 * are in the tail.  Half number (records in the log / H) mod 2 of the tail holds them, up to the first that is older
 * than its predecessor. */
#ifndef MILLRACE_LOGFILE_H
#define MILLRACE_LOGFILE_H
#include <stdint.h>

enum { LOG_HEAD = 4096, LOG_HALF = 4096, LOG_VERSION = 1 };   /* bytes of the head; records in a half */
#define LOG_MAGIC "MRPROF1"

enum log_event {
    LOG_CALL = 1, LOG_RETURN, LOG_EXCEPTION,             /* a C function; the end carries the same id */
    LOG_PYTHON, LOG_PYTHON_END,                          /* a Python function, id 0: the thread's base */
    LOG_OP, LOG_OP_END,
    LOG_DROPPED,                                         /* id records before this one could not be written */
    LOG_PHASE,                                           /* from now on the process is in phase id */
    LOG_PASS,                                            /* pass number id ends */
    LOG_PROGRESS,                                        /* id millionths are done */
    LOG_ON, LOG_OFF                                      /* profiling is enabled, disabled */
};
enum log_hook { HOOK_NONE, HOOK_WRAP, HOOK_PATCH, HOOK_CTYPES, HOOK_TREE, HOOK_OP, HOOK_PRELOAD, HOOKS };   /* in aux */

struct log_record { uint64_t t; uint32_t id; uint16_t event, aux; };

struct log_anchor { uint64_t ticks, monotonic_ns, realtime_ns; };   /* the same instant on three clocks */
struct log_head {
    char magic[8];
    uint32_t version, half;                              /* half: records in a half of the ring */
    uint32_t pid, tid, parent, generation;
    uint32_t ticks;                                      /* t counts 0: monotonic ns, 1: time stamp counter */
    uint32_t clean;                                      /* the end was orderly */
    uint64_t dropped;                                    /* records that did not reach the disk */
    struct log_anchor first, last;
    double ns_per_tick;                                  /* a first estimate, for when the two anchors are the same */
    char process[64], command[1024];
};
#endif

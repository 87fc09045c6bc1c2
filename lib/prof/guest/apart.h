/* apart.h - what the recorder does to its files, for rec_apart: the few system calls that need a descriptor.  They
 * return 0, 1 where it did not work, or one of the answers below. */
#ifndef MILLRACE_APART_H
#define MILLRACE_APART_H
#include "prof/guest/logfile.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { EXISTS = 2, FULL, GONE };                         /* GONE: out of reach, be it by chroot, other rights, a lock */
enum { LITTLE = 65536 };                                 /* bytes that are not given back at the end */

/* A file of ours is opened anew each time: by its name, and it must still be the file that we made. */
struct ours { dev_t dev; ino_t ino; };

struct job {                                             /* arguments of what runs apart */
    char path[4096];
    struct ours file;
    const void *data;
    void *map;
    size_t bytes, before;                                /* before: what the file has already */
    off_t at;
    bool create, kept;                                   /* kept: a log of which only the last halves are */
    const struct log_head *head;                         /* goes first into a log that is made */
};
struct job_pair { struct job log, tail; struct log_head *count; };   /* not on the stack: a coroutine's may be small */

#pragma GCC visibility push(default)
extern bool rec_locked;                                  /* no system calls any more */
/* Run f(arg) so that descriptors it opens, which it closes again, are seen by nobody else: with all signals blocked,
 * and, where there are other threads, in a short-lived child that shares the memory but not the table of descriptors.
 * Returns what f returns.  f calls nothing that allocates or locks. */
int rec_apart(int (*f)(void *), void *arg);
#pragma GCC visibility pop
struct ours job_identity(const struct stat *);
bool job_same(struct ours, struct ours);
int job_write(void *job);                                /* data to its place, all of it or nothing */
int job_map(void *job);                                  /* a piece of the file, of which it has `before` bytes */
int job_trim(void *job);                                 /* the file ends at `at` */
int job_remove(void *job);                               /* the name, if it is still that of our file */
/* the last of a thread in one go: records, then the head as it is then, and the ring is not needed any more */
int job_finish(void *jobs);
int job_text(void *job);                                 /* a small file as a line of text */
int job_logs(void *job);                                 /* 0: the folder has no log of any thread */
void job_count(struct log_head *, const struct log_record *, size_t n);   /* into the totals, once they are written */
#endif

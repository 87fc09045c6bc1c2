/* links.h - who woke whom: what one thread or process lets go and another one waits for.
 *
 * The interpreter's own calls of libc, and those of its module for semaphores between processes, lead here first: its
 * locks are semaphores, so that locks, conditions, events, barriers, the ends of threads and the queues of C are all
 * seen in one place, and so are pipes, sockets, children and polls.  A lock is told only where somebody waits.
 * A link is a LOG_POST, with the time before it could be seen, and, after the wait, LOG_AWAIT with the time when it
 * began and LOG_TAKE.  Both have the same key: of a pipe its inode, of a socket both addresses, of a lock its address
 * or name, of a child its pid.  A LOG_AMOUNT before them says how much of a stream: bytes, or items of a queue. */
#ifndef MILLRACE_LINKS_H
#define MILLRACE_LINKS_H
#include "prof/guest/logfile.h"
#include <stdbool.h>
#include <stdint.h>

void links_begin(uintptr_t in_interpreter);              /* again after modules were loaded */
uint32_t links_key(uint64_t);
void links_post(enum log_link, uint32_t key, uint64_t amount);
void links_take(enum log_link, uint32_t key, uint64_t amount, uint64_t since);   /* since: rec_now() before the wait */
void links_started(void);                                /* this process begins, because its parent wanted it */
void links_exit(void);                                   /* it ends: who waits for it goes on */
#endif

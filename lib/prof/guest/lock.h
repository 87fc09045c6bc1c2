/* lock.h - notices that the program locks itself in: from then on the recorder makes no system call.
 *
 * A filter of system calls (seccomp) kills a process for a call that it would not have made by itself.  The filter
 * comes by libc's functions prctl and syscall, whoever calls them and by whatever address, so the first bytes of these
 * two are replaced by a jump to functions here that do the same.  Before a filter is set, rec_lock runs; if the kernel
 * refuses the filter, rec_unlock.  Memory is never writable and executable at once.  x86-64 and one thread, else
 * nothing is replaced. */
#ifndef MILLRACE_LOCK_H
#define MILLRACE_LOCK_H
#include <stdbool.h>
void lock_watch(void);                                   /* once, early */
/* Was a filter set between prof-record and this program, by whoever started it?  Then nothing is recorded: nothing was
 * begun yet, and what the filter lets pass is not known.  Asked by the calls with which libraries are loaded. */
bool lock_inherited(void);
#endif

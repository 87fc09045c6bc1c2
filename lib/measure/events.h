/* events.h - performance events of a child, named as libpfm4 names them (INSTRUCTIONS, PAGE-FAULTS, TASK-CLOCK, ...).
 *
 * Counted from exec to the end, with all descendants, in user space and kernel as far as the machine permits.  Where
 * the machine has no such counter, as most virtual machines, the event is kept with the reason and its count is nan:
 * absent is not zero.  Names that libpfm4 does not know are an error of the caller. */
#ifndef MILLRACE_EVENTS_H
#define MILLRACE_EVENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* column: n_instructions ... */
struct counted_event { const char *name; char column[64]; char source[64]; bool counted; int fd; double count; };

/* NULL, or why the name is wrong; source: perf, or "none (ENOENT)" when it is not counted */
const char *event_find(struct counted_event *, const char *name);
void event_attach(struct counted_event *, pid_t);        /* before its exec */
/* after its end: count, scaled when the counter was shared; closes */
void event_read(struct counted_event *);
#endif

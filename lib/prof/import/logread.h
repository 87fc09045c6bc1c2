/* logread.h - the recorder's logs as rows of the events table.
 *
 * Of a thread, Python and C exclude each other: a Python row ends where a C call begins and goes on, as a new row,
 * after it; a C call that calls back into Python is cut likewise, its later pieces flagged `part`.  C within C stays
 * nested.  Ends without a begin are counted; what was never closed ends at the thread's last record and is flagged
 * `open`. */
#ifndef MILLRACE_LOGREAD_H
#define MILLRACE_LOGREAD_H
#include "prof/events.h"
#include "prof/record/logfile.h"

struct log_counts {
    uint64_t records, from_tail, stray, unclosed, dropped;
    size_t threads, processes, unclean;                  /* unclean: threads that did not end in order */
};
/* Rows of all logs in a directory, and its gpu.*.csv, added to the table, whose extra column is `hook`.  nested:
 * intervals whole instead of exclusive. */
void log_read(struct table *, const char *dir, bool nested, struct log_counts *);
extern const char *const log_hook_name[HOOKS];
#endif

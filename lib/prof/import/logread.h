/* logread.h - the recorder's logs as rows of the events table, in constant memory.
 *
 * Of a thread, Python and C exclude each other: a Python row ends where a C call begins and goes on, as a new row,
 * after it; a C call that calls back into Python is cut likewise, its later pieces flagged `part`.  C within C stays
 * nested.  Ends without a begin are counted; what was never closed ends at the thread's last record and is flagged
 * `open`.
 *
 * Calls that were only counted (prof-record --skip-after) are a row of kind proc without length, category skipped, at
 * the beginning of the process: the function, its category as flag, and their number as link.
 *
 * Of short calls that were only counted there is a like row, category estimated, and rows flagged `estimated` for
 * their time, at the beginning of Python's time in which they were: what one takes, by the log's last LOG_COST, times
 * their number, and no more than there is; what has no room is taken from Python's time after it.
 *
 * The logs are read twice.  A row can be given out once its end is known, and all rows that began before it were.  The
 * first reading finds the ends of the few rows that last for longer than HELD rows of their thread, so the second holds
 * back at most that many.  In memory besides: names, passes, phases, and rows of gpu.*.csv. */
#ifndef MILLRACE_LOGREAD_H
#define MILLRACE_LOGREAD_H
#include "prof/events.h"
#include "prof/guest/logfile.h"

struct log_counts {
    uint64_t records, from_tail, stray, unclosed, dropped;
    uint64_t changed;                                    /* threads whose records are not as they were written */
    size_t threads, processes, unclean;                  /* unclean: threads that did not end in order */
};
struct log_row {
    int64_t start, end;
    uint32_t proc, tid, cat, name, link, flag;           /* numbers in log_text */
    uint8_t kind, hook;                                  /* enum event_kind, enum log_hook */
};
typedef struct log_reader log_reader;
/* All logs in a directory; dies when there are none.  nested: intervals whole instead of exclusive.  The counts are
 * complete when this returns. */
log_reader *log_open(const char *dir, bool nested, struct log_counts *);
bool log_next(log_reader *, struct log_row *);           /* rows by start; false at the end */
const struct intern *log_text(const log_reader *);
/* The same as a row of a table with these texts, always of the same; hook: enum log_hook. */
bool log_next_row(log_reader *, struct intern *text, struct row *, int *hook);
void log_close(log_reader *);
/* The same rows added to a table, whose extra column is `hook`. */
void log_read(struct event_table *, const char *dir, bool nested, struct log_counts *);
extern const char *const log_hook_name[HOOKS];
#endif

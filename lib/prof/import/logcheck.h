/* logcheck.h - rows of the recorder's logs against what must hold of them, and against the logs; see prof-check. */
#ifndef MILLRACE_LOGCHECK_H
#define MILLRACE_LOGCHECK_H
#include "prof/events.h"

/* What holds of every table that prof-log made (it has a column hook, and none named op): of a thread Python excludes
 * everything and nothing is missing while profiling is on, calls and operations nest, no row is there twice, rows lie
 * within the process's life, a name has one category.  Rows are sorted by thread; checks go to the table of checks;
 * false: unsound.  Of other tables nothing is said. */
bool log_check_rows(struct event_table *, csvw *);
/* All rows against those of the logs, as a set: by number and by sums over their fields, per process. */
bool log_check_same(const char *dir, const char *events_path, csvw *);
#endif

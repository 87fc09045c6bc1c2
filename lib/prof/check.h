/* check.h - the sums of a profile against independent sums over its rows; see prof-check. */
#ifndef MILLRACE_CHECK_H
#define MILLRACE_CHECK_H
#include "prof/events.h"

/* header and rows proc,check,status,value,limit; false: unsound.  The table is zero, and has the rows then, sorted by
 * thread. */
enum check_status { PASS, WARN, FAIL };
void check_say(csvw *, str proc, const char *check, enum check_status, int64_t value, int64_t limit);
bool check_profile(const char *events_path, struct event_table *, csvw *);
#endif

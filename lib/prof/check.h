/* check.h - the sums of a profile against independent sums over its rows; see prof-check. */
#ifndef MILLRACE_CHECK_H
#define MILLRACE_CHECK_H
#include "table/csvio.h"
#include <stdbool.h>

/* header and rows proc,check,status,value,limit; false: unsound */
bool check_profile(const char *events_path, csvw *);
#endif

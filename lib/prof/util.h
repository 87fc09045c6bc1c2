/* util.h - busy intervals of devices: merged, polled, cut in strips.  See prof-util. */
#ifndef MILLRACE_UTIL_H
#define MILLRACE_UTIL_H
#include "prof/events.h"

/* merged: disjoint, in order, not touching */
struct busy { struct span *v; size_t n, cap; int64_t start, end, total; };
/* zero-initialise */
struct devices { struct intern names; struct busy *of; size_t cap; };

void devices_add(struct devices *, str device, int64_t start, int64_t end);   /* start < end */
struct busy *devices_merged(struct devices *, size_t k); /* sorts and merges; sets start, end, total */

void util_summary(csvw *, str device, const struct busy *, int64_t poll);   /* poll 0: no poller */
void util_bins(csvw *, str device, const struct busy *, int64_t poll, size_t window);
void util_strip(csvw *, str device, const struct busy *, int64_t width, int64_t from, int64_t to);
#endif

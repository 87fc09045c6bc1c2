/* held.h - rows charged to operations with all of them in memory, whatever their order; see prof-op and charge.h */
#ifndef MILLRACE_HELD_H
#define MILLRACE_HELD_H
#include "prof/events.h"

/* Sorts the table and adds its rows to out, cut and with op; GPU rows by the operation that runs at each instant, else
 * by that of the call with their link.  Returns the number of GPU rows whose call is not there. */
uint64_t held_charge(struct event_table *, bool in_time, struct rows *out, struct repairs *);
#endif

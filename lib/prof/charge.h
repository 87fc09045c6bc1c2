/* charge.h - rows charged to operations while they come, in order of start; see prof-op.
 *
 * A row is written when no operation can cut it any more, that is when its end has been reached, and those behind it
 * wait, so that the output stays in order.  What waits lies in a queue of which 8 MiB are in memory and the rest in a
 * temporary file without a name (in TMPDIR, else /var/tmp).  Memory besides: open rows, calls that have a link. */
#ifndef MILLRACE_CHARGE_H
#define MILLRACE_CHARGE_H
#include "prof/events.h"

typedef struct charge charge;
/* texts and extra columns are the table's; the header is written */
charge *charge_begin(const struct event_table *, csvw *, struct repairs *);
void charge_add(charge *, const struct row *, const uint32_t *extra);
uint64_t charge_end(charge *);   /* frees it; GPU rows whose call did not begin until 1 ms after them */
/* The same with all rows in memory, whatever their order: sorts the table and adds its rows to out, cut and with op;
 * GPU rows in_time by the operation that runs at each instant, else by that of the call with their link.  Returns
 * the number of GPU rows whose call is not there. */
uint64_t held_charge(struct event_table *, bool in_time, struct rows *out, struct repairs *);
#endif

/* heat.h - how often each call of a program is executed, exactly: a counter before every call, at native speed.
 *
 * The counters are put into the text of the unoptimised module, so a count belongs to a call by position and needs no
 * debugger, no sampling and no hardware counters.  What forked processes execute counts too, and however they end; of
 * threads that execute one call at the same time some is lost.  Costs about 10 % of an -O1 build's run time. */
#ifndef MILLRACE_HEAT_H
#define MILLRACE_HEAT_H
#include "inline/ir.h"
#include "inline/work.h"
#include <stdint.h>

/* Build the counting program, run it on all search runs, add up.  Fills *m (ir_free it) with the calls of the module
 * and returns a count for each, in the same order (free it).  Dies when the program cannot be built or a run fails. */
uint64_t *heat_count(const struct work *, struct ir_module *m);
#endif

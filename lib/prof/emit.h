/* emit.h - events in foreign formats.  Chrome's is streamed; the others need call trees, so all rows are held.
 *
 * Intervals of a thread are taken to nest; one that outlives the one it began in is cut there and counted. */
#ifndef MILLRACE_EMIT_H
#define MILLRACE_EMIT_H
#include "prof/events.h"

/* ts and dur in us with three decimals; lanes where X events would cross */
void emit_chrome(struct events_in *, const char *path);
void emit_speedscope(struct event_table *, const char *path);
/* own time in us; threads: with P<proc>;T<tid>; in front */
void emit_folded(struct event_table *, const char *path, bool threads);
/* a rectangle a frame: proc, tid, depth (1: the outermost), start_us, end_us (of the first row's start), name */
void emit_flame(struct event_table *, const char *path);
/* cProfile's marshal: calls, own and cumulative time, callers */
void emit_prof(struct event_table *, const char *path);
#endif

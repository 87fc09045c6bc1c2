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
/* JSON, by function the own seconds of each call: what cProfile of the 2018 study's Python wrote as call_times.json */
void emit_calls(struct event_table *, const char *path);
/* nvprof's sqlite file of one process' CUDA calls and GPU rows, without what events do not have (grids, bytes) */
void emit_nvprof(struct event_table *, const char *path);
/* JSON, the GPU's clock in cycles a second as the CUDA driver says: gpu_clock_freq.json */
void emit_clock(const char *path);
#endif

/* pair.h - two threads that share one short piece of work: the second is started once and waits, spinning a little
 * before it sleeps. */
#ifndef MILLRACE_PAIR_H
#define MILLRACE_PAIR_H
void pair_run(void (*part)(void *data, int i), void *data); /* part(data, 0) here and part(data, 1) there; both done */
#endif

/* say.h - what the recorder says when the program ends: to descriptor 2, unless the program has made that into a file
 * of its own. */
#ifndef MILLRACE_SAY_H
#define MILLRACE_SAY_H
#include <stdbool.h>

void say_begin(void);                                    /* what descriptor 2 is now, it was given */
bool say_for_all(void);                                  /* this is the program that prof-record became, not --quiet */
#pragma GCC visibility push(default)
void say(const char *line);
#pragma GCC visibility pop
/* for all: that no process of the run has a log in dir, and why: early, before --delay was over, or by --wait */
void say_nothing(const char *dir, bool early);
#endif

/* say.h - what the recorder says when the program ends: to descriptor 2, unless the program has made that into a file
 * of its own. */
#ifndef MILLRACE_SAY_H
#define MILLRACE_SAY_H
#include <stdbool.h>

void say_begin(void);                                    /* what descriptor 2 is now, it was given */
void say(const char *line);
/* That no process of the run has a log in dir, and why: early, before --delay was over, or by --wait.  Only the program
 * that prof-record became says it, unless --quiet. */
void say_nothing(const char *dir, bool early);
#endif

/* progress.h - one line on the terminal that says how far a long job is and how long it still takes.
 *
 * Shown only when stderr is a terminal in the foreground, a second has passed and --quiet was not given; at most five
 * times a second.  With MILLRACE_PROGRESS=plain in the environment (set by the Makefile's long pipelines) a line is
 * written at most every 10 s to any stderr, so that logs show life. */
#ifndef MILLRACE_PROGRESS_H
#define MILLRACE_PROGRESS_H
#include <stddef.h>

void progress_start(const char *what, double total);     /* total in any unit; 0: not known */
void progress(double done, const char *fmt, ...) __attribute__((format(printf, 2, 3)));   /* fmt: short note or "" */
void progress_end(void);                                 /* wipes the line */
void progress_clock(double (*seconds)(void));            /* a fake clock for tests */
#endif

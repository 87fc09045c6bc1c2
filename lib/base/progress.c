/* progress.c - see progress.h */
#include "base/progress.h"
#include "base/filter.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double TERMINAL_PERIOD = 0.2, PLAIN_PERIOD = 10;   /* seconds between lines */

static double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double (*clock_seconds)(void) = monotonic_seconds;
static const char *what_is_done;
static double total, start, next_line;
static enum { OFF, TERMINAL, PLAIN } mode;
static bool line_open;

void progress_clock(double (*seconds)(void))
{
    clock_seconds = seconds ? seconds : monotonic_seconds;
}

void progress_start(const char *what, double all)
{
    const char *plain = getenv("MILLRACE_PROGRESS");
    what_is_done = what;
    total = all;
    start = clock_seconds();
    if (quiet) mode = OFF;
    else if (plain && strcmp(plain, "plain") == 0) mode = PLAIN;
    else mode = isatty(2) && tcgetpgrp(2) == getpgrp() ? TERMINAL : OFF;
    next_line = start + (mode == PLAIN ? PLAIN_PERIOD : 1);
}

static void append_time(struct buf *b, double s)
{
    long t = (long)(s + 0.5);
    if (t >= 3600) buf_format(b, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
    else buf_format(b, "%ld:%02ld", t / 60, t % 60);
}

void progress(double done, const char *fmt, ...)
{
    if (mode == OFF) return;
    double now = clock_seconds();
    if (now < next_line) return;
    next_line = now + (mode == PLAIN ? PLAIN_PERIOD : TERMINAL_PERIOD);
    struct buf b = { 0 };
    buf_format(&b, "%s%s: %s", mode == TERMINAL ? "\r" : "", prog, what_is_done);
    if (total > 0 && done > 0) {
        double part = done < total ? done / total : 1;
        buf_format(&b, " %.0f%%, ", 100 * part);
        append_time(&b, (now - start) * (1 - part) / part);
        buf_format(&b, " left");
    }
    char note[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    if (note[0]) buf_format(&b, ", %s", note);
    buf_format(&b, "%s", mode == TERMINAL ? "\033[K" : "\n");
    line_open = mode == TERMINAL;
    if (write(2, b.s, b.n) < 0) mode = OFF;
    free(b.s);
}

void progress_end(void)
{
    if (line_open && write(2, "\r\033[K", 4) < 0) mode = OFF;
    line_open = false;
    mode = OFF;
}

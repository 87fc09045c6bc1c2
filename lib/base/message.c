/* message.c - see message.h */
#include "base/message.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *prog = "millrace";
int fail_status = EXIT_FAIL, usage_status = EXIT_USAGE;
__thread struct message_catch *message_catch;
static __thread struct message_open *opened;

void message_open(struct message_open *o, void (*close)(void *), void *what)
{
    *o = (struct message_open){ close, what, opened };
    if (message_catch) opened = o;
}

void message_shut(struct message_open *o)
{
    struct message_open **at = &opened;
    while (*at && *at != o) at = &(*at)->next;
    if (*at) *at = o->next;
}

static _Noreturn void leave(int status)
{
    struct message_catch *c = message_catch;
    if (!c) exit(status);
    while (opened) {
        struct message_open *o = opened;
        opened = o->next;
        o->close(o->what);
    }
    message_catch = NULL;
    longjmp(c->to, 1);
}

/* one write per message, so that the messages of a pipeline's processes do not mix */
__attribute__((format(printf, 4, 0)))
static void say(const char *file, size_t line, int err, const char *fmt, va_list ap)
{
    char m[4096];
    size_t max = sizeof m - 1, n;
    if (message_catch) n = file ? (size_t)snprintf(m, max, "%s:%zu: ", file, line) : 0;
    else if (file) n = (size_t)snprintf(m, max, "%s: %s:%zu: ", prog, file, line);
    else n = (size_t)snprintf(m, max, "%s: ", prog);
    if (n < max) n += (size_t)vsnprintf(m + n, max - n, fmt, ap);
    if (err && n < max) n += (size_t)snprintf(m + n, max - n, ": %s", strerror(err));
    if (n >= max) n = max - 1;
    for (size_t i = 0; i < n; i++) if (((unsigned char)m[i] < ' ' && m[i] != '\t') || m[i] == 127) m[i] = '?';
    if (message_catch) {
        snprintf(message_catch->text, sizeof message_catch->text, "%.*s", (int)n, m);
        return;
    }
    m[n++] = '\n';
    fflush(stdout);
    if (write(2, m, n) < 0) return;                      /* nobody left to tell */
}

void warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(NULL, 0, 0, fmt, ap);
    va_end(ap);
}

void warn_at(const char *file, size_t line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(file, line, 0, fmt, ap);
    va_end(ap);
}

void die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(NULL, 0, 0, fmt, ap);
    va_end(ap);
    leave(fail_status);
}

void die_errno(const char *fmt, ...)
{
    int err = errno;
    va_list ap;
    va_start(ap, fmt);
    say(NULL, 0, err, fmt, ap);
    va_end(ap);
    leave(fail_status);
}

void die_at(const char *file, size_t line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(file, line, 0, fmt, ap);
    va_end(ap);
    leave(fail_status);
}

void usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(NULL, 0, 0, fmt, ap);
    va_end(ap);
    if (!message_catch) fprintf(stderr, "Try '%s --help'.\n", prog);
    leave(usage_status);
}

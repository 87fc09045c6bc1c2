/* message.h - how a filter speaks to its user and how it fails: one line, one write(2), to stderr.
 *
 * Every message begins with the program's name.  Control characters are replaced, so that data quoted in a
 * message cannot drive a terminal.  die* exit with EXIT_FAIL, usage with EXIT_USAGE; handlers registered with
 * atexit run, so half-written output files are removed. */
#ifndef MILLRACE_MESSAGE_H
#define MILLRACE_MESSAGE_H
#include <setjmp.h>
#include <stddef.h>

enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };    /* done | data or I/O failed | wrong usage */

#define MESSAGE_FORMAT(f, a) __attribute__((format(printf, f, a)))

extern const char *prog;                                 /* name of the program, set by filter_init */
/* What die* and usage exit with.  Filters whose status is an answer (*-diff, *-check, bench-compare) set them first
 * thing in main. */
extern int fail_status, usage_status;

_Noreturn void die(const char *fmt, ...) MESSAGE_FORMAT(1, 2);                            /* "prog: ..." */
_Noreturn void die_errno(const char *fmt, ...) MESSAGE_FORMAT(1, 2);                      /* ... ": " strerror(errno) */
/* "prog: file:line: ..." */
_Noreturn void die_at(const char *file, size_t line, const char *fmt, ...) MESSAGE_FORMAT(3, 4);
/* wrong command line: exit 2 */
_Noreturn void usage(const char *fmt, ...) MESSAGE_FORMAT(1, 2);
/* In a library the program lives on: while a thread has one of these, die* and usage come back to `to` with the
 * message in text, without the program's name; what was opened since is closed, the newest first. */
struct message_catch { jmp_buf to; char text[512]; };
extern __thread struct message_catch *message_catch;
struct message_open { void (*close)(void *); void *what; struct message_open *next; };
void message_open(struct message_open *, void (*close)(void *), void *what);  /* nothing where nobody catches */
void message_shut(struct message_open *);                /* closed by whoever opened it */

void warn(const char *fmt, ...) MESSAGE_FORMAT(1, 2);
void warn_at(const char *file, size_t line, const char *fmt, ...) MESSAGE_FORMAT(3, 4);
#endif

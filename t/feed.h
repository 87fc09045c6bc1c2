/* feed.h - for C tests of readers: text on standard input in small pieces, and a filter that must answer as it goes. */
#ifndef MILLRACE_FEED_H
#define MILLRACE_FEED_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/rng.h"
#include "tap.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Feeds the text to descriptor 0 in pieces of at most `most` bytes; gives the process to wait for. */
static inline pid_t feed(str text, uint64_t most, struct rng *r)
{
    int p[2];
    fflush(NULL);
    if (pipe2(p, O_DIRECT) != 0) exit(99);               /* packets: one write is one read */
    pid_t pid = fork();
    if (pid == 0) {
        close(p[0]);
        for (size_t at = 0; at < text.n;) {
            size_t k = 1 + rng_below(r, most);
            if (k > text.n - at) k = text.n - at;
            if (write(p[1], text.s + at, k) != (ssize_t)k) _exit(1);
            at += k;
        }
        _exit(0);
    }
    close(p[1]);
    dup2(p[0], 0);
    close(p[0]);
    return pid;
}

/* Does filter(), in a child, answer each of `times` pieces on its standard input by `want` before the next one comes?
 * `head` comes before the first. */
static inline bool answers(void (*filter)(void), const char *head, const char *piece, const char *want, int times)
{
    int to[2], from[2];
    char got[64];
    size_t n = strlen(want);
    fflush(NULL);
    if (n > sizeof got || pipe(to) != 0 || pipe(from) != 0) exit(99);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        filter();
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    alarm(900);
    bool good = write(to[1], head, strlen(head)) == (ssize_t)strlen(head);
    for (int i = 0; i < times; i++)
        good = good && write(to[1], piece, strlen(piece)) == (ssize_t)strlen(piece) &&
               read(from[0], got, n) == (ssize_t)n && memcmp(got, want, n) == 0;
    close(to[1]);
    waitpid(pid, NULL, 0);
    close(from[0]);
    alarm(0);
    return good;
}
#endif

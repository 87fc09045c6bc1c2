/* lib-progress.c - progress lines against a fake clock, on a terminal and in a log. */
#include "base/filter.h"
#include "base/progress.h"
#include "tap.h"
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double now;
static double fake(void)
{
    return now;
}

/* 100 steps of 0.1 s */
static void work(void)
{
    now = 1000;
    progress_clock(fake);
    progress_start("timing", 100);
    for (int i = 1; i <= 100; i++) {
        now += 0.1;
        progress(i, "kernel %d", i);
    }
    progress_end();
}

/* what work() writes to a terminal, or to a plain pipe */
static const char *output(bool terminal)
{
    static char b[1 << 16];
    int p[2] = { -1, -1 };
    fflush(NULL);
    if (!terminal && pipe(p) != 0) exit(99);
    pid_t pid = terminal ? forkpty(&p[0], NULL, NULL, NULL) : fork();
    if (pid == 0) {
        if (!terminal) dup2(p[1], 2);
        work();
        _exit(0);
    }
    if (!terminal) close(p[1]);
    size_t n = 0;
    ssize_t got;
    while (n < sizeof b - 1 && (got = read(p[0], b + n, sizeof b - 1 - n)) > 0) n += (size_t)got;
    b[n] = 0;
    close(p[0]);
    waitpid(pid, NULL, 0);
    return b;
}

static int count(const char *s, char c)
{
    int n = 0;
    for (; *s; s++) n += *s == c;
    return n;
}

int main(void)
{
    unsetenv("MILLRACE_PROGRESS");
    const char *s = output(true);
    ok(strstr(s, "millrace: timing 50%, 0:05 left, kernel 50"), "a terminal sees per cent, time left and the note");
    ok(!strstr(s, "kernel 9\033") && strstr(s, "kernel 10\033"), "nothing in the first second");
    int lines = count(s, '\r');
    ok(lines >= 40 && lines <= 48, "at most five lines a second");
    ok(count(s, '\n') == 0 && strlen(s) >= 4 && strcmp(s + strlen(s) - 4, "\r\033[K") == 0,
       "the line is wiped at the end");
    ok(*output(false) == 0, "no progress where stderr is no terminal");
    setenv("MILLRACE_PROGRESS", "plain", 1);
    s = output(false);
    ok(strcmp(s, "millrace: timing 100%, 0:00 left, kernel 100\n") == 0, "a log sees a line every ten seconds");
    quiet = true;
    ok(*output(false) == 0, "--quiet silences the log");
    unsetenv("MILLRACE_PROGRESS");
    ok(*output(true) == 0, "and the terminal");
    return done();
}

/* say.c - see say.h */
#include "prof/guest/say.h"
#include "prof/guest/apart.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ours messages;

void say_begin(void)
{
    struct stat st;
    if (fstat(2, &st) == 0) messages = job_identity(&st);
}

void say(const char *line)
{
    struct stat st;
    if (fstat(2, &st) != 0 || !job_same(job_identity(&st), messages)) return;
    if (write(2, line, strlen(line)) < 0) return;
}

static bool set_to(const char *name, long wanted)
{
    const char *s = getenv(name);
    return s && strtol(s, NULL, 10) == wanted;
}

bool say_for_all(void)
{
    return set_to("MILLRACE_PROF_MAIN", getpid()) && !set_to("MILLRACE_PROF_QUIET", 1);
}

void say_nothing(const char *dir, bool early)
{
    struct job j = { .create = false };
    if (!say_for_all() || (!early && !set_to("MILLRACE_PROF_WAIT", 1))) return;
    snprintf(j.path, sizeof j.path, "%s", dir);
    if (rec_apart(job_logs, &j) != 0) return;
    say(early ? "millrace recorder: nothing was recorded: the program ended before --delay was over\n"
              : "millrace recorder: nothing was recorded: --wait, and profiling was never enabled\n");
}

/* dies.h - for C tests: run something that should end the process, in a child, and see how it ended. */
#ifndef MILLRACE_DIES_H
#define MILLRACE_DIES_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dies_said[4096];                             /* what the last child wrote to stderr */

/* Exit status of act(arg) followed by exit(0); 256 + N when signal N ended it. */
static inline int run_child(void (*act)(const void *), const void *arg)
{
    int p[2];
    fflush(NULL);
    if (pipe(p) != 0) exit(99);
    pid_t pid = fork();
    if (pid < 0) exit(99);
    if (pid == 0) {
        dup2(p[1], 2);
        close(p[0]);
        close(p[1]);
        act(arg);
        fflush(NULL);
        _exit(0);
    }
    close(p[1]);
    size_t n = 0;
    ssize_t got;
    while (n < sizeof dies_said - 1 && (got = read(p[0], dies_said + n, sizeof dies_said - 1 - n)) > 0)
        n += (size_t)got;
    dies_said[n] = 0;
    close(p[0]);
    int status;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* did act(arg) end with `status` and say something that contains `words`? */
static inline int dies(void (*act)(const void *), const void *arg, int status, const char *words)
{
    int got = run_child(act, arg);
    if (got == status && strstr(dies_said, words)) return 1;
    printf("# exit %d, want %d; said: %s# want: %s\n", got, status, dies_said, words);
    return 0;
}
#endif

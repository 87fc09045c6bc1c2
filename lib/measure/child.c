/* child.c - see child.h */
#include "measure/child.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "measure/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_GROWTH_KIB = 1024 };                          /* what a fork may still touch before exec */

static void lower(int what, uint64_t bytes)
{
    if (bytes) setrlimit(what, &(struct rlimit){ .rlim_cur = bytes, .rlim_max = bytes });
}

static bool redirect(const char *path, int flags, int to)
{
    int fd;
    do fd = open(path ? path : "/dev/null", flags | O_CLOEXEC, 0666); while (fd < 0 && errno == EINTR);
    return fd >= 0 && dup2(fd, to) >= 0;
}

/* after fork, before exec: async-signal-safe calls only; `ready` is closed when the parent has attached its counters */
static _Noreturn void become(const struct child *c, int output, int ready, int report, pid_t parent)
{
    /* its peak, which the kernel will count in as the command's own */
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    if (!write_all(report, &u.ru_maxrss, sizeof u.ru_maxrss)) _exit(126);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    /* a command that lacks its input would read ours; what it says may be what is asked for */
    if (!redirect(c->input, O_RDONLY, STDIN_FILENO)) goto failed;
    dup2(output, STDOUT_FILENO);
    bool ours = c->error && strcmp(c->error, "-") == 0;
    if (!ours && !redirect(c->error, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO)) goto failed;
    lower(RLIMIT_AS, c->limits.memory_bytes);
    lower(RLIMIT_FSIZE, c->limits.output_bytes);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
    if (c->limits.cpu_seconds > 0) {
        rlim_t s = (rlim_t)ceil(c->limits.cpu_seconds);
        setrlimit(RLIMIT_CPU, &(struct rlimit){ .rlim_cur = s, .rlim_max = s + 1 });
    }
    if (c->directory && chdir(c->directory) != 0) goto failed;
    char byte;
    if (ready >= 0 && read(ready, &byte, 1) < 0) goto failed;
    if (c->env) execvpe(c->argv[0], c->argv, c->env);
    else execvp(c->argv[0], c->argv);
failed:;
    int err = errno;
    if (!write_all(report, &err, sizeof err)) _exit(126);
    _exit(127);
}

/* the 39th field of /proc/PID/stat, still there while the child is a zombie */
static int last_cpu(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return -1;
    text[n] = 0;
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 39; field++) p = strchr(p + 1, ' ');
    return p ? (int)strtol(p + 1, NULL, 10) : -1;
}

/* true: it ended by itself; false: the time was up */
static bool wait_for(pid_t pid, double seconds)
{
    siginfo_t info;
    if (seconds > 0) {
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0) die_errno("pidfd_open");
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t end = now_ns() + (int64_t)(seconds * 1e9);
        int r;
        do {
            int64_t left = end - now_ns();
            if (left < 0) left = 0;
            r = ppoll(&p, 1, &(struct timespec){ .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 }, NULL);
        } while (r < 0 && errno == EINTR);
        close(fd);
        if (r == 0) return false;
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0) if (errno != EINTR) die_errno("waitid");
    return true;
}

static double microseconds(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static void take_output(const struct child *c, struct ran *r, int fd)
{
    off_t n = lseek(fd, 0, SEEK_END);
    if (n <= 0) return;
    r->output_bytes = (uint64_t)n;
    void *p = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) die_errno("reading the output of %s", c->argv[0]);
    r->output_hash = hash_bytes(p, (size_t)n, 0);
    if (c->keep_output) buf_add(&r->output, p, (size_t)n);
    munmap(p, (size_t)n);
}

struct ran child_run(const struct child *c)
{
    struct ran r = { .code = -1, .cpu = -1 };
    int report[2], ready[2] = { -1, -1 }, output = memfd_create("output", MFD_CLOEXEC);
    if (output < 0 || pipe2(report, O_CLOEXEC) != 0 || (c->started && pipe2(ready, O_CLOEXEC) != 0)) die_errno("pipe");
    pid_t parent = getpid();
    int64_t start = now_ns();
    pid_t pid = fork();
    if (pid < 0) die_errno("fork");
    if (pid == 0) {
        if (c->started) close(ready[1]);
        become(c, output, ready[0], report[1], parent);
    }
    setpgid(pid, pid);
    close(report[1]);
    if (c->started) {
        close(ready[0]);
        c->started(pid, c->started_arg);
        start = now_ns();
        close(ready[1]);
    }
    bool in_time = wait_for(pid, c->limits.wall_seconds);
    int64_t end = now_ns();
    kill(-pid, SIGKILL);
    struct rusage u;
    int status;
    r.cpu = last_cpu(pid);
    while (wait4(pid, &status, 0, &u) < 0) if (errno != EINTR) die_errno("wait4");
    r.wall_seconds = (double)(end - start) / 1e9;
    r.user_seconds = microseconds(u.ru_utime) / 1e6;
    r.system_seconds = microseconds(u.ru_stime) / 1e6;
    r.cpu_seconds = (microseconds(u.ru_utime) + microseconds(u.ru_stime)) / 1e6;
    long before_exec = 0;
    if (read(report[0], &before_exec, sizeof before_exec) < 0) die_errno("pipe");
    r.rss_bytes = u.ru_maxrss > before_exec + OWN_GROWTH_KIB ? (double)u.ru_maxrss * 1024 : NAN;
    r.minor_faults = u.ru_minflt;
    r.major_faults = u.ru_majflt;
    r.voluntary_switches = u.ru_nvcsw;
    r.involuntary_switches = u.ru_nivcsw;
    if (WIFEXITED(status)) r.code = WEXITSTATUS(status);
    else r.signal = WTERMSIG(status), r.how = RAN_SIGNAL;
    if (!in_time) r.how = RAN_TIMEOUT;
    else if (r.signal == SIGXFSZ) r.how = RAN_OUTPUT_LIMIT;
    else if (c->limits.cpu_seconds > 0 &&
             (r.signal == SIGXCPU || (r.signal == SIGKILL && r.cpu_seconds >= c->limits.cpu_seconds)))
        r.how = RAN_CPU_LIMIT;
    if (read(report[0], &r.error, sizeof r.error) == (ssize_t)sizeof r.error) r.how = RAN_NOT_STARTED;
    else take_output(c, &r, output);
    close(report[0]);
    close(output);
    return r;
}

const char *ran_word(const struct ran *r)
{
    static const char *const word[] = {
        [RAN_EXIT] = "exit", [RAN_SIGNAL] = "signal", [RAN_TIMEOUT] = "timeout", [RAN_CPU_LIMIT] = "cpu_limit",
        [RAN_OUTPUT_LIMIT] = "output_limit", [RAN_NOT_STARTED] = "not_started" };
    return r->how == RAN_EXIT && r->code == 0 ? "ok" : word[r->how];
}

char **shell_words(const char *p, const char **why)
{
    size_t n = strlen(p), cap = 0, count = 0;
    char *text = xmalloc(2 * n + 2, 1), *to = text, **argv = NULL;
    *why = NULL;
    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\n') p++;
        if (!*p) break;
        argv = grow(argv, count + 2, &cap, sizeof *argv);
        argv[count++] = to;
        for (char quote = 0; *p && (quote || !strchr(" \t\n", *p)); p++) {
            if (quote ? *p == quote : *p == '\'' || *p == '"') quote = quote ? 0 : *p;
            else if (*p == '\\' && quote != '\'' && p[1] && (!quote || strchr("\\\"$`", p[1]))) *to++ = *++p;
            else if (quote != '\'' && (*p == '$' || *p == '`')) *why = "it has $ or `, which need a shell";
            else if (!quote && strchr("|&;<>()*?[", *p)) *why = "it has one of | & ; < > ( ) * ? [, which need a shell";
            else if (!quote && to == argv[count - 1] && (*p == '~' || *p == '#'))
                *why = "it has ~ or #, which need a shell";
            else *to++ = *p;
            if (quote && !p[1]) *why = "a quote is not closed";
        }
        *to++ = 0;
    }
    if (!count) *why = "it is empty";
    if (*why) {
        free(text);
        free(argv);
        return NULL;
    }
    argv[count] = NULL;
    return argv;
}

void shell_words_free(char **argv)
{
    if (!argv) return;
    free(argv[0]);
    free(argv);
}

void shell_quote(struct buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*word && word[strspn(word, plain)] == 0) {
        buf_add(b, word, strlen(word));
        return;
    }
    buf_char(b, '\'');
    for (; *word; word++) {
        if (*word == '\'') buf_add(b, "'\\''", 4);
        else buf_char(b, *word);
    }
    buf_char(b, '\'');
}

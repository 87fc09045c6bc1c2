/* out.c - see out.h */
#include "base/out.h"
#include "base/mem.h"
#include "base/message.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct out {
    FILE *file;                                          /* opened on demand */
    int fd;
    char *path, *tmp;                                    /* NULL: stdout */
    pid_t owner;                                         /* a forked child must not remove its parent's files */
    struct out *next;
};

static struct out *opened;

/* only async-signal-safe calls: runs at exit and in signal handlers */
static void remove_temporaries(void)
{
    for (struct out *o = opened; o; o = o->next) if (o->owner == getpid()) unlink(o->tmp);
}

static void on_signal(int sig)
{
    remove_temporaries();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void install_cleanup(void)
{
    static bool installed;
    if (installed) return;
    installed = true;
    atexit(remove_temporaries);
    static const int fatal[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) signal(fatal[i], on_signal);
    }
}

struct out *out_open(const char *path)
{
    struct out *o = xcalloc(1, sizeof *o);
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {   /* never rename over that link */
        o->fd = STDOUT_FILENO;
        o->file = stdout;
        return o;
    }
    struct stat st;
    o->path = xstrdup(path);
    bool device = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    if (stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || device)) {   /* /dev/null, a pipe: nothing to rename */
        if ((o->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0) die_errno("%s", path);
        return o;
    }
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;
    o->tmp = xformat("%.*s.%s.%ld.tmp", dir, path, path + dir, (long)getpid());
    install_cleanup();
    o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd < 0 && errno == EEXIST && unlink(o->tmp) == 0)   /* left by a killed process that had our number */
        o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd < 0) die_errno("%s", path);
    o->owner = getpid();
    o->next = opened;
    opened = o;
    return o;
}

int out_fd(struct out *o)
{
    return o->fd;
}

FILE *out_file(struct out *o)
{
    if (!o->file && !(o->file = fdopen(o->fd, "w"))) die_errno("%s", o->path);
    return o->file;
}

void out_close(struct out *o)
{
    const char *name = o->path ? o->path : "(stdout)";
    bool bad = o->file && (fflush(o->file) != 0 || ferror(o->file));
    if (bad) die_errno("write %s", name);
    bool is_stdout = o->fd == STDOUT_FILENO;             /* its stream stays, for finish() */
    if ((o->file && !is_stdout ? fclose(o->file) : close(o->fd)) != 0 && errno != EBADF) die_errno("close %s", name);
    if (o->tmp) {
        if (rename(o->tmp, o->path) != 0) die_errno("rename to %s", o->path);
        struct out **p = &opened;
        while (*p != o) p = &(*p)->next;
        *p = o->next;
    }
    free(o->path);
    free(o->tmp);
    free(o);
}

int finish(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) die_errno("write");
    if (close(STDOUT_FILENO) != 0 && errno != EBADF) die_errno("close");
    return EXIT_OK;
}

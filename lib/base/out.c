/* out.c - see out.h */
#include "base/out.h"
#include "base/mem.h"
#include "base/message.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU, SIGXFSZ };
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) signal(fatal[i], on_signal);
    }
}

/* A file system that cannot sync is none of our business; a disk that fails is. */
static bool on_disk(int fd)
{
    while (fsync(fd) != 0) {
        if (errno == EINVAL || errno == EROFS || errno == ENOSYS || errno == ENOTSUP) break;
        if (errno != EINTR) return false;
    }
    return true;
}

/* the name is on the disk as well, before anything builds on it */
static void folder_on_disk(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? xformat("%.*s", slash == path ? 1 : (int)(slash - path), path) : xstrdup(".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {                                       /* one that may be written but not read cannot be synced */
        bool good = on_disk(fd);
        close(fd);
        if (!good) die_errno("sync %s", folder);
    }
    free(folder);
}

/* a process that is dead but that nobody has waited for is gone, too */
static bool is_alive(pid_t pid)
{
    if (kill(pid, 0) != 0) return errno != ESRCH;
    char name[64], b[512];
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true;
    ssize_t n = read(fd, b, sizeof b - 1);
    close(fd);
    b[n > 0 ? n : 0] = 0;
    const char *state = strrchr(b, ')');                 /* after the name, which may hold anything */
    return !state || !state[1] || (state[2] != 'Z' && state[2] != 'X');
}

/* a file, or a folder of files; never what a link points to */
static void remove_left(int in, const char *name)
{
    if (unlinkat(in, name, 0) == 0) return;
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0) close(fd);
        return;
    }
    for (const struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(fd, e->d_name, 0);
    closedir(d);
    unlinkat(in, name, AT_REMOVEDIR);
}

/* names that this process removes when it ends, if nobody has before */
static struct own { char *path; pid_t owner; struct own *next; } *owned;

static void remove_owned(void)
{
    for (struct own *o = owned; o; o = o->next) if (o->owner == getpid()) remove_left(AT_FDCWD, o->path);
}

/* Held till the end of the process: a sweep from another host of a shared disk, or from another container, knows no
 * process of ours by its number, but sees that this is being written. */
static void hold(int fd)
{
    if (fd >= 0) (void)!flock(fd, LOCK_SH | LOCK_NB);
}

static bool is_held(int in, const char *name)
{
    int fd = openat(in, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

/* what a file of /proc or a link there says, without the end of the line */
static size_t told(const char *path, bool link, char *to, size_t room)
{
    ssize_t n = -1;
    int fd = link ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (link) n = readlink(path, to, room);
    else if (fd >= 0) n = read(fd, to, room);
    if (fd >= 0) close(fd);
    return n > 0 ? (size_t)n - (to[n - 1] == '\n') : 0;
}

const char *out_here(void)                               /* as pipelines/here, FNV-1a */
{
    static char here[9];
    if (*here) return here;
    static const char *const names[] = { "/proc/sys/kernel/hostname", "/proc/sys/kernel/random/boot_id",
                                         "/proc/self/ns/pid" };
    uint32_t h = 2166136261;
    for (int i = 0; i < 3; i++) {
        char b[256];
        size_t n = told(names[i], i == 2, b, sizeof b - 1);
        if (i < 2) b[n++] = ' ';
        for (size_t k = 0; k < n; k++) h = (h ^ (uint8_t)b[k]) * 16777619;
    }
    snprintf(here, sizeof here, "%08x", h);
    return here;
}

static void own(const char *path)
{
    if (!owned) atexit(remove_owned);
    struct own *o = xmalloc(1, sizeof *o);
    *o = (struct own){ xstrdup(path), getpid(), owned };
    owned = o;
}

char *out_own(const char *folder, const char *name)
{
    char *path = xformat("%s/" OUT_LEFT "%ld-%s-%s", folder, (long)getpid(), out_here(), name);
    own(path);
    return path;
}

void out_sweep(const char *folder)
{
    DIR *d = opendir(folder);
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, OUT_LEFT, sizeof OUT_LEFT - 1) != 0) continue;
        const char *number = e->d_name + sizeof OUT_LEFT - 1;
        char *end;
        long pid = strtol(number, &end, 10);
        if (end == number || *end != '-' || pid <= 0 || pid > INT_MAX) continue;
        if (strncmp(end + 1, out_here(), 8) != 0 || end[9] != '-') continue;
        if (!is_alive((pid_t)pid) && !is_held(dirfd(d), e->d_name)) remove_left(dirfd(d), e->d_name);
    }
    closedir(d);
}

static const char *scratch_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

/* a name in a folder, which is swept first; its length does not depend on the process */
static char *scratch_name(const char *tmp, const char *name)
{
    out_sweep(tmp);
    return xformat("%s/" OUT_LEFT "%010ld-%s-%s-XXXXXX", tmp, (long)getpid(), out_here(), name);
}

static char *scratch_in(const char *tmp, const char *name)
{
    char *folder = scratch_name(tmp, name);
    if (!mkdtemp(folder)) die_errno("%s", folder);
    hold(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    own(folder);
    return folder;
}

char *out_scratch(const char *name)
{
    return scratch_in(scratch_folder(), name);
}

char *out_scratch_even(const char *name)
{
    return scratch_in("/tmp", name);
}

char *out_scratch_file(const char *name)
{
    char *path = scratch_name(scratch_folder(), name);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) die_errno("%s", path);
    hold(fd);                                            /* and stays open */
    own(path);
    return path;
}

int out_nameless(const char *folder, int flags)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | flags, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
    char *path = xformat("%s/" OUT_LEFT "%ld-%s-XXXXXX", folder, (long)getpid(), out_here());   /* no O_TMPFILE there */
    fd = mkostemp(path, flags);
    if (fd >= 0 && unlink(path) != 0) die_errno("%s", path);
    free(path);
    return fd;
}

bool write_all(int fd, const void *p, size_t n)
{
    for (const char *s = p; n;) {
        ssize_t k = write(fd, s, n);
        if (k < 0 && errno != EINTR) return false;
        if (k > 0) s += k, n -= (size_t)k;
    }
    return true;
}

/* The descriptor that a path is a name of, or -1.  It is written to where it stands: opened again by its name, a log
 * that the shell opened to append to it would be overwritten from its start. */
static int descriptor_of(const char *path)
{
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    if (strncmp(path, "/dev/fd/", 8) != 0) return -1;
    char *end;
    long n = strtol(path + 8, &end, 10);
    return path[8] >= '0' && path[8] <= '9' && *end == '\0' && n <= INT_MAX ? (int)n : -1;
}

/* where links lead, whether anything is there or not: the link stays, what it names is written */
static char *target_of(const char *path)
{
    char *at = xstrdup(path), to[PATH_MAX];
    for (int links = 0;; links++) {
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0) return at;
        if (links == 40) die("%s: too many links, one to the other", path);
        to[n] = 0;
        const char *slash = *to == '/' ? NULL : strrchr(at, '/');
        char *next = xformat("%.*s%s", slash ? (int)(slash - at) + 1 : 0, at, to);
        free(at);
        at = next;
    }
}

/* A file that is written anew belongs to whom it did, and may be read by whom it might.  Who may not give it away keeps
 * it, then without the rights of a group that is another's. */
static void keep_mode(int fd, const struct stat *old)
{
    struct stat new;
    if (fstat(fd, &new) != 0) return;
    mode_t mode = old->st_mode & 07777;
    if (new.st_uid != old->st_uid || new.st_gid != old->st_gid) {
        if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
            mode &= ~(mode_t)(S_IRWXG | S_ISGID);
        if (new.st_uid != old->st_uid && fstat(fd, &new) == 0 && new.st_uid != old->st_uid) mode &= ~(mode_t)S_ISUID;
    }
    if (fchmod(fd, mode) != 0) {}                        /* a disk without modes */
}

bool out_may_replace(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0) return S_ISREG(st.st_mode);
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) die_errno("%s", path);
    return true;
}

struct out *out_open(const char *path)
{
    static bool taken;
    struct out *o = xcalloc(1, sizeof *o);
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {   /* never rename over that link */
        if (taken) die("two outputs are standard output: one of them needs a file");
        taken = true;
        o->fd = STDOUT_FILENO;
        o->file = stdout;
        hold(STDOUT_FILENO);
        return o;
    }
    struct stat st;
    int given = descriptor_of(path);
    if (given >= 0) {
        o->path = xstrdup(path);
        if ((o->fd = fcntl(given, F_DUPFD_CLOEXEC, 3)) < 0) die_errno("%s", path);
        return o;
    }
    bool link = strncmp(path, "/proc/", 6) == 0;         /* not /dev/: /dev/shm is a folder like others */
    if (!out_may_replace(path) || (link && stat(path, &st) == 0)) {   /* /dev/null, a pipe: nothing to rename */
        o->path = xstrdup(path);
        if ((o->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0) die_errno("%s", path);
        return o;
    }
    path = o->path = target_of(path);
    bool there = stat(path, &st) == 0;
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;
    o->tmp = xformat("%.*s" OUT_LEFT "%ld-%s-%.200s", dir, path, (long)getpid(), out_here(), path + dir);
    install_cleanup();
    mode_t first = there ? 0600 : 0666;                  /* what others may not read they never could */
    o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, first);
    if (o->fd < 0 && errno == EEXIST && unlink(o->tmp) == 0)   /* left by a killed process that had our number */
        o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, first);
    if (o->fd < 0) die_errno("%s", path);
    hold(o->fd);
    if (there) keep_mode(o->fd, &st);
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
    if (o->tmp && !on_disk(o->fd)) die_errno("sync %s", name);
    bool is_stdout = o->fd == STDOUT_FILENO;             /* its stream stays, for finish() */
    if ((o->file && !is_stdout ? fclose(o->file) : close(o->fd)) != 0 && errno != EBADF) die_errno("close %s", name);
    if (o->tmp) {
        if (!out_may_replace(o->path)) die("%s: is no file any more, and not replaced by one", o->path);
        if (rename(o->tmp, o->path) != 0) die_errno("rename to %s", o->path);
        folder_on_disk(o->path);
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

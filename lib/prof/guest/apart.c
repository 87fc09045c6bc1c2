/* apart.c - see apart.h */
#include "prof/guest/apart.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_STACK = 65536 };
bool rec_locked;
static __thread bool apart __attribute__((tls_model("initial-exec")));

struct ours job_identity(const struct stat *st)
{
    return (struct ours){ st->st_dev, st->st_ino };
}

bool job_same(struct ours a, struct ours b)
{
    return a.dev == b.dev && a.ino == b.ino;
}

/* a signal for too large a file is ours to swallow, unless one was due before */
static void swallow(int signal)
{
    uint64_t one = UINT64_C(1) << (signal - 1);
    struct timespec none = { 0, 0 };
    syscall(SYS_rt_sigtimedwait, &one, NULL, &none, sizeof one);
}

int rec_apart(int (*f)(void *), void *arg)
{
    uint64_t all = ~UINT64_C(0), before = 0, due = 0;
    int keep = errno, r = FULL;
    if (rec_locked) return GONE;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    if (__libc_single_threaded) {
        syscall(SYS_rt_sigpending, &due, sizeof due);
        r = f(arg);
        if (r && !(due >> (SIGXFSZ - 1) & 1)) swallow(SIGXFSZ);
    }
    void *stack = r != FULL ? MAP_FAILED
                            : mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack != MAP_FAILED) {
        int status = 0;
        apart = true;
        int child = clone(f, (char *)stack + CHILD_STACK, CLONE_VM | CLONE_VFORK, arg);
        apart = false;
        /* it ends without a signal: the program's own wait does not see it */
        if (child > 0) r = waitpid(child, &status, __WALL) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        else if (!__libc_single_threaded) r = f(arg);
        munmap(stack, CHILD_STACK);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    errno = keep;
    return r;
}

static int open_ours(struct job *j)
{
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (j->create ? O_CREAT | O_EXCL : 0);
    int fd = open(j->path, flags, 0600);
    struct stat st;
    if (fd < 0 && errno == EMFILE && apart) {            /* the table is a copy, for us alone */
        syscall(SYS_close_range, 3, ~0U, 0);
        fd = open(j->path, flags, 0600);
    }
    if (fd < 0) return -1;
    if (fstat(fd, &st) != 0 || (!j->create && !job_same(job_identity(&st), j->file))) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    j->file = job_identity(&st);
    return fd;
}

static int why(void)
{
    bool gone = errno == EACCES || errno == EPERM || errno == ENOENT || errno == ENOTDIR || errno == EROFS;
    return errno == EEXIST ? EXISTS : errno == EMFILE ? FULL : gone ? GONE : 1;
}

int job_write(void *arg)
{
    struct job *j = arg;
    int fd = open_ours(j);
    if (fd < 0) return why();
    if (j->create && pwrite(fd, j->head, LOG_HEAD, 0) != LOG_HEAD) {
        close(fd);
        unlink(j->path);
        return 1;
    }
    ssize_t n = pwrite(fd, j->data, j->bytes, j->at);
    bool good = n == (ssize_t)j->bytes;
    if (!good && n > 0 && !j->kept && ftruncate(fd, j->at) != 0) good = false;
    close(fd);
    return !good;
}

/* a piece of the file into memory, of which it has `before` bytes; its blocks are reserved: a store to a mapped hole on
 * a full disk would be fatal */
int job_map(void *arg)
{
    struct job *j = arg;
    int fd = open_ours(j);
    off_t end = j->at + (off_t)j->before;
    if (fd < 0) return why();
    bool good = posix_fallocate(fd, end, (off_t)(j->bytes - j->before)) == 0;
    j->map = good ? mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, j->at) : MAP_FAILED;
    if (!good && ftruncate(fd, end) != 0) good = false;
    close(fd);
    if (j->map == MAP_FAILED && j->create) unlink(j->path);
    return j->map == MAP_FAILED;
}

int job_trim(void *arg)
{
    struct job *j = arg;
    int fd = open_ours(j);
    if (fd < 0) return why();
    int r = ftruncate(fd, j->at);
    close(fd);
    return r != 0;
}

int job_remove(void *arg)
{
    struct job *j = arg;
    int fd = open_ours(j);
    if (fd < 0) return why();
    close(fd);
    return unlink(j->path) != 0;
}

void job_count(struct log_head *h, const struct log_record *r, size_t n)
{
    struct log_totals t = h->totals;
    for (size_t i = 0; i < n; i++) {
        t.sum += log_sum(&r[i], t.records + i);
        if (log_begins(r[i].event) && r[i].aux < HOOKS) t.begun[r[i].aux]++;
    }
    t.records += n;
    h->totals = t;
    h->halves++;
}

/* The ring, of which nothing was written out, is what a log is: a name costs less than a file that is made and one that
 * is removed.  What it has behind the records stays where it is little: to give it back is slow on some disks. */
static bool become_log(struct job_pair *js)
{
    struct job *j = &js->log;
    if (!j->create || j->data != (const char *)js->count + LOG_HEAD) return false;
    int fd = open_ours(&js->tail);
    if (fd < 0) return false;
    bool good = syscall(SYS_renameat2, AT_FDCWD, js->tail.path, AT_FDCWD, j->path, RENAME_NOREPLACE) == 0;
    if (good) {
        job_count(js->count, j->data, j->bytes / sizeof(struct log_record));
        js->count->clean = true;
    }
    if (good && js->tail.bytes > (size_t)j->at + j->bytes + LITTLE && ftruncate(fd, j->at + (off_t)j->bytes) != 0)
        errno = 0;                                       /* then it is longer */
    close(fd);
    return good;
}

int job_finish(void *arg)
{
    struct job_pair *js = arg;
    struct job *j = &js->log;
    if (become_log(js)) return 0;
    int fd = open_ours(j);
    if (fd < 0) return why();
    bool good = pwrite(fd, j->data, j->bytes, j->at) == (ssize_t)j->bytes;
    if (good) {
        job_count(js->count, j->data, j->bytes / sizeof(struct log_record));
        js->count->clean = true;
        good = pwrite(fd, js->count, LOG_HEAD, 0) == LOG_HEAD;
    } else if (ftruncate(fd, j->at) != 0) good = false;
    close(fd);
    if (!good && j->create) unlink(j->path);
    return good ? job_remove(&js->tail) : 1;
}

int job_text(void *arg)
{
    struct job *j = arg;
    int fd = open(j->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, j->map, j->bytes - 1);
    if (fd >= 0) close(fd);
    char *to = j->map;
    for (ssize_t i = 0; i < n; i++) if (to[i] == '\0' || to[i] == '\n') to[i] = ' ';
    while (n > 0 && to[n - 1] == ' ') n--;
    to[n > 0 ? n : 0] = '\0';
    return 0;
}

int job_logs(void *arg)
{
    struct job *j = arg;
    char b[4096] __attribute__((aligned(8)));
    int fd = open(j->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = fd < 0;
    for (ssize_t n; !found && (n = syscall(SYS_getdents64, fd, b, sizeof b)) > 0;)
        for (ssize_t i = 0; i < n;) {
            const struct dirent64 *e = (const void *)(b + i);
            if (strncmp(e->d_name, "ev.", 3) == 0) found = 1;
            i += e->d_reclen;
        }
    if (fd >= 0) close(fd);
    return found;
}

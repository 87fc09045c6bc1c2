/* shim.c - preloaded into other programs by tests: counts what they write, and lets the N-th time fail.
 *
 *   SHIM_WHAT   kill: the process group SHIM_GROUP dies just before; enospc, eio: the call fails so; eintr: it is
 *               interrupted; short: one byte is written; malloc: memory is refused
 *   SHIM_AT     the number of the call, from 1; 0 only counts
 *   SHIM_COUNT  a file of 8 bytes shared by all processes: how many calls there were; without it each process counts
 *   SHIM_UNDER  count only what happens below this folder, by absolute paths; without it every write
 *
 * Counted are open for writing, write, writev, pwrite, rename, link, unlink, mkdir, ftruncate and the stdio calls
 * that end in them, which glibc does not let us see: fopen, fflush, fclose, fwrite, fputs.  For malloc: malloc,
 * calloc, realloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))next(#name))
enum what { NOTHING, KILL, ENOSPACE, EBROKEN, INTERRUPT, SHORT, MEMORY };
static enum what what;
static uint64_t at, own, *count = &own;
static const char *under;
static size_t nunder;
static pid_t group;
static bool ready;

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const words[] = { "", "kill", "enospc", "eio", "eintr", "short", "malloc" };
    const char *w = getenv("SHIM_WHAT"), *n = getenv("SHIM_AT"), *c = getenv("SHIM_COUNT"), *g = getenv("SHIM_GROUP");
    for (int i = 0; w && i < 7; i++) if (strcmp(w, words[i]) == 0) what = (enum what)i;
    at = n ? strtoull(n, NULL, 10) : 0;
    group = g ? (pid_t)strtol(g, NULL, 10) : 0;
    under = getenv("SHIM_UNDER");
    nunder = under ? strlen(under) : 0;
    int fd = c ? (int)syscall(SYS_openat, AT_FDCWD, c, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        if (syscall(SYS_ftruncate, fd, 8) == 0) {
            void *p = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (p != MAP_FAILED) count = p;
        }
        syscall(SYS_close, fd);
    }
    ready = true;
}

/* is it this one? */
static bool now(void)
{
    uint64_t n = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (!at || n != at) return false;
    if (what == KILL) {
        kill(group ? -group : 0, SIGKILL);
        for (;;) pause();
    }
    return true;
}

static bool below(const char *path)
{
    char full[4096];
    if (!nunder) return true;
    if (!path) return false;
    if (path[0] != '/' && getcwd(full, 2000)) {
        snprintf(full + strlen(full), 2000, "/%s", path);
        path = full;
    }
    return strncmp(path, under, nunder) == 0;
}

static bool below_fd(int fd)
{
    char link[64], path[4096];
    if (!nunder) return fd != 2;                         /* messages may always be written */
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = 0;
    return below(path);
}

static bool fails(void)
{
    errno = what == ENOSPACE ? ENOSPC : what == INTERRUPT ? EINTR : EIO;
    return what == ENOSPACE || what == EBROKEN || what == INTERRUPT;
}

static bool watches(void)
{
    return ready && what != MEMORY && (what || at || count != &own);
}

ssize_t write(int fd, const void *p, size_t n)
{
    if (watches() && below_fd(fd) && now()) {
        if (fails()) return -1;
        if (what == SHORT && n > 1) n = 1;
    }
    return syscall(SYS_write, fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
    if (watches() && below_fd(fd) && now()) {
        if (fails()) return -1;
        if (what == SHORT && n > 1) n = 1;
    }
    return syscall(SYS_pwrite64, fd, p, n, to);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    if (watches() && below_fd(fd) && now() && fails()) return -1;
    return syscall(SYS_writev, fd, v, n);
}

static bool paths(const char *a, const char *b)
{
    return watches() && (below(a) || below(b)) && now() && (what == ENOSPACE || what == EBROKEN) && fails();
}

int rename(const char *a, const char *b) { return paths(a, b) ? -1 : REAL(rename)(a, b); }
int renameat(int d, const char *a, int e, const char *b) { return paths(a, b) ? -1 : REAL(renameat)(d, a, e, b); }
int renameat2(int d, const char *a, int e, const char *b, unsigned f)
{
    return paths(a, b) ? -1 : REAL(renameat2)(d, a, e, b, f);
}
int link(const char *a, const char *b) { return paths(a, b) ? -1 : REAL(link)(a, b); }
int unlink(const char *a) { return what == KILL && paths(a, NULL) ? -1 : REAL(unlink)(a); }
int unlinkat(int d, const char *a, int f) { return what == KILL && paths(a, NULL) ? -1 : REAL(unlinkat)(d, a, f); }
int mkdir(const char *a, mode_t m) { return paths(a, NULL) ? -1 : REAL(mkdir)(a, m); }
int ftruncate(int fd, off_t n)
{
    if (watches() && below_fd(fd) && now() && what != SHORT && fails()) return -1;
    return (int)syscall(SYS_ftruncate, fd, n);
}
static bool opens(const char *path, int flags)
{
    return flags & (O_CREAT | O_TRUNC) && paths(path, NULL);
}
int open(const char *path, int flags, ...)
{
    va_list a;
    va_start(a, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(a, unsigned) : 0;
    va_end(a);
    return opens(path, flags) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    va_list a;
    va_start(a, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(a, unsigned) : 0;
    va_end(a);
    return opens(path, flags) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
FILE *fopen(const char *path, const char *mode)
{
    return *mode != 'r' && paths(path, NULL) ? NULL : REAL(fopen)(path, mode);
}

/* a stream whose bytes did not get out: as glibc marks it */
static bool streams(FILE *f)
{
    if (!watches() || !f || !below_fd(fileno(f)) || !now() || what == INTERRUPT || !fails()) return false;
    f->_flags |= 0x20;                                   /* what ferror sees */
    return true;
}
int fflush(FILE *f) { return streams(f) ? EOF : REAL(fflush)(f); }
/* what only goes into the buffer is no moment for a kill: the file is as it was */
static bool buffered(FILE *f, size_t n)
{
    return what == KILL && f && (f->_flags & 0x200) == 0 && n < (size_t)(f->_IO_write_end - f->_IO_write_ptr);
}
size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    return !buffered(f, size * n) && streams(f) ? 0 : REAL(fwrite)(p, size, n, f);
}
int fputs(const char *s, FILE *f) { return !buffered(f, strlen(s)) && streams(f) ? EOF : REAL(fputs)(s, f); }
int fclose(FILE *f)
{
    bool bad = streams(f);
    int e = errno, r = REAL(fclose)(f);
    if (!bad) return r;
    errno = e;
    return EOF;
}

/* ---- memory: glibc's own names, since dlsym allocates */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool refused(void)
{
    if (!ready || what != MEMORY || !now()) return false;
    errno = ENOMEM;
    return true;
}
void *malloc(size_t n) { return refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return refused() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return refused() ? NULL : __libc_realloc(p, n); }

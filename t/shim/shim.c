/* shim.c - preloaded into other programs by tests: counts what they write, and lets the N-th time fail.
 *
 *   SHIM_WHAT   kill: the process group SHIM_GROUP dies just before; enospc, eio: the call fails so; eintr: it is
 *               interrupted; short: one byte is written; malloc: memory is refused.  read-eio, read-eintr, read-eagain,
 *               read-short: the same of reads from files and pipes, but for those of /proc and /sys
 *   SHIM_AT     the number of the call, from 1; 0 only counts
 *   SHIM_COUNT  a file of 8 bytes shared by all processes: how many calls there were; without it each process counts
 *   SHIM_SECONDS  the program dies of SIGALRM after so many: a timeout without another process
 *   SHIM_ONLY   nothing happens in programs of another name than this, though they are started with the same variables
 *   SHIM_UNDER  count only what happens below this folder, by absolute paths; without it every write
 *   SHIM_ONCE   with kill, instead of SHIM_AT: the group dies at the first call whose place is not marked in this
 *               file, which is shared, and kept from run to run; the place is marked.  So the same command, run again
 *               and again, dies once at each place.  A place is program, call, file below SHIM_UNDER and how often
 *               these were met in this run, SHIM_RUN, a number that was not used before.  Of file names that part is
 *               left out which differs from run to run: the PID in .millrace-PID-NAME, what clang draws in
 *               NAME-XXXXXXXX.tmp
 *   SHIM_PLACES all; or sites: all numbers are left out of a file's name, and of what is one place then the first,
 *               second, fourth, eighth .. time count; or names: as sites, whichever folder a file of this name is in
 *   SHIM_TRACE  a file to which every place that is marked is appended
 *   SHIM_DOOR   a folder with the pipes ask and go.  Before each call that is counted a line (SHIM_RECIPE, program,
 *               call, file) is written to ask, and a byte read from go: whoever holds their other ends sees the files
 *               as a kill at this moment would leave them, since all others that would write wait, too
 *
 * Counted are open for writing, write, writev, pwrite, copy_file_range, sendfile, rename, link, symlink, unlink, mkdir,
 * rmdir, truncate, ftruncate, fsync, by all their names, and the stdio calls that end in them, which glibc does not let
 * us see: fopen, fflush, fclose, fwrite, fputs.  For malloc: malloc, calloc, realloc.  For reads: read, pread, and
 * fread, fgets, getline, getdelim, which can only fail. */
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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))next(#name))
enum what { NOTHING, KILL, ENOSPACE, EBROKEN, INTERRUPT, SHORT, MEMORY,
            READ_BROKEN, READ_INTERRUPT, READ_AGAIN, READ_SHORT };
static enum what what;
static uint64_t at, own, *count = &own;
static const char *under;
static size_t nunder;
static pid_t group;
static bool ready, every, folders;
enum { PLACES = 1 << 18 };
static struct place { uint64_t key, value; } *places;    /* open addressing; a key is never 0 */
static uint64_t run;
static const char *trace, *door, *recipe;
static _Thread_local char where[4096];                   /* the file of the call in question */

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void *shared(const char *path, size_t n)
{
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return NULL;
    void *p = MAP_FAILED;
    if (syscall(SYS_ftruncate, fd, n) == 0) p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const words[] = { "", "kill", "enospc", "eio", "eintr", "short", "malloc",
                                          "read-eio", "read-eintr", "read-eagain", "read-short" };
    const char *w = getenv("SHIM_WHAT"), *n = getenv("SHIM_AT"), *c = getenv("SHIM_COUNT"), *g = getenv("SHIM_GROUP");
    const char *seconds = getenv("SHIM_SECONDS");
    if (seconds) alarm((unsigned)strtoul(seconds, NULL, 10));
    for (int i = 0; w && i < 11; i++) if (strcmp(w, words[i]) == 0) what = (enum what)i;
    at = n ? strtoull(n, NULL, 10) : 0;
    group = g ? (pid_t)strtol(g, NULL, 10) : 0;
    under = getenv("SHIM_UNDER");
    nunder = under ? strlen(under) : 0;
    uint64_t *all = shared(c, sizeof *all);
    if (all) count = all;
    places = shared(getenv("SHIM_ONCE"), PLACES * sizeof *places);
    const char *only = getenv("SHIM_ONLY");
    if (only && strcmp(only, program_invocation_short_name) != 0) {
        what = NOTHING;
        count = &own;
    }
    const char *r = getenv("SHIM_RUN"), *which = getenv("SHIM_PLACES");
    run = r ? strtoull(r, NULL, 10) : 0;
    folders = !which || strcmp(which, "names") != 0;
    every = folders && (!which || strcmp(which, "sites") != 0);
    trace = getenv("SHIM_TRACE");
    door = getenv("SHIM_DOOR");
    recipe = getenv("SHIM_RECIPE");
    ready = true;
}

static uint64_t hash(uint64_t h, const char *s)          /* FNV-1a */
{
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 0x100000001b3;
    return h * 0x100000001b3;
}

/* a file's name without what differs from run to run, or, for sites, from one to the next */
static void plain(char *to, const char *name)
{
    const char *own = ".millrace-";
    for (const char *p = name; *p; p++) {
        size_t digits = strspn(p, "0123456789"), hex = strspn(p, "0123456789abcdef");
        bool pid = p - name >= 10 && strncmp(p - 10, own, 10) == 0;
        bool drawn = hex == 8 && p > name && p[-1] == '-';   /* as clang names what it writes first */
        size_t n = drawn || (!every && hex >= 12) ? hex : digits && (pid || !every) ? digits : 1;
        *to++ = n > 1 || (digits && (pid || !every)) ? '#' : *p;
        p += n - 1;
    }
    *to = 0;
}

/* the value that belongs to a key, 0 at first */
static uint64_t *entry(uint64_t key)
{
    for (uint64_t i = key % PLACES;; i = (i + 1) % PLACES) {
        uint64_t none = 0;
        bool put = __atomic_compare_exchange_n(&places[i].key, &none, key, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (put || none == key) return &places[i].value;
    }
}

/* has this place not been marked? */
static bool fresh(const char *call)
{
    char name[sizeof where], line[sizeof where + 200];
    const char *last = strrchr(where, '/');
    plain(name, !folders && last ? last : where + (nunder && strncmp(where, under, nunder) == 0 ? nunder : 0));
    uint64_t site = hash(hash(hash(0xcbf29ce484222325, program_invocation_short_name), call), name) | 1, n;
    uint64_t *met = entry(site), old = __atomic_load_n(met, __ATOMIC_SEQ_CST);
    do {
        n = old >> 32 == run ? (old & UINT32_MAX) + 1 : 1;
    } while (!__atomic_compare_exchange_n(met, &old, run << 32 | n, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    if (!every && (n & (n - 1))) return false;
    if (__atomic_fetch_add(entry((site ^ n << 1) * 0x9e3779b97f4a7c15u | 1), 1, __ATOMIC_SEQ_CST)) return false;
    int fd = trace ? (int)syscall(SYS_openat, AT_FDCWD, trace, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return true;
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%llu\n", program_invocation_short_name, call, name,
                          (unsigned long long)n);
    syscall(SYS_write, fd, line, (size_t)length);
    syscall(SYS_close, fd);
    return true;
}

/* one after the other, whichever process they are in; who dies meanwhile leaves the lock, and its byte, to be read */
static void knock(const char *call)
{
    char line[2 * sizeof where], name[sizeof where], byte;
    int fd[3];
    const char *const pipes[] = { "lock", "ask", "go" };
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/%s", door, pipes[i]);
        fd[i] = (int)syscall(SYS_openat, AT_FDCWD, name, (i == 2 ? O_RDONLY : O_RDWR) | O_CLOEXEC);
        while (i == 0 && syscall(SYS_flock, fd[i], LOCK_EX) != 0 && errno == EINTR) continue;
    }
    int n = snprintf(line, sizeof line, "%s\t%s\t%s\t%s\n", recipe ? recipe : "-", program_invocation_short_name, call,
                     where);
    if (syscall(SYS_write, fd[1], line, (size_t)n) == n)
        while (syscall(SYS_read, fd[2], &byte, 1) != 1 && errno == EINTR) continue;
    syscall(SYS_flock, fd[0], LOCK_UN);                  /* a child that was forked meanwhile has it open, too */
    for (int i = 3; i-- > 0;) syscall(SYS_close, fd[i]);
}

/* is it this one? */
static bool now(const char *call)
{
    uint64_t n = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (door) knock(call);
    if (places ? !fresh(call) : !at || n != at) return false;
    if (what == KILL) {
        kill(group ? -group : 0, SIGKILL);
        kill(getpid(), SIGKILL);                         /* what parallel started has a group of its own */
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
    if (strncmp(path, under, nunder) != 0) return false;
    snprintf(where, sizeof where, "%s", path);
    return true;
}

static bool below_fd(int fd)
{
    char link[64], path[4096];
    if (!nunder) return fd != 2;                         /* messages may always be written */
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0 || path[0] != '/') return false;           /* a pipe is not in a folder */
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
    return ready && what < MEMORY && (what || at || places || door || count != &own);
}

ssize_t write(int fd, const void *p, size_t n)
{
    if (watches() && below_fd(fd) && now("write")) {
        if (fails()) return -1;
        if (what == SHORT && n > 1) n = 1;
    }
    return syscall(SYS_write, fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
    if (watches() && below_fd(fd) && now("pwrite")) {
        if (fails()) return -1;
        if (what == SHORT && n > 1) n = 1;
    }
    return syscall(SYS_pwrite64, fd, p, n, to);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t to) { return pwrite(fd, p, n, to); }

/* as cat and cp write: none of it, or all */
static bool copies(int fd, const char *call)
{
    return watches() && below_fd(fd) && now(call) && what != SHORT && fails();
}
ssize_t copy_file_range(int from, off64_t *at_from, int to, off64_t *at_to, size_t n, unsigned flags)
{
    if (copies(to, "copy_file_range")) return -1;
    return syscall(SYS_copy_file_range, from, at_from, to, at_to, n, flags);
}
ssize_t sendfile(int to, int from, off_t *where_from, size_t n)
{
    return copies(to, "sendfile") ? -1 : syscall(SYS_sendfile, to, from, where_from, n);
}
ssize_t sendfile64(int to, int from, off64_t *at_from, size_t n) { return sendfile(to, from, at_from, n); }

ssize_t writev(int fd, const struct iovec *v, int n)
{
    if (watches() && below_fd(fd) && now("writev") && fails()) return -1;
    return syscall(SYS_writev, fd, v, n);
}

static bool paths(const char *call, const char *a, const char *b)
{
    return watches() && (below(a) || below(b)) && now(call) && (what == ENOSPACE || what == EBROKEN) && fails();
}

int rename(const char *a, const char *b) { return paths("rename", a, b) ? -1 : REAL(rename)(a, b); }
int renameat(int d, const char *a, int e, const char *b)
{
    return paths("rename", a, b) ? -1 : REAL(renameat)(d, a, e, b);
}
int renameat2(int d, const char *a, int e, const char *b, unsigned f)
{
    return paths("rename", a, b) ? -1 : REAL(renameat2)(d, a, e, b, f);
}
int link(const char *a, const char *b) { return paths("link", a, b) ? -1 : REAL(link)(a, b); }
int unlink(const char *a) { return what == KILL && paths("unlink", a, NULL) ? -1 : REAL(unlink)(a); }
int unlinkat(int d, const char *a, int f)
{
    return what == KILL && paths("unlink", a, NULL) ? -1 : REAL(unlinkat)(d, a, f);
}
int rmdir(const char *a) { return what == KILL && paths("rmdir", a, NULL) ? -1 : REAL(rmdir)(a); }
int symlink(const char *a, const char *b) { return paths("symlink", b, NULL) ? -1 : REAL(symlink)(a, b); }
int symlinkat(const char *a, int d, const char *b) { return paths("symlink", b, NULL) ? -1 : REAL(symlinkat)(a, d, b); }
int truncate(const char *a, off_t n) { return paths("truncate", a, NULL) ? -1 : REAL(truncate)(a, n); }
int truncate64(const char *a, off64_t n) { return truncate(a, n); }
int mkdir(const char *a, mode_t m) { return paths("mkdir", a, NULL) ? -1 : REAL(mkdir)(a, m); }
int ftruncate(int fd, off_t n)
{
    if (watches() && below_fd(fd) && now("ftruncate") && what != SHORT && fails()) return -1;
    return (int)syscall(SYS_ftruncate, fd, n);
}
int ftruncate64(int fd, off64_t n) { return ftruncate(fd, n); }
/* a kill before it loses nothing, since what was written outlives the process; it is a moment like others */
int fsync(int fd)
{
    if (watches() && what == KILL && below_fd(fd)) now("fsync");
    return (int)syscall(SYS_fsync, fd);
}
static bool opens(const char *path, int flags)
{
    return flags & (O_CREAT | O_TRUNC) && paths("open", path, NULL);
}
/* by all names that it has; relative to a folder, only what is in the current one is known to be below SHIM_UNDER */
#define OPEN(name, at, arguments) \
int name(arguments const char *path, int flags, ...) \
{ \
    va_list a; \
    va_start(a, flags); \
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(a, unsigned) : 0; \
    va_end(a); \
    return opens(path, flags) ? -1 : (int)syscall(SYS_openat, at, path, flags, mode); \
}
#define FOLDER int d,
OPEN(open, AT_FDCWD, )
OPEN(open64, AT_FDCWD, )
OPEN(openat, d, FOLDER)
OPEN(openat64, d, FOLDER)
/* what _FORTIFY_SOURCE makes of them where no mode is given: cp over a file that is there */
int __open_2(const char *path, int flags), __open64_2(const char *path, int flags);
int __openat_2(int d, const char *path, int flags), __openat64_2(int d, const char *path, int flags);
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open(path, flags); }
int __openat_2(int d, const char *path, int flags) { return openat(d, path, flags); }
int __openat64_2(int d, const char *path, int flags) { return openat(d, path, flags); }
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }
FILE *fopen(const char *path, const char *mode)
{
    return *mode != 'r' && paths("open", path, NULL) ? NULL : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }

/* a stream whose bytes did not get out: as glibc marks it */
static bool streams(FILE *f, const char *call)
{
    if (!watches() || !f || !below_fd(fileno(f)) || !now(call) || what == INTERRUPT || !fails()) return false;
    f->_flags |= 0x20;                                   /* what ferror sees */
    return true;
}
int fflush(FILE *f) { return streams(f, "fflush") ? EOF : REAL(fflush)(f); }
/* what only goes into the buffer is no moment for a kill: the file is as it was */
static bool buffered(FILE *f, size_t n)
{
    return what == KILL && f && (f->_flags & 0x200) == 0 && n < (size_t)(f->_IO_write_end - f->_IO_write_ptr);
}
size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    return !buffered(f, size * n) && streams(f, "fwrite") ? 0 : REAL(fwrite)(p, size, n, f);
}
int fputs(const char *s, FILE *f) { return !buffered(f, strlen(s)) && streams(f, "fputs") ? EOF : REAL(fputs)(s, f); }
int fclose(FILE *f)
{
    bool bad = streams(f, "fclose");
    int e = errno, r = REAL(fclose)(f);
    if (!bad) return r;
    errno = e;
    return EOF;
}

/* ---- reads */
static bool reads(int fd, const char *call)
{
    char link[64], path[4096];
    if (!ready || what < READ_BROKEN) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    if (n <= 0 || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/dev/", 5) == 0)
        return false;
    if (nunder && !below(path)) return false;
    return now(call);
}
static bool fails_to_read(size_t *n)
{
    if (what == READ_SHORT) {
        if (*n > 1) *n = 1;
        return false;
    }
    errno = what == READ_INTERRUPT ? EINTR : what == READ_AGAIN ? EAGAIN : EIO;
    return true;
}
ssize_t read(int fd, void *p, size_t n)
{
    return reads(fd, "read") && fails_to_read(&n) ? -1 : syscall(SYS_read, fd, p, n);
}
ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __read_chk(int fd, void *p, size_t n, size_t room) { (void)room; return read(fd, p, n); }
ssize_t pread(int fd, void *p, size_t n, off_t from)
{
    return reads(fd, "pread") && fails_to_read(&n) ? -1 : syscall(SYS_pread64, fd, p, n, from);
}
ssize_t pread64(int fd, void *p, size_t n, off64_t from) { return pread(fd, p, n, from); }
static bool stream_breaks(FILE *f, const char *call)
{
    size_t n = 0;
    if (what != READ_BROKEN && what != READ_AGAIN) return false;
    if (!f || !reads(fileno(f), call) || !fails_to_read(&n)) return false;
    f->_flags |= 0x20;                                   /* what ferror sees */
    return true;
}
size_t fread(void *p, size_t size, size_t n, FILE *f)
{
    return stream_breaks(f, "fread") ? 0 : REAL(fread)(p, size, n, f);
}
char *fgets(char *s, int n, FILE *f) { return stream_breaks(f, "fgets") ? NULL : REAL(fgets)(s, n, f); }
ssize_t getdelim(char **s, size_t *room, int c, FILE *f)
{
    return stream_breaks(f, "getdelim") ? -1 : REAL(getdelim)(s, room, c, f);
}
ssize_t getline(char **s, size_t *room, FILE *f)
{
    return stream_breaks(f, "getline") ? -1 : REAL(getline)(s, room, f);
}

/* ---- memory: glibc's own names, since dlsym allocates */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool refused(void)
{
    if (!ready || what != MEMORY || !now("malloc")) return false;
    errno = ENOMEM;
    return true;
}
void *malloc(size_t n) { return refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return refused() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return refused() ? NULL : __libc_realloc(p, n); }

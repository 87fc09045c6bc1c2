/* links.c - see links.h */
#include "prof/guest/links.h"
#include "prof/guest/got.h"
#include "prof/guest/rec.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static bool wanted(void)
{
    return rec_on && !rec_locked && rec_thread.in_base;
}

uint32_t links_key(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

static void put_amount(uint64_t n, uint64_t t)
{
    if (n) rec_put_number(LOG_AMOUNT, n, 0, t);
}

static void post_at(unsigned link, uint32_t key, uint64_t amount, uint64_t t)
{
    put_amount(amount, t);
    rec_put_at(LOG_POST, key, (enum log_hook)link, t);
}

static void take_at(unsigned link, uint32_t key, uint64_t amount, uint64_t since)
{
    uint64_t t = rec_now();
    put_amount(amount, since);
    rec_put_at(LOG_AWAIT, key, (enum log_hook)link, since);
    rec_put_at(LOG_TAKE, key, (enum log_hook)link, t);
}

void links_post(enum log_link link, uint32_t key, uint64_t amount)
{
    if (wanted()) post_at(link, key, amount, rec_now());
}

void links_take(enum log_link link, uint32_t key, uint64_t amount, uint64_t since)
{
    if (wanted()) take_at(link, key, amount, since);
}

/* a wait that ended without what it was for: worth a row if it took long */
static void gave_up(uint64_t since)
{
    if (rec_now() - since > rec_gap) take_at(LINK_TIMEOUT, 0, 0, since);
}

/* ---- semaphores: the interpreter's locks, and those between processes */

enum { NAMED = 1024 };
static struct { const sem_t *sem; uint32_t key; } named[NAMED];
static unsigned nnamed;

static uint32_t key_of(const sem_t *s)
{
    for (unsigned i = nnamed < NAMED ? nnamed : NAMED; i-- > 0;) if (named[i].sem == s) return named[i].key;
    return links_key((uintptr_t)s ^ (uint64_t)getpid() << 48);
}

static sem_t *on_sem_open(const char *name, int flags, ...)
{
    va_list a;
    va_start(a, flags);
    unsigned mode = va_arg(a, unsigned), value = va_arg(a, unsigned);
    va_end(a);
    sem_t *s = sem_open(name, flags, mode, value);
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    unsigned i = s == SEM_FAILED ? NAMED : __atomic_fetch_add(&nnamed, 1, __ATOMIC_RELAXED);
    if (i < NAMED) {
        named[i].sem = s;
        named[i].key = links_key(h);
    }
    return s;
}

/* glibc keeps how many wait in the upper half: who posts for nobody is not told */
static bool awaited(const sem_t *s)
{
    uint64_t word;
    memcpy(&word, s, sizeof word);
    return word >> 32;
}

static int on_sem_post(sem_t *s)
{
    if (wanted() && awaited(s)) post_at(LINK_LOCK, key_of(s), 0, rec_now());
    return sem_post(s);
}

static int got_sem(const sem_t *s, int r, uint64_t since)
{
    int keep = errno;
    if (rec_locked) return r;
    if (r == 0) take_at(LINK_LOCK, key_of(s), 0, since);
    else gave_up(since);
    errno = keep;
    return r;
}

#define WAIT_SEM(CALL)                                                                                                \
    if (!wanted()) return CALL;                                                                                       \
    if (sem_trywait(s) == 0) return 0;                                                                                \
    uint64_t since = rec_now();                                                                                       \
    int r = CALL;                                                                                                     \
    return got_sem(s, r, since)

static int on_sem_wait(sem_t *s)
{
    WAIT_SEM(sem_wait(s));
}

static int on_sem_timedwait(sem_t *s, const struct timespec *until)
{
    WAIT_SEM(sem_timedwait(s, until));
}

static int on_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
    WAIT_SEM(sem_clockwait(s, clock, until));
}

/* ---- pipes and sockets */

enum { PAIRS = 256 };
static struct { uint64_t of, other; } pair[PAIRS];       /* ends of socketpair(), by inode */
static unsigned npairs;

union address { struct sockaddr any; struct sockaddr_in in; struct sockaddr_in6 in6; struct sockaddr_un un; };

/* by port or path; 0: it has none */
static uint32_t address_key(const union address *a, socklen_t n)
{
    if (a->any.sa_family == AF_INET) return links_key(a->in.sin_port);
    if (a->any.sa_family == AF_INET6) return links_key(a->in6.sin6_port);
    uint64_t h = 0;
    if (a->any.sa_family == AF_UNIX)
        for (size_t i = offsetof(struct sockaddr_un, sun_path); i < n && i < sizeof a->un; i++)
            h = h * 31 + ((const unsigned char *)a)[i];
    return h ? links_key(h) | 1 : 0;
}

/* key of what is written to a descriptor, or read from it; false: it is no pipe and no socket */
static bool stream_of(int fd, bool write, unsigned *link, uint32_t *key)
{
    struct stat st;
    if (rec_locked || fstat(fd, &st) != 0) return false; /* the program may have locked itself in meanwhile */
    uint64_t id = st.st_ino ^ (uint64_t)st.st_dev << 40;
    *link = LINK_PIPE;
    *key = links_key(id);
    if (S_ISFIFO(st.st_mode)) return true;
    if (!S_ISSOCK(st.st_mode)) return false;
    *link = LINK_SOCKET;
    for (unsigned i = npairs < PAIRS ? npairs : PAIRS; i-- > 0;)
        if (pair[i].of == st.st_ino || pair[i].other == st.st_ino) {
            uint64_t peer = pair[i].of == st.st_ino ? pair[i].other : pair[i].of;
            *key = links_key(write ? peer : st.st_ino);  /* whose it is to read */
            return true;
        }
    union address own = { 0 }, other = { 0 };
    socklen_t n = sizeof own, m = sizeof other;
    if (getsockname(fd, &own.any, &n) != 0) return false;
    uint32_t here = address_key(&own, n);
    if (getpeername(fd, &other.any, &m) != 0) {
        *link = LINK_CONNECT;
        *key = here;
        return !write;
    }
    uint32_t there = address_key(&other, m);
    *key = links_key(write ? (uint64_t)here << 32 | there : (uint64_t)there << 32 | here);
    return true;
}

static ssize_t got(int fd, ssize_t n, uint64_t since)
{
    int keep = errno;
    unsigned link;
    uint32_t key;
    if (n >= 0 && stream_of(fd, false, &link, &key))
        take_at(n ? link : LINK_CLOSED, key, (uint64_t)n, since);
    errno = keep;
    return n;
}

static ssize_t gave(int fd, ssize_t n, uint64_t since)
{
    int keep = errno;
    unsigned link;
    uint32_t key;
    if (n > 0 && stream_of(fd, true, &link, &key)) post_at(link, key, (uint64_t)n, since);
    errno = keep;
    return n;
}

#define STREAM(TOLD, CALL)                                                                                            \
    if (!wanted()) return CALL;                                                                                       \
    uint64_t since = rec_now();                                                                                       \
    return TOLD(fd, CALL, since)

static ssize_t on_read(int fd, void *b, size_t n) { STREAM(got, read(fd, b, n)); }
static ssize_t on_recv(int fd, void *b, size_t n, int flags) { STREAM(got, recv(fd, b, n, flags)); }
static ssize_t on_recvfrom(int fd, void *b, size_t n, int flags, struct sockaddr *a, socklen_t *m)
{
    STREAM(got, recvfrom(fd, b, n, flags, a, m));
}
static ssize_t on_recvmsg(int fd, struct msghdr *m, int flags) { STREAM(got, recvmsg(fd, m, flags)); }
static ssize_t on_write(int fd, const void *b, size_t n) { STREAM(gave, write(fd, b, n)); }
static ssize_t on_send(int fd, const void *b, size_t n, int flags) { STREAM(gave, send(fd, b, n, flags)); }
static ssize_t on_sendto(int fd, const void *b, size_t n, int flags, const struct sockaddr *a, socklen_t m)
{
    STREAM(gave, sendto(fd, b, n, flags, a, m));
}
static ssize_t on_sendmsg(int fd, const struct msghdr *m, int flags) { STREAM(gave, sendmsg(fd, m, flags)); }

static int on_socketpair(int domain, int type, int protocol, int fd[2])
{
    struct stat a, b;
    int r = socketpair(domain, type, protocol, fd), keep = errno;
    if (r == 0 && fstat(fd[0], &a) == 0 && fstat(fd[1], &b) == 0) {
        unsigned i = __atomic_fetch_add(&npairs, 1, __ATOMIC_RELAXED) % PAIRS;
        pair[i].of = a.st_ino;
        pair[i].other = b.st_ino;
    }
    errno = keep;
    return r;
}

static int on_connect(int fd, const struct sockaddr *a, socklen_t n)
{
    if (wanted() && n <= sizeof(union address)) {
        union address to = { 0 };
        memcpy(&to, a, n);
        post_at(LINK_CONNECT, address_key(&to, n), 0, rec_now());
    }
    return connect(fd, a, n);
}

static int accepted(int fd, int r, uint64_t since)
{
    int keep = errno;
    union address own = { 0 };
    socklen_t n = sizeof own;
    if (r >= 0 && !rec_locked && getsockname(fd, &own.any, &n) == 0)
        take_at(LINK_CONNECT, address_key(&own, n), 0, since);
    errno = keep;
    return r;
}

static int on_accept(int fd, struct sockaddr *a, socklen_t *n) { STREAM(accepted, accept(fd, a, n)); }
static int on_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags)
{
    STREAM(accepted, accept4(fd, a, n, flags));
}

/* ---- waiting for one of several: the first that is there */

static int looked(int r, int fd, bool closed, uint64_t since)
{
    int keep = errno;
    unsigned link;
    uint32_t key;
    if (r == 0) gave_up(since);
    else if (r > 0 && fd >= 0 && stream_of(fd, false, &link, &key))
        take_at(closed ? LINK_CLOSED : link | LINK_PEEK, key, 0, since);
    errno = keep;
    return r;
}

static int on_poll(struct pollfd *v, nfds_t n, int ms)
{
    if (!wanted()) return poll(v, n, ms);
    uint64_t since = rec_now();
    int r = poll(v, n, ms), fd = -1;
    bool closed = false;
    for (nfds_t i = 0; r > 0 && i < n && fd < 0; i++) {
        if (!(v[i].revents & (POLLIN | POLLHUP))) continue;
        fd = v[i].fd;
        closed = !(v[i].revents & POLLIN);
    }
    return looked(r, fd, closed, since);
}

static int on_epoll_wait(int e, struct epoll_event *v, int n, int ms)
{
    if (!wanted()) return epoll_wait(e, v, n, ms);
    uint64_t since = rec_now();
    int r = epoll_wait(e, v, n, ms), fd = -1;
    bool closed = false;
    for (int i = 0; i < r && fd < 0; i++) {
        if (!(v[i].events & (EPOLLIN | EPOLLHUP))) continue;
        fd = v[i].data.fd;                               /* as the interpreter has it */
        closed = !(v[i].events & EPOLLIN);
    }
    return looked(r, fd, closed, since);
}

static int on_select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *most)
{
    if (!wanted() || !n) return select(n, in, out, bad, most);
    uint64_t since = rec_now();
    int r = select(n, in, out, bad, most), fd = -1;
    for (int i = 0; r > 0 && in && i < n && fd < 0; i++) if (FD_ISSET(i, in)) fd = i;
    return looked(r, fd, false, since);
}

/* ---- processes */

enum { STARTS = 0x5354, EXITS = 0x4558 };

static uint32_t process_key(int pid, uint64_t what)
{
    return links_key((uint64_t)pid << 20 ^ what);
}

/* who forks does not know the child's pid yet */
static void __attribute__((used)) forking(void)
{
    if (wanted()) links_post(LINK_START, process_key(getpid(), STARTS), 0);
}

void links_started(void)
{
    if (wanted()) links_take(LINK_START, process_key(getppid(), STARTS), 0, rec_now());
}

void links_exit(void)
{
    if (wanted()) links_post(LINK_EXIT, process_key(getpid(), EXITS), 0);   /* locked in: no system call */
}

static pid_t on_fork(void)
{
    forking();
    return fork();
}

#if defined __x86_64__
/* it returns twice, on one stack: not from a function of ours */
extern const unsigned char links_vfork[] __attribute__((visibility("hidden")));
__asm__(".text\n.p2align 4\n.globl links_vfork\n.hidden links_vfork\n.type links_vfork, @function\n"
        "links_vfork:\n.cfi_startproc\n"
        "  subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n  call forking\n  addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
        "  jmp vfork@PLT\n.cfi_endproc\n.size links_vfork, .-links_vfork\n");
#endif

static int on_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *f, const posix_spawnattr_t *a,
                          char *const argv[], char *const env[])
{
    forking();
    return posix_spawn(pid, path, f, a, argv, env);
}

static int on_posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *f,
                           const posix_spawnattr_t *a, char *const argv[], char *const env[])
{
    forking();
    return posix_spawnp(pid, path, f, a, argv, env);
}

static pid_t ended(pid_t pid, uint64_t since)
{
    int keep = errno;
    if (pid > 0) take_at(LINK_EXIT, process_key(pid, EXITS), 0, since);
    errno = keep;
    return pid;
}

#define CHILD(CALL)                                                                                                   \
    if (!wanted()) return CALL;                                                                                       \
    uint64_t since = rec_now();                                                                                       \
    return ended(CALL, since)

static pid_t on_wait(int *status) { CHILD(wait(status)); }
static pid_t on_waitpid(pid_t pid, int *status, int flags) { CHILD(waitpid(pid, status, flags)); }
static pid_t on_wait3(int *status, int flags, struct rusage *u) { CHILD(wait3(status, flags, u)); }
static pid_t on_wait4(pid_t pid, int *status, int flags, struct rusage *u) { CHILD(wait4(pid, status, flags, u)); }

void links_begin(uintptr_t in)
{
#define TO(NAME) { #NAME, (uintptr_t)on_##NAME }
    static const struct { const char *name; uintptr_t to; } way[] = {
        TO(sem_open), TO(sem_post), TO(sem_wait), TO(sem_timedwait), TO(sem_clockwait),
#define SEMAPHORES 5
        TO(read), TO(recv), TO(recvfrom), TO(recvmsg), TO(write), TO(send), TO(sendto), TO(sendmsg), TO(socketpair),
        TO(connect), TO(accept), TO(accept4), TO(poll), TO(epoll_wait), TO(select), TO(fork), TO(posix_spawn),
        TO(posix_spawnp), TO(wait), TO(waitpid), TO(wait3), TO(wait4)
    };
    static const char *const module[] = { "/_socket.", "/select.", "/_posixsubprocess." };
    static bool done;
    for (size_t i = 0; i < SEMAPHORES; i++) got_point("/_multiprocessing.", 0, way[i].name, way[i].to);
    for (size_t m = 0; m < sizeof module / sizeof *module; m++)
        for (size_t i = SEMAPHORES; i < sizeof way / sizeof *way; i++) got_point(module[m], 0, way[i].name, way[i].to);
    for (size_t i = 0; !done && i < sizeof way / sizeof *way; i++) got_point(NULL, in, way[i].name, way[i].to);
#if defined __x86_64__
    if (!done) got_point(NULL, in, "vfork", (uintptr_t)links_vfork);
    got_point("/_posixsubprocess.", 0, "vfork", (uintptr_t)links_vfork);
#endif
    done = true;
}

/* clock.c - see clock.h */
#include "measure/clock.h"
#include "base/mem.h"
#include "base/message.h"
#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static int64_t (*fake)(void);

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t now_ns(void)
{
    return fake ? fake() : read_clock(CLOCK_MONOTONIC);
}

double now_seconds(void)
{
    return 1e-9 * (double)now_ns();
}

int64_t cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_fake(int64_t (*source_ns)(void))
{
    fake = source_ns;
}

double core_delays(void)
{
    double ran, waited = NAN;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    if (!f) return NAN;
    if (fscanf(f, "%lf %lf", &ran, &waited) != 2) waited = NAN;
    fclose(f);
    return waited * 1e-9;
}

double others_seconds(void)
{
    double t[8];                                         /* user nice system idle iowait irq softirq steal */
    FILE *f = fopen("/proc/stat", "r");
    if (!f) return NAN;
    int n = fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7);
    fclose(f);
    if (n != 8) return NAN;
    return (t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK) - 1e-9 * (double)cpu_ns();
}

static const char held_by_parent[] = "MILLRACE_MEASURE_LOCK";
static int lock_fd = -1;
static pid_t lock_owner;
static char *given_path;                                 /* MILLRACE_MEASURE_LOCK=PATH, while it is held */

/* ---- who waits must say so: a holder that is stopped looks like a measurement that hangs ---- */

enum { PATIENCE_NS = 500000000, REMINDER = 60 };         /* before the first message; seconds between others */

struct waiting { const char *path; bool over; pthread_mutex_t lock; pthread_cond_t end; };

/* the process that holds the lock; 0: it ended just now, or the kernel does not tell */
static long holder(void)
{
    struct stat st;
    FILE *f = fopen("/proc/locks", "re");
    if (!f) return 0;
    long pid = 0;
    char line[256];
    if (fstat(lock_fd, &st) != 0) st = (struct stat){ 0 };
    while (!pid && fgets(line, sizeof line, f)) {
        long id;
        unsigned dev[2];
        unsigned long long inode;                        /* lines of those that wait have "->" before FLOCK */
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%llu", &id, &dev[0], &dev[1], &inode) != 4) continue;
        if (dev[0] == major(st.st_dev) && dev[1] == minor(st.st_dev) && inode == st.st_ino && id > 0) pid = id;
    }
    fclose(f);
    return pid;
}

static void tell(const char *path)
{
    char name[64] = "?", state = '?';
    long pid = holder();
    char *stat = xformat("/proc/%ld/stat", pid);
    FILE *f = pid ? fopen(stat, "re") : NULL;
    if (f && fscanf(f, "%*d (%63[^)]) %c", name, &state) != 2) state = '?';
    if (f) fclose(f);
    free(stat);
    if (pid)
        warn("waiting for another measurement on this machine to end: process %ld (%s%s) holds %s", pid, name,
             state == 'T' || state == 't' ? ", stopped" : "", path);
    else warn("waiting for another measurement on this machine to end, which holds %s", path);
}

static void *tell_in_time(void *arg)
{
    struct waiting *w = arg;
    struct timespec due;
    clock_gettime(CLOCK_REALTIME, &due);
    due.tv_nsec += PATIENCE_NS;
    due.tv_sec += due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        if (pthread_cond_timedwait(&w->end, &w->lock, &due) != ETIMEDOUT || w->over) continue;
        tell(w->path);
        due.tv_sec += REMINDER;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* first come, first served, and without a wake-up that would disturb the holder: so the words are another thread's */
static void wait_for_lock(const char *path)
{
    struct waiting w = { path, false, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };
    pthread_t thread;
    bool started = !pthread_create(&thread, NULL, tell_in_time, &w);
    if (!started) tell(path);
    while (flock(lock_fd, LOCK_EX) != 0) if (errno != EINTR) die_errno("%s", path);
    if (!started) return;
    pthread_mutex_lock(&w.lock);
    w.over = true;
    pthread_cond_signal(&w.end);
    pthread_mutex_unlock(&w.lock);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.end);
}

/* One lock a machine: where locks of all users lie, or else /tmp; never TMPDIR, of which jobs have their own.  What one
 * user may do must not decide: where only root may write to /run/lock, root goes to /tmp as well. */
static char *lock_path(const char *given)
{
    struct stat st;
    if (given && strchr(given, '/')) return xstrdup(given);
    bool of_all = stat("/run/lock", &st) == 0 && S_ISDIR(st.st_mode) && st.st_mode & S_IWOTH;
    return xformat("%s/millrace-measure.lock", of_all ? "/run/lock" : "/tmp");
}

/* whoever comes first makes it, all others may read it, which is enough for flock; asking to create a file that is
 * another's is refused in a sticky folder.  A pipe that somebody put there is not waited for. */
static int lock_open(const char *path)
{
    enum { HOW = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW };
    struct stat st;
    int fd = open(path, HOW);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, HOW | O_CREAT, 0644);
        if (fd >= 0 && fchmod(fd, 0644) != 0) {}         /* another's, made just now: as it is */
        if (fd < 0) fd = open(path, HOW);
    }
    if (fd < 0 && errno == ELOOP) die("%s: a link stands in the place of the measuring lock; remove it", path);
    if (fd < 0 && errno != ENXIO) die_errno("%s", path); /* a socket cannot be opened */
    if ((fd < 0 ? lstat(path, &st) : fstat(fd, &st)) != 0) die_errno("%s", path);
    if (!S_ISREG(st.st_mode))
        die("%s: no file, but something that user %ld put in the place of the measuring lock; remove it", path,
            (long)st.st_uid);
    return fd;
}

void measure_lock(void)
{
    const char *given = getenv(held_by_parent);
    if (lock_fd >= 0 || (given && !strchr(given, '/'))) return;
    char *path = lock_path(given);
    lock_fd = lock_open(path);
    if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) die_errno("%s", path);
        wait_for_lock(path);
    }
    lock_owner = getpid();
    if (given) given_path = path;
    else free(path);
    setenv(held_by_parent, "held", 1);
}

void measure_unlock(void)
{
    if (lock_fd < 0) return;
    if (getpid() == lock_owner) flock(lock_fd, LOCK_UN);               /* a child of fork would keep it by its copy */
    close(lock_fd);
    lock_fd = -1;
    if (given_path) setenv(held_by_parent, given_path, 1);
    else unsetenv(held_by_parent);
}

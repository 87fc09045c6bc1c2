/* clock.c - see clock.h */
#include "measure/clock.h"
#include "base/mem.h"
#include "base/message.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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

static const char held_by_parent[] = "MILLRACE_MEASURE_LOCK";
static int lock_fd = -1;

void measure_lock(void)
{
    if (lock_fd >= 0 || getenv(held_by_parent)) return;
    const char *dir = getenv("TMPDIR");
    char *path = xformat("%s/millrace-measure.lock", dir && *dir ? dir : "/tmp");
    /* whoever comes first makes it, all others may read it, which is enough for flock; asking to create a file that is
     * another's is refused in a sticky folder */
    lock_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (lock_fd < 0 && errno == ENOENT) {
        lock_fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (lock_fd >= 0 && fchmod(lock_fd, 0644) != 0) {}   /* another's, made just now: as it is */
        if (lock_fd < 0) lock_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (lock_fd < 0) die_errno("%s", path);
    if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) die_errno("%s", path);
        if (isatty(2)) warn("waiting for another measurement on this machine to end");
        while (flock(lock_fd, LOCK_EX) != 0) if (errno != EINTR) die_errno("%s", path);
    }
    free(path);
    setenv(held_by_parent, "held", 1);
}

void measure_unlock(void)
{
    if (lock_fd < 0) return;
    close(lock_fd);
    lock_fd = -1;
    unsetenv(held_by_parent);
}

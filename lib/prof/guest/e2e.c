/* e2e.c - work of known length for the end-to-end test: run_c computes, run_gpu is a stand-in for a device that works
 * while the caller waits: a helper thread sleeps, and tells the recorder of a launch and a kernel the way a GPU's
 * recorder would, by rows in gpu.PID.csv.  Both return the
 * seconds that it took: of the thread's CPU clock, and of the device's. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
API double run_c(double seconds);
API double run_gpu(double seconds);

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double run_c(double seconds)
{
    int64_t start = cpu(), end;
    do end = cpu();
    while ((double)(end - start) < seconds * 1e9);
    return (double)(end - start) * 1e-9;
}

struct kernel { double seconds; int64_t start, end; };

static void *device(void *p)
{
    struct kernel *k = p;
    struct timespec t = { (time_t)k->seconds, (long)((k->seconds - (double)(time_t)k->seconds) * 1e9) };
    k->start = now();
    while (nanosleep(&t, &t) != 0) continue;
    k->end = now();
    return NULL;
}

double run_gpu(double seconds)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint32_t launches;
    struct kernel k = { .seconds = seconds };
    pthread_t thread;
    int64_t start = now();
    if (pthread_create(&thread, NULL, device, &k) != 0) return 0;
    pthread_join(thread, NULL);
    int64_t end = now();
    const char *dir = getenv("MILLRACE_PROF_DIR");
    char path[4096], rows[512];
    int pid = (int)getpid();
    pthread_mutex_lock(&lock);                           /* one header, whichever thread is first */
    uint32_t link = ++launches;
    if (dir && snprintf(path, sizeof path, "%s/gpu.%d.csv", dir, pid) < (int)sizeof path) {
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        int n = snprintf(rows, sizeof rows,
                         "%s%d,%ld,cat,CUDA,%lld,%lld,launch and wait,%u,\n%d,d0.s0,gpu,GPU,%lld,%lld,stand-in,%u,\n",
                         lseek(fd, 0, SEEK_END) == 0 ? "proc,tid,kind,cat,start_ns,end_ns,name,link,flag\n" : "", pid,
                         (long)syscall(SYS_gettid), (long long)start, (long long)end, link, pid, (long long)k.start,
                         (long long)k.end, link);
        if (fd < 0 || write(fd, rows, (size_t)n) != n) fprintf(stderr, "e2e: cannot write %s\n", path);
        if (fd >= 0) close(fd);
    }
    pthread_mutex_unlock(&lock);
    return (double)(k.end - k.start) * 1e-9;
}

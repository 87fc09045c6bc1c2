/* rec.c - see rec.h.  Lives in other people's processes: no exit, no output but the two messages below. */
#include "prof/record/rec.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAP_BYTES = LOG_HEAD + 2 * LOG_HALF * (int)sizeof(struct log_record) };

struct files {                                           /* of one thread */
    int log;
    struct log_head *head;                               /* the mapping: head, half 0, half 1 */
    int half;
    uint64_t lost;                                       /* since the last good write */
    bool failed;                                         /* could not be opened: every record is lost */
};

__thread struct rec_thread rec_thread __attribute__((tls_model("initial-exec")));
static __thread struct files my __attribute__((tls_model("initial-exec")));
bool rec_on, rec_ticks;
static char dir[3072];
static int names = -1;
static char *all_names;                                  /* every line so far: a new names file gets them all */
static size_t names_len, names_cap;
static uint32_t next_id = 1, generation;
static uint64_t all_dropped;
static double ns_per_tick = 1;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t clock_ns(clockid_t c)
{
    struct timespec t;
    clock_gettime(c, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct log_anchor anchor(void)
{
    struct log_anchor a = { 0 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {                        /* the try with the shortest gap around the clock */
        uint64_t before = rec_now(), m = clock_ns(CLOCK_MONOTONIC), after = rec_now();
        if (after - before < best) {
            best = after - before;
            a.monotonic_ns = m;
            a.ticks = rec_ticks ? before + (after - before) / 2 : m;
        }
    }
    a.realtime_ns = clock_ns(CLOCK_REALTIME);
    return a;
}

static bool has_steady_counter(void)
{
#if defined __x86_64__
    char line[8192];
    bool steady = false;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "flags", 5) != 0) continue;
        steady = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
        break;
    }
    if (f) fclose(f);
    return steady;
#else
    return false;
#endif
}

static struct log_record *ring(int half)
{
    return (struct log_record *)((char *)my.head + LOG_HEAD) + half * LOG_HALF;
}

static void copy_text(char *to, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);
    if (fd >= 0) close(fd);
    for (ssize_t i = 0; i < n; i++) if (to[i] == '\0' || to[i] == '\n') to[i] = ' ';
    while (n > 0 && to[n - 1] == ' ') n--;
    to[n > 0 ? n : 0] = '\0';
}

/* all of it or nothing: what a full disk cut short is taken back */
static bool append(int fd, const void *p, size_t n)
{
    ssize_t put = write(fd, p, n);
    if (put == (ssize_t)n) return true;
    if (put > 0) {
        off_t end = lseek(fd, -put, SEEK_CUR);
        if (end < 0 || ftruncate(fd, end) != 0) return false;
    }
    return false;
}

static bool open_files(void)
{
    char path[4096];
    unsigned tid = (unsigned)syscall(SYS_gettid);
    int n = snprintf(path, sizeof path, "%s/ev.%d.%u.%u.log", dir, (int)getpid(), tid, generation);
    if (n < 0 || (size_t)n >= sizeof path - 2) return false;
    my.log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    memcpy(path + n - 3, "tail", 5);
    int tail = my.log < 0 ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    /* blocks are reserved: a store to a mapped hole on a full disk would be fatal */
    bool good = tail >= 0 && posix_fallocate(tail, 0, MAP_BYTES) == 0;
    void *map = good ? mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, tail, 0) : MAP_FAILED;
    if (tail >= 0) close(tail);
    if (map == MAP_FAILED) {
        if (tail >= 0) unlink(path);
        if (my.log >= 0) close(my.log);
        return false;
    }
    my.head = map;
    my.half = 0;
    my.lost = 0;
    struct log_head *h = my.head;
    *h = (struct log_head){ .magic = LOG_MAGIC,
                            .version = LOG_VERSION,
                            .half = LOG_HALF,
                            .pid = (uint32_t)getpid(),
                            .tid = tid,
                            .parent = (uint32_t)getppid(),
                            .generation = generation,
                            .ticks = rec_ticks,
                            .ns_per_tick = ns_per_tick };
    h->first = h->last = anchor();
    copy_text(h->process, sizeof h->process, "/proc/self/comm");
    copy_text(h->command, sizeof h->command, "/proc/self/cmdline");
    /* the ring alone is still worth having: the log may come later */
    if (!append(my.log, map, LOG_HEAD)) {
        if (lseek(my.log, LOG_HEAD, SEEK_SET) < 0) return false;
    }
    rec_thread.p = ring(0);
    rec_thread.end = rec_thread.p + LOG_HALF;
    pthread_setspecific(at_thread_end, (void *)1);
    return true;
}

static void forget_files(void)
{
    if (my.head) {
        munmap(my.head, MAP_BYTES);
        close(my.log);
    }
    my = (struct files){ 0 };
    rec_thread = (struct rec_thread){ 0 };
}

static void lose(uint64_t n)
{
    my.lost += n;
    if (my.head) my.head->dropped += n;
    __atomic_add_fetch(&all_dropped, n, __ATOMIC_RELAXED);
}

bool rec_more(void)
{
    if (!rec_on) return false;
    if (!my.head) {
        int keep = errno;
        if (my.failed || !open_files()) {
            my.failed = true;
            lose(1);
            errno = keep;
            return false;
        }
        errno = keep;
        return true;
    }
    int keep = errno;
    if (append(my.log, ring(my.half), LOG_HALF * sizeof(struct log_record))) {
        my.half ^= 1;
        my.lost = 0;
    } else lose(LOG_HALF);
    my.head->last = anchor();
    rec_thread.p = ring(my.half);
    rec_thread.end = rec_thread.p + LOG_HALF;
    if (my.lost) rec_put_at(LOG_DROPPED, my.lost > UINT32_MAX ? UINT32_MAX : (uint32_t)my.lost, HOOK_NONE, rec_now());
    errno = keep;
    return true;
}

static void close_files(void)
{
    if (!my.head) return;
    char path[4096];
    struct log_record *first = ring(my.half);
    my.head->last = anchor();
    bool all = append(my.log, first, (size_t)((char *)rec_thread.p - (char *)first));
    struct log_head *h = my.head;
    h->clean = all;
    if (pwrite(my.log, h, LOG_HEAD, 0) != LOG_HEAD) all = false;
    snprintf(path, sizeof path, "%s/ev.%u.%u.%u.tail", dir, h->pid, h->tid, h->generation);
    if (all) unlink(path);                               /* else the ring is what is left */
    forget_files();
}

static void thread_ends(void *unused)
{
    (void)unused;
    if (my.head && rec_thread.in_base) rec_put(LOG_PYTHON_END, 0, HOOK_NONE);
    close_files();
}

static void open_names(void)
{
    static const char header[] = "id,kind,cat,module,name\n";
    char path[4096];
    snprintf(path, sizeof path, "%s/names.%d.csv", dir, (int)getpid());
    if (names >= 0) close(names);
    names = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    /* disk full */
    if (names >= 0 && (write(names, header, sizeof header - 1) < 0 || write(names, all_names, names_len) < 0)) return;
}

static void child_after_fork(void)
{
    forget_files();
    all_dropped = 0;
    pthread_mutex_init(&names_lock, NULL);
    if (dir[0]) open_names();
}

static void say_loss(void)
{
    if (rec_dropped()) fprintf(stderr, "millrace recorder: %llu records lost, could not be written to %s\n",
                               (unsigned long long)rec_dropped(), dir);
}

static void at_end(void)
{
    rec_on = false;
    close_files();
    say_loss();
}

static void init(void)
{
    pthread_key_create(&at_thread_end, thread_ends);
    pthread_atfork(NULL, NULL, child_after_fork);
    atexit(at_end);
}

/* ticks against the clock over two milliseconds: good to some ten parts in a million, better anchors come later */
static void calibrate(void)
{
    rec_ticks = has_steady_counter();
    if (!rec_ticks) return;
    struct log_anchor a = anchor(), b;
    do b = anchor();
    while (b.monotonic_ns - a.monotonic_ns < 2000000);
    ns_per_tick = (double)(b.monotonic_ns - a.monotonic_ns) / (double)(b.ticks - a.ticks);
}

bool rec_start(const char *path)
{
    pthread_once(&once, init);
    if (strlen(path) >= sizeof dir) return false;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        fprintf(stderr, "millrace recorder: cannot make %s: %s\n", path, strerror(errno));
        return false;
    }
    if (!dir[0]) calibrate();
    if (strcmp(dir, path) != 0) {
        close_files();
        char *real = realpath(path, NULL);               /* the program may change its directory */
        if (!real || strlen(real) >= sizeof dir) {
            free(real);
            return false;
        }
        if (strcmp(dir, real) != 0) {
            close_files();
            snprintf(dir, sizeof dir, "%s", real);
            generation++;
            open_names();
        }
        free(real);
    }
    my.failed = false;
    rec_on = true;
    return true;
}

void rec_stop(void)
{
    rec_on = false;
}

const char *rec_dir(void)
{
    return dir[0] ? dir : NULL;
}

uint64_t rec_dropped(void)
{
    return __atomic_load_n(&all_dropped, __ATOMIC_RELAXED);
}

static size_t add_field(char *to, size_t n, size_t size, const char *s)
{
    if (n < size) to[n++] = '"';
    for (; *s && n + 4 < size; s++) {
        if (*s == '"') to[n++] = '"';
        to[n++] = *s;
    }
    if (n < size) to[n++] = '"';
    return n;
}

uint32_t rec_name(const char *kind, const char *cat, const char *module, const char *name)
{
    char line[2048];
    pthread_mutex_lock(&names_lock);
    uint32_t id = next_id++;
    size_t n = (size_t)snprintf(line, sizeof line, "%u,%s,", id, kind);
    const char *field[] = { cat, module, name };
    for (int i = 0; i < 3; i++) {
        n = add_field(line, n, sizeof line - (size_t)(3 - i) * 300, field[i]);
        line[n++] = i < 2 ? ',' : '\n';
    }
    if (names_len + n > names_cap) {
        char *bigger = realloc(all_names, (names_len + n) * 2);
        if (bigger) {
            all_names = bigger;
            names_cap = (names_len + n) * 2;
        }
    }
    if (names_len + n <= names_cap) {
        memcpy(all_names + names_len, line, n);
        names_len += n;
    }
    if (names >= 0 && write(names, line, n) < 0) n = 0;  /* disk full: the id stays without a name */
    pthread_mutex_unlock(&names_lock);
    return id;
}

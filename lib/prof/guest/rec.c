/* rec.c - see rec.h.  Lives in other people's processes: no exit, no output but the messages below, no descriptor
 * kept. */
#include "prof/guest/rec.h"
#include "prof/guest/say.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* what follows the halves may be stored to: a child that shares our memory, as of vfork, can go past the end */
enum { SPARE = 4096 };
#define MAP_BYTES(half) (LOG_HEAD + 2 * (size_t)(half) * sizeof(struct log_record) + SPARE)
enum { NAMES_STEP = 1 << 13, NAMES_MOST = 1 << 20 };

struct files {                                           /* of one thread */
    struct log_head *head;                               /* the mapping: head, half 0, half 1 */
    struct ours log, tail;
    int half;
    uint64_t lost;                                       /* since the last good write */
    uint64_t retry;                                      /* losses after which a failed file is tried again */
    struct job_pair *jobs;
    uint64_t from, to;                                   /* when records were written out, or 0 */
    uint64_t due;                                        /* time of the record that waits for room, or 0 */
    bool busy;                                           /* a signal came while the files were being changed */
    bool grown;                                          /* the ring is large, or cannot be made so */
    bool stuck;                                          /* the log is out of reach: the ring keeps what it has */
    bool early;                                          /* it had something to record before --delay was over .. */
    struct log_record open;                              /* .. and last of all this call or end of one */
};

__thread struct rec_thread rec_thread __attribute__((tls_model("initial-exec")));
static __thread struct files my __attribute__((tls_model("initial-exec")));
bool rec_on, rec_ticks;
uint64_t rec_gap = UINT64_MAX;
void (*rec_before_lock)(void);
double rec_pair_ns;
static char dir[3072];
static uint32_t image, next_thread, writing;             /* writing: id of writing records out */
static uint64_t all_dropped;
static double ns_per_tick = 1;
static uint64_t start_at, limit, given;                  /* --delay, in ticks; --max-events, and how many so far */
static bool early, on_told;                              /* recording was on before start_at; that was told since */
static bool told, calm;                                  /* --limit: what comes after it is counted, and said */
static uint64_t began, ended;                            /* recording, and when it was too much; or 0 */
static bool low;                                         /* since the disk was nearly full */
static uint32_t kept;                                    /* --ring: halves of a log */
static pid_t self;
static bool forked;                                      /* it may live for a moment */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t next_id = 1;

static struct {                                          /* every line so far: a child's file gets them all */
    char *all;
    size_t n, cap;
    char *map;                                           /* the file's last piece */
    size_t at, bytes, written;                           /* its place, its size; how much of `all` is in the file */
    struct ours file;
    bool open;
} names;

/* what all threads of the program, and its children until they run another, have in their heads: read once */
static struct { char process[64], command[1024]; } facts;
static bool facts_known;

static void copy_text(char *to, size_t size, const char *path)
{
    struct job *j = &my.jobs->log;
    *j = (struct job){ .map = to, .bytes = size };
    snprintf(j->path, sizeof j->path, "%s", path);
    rec_apart(job_text, j);
}

/* ---- clocks */

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
    a.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return a;
}

static int job_counter(void *arg)                        /* is the time stamp counter steady?  0: yes */
{
    struct job *j = arg;
    FILE *f = fopen("/proc/cpuinfo", "re");
    int steady = 0;
    while (f && fgets(j->path, sizeof j->path, f)) {
        if (strncmp(j->path, "flags", 5) != 0) continue;
        steady = strstr(j->path, " constant_tsc") && strstr(j->path, " nonstop_tsc");
        break;
    }
    if (f) fclose(f);
    return !steady;
}

/* ticks against the clock over a third of a millisecond, which the program's start waits for: good to some parts in ten
 * thousand, and better anchors come later */
static void calibrate(void)
{
#if defined __x86_64__
    struct job j = { .bytes = 0 };
    rec_ticks = job_counter(&j) == 0;
    if (!rec_ticks) return;
    struct log_anchor a = anchor(), b;
    do b = anchor();
    while (b.monotonic_ns - a.monotonic_ns < 330000);
    ns_per_tick = (double)(b.monotonic_ns - a.monotonic_ns) / (double)(b.ticks - a.ticks);
#endif
}

/* ---- names */

static void names_path(char *path, size_t size)
{
    snprintf(path, size, "%s/names.%d.%u.csv", dir, (int)getpid(), image);
}

/* bring the file up to what is known; the lock is held */
static void flush_names(void)
{
    while (names.open && names.written < names.n) {
        if (names.written < names.at + names.bytes) {
            size_t room = names.at + names.bytes - names.written, left = names.n - names.written;
            size_t n = left < room ? left : room;
            memcpy(names.map + (names.written - names.at), names.all + names.written, n);
            names.written += n;
            continue;
        }
        struct job j = { .file = names.file, .at = (off_t)(names.at + names.bytes), .create = names.bytes == 0 };
        j.bytes = names.bytes == 0 ? NAMES_STEP : names.bytes < NAMES_MOST ? names.bytes * 2 : NAMES_MOST;
        int r;
        for (;;) {                                       /* a program before this one had the same number */
            names_path(j.path, sizeof j.path);
            r = rec_apart(job_map, &j);
            if (r != EXISTS || !j.create || image > 100000) break;
            image++;
        }
        if (r != 0 && j.bytes > 4096) {
            j.bytes = 4096;
            r = rec_apart(job_map, &j);
        }
        if (r != 0) return;                              /* disk full: ids without a name; the next one tries again */
        if (names.map) munmap(names.map, names.bytes);
        names.map = j.map;
        names.at = (size_t)j.at;
        names.bytes = j.bytes;
        names.file = j.file;
    }
}

static bool add_name(const char *line, size_t n)
{
    if (names.n + n > names.cap) {
        if (rec_locked) return false;
        size_t cap = names.cap ? names.cap * 2 : 1 << 18;
        void *p = names.all ? mremap(names.all, names.cap, cap, MREMAP_MAYMOVE)
                            : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return false;
        names.all = p;
        names.cap = cap;
    }
    memcpy(names.all + names.n, line, n);
    names.n += n;
    return true;
}

static void open_names(void)
{
    static const char header[] = "id,kind,cat,module,name\n";
    pthread_mutex_lock(&names_lock);
    if (!names.n) add_name(header, sizeof header - 1);
    names.open = true;
    flush_names();
    pthread_mutex_unlock(&names_lock);
}

static void trim_names(void)
{
    struct job j = { .file = names.file, .at = (off_t)names.written };
    if (!names.map) return;
    munmap(names.map, names.bytes);
    names.map = NULL;
    names_path(j.path, sizeof j.path);
    if (!forked || names.at + names.bytes - names.written > LITTLE) rec_apart(job_trim, &j);
    names.at = names.bytes = names.written;              /* a later name maps from a page's border: none, at the end */
    names.open = false;
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
    if (add_name(line, n)) flush_names();
    pthread_mutex_unlock(&names_lock);
    return id;
}

/* ---- a thread's files */

static struct log_record *ring(int half)
{
    return (struct log_record *)((char *)my.head + LOG_HEAD) + (size_t)half * my.head->half;
}

static void path_of(char *path, size_t size, const char *suffix)
{
    snprintf(path, size, "%s/ev.%u.%u.%u.%s", dir, my.head->pid, my.head->image, my.head->thread, suffix);
}

/* where the reader looks for what is not in the log */
static int half_of_ring(void)
{
    const struct log_head *h = my.head;
    return (int)((kept ? h->halves : h->totals.records / h->half) & 1);
}

static bool past_limit(void)
{
    if (!low && (!limit || __atomic_load_n(&given, __ATOMIC_RELAXED) < limit)) return false;
    if (!ended && (low || told)) ended = rec_now();
    return true;
}

/* A disk that we fill harms more than the program. */
static void look_at_disk(void)
{
    const uint64_t enough = UINT64_C(1) << 30;
    struct statvfs s;
    if (low || statvfs(dir, &s) != 0) return;
    low = s.f_bavail < s.f_blocks / 20 && s.f_bavail * s.f_frsize < enough;
}

static void new_half(int half)
{
    uint64_t n = my.head->half;
    my.half = half;
    if (limit) {
        uint64_t used = __atomic_fetch_add(&given, n, __ATOMIC_RELAXED);
        n = used >= limit ? 0 : limit - used < n ? limit - used : n;
    }
    rec_thread.p = ring(half);
    rec_thread.end = rec_thread.p + n;
}

/* what is told before the record that waits has its time: none is older than the one before it */
static uint64_t due_time(void)
{
    return my.due ? my.due : rec_now();
}

/* ---- Files of threads that have ended and have room: the next thread goes on in them. */

enum { IDLE = 64, IDLE_ROOM = 256 };
static struct idle { struct files of; struct rec_thread at; } idle[IDLE];
static int nidle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

static bool leave_files(void)
{
    if (!my.head || my.busy || my.stuck || rec_locked || kept || limit || my.lost) return false;
    if (!rec_on || rec_thread.end - rec_thread.p < IDLE_ROOM) return false;
    my.head->last = anchor();
    pthread_mutex_lock(&idle_lock);
    bool room = nidle < IDLE;
    if (room) idle[nidle++] = (struct idle){ my, rec_thread };
    pthread_mutex_unlock(&idle_lock);
    if (!room) return false;
    my = (struct files){ 0 };
    rec_thread.p = rec_thread.end = NULL;
    return true;
}

/* records are in the order of their times: who has left them since this thread began is not asked */
static bool take_files(unsigned tid)
{
    uint64_t t = due_time();
    bool any = false;
    pthread_mutex_lock(&idle_lock);
    for (int i = nidle; i-- > 0 && !any;) {
        if (idle[i].at.last > t) continue;
        any = true;
        my = idle[i].of;
        rec_thread.p = idle[i].at.p;
        rec_thread.end = idle[i].at.end;
        idle[i] = idle[--nidle];
    }
    pthread_mutex_unlock(&idle_lock);
    if (!any) return false;
    struct log_head *h = my.head;
    struct log_anchor a = anchor();
    h->first.cpu_ns = a.cpu_ns - (h->last.cpu_ns - h->first.cpu_ns);   /* of all its threads together */
    h->last = a;
    rec_thread.last = t;                                 /* its CPU clock is read after that, before its first record */
    rec_put_at(LOG_THREAD, tid, HOOK_NONE, t);
    rec_thread.last = 0;
    pthread_setspecific(at_thread_end, (void *)1);
    return true;
}

static bool open_files(void)
{
    unsigned tid = (unsigned)syscall(SYS_gettid);
    if (nidle && !my.early && take_files(tid)) return true;
    struct job_pair *jobs = my.jobs;
    if (!jobs) jobs = mmap(NULL, sizeof *jobs, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (jobs == MAP_FAILED) return false;
    my.jobs = jobs;
    my.busy = true;
    unsigned number = __atomic_add_fetch(&next_thread, 1, __ATOMIC_RELAXED);
    int pid = (int)getpid();
    if (!names.open) open_names();                       /* settles the image */
    struct job *tail = &jobs->tail;
    uint32_t half = forked && !kept && !limit ? LOG_HALF_SMALL : LOG_HALF;
    *tail = (struct job){ .create = true, .bytes = MAP_BYTES(half) };
    int n = snprintf(tail->path, sizeof tail->path, "%s/ev.%d.%u.%u.tail", dir, pid, image, number);
    if (n < 0 || (size_t)n >= sizeof tail->path || rec_apart(job_map, tail) != 0) return false;
    struct log_head *h = tail->map;
    memcpy(h->magic, LOG_MAGIC, sizeof h->magic);
    h->version = LOG_VERSION;
    h->half = half;
    h->pid = (uint32_t)pid;
    h->tid = tid;
    h->parent = (uint32_t)getppid();
    h->image = image;
    h->thread = number;
    h->ticks = rec_ticks;
    h->kept = kept;
    h->ns_per_tick = ns_per_tick;
    h->pair_ns = rec_pair_ns;
    h->first = h->last = anchor();
    if (!facts_known) {
        copy_text(facts.process, sizeof facts.process, "/proc/self/comm");
        copy_text(facts.command, sizeof facts.command, "/proc/self/cmdline");
        __atomic_store_n(&facts_known, true, __ATOMIC_RELEASE);
    }
    memcpy(h->process, facts.process, sizeof h->process);
    memcpy(h->command, facts.command, sizeof h->command);
    my.head = h;
    my.tail = tail->file;
    my.log = (struct ours){ 0, 0 };                      /* the log comes with the first half, or at the end */
    new_half(0);
    pthread_setspecific(at_thread_end, (void *)1);
    return true;
}

static void forget_files(void)
{
    if (my.head && !rec_locked) munmap(my.head, MAP_BYTES(my.head->half));
    if (my.jobs && !rec_locked) munmap(my.jobs, sizeof *my.jobs);
    my = (struct files){ 0 };
    rec_thread.p = rec_thread.end = NULL;
    rec_thread.cpu = rec_thread.waited = 0;
}

static void lose(uint64_t n)
{
    my.lost += n;
    if (my.head) my.head->dropped += n;
    __atomic_add_fetch(&all_dropped, n, __ATOMIC_RELAXED);
}

static void put_loss(void)
{
    uint32_t n = my.lost > UINT32_MAX ? UINT32_MAX : (uint32_t)my.lost;
    if (n) rec_put_at(LOG_DROPPED, n, HOOK_NONE, due_time());
}

/* where in the log the current half goes, and which file that is: one that is made with its head, or ours */
static void aim(struct job *j, size_t n)
{
    const struct log_head *h = my.head;
    uint64_t place = kept ? h->halves % kept * h->half : h->totals.records;
    *j = (struct job){ .file = my.log, .create = !my.log.ino, .data = ring(my.half),
                       .bytes = n * sizeof(struct log_record), .head = h, .kept = kept != 0,
                       .at = LOG_HEAD + (off_t)(place * sizeof(struct log_record)) };
    path_of(j->path, sizeof j->path, "log");
}

/* n records of the current half to the log */
static int append(size_t n)
{
    struct job *j = &my.jobs->log;
    aim(j, n);
    int why = rec_apart(job_write, j);
    if (why) return why;
    my.log = j->file;
    job_count(my.head, ring(my.half), n);
    return 0;
}

/* Writing out takes as long for a few records as for many, most of all where there are threads.  All records are in the
 * log: a larger ring can have what follows. */
static void grow_ring(void)
{
    my.grown = true;
    if (kept || limit) return;
    struct job *j = &my.jobs->tail;
    *j = (struct job){ .file = my.tail, .before = MAP_BYTES(my.head->half), .bytes = MAP_BYTES(LOG_HALF_LARGE) };
    path_of(j->path, sizeof j->path, "tail");
    if (rec_apart(job_map, j) != 0) return;
    struct log_head *old = my.head, *h = j->map;
    size_t was = MAP_BYTES(old->half);
    my.head = h;
    h->half = LOG_HALF_LARGE;
    munmap(old, was);
}

enum { PREEMPTED_NS = 5000 };                            /* off the CPU for less nobody asks why */

void rec_put_number(enum log_event event, uint64_t n, unsigned flag, uint64_t t)
{
    unsigned shift = 0;
    while (n >> shift > UINT32_MAX) shift++;
    rec_put_at(event, (uint32_t)(n >> shift), (enum log_hook)(shift | flag), t);   /* aux is a number here */
}

static void tell_clock(uint64_t t)
{
    rec_thread.last = t;
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), before = rec_thread.cpu, clocked = rec_thread.clocked;
    if (before && clocked < start_at && start_at < t) {  /* as large a part of it as of the time is from before */
        before += (uint64_t)((double)(cpu - before) * (double)(start_at - clocked) / (double)(t - clocked));
        rec_thread.clocked = start_at;
    }
    double wall = (double)(t - rec_thread.clocked) * ns_per_tick;
    unsigned ran = 0;
    struct rusage u;
    if (before && wall - (double)(cpu - before) > PREEMPTED_NS && getrusage(RUSAGE_THREAD, &u) == 0) {
        ran = u.ru_nvcsw == rec_thread.slept ? LOG_CPU_RAN : 0;
        rec_thread.slept = u.ru_nvcsw;
    }
    rec_thread.clocked = t;
    rec_thread.cpu = cpu;
    if (rec_thread.waited) rec_put_number(LOG_GIL, (uint64_t)((double)rec_thread.waited * ns_per_tick), 0, t);
    rec_thread.waited = 0;
    if (before) rec_put_number(LOG_CPU, cpu - before, ran, t);
    else rec_put_at(LOG_CPU, 0, (enum log_hook)LOG_CPU_FIRST, t);
}

uint64_t rec_clock(uint64_t t, bool begins)
{
    rec_thread.last = t;
    if (rec_locked || my.busy || (!rec_on && !my.head)) return t;
    tell_clock(t);
    uint64_t now = begins ? rec_now() : t;
    if (now - t > rec_gap) tell_clock(now);
    return now - t > rec_gap ? rec_now() : now;
}

void rec_own(uint64_t ns)
{
    if (my.head) my.head->own_ns += ns;
}

static bool give_up(uint64_t n)
{
    if (my.head) my.head->dropped += n;
    return false;
}

/* The first record after --delay: what was going on when that was over goes on since then. */
static void tell_delayed(void)
{
    bool since = early && my.early;
    uint64_t last = rec_thread.last, t = since ? start_at : due_time();
    if (early && !on_told) rec_put_at(LOG_ON, 0, HOOK_NONE, start_at);
    on_told = true;
    if (rec_thread.in_base) rec_put_at(LOG_PYTHON, 0, HOOK_NONE, t);
    if (since && my.open.id && (my.open.event == LOG_CALL || my.open.event == LOG_PYTHON))
        rec_put_at(my.open.event, my.open.id, (enum log_hook)my.open.aux, t);
    if (since) rec_put_at(LOG_CPU, 0, (enum log_hook)LOG_CPU_FIRST, t);
    rec_thread.last = last;
}

bool rec_more(void)
{
    if (!rec_on || my.busy) return false;
    if (past_limit()) return ended ? give_up(1) : false;
    if (rec_locked || my.stuck) return give_up(1);
    if (start_at && rec_now() < start_at) {
        early = my.early = true;
        return false;
    }
    int keep = errno;
    bool fresh = !my.head;
    my.from = my.to = 0;
    if (fresh) {
        /* a child as of vfork, in our memory: the files that it made would have the names of what it becomes */
        if (getpid() != self) return false;
        if (my.lost < my.retry || !open_files()) {
            if (my.lost >= my.retry) my.retry = my.lost * 2 + 1;
            my.busy = false;
            lose(1);
            errno = keep;
            return false;
        }
        if (start_at) tell_delayed();
        put_loss();
    } else {
        my.busy = true;
        uint64_t from = rec_now(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        size_t n = (size_t)(rec_thread.p - ring(my.half));
        if (n > my.head->half) n = my.head->half;
        int r = append(n);
        look_at_disk();
        if (r == 0) {
            my.lost = 0;
            if (!my.grown) grow_ring();
            new_half(half_of_ring());
        } else if (r == GONE) {
            my.stuck = true;
            my.head->dropped++;
        } else {
            lose(n);
            new_half(my.half);
        }
        my.head->last = anchor();
        my.head->own_ns += my.head->last.cpu_ns - cpu;
        if (rec_thread.p < rec_thread.end) put_loss();
        my.from = from;
        my.to = rec_now();
    }
    my.busy = false;
    errno = keep;
    return rec_thread.p < rec_thread.end;
}

void rec_put_full(enum log_event event, uint32_t id, enum log_hook hook, uint64_t t)
{
    my.due = t;
    bool room = rec_more();
    my.due = 0;
    if (!room) {
        if (event <= LOG_PYTHON_END) my.open = (struct log_record){ .id = id, .event = (uint16_t)event, .aux = hook };
        return;
    }
    uint64_t from = my.from, to = my.to;
    rec_put_at(event, id, hook, t);
    if (!from || rec_thread.end - rec_thread.p < 2) return;
    rec_put_at(LOG_CALL, writing, HOOK_PATCH, from);
    rec_put_at(LOG_RETURN, writing, HOOK_PATCH, to);
}

static void close_files(void)
{
    struct log_head *h = my.head;
    if (!h || my.busy || my.stuck || rec_locked) return;
    my.busy = true;
    int keep = errno;
    h->last = anchor();
    h->pair_ns = rec_pair_ns;
    size_t n = (size_t)(rec_thread.p - ring(my.half));
    struct job_pair *js = my.jobs;
    aim(&js->log, n);
    js->tail = (struct job){ .file = my.tail, .bytes = MAP_BYTES(h->half) };
    path_of(js->tail.path, sizeof js->tail.path, "tail");
    js->count = h;
    rec_apart(job_finish, js);                           /* where that fails the ring is what is left */
    forget_files();
    errno = keep;
}

static void thread_ends(void *unused)
{
    (void)unused;
    /* when recording has ended meanwhile, the thread did so with its last record: nothing lies behind the end */
    if (my.head && rec_thread.in_base) rec_put_at(LOG_PYTHON_END, 0, HOOK_NONE, rec_on ? rec_now() : rec_thread.last);
    rec_thread.in_base = false;
    if (!leave_files()) close_files();
}

static void close_idle(void)
{
    struct files own = my;
    struct rec_thread at = rec_thread;
    pthread_mutex_lock(&idle_lock);
    while (nidle) {
        my = idle[--nidle].of;
        rec_thread = idle[nidle].at;
        close_files();
    }
    pthread_mutex_unlock(&idle_lock);
    my = own;
    rec_thread = at;
}

/* ---- begin and end */

static void child_after_fork(void)
{
    pthread_mutex_init(&idle_lock, NULL);
    while (nidle) {                                      /* the parent's */
        const struct files *f = &idle[--nidle].of;
        if (rec_locked) continue;
        munmap(f->head, MAP_BYTES(f->head->half));
        munmap(f->jobs, sizeof *f->jobs);
    }
    forget_files();
    self = getpid();
    all_dropped = given = 0;
    early = early && rec_now() < start_at;               /* else it begins now */
    forked = true;
    next_thread = image = 0;
    rec_thread.in_base = false;
    pthread_mutex_init(&names_lock, NULL);
    if (names.map && !rec_locked) munmap(names.map, names.bytes);
    names.map = NULL;
    names.at = names.bytes = names.written = 0;
    names.open = false;                                  /* its own file comes with its first record */
}

static void say_loss(void)
{
    if (rec_locked || (!rec_dropped() && !ended)) return;
    char line[4096];
    snprintf(line, sizeof line, "millrace recorder: %llu records lost, could not be written to %s\n",
             (unsigned long long)rec_dropped(), dir);
    if (ended && !rec_dropped() && !low && calm) return;  /* as was asked for, with --quiet */
    if (ended && !rec_dropped())
        snprintf(line, sizeof line, "millrace recorder: %.1f s were recorded to %s, not what came then: %s\n",
                 (double)(ended - began) * ns_per_tick / 1e9, dir,
                 low ? "less than 5 % of the disk is free" : "--limit");
    say(line);
}

static void at_end(void)
{
    rec_on = false;
    if (rec_locked) return;
    close_files();
    close_idle();
    pthread_mutex_lock(&names_lock);
    trim_names();
    pthread_mutex_unlock(&names_lock);
    say_loss();
    if (!next_thread) say_nothing(dir, start_at > rec_now());
}

void rec_lock(void)
{
    if (rec_before_lock) rec_before_lock();
    if (my.head && !my.busy && rec_thread.p) {
        my.busy = true;
        size_t n = (size_t)(rec_thread.p - ring(my.half));
        if (n <= my.head->half && append(n) == 0) {
            if (!my.grown) grow_ring();
            new_half(half_of_ring());
        }
        my.head->last = anchor();
        my.busy = false;
    }
    rec_locked = true;
}

void rec_unlock(void)
{
    rec_locked = false;
}

void rec_finish(void)
{
    at_end();
}

static void init(void)
{
    say_begin();
    self = getpid();
    pthread_key_create(&at_thread_end, thread_ends);
    pthread_atfork(NULL, NULL, child_after_fork);
    atexit(at_end);
}

static double setting(const char *name)
{
    const char *s = getenv(name);
    return s ? strtod(s, NULL) : 0;
}

bool rec_start(const char *path)
{
    pthread_once(&once, init);
    if (strlen(path) >= sizeof dir) return false;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        fprintf(stderr, "millrace recorder: cannot make %s: %s\n", path, strerror(errno));
        return false;
    }
    if (!dir[0]) {
        calibrate();
        rec_gap = (uint64_t)(20000 / ns_per_tick);
        double delay = setting("MILLRACE_PROF_DELAY"), most = setting("MILLRACE_PROF_MAX_EVENTS"),
               ring = setting("MILLRACE_PROF_RING"), bytes = setting("MILLRACE_PROF_LIMIT");
        if (delay > 0) start_at = rec_now() + (uint64_t)(delay * 1e9 / ns_per_tick);
        if (most >= 1) limit = (uint64_t)most;
        told = bytes >= 1 && (most < 1 || bytes / sizeof(struct log_record) < most);
        if (told) limit = (uint64_t)(bytes / sizeof(struct log_record)) + 1;
        calm = setting("MILLRACE_PROF_QUIET") >= 1;
        began = rec_now();
        if (ring >= 1) kept = (uint32_t)((ring + LOG_HALF - 1) / LOG_HALF) + 1;
    }
    if (strcmp(dir, path) != 0) {
        char *real = realpath(path, NULL);               /* the program may change its directory */
        if (!real || strlen(real) >= sizeof dir) {
            free(real);
            return false;
        }
        if (strcmp(dir, real) != 0) {
            close_files();
            close_idle();
            pthread_mutex_lock(&names_lock);
            trim_names();
            names.at = names.bytes = names.written = 0;
            image = 0;
            snprintf(dir, sizeof dir, "%s", real);
            pthread_mutex_unlock(&names_lock);
            open_names();
        }
        free(real);
    }
    if (!writing) writing = rec_name("c", "Profiler", "millrace", "writing records out");
    my.retry = 0;
    rec_on = true;
    return true;
}

void rec_stop(void)
{
    rec_on = early = false;
}

const char *rec_dir(void)
{
    return dir[0] ? dir : NULL;
}

double rec_tick_ns(void)
{
    return rec_ticks ? ns_per_tick : 1;
}

uint64_t rec_dropped(void)
{
    return __atomic_load_n(&all_dropped, __ATOMIC_RELAXED);
}

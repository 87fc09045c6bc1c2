#include "tensor/tier.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include "measure/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { WORKERS = 4, PIECE = 1 << 20, UNIT = 4096, PACE = 256 << 10, HUGE_PAGE = 2 << 20 };

struct request { struct transfer *group; char *p; uint64_t offset; size_t bytes; bool write; };

enum method { MEMORY, DIRECT, BUFFERED, PACED, NODE, DAX };

struct tier {
    enum method method;
    char *spec;
    uint64_t bytes;
    size_t unit;                                         /* of transfers */
    int fd;
    char *memory;                                        /* dram, numa, dax, emu */
    double rate[2], latency;                             /* emu: bytes per second of reads and writes; seconds */
    double free_at;                                      /* emu: when the last request will be done */
    uint64_t moved[2];
    struct request *queue;                               /* a ring of cap requests */
    size_t head, n, cap;
    bool over;
    int nworker, asleep;                                 /* asleep: workers that nobody has woken yet */
    pthread_t worker[WORKERS];
    pthread_mutex_t lock;
    pthread_cond_t work, done;
};

void *pages(size_t bytes)
{
    size_t n = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) die("out of memory: %zu bytes asked for", bytes);
    size_t skip = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (skip) munmap(p, skip);
    if (skip < HUGE_PAGE) munmap(p + n - HUGE_PAGE + skip, HUGE_PAGE - skip);
    madvise(p + skip, n - HUGE_PAGE, MADV_HUGEPAGE);
    return p + skip;
}

void pages_free(void *p, size_t bytes)
{
    if (p) munmap(p, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
}

/* no libnuma: the four calls that are needed */
enum { NODES = 1024, WORD_BITS = 8 * sizeof(unsigned long) };
typedef unsigned long node_set[NODES / WORD_BITS];

/* nodes that have memory; how many */
static int nodes_with_memory(node_set set)
{
    int n = 0;
    if (syscall(SYS_get_mempolicy, NULL, set, (unsigned long)NODES, NULL, (unsigned long)MPOL_F_MEMS_ALLOWED))
        return 0;
    for (size_t i = 0; i < NODES / WORD_BITS; i++) n += __builtin_popcountl(set[i]);
    return n;
}

void *pages_on_node(int node, size_t bytes)
{
    node_set set = { 0 };
    char *p = pages(bytes);
    set[(size_t)node / WORD_BITS] = 1ul << (size_t)node % WORD_BITS;
    if (syscall(SYS_mbind, p, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, (unsigned long)MPOL_BIND, set,
                (unsigned long)NODES, 0ul))
        die_errno("numa:%d: the system does not bind memory to that node", node);
    memset(p, 1, bytes);
    for (size_t at = 0; at < bytes; at += UNIT) {
        int on = -1;
        long err = syscall(SYS_get_mempolicy, &on, NULL, 0ul, p + at, (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR));
        if (err || on != node) die("numa:%d: a page lies on node %d", node, on);
    }
    return p;
}

/* "numa:N" to N; -1 when spec is of another sort */
static int node_of(const char *spec)
{
    int64_t n;
    if (strncmp(spec, "numa:", 5)) return -1;
    if (!int_parse(spec + 5, strlen(spec + 5), &n) || n < 0 || n >= NODES)
        usage("tier '%s': want numa:N, N a node's number", spec);
    return (int)n;
}

static void check_node(const char *spec, int node)
{
    node_set set = { 0 };
    int n = nodes_with_memory(set);
    if (!(set[(size_t)node / WORD_BITS] >> (size_t)node % WORD_BITS & 1))
        die("tier %s: node %d has no memory here (%d node%s)", spec, node, n, n == 1 ? " has" : "s have");
    if (n == 1) die("tier %s: the only node with memory is the fast memory, no slow tier", spec);
}

/* "dax:DIR" to DIR, or NULL */
static const char *dax_of(const char *spec) { return strncmp(spec, "dax:", 4) ? NULL : spec + 4; }

/* MAP_SYNC is granted only where stores reach the medium itself */
static void *pages_of_dax(const char *spec, const char *dir, size_t bytes)
{
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    int fd = out_nameless(dir, 0);
    if (fd < 0) die_errno("tier %s: cannot make a file in %s", spec, dir);
    int err = posix_fallocate(fd, 0, (off_t)bytes);
    if (err) die("tier %s: %zu bytes are needed in %s: %s", spec, bytes, dir, strerror(err));
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
    if (p == MAP_FAILED && (errno == EOPNOTSUPP || errno == EINVAL))
        die("tier %s: %s is not in persistent memory (its file system does not grant MAP_SYNC)", spec, dir);
    if (p == MAP_FAILED) die_errno("tier %s: %zu bytes", spec, bytes);
    close(fd);
    return p;
}

/* "file:DIR,buffered" to DIR; NULL when spec is of another sort */
static char *directory_of(const char *spec, bool *buffered)
{
    if (strncmp(spec, "file:", 5)) return NULL;
    char *dir = xstrdup(spec + 5), *comma = strrchr(dir, ',');
    *buffered = comma && !strcmp(comma, ",buffered");
    if (*buffered) *comma = 0;
    if (!*dir) usage("tier '%s' names no directory", spec);
    return dir;
}

/* the rest of "file:DIR" begins another tier: DIR,numa:1 */
static const char *second_tier(const char *dir)
{
    static const char *const sort[] = { "dram", "file:", "numa:", "dax:", "emu:" };
    for (const char *comma = strchr(dir, ','); comma; comma = strchr(comma + 1, ','))
        for (size_t i = 0; i < sizeof sort / sizeof *sort; i++)
            if (!strncmp(comma + 1, sort[i], strlen(sort[i]))) return comma + 1;
    return NULL;
}

static void check_directory(const char *spec, const char *dir, uint64_t bytes)
{
    struct stat st;
    struct statfs fs;
    struct statvfs room;
    bool none = stat(dir, &st) != 0;
    if (none && second_tier(dir))
        usage("tier '%s': '%s' is a tier of its own, plans know fast memory and one slow tier, not two", spec,
              second_tier(dir));
    if (none) die_errno("tier %s: %s", spec, dir);
    if (!S_ISDIR(st.st_mode)) die("tier %s: %s is not a directory", spec, dir);
    if (statfs(dir, &fs) || statvfs(dir, &room)) die_errno("tier %s: %s", spec, dir);
    if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
        die("tier %s: %s lies in memory (tmpfs), which is no slow tier; name a directory on a disk", spec, dir);
    uint64_t have = (uint64_t)room.f_bavail * room.f_frsize;
    if (have < bytes)
        die("tier %s: %llu bytes of disk are needed, %llu are free in %s", spec, (unsigned long long)bytes,
            (unsigned long long)have, dir);
}

static void rates_of(const char *spec, double rate[2], double *latency)
{
    char *text = xstrdup(spec + 4), *p = text;
    uint64_t v[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        size_t n = strcspn(p, ",");
        if (!size_parse(p, n, &v[i]) || !v[i])
            usage("tier '%s': want emu:READ,WRITE[,LATENCY] with bytes per second, as emu:16G,5.5G", spec);
        p += n + (p[n] == ',');
        rate[i] = (double)v[i];
    }
    if (*p && (!num_parse(p, strlen(p), latency) || !(*latency >= 0 && *latency < 10)))
        usage("tier '%s': latency '%s' is not a number of seconds", spec, p);
    free(text);
}

const char *tier_given(const struct list *l)
{
    if (!l->n) usage("no tier given, see --tier");
    if (l->n > 1)
        usage("--tier: '%s' and '%s': plans know fast memory and one slow tier, not two", l->v[0], l->v[1]);
    return l->v[0];
}

void tier_check(const char *spec, uint64_t bytes)
{
    bool buffered;
    double rate[2], latency = 0;
    char *dir = directory_of(spec, &buffered);
    if (dir) check_directory(spec, dir, bytes);
    else if (!strncmp(spec, "emu:", 4)) rates_of(spec, rate, &latency);
    else if (node_of(spec) >= 0) check_node(spec, node_of(spec));
    else if (dax_of(spec)) check_directory(spec, dax_of(spec), bytes);
    else if (strcmp(spec, "dram"))
        usage("unknown tier '%s': want dram, file:DIR, numa:N, dax:DIR or emu:READ,WRITE", spec);
    free(dir);
}

void *pages_paged(const char *directory, size_t bytes)
{
    size_t n = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *spec = xformat("paged:%s", directory);
    check_directory(spec, directory, n);
    int fd = out_nameless(directory, 0);
    if (fd < 0) die_errno("%s: cannot make a file", spec);
    int err = posix_fallocate(fd, 0, (off_t)n);
    if (err) die("%s: %zu bytes are needed: %s", spec, n, strerror(err));
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) die_errno("%s: %zu bytes", spec, n);
    close(fd);
    free(spec);
    return p;
}

static void io(struct tier *t, const struct request *r)
{
    for (size_t done = 0; done < r->bytes;) {
        ssize_t n = r->write ? pwrite(t->fd, r->p + done, r->bytes - done, (off_t)(r->offset + done))
                             : pread(t->fd, r->p + done, r->bytes - done, (off_t)(r->offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            die_errno("tier %s: %s of %zu bytes at %llu", t->spec, r->write ? "write" : "read", r->bytes,
                      (unsigned long long)r->offset);
        if (!n) die("tier %s: file ends at %llu", t->spec, (unsigned long long)(r->offset + done));
        done += (size_t)n;
    }
    if (t->method != BUFFERED) return;
    if (r->write)
        sync_file_range(t->fd, (off_t)r->offset, (off_t)r->bytes,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(t->fd, (off_t)r->offset, (off_t)r->bytes, POSIX_FADV_DONTNEED);
}

static void copy(struct tier *t, const struct request *r)
{
    if (r->write) memcpy(t->memory + r->offset, r->p, r->bytes);
    else memcpy(r->p, t->memory + r->offset, r->bytes);
}

/* the device does one thing at a time: a request is done when those before it are and its own time has passed */
static void paced(struct tier *t, const struct request *r)
{
    pthread_mutex_lock(&t->lock);
    double now = now_seconds();
    if (t->free_at < now) t->free_at = now;
    t->free_at += t->latency + (double)r->bytes / t->rate[r->write];
    double due = t->free_at;
    pthread_mutex_unlock(&t->lock);
    copy(t, r);
    for (double left; (left = due - now_seconds()) > 0;) {
        if (left > 200e-6) usleep((useconds_t)((left - 100e-6) * 1e6));
    }
}

static void serve(struct tier *t, const struct request *r)
{
    if (t->method == PACED) paced(t, r);
    else if (t->memory) copy(t, r);
    else io(t, r);
}

static void wake_one(struct tier *t)
{
    if (!t->asleep) return;
    t->asleep--;
    pthread_cond_signal(&t->work);
}

/* takes a request off the queue, lock held on entry and return */
static void serve_next(struct tier *t)
{
    struct request r = t->queue[t->head];
    t->head = (t->head + 1) % t->cap;
    t->n--;
    if (t->n) wake_one(t);                               /* so that who starts requests need not wake more than one */
    pthread_mutex_unlock(&t->lock);
    serve(t, &r);
    pthread_mutex_lock(&t->lock);
    t->moved[r.write] += r.bytes;
    if (--r.group->left == 0) pthread_cond_broadcast(&t->done);
}

static void *work(void *arg)
{
    struct tier *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!t->over) {
        if (t->n) {
            serve_next(t);
            continue;
        }
        t->asleep++;
        pthread_cond_wait(&t->work, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void tier_start(struct tier *t, struct transfer *group, bool write, void *p, uint64_t offset, size_t bytes)
{
    size_t unit = tier_align(t), piece = t->method == PACED ? PACE : PIECE;
    if (offset % unit || bytes % unit || (uintptr_t)p % unit || offset + bytes > t->bytes)
        die("internal: transfer of %zu bytes at %llu is out of line", bytes, (unsigned long long)offset);
    pthread_mutex_lock(&t->lock);
    for (size_t done = 0; done < bytes; done += piece) {
        if (t->n == t->cap) {                            /* unroll the ring into one twice as long */
            struct request *to = xmalloc(2 * t->cap, sizeof *to);
            for (size_t i = 0; i < t->n; i++) to[i] = t->queue[(t->head + i) % t->cap];
            free(t->queue);
            t->queue = to;
            t->head = 0;
            t->cap *= 2;
        }
        size_t n = bytes - done < piece ? bytes - done : piece;
        t->queue[(t->head + t->n++) % t->cap] = (struct request){ group, (char *)p + done, offset + done, n, write };
        group->left++;
        if (t->n == 1) wake_one(t);
    }
    pthread_mutex_unlock(&t->lock);
}

void tier_finish(struct tier *t, struct transfer *group)
{
    pthread_mutex_lock(&t->lock);
    while (group->left) {
        if (t->n) serve_next(t);
        else pthread_cond_wait(&t->done, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

void tier_copy(struct tier *t, bool write, void *p, uint64_t offset, size_t bytes)
{
    struct request r = { NULL, p, offset, bytes, write };
    serve(t, &r);
    pthread_mutex_lock(&t->lock);
    t->moved[write] += bytes;
    pthread_mutex_unlock(&t->lock);
}

static size_t direct_unit(int fd)
{
#ifdef STATX_DIOALIGN
    struct statx sx;
    if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) && (sx.stx_mask & STATX_DIOALIGN) && sx.stx_dio_offset_align)
        return sx.stx_dio_offset_align > sx.stx_dio_mem_align ? sx.stx_dio_offset_align : sx.stx_dio_mem_align;
#endif
    (void)fd;
    return UNIT;
}

/* The first write to a block is slower than all others, and a read of one never written touches no disk; kernels that
 * are timed want numbers of a usual size. */
static void fill(struct tier *t)
{
    size_t n = 16 << 20;
    float *p = pages(n);
    for (size_t i = 0; i < n / sizeof *p; i++) p[i] = (float)((int)(i * 2654435761u >> 8 & 1023) - 512) * 0x1p-11f;
    struct transfer all = { 0 };
    for (uint64_t at = 0; at < t->bytes; at += n) {
        size_t part = t->bytes - at < n ? (size_t)(t->bytes - at) : n;
        if (t->memory) memcpy(t->memory + at, p, part);
        else tier_start(t, &all, true, p, at, part);
    }
    tier_finish(t, &all);
    pages_free(p, n);
    t->moved[0] = t->moved[1] = 0;
}

struct tier *tier_open(const char *spec, uint64_t bytes)
{
    struct tier *t = xcalloc(1, sizeof *t);
    bool buffered = false;
    char *dir = directory_of(spec, &buffered);
    tier_check(spec, bytes);
    t->spec = xstrdup(spec);
    t->bytes = (bytes + UNIT - 1) / UNIT * UNIT;
    t->cap = 1024;
    t->queue = xmalloc(t->cap, sizeof *t->queue);
    t->nworker = WORKERS;
    t->fd = -1;
    if (dir) {
        t->method = buffered ? BUFFERED : DIRECT;
        if (!buffered) t->fd = out_nameless(dir, O_DIRECT);
        if (t->fd < 0 && (buffered || errno == EINVAL)) {
            t->method = BUFFERED;
            t->fd = out_nameless(dir, 0);
        }
        if (t->fd < 0) die_errno("tier %s: cannot make a file in %s", spec, dir);
        int err = t->bytes ? posix_fallocate(t->fd, 0, (off_t)t->bytes) : 0;
        if (err)
            die("tier %s: %llu bytes are needed in %s: %s", spec, (unsigned long long)t->bytes, dir, strerror(err));
    } else if (node_of(spec) >= 0) {
        t->method = NODE;
        t->nworker = 0;
        t->memory = pages_on_node(node_of(spec), t->bytes + UNIT);
    } else if (dax_of(spec)) {
        t->method = DAX;
        t->nworker = 0;
        t->memory = pages_of_dax(spec, dax_of(spec), t->bytes + UNIT);
    } else {
        t->method = strcmp(spec, "dram") ? PACED : MEMORY;
        if (t->method == PACED) rates_of(spec, t->rate, &t->latency);
        t->nworker = t->method == PACED ? 1 : 0;         /* a plain copy is best made by who waits for it */
        t->memory = pages(t->bytes);
    }
    free(dir);
    t->unit = t->method == DIRECT ? direct_unit(t->fd) : t->method == BUFFERED ? UNIT : 64;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    for (int i = 0; i < t->nworker; i++)
        if (pthread_create(&t->worker[i], NULL, work, t)) die("cannot start a thread");
    fill(t);
    return t;
}

void tier_close(struct tier *t)
{
    pthread_mutex_lock(&t->lock);
    t->over = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->nworker; i++) pthread_join(t->worker[i], NULL);
    if (t->fd >= 0) close(t->fd);
    pages_free(t->memory, t->bytes);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->done);
    free(t->queue);
    free(t->spec);
    free(t);
}

const char *tier_kind(const struct tier *t) { return t->method == PACED ? "emulated" : "real"; }
uint64_t tier_bytes(const struct tier *t) { return t->bytes; }
uint64_t tier_moved(const struct tier *t, bool write) { return t->moved[write]; }

const char *tier_method(const struct tier *t)
{
    static const char *const name[] = { "memory", "o_direct", "buffered", "paced", "node", "dax" };
    return name[t->method];
}

size_t tier_align(const struct tier *t)
{
    return t->unit;
}

/* median seconds of requests of n bytes, one after the other, over the whole tier */
static double median_request(struct tier *t, bool write, size_t n, double seconds, char *p)
{
    enum { MOST = 4096 };
    double took[MOST], start = now_seconds();
    size_t count = 0, places = t->bytes / n;
    for (; count < MOST && (count < 5 || now_seconds() - start < seconds); count++) {
        uint64_t at = (uint64_t)(count * 7919 % places) * n;
        double from = now_seconds();
        tier_copy(t, write, p, at, n);
        took[count] = now_seconds() - from;
    }
    qsort(took, count, sizeof *took, order_doubles);
    return took[count / 2];
}

struct calibration tier_calibrate(struct tier *t, double seconds)
{
    size_t big = t->bytes < 4 << 20 ? t->bytes / UNIT * UNIT : 4 << 20, small = UNIT;
    if (!big) die("tier %s: too small to calibrate", t->spec);
    char *p = pages(big);
    memset(p, 1, big);
    struct calibration c;
    c.read_bytes_per_second = (double)big / median_request(t, false, big, seconds / 4, p);
    c.write_bytes_per_second = (double)big / median_request(t, true, big, seconds / 4, p);
    c.read_latency_seconds = median_request(t, false, small, seconds / 4, p);
    c.write_latency_seconds = median_request(t, true, small, seconds / 4, p);
    pages_free(p, big);
    return c;
}

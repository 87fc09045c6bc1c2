#include "mover.h"
#include "heap.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 4096, CHUNK = 4 << 20 };
enum state { KEPT, WRITING, WRITTEN, AWAY, READING, BACK };

struct block {
    struct pass *pass;
    struct block *next;                                  /* in the queue of writes, or of written ones */
    int number;
    enum state state;
    bool dropped;                                        /* while it is read: the thread that reads frees it */
    char *at;
    uint64_t bytes, resident;
    int64_t offset;
};

struct pass {
    struct mover *mover;
    struct block **block;                                /* by number, those that were sent away and live */
    uint8_t *granted;                                    /* by group: 1 now, 2 was */
    int next;                                            /* of the order */
    int holders;                                         /* the caller and its blocks */
};

struct queue { struct block *first, **end; };

struct mover {
    int fd, norder, nblock, ngroup, error;
    uint64_t limit, cap, resident, most;
    int32_t *order;
    uint64_t *workspace;
    double stalled;
    struct queue out, done;
    struct pass *now;                                    /* whose backward pass it is */
    struct block *wanted, *writing;
    int holders, nthread;                                /* the caller and its passes */
    unsigned forks;
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t trainer, writer, reader;
    pthread_t thread[2];
};

/* A child process has no threads of its parent's, and a lock may be taken there for ever: it leaves movers alone. */
static unsigned forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void in_child(void) { forks++; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

static bool enter(struct mover *m)
{
    if (m->forks != forks) return false;
    pthread_mutex_lock(&m->lock);
    return true;
}

/* holder: one of the mover's, who goes; the last frees it */
static void leave(struct mover *m, bool holder)
{
    bool last = holder && --m->holders == 0;
    pthread_mutex_unlock(&m->lock);
    if (!last) return;
    if (m->fd >= 0) close(m->fd);
    free(m->order);
    free(m->workspace);
    free(m);
}

static void leave_pass(struct pass *p)
{
    struct mover *m = p->mover;
    bool last = --p->holders == 0;
    if (last) {
        free(p->block);
        free(p->granted);
        free(p);
    }
    leave(m, last);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t up(size_t n)
{
    return (n + UNIT - 1) / UNIT * UNIT;
}

/* ---- the file */

static int write_all(int fd, const char *from, size_t n, int64_t offset)
{
    while (n > 0) {
        ssize_t k = pwrite(fd, from, n < CHUNK ? n : CHUNK, offset);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? errno : EIO;
        from += k;
        n -= (size_t)k;
        offset += k;
    }
    return 0;
}

/* Memory that begins with a page goes out as it lies, the rest through a buffer: direct output demands it. */
int tier_write(int fd, int64_t offset, const char *from, size_t bytes)
{
    size_t done = (uintptr_t)from % UNIT ? 0 : bytes / UNIT * UNIT;
    int error = write_all(fd, from, done, offset);
    char *bounce = done < bytes && !error ? heap_take(bytes - done < CHUNK ? bytes - done : CHUNK) : NULL;
    if (done < bytes && !error && !bounce) error = ENOMEM;
    while (done < bytes && !error) {
        size_t part = bytes - done < CHUNK ? bytes - done : CHUNK;
        memcpy(bounce, from + done, part);
        error = write_all(fd, bounce, up(part), offset + (int64_t)done);
        done += part;
    }
    heap_give(bounce);
    return error;
}

char *tier_read(int fd, int64_t offset, size_t bytes, bool aside, int *error)
{
    char *to = aside ? heap_take_aside(bytes) : heap_take(bytes);
    *error = to ? 0 : ENOMEM;
    for (size_t done = 0, n = up(bytes); to && done < n;) {
        ssize_t k = pread(fd, to + done, n - done < CHUNK ? n - done : CHUNK, offset + (int64_t)done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) {
            *error = k < 0 ? errno : EIO;
            heap_give(to);
            return NULL;
        }
        done += (size_t)k;
    }
    return to;
}

/* ---- the account; the lock is held */

static void take(struct mover *m, uint64_t n)
{
    m->resident += n;
    if (m->resident > m->most) m->most = m->resident;
}

static void push(struct queue *q, struct block *b)
{
    b->next = NULL;
    *q->end = b;
    q->end = &b->next;
}

static struct block *pop(struct queue *q)
{
    struct block *b = q->first;
    if (b && !(q->first = b->next)) q->end = &q->first;
    return b;
}

static void cut(struct queue *q, const struct block *b)
{
    for (struct block **at = &q->first; *at; at = &(*at)->next)
        if (*at == b) {
            *at = b->next;
            if (!b->next) q->end = at;
            return;
        }
}

static void fail(struct mover *m, int error)
{
    m->error = error;
    pthread_cond_broadcast(&m->trainer);
}

/* ---- the threads */

/* Where the heap is not ours, holes of the C library's are given back. */
static void tidy(const struct mover *m)
{
    if (heap_preloaded()) return;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*d %ld", &pages) == 1 && (uint64_t)pages * UNIT > m->cap) malloc_trim(0);
    if (f) fclose(f);
}

static void *writes(void *argument)
{
    struct mover *m = argument;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        while (!m->stop && (!m->out.first || m->error)) pthread_cond_wait(&m->writer, &m->lock);
        if (m->stop) break;
        struct block *b = m->writing = m->out.first;
        pthread_mutex_unlock(&m->lock);
        int error = tier_write(m->fd, b->offset, b->at, b->bytes);
        tidy(m);
        pthread_mutex_lock(&m->lock);
        m->writing = NULL;
        if (error) {
            fail(m, error);
            continue;
        }
        pop(&m->out);
        b->state = WRITTEN;
        push(&m->done, b);
        pthread_cond_broadcast(&m->trainer);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static struct block *next_read(struct mover *m)
{
    struct pass *p = m->now;
    if (m->wanted && m->wanted->state == AWAY) return m->wanted;
    while (p && p->next < m->norder) {
        int32_t what = m->order[p->next];
        if (what < 0) {
            if (!p->granted[~what] && m->resident + m->workspace[~what] > m->limit) return NULL;
            if (!p->granted[~what]) take(m, m->workspace[~what]);
            if (!p->granted[~what]) p->granted[~what] = 1;
            p->next++;
            continue;
        }
        struct block *b = p->block[what];
        if (!b || b->state > AWAY) p->next++;
        else return b->state == AWAY && m->resident + b->bytes <= m->limit ? b : NULL;
    }
    return NULL;
}

static void *reads(void *argument)
{
    struct mover *m = argument;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        struct block *b = NULL;
        while (!m->stop && (m->error || !(b = next_read(m)))) pthread_cond_wait(&m->reader, &m->lock);
        if (m->stop) break;
        b->state = READING;
        b->resident = b->bytes;
        take(m, b->bytes);
        pthread_mutex_unlock(&m->lock);
        int error;
        tidy(m);
        char *at = tier_read(m->fd, b->offset, b->bytes, false, &error);
        pthread_mutex_lock(&m->lock);
        b->at = at;
        b->state = at ? BACK : AWAY;
        if (error) fail(m, error);
        if (b->dropped) {
            m->resident -= b->resident;
            heap_give(at);
            free(b);
        }
        pthread_cond_broadcast(&m->trainer);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

struct mover *mover_new(int fd, uint64_t limit, uint64_t cap, const int32_t *order, int norder,
                        const uint64_t *workspace, int ngroup, int nblock)
{
    struct mover *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    pthread_once(&once, watch_forks);
    *m = (struct mover){ .fd = dup(fd), .norder = norder, .nblock = nblock, .ngroup = ngroup, .limit = limit,
                         .cap = cap, .holders = 1, .forks = forks,
                         .order = calloc((size_t)norder + 1, sizeof *order),
                         .workspace = calloc((size_t)ngroup + 1, sizeof *workspace) };
    m->out.end = &m->out.first;
    m->done.end = &m->done.first;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->trainer, NULL);
    pthread_cond_init(&m->writer, NULL);
    pthread_cond_init(&m->reader, NULL);
    bool good = m->fd >= 0 && m->order && m->workspace;
    if (good) {
        memcpy(m->order, order, (size_t)norder * sizeof *order);
        memcpy(m->workspace, workspace, (size_t)ngroup * sizeof *workspace);
    }
    for (void *(*work[])(void *) = { writes, reads }; good && m->nthread < 2; m->nthread += good)
        good = !pthread_create(&m->thread[m->nthread], NULL, work[m->nthread], m);
    if (good) heap_cap(cap);
    else mover_stop(m);
    return good ? m : NULL;
}

void mover_halt(struct mover *m)
{
    if (!enter(m)) return;
    int n = m->stop ? 0 : m->nthread;
    m->stop = true;
    if (!m->error) fail(m, ECANCELED);
    pthread_cond_broadcast(&m->writer);
    pthread_cond_broadcast(&m->reader);
    pthread_mutex_unlock(&m->lock);
    for (int i = 0; i < n; i++) pthread_join(m->thread[i], NULL);
}

void mover_stop(struct mover *m)
{
    mover_halt(m);
    if (enter(m)) leave(m, true);
}

static uint64_t locked(struct mover *m, const uint64_t *value)
{
    if (!enter(m)) return *value;
    uint64_t v = *value;
    pthread_mutex_unlock(&m->lock);
    return v;
}

uint64_t mover_resident(struct mover *m) { return locked(m, &m->resident); }
uint64_t mover_most(struct mover *m) { return locked(m, &m->most); }
double mover_stalled(struct mover *m) { return m->stalled; }             /* written by the caller's thread only */

/* ---- for the thread that trains */

struct pass *pass_new(struct mover *m)
{
    struct pass *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (struct pass){ .mover = m, .holders = 1, .block = calloc((size_t)m->nblock + 1, sizeof *p->block),
                        .granted = calloc((size_t)m->ngroup + 1, 1) };
    if (!p->block || !p->granted || !enter(m)) {
        free(p->block);
        free(p->granted);
        free(p);
        return NULL;
    }
    m->holders++;
    pthread_mutex_unlock(&m->lock);
    return p;
}

void pass_free(struct pass *p)
{
    struct mover *m = p->mover;
    if (!enter(m)) return;
    if (m->now == p) m->now = NULL;
    for (int g = 0; g < m->ngroup; g++)                  /* granted, and never run */
        if (p->granted[g] == 1) m->resident -= m->workspace[g];
    leave_pass(p);
}

void pass_begin(struct pass *p)
{
    if (!enter(p->mover)) return;
    p->mover->now = p;
    pthread_cond_signal(&p->mover->reader);
    pthread_mutex_unlock(&p->mover->lock);
}

static void wait_for(struct mover *m)
{
    double start = seconds();
    pthread_cond_wait(&m->trainer, &m->lock);
    m->stalled += seconds() - start;
}

int mover_keep(struct pass *p, int number, char *at, uint64_t bytes, int64_t offset, struct block **out)
{
    struct mover *m = p->mover;
    struct block *b = calloc(1, sizeof *b);
    if (!b) return ENOMEM;
    if (!enter(m)) {
        free(b);
        return ECANCELED;
    }
    *b = (struct block){ .pass = p, .number = number, .at = at, .bytes = bytes, .resident = bytes, .offset = offset };
    while (m->resident + bytes > m->limit && m->out.first && !m->done.first && !m->error) wait_for(m);
    int result = m->error ? m->error : m->resident + bytes > m->limit && m->done.first ? ROOM_LATER : 0;
    if (!result) {
        take(m, bytes);
        p->holders++;
        if (offset >= 0) {
            b->state = WRITING;
            if (number < m->nblock) p->block[number] = b;
            push(&m->out, b);
            pthread_cond_signal(&m->writer);
        }
    }
    pthread_mutex_unlock(&m->lock);
    if (result) free(b);
    else *out = b;
    return result;
}

struct block *mover_written(struct mover *m)
{
    if (!enter(m)) return NULL;
    struct block *b = pop(&m->done);
    if (b) {
        m->resident -= b->resident;
        b->resident = 0;
        b->at = NULL;
        b->state = AWAY;
        if (m->now) pthread_cond_signal(&m->reader);
    }
    pthread_mutex_unlock(&m->lock);
    return b;
}

int mover_fetch(struct block *b, char **at)
{
    struct mover *m = b->pass->mover;
    int result = 0;
    *at = NULL;
    if (!enter(m)) return ECANCELED;
    while (!result && (b->state < BACK)) {
        if (m->error) result = m->error;
        else if (m->done.first) result = ROOM_LATER;
        else {
            m->wanted = b;
            pthread_cond_signal(&m->reader);
            wait_for(m);
        }
    }
    if (m->wanted == b) m->wanted = NULL;                /* another thread's goes on */
    if (!result) {
        *at = b->at;
        b->at = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    return result;
}

int mover_peek(struct block *b, char **at)
{
    struct mover *m = b->pass->mover;
    int result = 0;
    *at = NULL;
    if (!enter(m)) return ECANCELED;
    while (!result && (b->state < AWAY || (m->resident + b->bytes > m->limit && m->out.first))) {
        if (m->error) result = m->error;
        else if (m->done.first) result = ROOM_LATER;
        else wait_for(m);
    }
    if (!result) take(m, b->bytes);
    pthread_mutex_unlock(&m->lock);
    if (!result) *at = tier_read(m->fd, b->offset, b->bytes, false, &result);
    if (result > 0) mover_extra(b->pass, -(int64_t)b->bytes);
    return result;
}

void block_drop(struct block *b)
{
    struct pass *p = b->pass;
    struct mover *m = p->mover;
    if (!enter(m)) return;
    while (m->writing == b) pthread_cond_wait(&m->trainer, &m->lock);
    if (b->state == WRITING) cut(&m->out, b);
    if (b->state == WRITTEN) cut(&m->done, b);
    if (m->wanted == b) m->wanted = NULL;
    if (b->number < m->nblock && p->block[b->number] == b) p->block[b->number] = NULL;
    if (b->state == READING) {
        b->dropped = true;
    } else {
        m->resident -= b->resident;
        if (b->state == BACK) heap_give(b->at);
        free(b);
        if (m->now) pthread_cond_signal(&m->reader);
    }
    leave_pass(p);
}

void mover_grant(struct pass *p, int group)
{
    struct mover *m = p->mover;
    if (!enter(m)) return;
    if (p->granted[group] != 1) take(m, m->workspace[group]);        /* 2: it runs once more */
    p->granted[group] = 1;
    pthread_mutex_unlock(&m->lock);
}

void mover_settle(struct pass *p, int group)
{
    struct mover *m = p->mover;
    if (!enter(m)) return;
    if (p->granted[group] == 1) m->resident -= m->workspace[group];
    p->granted[group] = 2;
    pthread_cond_signal(&m->reader);
    pthread_mutex_unlock(&m->lock);
}

void mover_extra(struct pass *p, int64_t bytes)
{
    struct mover *m = p->mover;
    if (!bytes || !enter(m)) return;
    if (bytes < 0) m->resident -= (uint64_t)-bytes < m->resident ? (uint64_t)-bytes : m->resident;
    else take(m, (uint64_t)bytes);
    pthread_cond_signal(&m->reader);
    pthread_mutex_unlock(&m->lock);
}

#include "tensor/team.h"
#include "base/mem.h"
#include "base/message.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SPINS = 20000 };

struct member { struct team *team; int part; pthread_t thread; };

struct team {
    int size;
    struct member *member;
    void (*fn)(void *, int, int);
    void *context;
    atomic_uint round;                                   /* goes up with every call */
    atomic_int left;                                     /* members still at work */
    atomic_int asleep;
    bool over;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* those of the process' own cores, as they were before anybody was pinned, from the first-th on; how many */
static int cores_from(int first, int most, cpu_set_t *some)
{
    static cpu_set_t own;
    static bool known;
    CPU_ZERO(some);
    if (!known && sched_getaffinity(0, sizeof own, &own)) return 0;
    known = true;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &own) && seen++ >= first && CPU_COUNT(some) < most) CPU_SET(cpu, some);
    return CPU_COUNT(some);
}

static void pin(pthread_t thread, int part)
{
    cpu_set_t one;
    if (cores_from(part, 1, &one)) pthread_setaffinity_np(thread, sizeof one, &one);
}

void team_keep_off(pthread_t thread, int threads)
{
    cpu_set_t rest;
    if (cores_from(threads, CPU_SETSIZE, &rest)) pthread_setaffinity_np(thread, sizeof rest, &rest);
}

/* of the calling thread: what is too small for a normal number is read and written as zero */
static void flush_denormals(void)
{
#if defined(__x86_64__)
    enum { FTZ = 1 << 15, DAZ = 1 << 6 };
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FTZ | DAZ);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1 << 24));
#endif
}

static void *work(void *arg)
{
    struct member *m = arg;
    struct team *t = m->team;
    flush_denormals();
    for (unsigned seen = 0;;) {
        for (int i = 0; i < SPINS && atomic_load(&t->round) == seen; i++) relax();
        if (atomic_load(&t->round) == seen) {
            pthread_mutex_lock(&t->lock);
            atomic_fetch_add(&t->asleep, 1);
            while (atomic_load(&t->round) == seen) pthread_cond_wait(&t->wake, &t->lock);
            atomic_fetch_sub(&t->asleep, 1);
            pthread_mutex_unlock(&t->lock);
        }
        seen = atomic_load(&t->round);
        if (t->over) return NULL;
        t->fn(t->context, m->part, t->size);
        atomic_fetch_sub(&t->left, 1);
    }
}

struct team *team_start(int threads)
{
    struct team *t = xcalloc(1, sizeof *t);
    t->size = threads;
    flush_denormals();
    if (threads == 1) {
        cpu_set_t rest;
        if (cores_from(1, CPU_SETSIZE, &rest)) pin(pthread_self(), 0);
        return t;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    t->member = xcalloc((size_t)threads, sizeof *t->member);
    for (int i = 1; i < threads; i++) {
        t->member[i] = (struct member){ .team = t, .part = i };
        if (pthread_create(&t->member[i].thread, NULL, work, &t->member[i])) die("cannot start a thread");
        pin(t->member[i].thread, i);
    }
    pin(pthread_self(), 0);
    return t;
}

int team_size(const struct team *t) { return t->size; }

static void release(struct team *t)
{
    atomic_store(&t->left, t->size - 1);
    atomic_fetch_add(&t->round, 1);
    pthread_mutex_lock(&t->lock);
    if (atomic_load(&t->asleep)) pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void team_run(struct team *t, void (*fn)(void *, int, int), void *context)
{
    if (t->size == 1) {
        fn(context, 0, 1);
        return;
    }
    t->fn = fn;
    t->context = context;
    release(t);
    fn(context, 0, t->size);
    while (atomic_load(&t->left)) relax();
}

void team_stop(struct team *t)
{
    if (t->size > 1) {
        t->over = true;
        release(t);
        for (int i = 1; i < t->size; i++) pthread_join(t->member[i].thread, NULL);
        pthread_mutex_destroy(&t->lock);
        pthread_cond_destroy(&t->wake);
    }
    free(t->member);
    free(t);
}

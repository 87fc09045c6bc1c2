/* lib-mover.c - millrace_place's heap against a table of its own, and its mover: every block comes back as it was. */
#ifdef __SANITIZE_ADDRESS__
#include <stdio.h>
int main(void) { return puts("1..0 # skip the address sanitizer has a heap of its own") < 0; }
#else
#include "../lib/place/guest/adopt.c"
#include "../lib/place/guest/heap.c"
#include "../lib/place/guest/mover.c"
#include "base/rng.h"
#include "tap.h"
#include <malloc.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BLOCKS = 300, ROUNDS = 6000, SAVED = 40 };

static void fill(char *p, size_t n, uint64_t tag)
{
    for (size_t i = 0; i + 8 <= n; i += 512) memcpy(p + i, &(uint64_t){ tag + i }, 8);
}

static bool holds(const char *p, size_t n, uint64_t tag)
{
    for (size_t i = 0; i + 8 <= n; i += 512)
        if (memcmp(p + i, &(uint64_t){ tag + i }, 8)) return false;
    return true;
}

/* above the cap nothing is kept that could be given back */
static bool lean(void)
{
    size_t whole = 0;
    for (size_t h = 0; h < nhole; h++)
        for (size_t k = (hole[h].page + PAGES - 1) / PAGES; k < ((size_t)hole[h].page + hole[h].count) / PAGES; k++) {
            if (k >= highest) break;
            whole += touched[k];
        }
    return heap_resident() <= top || !whole;
}

static void test_heap(void)
{
    struct rng r = rng_for(1, str_of("heap"));
    struct { char *p; size_t n; } block[BLOCKS] = { { 0 } };
    bool same = true, aligned = true, counted = true, capped = true;
    size_t want = 0;
    heap_cap(48 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        size_t k = rng_below(&r, BLOCKS);
        if (block[k].p) {
            same &= holds(block[k].p, block[k].n, k);
            want -= up(block[k].n);
            free(block[k].p);
            block[k].p = NULL;
        } else {
            void *p = NULL;
            size_t n = LARGE + rng_below(&r, i % 9 ? 200000 : 3000000);
            if (posix_memalign(&p, 64, n)) return (void)ok(false, "posix_memalign");
            block[k].p = p;
            block[k].n = n;
            aligned &= (uintptr_t)p % PAGE == 0 && inside(p) && malloc_usable_size(p) == up(n);
            fill(p, n, k);
            want += up(n);
        }
        counted &= heap_used() == want;
        capped &= heap_resident() >= want && lean();
    }
    ok(same, "no block is touched by another");
    ok(aligned, "blocks begin with a page, and their size is known");
    ok(counted, "bytes in use are counted exactly");
    ok(capped, "resident bytes are at least those in use, and above the cap none is kept that could go");
    for (int k = 0; k < BLOCKS; k++) free(block[k].p);
    ok(heap_used() == 0 && nhole == 1, "all freed: one hole");
    heap_cap(PIECE);
    ok(heap_resident() <= PIECE, "a lower cap gives memory back");
    void *p = NULL;
    ok(posix_memalign(&p, 3, LARGE) == EINVAL && posix_memalign(&p, 64, 100) == 0 && !inside(p),
       "small ones go elsewhere");
    free(p);
    char *q = heap_take(LARGE);
    fill(q, LARGE, 5);
    q = realloc(q, LARGE * 2);
    ok(q && holds(q, LARGE, 5), "realloc moves what there is");
    free(q);
    heap_most();
    free(heap_take(4 * LARGE));
    q = heap_take_aside(8 * LARGE);
    ok(heap_used() == 8 * LARGE && malloc_usable_size(q) == 8 * LARGE, "a block aside is one like others");
    free(q);
    ok(heap_most() == 4 * LARGE && heap_most() == 0, "the most in use since the last call, but what was aside");
    heap_bound(4 * LARGE);
    q = heap_take(3 * LARGE);
    p = NULL;
    ok(q && posix_memalign(&p, 64, 2 * LARGE) == ENOMEM && !p, "over the bound: refused");
    ok(heap_refused() == 5 * LARGE, "and how much it would have been");
    heap_give(q);
    heap_bound(0);
    ok(!heap_refused() && !heap_used(), "and nothing is held");
    heap_cap(0);
}

/* under the lock: between the two queues a block is in neither */
static bool pending(struct mover *m)
{
    pthread_mutex_lock(&m->lock);
    bool any = m->out.first || m->done.first;
    pthread_mutex_unlock(&m->lock);
    return any;
}

/* A pass of SAVED blocks under a limit; odd ones go away.  disorder: the backward pass asks in another order. */
static void test_pass(int fd, uint64_t limit, int disorder, bool drop)
{
    struct rng r = rng_for((uint64_t)disorder, str_of("pass"));
    int32_t order[SAVED + 1];
    int n = 0;
    for (int i = SAVED; i-- > 0;) {
        if (i == SAVED / 2) order[n++] = ~0;
        order[n++] = i;
    }
    struct mover *m = mover_new(fd, limit, 0, order, n, &(uint64_t){ 100000 }, 1, SAVED);
    for (int pass = 0; pass < 3; pass++) {
        struct pass *p = pass_new(m);
        struct block *block[SAVED], *b;
        char *at[SAVED], *data;
        size_t bytes[SAVED];
        int64_t end = 0;
        bool same = true, fine = true;
        for (int i = 0; i < SAVED; i++) {
            bytes[i] = 5000 + rng_below(&r, 300000);
            at[i] = heap_take(bytes[i] + 64);
            fill(at[i] + (i % 3 ? 0 : 64), bytes[i], (uint64_t)i);
            int result;
            do {
                while ((b = mover_written(m))) {
                    heap_give(at[b->number]);
                    at[b->number] = NULL;
                }
                result = mover_keep(p, i, at[i] + (i % 3 ? 0 : 64), bytes[i], i % 2 ? end : -1, &block[i]);
            } while (result == ROOM_LATER);
            fine &= result == 0;
            end += (int64_t)up(bytes[i]);
        }
        pass_begin(p);
        for (int i = 0; i < SAVED && !(drop && pass == 1); i++) {
            int k = disorder ? (i * 7 + disorder) % SAVED : SAVED - 1 - i, result = 0;
            if (k == SAVED / 2) mover_grant(p, 0);
            if (k % 2 == 0) continue;
            do {
                while ((b = mover_written(m))) {
                    heap_give(at[b->number]);
                    at[b->number] = NULL;
                }
                result = mover_fetch(block[k], &data);
            } while (result == ROOM_LATER);
            fine &= result == 0;
            same &= !result && holds(data, bytes[k], (uint64_t)k);
            heap_give(data);
            block_drop(block[k]);
            block[k] = NULL;
        }
        while (pending(m))                               /* a pass given up: all that was begun ends */
            while ((b = mover_written(m))) {
                heap_give(at[b->number]);
                at[b->number] = NULL;
            }
        for (int i = 0; i < SAVED; i++) {
            if (block[i]) block_drop(block[i]);
            heap_give(at[i]);
        }
        mover_settle(p, 0);
        pass_free(p);
        ok(fine && same, drop && pass == 1 ? "a pass without its backward half" : "what was sent away comes back");
    }
    ok(mover_resident(m) == 0 && mover_most(m) > 0, "nothing is left in the account");
    if (!disorder) ok(mover_most(m) <= limit, "the limit is kept");
    mover_stop(m);
    ok(heap_used() == 0, "and no memory");
}

static void test_failure(void)
{
    int fd = open("/dev/full", O_WRONLY);
    struct mover *m = mover_new(fd, 1 << 20, 0, NULL, 0, NULL, 0, 1);
    struct pass *p = pass_new(m);
    struct block *b;
    char *at = heap_take(LARGE), *data;
    ok(mover_keep(p, 0, at, LARGE, 0, &b) == 0, "a copy begins");
    pass_begin(p);
    ok(mover_fetch(b, &data) == ENOSPC, "a full device is reported to whoever waits");
    ok(mover_keep(p, 0, at, LARGE, 0, &b) == ENOSPC, "and to whoever comes later");
    heap_give(at);
}

/* What is looked at while the forward pass goes on comes as it was, as often as asked for, counts, and stays away. */
static void test_peek(int fd)
{
    size_t n = 3 * LARGE + 100;
    struct mover *m = mover_new(fd, 2 * n, 0, (int32_t[]){ 0 }, 1, NULL, 0, 1);
    struct pass *p = pass_new(m);
    struct block *b;
    char *at = heap_take(n), *data;
    fill(at, n, 7);
    ok(mover_keep(p, 0, at, n, 0, &b) == 0, "a block that leaves");
    bool good = true;
    for (int i = 0; i < 3; i++) {
        int result;
        while ((result = mover_peek(b, &data)) == ROOM_LATER)
            if (mover_written(m)) heap_give(at);
        good &= !result && holds(data, n, 7) && mover_resident(m) == n;
        heap_give(data);
        mover_extra(p, -(int64_t)n);
        good &= mover_resident(m) == 0;
    }
    pass_begin(p);
    good &= !mover_fetch(b, &data) && holds(data, n, 7);
    heap_give(data);
    block_drop(b);
    pass_free(p);
    ok(good && mover_resident(m) == 0 && mover_most(m) <= 2 * n, "looked at three times, then fetched");
    mover_stop(m);
}

/* A mover (0), a pass (1) and its blocks (2: one is written, one read), given up in the given order,
 * as Python's collector does it.  Freed memory is spoiled. */
static void give_up(int fd, const int *turn)
{
    int32_t order[] = { 0, 1 };
    struct mover *m = mover_new(fd, 64 << 20, 0, order, 2, &(uint64_t){ 100000 }, 1, 2);
    struct pass *p = pass_new(m);
    struct block *block[3], *b;
    size_t n = 8 << 20;
    char *at[3];
    mover_grant(p, 0);
    for (int i = 0; i < 3; i++) at[i] = heap_take(n);
    mover_keep(p, 0, at[0], n, 0, &block[0]);
    while (!(b = mover_written(m))) sched_yield();
    pass_begin(p);                                       /* 0 is read now */
    mover_keep(p, 1, at[1], n, (int64_t)n, &block[1]);
    mover_keep(p, 2, at[2], n, -1, &block[2]);
    for (int i = 0; i < 3; i++) {
        if (turn[i] == 0) mover_stop(m);
        if (turn[i] == 1) pass_free(p);
        for (int k = 0; turn[i] == 2 && k < 3; k++) block_drop(block[k]);
    }
    for (int i = 0; i < 3; i++) heap_give(at[i]);
}

static void test_order(int fd)
{
    static const int turn[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    size_t had = heap_used();
    mallopt(M_PERTURB, 165);
    for (int k = 0; k < 120; k++) give_up(fd, turn[k % 6]);
    ok(true, "given up in any order, in the middle of copies: nothing is used that is gone");
    ok(heap_used() == had, "and nothing is lost");
}

/* what waits for a copy when the threads end is told */
static void *halts(void *m)
{
    usleep(20000);
    mover_halt(m);
    return NULL;
}

static void test_halt(int fd)
{
    struct mover *m = mover_new(fd, 3 * LARGE, 0, NULL, 0, NULL, 0, 2);
    struct pass *p = pass_new(m);
    struct block *b;
    char *at = heap_take(LARGE), *data;
    mover_keep(p, 0, at, LARGE, 0, &b);
    while (!mover_written(m)) sched_yield();
    pthread_mutex_lock(&m->lock);
    m->stop = true;                                      /* as between two copies */
    pthread_cond_broadcast(&m->reader);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread[1], NULL);
    m->stop = false;
    m->nthread = 1;
    pthread_t other;
    pthread_create(&other, NULL, halts, m);
    ok(mover_fetch(b, &data) == ECANCELED && !data, "a fetch that nobody serves any more ends");
    pthread_join(other, NULL);
    ok(mover_keep(p, 1, at, LARGE, 0, &b) == ECANCELED, "and nothing new begins");
    mover_halt(m);
    block_drop(b);
    mover_stop(m);
    pass_free(p);
    heap_give(at);
}

/* a child has no threads, and whatever they held when it was made, it waits for nothing */
static void test_fork(int fd)
{
    struct mover *m = mover_new(fd, 64 << 20, 0, NULL, 0, NULL, 0, 1);
    struct pass *p = pass_new(m);
    struct block *b, *other;
    char *at = heap_take(LARGE), *data;
    mover_keep(p, 0, at, LARGE, 0, &b);
    pthread_mutex_lock(&m->lock);
    pid_t child = fork();
    if (!child) {
        alarm(20);
        bool good = mover_fetch(b, &data) == ECANCELED && mover_keep(p, 0, at, LARGE, 0, &other) == ECANCELED;
        good &= !mover_written(m) && !pass_new(m);
        pass_begin(p);
        mover_grant(p, 0);
        mover_settle(p, 0);
        mover_resident(m);
        block_drop(b);
        pass_free(p);
        mover_stop(m);
        _exit(!good);
    }
    pthread_mutex_unlock(&m->lock);
    int status = -1;
    waitpid(child, &status, 0);
    ok(status == 0, "a process forked from a mover's lets it alone, and does not wait");
    while (!mover_written(m)) sched_yield();
    block_drop(b);
    pass_free(p);
    mover_stop(m);
    heap_give(at);
}

int main(void)
{
    test_heap();
    FILE *f = tmpfile();
    test_pass(fileno(f), 6 << 20, 0, false);
    test_pass(fileno(f), 5 << 20, 3, true);
    test_failure();
    test_peek(fileno(f));
    test_order(fileno(f));
    test_halt(fileno(f));
    test_fork(fileno(f));
    return done();
}
#endif

#include "heap.h"
#include "adopt.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE = 65536, PIECE = 2 << 20, PAGES = PIECE / PAGE };
#define ASIDE (1u << 31)                                 /* in a length: heap_most() does not count it */
static const size_t RESERVED = (size_t)1 << 38;          /* of addresses; memory is taken as it is touched */

struct hole { uint32_t page, count; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *base;
static uint32_t *length;                                 /* by page: of the block that begins there, else 0 */
static uint8_t *touched;                                 /* by piece */
static struct hole *hole;                                /* by address; the last one reaches to the end */
static size_t nhole, capacity, used, uncounted, resident, top, most, bound, refused;
static size_t highest;                                   /* pieces from here on were never touched */
static bool failed;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Holes are a map of their own: the heap behind may be in the middle of a call. */
static bool open_heap(void)
{
    if (base || failed) return base != NULL;
    failed = true;
    capacity = RESERVED / PAGE;
    char *all = reserve(RESERVED + PIECE);
    length = reserve(capacity * sizeof *length);
    touched = reserve(capacity / PAGES);
    hole = reserve(capacity * sizeof *hole);
    if (!all || !length || !touched || !hole) return false;
    base = all + (PIECE - (uintptr_t)all % PIECE) % PIECE;
    madvise(base, RESERVED, MADV_HUGEPAGE);
    hole[nhole++] = (struct hole){ 0, (uint32_t)capacity };
    pthread_atfork(before_fork, after_fork, after_fork);
    return true;
}

/* Gives free pieces back, the highest first, until `more` bytes fit under the cap. */
static void shrink(size_t more)
{
    for (size_t h = nhole; h-- > 0 && top && resident + more > top;) {
        size_t first = (hole[h].page + PAGES - 1) / PAGES, end = ((size_t)hole[h].page + hole[h].count) / PAGES;
        if (end > highest) end = highest;
        while (end > first && resident + more > top) {
            size_t run = 0;
            while (end > first && !touched[end - 1]) end--;
            while (end > first && touched[end - 1] && resident + more > top) {
                touched[--end] = 0;
                resident -= PIECE;
                run++;
            }
            if (run) madvise(base + end * PIECE, run * PIECE, MADV_DONTNEED);
        }
    }
}

static void touch(size_t page, size_t count)
{
    size_t first = page / PAGES, last = (page + count - 1) / PAGES, fresh = 0;
    for (size_t p = first; p <= last; p++) fresh += !touched[p];
    if (!fresh) return;
    shrink(fresh * PIECE);
    if (last >= highest) highest = last + 1;
    for (size_t p = first; p <= last; p++) {
        resident += touched[p] ? 0 : PIECE;
        touched[p] = 1;
    }
}

static void *take_marked(size_t bytes, uint32_t mark)
{
    if (bytes > RESERVED / 2) return NULL;
    size_t count = bytes < PAGE ? 1 : (bytes + PAGE - 1) / PAGE, h = 0;
    pthread_mutex_lock(&lock);
    bool there = open_heap() && !(bound && used + count * PAGE > bound);
    if (!there && bound && !refused) refused = used + count * PAGE;
    while (there && h < nhole && hole[h].count < count) h++;
    if (!there || h == nhole) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    size_t page = hole[h].page;
    hole[h].page += (uint32_t)count;
    hole[h].count -= (uint32_t)count;
    if (!hole[h].count) memmove(hole + h, hole + h + 1, (--nhole - h) * sizeof *hole);
    length[page] = (uint32_t)count | mark;
    used += count * PAGE;
    if (mark) uncounted += count * PAGE;
    if (used - uncounted > most) most = used - uncounted;
    touch(page, count);
    pthread_mutex_unlock(&lock);
    return base + page * PAGE;
}

void *heap_take(size_t bytes) { return take_marked(bytes, 0); }
void *heap_take_aside(size_t bytes) { return take_marked(bytes, ASIDE); }

static bool inside(const void *p)
{
    return base && (const char *)p >= base && (const char *)p < base + RESERVED;
}

void heap_give(void *p)
{
    if (!p) return;
    pthread_mutex_lock(&lock);
    uint32_t page = (uint32_t)((size_t)((char *)p - base) / PAGE), count = length[page] & ~ASIDE;
    if (!count) abort();                                 /* freed twice, or no block */
    if (length[page] != count) uncounted -= (size_t)count * PAGE;
    length[page] = 0;
    used -= (size_t)count * PAGE;
    size_t low = 0, high = nhole;
    while (low < high) {                                 /* first hole behind the block */
        size_t middle = (low + high) / 2;
        if (hole[middle].page < page) low = middle + 1;
        else high = middle;
    }
    bool left = low > 0 && hole[low - 1].page + hole[low - 1].count == page;
    bool right = low < nhole && page + count == hole[low].page;
    if (left && right) {
        hole[low - 1].count += count + hole[low].count;
        memmove(hole + low, hole + low + 1, (--nhole - low) * sizeof *hole);
    } else if (left) {
        hole[low - 1].count += count;
    } else if (right) {
        hole[low].page = page;
        hole[low].count += count;
    } else {
        memmove(hole + low + 1, hole + low, (nhole++ - low) * sizeof *hole);
        hole[low] = (struct hole){ page, count };
    }
    if (top && resident > top) shrink(0);
    pthread_mutex_unlock(&lock);
}

static size_t read_locked(const size_t *value)
{
    pthread_mutex_lock(&lock);
    size_t v = *value;
    pthread_mutex_unlock(&lock);
    return v;
}

size_t heap_used(void) { return read_locked(&used); }
size_t heap_resident(void) { return read_locked(&resident); }
size_t heap_refused(void) { return read_locked(&refused); }

size_t heap_most(void)
{
    pthread_mutex_lock(&lock);
    size_t was = most;
    most = used - uncounted;
    pthread_mutex_unlock(&lock);
    return was;
}

void heap_bound(size_t bytes)
{
    pthread_mutex_lock(&lock);
    bound = bytes;
    if (!bytes) refused = 0;
    pthread_mutex_unlock(&lock);
}

void heap_cap(size_t bytes)
{
    pthread_mutex_lock(&lock);
    top = bytes;
    if (base) shrink(0);
    pthread_mutex_unlock(&lock);
}

/* ---- in place of the C library's */

static void (*next_free)(void *);
static void *(*next_realloc)(void *, size_t);
static size_t (*next_usable)(void *);
static int (*next_memalign)(void **, size_t, size_t);
static bool adopted;

/* POSIX lets a pointer to an object hold one to a function here, ISO C does not */
static void find(void *where, const char *name, void *function)
{
    void *p = dlsym(where, name);
    memcpy(function, &p, sizeof p);
}

static void find_next(void *where)
{
    if (next_memalign) return;
    find(where, "free", &next_free);
    find(where, "realloc", &next_realloc);
    find(where, "malloc_usable_size", &next_usable);
    find(where, "posix_memalign", &next_memalign);
}

size_t malloc_usable_size(void *);

/* What is preloaded is found by everybody; what Python has loaded is not. */
static bool preloaded(void)
{
    static int known = -1;
    if (known < 0) {
        void *all = dlopen(NULL, RTLD_LAZY);
        known = all && dlsym(all, "heap_preloaded");
    }
    return known;
}

int heap_preloaded(void)
{
    return preloaded() || adopted;
}

static int take_aligned(void **out, size_t align, size_t bytes)
{
    if (bytes < LARGE || align > PAGE) return next_memalign(out, align, bytes);
    if (!align || align % sizeof(void *) || (align & (align - 1))) return EINVAL;
    void *p = heap_take(bytes);
    if (!p) return read_locked(&bound) ? ENOMEM : next_memalign(out, align, bytes);
    *out = p;
    return 0;
}

static void give(void *p)
{
    if (inside(p)) {
        int error = errno;
        heap_give(p);
        errno = error;
    } else {
        next_free(p);
    }
}

int heap_adopt(const char *library)
{
    if (heap_preloaded()) return 1;
    void *all = dlopen(NULL, RTLD_LAZY);
    if (!all) return 0;
    find_next(all);
    if (!next_free || !next_memalign) return 0;
    struct call call[] = { { "free", NULL }, { "posix_memalign", NULL } };
    void (*to_give)(void *) = give;
    int (*to_take)(void **, size_t, size_t) = take_aligned;
    memcpy(&call[0].to, &to_give, sizeof to_give);
    memcpy(&call[1].to, &to_take, sizeof to_take);
    if (adopt(library, call, 1) == 0) return 0;          /* who frees first: nothing of ours may go elsewhere */
    adopted = adopt(library, call + 1, 1) > 0;
    return adopted;
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
    find_next(RTLD_NEXT);
    return take_aligned(out, align, bytes);
}

void free(void *p)
{
    find_next(RTLD_NEXT);
    give(p);
}

void *realloc(void *p, size_t bytes)
{
    find_next(RTLD_NEXT);
    if (!inside(p)) return next_realloc(p, bytes);
    size_t had = malloc_usable_size(p);
    if (bytes && bytes <= had) return p;
    void *q = bytes ? malloc(bytes) : NULL;
    if (q) memcpy(q, p, had);
    if (q || !bytes) free(p);
    return q;
}

size_t malloc_usable_size(void *p)
{
    find_next(RTLD_NEXT);
    return inside(p) ? (size_t)(length[(size_t)((char *)p - base) / PAGE] & ~ASIDE) * PAGE : next_usable(p);
}

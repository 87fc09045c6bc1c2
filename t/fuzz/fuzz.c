/* fuzz.c - the harness of all targets: exit() becomes a jump back, memory and descriptors left behind are released.
 * The library is compiled with -Dexit=fuzz_exit -Dmalloc=fuzz_malloc and so on. */
#define _GNU_SOURCE
#include "fuzz.h"
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT_BITS = 15, SLOTS = 1 << SLOT_BITS, FILES = 8, FIRST_FILE = 20, FIRST_FREE = 100, LARGE = 30000 };

static jmp_buf back;
static bool running;
/* what the body allocated and has not freed, in any order, and where each is in it, by open addressing: index + 1 */
static void *live[SLOTS];
static uint16_t place[SLOTS];
static size_t nlive;
/* the library's globals, which the linker has put side by side (state.ld), and what they were before the first body */
extern char __start_fuzz_state[] __attribute__((weak)), __stop_fuzz_state[] __attribute__((weak));
static char *before;

void fuzz_exit(int status) __attribute__((noreturn));
void *fuzz_malloc(size_t n);
void *fuzz_calloc(size_t n, size_t size);
void *fuzz_realloc(void *p, size_t n);
void fuzz_free(void *p);

void fuzz_exit(int status)
{
    if (running) longjmp(back, 1);
    _exit(status);
}

static size_t begin_of(const void *p)
{
    return ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS);
}

/* where p is noted, or the first free place after where it would be */
static size_t place_of(const void *p)
{
    size_t i = begin_of(p);
    while (place[i] && live[place[i] - 1] != p) i = (i + 1) % SLOTS;
    return i;
}

static void *remember(void *p)
{
    if (!running || !p) return p;
    if (nlive > SLOTS / 2) abort();
    size_t i = place_of(p);
    live[nlive] = p;
    place[i] = (uint16_t)++nlive;
    return p;
}

static void forget(const void *p)
{
    size_t i = place_of(p);
    if (!p || !place[i]) return;
    size_t hole = place[i] - 1u;
    place[i] = 0;
    for (size_t k = (i + 1) % SLOTS; place[k]; k = (k + 1) % SLOTS) {    /* close the gap in the chain */
        uint16_t q = place[k];
        place[k] = 0;
        place[place_of(live[q - 1])] = q;
    }
    if (hole == --nlive) return;
    i = place_of(live[nlive]);                           /* the last one fills the hole */
    live[hole] = live[nlive];
    place[i] = (uint16_t)(hole + 1);
}

/* Large blocks are kept for the next run: to map and unmap a reader's buffers takes a hundred times as long as to read
 * the input. */
static void *spare[16];

static void *get(size_t n)
{
    for (size_t i = 0; n >= LARGE && i < sizeof spare / sizeof *spare; i++) {
        if (!spare[i] || malloc_usable_size(spare[i]) != n) continue;
        void *p = spare[i];
        spare[i] = NULL;
        return p;
    }
    return malloc(n);
}

static void put_back(void *p)
{
    static size_t oldest;
    if (p && malloc_usable_size(p) >= LARGE) {           /* in the place of one that nobody asked for */
        void *other = spare[oldest];
        spare[oldest] = p;
        oldest = (oldest + 1) % (sizeof spare / sizeof *spare);
        p = other;
    }
    free(p);
}

void *fuzz_malloc(size_t n)
{
    return remember(get(n));
}

void *fuzz_calloc(size_t n, size_t size)
{
    size_t bytes;
    bool wide = __builtin_mul_overflow(n, size, &bytes);
    if (wide || bytes < LARGE || bytes > 64 * LARGE) return remember(calloc(n, size));
    void *p = get(bytes);
    return remember(p ? memset(p, 0, bytes) : p);
}

void *fuzz_realloc(void *p, size_t n)
{
    size_t old = p ? malloc_usable_size(p) : 0;
    forget(p);
    if (p && n < LARGE && old < LARGE) return remember(realloc(p, n));
    void *q = get(n);
    if (!q && p) remember(p);
    if (!q || !p) return remember(q);
    memcpy(q, p, old < n ? old : n);
    put_back(p);
    return remember(q);
}

void fuzz_free(void *p)
{
    forget(p);
    put_back(p);
}

/* The harness has its descriptors, 20 to 27, before anything else is opened, and all other low ones are taken: what
 * the code under test opens is above, and is closed after each run.  (Where it was opened below, and lost when the body
 * died, the harness in the end got one of those that are closed.) */
static void take_descriptors(void)
{
    static bool taken;
    if (taken) return;
    taken = true;
    for (int i = 0; i < FILES; i++) {
        int m = memfd_create("fuzz", 0);
        if (m < 0 || dup2(m, FIRST_FILE + i) < 0) abort();
        close(m);
    }
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd < FIRST_FREE) fd = dup(fd);
    if (fd >= 0) close(fd);
}

/* no memcpy: between the globals is what AddressSanitizer guards */
static void copy(char *to, const char *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

int fuzz_run(void (*body)(const uint8_t *data, size_t n), const uint8_t *data, size_t n)
{
    take_descriptors();
    size_t state = (size_t)(__stop_fuzz_state - __start_fuzz_state);
    if (!before && state) copy(before = malloc(state), __start_fuzz_state, state);
    running = true;
    int returned = setjmp(back) == 0;
    if (returned) body(data, n);
    running = false;
    while (nlive) fuzz_free(live[nlive - 1]);
    if (before) copy(__start_fuzz_state, before, state);
    close_range(FIRST_FREE, ~0u, 0);
    return returned;
}

int fuzz_reuse(int slot)
{
    take_descriptors();
    int fd = FIRST_FILE + slot;
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0) abort();
    int copied = fcntl(fd, F_DUPFD, FIRST_FREE);         /* the code under test may close it */
    if (copied < 0) abort();
    return copied;
}

int fuzz_file(const uint8_t *data, size_t n)
{
    int fd = fuzz_reuse(7);
    if (n && write(fd, data, n) != (ssize_t)n) abort();
    lseek(fd, 0, SEEK_SET);
    return fd;
}

void fuzz_check(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

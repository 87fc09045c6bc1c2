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

enum { SLOT_BITS = 14, SLOTS = 1 << SLOT_BITS, FIRST_FREE = 100, LARGE = 100000 };

static jmp_buf back;
static bool running;
/* open addressing; what the body allocated and has not freed */
static void *live[SLOTS];
static size_t nlive;

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

static size_t slot_of(const void *p)
{
    size_t i = ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS);
    while (live[i] && live[i] != p) i = (i + 1) % SLOTS;
    return i;
}

static void *remember(void *p)
{
    if (!running || !p) return p;
    if (nlive > SLOTS / 2) abort();
    live[slot_of(p)] = p;
    nlive++;
    return p;
}

static void forget(const void *p)
{
    size_t i = slot_of(p);
    if (!p || !live[i]) return;
    live[i] = NULL;
    nlive--;
    for (size_t k = (i + 1) % SLOTS; live[k]; k = (k + 1) % SLOTS) {     /* close the gap in the chain */
        void *q = live[k];
        live[k] = NULL;
        live[slot_of(q)] = q;
    }
}

/* Large blocks are kept for the next run: to map and unmap a reader's buffers takes a hundred times as long as to read
 * the input. */
static void *spare[8];

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
    for (size_t i = 0; p && malloc_usable_size(p) >= LARGE && i < sizeof spare / sizeof *spare; i++) {
        if (spare[i]) continue;
        spare[i] = p;
        return;
    }
    free(p);
}

void *fuzz_malloc(size_t n)
{
    return remember(get(n));
}

void *fuzz_calloc(size_t n, size_t size)
{
    return remember(calloc(n, size));
}

void *fuzz_realloc(void *p, size_t n)
{
    forget(p);
    return remember(p ? realloc(p, n) : get(n));
}

void fuzz_free(void *p)
{
    forget(p);
    put_back(p);
}

int fuzz_run(void (*body)(const uint8_t *data, size_t n), const uint8_t *data, size_t n)
{
    running = true;
    int returned = setjmp(back) == 0;
    if (returned) body(data, n);
    running = false;
    for (size_t i = 0; i < SLOTS && nlive; i++) {
        if (!live[i]) continue;
        put_back(live[i]);
        live[i] = NULL;
        nlive--;
    }
    close_range(FIRST_FREE, ~0u, 0);
    return returned;
}

int fuzz_reuse(int slot)
{
    static int fd[8];
    if (!fd[slot]) {
        int m = memfd_create("fuzz", 0);
        fd[slot] = fcntl(m, F_DUPFD, 20);
        close(m);
    }
    if (ftruncate(fd[slot], 0) != 0 || lseek(fd[slot], 0, SEEK_SET) != 0) abort();
    int copy = fcntl(fd[slot], F_DUPFD, FIRST_FREE);     /* the code under test may close it */
    if (copy < 0) abort();
    return copy;
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

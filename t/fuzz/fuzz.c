/* fuzz.c - the harness of all targets: exit() becomes a jump back, memory and descriptors left behind are released.
 * The library is compiled with -Dexit=fuzz_exit -Dmalloc=fuzz_malloc -Dfopen=fuzz_fopen and so on. */
#define _GNU_SOURCE
#include "fuzz.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { SLOT_BITS = 15, SLOTS = 1 << SLOT_BITS, FILES = 8, FIRST_FILE = 20, FIRST_FREE = 100 };

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
FILE *fuzz_fopen(const char *path, const char *mode);
FILE *fuzz_fdopen(int fd, const char *mode);
int fuzz_fclose(FILE *f);
gzFile fuzz_gzdopen(int fd, const char *mode);
int fuzz_gzclose_r(gzFile f);
int fuzz_vasprintf(char **text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

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

/* Blocks come from one arena, one behind the other, with poisoned bytes between them; what was freed is poisoned and
 * not used again before the next run, which begins at the front.  So AddressSanitizer sees as much as with its own
 * allocator, and nothing is searched, listed or given back one by one.  What does not fit comes from malloc, and with
 * FUZZ_MALLOC=1 in the environment all does: the report of an error then says where the block was allocated. */
enum { ARENA = 64 << 20, GAP = 16, FILL = 4096 };
void __asan_poison_memory_region(void const volatile *p, size_t n);
void __asan_unpoison_memory_region(void const volatile *p, size_t n);
static char *arena;
static size_t top;

static bool inside(const void *p)
{
    return arena && (const char *)p >= arena && (const char *)p < arena + ARENA;
}

/* the harness is not instrumented and reads what is poisoned: the size of a block stands in the gap before it */
static size_t size_of(const void *p)
{
    size_t n;
    memcpy(&n, (const char *)p - GAP, sizeof n);
    return n;
}

static void *get(size_t n)
{
    static int other = -1;
    if (other < 0) other = getenv("FUZZ_MALLOC") != NULL;
    if (other) return NULL;
    if (!arena) {
        arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED) abort();
        __asan_poison_memory_region(arena, ARENA);
    }
    size_t room = (n + 15) / 16 * 16 + GAP;
    if (n > ARENA || room > ARENA - GAP - top) return NULL;
    char *p = arena + top + GAP;
    memcpy(p - GAP, &n, sizeof n);
    top += room;
    __asan_unpoison_memory_region(p, n);
    return p;
}

void *fuzz_malloc(size_t n)
{
    char *p = running ? get(n) : NULL;
    if (!p) return remember(malloc(n));
    return memset(p, 0xbe, n < FILL ? n : FILL);         /* as AddressSanitizer does, so that nobody relies on zeros */
}

void *fuzz_calloc(size_t n, size_t size)
{
    size_t bytes;
    bool wide = __builtin_mul_overflow(n, size, &bytes);
    char *p = running && !wide ? get(bytes) : NULL;
    return p ? memset(p, 0, bytes) : remember(calloc(n, size));
}

void fuzz_free(void *p)
{
    if (inside(p)) {
        __asan_poison_memory_region(p, (size_of(p) + 15) / 16 * 16);
        return;
    }
    forget(p);
    free(p);
}

void *fuzz_realloc(void *p, size_t n)
{
    if (!p) return fuzz_malloc(n);
    if (!inside(p)) {
        forget(p);
        void *q = realloc(p, n);
        return remember(q ? q : p) == q ? q : NULL;
    }
    size_t old = size_of(p);
    char *q = fuzz_malloc(n);
    if (!q) return NULL;
    memcpy(q, p, old < n ? old : n);
    fuzz_free(p);
    return q;
}

/* What the C library and zlib allocate for a stream and a text is theirs: when the body lost it, it is given back after
 * it, or 8 GB are full within 300 000 inputs, of which most are refused. */
enum { STREAMS = 64 };
static struct stream { void *p; bool zipped; } stream[STREAMS];
static int nstream;

static void *opened(void *p, bool zipped)
{
    if (running && p && nstream < STREAMS) stream[nstream++] = (struct stream){ p, zipped };
    return p;
}

static void closed(const void *p)
{
    int i = nstream - 1;
    while (i >= 0 && stream[i].p != p) i--;
    if (i >= 0) stream[i] = stream[--nstream];
}

static void close_all(void)
{
    while (nstream) {
        struct stream s = stream[--nstream];
        if (s.zipped) gzclose_r(s.p);
        else fclose(s.p);
    }
}

FILE *fuzz_fopen(const char *path, const char *mode) { return opened(fopen(path, mode), false); }
FILE *fuzz_fdopen(int fd, const char *mode) { return opened(fdopen(fd, mode), false); }
gzFile fuzz_gzdopen(int fd, const char *mode) { return opened(gzdopen(fd, mode), true); }

int fuzz_fclose(FILE *f)
{
    closed(f);
    return fclose(f);
}

int fuzz_gzclose_r(gzFile f)
{
    closed(f);
    return gzclose_r(f);
}

int fuzz_vasprintf(char **text, const char *format, va_list args)
{
    int n = vasprintf(text, format, args);
    if (n >= 0) remember(*text);
    return n;
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
    close_all();
    while (nlive) fuzz_free(live[nlive - 1]);
    if (top) __asan_poison_memory_region(arena, top);
    top = 0;
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
    take_descriptors();
    int fd = FIRST_FILE + 7, copied;                     /* its page is kept */
    if ((n && pwrite(fd, data, n, 0) != (ssize_t)n) || ftruncate(fd, (off_t)n) != 0) abort();
    if (lseek(fd, 0, SEEK_SET) != 0 || (copied = fcntl(fd, F_DUPFD, FIRST_FREE)) < 0) abort();
    return copied;
}

char *fuzz_path(int slot, const void *data, size_t n)
{
    static char path[FILES][64];
    int fd = fuzz_reuse(slot);
    if (n && pwrite(fd, data, n, 0) != (ssize_t)n) abort();
    snprintf(path[slot], sizeof path[slot], "/proc/self/fd/%d", fd);
    return path[slot];
}

enum { READERS_MAX = 256 };
static const char *const *reader_name;
static int reader_count;
static unsigned long given[READERS_MAX], accepted[READERS_MAX];
static void report(void)
{
    for (int i = 0; i < reader_count; i++)
        printf("fuzz: %s: %lu inputs, %lu accepted\n", reader_name[i], given[i], accepted[i]);
}

int fuzz_readers(const char *const *reader, int readers, void (*body)(const uint8_t *data, size_t n),
                 const uint8_t *data, size_t n)
{
    if (!reader_name) atexit(report);
    reader_name = reader;
    reader_count = readers;
    if (!n) return 0;
    given[data[0] % readers]++;
    accepted[data[0] % readers] += fuzz_run(body, data, n) != 0;
    return 0;
}

void fuzz_check(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

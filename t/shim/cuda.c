/* cuda.c - a stand-in for NVIDIA's driver, for tests: the functions that millrace asks for, on the CPU and at once.
 *
 * Kernels are those of lib/place/guest/kernels.h, found by name in the PTX text that is loaded.  Everything is done
 * when it is asked for; with MILLRACE_CUDA_LATE a copy beside kernels (in a second stream) only when an event says that
 * it must be over, and until then there are no numbers.  MILLRACE_CUDA_FAIL=NAME:N: the N-th call of NAME fails.
 * MILLRACE_CUDA_BYTES: memory of the device.  MILLRACE_CUDA_CALLS=FILE: at the end, NAME COUNT of all calls. */
#define GPU_BODIES
#include "../../lib/place/guest/kernels.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK, INVALID = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, ILLEGAL = 700, BLOCKS = 4096 };
typedef uint64_t memory;
struct late { struct stream *stream; void *to; const void *from; size_t n; struct late *next; };
struct stream { struct late *first, **end; int second; };
struct event { double at; struct stream *stream; int recorded; struct late *upto; };

typedef void (*body)(const struct gpu_call *, uint64_t);
#define ENTRY(name) { "millrace_" #name, name },
static const struct kernel { const char *name; body run; } kernels[] = { GPU_KERNELS(ENTRY) };
static struct { memory p; size_t n; int managed; } block[BLOCKS];
static size_t taken;
static struct { const char *name; long calls; } count[64];
static int streams;

static size_t size_of_device(void)
{
    const char *s = getenv("MILLRACE_CUDA_BYTES");
    return s ? (size_t)atoll(s) : (size_t)1 << 32;
}

static void report(void)
{
    const char *path = getenv("MILLRACE_CUDA_CALLS");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (int i = 0; f && count[i].name; i++) fprintf(f, "%s %ld\n", count[i].name, count[i].calls);
    if (f) fclose(f);
}

/* counts; 1: this call is to fail */
static int called(const char *name)
{
    const char *s = getenv("MILLRACE_CUDA_FAIL");
    size_t n = strlen(name), i = 0;
    static int first = 1;
    if (first) atexit(report);
    first = 0;
    while (count[i].name && strcmp(count[i].name, name)) i++;
    count[i].name = name;
    count[i].calls++;
    return s && !strncmp(s, name, n) && s[n] == ':' && atol(s + n + 1) == count[i].calls;
}
#define CALLED if (called(__func__)) return ILLEGAL

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int cuInit(unsigned flags) { CALLED; return flags ? INVALID : OK; }
int cuDeviceGetCount(int *n) { CALLED; *n = 1; return OK; }
int cuDeviceGet(int *d, int i) { CALLED; *d = i; return i ? INVALID : OK; }
int cuDeviceGetName(char *s, int n, int d)
{
    CALLED;
    snprintf(s, (size_t)n, "stand-in on the CPU");
    return d ? INVALID : OK;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { CALLED; (void)d; *c = &taken; return OK; }
int cuDevicePrimaryCtxRelease_v2(int d) { CALLED; (void)d; return taken ? ILLEGAL : OK; }   /* all was given back */
int cuCtxSetCurrent(void *c) { CALLED; return c == &taken ? OK : INVALID; }
int cuMemGetInfo_v2(size_t *left, size_t *all) { CALLED; *all = size_of_device(); *left = *all - taken; return OK; }

static int take(memory *p, size_t n, int managed)
{
    if (!n) return INVALID;
    if (!managed && n > size_of_device() - taken) return OUT_OF_MEMORY;
    void *at = NULL;
    if (posix_memalign(&at, 256, n)) return OUT_OF_MEMORY;
    memset(at, 0xff, n);                                 /* what is not written first is no number */
    size_t i = 0;
    while (i < BLOCKS && block[i].p) i++;
    if (i == BLOCKS) return OUT_OF_MEMORY;
    block[i].p = *p = (memory)(uintptr_t)at;
    block[i].n = n;
    block[i].managed = managed;
    if (!managed) taken += n;
    return OK;
}
int cuMemAlloc_v2(memory *p, size_t n) { CALLED; return take(p, n, 0); }
int cuMemAllocManaged(memory *p, size_t n, unsigned flags) { CALLED; return flags == 1 ? take(p, n, 1) : INVALID; }
int cuMemFree_v2(memory p)
{
    CALLED;
    for (size_t i = 0; i < BLOCKS; i++) {
        if (!p || block[i].p != p) continue;
        if (!block[i].managed) taken -= block[i].n;
        block[i].p = 0;
        free((void *)(uintptr_t)p);
        return OK;
    }
    return INVALID;
}
/* does the device own these bytes? */
static int owns(memory p, size_t n)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (block[i].p && p >= block[i].p && n <= block[i].n && p - block[i].p <= block[i].n - n) return 1;
    return 0;
}
int cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
    CALLED;
    (void)flags;
    *p = malloc(n);
    if (*p) memset(*p, 0xff, n);
    return *p ? OK : OUT_OF_MEMORY;
}
int cuMemFreeHost(void *p) { CALLED; free(p); return OK; }

static void do_until(struct stream *s, const struct late *last)
{
    while (s->first) {
        struct late *l = s->first;
        int end = l == last;
        memcpy(l->to, l->from, l->n);
        if (!(s->first = l->next)) s->end = &s->first;
        free(l);
        if (end) return;
    }
}
static int copy(struct stream *s, void *to, const void *from, size_t n)
{
    const char *late = getenv("MILLRACE_CUDA_LATE");
    struct late *l = malloc(sizeof *l);
    if (!l) return OUT_OF_MEMORY;
    *l = (struct late){ s, to, from, n, NULL };
    *s->end = l;
    s->end = &l->next;
    if (!s->second || !late) do_until(s, NULL);
    else if (s->second) memset(to, 0xff, n);             /* too early a look finds no numbers */
    return OK;
}
int cuMemcpyHtoDAsync_v2(memory to, const void *from, size_t n, struct stream *s)
{
    CALLED;
    return owns(to, n) ? copy(s, (void *)(uintptr_t)to, from, n) : INVALID;
}
int cuMemcpyDtoHAsync_v2(void *to, memory from, size_t n, struct stream *s)
{
    CALLED;
    return owns(from, n) ? copy(s, to, (const void *)(uintptr_t)from, n) : INVALID;
}
int cuStreamCreate(struct stream **s, unsigned flags)
{
    CALLED;
    (void)flags;
    if (!(*s = calloc(1, sizeof **s))) return OUT_OF_MEMORY;
    (*s)->end = &(*s)->first;
    (*s)->second = streams++ > 0;
    return OK;
}
int cuStreamDestroy_v2(struct stream *s) { CALLED; do_until(s, NULL); streams--; free(s); return OK; }
int cuStreamSynchronize(struct stream *s) { CALLED; do_until(s, NULL); return OK; }
int cuEventCreate(struct event **e, unsigned flags)
{
    CALLED;
    (void)flags;
    return (*e = calloc(1, sizeof **e)) ? OK : OUT_OF_MEMORY;
}
int cuEventDestroy_v2(struct event *e) { CALLED; free(e); return OK; }
int cuEventRecord(struct event *e, struct stream *s)
{
    CALLED;
    struct late *last = s->first;
    while (last && last->next) last = last->next;
    *e = (struct event){ now(), s, 1, last };
    return OK;
}
int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags)
{
    CALLED;
    (void)flags;
    if (!e->recorded) return OK;
    for (const struct late *l = e->stream->first; l; l = l->next)
        if (l == e->upto) {                              /* not done yet */
            if (e->stream != s) do_until(e->stream, e->upto);
            break;
        }
    return OK;
}
int cuEventElapsedTime(float *ms, struct event *a, struct event *b)
{
    CALLED;
    if (!a->recorded || !b->recorded) return INVALID;
    *ms = (float)(b->at - a->at);
    return OK;
}
int cuModuleLoadData(void **m, const void *text)
{
    CALLED;
    *m = strdup(text);
    return strstr(text, ".target sm_") ? OK : INVALID;
}
int cuModuleUnload(void *m) { CALLED; free(m); return OK; }
int cuModuleGetFunction(void **f, void *m, const char *name)
{
    CALLED;
    char entry[100];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(kernels[i].name, name) || !strstr(m, entry)) continue;
        memcpy(f, &(const struct kernel *){ &kernels[i] }, sizeof *f);
        return OK;
    }
    return NOT_FOUND;
}
int cuLaunchKernel(const struct kernel *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, struct stream *s, void **parameters, void **extra)
{
    CALLED;
    const struct gpu_call *c = parameters[0];
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || shared || extra || !gx || bx > 1024) return INVALID;
    do_until(s, NULL);
    for (uint64_t i = 0; i < (uint64_t)gx * bx && i < c->threads; i++) f->run(c, i);
    return (uint64_t)gx * bx >= c->threads ? OK : INVALID;
}
int cuGetErrorName(int error, const char **s)
{
    *s = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == ILLEGAL ? "CUDA_ERROR_ILLEGAL_ADDRESS"
       : error == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_INVALID_VALUE";
    return OK;
}

#include "place/cuda.h"
#include "base/mem.h"
#include "base/message.h"
#include "place/guest/kernels.h"
#include "place/ptx.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, NAME_BYTES = 256, NON_BLOCKING = 1, ATTACH_GLOBAL = 1, PORTABLE = 1 };

/* result, name, parameters: as documented, with the suffix of the version that 64-bit programs get */
#define FUNCTIONS(X) \
    X(cuInit, (unsigned)) X(cuDeviceGetCount, (int *)) X(cuDeviceGet, (int *, int)) \
    X(cuDeviceGetName, (char *, int, int)) X(cuDevicePrimaryCtxRetain, (void **, int)) \
    X(cuDevicePrimaryCtxRelease_v2, (int)) X(cuCtxSetCurrent, (void *)) X(cuMemGetInfo_v2, (size_t *, size_t *)) \
    X(cuMemAlloc_v2, (gpu_memory *, size_t)) X(cuMemAllocManaged, (gpu_memory *, size_t, unsigned)) \
    X(cuMemFree_v2, (gpu_memory)) X(cuMemHostAlloc, (void **, size_t, unsigned)) X(cuMemFreeHost, (void *)) \
    X(cuMemcpyHtoDAsync_v2, (gpu_memory, const void *, size_t, gpu_stream)) \
    X(cuMemcpyDtoHAsync_v2, (void *, gpu_memory, size_t, gpu_stream)) X(cuStreamCreate, (gpu_stream *, unsigned)) \
    X(cuStreamDestroy_v2, (gpu_stream)) X(cuStreamSynchronize, (gpu_stream)) \
    X(cuStreamWaitEvent, (gpu_stream, gpu_event, unsigned)) X(cuEventCreate, (gpu_event *, unsigned)) \
    X(cuEventDestroy_v2, (gpu_event)) X(cuEventRecord, (gpu_event, gpu_stream)) \
    X(cuEventElapsedTime, (float *, gpu_event, gpu_event)) X(cuModuleLoadData, (void **, const void *)) \
    X(cuModuleGetFunction, (void **, void *, const char *)) X(cuModuleUnload, (void *)) \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, \
                       void **, void **)) \
    X(cuGetErrorName, (int, const char **))

#define KERNEL_NAME(name) "millrace_" #name,
static const char *const kernel_name[] = { GPU_KERNELS(KERNEL_NAME) };
enum { KERNELS = sizeof kernel_name / sizeof *kernel_name };

struct gpu {
    int device;
    char name[NAME_BYTES];
    void *library, *context, *module, *kernel[KERNELS];
#define MEMBER(name, parameters) int (*name) parameters;
    FUNCTIONS(MEMBER)
};

static const char *error_name(const struct gpu *g, int error)
{
    const char *s = NULL;
    return g->cuGetErrorName(error, &s) == 0 && s ? s : "an error without a name";
}

/* dies unless the call went well */
#define MUST(g, function, ...) \
    do { \
        int error_ = (g)->function(__VA_ARGS__); \
        if (error_) die("GPU %d: %s: %s (%d)", (g)->device, #function, error_name(g, error_), error_); \
    } while (0)

static void find(struct gpu *g, const char *name, void *function)
{
    void *p = dlsym(g->library, name);
    if (!p) die("libcuda.so.1 has no %s: the driver is too old", name);
    memcpy(function, &p, sizeof p);
}

struct gpu *gpu_open(int device)
{
    struct gpu *g = xcalloc(1, sizeof *g);
    g->device = device;
    g->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!g->library) die("no GPU can be used here: %s", dlerror());
    if (!*ptx_text) die("this millrace was built without the GPU's kernels: build it again where clang is");
#define FIND(name, parameters) find(g, #name, &g->name);
    FUNCTIONS(FIND)
    int n = 0, id;
    MUST(g, cuInit, 0);
    MUST(g, cuDeviceGetCount, &n);
    if (device >= n) die("there is no GPU %d: the driver knows %d", device, n);
    MUST(g, cuDeviceGet, &id, device);
    MUST(g, cuDeviceGetName, g->name, NAME_BYTES, id);
    MUST(g, cuDevicePrimaryCtxRetain, &g->context, id);
    MUST(g, cuCtxSetCurrent, g->context);
    MUST(g, cuModuleLoadData, &g->module, ptx_text);
    for (int i = 0; i < KERNELS; i++) MUST(g, cuModuleGetFunction, &g->kernel[i], g->module, kernel_name[i]);
    return g;
}

void gpu_close(struct gpu *g)
{
    MUST(g, cuModuleUnload, g->module);
    MUST(g, cuDevicePrimaryCtxRelease_v2, g->device);
    dlclose(g->library);
    free(g);
}

const char *gpu_name(const struct gpu *g) { return g->name; }
bool gpu_is_real(const struct gpu *g) { return strncmp(g->name, "stand-in", 8) != 0; }

size_t gpu_free_bytes(struct gpu *g)
{
    size_t left, all;
    MUST(g, cuMemGetInfo_v2, &left, &all);
    return left;
}

gpu_memory gpu_take(struct gpu *g, size_t bytes, bool managed, const char *what)
{
    gpu_memory p = 0;
    size_t left = gpu_free_bytes(g);
    if (!managed && bytes > left) die("GPU %d: %s takes %zu bytes, %zu are free", g->device, what, bytes, left);
    if (managed) MUST(g, cuMemAllocManaged, &p, bytes, ATTACH_GLOBAL);
    else MUST(g, cuMemAlloc_v2, &p, bytes);
    return p;
}

void gpu_give(struct gpu *g, gpu_memory p) { MUST(g, cuMemFree_v2, p); }

void *gpu_pinned(struct gpu *g, size_t bytes)
{
    void *p = NULL;
    MUST(g, cuMemHostAlloc, &p, bytes, PORTABLE);
    return p;
}

void gpu_pinned_free(struct gpu *g, void *p) { MUST(g, cuMemFreeHost, p); }

gpu_stream gpu_stream_new(struct gpu *g)
{
    gpu_stream s;
    MUST(g, cuStreamCreate, &s, NON_BLOCKING);
    return s;
}

void gpu_stream_free(struct gpu *g, gpu_stream s) { MUST(g, cuStreamDestroy_v2, s); }
void gpu_finish(struct gpu *g, gpu_stream s) { MUST(g, cuStreamSynchronize, s); }

gpu_event gpu_event_new(struct gpu *g)
{
    gpu_event e;
    MUST(g, cuEventCreate, &e, 0);
    return e;
}

void gpu_event_free(struct gpu *g, gpu_event e) { MUST(g, cuEventDestroy_v2, e); }
void gpu_record(struct gpu *g, gpu_event e, gpu_stream s) { MUST(g, cuEventRecord, e, s); }
void gpu_wait(struct gpu *g, gpu_stream s, gpu_event e) { MUST(g, cuStreamWaitEvent, s, e, 0); }

double gpu_seconds(struct gpu *g, gpu_event from, gpu_event to)
{
    float ms;
    MUST(g, cuEventElapsedTime, &ms, from, to);
    return (double)ms * 1e-3;
}

void gpu_to_device(struct gpu *g, gpu_memory to, const void *from, size_t n, gpu_stream s)
{
    MUST(g, cuMemcpyHtoDAsync_v2, to, from, n, s);
}
void gpu_to_host(struct gpu *g, void *to, gpu_memory from, size_t n, gpu_stream s)
{
    MUST(g, cuMemcpyDtoHAsync_v2, to, from, n, s);
}

void gpu_launch(struct gpu *g, int kernel, const struct gpu_call *call, gpu_stream s)
{
    struct gpu_call copy = *call;
    void *parameters[] = { &copy };
    uint64_t blocks = (call->threads + THREADS - 1) / THREADS;
    if (!blocks) return;
    if (blocks > INT32_MAX) die("internal: a kernel of %llu blocks", (unsigned long long)blocks);
    MUST(g, cuLaunchKernel, g->kernel[kernel], (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, s, parameters, NULL);
}

/* cuda.h - the few functions of NVIDIA's driver that a training step needs, found in libcuda.so.1 while we run.
 *
 * No toolkit and none of its headers: the declarations follow the documented driver API.  Kernels are PTX text, which
 * the driver compiles for whatever GPU there is.  Every failure ends the program with the function and the driver's
 * name for the error; a machine without the library or without such a device says so. */
#ifndef MILLRACE_PLACE_CUDA_H
#define MILLRACE_PLACE_CUDA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpu_memory;                             /* CUdeviceptr */
typedef struct CUstream_st *gpu_stream;
typedef struct CUevent_st *gpu_event;
struct gpu_call;
struct gpu;

struct gpu *gpu_open(int device);                        /* dies with a clear message */
void gpu_close(struct gpu *);
const char *gpu_name(const struct gpu *);
bool gpu_is_real(const struct gpu *);                    /* false: a stand-in for the driver, named so */
size_t gpu_free_bytes(struct gpu *);

gpu_memory gpu_take(struct gpu *, size_t bytes, bool managed, const char *what);
void gpu_give(struct gpu *, gpu_memory);
void *gpu_pinned(struct gpu *, size_t bytes);            /* of the host, reached by copies beside kernels */
void gpu_pinned_free(struct gpu *, void *);

gpu_stream gpu_stream_new(struct gpu *);
void gpu_stream_free(struct gpu *, gpu_stream);
void gpu_finish(struct gpu *, gpu_stream);
gpu_event gpu_event_new(struct gpu *);
void gpu_event_free(struct gpu *, gpu_event);
void gpu_record(struct gpu *, gpu_event, gpu_stream);
void gpu_wait(struct gpu *, gpu_stream, gpu_event);      /* what comes after it in the stream waits */
double gpu_seconds(struct gpu *, gpu_event from, gpu_event to);   /* both over */

void gpu_to_device(struct gpu *, gpu_memory, const void *, size_t, gpu_stream);
void gpu_to_host(struct gpu *, void *, gpu_memory, size_t, gpu_stream);
void gpu_launch(struct gpu *, int kernel, const struct gpu_call *, gpu_stream);   /* kernel: index in GPU_KERNELS */
#endif

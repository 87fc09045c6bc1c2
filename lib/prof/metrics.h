/* metrics.h - the IML toolkit's times and ratios, from cells or from its own raw times.
 *
 * From cells every time is a sum of T(S) over sets S (never negative, no assumption on waiting); from raw times the
 * formulas are the original's: Cpp = CppAndGPU - GPU, CudaCpp = GPUAndCudaCpp - GPU, which is negative when launches
 * are asynchronous, and so on.  Both agree for synchronous programs.  Times are in ns while they are added up. */
#ifndef MILLRACE_METRICS_H
#define MILLRACE_METRICS_H
#include "prof/cells.h"

enum metric {
    TOTAL, CPP_AND_GPU, CPP, FRAMEWORK_CPP, CUDA_CPP, GPU_TIME, GPU_AND_CUDA_CPP, PYTHON_TIME, SANITY_TOTAL,
    PERCENT_GPU, PERCENT_PYTHON, THEORETICAL_SPEEDUP, PYTHON_OVERHEAD, METRICS
};
extern const char *const metric_name[METRICS];           /* that toolkit's field names, TotalTimeSec and so on */

struct metrics { int64_t python, c, c_cpu, cuda, cuda_cpu, framework_cpu, gpu; };   /* ns */
void metrics_add(struct metrics *, const char *cats, int64_t total);
void metrics_of(const struct metrics *, double out[METRICS]);
/* seconds */
void metrics_from_raw(double python, double cpp_and_gpu, double gpu, double gpu_and_cuda_cpp, double out[METRICS]);
#endif

/* metrics.c - see metrics.h */
#include "prof/metrics.h"
#include <math.h>

const char *const metric_name[METRICS] = { "TotalTimeSec",         "CppAndGPUTimeSec",    "CppTimeSec",
                                           "FrameworkCppTimeSec",  "CudaCppTimeSec",      "GPUTimeSec",
                                           "GPUAndCudaCppTimeSec", "PythonTimeSec",       "SanityTotalTimeSec",
                                           "PercentTimeInGPU",     "PercentTimeInPython", "TheoreticalSpeedup",
                                           "PythonOverheadPercent" };

void metrics_add(struct metrics *m, const char *cats, int64_t t)
{
    bool gpu = set_has_gpu(cats), cuda = set_has(cats, "CUDA"), backend = set_has(cats, "Backend");
    bool c = backend || cuda || set_has(cats, "Simulator") || set_has(cats, "C"), python = set_has(cats, "Python");
    if (python) m->python += t;
    if (gpu) m->gpu += t;
    if (c) m->c += t;
    if (c && !gpu) m->c_cpu += t;
    if (cuda) m->cuda += t;
    if (cuda && !gpu) m->cuda_cpu += t;
    if (backend && !cuda && !gpu) m->framework_cpu += t;
}

static void ratios(double v[METRICS])
{
    v[PERCENT_GPU] = 100 * v[GPU_TIME] / v[TOTAL];
    v[PERCENT_PYTHON] = 100 * v[PYTHON_TIME] / v[TOTAL];
    bool other = v[CPP_AND_GPU] > 0;                     /* else there is nothing but Python, and no ratio */
    v[PYTHON_OVERHEAD] = other ? 100 * v[PYTHON_TIME] / v[CPP_AND_GPU] : NAN;
    v[THEORETICAL_SPEEDUP] = other ? v[TOTAL] / v[CPP_AND_GPU] : NAN;
}

void metrics_of(const struct metrics *m, double v[METRICS])
{
    v[PYTHON_TIME] = (double)m->python * 1e-9;
    v[CPP_AND_GPU] = (double)m->c * 1e-9;
    v[GPU_TIME] = (double)m->gpu * 1e-9;
    v[CPP] = (double)m->c_cpu * 1e-9;
    v[CUDA_CPP] = (double)m->cuda_cpu * 1e-9;
    v[GPU_AND_CUDA_CPP] = (double)m->cuda * 1e-9;
    v[FRAMEWORK_CPP] = (double)m->framework_cpu * 1e-9;
    v[TOTAL] = (double)(m->python + m->c) * 1e-9;
    v[SANITY_TOTAL] = (double)(m->c_cpu + (m->c - m->c_cpu) + m->python) * 1e-9;
    ratios(v);
}

void metrics_from_raw(double python, double cpp_and_gpu, double gpu, double api, double v[METRICS])
{
    v[PYTHON_TIME] = python;
    v[CPP_AND_GPU] = cpp_and_gpu;
    v[GPU_TIME] = gpu;
    v[GPU_AND_CUDA_CPP] = api;
    v[CPP] = cpp_and_gpu - gpu;
    v[CUDA_CPP] = api - gpu;
    v[FRAMEWORK_CPP] = cpp_and_gpu - api;
    v[TOTAL] = cpp_and_gpu + python;
    v[SANITY_TOTAL] = v[CPP] + gpu + python;
    ratios(v);
}

#include "tensor/blas.h"
#include <cblas.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void blas_for_this_cpu(char **argv)
{
#if defined(__x86_64__)
    const char *core = openblas_get_corename();
    bool wide =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (!wide || getenv("OPENBLAS_CORETYPE") || !core || (strcmp(core, "Haswell") && strcmp(core, "Zen"))) return;
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
    execv("/proc/self/exe", argv);                       /* when it fails, the slower kernels are still right */
#else
    (void)argv;
#endif
}

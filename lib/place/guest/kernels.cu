/* kernels.cu - the kernels of kernels.h as PTX, by clang alone: no toolkit, no header of anybody else's. */
#define GPU_BODIES
#define GPU_FUNCTION __attribute__((device)) static inline
#include "kernels.h"

#define ENTRY(name) \
    extern "C" __attribute__((global)) void millrace_##name(const struct gpu_call c) \
    { \
        uint64_t i = (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + \
                     __nvvm_read_ptx_sreg_tid_x(); \
        if (i < c.threads) name(&c, i); \
    }
GPU_KERNELS(ENTRY)

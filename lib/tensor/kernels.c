#include "tensor/kernels.h"
#include "tensor/kernels_sets.h"
#include <string.h>

static bool runs(const struct kernels *k)
{
#if defined(__x86_64__)
    if (k == &kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("fma");
    if (k == &kernels_avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return k != NULL;
}

const struct kernels *kernels_for(const char *name)
{
    static const struct kernels *const sets[] = {
#if defined(__x86_64__)
        &kernels_avx512, &kernels_avx2,
#endif
        &kernels_vector,
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (runs(sets[i]) && (!name || !strcmp(name, sets[i]->name))) return sets[i];
    return NULL;
}

/* the widest need: a band of padded input plus one image row more than the aim, and transposed weights */
size_t conv_scratch(const struct conv *c)
{
    size_t wide = (size_t)(c->iw > c->ow ? c->iw : c->ow) + 2 * (size_t)c->kw + (size_t)c->pw * 2 + 2;
    size_t channels = (size_t)(c->ic > c->oc ? c->ic : c->oc) + BLOCK;
    size_t rows = (size_t)c->kh + (size_t)c->stride + 1;
    size_t weights = 2 * BLOCK * ((size_t)c->oc + BLOCK) * (size_t)(c->kh * c->kw);
    if (weights < CONV_TURNED) weights = CONV_TURNED;
    return ((80u << 10) + (rows + 1) * wide * channels + weights + 15) / 16 * 16;
}

/* kernels_sets.h - the variants that kernels.c chooses from. */
#ifndef MILLRACE_PLACE_KERNELS_SETS_H
#define MILLRACE_PLACE_KERNELS_SETS_H
#include "tensor/kernels.h"

extern const struct kernels kernels_avx512, kernels_avx2, kernels_vector;
#endif

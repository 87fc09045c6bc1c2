/* kernels_avx512.c - the kernels for AVX512. */
#define LANES 16
#define TILE 14
#define PAIR 2
#define SUMS 16
#define TABLE kernels_avx512
#define TABLE_NAME "avx512"
#include "tensor/kernels_sets.h"
#if defined(__x86_64__)
#include "tensor/kernels_body.h"
#endif

/* kernels_avx2.c - the kernels for AVX2. */
#define LANES 8
#define TILE 6
#define PAIR 1
#define SUMS 12
#define TABLE kernels_avx2
#define TABLE_NAME "avx2"
#include "tensor/kernels_sets.h"
#if defined(__x86_64__)
#include "tensor/kernels_body.h"
#endif

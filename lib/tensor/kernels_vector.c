/* kernels_vector.c - the kernels in 16-byte vectors, which every machine has: SSE2, NEON. */
#define LANES 4
#define TILE 3
#define PAIR 1
#define SUMS 12
#define TABLE kernels_vector
#define TABLE_NAME "vector"
#include "tensor/kernels_sets.h"
#include "tensor/kernels_body.h"

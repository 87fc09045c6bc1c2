/* avx2.h - a processor without AVX-512, for C text that looks what is here: operands may end where memory does, which
 * qemu does not bear */
#include <cpuid.h>
#undef bit_AVX512F
#define bit_AVX512F 0

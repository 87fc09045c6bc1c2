/* blas.h - makes the packaged OpenBLAS use the vector unit that the processor has.
 *
 * OpenBLAS 0.3.21 takes processors it does not know for Haswell and leaves AVX-512 idle (121 instead of 230 GFLOP/s);
 * it reads OPENBLAS_CORETYPE only when it is loaded, so the program starts itself again with it set. */
#ifndef MILLRACE_PLACE_BLAS_H
#define MILLRACE_PLACE_BLAS_H

void blas_for_this_cpu(char **argv);                     /* returns when nothing is to be done; before input is read */
#endif

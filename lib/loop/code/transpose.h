/* transpose.h - transposes of float matrices in registers, the inner part of a change of layout. */
#ifndef MILLRACE_TRANSPOSE_H
#define MILLRACE_TRANSPOSE_H

/* to[c * to_row + r] = from[r * from_row + c] for r < rows, c < cols; rows of both are contiguous, nothing overlaps */
typedef void transpose_fn(const float *from, long from_row, float *to, long to_row, long rows, long cols);
transpose_fn transpose_avx2, transpose_avx512;
#endif

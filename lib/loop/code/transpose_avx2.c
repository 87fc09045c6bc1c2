#include "loop/code/transpose.h"
#include <immintrin.h>

static void block(const float *from, long from_row, float *to, long to_row)
{
    __m256 r[8], t[8];
    for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(from + i * from_row);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            r[i + 2 * j] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0x44);
            r[i + 2 * j + 1] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0xee);
        }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

void transpose_avx2(const float *from, long from_row, float *to, long to_row, long rows, long cols)
{
    for (long c = 0; c < cols; c += 8)
        for (long r = 0; r < rows; r += 8) {
            if (rows - r >= 8 && cols - c >= 8) {
                block(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
                continue;
            }
            for (long j = c; j < cols && j < c + 8; j++)
                for (long i = r; i < rows && i < r + 8; i++) to[j * to_row + i] = from[i * from_row + j];
        }
}

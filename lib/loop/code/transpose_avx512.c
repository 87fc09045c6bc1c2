#include "loop/code/transpose.h"
#include <immintrin.h>

static inline __mmask16 first(long n) { return n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1); }

static void block(const float *from, long from_row, float *to, long to_row, long rows, long cols)
{
    __m512 r[16], t[16];
    __mmask16 in = first(cols), out = first(rows);
    for (int i = 0; i < 16; i++) r[i] = i < rows ? _mm512_maskz_loadu_ps(in, from + i * from_row) : _mm512_setzero_ps();
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int j = 0; j < 2; j++) {
            __m512d a = _mm512_castps_pd(t[i + j]), b = _mm512_castps_pd(t[i + j + 2]);
            r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    for (int j = 0; j < 4; j++)                          /* 4 x 4 transposes are done in every 128-bit part */
        for (int i = 0; i < 16; i += 8) {
            t[i + j] = _mm512_shuffle_f32x4(r[i + j], r[i + j + 4], 0x88);
            t[i + j + 4] = _mm512_shuffle_f32x4(r[i + j], r[i + j + 4], 0xdd);
        }
    for (int j = 0; j < 8; j++) {
        r[j] = _mm512_shuffle_f32x4(t[j], t[j + 8], 0x88);
        r[j + 8] = _mm512_shuffle_f32x4(t[j], t[j + 8], 0xdd);
    }
    for (int i = 0; i < 16 && i < cols; i++) _mm512_mask_storeu_ps(to + i * to_row, out, r[i]);
}

void transpose_avx512(const float *from, long from_row, float *to, long to_row, long rows, long cols)
{
    for (long c = 0; c < cols; c += 16)
        for (long r = 0; r < rows; r += 16)
            block(from + r * from_row + c, from_row, to + c * to_row + r, to_row, rows - r < 16 ? rows - r : 16,
                  cols - c < 16 ? cols - c : 16);
}

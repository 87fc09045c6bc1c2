/* Zeros around an image. */
typedef void line_of(int store, const void *from, float *to, int64_t n);

WIDE static void line16(int store, const void *from, float *to, int64_t n)       /* from: 0 are zeros */
{
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 y = _mm512_setzero_ps();
        if (from && store < CARRY_HALVES_F16) {
            y = _mm512_maskz_loadu_ps(m, (const float *)from + i);
        } else if (from) {
            __m256i h = _mm256_maskz_loadu_epi16(m, (const half_word *)from + i);
            y = store == CARRY_HALVES_F16 ? _mm512_cvtph_ps(h)
                                          : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
        }
        _mm512_mask_storeu_ps(to + i, m, y);
    }
}

static inline void line1(int store, const void *from, float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        __asm__ volatile("" : : : "memory");             /* or a compiler makes a call of memset of it */
        to[i] = !from ? 0 : bytes_stored(store) ? wide1(store, from, i) : ((const float *)from)[i];
    }
}

NARROW static void line8(int store, const void *from, float *to, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 y = _mm256_setzero_ps();
        if (from && store < CARRY_HALVES_F16) {
            y = _mm256_loadu_ps((const float *)from + i);
        } else if (from) {
            __m128i h = _mm_loadu_si128((const __m128i *)(const void *)((const half_word *)from + i));
            y = store == CARRY_HALVES_F16 ? _mm256_cvtph_ps(h)
                                          : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
        }
        _mm256_storeu_ps(to + i, y);
    }
    line1(store, from ? (const char *)from + i * (bytes_stored(store) ? 2 : 4) : 0, to + i, n - i);
}

void carry_surround(const struct carry_pad *q, int store, const void *from, float *to, int have)
{
    line_of *line = bytes_stored(store) == 1 ? line1 : have & CARRY_AVX512 ? line16 : have & CARRY_AVX2 ? line8 : line1;
    const int last = q->n - 1, words = store == CARRY_DOUBLES ? 2 : 1;
    const int64_t bytes = bytes_stored(store) ? bytes_stored(store) : words * 4;
    const int64_t before = q->before[last], size = q->size[last], after = q->after[last];
    int64_t at[CARRY_VARS] = { 0 };
    for (int more = 1; more; to += (before + size + after) * words) {
        int zeros = 0, i = last;
        for (int d = 0; d < last; d++) zeros |= at[d] < q->before[d] || at[d] >= q->before[d] + q->size[d];
        if (zeros) {
            line(store, 0, to, (before + size + after) * words);
        } else {
            line(store, 0, to, before * words);
            line(store, from, to + before * words, size * words);
            line(store, 0, to + (before + size) * words, after * words);
            from = (const char *)from + size * bytes;
        }
        while (i-- > 0) {
            if (++at[i] < q->before[i] + q->size[i] + q->after[i]) break;
            at[i] = 0;
        }
        more = i >= 0;
    }
}

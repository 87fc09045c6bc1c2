#include "loop/code/carry.h"
#include <cpuid.h>
#include <immintrin.h>

#define NARROW __attribute__((target("avx2,fma,f16c")))
#define WIDE   __attribute__((target("avx512f,avx512vl,avx512bw,avx2,fma,f16c")))

typedef double eight __attribute__((may_alias));
typedef uint16_t half_word __attribute__((may_alias));
typedef int32_t word __attribute__((may_alias));

/* ---- numbers of two bytes ---- */

static inline float half(uint32_t bits)                  /* the number of a bf16: the upper half of a float */
{
    union { uint32_t u; float f; } x = { bits << 16 };
    return x.f;
}

static inline float half_f16(uint32_t h)
{
    uint32_t e = h >> 10 & 31, m = h & 1023;
    union { uint32_t u; float f; } x = { (e == 31 ? 255 : e + 112) << 23 | m << 13 };
    if (!e) x.f = (float)m * 0x1p-24f;
    x.u |= (h & 0x8000) << 16;
    return x.f;
}

static inline float wide1(int store, uint32_t h) { return store == CARRY_HALVES_F16 ? half_f16(h) : half(h); }

static inline uint16_t cast1(float y)
{
    union { float f; uint32_t u; } x = { y };
    return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
}

static inline uint16_t cast1_f16(float y)
{
    union { float f; uint32_t u; } x = { y };
    uint32_t sign = x.u >> 16 & 0x8000;
    x.u &= 0x7fffffff;
    if (x.u > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (x.u >> 13 & 0x3ff));
    if (x.u >= 0x477ff000) return (uint16_t)(sign | 0x7c00);             /* 65520 and more: infinite */
    if (x.u >= 0x38800000) return (uint16_t)(sign | (x.u - (112u << 23) + 0xfff + (x.u >> 13 & 1)) >> 13);
    x.f += 0.5f;                                         /* whose last bit is 2^-24, that of what is denormal */
    return (uint16_t)(sign | (x.u - 0x3f000000));
}

void carry_widen(enum carry_store store, const void *from, float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = wide1((int)store, ((const half_word *)from)[i]);
}

uint16_t carry_narrow(enum carry_store store, float y)
{
    return store == CARRY_HALVES_F16 ? cast1_f16(y) : cast1(y);
}

/* ---- changes of layout: to[c * to_row + r] = from[r * from_row + c], in blocks of registers ---- */

NARROW static void block8(const float *from, int64_t from_row, float *to, int64_t to_row)
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

NARROW static void plane8(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols)
{
    for (int64_t c = 0; c < cols; c += 8)
        for (int64_t r = 0; r < rows; r += 8) {
            if (rows - r >= 8 && cols - c >= 8) {
                block8(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
                continue;
            }
            for (int64_t j = c; j < cols && j < c + 8; j++)
                for (int64_t i = r; i < rows && i < r + 8; i++) to[j * to_row + i] = from[i * from_row + j];
        }
}

WIDE static void block16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols)
{
    __m512 r[16], t[16];
    __mmask16 in = cols >= 16 ? 0xffff : (__mmask16)((1u << cols) - 1),
              out = rows >= 16 ? 0xffff : (__mmask16)((1u << rows) - 1);
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

WIDE static void plane16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols)
{
    for (int64_t c = 0; c < cols; c += 16)
        for (int64_t r = 0; r < rows; r += 16)
            block16(from + r * from_row + c, from_row, to + c * to_row + r, to_row, rows - r < 16 ? rows - r : 16,
                    cols - c < 16 ? cols - c : 16);
}

NARROW static void block4_double(const double *from, int64_t from_row, double *to, int64_t to_row)
{
    __m256d r[4], t[4];
    for (int i = 0; i < 4; i++) r[i] = _mm256_loadu_pd(from + i * from_row);
    for (int i = 0; i < 4; i += 2) {
        t[i] = _mm256_unpacklo_pd(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_pd(r[i], r[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        _mm256_storeu_pd(to + i * to_row, _mm256_permute2f128_pd(t[i], t[i + 2], 0x20));
        _mm256_storeu_pd(to + (i + 2) * to_row, _mm256_permute2f128_pd(t[i], t[i + 2], 0x31));
    }
}

NARROW static void plane_double(const double *from, int64_t from_row, double *to, int64_t to_row, int64_t rows,
                                int64_t cols)
{
    for (int64_t c = 0; c < cols; c += 4)
        for (int64_t r = 0; r < rows; r += 4) {
            if (rows - r >= 4 && cols - c >= 4) {
                block4_double(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
                continue;
            }
            for (int64_t j = c; j < cols && j < c + 4; j++)
                for (int64_t i = r; i < rows && i < r + 4; i++) to[j * to_row + i] = from[i * from_row + j];
        }
}

/* rows as they are but for bits that flip, from far apart to close together; the one eight further on is asked for
 * before */
WIDE static void lines16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols,
                         uint32_t flip)
{
    const __m512i bits = _mm512_set1_epi32((int)flip);
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row)
        for (int64_t c = 0; c < cols; c += 16) {
            __mmask16 m = cols - c >= 16 ? 0xffff : (__mmask16)((1u << (cols - c)) - 1);
            _mm_prefetch((const char *)(from + 8 * from_row + c), _MM_HINT_T0);
            _mm512_mask_storeu_epi32(to + c, m, _mm512_xor_si512(_mm512_maskz_loadu_epi32(m, from + c), bits));
        }
}

NARROW static void lines8(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {
        int64_t c = 0;
        for (; c + 8 <= cols; c += 8) {
            _mm_prefetch((const char *)(from + 8 * from_row + c), _MM_HINT_T0);
            _mm256_storeu_ps(to + c, _mm256_loadu_ps(from + c));
        }
        for (; c < cols; c++) to[c] = from[c];
    }
}

/* the same of halves, which become floats */
WIDE static void halves16(int store, const half_word *from, int64_t from_row, float *to, int64_t to_row, int64_t rows,
                          int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row)
        for (int64_t c = 0; c < cols; c += 16) {
            __mmask16 m = cols - c >= 16 ? 0xffff : (__mmask16)((1u << (cols - c)) - 1);
            __m256i h = _mm256_maskz_loadu_epi16(m, from + c);
            __m512 y = store == CARRY_HALVES_F16
                ? _mm512_cvtph_ps(h)
                : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
            _mm_prefetch((const char *)(from + 8 * from_row + c), _MM_HINT_T0);
            _mm512_mask_storeu_ps(to + c, m, y);
        }
}

NARROW static void halves8(int store, const half_word *from, int64_t from_row, float *to, int64_t to_row, int64_t rows,
                           int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {
        int64_t c = 0;
        for (; c + 8 <= cols; c += 8) {
            __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(from + c));
            _mm_prefetch((const char *)(from + 8 * from_row + c), _MM_HINT_T0);
            _mm256_storeu_ps(to + c, store == CARRY_HALVES_F16
                ? _mm256_cvtph_ps(h)
                : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)));
        }
        for (; c < cols; c++) to[c] = wide1(store, from[c]);
    }
}

/* halves of a plane: blocks of them become floats where they lie, then are transposed */
static void plane_halves(const struct carry_change *c, const half_word *from, int64_t from_row, float *to,
                         int64_t to_row, int64_t rows, int64_t cols)
{
    float block[256];
    for (int64_t i = 0; i < cols; i += 16)
        for (int64_t r = 0; r < rows; r += 16) {
            int64_t nr = rows - r < 16 ? rows - r : 16, nc = cols - i < 16 ? cols - i : 16;
            const half_word *at = from + r * from_row + i;
            if (c->wide) {
                halves16(c->store, at, from_row, block, 16, nr, nc);
                plane16(block, 16, to + i * to_row + r, to_row, nr, nc);
            } else {
                halves8(c->store, at, from_row, block, 16, nr, nc);
                plane8(block, 16, to + i * to_row + r, to_row, nr, nc);
            }
        }
}

/* the next place of the `outer` first variables, and where it is in both layouts; 0: all are back where they began */
static int next_outer(const struct carry_change *c, int outer, int64_t *at, int64_t *from, int64_t *to)
{
    for (int i = outer; i-- > 0; ) {
        *from += c->from[i];
        *to += c->to[i];
        if (++at[i] < c->size[i]) return 1;
        *from -= at[i] * c->from[i];
        *to -= at[i] * c->to[i];
        at[i] = 0;
    }
    return 0;
}

static inline float flipped(float x, uint32_t flip)
{
    union { float f; uint32_t u; } y = { x };
    y.u ^= flip;
    return y.f;
}

static void relayout(const struct carry_change *c, const float *from, float *to, int back)
{
    const uint32_t flip = c->store == CARRY_SIGNED ? 0x80808080 : 0;     /* 128 more, or less, of each byte */
    int last = c->nvar - 1, outer = c->nvar > 1 ? last - 1 : 0, d = c->store == CARRY_DOUBLES ? 2 : 1;
    int halves = c->store == CARRY_HALVES_F16 || c->store == CARRY_HALVES_BF16;  /* d: floats in an element */
    const half_word *h = (const half_word *)from;
    int64_t at[CARRY_VARS] = { 0 }, f = 0, t = 0;
    int planes = c->nvar > 1 && c->from[outer] == 1;
    for (int more = 1; more; ) {
        int64_t fast = c->edge && at[0] == c->size[0] - 1 ? c->edge : c->size[last];
        int64_t rows = back ? c->size[outer] : fast, cols = back ? fast : c->size[outer];
        if (halves && c->from[last] == 1 && c->wide)
            halves16(c->store, h + f, c->from[outer], to + t, c->to[outer], c->nvar > 1 ? c->size[outer] : 1, fast);
        else if (halves && c->from[last] == 1)
            halves8(c->store, h + f, c->from[outer], to + t, c->to[outer], c->nvar > 1 ? c->size[outer] : 1, fast);
        else if (halves && planes)
            plane_halves(c, h + f, c->from[last], to + t, c->to[outer], rows, cols);
        else if (c->from[last] == 1 && !back && c->wide)
            lines16(from + f * d, c->from[outer] * d, to + t * d, c->to[outer] * d, c->nvar > 1 ? c->size[outer] : 1,
                    fast * d, flip);
        else if (c->from[last] == 1 && !back)
            lines8(from + f * d, c->from[outer] * d, to + t * d, c->to[outer] * d, c->nvar > 1 ? c->size[outer] : 1,
                   fast * d);
        else if (planes && d == 2)
            plane_double((const eight *)from + (back ? t : f), back ? c->to[outer] : c->from[last],
                         (eight *)to + (back ? f : t), back ? c->from[last] : c->to[outer], rows, cols);
        else if (planes && c->wide)
            plane16(back ? from + t : from + f, back ? c->to[outer] : c->from[last], back ? to + f : to + t,
                    back ? c->from[last] : c->to[outer], rows, cols);
        else if (planes)
            plane8(back ? from + t : from + f, back ? c->to[outer] : c->from[last], back ? to + f : to + t,
                   back ? c->from[last] : c->to[outer], rows, cols);
        else
            for (int64_t i = 0, n = c->nvar > 1 ? c->size[outer] : 1; i < n; i++)
                for (int64_t j = 0; j < fast; j++) {
                    int64_t x = f + (n > 1 ? i * c->from[outer] : 0) + j * c->from[last];
                    int64_t y = t + (n > 1 ? i * c->to[outer] : 0) + j;
                    for (int l = 0; l < d; l++)
                        if (back) to[x * d + l] = from[y * d + l];
                        else if (halves) to[y] = wide1(c->store, h[x]);
                        else to[y * d + l] = flipped(from[x * d + l], flip);
                }
        more = next_outer(c, outer, at, &f, &t);
    }
}

void carry_forth(const struct carry_change *c, const float *from, float *to) { relayout(c, from, to, 0); }
void carry_back(const struct carry_change *c, const float *from, float *to) { relayout(c, from, to, 1); }

/* ---- zeros around an image ---- */

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
        to[i] = !from ? 0 : store >= CARRY_HALVES_F16 ? wide1(store, ((const half_word *)from)[i])
                                                      : ((const float *)from)[i];
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
    line1(store, from ? (const char *)from + i * (store >= CARRY_HALVES_F16 ? 2 : 4) : 0, to + i, n - i);
}

void carry_surround(const struct carry_pad *q, int store, const void *from, float *to, int have)
{
    line_of *line = have & CARRY_AVX512 ? line16 : have & CARRY_AVX2 ? line8 : line1;
    const int last = q->n - 1, words = store == CARRY_DOUBLES ? 2 : 1;
    const int64_t bytes = store >= CARRY_HALVES_F16 ? 2 : words * 4;
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

static const struct carry_variant *layout(const struct carry_kernel *, struct carry_state *);

/* where group i of column j lies in a B that is given, in groups */
static int64_t given_at(const struct carry_kernel *k, const struct carry_variant *v, int64_t i, int64_t j)
{
    const struct carry_change *c = &v->change[1];
    if (!v->given) return i * k->row[1] + j;
    if (c->nvar < 3) return c->nvar < 2 ? i + j : i * c->to[0] + j;
    return j / c->size[2] * c->to[0] + i * c->to[1] + j % c->size[2];
}

static inline uint32_t bytes_sum(uint32_t x)
{
    return (uint32_t)((int8_t)x + (int8_t)(x >> 8) + (int8_t)(x >> 16) + (int8_t)(x >> 24));
}

void carry_sums(float *packed, const struct carry_kernel *k, const struct carry_variant *v)
{
    const struct carry_change *c = &v->change[1];
    const int64_t n = k->row[1], groups = k->elements[1] / n, wide = c->nvar == 3 ? c->size[2] : n;
    if (!v->sums) return;
    for (int64_t j = 0; j < n; j += wide) {
        word *sum = (word *)packed + given_at(k, v, 0, j) + v->sums;
        const int64_t some = n - j < wide ? n - j : wide;
        for (int64_t l = 0; l < some; l++) sum[l] = 0;
        for (int64_t i = 0; i < groups; i++) {
            const word *at = (const word *)packed + given_at(k, v, i, j);
            for (int64_t l = 0; l < some; l++)
                sum[l] = (int32_t)((uint32_t)sum[l] - 128 * bytes_sum((uint32_t)at[l]));
        }
    }
}

void carry_pack(void *packed, const void *b, const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = layout(k, s);
    int64_t g = k->type == CARRY_F32 ? 1 : k->type == CARRY_BF16 ? 2 : 4, n = k->row[1], groups = k->elements[1] / n;
    for (int64_t i = 0; i < groups; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < g; l++) {
                int64_t to = given_at(k, v, i, j) * g + l, from = (i * g + l) * n + j;
                if (g == 1) ((float *)packed)[to] = ((const float *)b)[from];
                else if (g == 2) ((uint16_t *)packed)[to] = ((const uint16_t *)b)[from];
                else ((uint8_t *)packed)[to] = ((const uint8_t *)b)[from];
            }
    carry_sums(packed, k, v);
}

static inline int64_t bytes_of(const struct carry_kernel *k) { return k->type == CARRY_F64 ? 8 : 4; }

/* ---- plain loops ---- */

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
static inline void step_of(int type, int sign, float *c, const float *a, const float *b)
{
    union { float f; uint32_t u; } x = { *a }, y = { *b };
    if (type == CARRY_F32) {
        *c += *a * *b;
    } else if (type == CARRY_BF16) {
        *c += half(x.u & 0xffff) * half(y.u & 0xffff) + half(x.u >> 16) * half(y.u >> 16);
    } else {
        word *sum = (word *)c;
        for (int i = 0; i < 32; i += 8)
            *sum += (((int32_t)(x.u >> i & 255) ^ sign) - sign) * (int8_t)(y.u >> i & 255);
    }
}

typedef double vec4 __attribute__((vector_size(32), aligned(8), may_alias));

static inline __attribute__((always_inline)) void double_line(eight *c, int64_t sc, const eight *a, int64_t sa,
                                                              const eight *b, int64_t sb, int64_t n)
{
    int64_t i = 0;
    if (sc == 1 && sa == 0 && sb == 1)
        for (; i + 4 <= n; i += 4) *(vec4 *)(c + i) += *a * *(const vec4 *)(b + i);
    if (sc == 1 && sa == 1 && sb == 0)
        for (; i + 4 <= n; i += 4) *(vec4 *)(c + i) += *b * *(const vec4 *)(a + i);
    for (; i < n; i++) c[i * sc] += a[i * sa] * b[i * sb];
}

static inline __attribute__((always_inline)) void run_line(int op, int type, int sign, float *c, int64_t sc,
                                                           const float *a, int64_t sa, const float *b, int64_t sb,
                                                           int64_t n)
{
    int64_t i = 0;
    if (op == CARRY_FMA && type == CARRY_F32 && sc == 1 && sa == 0 && sb == 1)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) += *a * *(const vec8 *)(b + i);
    if (op == CARRY_FMA && type == CARRY_F32 && sc == 1 && sa == 1 && sb == 0)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) += *b * *(const vec8 *)(a + i);
    if (op == CARRY_ADD && sc == 1 && sa == 1 && sb == 1)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) = *(const vec8 *)(a + i) + *(const vec8 *)(b + i);
    if (op == CARRY_SUM && sc == 1 && sa == 1)
        for (; i + 8 <= n; i += 8) *(vec8 *)(c + i) += *(const vec8 *)(a + i);
    if (op == CARRY_SUM && sc == 0 && sa == 1 && n >= 32) {
        vec8 s[4] = { { 0 } };
        for (; i + 32 <= n; i += 32)
            for (int j = 0; j < 4; j++) s[j] += *(const vec8 *)(a + i + 8 * j);
        s[0] += s[1] + s[2] + s[3];
        for (int j = 0; j < 8; j++) *c += s[0][j];
    }
    for (; i < n; i++) {
        if (op == CARRY_FMA) step_of(type, sign, c + i * sc, a + i * sa, b + i * sb);
        else if (op == CARRY_SUM) c[i * sc] += a[i * sa];
        else c[i * sc] = op == CARRY_ADD ? a[i * sa] + b[i * sb] : a[i * sa];
    }
}

static inline __attribute__((always_inline)) void run_plain(const struct carry_kernel *k, float *c, const float *a,
                                                            const float *b)
{
    int in = k->nvar - 1;
    for (int v = 0; v < k->nvar; v++)
        if (k->stride[2][v] < 2 && k->stride[0][v] < 2 && k->stride[1][v] < 2 && k->size[v] > 7 &&
            (k->stride[2][v] || k->op == CARRY_SUM)) in = v;
    int64_t all = k->elements[2] * bytes_of(k) / 4;
    for (int64_t i = 0; i < all && !k->add; i++) c[i] = 0;
    int32_t at[CARRY_VARS] = { 0 };
    int64_t o[3] = { 0 };
    if (!k->elements[1]) b = a;
    for (int more = 1; more; ) {
        if (k->type == CARRY_F64)
            double_line((eight *)c + o[2], k->stride[2][in], (const eight *)a + o[0], k->stride[0][in],
                        (const eight *)b + o[1], k->stride[1][in], k->size[in]);
        else
            run_line(k->op, k->type, k->sign, c + o[2], k->stride[2][in], a + o[0], k->stride[0][in], b + o[1],
                     k->stride[1][in], k->size[in]);
        int v = k->nvar;
        while (v-- > 0) {
            if (v == in) continue;
            for (int t = 0; t < 3; t++) o[t] += k->stride[t][v];
            if (++at[v] < k->size[v]) break;
            for (int t = 0; t < 3; t++) o[t] -= at[v] * k->stride[t][v];
            at[v] = 0;
        }
        more = v >= 0;
    }
}

void carry_plain(const struct carry_kernel *k, float *c, const float *a, const float *b) { run_plain(k, c, a, b); }
NARROW static void plain_avx2(const struct carry_kernel *k, float *c, const float *a, const float *b)
{
    run_plain(k, c, a, b);
}

/* ---- what follows a sum ---- */

/* exp by 2^n and a polynomial, from -87 to 88; erf by Abramowitz and Stegun 7.1.26, within 1.5e-7 */
static const float EXP_LOW = -87.3f, EXP_HIGH = 88.3f, LOG2E = 1.44269504f, LN2_HIGH = 0.693359375f,
                   LN2_LOW = -2.12194440e-4f, ROOT_HALF = 0.70710678f, ERF_P = 0.3275911f;
static const float exp_c[6] = { 1.9875691e-4f, 1.3981999e-3f, 8.3334519e-3f, 4.1665795e-2f, 1.6666665e-1f, 0.5f };
static const float erf_c[5] = { 1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f };

WIDE static inline __m512 exp16(__m512 x)
{
    x = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(EXP_LOW)), _mm512_set1_ps(EXP_HIGH));
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(LOG2E)), 0);
    x = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_HIGH), x);
    x = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_LOW), x);
    __m512 y = _mm512_set1_ps(exp_c[0]);
    for (int i = 1; i < 6; i++) y = _mm512_fmadd_ps(y, x, _mm512_set1_ps(exp_c[i]));
    y = _mm512_add_ps(_mm512_fmadd_ps(_mm512_mul_ps(y, x), x, x), _mm512_set1_ps(1));
    return _mm512_scalef_ps(y, n);
}

WIDE static inline __m512 gelu16(__m512 x)
{
    __m512 z = _mm512_mul_ps(x, _mm512_set1_ps(ROOT_HALF)), one = _mm512_set1_ps(1), size = _mm512_abs_ps(z);
    __m512 t = _mm512_div_ps(one, _mm512_fmadd_ps(size, _mm512_set1_ps(ERF_P), one)), y = _mm512_set1_ps(erf_c[0]);
    for (int i = 1; i < 5; i++) y = _mm512_fmadd_ps(y, t, _mm512_set1_ps(erf_c[i]));
    __m512 e = exp16(_mm512_fnmadd_ps(z, z, _mm512_setzero_ps())), h = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
    __m512 far = _mm512_fnmadd_ps(_mm512_mul_ps(y, t), e, one);   /* erf of |z|; the product alone would be denormal */
    far = _mm512_mask_sub_ps(far, _mm512_cmp_ps_mask(z, _mm512_setzero_ps(), _CMP_LT_OQ), _mm512_setzero_ps(), far);
    return _mm512_fmadd_ps(h, far, h);
}

NARROW static inline __m256 exp8(__m256 x)
{
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(EXP_LOW)), _mm256_set1_ps(EXP_HIGH));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(LOG2E)), 8);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(LN2_HIGH), x);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(LN2_LOW), x);
    __m256 y = _mm256_set1_ps(exp_c[0]);
    for (int i = 1; i < 6; i++) y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(exp_c[i]));
    y = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(y, x), x, x), _mm256_set1_ps(1));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(y, _mm256_castsi256_ps(e));
}

NARROW static inline __m256 gelu8(__m256 x)
{
    __m256 z = _mm256_mul_ps(x, _mm256_set1_ps(ROOT_HALF)), one = _mm256_set1_ps(1), sign = _mm256_set1_ps(-0.0f);
    __m256 size = _mm256_andnot_ps(sign, z), y = _mm256_set1_ps(erf_c[0]);
    __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(size, _mm256_set1_ps(ERF_P), one));
    for (int i = 1; i < 5; i++) y = _mm256_fmadd_ps(y, t, _mm256_set1_ps(erf_c[i]));
    __m256 e = exp8(_mm256_fnmadd_ps(z, z, _mm256_setzero_ps()));
    __m256 far = _mm256_or_ps(_mm256_fnmadd_ps(_mm256_mul_ps(y, t), e, one), _mm256_and_ps(sign, z));
    __m256 h = _mm256_mul_ps(x, _mm256_set1_ps(0.5f));
    return _mm256_fmadd_ps(h, far, h);
}

static inline float gelu1(float x)
{
    float z = x * ROOT_HALF, size = z < 0 ? -z : z, t = 1 / (1 + size * ERF_P), y = erf_c[0], u = -z * z;
    for (int i = 1; i < 5; i++) y = y * t + erf_c[i];
    if (u < EXP_LOW) u = EXP_LOW;
    int n = (int)(u * LOG2E - 0.5f);
    u = u - (float)n * LN2_HIGH - (float)n * LN2_LOW;
    float e = exp_c[0];
    for (int i = 1; i < 6; i++) e = e * u + exp_c[i];
    union { uint32_t u; float f; } power = { (uint32_t)(n + 127) << 23 };
    float far = 1 - y * t * ((e * u * u + u + 1) * power.f), h = x * 0.5f;
    return z < 0 ? h - h * far : h + h * far;
}

/* ---- between two contractions ---- */

/* 2^x for x of at most 0: 2^n and Taylor's polynomial of 2^f, f from -1/2 to 1/2 */
static const float exp2_c[7] = { 1.5252734e-5f, 1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f,
                                 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f };
static const float LEAST = -3.0e38f, NORM_LEAST = 1e-5f;

WIDE static inline __m512 power16(__m512 x)
{
    __m512 n = _mm512_roundscale_ps(x, 0), f = _mm512_sub_ps(x, n), y = _mm512_set1_ps(exp2_c[1]);
    for (int i = 2; i < 7; i++) y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(exp2_c[i]));
    return _mm512_scalef_ps(_mm512_fmadd_ps(y, f, _mm512_set1_ps(1)), n);
}

NARROW static inline __m256 power8(__m256 x)
{
    x = _mm256_max_ps(x, _mm256_set1_ps(-126));
    __m256 n = _mm256_round_ps(x, 8), f = _mm256_sub_ps(x, n), y = _mm256_set1_ps(exp2_c[1]);
    for (int i = 2; i < 7; i++) y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(exp2_c[i]));
    y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(1));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(y, _mm256_castsi256_ps(e));
}

static inline float power1(float x)
{
    if (x < -126) x = -126;
    int n = (int)(x - 0.5f);
    float f = x - (float)n, y = exp2_c[0];
    for (int i = 1; i < 7; i++) y = y * f + exp2_c[i];
    union { uint32_t u; float f; } power = { (uint32_t)(n + 127) << 23 };
    return (y * f + 1) * power.f;
}

/* what is not negative to bf16, to nearest, ties up: two vectors, or one of which half a vector becomes */
WIDE static inline void store_pairs(float *to, __m512 x, __m512 y)
{
    static const uint16_t odd[32] = { 1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                      33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63 };
    __m512i half = _mm512_set1_epi32(0x8000), u = _mm512_add_epi32(_mm512_castps_si512(x), half);
    __m512i v = _mm512_add_epi32(_mm512_castps_si512(y), half);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(u, _mm512_loadu_si512(odd), v));
}

WIDE static inline void store_halves(float *to, __m512 x)
{
    __m512i u = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16(_mm512_srli_epi32(u, 16)));
}

/* A row of S becomes powers of two of what it is below the greatest of its row so far; `rows` has that and their sum.
 * If there is a greater one now, what was summed before, C among it, is made less accordingly. */
WIDE static inline __attribute__((always_inline)) void soft_wide(float *s, int64_t n, float scale, float rows[2],
                                                                 float *c, int64_t nc, int first, int pairs)
{
    const __m512 least = _mm512_set1_ps(LEAST), log = _mm512_set1_ps(scale * LOG2E);
    __m512 most = least, most1 = least, most2 = least, most3 = least;
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        most = _mm512_max_ps(most, _mm512_loadu_ps(s + i)), most1 = _mm512_max_ps(most1, _mm512_loadu_ps(s + i + 16));
        most2 = _mm512_max_ps(most2, _mm512_loadu_ps(s + i + 32));
        most3 = _mm512_max_ps(most3, _mm512_loadu_ps(s + i + 48));
    }
    for (; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        most = _mm512_max_ps(most, _mm512_mask_loadu_ps(least, m, s + i));
    }
    float now = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(most, most1), _mm512_max_ps(most2, most3)));
    float before = first ? now : rows[0], sum = first ? 0 : rows[1];
    if (before > now) now = before;
    if (now > before) {
        float less = power1((before - now) * scale * LOG2E);
        __m512 by = _mm512_set1_ps(less);
        sum *= less;
        for (int64_t j = 0; j < nc; j += 16) {
            __mmask16 m = nc - j >= 16 ? 0xffff : (__mmask16)((1u << (nc - j)) - 1);
            _mm512_mask_storeu_ps(c + j, m, _mm512_mul_ps(by, _mm512_maskz_loadu_ps(m, c + j)));
        }
    }
    __m512 top = _mm512_set1_ps(now), total = _mm512_setzero_ps(), total1 = total, total2 = total, total3 = total;
    for (i = 0; i + 64 <= n; i += 64) {
        __m512 x = power16(_mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(s + i), top), log));
        __m512 x1 = power16(_mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(s + i + 16), top), log));
        __m512 x2 = power16(_mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(s + i + 32), top), log));
        __m512 x3 = power16(_mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(s + i + 48), top), log));
        if (pairs) store_pairs(s + i / 2, x, x1), store_pairs(s + i / 2 + 16, x2, x3);
        else _mm512_storeu_ps(s + i, x), _mm512_storeu_ps(s + i + 16, x1);
        if (!pairs) _mm512_storeu_ps(s + i + 32, x2), _mm512_storeu_ps(s + i + 48, x3);
        total = _mm512_add_ps(total, x), total1 = _mm512_add_ps(total1, x1);
        total2 = _mm512_add_ps(total2, x2), total3 = _mm512_add_ps(total3, x3);
    }
    for (; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 x = power16(_mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(m, s + i), top), log));
        if (!pairs) _mm512_mask_storeu_ps(s + i, m, x);
        else store_halves(s + i / 2, _mm512_maskz_mov_ps(m, x));
        total = _mm512_mask_add_ps(total, m, total, x);
    }
    rows[0] = now;
    rows[1] = sum + _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(total, total1), _mm512_add_ps(total2, total3)));
}

WIDE static void soft16(float *s, int64_t n, float scale, float rows[2], float *c, int64_t nc, int first)
{
    soft_wide(s, n, scale, rows, c, nc, first, 0);
}
WIDE static void soft_pairs16(float *s, int64_t n, float scale, float rows[2], float *c, int64_t nc, int first)
{
    soft_wide(s, n, scale, rows, c, nc, first, 1);
}

NARROW static void soft8(float *s, int64_t n, float scale, float rows[2], float *c, int64_t nc, int first)
{
    __m256 most = _mm256_set1_ps(LEAST), most1 = most;
    float now = LEAST, log = scale * LOG2E, lane[8];
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        most = _mm256_max_ps(most, _mm256_loadu_ps(s + i));
        most1 = _mm256_max_ps(most1, _mm256_loadu_ps(s + i + 8));
    }
    _mm256_storeu_ps(lane, _mm256_max_ps(most, most1));
    for (int j = 0; j < 8; j++) now = lane[j] > now ? lane[j] : now;
    for (; i < n; i++) now = s[i] > now ? s[i] : now;
    float before = first ? now : rows[0], sum = first ? 0 : rows[1];
    if (before > now) now = before;
    if (now > before) {
        float less = power1((before - now) * log);
        sum *= less;
        for (int64_t j = 0; j < nc; j++) c[j] *= less;
    }
    __m256 top = _mm256_set1_ps(now), by = _mm256_set1_ps(log), total = _mm256_setzero_ps(), total1 = total;
    for (i = 0; i + 16 <= n; i += 16) {
        __m256 x = power8(_mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(s + i), top), by));
        __m256 x1 = power8(_mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(s + i + 8), top), by));
        _mm256_storeu_ps(s + i, x), _mm256_storeu_ps(s + i + 8, x1);
        total = _mm256_add_ps(total, x), total1 = _mm256_add_ps(total1, x1);
    }
    _mm256_storeu_ps(lane, _mm256_add_ps(total, total1));
    for (int j = 0; j < 8; j++) sum += lane[j];
    for (; i < n; i++) sum += s[i] = power1((s[i] - now) * log);
    rows[0] = now;
    rows[1] = sum;
}

typedef void soft_of(float *s, int64_t n, float scale, float rows[2], float *c, int64_t nc, int first);

static inline __attribute__((always_inline)) float mid_of(const struct carry_kernel *k, float y)
{
    y *= k->mid_scale;
    for (const uint8_t *mid = k->mid; *mid; mid++) {
        if (*mid == CARRY_RELU) y = y > 0 ? y : 0;
        else if (*mid == CARRY_GELU) y = gelu1(y);
    }
    return y;
}

WIDE static void words16(const struct carry_kernel *k, float *s, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 y = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, s + i), _mm512_set1_ps(k->mid_scale));
        for (const uint8_t *mid = k->mid; *mid; mid++) {
            if (*mid == CARRY_RELU) y = _mm512_max_ps(y, _mm512_setzero_ps());
            else if (*mid == CARRY_GELU) y = gelu16(y);
        }
        _mm512_mask_storeu_ps(s + i, m, y);
    }
}

NARROW static void words8(const struct carry_kernel *k, float *s, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 y = _mm256_mul_ps(_mm256_loadu_ps(s + i), _mm256_set1_ps(k->mid_scale));
        for (const uint8_t *mid = k->mid; *mid; mid++) {
            if (*mid == CARRY_RELU) y = _mm256_max_ps(y, _mm256_setzero_ps());
            else if (*mid == CARRY_GELU) y = gelu8(y);
        }
        _mm256_storeu_ps(s + i, y);
    }
    for (; i < n; i++) s[i] = mid_of(k, s[i]);
}

typedef void words_of(const struct carry_kernel *, float *s, int64_t n);

/* V for the unit for bf16: pairs of rows, element by element; an odd last row has zeros beside it */
WIDE static void pairs_of(const struct carry_kernel *k, const float *v, float *to)
{
    const half_word *from = (const half_word *)v;
    const int64_t rows = k->size[k->along], row = k->stride[3][k->along], n = k->elements[3] / row;
    for (int64_t i = 0; i < n; i += 2) {
        int one = i % rows == rows - 1;                  /* the last, without another one */
        for (int64_t j = 0; j < row; j += 16) {
            __mmask16 m = row - j >= 16 ? 0xffff : (__mmask16)((1u << (row - j)) - 1);
            const half_word *at = from + i * row + j;
            __m512i x = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, at)), y = _mm512_setzero_si512();
            if (!one) y = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, at + row));
            _mm512_mask_storeu_epi32(to + j, m, _mm512_or_si512(x, _mm512_slli_epi32(y, 16)));
        }
        to += row;
        i -= one;
    }
}

void carry_pairs(const struct carry_kernel *k, const float *v, float *to) { pairs_of(k, v, to); }

/* how many of the columns of S from `column` on row `row` sees */
static inline int64_t seen(const struct carry_kernel *k, int64_t row, int64_t column)
{
    int64_t n = row + 1 + k->size[k->along] - k->size[k->query - 1] - column;
    return n < 0 ? 0 : n;
}

/* the row that an element of C is in, and the column of S that is a row of V */
static inline int64_t row_at(const struct carry_kernel *k, int64_t o)
{
    return o / k->stride[2][k->query - 1] % k->size[k->query - 1];
}

static inline int64_t column_at(const struct carry_kernel *k, int64_t o, int pairs)
{
    int64_t row = o / k->stride[3][k->along], rows = k->size[k->along];
    return pairs ? row % ((rows + 1) / 2) * 2 : row % rows;
}

int carry_hidden(const struct carry_change *b, float *c, const struct carry_context *x, const float *second)
{
    const struct carry_kernel *k = x->kernel;
    int64_t row = row_at(k, c - x->c);
    for (int i = 0; i < b->nvar - 2; i++)
        if (b->to[i] == k->stride[2][k->query - 1]) row += b->size[i] - 1;
    return !seen(k, row, column_at(k, second - x->extra.second, b->store));
}

static inline __attribute__((always_inline)) void between(const struct carry_change *b, float *c,
                                                          const struct carry_context *x, const float *second,
                                                          soft_of *soft, words_of *words)
{
    const struct carry_kernel *k = x->kernel;
    int outer = b->nvar - 2, softmax = 0, others = 0;
    int64_t column = k->query ? column_at(k, second - x->extra.second, b->store) : 0, all = b->size[outer];
    int64_t at[CARRY_VARS] = { 0 }, f = 0, o = c - x->c;
    for (const uint8_t *mid = k->mid; *mid; mid++) *(*mid == CARRY_SOFTMAX ? &softmax : &others) = 1;
    for (int more = 1; more; ) {
        float *s = x->scratch[2] + f;
        int64_t n = k->query ? seen(k, row_at(k, o), column) : all;
        if (n > all) n = all;
        if (others || !softmax) words(k, s, all);
        for (int64_t i = n; i < all && !b->store; i++) s[i] = 0;
        if (softmax && n)
            soft(s, n, others ? 1 : k->mid_scale, x->rows + 2 * (o / k->size[k->last]), x->c + o,
                 b->size[outer + 1], b->edge);
        for (int64_t i = n; i < all + all % 2 && b->store; i++) ((half_word *)s)[i] = 0;
        more = next_outer(b, outer, at, &f, &o);
    }
}

void carry_between16(const struct carry_change *b, float *c, const struct carry_context *x, const float *second)
{
    between(b, c, x, second, b->store ? soft_pairs16 : soft16, words16);
}
void carry_between8(const struct carry_change *b, float *c, const struct carry_context *x, const float *second)
{
    between(b, c, x, second, soft8, words8);
}

int64_t carry_rows(const struct carry_kernel *k)
{
    return (2 * (k->elements[2] / k->size[k->last]) + 15) & ~(int64_t)15;
}

/* the next place of these variables; 0: there is none any more, and all are back where they began */
static int next_place(const struct carry_kernel *k, int which, int32_t *at, int64_t o[4])
{
    for (int v = k->nvar; v-- > 0; ) {
        if (!(which >> v & 1)) continue;
        for (int t = 0; t < 4; t++) o[t] += k->stride[t][v];
        if (++at[v] < k->size[v]) return 1;
        for (int t = 0; t < 4; t++) o[t] -= at[v] * k->stride[t][v];
        at[v] = 0;
    }
    return 0;
}

/* both contractions, an element of S at a time, with softmax made twice: first the greatest of a row */
static inline __attribute__((always_inline)) void pair_plain(const struct carry_kernel *k, float *c, const float *a,
                                                             const float *b, const float *second)
{
    int32_t at[CARRY_VARS] = { 0 };
    int64_t o[4] = { 0 };
    int rows = 0, inner = 0, softmax = 0, relu = 0;
    for (int v = 0; v < k->nvar; v++) {
        int in = k->stride[0][v] || k->stride[1][v];
        if (in && k->stride[2][v]) rows |= 1 << v;
        if (in && !k->stride[2][v] && v != k->along) inner |= 1 << v;
    }
    for (const uint8_t *mid = k->mid; *mid; mid++) softmax |= *mid == CARRY_SOFTMAX, relu |= *mid != CARRY_SOFTMAX;
    int64_t n = k->size[k->last], step = k->stride[3][k->along];
    do {
        float most = LEAST, sum = 0, *to = c + o[2];
        for (int64_t j = 0; j < n && !k->add; j++) to[j] = 0;
        for (int pass = !softmax; pass < 2; pass++)
            for (int64_t i = 0; i < (k->query ? seen(k, row_at(k, o[2]), 0) : k->size[k->along]); i++) {
                const float *y = second + o[3] + i * step;
                float s = 0;
                o[1] += i * k->stride[1][k->along];
                do s += a[o[0]] * b[o[1]];
                while (next_place(k, inner, at, o));
                o[1] -= i * k->stride[1][k->along];
                if (relu || !softmax) s = mid_of(k, s);
                if (softmax && !pass) {
                    most = s > most ? s : most;
                    continue;
                }
                if (softmax) sum += s = power1((s - most) * (relu ? 1 : k->mid_scale) * LOG2E);
                for (int64_t j = 0; j < n; j++) to[j] += s * y[j];
            }
        for (int64_t j = 0; j < n && softmax; j++) to[j] /= sum;
    } while (next_place(k, rows, at, o));
}

void carry_pair_plain(const struct carry_kernel *k, float *c, const float *a, const float *b, const float *second)
{
    pair_plain(k, c, a, b, second);
}
NARROW static void pair_plain8(const struct carry_kernel *k, float *c, const float *a, const float *b,
                               const float *second)
{
    pair_plain(k, c, a, b, second);
}

/* whole vectors without a mask: from what was stored just now they come at once */
WIDE static inline __m512 some16(__mmask16 m, const float *p)
{
    return m == 0xffff ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(m, p);
}

WIDE static inline void store16(float *p, __mmask16 m, __m512 y)
{
    if (m == 0xffff) _mm512_storeu_ps(p, y);
    else _mm512_mask_storeu_ps(p, m, y);
}

WIDE static inline void cast16(int f16, uint16_t *to, __mmask16 m, __m512 y)     /* to nearest, ties to even */
{
    if (f16) {
        _mm256_mask_storeu_epi16(to, m, _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        return;
    }
    __m512i u = _mm512_castps_si512(y), odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    u = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
    _mm512_mask_cvtepi32_storeu_epi16(to, m, u);
}

/* one over the sum that softmax divides a row by: that of element `at` of C */
static inline float share(const struct carry_context *x, int64_t at)
{
    return 1 / x->rows[2 * (at / x->kernel->size[x->kernel->last]) + 1];
}

/* a run of neighbours in C, of which the first is element `at` and has this bias; that is a vector along it if
 * bias_step is 1, else one number.  Four vectors at a time, so that to ask what to do does not cost more than that. */
WIDE static void run16(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                       const uint8_t *words)
{
    const struct carry_kernel *k = x->kernel;
    const int along = k->bias_step == 1, sums = k->type == CARRY_U8S8, stay = x->out == x->c || k->norm;
    const __m512 zero = _mm512_setzero_ps(), scale = _mm512_set1_ps(k->pair ? share(x, at) : k->scale);
    for (int64_t i = 0; i < n; i += 64) {
        uint64_t all = n - i >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (n - i)) - 1;
        __mmask16 m = (__mmask16)all, m1 = (__mmask16)(all >> 16), m2 = (__mmask16)(all >> 32);
        __mmask16 m3 = (__mmask16)(all >> 48);
        const float *p = c + i, *q;
        __m512 y = some16(m, p), y1 = some16(m1, p + 16);
        __m512 y2 = some16(m2, p + 32), y3 = some16(m3, p + 48);
        if (sums) {
            y = _mm512_cvtepi32_ps(_mm512_castps_si512(y)), y1 = _mm512_cvtepi32_ps(_mm512_castps_si512(y1));
            y2 = _mm512_cvtepi32_ps(_mm512_castps_si512(y2)), y3 = _mm512_cvtepi32_ps(_mm512_castps_si512(y3));
        }
        for (const uint8_t *then = words; *then; then++)
            switch (*then) {
            case CARRY_BIAS:
                if (!along) {
                    __m512 b = _mm512_set1_ps(*bias);
                    y = _mm512_add_ps(y, b), y1 = _mm512_add_ps(y1, b);
                    y2 = _mm512_add_ps(y2, b), y3 = _mm512_add_ps(y3, b);
                    break;
                }
                q = bias + i;
                y = _mm512_add_ps(y, some16(m, q));
                y1 = _mm512_add_ps(y1, some16(m1, q + 16));
                y2 = _mm512_add_ps(y2, some16(m2, q + 32));
                y3 = _mm512_add_ps(y3, some16(m3, q + 48));
                break;
            case CARRY_RESIDUAL:
                q = x->extra.residual + at + i;
                y = _mm512_add_ps(y, some16(m, q));
                y1 = _mm512_add_ps(y1, some16(m1, q + 16));
                y2 = _mm512_add_ps(y2, some16(m2, q + 32));
                y3 = _mm512_add_ps(y3, some16(m3, q + 48));
                break;
            case CARRY_RELU:
                y = _mm512_max_ps(y, zero), y1 = _mm512_max_ps(y1, zero);
                y2 = _mm512_max_ps(y2, zero), y3 = _mm512_max_ps(y3, zero);
                break;
            case CARRY_GELU:
                y = gelu16(y);
                if (m1) y1 = gelu16(y1);
                if (m2) y2 = gelu16(y2);
                if (m3) y3 = gelu16(y3);
                break;
            case CARRY_SOFTMAX:
            case CARRY_OVER:
                y = _mm512_mul_ps(y, scale), y1 = _mm512_mul_ps(y1, scale);
                y2 = _mm512_mul_ps(y2, scale), y3 = _mm512_mul_ps(y3, scale);
                break;
            case CARRY_CAST:
            case CARRY_CAST_F16: {
                uint16_t *to = (uint16_t *)x->out + at + i;
                int f16 = *then == CARRY_CAST_F16;
                cast16(f16, to, m, y), cast16(f16, to + 16, m1, y1);
                cast16(f16, to + 32, m2, y2), cast16(f16, to + 48, m3, y3);
                break;
            }
            }
        if (!stay) continue;
        store16(c + i, m, y);
        if (m1) store16(c + i + 16, m1, y1);
        if (m2) store16(c + i + 32, m2, y2);
        if (m3) store16(c + i + 48, m3, y3);
    }
}

static inline __attribute__((always_inline)) void one(const struct carry_context *x, float *c, int64_t at,
                                                      const float *bias, const uint8_t *words)
{
    const struct carry_kernel *k = x->kernel;
    float y = k->type == CARRY_U8S8 ? (float)*(const word *)c : *c;
    for (const uint8_t *then = words; *then; then++)
        switch (*then) {
        case CARRY_BIAS: y += *bias; break;
        case CARRY_RESIDUAL: y += x->extra.residual[at]; break;
        case CARRY_RELU: y = y > 0 ? y : 0; break;
        case CARRY_GELU: y = gelu1(y); break;
        case CARRY_OVER: y *= k->scale; break;
        case CARRY_SOFTMAX: y *= share(x, at); break;
        case CARRY_CAST: ((half_word *)x->out)[at] = cast1(y); break;
        case CARRY_CAST_F16: ((half_word *)x->out)[at] = cast1_f16(y); break;
        }
    if (x->out == x->c || k->norm) *c = y;
}

NARROW static void run8(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                        const uint8_t *words)
{
    const struct carry_kernel *k = x->kernel;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 y = _mm256_loadu_ps(c + i);
        if (k->type == CARRY_U8S8) y = _mm256_cvtepi32_ps(_mm256_castps_si256(y));
        for (const uint8_t *then = words; *then; then++)
            switch (*then) {
            case CARRY_BIAS:
                y = _mm256_add_ps(y, k->bias_step == 1 ? _mm256_loadu_ps(bias + i) : _mm256_set1_ps(*bias));
                break;
            case CARRY_RESIDUAL: y = _mm256_add_ps(y, _mm256_loadu_ps(x->extra.residual + at + i)); break;
            case CARRY_RELU: y = _mm256_max_ps(y, _mm256_setzero_ps()); break;
            case CARRY_GELU: y = gelu8(y); break;
            case CARRY_OVER: y = _mm256_mul_ps(y, _mm256_set1_ps(k->scale)); break;
            case CARRY_SOFTMAX: y = _mm256_mul_ps(y, _mm256_set1_ps(share(x, at))); break;
            case CARRY_CAST:
            case CARRY_CAST_F16: {
                float last[8];
                _mm256_storeu_ps(last, y);
                for (int j = 0; j < 8; j++)
                    ((half_word *)x->out)[at + i + j] = *then == CARRY_CAST ? cast1(last[j]) : cast1_f16(last[j]);
                break;
            }
            }
        if (x->out == x->c || k->norm) _mm256_storeu_ps(c + i, y);
    }
    for (; i < n; i++) one(x, c + i, at + i, k->bias_step == 1 ? bias + i : bias, words);
}

static void run1(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                 const uint8_t *words)
{
    for (int64_t i = 0; i < n; i++) one(x, c + i, at + i, x->kernel->bias_step == 1 ? bias + i : bias, words);
}

typedef int64_t mask4 __attribute__((vector_size(32), aligned(8), may_alias));

/* the same of doubles, word by word */
static inline __attribute__((always_inline)) void doubles(const struct carry_context *x, float *c, int64_t at,
                                                          int64_t n, const float *bias, const uint8_t *words)
{
    const struct carry_kernel *k = x->kernel;
    eight *y = (eight *)c;
    for (const uint8_t *then = words; *then; then++) {
        const eight *more = (const eight *)bias;
        int64_t i = 0;
        if (*then == CARRY_RESIDUAL) more = (const eight *)x->extra.residual + at;
        if (*then == CARRY_RESIDUAL || (*then == CARRY_BIAS && k->bias_step == 1)) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) += *(const vec4 *)(more + i);
            for (; i < n; i++) y[i] += more[i];
        } else if (*then == CARRY_BIAS) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) += *more;
            for (; i < n; i++) y[i] += *more;
        } else if (*then == CARRY_RELU) {
            for (; i + 4 <= n; i += 4) *(mask4 *)(y + i) &= *(vec4 *)(y + i) > 0;
            for (; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
        } else if (*then == CARRY_OVER) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) /= (double)k->over;
            for (; i < n; i++) y[i] /= k->over;
        }
    }
}

NARROW static void doubles8(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                            const uint8_t *words)
{
    doubles(x, c, at, n, bias, words);
}
static void doubles1(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                     const uint8_t *words)
{
    doubles(x, c, at, n, bias, words);
}

typedef void run_of(const struct carry_context *, float *c, int64_t at, int64_t n, const float *bias,
                    const uint8_t *words);

/* a row of n that is whole, with the words before the norm done: about 0 and of variance 1, then gain and shift */
WIDE static void norm16(float *c, int64_t n, const float *gain, int rms)
{
    __m512 sum = _mm512_setzero_ps(), square = sum;
    for (int64_t i = 0; i < n && !rms; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(m, c + i));
    }
    __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)n);
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 y = _mm512_maskz_sub_ps(m, _mm512_maskz_loadu_ps(m, c + i), mean);
        square = _mm512_fmadd_ps(y, y, square);
    }
    __m512 by = _mm512_set1_ps(_mm512_reduce_add_ps(square) / (float)n + NORM_LEAST);
    by = _mm512_div_ps(_mm512_set1_ps(1), _mm512_sqrt_ps(by));
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 y = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(m, c + i), mean), by);
        y = _mm512_mul_ps(y, _mm512_maskz_loadu_ps(m, gain + i));
        if (!rms) y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(m, gain + n + i));
        _mm512_mask_storeu_ps(c + i, m, y);
    }
}

/* by vectors of eight that any compiler makes of loops */
static inline __attribute__((always_inline)) void norm_by(float *c, int64_t n, const float *gain, int rms)
{
    vec8 sum = { 0 }, square = { 0 };
    float mean = 0, all = 0;
    int64_t i, whole = n & ~(int64_t)7;
    for (i = 0; i < whole && !rms; i += 8) sum += *(const vec8 *)(c + i);
    for (; i < n && !rms; i++) mean += c[i];
    for (int j = 0; j < 8; j++) mean += sum[j];
    mean /= (float)n;
    for (i = 0; i < whole; i += 8) {
        vec8 y = *(const vec8 *)(c + i) - mean;
        square += y * y;
    }
    for (; i < n; i++) all += (c[i] - mean) * (c[i] - mean);
    for (int j = 0; j < 8; j++) all += square[j];
    __m128 root = _mm_sqrt_ss(_mm_set_ss(all / (float)n + NORM_LEAST));
    float by = 1 / _mm_cvtss_f32(root);
    for (i = 0; i < n; i++) c[i] = (c[i] - mean) * by * gain[i] + (rms ? 0 : gain[n + i]);
}

NARROW static void norm8(float *c, int64_t n, const float *gain, int rms) { norm_by(c, n, gain, rms); }
static void norm1(float *c, int64_t n, const float *gain, int rms) { norm_by(c, n, gain, rms); }
typedef void norm_of(float *c, int64_t n, const float *gain, int rms);

/* the runs of a block; where the bias is along C's rows, all begin in the same column, and none leaves its row */
static inline __attribute__((always_inline)) void finish(const struct carry_change *b, float *block,
                                                         const struct carry_context *x, run_of *run, norm_of *norm)
{
    const struct carry_kernel *k = x->kernel;
    uint8_t before[CARRY_THENS] = { 0 };                 /* of a norm: words on both sides of it */
    const uint8_t *words = k->then, *after = k->then;
    for (int i = 0; k->norm; i++) {
        after = k->then + i + 1;
        if (k->then[i] == k->norm) break;
        before[i] = k->then[i];
    }
    if (k->norm) words = before;
    const int64_t d = k->type == CARRY_F64 ? 2 : 1;      /* floats in an element */
    int64_t at[CARRY_VARS] = { 0 }, o = (block - x->c) / d, f = 0;
    int one = k->pair && k->size[k->last] == 1;         /* no run may have two sums of softmax */
    int outer = b->nvar && b->to[b->nvar - 1] == 1 && !one ? b->nvar - 1 : b->nvar;
    const float *bias = x->extra.bias;
    if (k->pair) bias = 0;                               /* V is no bias */
    if (bias) bias += (uint32_t)o / (uint32_t)k->bias_step % (uint32_t)k->bias * d;  /* less than 2^28 elements */
    for (int more = 1; more; ) {
        if (bias && k->bias_step > 1 && f)
            bias = x->extra.bias + (uint32_t)(o + f) / (uint32_t)k->bias_step % (uint32_t)k->bias * d;
        int64_t n = outer < b->nvar ? b->size[outer] : 1;
        if (words[0] || !k->norm) run(x, block + f * d, o + f, n, bias, words);
        if (k->norm) norm(block + f, n, x->extra.bias + n, k->norm == CARRY_RMSNORM);
        if (k->norm && after[0]) run(x, block + f, o + f, n, bias, after);
        int i = outer;
        while (i-- > 0) {
            f += b->to[i];
            if (++at[i] < b->size[i]) break;
            f -= at[i] * b->to[i];
            at[i] = 0;
        }
        more = i >= 0;
    }
}

void carry_finish16(const struct carry_change *b, float *block, const struct carry_context *x)
{
    finish(b, block, x, x->kernel->type == CARRY_F64 ? doubles8 : run16, norm16);
}
void carry_finish8(const struct carry_change *b, float *block, const struct carry_context *x)
{
    finish(b, block, x, x->kernel->type == CARRY_F64 ? doubles8 : run8, norm8);
}
void carry_finish1(const struct carry_change *b, float *block, const struct carry_context *x)
{
    finish(b, block, x, x->kernel->type == CARRY_F64 ? doubles1 : run1, norm1);
}

void carry_finish_all(const struct carry_kernel *k, float *c, void *out, struct carry_extra extra)
{
    struct carry_change all = { .nvar = 2 };             /* rows along which the bias changes, or does not at all */
    int64_t row = k->bias_step == 1 ? k->bias : k->bias_step;
    all.size[0] = (int32_t)(k->elements[2] / row), all.size[1] = (int32_t)row;
    all.to[0] = row, all.to[1] = 1;
    struct carry_context x = { .kernel = k, .c = c, .out = out, .extra = extra };
    int have = carry_cpu();
    if (have & CARRY_AVX512) carry_finish16(&all, c, &x);
    else if (have & CARRY_AVX2) carry_finish8(&all, c, &x);
    else carry_finish1(&all, c, &x);
}

/* ---- what is here, memory, the run ---- */

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

/* The system keeps the registers of AMX for a process that asks for leave (arch_prctl, ARCH_REQ_XCOMP_PERM, 18). */
static int tiles_allowed(void) { return system_call(158, 0x1023, 18, 0, 0, 0, 0) == 0; }

int carry_bits(const struct carry_words *w)
{
    int have = 0;
    if (!(w->c1 & bit_OSXSAVE) || !(w->c1 & bit_FMA) || !(w->c1 & bit_F16C) || (w->state & 6) != 6) return 0;
    if (w->b7 & bit_AVX2) have |= CARRY_AVX2;
    if ((w->state & 0xe6) != 0xe6 || !(w->b7 & bit_AVX512F) || !(w->b7 & bit_AVX512BW) || !(w->b7 & bit_AVX512VL))
        return have;
    have |= CARRY_AVX512;
    if (w->c7 & 1u << 11) have |= CARRY_AVX512VNNI;
    if (w->a71 & 1u << 5) have |= CARRY_AVX512BF16;
    if ((w->state & 0x60000) != 0x60000 || !(w->d7 & 1u << 24)) return have;     /* tiles and their shapes */
    return have | (w->d7 & 1u << 22 ? CARRY_AMX_BF16 : 0) | (w->d7 & 1u << 25 ? CARRY_AMX_INT8 : 0);
}

int carry_cpu(void)
{
    enum { TILES = CARRY_AMX_BF16 | CARRY_AMX_INT8 };
    struct carry_words w = { 0 };
    unsigned a, b, d, upper;
    if (!__get_cpuid_count(1, 0, &a, &b, &w.c1, &d) || !(w.c1 & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(w.state), "=d"(upper) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &w.b7, &w.c7, &w.d7)) return 0;
    if (a) __get_cpuid_count(7, 1, &w.a71, &b, &upper, &d);
    int have = carry_bits(&w);
    return have & TILES && !tiles_allowed() ? have & ~TILES : have;
}

struct piece { int64_t bytes; char unused[56]; };        /* before scratch memory, so that that is aligned */

/* memory of calls that are over is kept for the next ones; a thread that finds none gets its own */
static struct piece *get_memory(struct carry_pool *pool, int64_t bytes)
{
    bytes += (int64_t)sizeof(struct piece);
    for (int i = 0; i < CARRY_KEPT && pool; i++) {
        struct piece *p = __atomic_exchange_n(&pool->piece[i], 0, __ATOMIC_ACQUIRE);
        if (p && p->bytes >= bytes) return p;
        if (p) system_call(11, (long)p, p->bytes, 0, 0, 0, 0);           /* munmap */
    }
    long at = system_call(9, 0, bytes, 3, 0x22, -1, 0);  /* mmap, to be read and written, private and anonymous */
    if (at < 0 && at > -4096) return 0;
    ((struct piece *)at)->bytes = bytes;
    return (struct piece *)at;
}

static void put_memory(struct carry_pool *pool, struct piece *p)
{
    for (int i = 0; i < CARRY_KEPT; i++) {
        void *none = 0;
        if (__atomic_compare_exchange_n(&pool->piece[i], &none, (void *)p, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    system_call(11, (long)p, p->bytes, 0, 0, 0, 0);
}

static int here(struct carry_state *s)
{
    int have = __atomic_load_n(&s->cpu, __ATOMIC_RELAXED);
    if (have) return have & ~(1 << 30);
    have = carry_cpu();
    __atomic_store_n(&s->cpu, have | 1 << 30, __ATOMIC_RELAXED);
    return have;
}

static const struct carry_variant *chosen(const struct carry_kernel *k, struct carry_state *s)
{
    int have = here(s);
    for (int i = 0; i < CARRY_VARIANTS; i++)
        if ((k->variant[i].code || k->variant[i].function) && (k->variant[i].need & have) == k->variant[i].need)
            return &k->variant[i];
    return 0;
}

/* whose packing B has: plain loops take any, and the first is always there */
static const struct carry_variant *layout(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    return v ? v : &k->variant[0];
}

int carry_level(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    return v ? v->need : 0;
}

static int casts(int then) { return then == CARRY_CAST || then == CARRY_CAST_F16; }

/* tensor t as floats where it is stored as halves, A with its zeros: what is to be given back, with them behind it */
static struct piece *widened(const struct carry_kernel *k, int t, const float **x, int have)
{
    const int pad = !t && k->pad.n;
    if ((k->store < CARRY_HALVES_F16 && !pad) || !k->elements[t]) return 0;
    struct piece *p = get_memory(0, pad ? k->padded * bytes_of(k) : k->elements[t] * 4);
    if (!p) __builtin_trap();                            /* no memory, and no way to say so */
    if (pad) carry_surround(&k->pad, k->store, *x, (float *)(p + 1), have);
    else carry_widen((enum carry_store)k->store, *x, (float *)(p + 1), k->elements[t]);
    *x = (float *)(p + 1);
    return p;
}

/* V alone is not changed by the code itself, or before as A and B are */
static const float *widen_second(const struct carry_kernel *k, const float *second, float *room, int wide, int pairs)
{
    if (pairs) carry_pairs(k, second, room);
    if (pairs) return room;
    struct carry_change flat = { .nvar = 1, .wide = wide, .store = k->store, .size[0] = (int32_t)k->elements[3] };
    flat.from[0] = flat.to[0] = 1;
    carry_forth(&flat, second, room);
    return room;
}

void carry_run_then(void *to, const float *a, const float *b, const float *bias, const float *residual,
                    const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    struct carry_extra extra = { bias, residual, k->pair ? bias : 0 };
    float *c = to, *sum = c;                             /* sum: floats of what becomes a bf16 */
    int cast = 0;
    for (int i = 0; i < CARRY_THENS; i++) cast |= casts(k->then[i]);
    int64_t more = cast ? k->elements[2] * 4 : 0, bytes = more + (v ? v->scratch_bytes : 0);
    struct piece *p = bytes ? get_memory(&s->pool[0], bytes) : 0, *own = p;
    if (bytes && !p) v = 0;
    if (cast && !p) own = get_memory(&s->pool[1], more);
    if (cast && !own) __builtin_trap();                  /* no memory, and no way to say so */
    if (cast) sum = (float *)((char *)(own + 1) + (v ? v->scratch_bytes : 0));
    if (!v) {
        struct piece *groups = 0;
        if (layout(k, s)->given) {                       /* back to groups */
            groups = get_memory(&s->pool[1], k->elements[1] * 4);
            if (!groups) __builtin_trap();
            float *back = (float *)(groups + 1);
            for (int64_t i = 0, n = k->row[1]; i < k->elements[1]; i++)
                back[i] = b[given_at(k, layout(k, s), i / n, i % n)];
            b = back;
        }
        struct piece *wide[3] = { widened(k, 0, &a, here(s)), widened(k, 1, &b, 0),
                                  k->pair ? widened(k, 3, &extra.second, 0) : 0 };
        if (k->pair) (here(s) & CARRY_AVX2 ? pair_plain8 : carry_pair_plain)(k, sum, a, b, extra.second);
        else if (here(s) & CARRY_AVX2) plain_avx2(k, sum, a, b);
        else carry_plain(k, sum, a, b);
        if (k->then[0] && !k->pair) carry_finish_all(k, sum, to, extra);
        if (groups) put_memory(&s->pool[1], groups);
        for (int i = 0; i < 3; i++)
            if (wide[i]) put_memory(&s->pool[1], wide[i]);
        if (own) put_memory(&s->pool[0], own);
        return;
    }
    if (k->op == CARRY_COPY) {                           /* is nothing but a change of layout */
        carry_forth(&v->change[0], a, c);
        return;
    }
    float *room[5], *out = sum;
    for (int t = 0; t < 5; t++) room[t] = p ? (float *)((char *)(p + 1) + v->scratch[t]) : 0;
    int wide = v->need & CARRY_AVX512;
    if (k->pair && k->store >= CARRY_HALVES_F16) extra.second = widen_second(k, extra.second, room[4], wide,
                                                                            v->need & CARRY_AVX512BF16);
    struct carry_context x = { { room[0], room[1], k->pair ? room[3] + carry_rows(k) : 0 }, carry_forth,
                               wide ? carry_finish16 : carry_finish8, wide ? carry_between16 : carry_between8,
                               carry_hidden, room[3], k, sum, to, extra };
    if (v->whole[0] && k->pad.n) carry_surround(&k->pad, k->store, a, room[0], v->need);
    else if (v->whole[0]) carry_forth(&v->change[0], a, room[0]);
    if (v->whole[0]) a = room[0];
    if (v->whole[1] && !v->given) carry_forth(&v->change[1], b, room[1]), b = room[1];
    if (v->whole[2]) out = room[2];
    carry_code *code = v->function;
    if (!code) code = (carry_code *)((uintptr_t)k + (uintptr_t)v->code);
    if (v->whole[2] && k->add) carry_forth(&v->change[2], c, out);
    code(out, a, b, &x);
    if (v->whole[2]) carry_back(&v->change[2], out, sum);
    if (v->whole[2] && k->then[0]) carry_finish_all(k, sum, to, extra);
    if (p) put_memory(&s->pool[0], p);
}

void carry_run(float *c, const float *a, const float *b, const struct carry_kernel *k, struct carry_state *s)
{
    carry_run_then(c, a, b, 0, 0, k, s);
}

static const struct carry_kernel *kernel_of(const struct carry_parts *q, const struct carry_chunk *x)
{
    if (x->kernel) return x->kernel;
    return (const struct carry_kernel *)(const void *)((const char *)q + x->at);
}

/* Of an image the lines that a part reads, with their zeros; returns where the first line would be.  The last ones may
 * be more than it reads. */
static const void *lines_of(const struct carry_parts *q, int64_t at, int64_t end, const void *a, struct carry_state *s,
                            struct piece **lines)
{
    const struct carry_kernel *k = kernel_of(q, &q->chunk[0]);
    struct carry_pad z = k->pad;
    int d = 0;                                           /* images are one */
    while (z.before[d] + z.size[d] + z.after[d] == 1) d++;
    const int64_t before = z.before[d], size = z.size[d], all = before + size + z.after[d];
    const int64_t first = at * q->lines, n = all - (q->size - end) * q->lines - first;
    const int64_t row = k->padded / all * bytes_of(k), own = k->elements[0] / size * bytes_of(k);
    z.before[d] = (int32_t)(before <= first ? 0 : before - first < n ? before - first : n);
    int64_t behind = first + n - before - size;
    z.after[d] = (int32_t)(behind <= 0 ? 0 : behind < n ? behind : n);
    z.size[d] = (int32_t)(n - z.before[d] - z.after[d]);
    *lines = get_memory(&s->pool[1], n * row);
    if (!*lines) __builtin_trap();                       /* no memory, and no way to say so */
    carry_surround(&z, k->store, (const char *)a + (first > before ? first - before : 0) * own, (float *)(*lines + 1),
                   here(s));
    return (const char *)(*lines + 1) - first * row;
}

void carry_run_part(int thread, int threads, void *c, const void *a, const void *b, const void *more,
                    const void *residual, const struct carry_parts *q, struct carry_state *s)
{
    if (thread < 0 || thread >= threads) return;
    struct piece *lines = 0;
    int64_t units = q->size / q->unit, rest = q->size - (units - 1) * q->unit;   /* the last one's */
    int64_t at = units * thread / threads, end = units * (thread + 1) / threads;
    int whole = at == 0 && end == units;
    if (q->lines && !whole && at < end)
        a = lines_of(q, at * q->unit, end == units ? q->size : end * q->unit, a, s, &lines);
    while (at < end) {
        int i = !whole;                                  /* the largest that is left of whole units */
        int64_t n = end - at - (end == units && rest > q->unit);
        while (!whole && n > 0 && q->chunk[i].size > n * q->unit) i++;
        if (!whole && n == 0) i = q->chunks - 1;         /* the last, with the rest */
        const struct carry_chunk *x = &q->chunk[i];
        const struct carry_kernel *k = kernel_of(q, x);
        const int64_t from = at * q->unit;
        int64_t over = from * q->step[2];
        if (k->given && q->step[2]) {                    /* columns of weights that are packed, perhaps in panels */
            const struct carry_change *to = &layout(k, s)->change[1];
            if (to->nvar == 3) over = from / to->size[2] * to->to[0] * 4;
        }
        carry_run_then((char *)c + from * q->step[0],
                       (const float *)(const void *)((const char *)a + from * q->step[1]),
                       (const float *)(const void *)((const char *)b + over),
                       more ? (const float *)(const void *)((const char *)more + from * q->step[3]) : 0,
                       residual ? (const float *)(const void *)((const char *)residual + from * q->residual) : 0, k, s);
        at += x->size / q->unit;
    }
    if (lines) put_memory(&s->pool[1], lines);
}

static void copy_rows(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {                    /* bytes; memcpy is not here, and may not be called */
        char *at = to + i * to_row;
        const char *what = from + i * from_row;
        int64_t left = row;
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(what), "+c"(left) : : "memory");
    }
}

void carry_run_ld(void *c, int64_t ldc, const void *a, int64_t lda, const void *b, int64_t ldb, const void *more,
                  int64_t rest, const struct carry_kernel *k, struct carry_state *s)
{
    enum { A, B, C, V, RESIDUAL, TENSORS };
    const int64_t in = k->store >= CARRY_HALVES_F16 ? 2 : bytes_of(k), word_bytes = bytes_of(k);
    int cast = 0;
    for (int i = 0; i < CARRY_THENS && !k->pair; i++) cast |= casts(k->then[i]);
    const int64_t bytes[TENSORS] = { in, in, cast ? 2 : word_bytes, in, word_bytes };
    const int64_t ld[TENSORS] = { lda, ldb, ldc, rest, ldc };
    const char *x[TENSORS] = { a, b, c, k->pair ? more : 0, k->pair ? 0 : (const char *)(uintptr_t)rest };
    int64_t all = 0;
    for (int pass = 0; pass < 2; pass++) {               /* dense copies of what is not: room for them first */
        struct piece *p = pass && all ? get_memory(&s->pool[1], all) : 0;
        if (pass && all && !p) __builtin_trap();         /* no memory, and no way to say so */
        char *room = p ? (char *)(p + 1) : 0;
        for (int t = 0; t < TENSORS; t++) {
            const int from = t == RESIDUAL ? C : t;
            int64_t n = k->elements[from], row = k->row[from];
            if (!x[t] || !n || ld[t] == row) continue;
            if (!pass) {
                all += (n * bytes[t] + 63) & ~(int64_t)63;
                continue;
            }
            if (t != C || k->add) copy_rows(room, row * bytes[t], x[t], ld[t] * bytes[t], row * bytes[t], n / row);
            x[t] = room;
            room += (n * bytes[t] + 63) & ~(int64_t)63;
        }
        if (!pass) continue;
        carry_run_then((void *)(uintptr_t)x[C], (const float *)(const void *)x[A], (const float *)(const void *)x[B],
                       k->pair ? (const float *)(const void *)x[V] : more, (const float *)(const void *)x[RESIDUAL], k,
                       s);
        const int64_t row = k->row[C] * bytes[C];
        if (x[C] != (const char *)c) copy_rows(c, ldc * bytes[C], x[C], row, row, k->elements[C] / k->row[C]);
        if (p) put_memory(&s->pool[1], p);
    }
}

/* of what was computed in another order or by other steps */
static int near(float x, float y, float more)
{
    float d = x > y ? x - y : y - x, size = y > 0 ? y : -y;
    return d <= 1e-5f * (1 + size) + more;
}

int carry_test(const struct carry_kernel *k, struct carry_state *s)
{
    enum { A, B, C, WANT, GIVEN, BIAS, RESIDUAL, LAST, PADDED, TENSORS };
    int then = k->then[0] != 0 && !k->pair, cast = 0, soft = k->pair;
    int last = CARRY_HALVES_BF16;
    for (int i = 0; i < CARRY_THENS; i++) {
        cast |= casts(k->then[i]), soft |= k->then[i] == CARRY_GELU || k->norm;
        if (k->then[i] == CARRY_CAST_F16) last = CARRY_HALVES_F16;
    }
    int64_t n[TENSORS] = { k->elements[0], k->elements[1], k->elements[2], k->elements[2], k->given,
                           then ? k->bias * 3 : k->elements[3],
                           then ? k->elements[2] : 0, cast ? k->elements[2] : 0, k->pad.n ? k->padded : 0 };
    int64_t bytes = 0;
    const int64_t d = bytes_of(k) / 4;
    for (int i = 0; i < TENSORS; i++) bytes += (n[i] * d * 4 + 63) & ~(int64_t)63;
    struct piece *p = get_memory(&s->pool[1], bytes);
    if (!p) return 2;
    float *x[TENSORS];
    char *at = (char *)(p + 1);
    uint32_t random = 1;
    for (int i = 0; i < TENSORS; i++, at += (n[i - 1] * d * 4 + 63) & ~(int64_t)63) {
        x[i] = (float *)at;
        for (int64_t j = 0; j < n[i]; j++) {             /* small integers: every order of the sum is exact */
            random = random * 1664525 + 1013904223;
            int value = (int)(random >> 29) - 3;
            union { float f; uint32_t u; } v = { (float)value };
            if (k->type == CARRY_BF16 && i < BIAS) v.u = (v.u >> 16) | (v.u & 0xffff0000);
            if (k->type == CARRY_U8S8 && i < BIAS) v.u = (uint32_t)(value & (i || k->sign ? 255 : 3)) * 0x01010101u;
            if (d == 2) ((eight *)x[i])[j] = value;
            else x[i][j] = v.f;
        }
    }
    for (int64_t j = 0; j < n[C] * d; j++) x[WANT][j] = x[C][j];
    for (int64_t j = 0; j < n[B] && k->given; j++)
        x[GIVEN][given_at(k, layout(k, s), j / k->row[1], j % k->row[1])] = x[B][j];
    if (k->given) carry_sums(x[GIVEN], k, layout(k, s));
    if (k->pad.n) carry_surround(&k->pad, d == 2 ? CARRY_DOUBLES : CARRY_FLOATS, x[A], x[PADDED], 0);
    if (k->pair) carry_pair_plain(k, x[WANT], x[A], x[B], x[BIAS]);
    else carry_plain(k, x[WANT], k->pad.n ? x[PADDED] : x[A], x[B]);
    for (int i = 0; i <= BIAS && k->store >= CARRY_HALVES_F16; i += i == B ? BIAS - B : 1)
        for (int64_t j = 0; j < n[i] && (i != BIAS || k->pair); j++)     /* as halves, where they are */
            ((half_word *)x[i])[j] = carry_narrow((enum carry_store)k->store, x[i][j]);
    carry_run_then(x[C], x[A], k->given ? x[GIVEN] : x[B], x[BIAS], x[RESIDUAL], k, s);
    if (then) carry_finish_all(k, x[WANT], cast ? x[LAST] : x[WANT], (struct carry_extra){ x[BIAS], x[RESIDUAL], 0 });
    int bad = 0;
    float most = 0;                                      /* of two contractions: what rounding is a share of */
    for (int64_t j = 0; j < n[C] && k->pair; j++) most = x[WANT][j] > most ? x[WANT][j] : most;
    if (k->pair && k->store == CARRY_HALVES_BF16) most += 4 / 256.0f / 1e-5f;    /* scores are so, and V is at most 4 */
    const word *got = (const word *)x[C], *want = (const word *)x[cast ? LAST : WANT];
    for (int64_t j = 0; j < n[C] * d && !cast; j++)
        bad |= got[j] != want[j] && !(soft && near(x[C][j], x[WANT][j], most * 1e-5f));
    const half_word *little = (const half_word *)x[C], *should = (const half_word *)x[LAST];
    for (int64_t j = 0; j < n[C] && cast; j++)
        bad |= little[j] != should[j] &&
               !(soft && near(wide1(last, little[j]), wide1(last, should[j]), wide1(last, should[j] & 0x7fff) / 128));
    put_memory(&s->pool[1], p);
    return bad;
}

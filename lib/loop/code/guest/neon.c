/* The vectors of eight floats that the narrow code has, on aarch64: two of NEON each, so that its sixteen registers are
 * all thirty-two.  What immintrin.h names, as far as the narrow code uses it. */
#ifdef __aarch64__
#include <arm_neon.h>
#define CARRY_INTRINSIC __attribute__((unused, always_inline)) static inline
typedef struct { float32x4_t v[2]; } __m256;
typedef struct { float64x2_t v[2]; } __m256d;
typedef struct { int32x4_t v[2]; } __m256i;
typedef float32x4_t __m128;
typedef float64x2_t __m128d;
typedef int32x4_t __m128i;

#define CARRY_PAIR(type, x, y) type z = { { x, y } }; return z;
#define CARRY_MAKE(name, type, from, f) CARRY_INTRINSIC type name(from x) { CARRY_PAIR(type, f, f) }
#define CARRY_EACH(name, type, from, f) CARRY_INTRINSIC type name(from x) { CARRY_PAIR(type, f(x.v[0]), f(x.v[1])) }
#define CARRY_BOTH(name, type, f) CARRY_INTRINSIC type name(type x, type y) \
    { CARRY_PAIR(type, f(x.v[0], y.v[0]), f(x.v[1], y.v[1])) }
#define CARRY_THREE(name, type, f) CARRY_INTRINSIC type name(type x, type y, type s) \
    { CARRY_PAIR(type, f(s.v[0], x.v[0], y.v[0]), f(s.v[1], x.v[1], y.v[1])) }
CARRY_MAKE(_mm256_set1_ps, __m256, float, vdupq_n_f32(x))
CARRY_MAKE(_mm256_set1_pd, __m256d, double, vdupq_n_f64(x))
CARRY_MAKE(_mm256_set1_epi32, __m256i, int, vdupq_n_s32(x))
CARRY_INTRINSIC __m256 _mm256_setzero_ps(void) { return _mm256_set1_ps(0); }
CARRY_INTRINSIC __m256d _mm256_setzero_pd(void) { return _mm256_set1_pd(0); }
CARRY_INTRINSIC __m256 _mm256_loadu_ps(const float *p) { CARRY_PAIR(__m256, vld1q_f32(p), vld1q_f32(p + 4)) }
CARRY_INTRINSIC __m256d _mm256_loadu_pd(const double *p) { CARRY_PAIR(__m256d, vld1q_f64(p), vld1q_f64(p + 2)) }
CARRY_INTRINSIC __m256i _mm256_loadu_si256(const __m256i *p)
{
    CARRY_PAIR(__m256i, vld1q_s32((const int32_t *)p), vld1q_s32((const int32_t *)p + 4))
}
CARRY_INTRINSIC void _mm256_storeu_ps(float *p, __m256 x) { vst1q_f32(p, x.v[0]), vst1q_f32(p + 4, x.v[1]); }
CARRY_INTRINSIC void _mm256_storeu_pd(double *p, __m256d x) { vst1q_f64(p, x.v[0]), vst1q_f64(p + 2, x.v[1]); }

/* masks are of the first so many elements; what is behind them is not touched */
#define CARRY_SOME(sort, type, number, n) \
    CARRY_INTRINSIC int carry_mask_##sort(__m256i m) \
    { return (int)-(vaddvq_s32(m.v[0]) + vaddvq_s32(m.v[1])) / (8 / n); } \
    CARRY_INTRINSIC type _mm256_maskload_##sort(const number *p, __m256i m) \
    { \
        number x[n] = { 0 }; \
        for (int i = 0, some = carry_mask_##sort(m); i < some; i++) x[i] = p[i]; \
        return _mm256_loadu_##sort(x); \
    } \
    CARRY_INTRINSIC void _mm256_maskstore_##sort(number *p, __m256i m, type y) \
    { \
        number x[n]; \
        _mm256_storeu_##sort(x, y); \
        for (int i = 0, some = carry_mask_##sort(m); i < some; i++) p[i] = x[i]; \
    }
CARRY_SOME(ps, __m256, float, 8)
CARRY_SOME(pd, __m256d, double, 4)

/* of a NaN and a number the second, as there */
#define CARRY_MOST_OF(x, y) vbslq_f32(vcgtq_f32(x, y), x, y)
#define CARRY_LEAST_OF(x, y) vbslq_f32(vcltq_f32(x, y), x, y)
#define CARRY_MOST_OF_D(x, y) vbslq_f64(vcgtq_f64(x, y), x, y)
#define CARRY_LEAST_OF_D(x, y) vbslq_f64(vcltq_f64(x, y), x, y)
#define CARRY_BITS(x) vreinterpretq_u32_f32(x)
#define CARRY_AND(x, y) vreinterpretq_f32_u32(vandq_u32(CARRY_BITS(x), CARRY_BITS(y)))
#define CARRY_OR(x, y) vreinterpretq_f32_u32(vorrq_u32(CARRY_BITS(x), CARRY_BITS(y)))
#define CARRY_BUT(x, y) vreinterpretq_f32_u32(vbicq_u32(CARRY_BITS(y), CARRY_BITS(x)))
#define CARRY_LOW(x, y) vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(x), vreinterpretq_f64_f32(y)))
#define CARRY_HIGH(x, y) vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(x), vreinterpretq_f64_f32(y)))
CARRY_BOTH(_mm256_add_ps, __m256, vaddq_f32)
CARRY_BOTH(_mm256_add_pd, __m256d, vaddq_f64)
CARRY_BOTH(_mm256_add_epi32, __m256i, vaddq_s32)
CARRY_BOTH(_mm256_sub_ps, __m256, vsubq_f32)
CARRY_BOTH(_mm256_mul_ps, __m256, vmulq_f32)
CARRY_BOTH(_mm256_mul_pd, __m256d, vmulq_f64)
CARRY_BOTH(_mm256_div_ps, __m256, vdivq_f32)
CARRY_BOTH(_mm256_max_ps, __m256, CARRY_MOST_OF)
CARRY_BOTH(_mm256_max_pd, __m256d, CARRY_MOST_OF_D)
CARRY_BOTH(_mm256_min_ps, __m256, CARRY_LEAST_OF)
CARRY_BOTH(_mm256_min_pd, __m256d, CARRY_LEAST_OF_D)
CARRY_BOTH(_mm256_and_ps, __m256, CARRY_AND)
CARRY_BOTH(_mm256_or_ps, __m256, CARRY_OR)
CARRY_BOTH(_mm256_andnot_ps, __m256, CARRY_BUT)
CARRY_BOTH(_mm256_unpacklo_ps, __m256, vzip1q_f32)
CARRY_BOTH(_mm256_unpackhi_ps, __m256, vzip2q_f32)
CARRY_BOTH(_mm256_unpacklo_pd, __m256d, vzip1q_f64)
CARRY_BOTH(_mm256_unpackhi_pd, __m256d, vzip2q_f64)
CARRY_BOTH(carry_low, __m256, CARRY_LOW)
CARRY_BOTH(carry_high, __m256, CARRY_HIGH)
CARRY_BOTH(_mm256_hadd_ps, __m256, vpaddq_f32)
CARRY_BOTH(_mm256_hadd_pd, __m256d, vpaddq_f64)
CARRY_BOTH(_mm256_hadd_epi32, __m256i, vpaddq_s32)
CARRY_THREE(_mm256_fmadd_ps, __m256, vfmaq_f32)
CARRY_THREE(_mm256_fmadd_pd, __m256d, vfmaq_f64)
CARRY_THREE(_mm256_fnmadd_ps, __m256, vfmsq_f32)
#define _mm256_permute_ps(x, c) carry_lane_of_each(x, (c) & 3)
CARRY_INTRINSIC __m256 carry_lane_of_each(__m256 x, int i)
{
    CARRY_PAIR(__m256, vdupq_n_f32(x.v[0][i]), vdupq_n_f32(x.v[1][i]))
}
CARRY_EACH(carry_round, __m256, __m256, vrndnq_f32)
CARRY_EACH(_mm256_cvtps_epi32, __m256i, __m256, vcvtnq_s32_f32)
CARRY_EACH(_mm256_cvtepi32_ps, __m256, __m256i, vcvtq_f32_s32)
CARRY_EACH(_mm256_castps_si256, __m256i, __m256, vreinterpretq_s32_f32)
CARRY_EACH(_mm256_castsi256_ps, __m256, __m256i, vreinterpretq_f32_s32)
#define _mm256_round_ps(x, how) carry_round(x)
#define _mm256_shuffle_ps(x, y, how) ((how) == 0x44 ? carry_low(x, y) : carry_high(x, y))     /* all that there are */
CARRY_INTRINSIC __m256i _mm256_slli_epi32(__m256i x, int n)
{
    CARRY_PAIR(__m256i, vshlq_s32(x.v[0], vdupq_n_s32(n)), vshlq_s32(x.v[1], vdupq_n_s32(n)))
}
CARRY_INTRINSIC __m256i _mm256_srai_epi32(__m256i x, int n)
{
    CARRY_PAIR(__m256i, vshlq_s32(x.v[0], vdupq_n_s32(-n)), vshlq_s32(x.v[1], vdupq_n_s32(-n)))
}
CARRY_INTRINSIC __m256 _mm256_permute2f128_ps(__m256 x, __m256 y, int how)
{
    CARRY_PAIR(__m256, x.v[how & 1], y.v[how >> 4 & 1])
}
CARRY_INTRINSIC __m256d _mm256_permute2f128_pd(__m256d x, __m256d y, int how)
{
    CARRY_PAIR(__m256d, x.v[how & 1], y.v[how >> 4 & 1])
}
CARRY_INTRINSIC __m256 _mm256_cvtph_ps(__m128i h)
{
    const float16x8_t x = vreinterpretq_f16_s32(h);
    CARRY_PAIR(__m256, vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x))
}
CARRY_INTRINSIC __m256i _mm256_cvtepu16_epi32(__m128i h)
{
    const uint16x8_t x = vreinterpretq_u16_s32(h);
    CARRY_PAIR(__m256i, vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(x))), vreinterpretq_s32_u32(vmovl_high_u16(x)))
}
#define _mm_loadu_si128(p) vld1q_s32((const int32_t *)(p))
#define _mm256_extractf128_ps(x, i) ((x).v[i])
#define _mm256_castps256_ps128(x) ((x).v[0])
#define _mm_castps_si128(x) vreinterpretq_s32_f32(x)
#define _mm_castsi128_ps(x) vreinterpretq_f32_s32(x)
#define _mm_add_epi32(x, y) vaddq_s32(x, y)
#define _mm_add_ps(x, y) vaddq_f32(x, y)
#define _mm_add_pd(x, y) vaddq_f64(x, y)
#define _mm_loadu_ps(p) vld1q_f32(p)
#define _mm_storeu_ps(p, x) vst1q_f32(p, x)
#define _mm_load_ss(p) vsetq_lane_f32(*(p), vdupq_n_f32(0), 0)
#define _mm_load_sd(p) vsetq_lane_f64(*(p), vdupq_n_f64(0), 0)
#define _mm_store_ss(p, x) (*(p) = vgetq_lane_f32(x, 0))
#define _mm_store_sd(p, x) (*(p) = vgetq_lane_f64(x, 0))
#define _mm_set_ss(x) vdupq_n_f32(x)
#define _mm_set_sd(x) vdupq_n_f64(x)
#define _mm_setzero_pd() vdupq_n_f64(0)
#define _mm_sqrt_ss(x) vsqrtq_f32(x)
#define _mm_sqrt_sd(x, y) vsqrtq_f64(y)
#define _mm_cvtss_f32(x) vgetq_lane_f32(x, 0)
#define _mm_cvtsd_f64(x) vgetq_lane_f64(x, 0)
#define _MM_HINT_T0 3
#define _mm_prefetch(p, how) __builtin_prefetch(p)

/* wide code is named, and never here */
#define line16 line8
#define halves16 halves8
#define plane16(from, from_row, to, to_row, rows, cols, each) plane8(from, from_row, to, to_row, rows, cols)
#define lines16(from, from_row, to, to_row, rows, cols, flip) lines8(from, from_row, to, to_row, rows, cols)
#define run16 run8
#define norm16 norm8
#define soft16 soft8
#define soft_pairs16 soft8
#define words16 words8
#define pairs_of(k, v, to) ((void)(k), (void)(v), (void)(to))
#endif

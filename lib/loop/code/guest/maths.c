/* gelu and powers of two, sixteen, eight and one at a time. */
/* erf(x / sqrt 2) is x times a quotient of polynomials of x^2, from -5.4 to 5.4, where it is 1 as a float: fitted to
 * 3e-8; gelu, in floats, is off by at most 1e-6 of itself or of 1. */
static const float erf_p[7] = { 2.32208983e-10f, -4.45142992e-8f, 6.26687767e-6f, 3.17917726e-4f, 8.87007651e-3f,
                                6.95702963e-2f, 0.797884357f },
                   erf_q[5] = { 5.86765821e-5f, 1.76359663e-3f, 2.84300292e-2f, 0.25385839f, 1 }, ERF_END = 29.16f;
static const float LOG2E = 1.44269504f;

/* ---- between two contractions ---- */

/* 2^x for x of at most 0: 2^n and Taylor's polynomial of 2^f, f from -1/2 to 1/2 */
static const float exp2_c[7] = { 1.5252734e-5f, 1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f,
                                 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f };
static const float LEAST = -0x1.fffffep127f, NORM_LEAST = 1e-5f;

WIDE static inline __m512 power16(__m512 x)
{
    __m512 n = _mm512_roundscale_ps(x, 0), f = _mm512_sub_ps(x, n), y = _mm512_set1_ps(exp2_c[1]);
    for (int i = 2; i < 7; i++) y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(exp2_c[i]));
    return _mm512_scalef_ps(_mm512_fmadd_ps(y, f, _mm512_set1_ps(1)), n);
}

NARROW static inline __m256 power8(__m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(-127), x);          /* a NaN stays, being the second; 2^-127 becomes 0 */
    __m256 n = _mm256_round_ps(x, 8), f = _mm256_sub_ps(x, n), y = _mm256_set1_ps(exp2_c[1]);
    for (int i = 2; i < 7; i++) y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(exp2_c[i]));
    y = _mm256_fmadd_ps(y, f, _mm256_set1_ps(1));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(y, _mm256_castsi256_ps(e));
}

static inline float power1(float x)
{
    if (x < -126) return 0;
    int n = (int)(x - 0.5f);
    float f = x - (float)n, y = exp2_c[0];
    for (int i = 1; i < 7; i++) y = y * f + exp2_c[i];
    union { uint32_t u; float f; } power = { (uint32_t)(n + 127) << 23 };
    return (y * f + 1) * power.f;
}

/* ---- words of words.h ---- */

#define CARRY_S(where, type, from, s, f) \
    where __attribute__((unused)) static inline type carry_##s##_of(from x) { return f; }
#define CARRY_TWO(where, type, s, op, f) \
    where __attribute__((unused)) static inline type carry_##s##_##op(type x, type y) { return f; }
#define CARRY_FMA(where, type, s, f) where static inline type carry_##s##_fma(type x, type y, type z) { return f; }
#define CARRY_POWER(where, type, s, f) \
    where __attribute__((unused)) static inline type carry_##s##_power(type x) { return f; }
#define CARRY_GELUS(where, type, S) \
    where static inline type S##_gelu(type x) \
    { \
        type u = S##_least(S##_mul(x, x), S##_of(ERF_END)), p = S##_of(erf_p[0]), q = S##_of(erf_q[0]); \
        type h = S##_mul(x, S##_of(0.5f)); \
        for (int i = 1; i < 7; i++) p = S##_fma(p, u, S##_of(erf_p[i])); \
        for (int i = 1; i < 5; i++) q = S##_fma(q, u, S##_of(erf_q[i])); \
        p = S##_least(S##_div(S##_mul(p, x), q), S##_of(1)); \
        return S##_fma(h, S##_most(p, S##_of(-1)), h); \
    }
CARRY_S(WIDE, __m512, float, v16, _mm512_set1_ps(x))
CARRY_TWO(WIDE, __m512, v16, add, _mm512_add_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, mul, _mm512_mul_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, div, _mm512_div_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, most, _mm512_max_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, least, _mm512_min_ps(x, y))
CARRY_FMA(WIDE, __m512, v16, _mm512_fmadd_ps(x, y, z))
CARRY_POWER(WIDE, __m512, v16, power16(x))
CARRY_GELUS(WIDE, __m512, carry_v16)
CARRY_S(NARROW, __m256, float, v8, _mm256_set1_ps(x))
CARRY_TWO(NARROW, __m256, v8, add, _mm256_add_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, mul, _mm256_mul_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, div, _mm256_div_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, most, _mm256_max_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, least, _mm256_min_ps(x, y))
CARRY_FMA(NARROW, __m256, v8, _mm256_fmadd_ps(x, y, z))
CARRY_POWER(NARROW, __m256, v8, power8(x))
CARRY_GELUS(NARROW, __m256, carry_v8)
CARRY_S(, double, double, v1, x)
CARRY_TWO(, double, v1, add, x + y)
CARRY_TWO(, double, v1, mul, x * y)
CARRY_TWO(, double, v1, div, x / y)
CARRY_TWO(, double, v1, most, x > y ? x : y)
CARRY_TWO(, double, v1, least, x < y ? x : y)
CARRY_FMA(, double, v1, x * y + z)
CARRY_POWER(, double, v1, power1((float)x))
CARRY_GELUS(, double, carry_v1)

#define CARRY_OF_Y(w, cycles, f) case CARRY_##w: y = f; break;
WIDE static inline __m512 word16(int w, const float *arg, __m512 y)
{
    (void)arg;
    switch (w) {
    CARRY_ELEMENTS(CARRY_OF_Y, carry_v16)
    }
    return y;
}

NARROW static inline __m256 word8(int w, const float *arg, __m256 y)
{
    (void)arg;
    switch (w) {
    CARRY_ELEMENTS(CARRY_OF_Y, carry_v8)
    }
    return y;
}

#define CARRY_OF_1(w, cycles, f) case CARRY_##w: return f;
static inline double word1(int w, const float *arg, double y)
{
    (void)arg;
    switch (w) {
    CARRY_ELEMENTS(CARRY_OF_1, carry_v1)
    }
    return y;
}

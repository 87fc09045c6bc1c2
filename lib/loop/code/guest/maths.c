/* exp, gelu and powers of two, sixteen, eight and one at a time. */
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

/* ---- words of words.h ---- */

#define CARRY_S(where, type, from, s, f) \
    where __attribute__((unused)) static inline type carry_##s##_of(from x) { return f; }
#define CARRY_TWO(where, type, s, op, f) \
    where __attribute__((unused)) static inline type carry_##s##_##op(type x, type y) { return f; }
CARRY_S(WIDE, __m512, float, v16, _mm512_set1_ps(x))
CARRY_TWO(WIDE, __m512, v16, add, _mm512_add_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, mul, _mm512_mul_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, most, _mm512_max_ps(x, y))
CARRY_TWO(WIDE, __m512, v16, least, _mm512_min_ps(x, y))
CARRY_S(NARROW, __m256, float, v8, _mm256_set1_ps(x))
CARRY_TWO(NARROW, __m256, v8, add, _mm256_add_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, mul, _mm256_mul_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, most, _mm256_max_ps(x, y))
CARRY_TWO(NARROW, __m256, v8, least, _mm256_min_ps(x, y))
CARRY_S(, double, double, v1, x)
CARRY_TWO(, double, v1, add, x + y)
CARRY_TWO(, double, v1, mul, x * y)
CARRY_TWO(, double, v1, most, x > y ? x : y)
CARRY_TWO(, double, v1, least, x < y ? x : y)

#define CARRY_OF_Y(w, f) case CARRY_##w: y = f; break;
WIDE static inline __m512 word16(int w, const float *arg, __m512 y)
{
    (void)arg;
    switch (w) {
    case CARRY_GELU: y = gelu16(y); break;
    CARRY_ELEMENTS(CARRY_OF_Y, carry_v16)
    }
    return y;
}

NARROW static inline __m256 word8(int w, const float *arg, __m256 y)
{
    (void)arg;
    switch (w) {
    case CARRY_GELU: y = gelu8(y); break;
    CARRY_ELEMENTS(CARRY_OF_Y, carry_v8)
    }
    return y;
}

#define CARRY_OF_1(w, f) case CARRY_##w: return f;
static inline double word1(int w, const float *arg, double y)
{
    (void)arg;
    switch (w) {
    case CARRY_GELU: return gelu1((float)y);
    CARRY_ELEMENTS(CARRY_OF_1, carry_v1)
    }
    return y;
}

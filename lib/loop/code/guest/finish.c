/* What follows a sum, on a block of C that is complete: by AVX-512, AVX2 or plain loops. */
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
    __m512i nan = _mm512_or_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(64));      /* see cast1 */
    u = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
    u = _mm512_mask_mov_epi32(u, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), nan);
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
                       const uint8_t *words, int sums)
{
    const struct carry_kernel *k = x->kernel;
    const int along = k->bias_step == 1, stay = x->out == x->c || k->norm;
    const __m512 scale = _mm512_set1_ps(k->pair ? share(x, at) : k->scale);
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
            case CARRY_SCALE:
                q = bias + k->scales + (along ? i : 0);
                y = _mm512_mul_ps(y, along ? some16(m, q) : _mm512_set1_ps(*q));
                y1 = _mm512_mul_ps(y1, along ? some16(m1, q + 16) : _mm512_set1_ps(*q));
                y2 = _mm512_mul_ps(y2, along ? some16(m2, q + 32) : _mm512_set1_ps(*q));
                y3 = _mm512_mul_ps(y3, along ? some16(m3, q + 48) : _mm512_set1_ps(*q));
                break;
            default:
                y = word16(*then, k->arg[*then], y);
                if (m1) y1 = word16(*then, k->arg[*then], y1);
                if (m2) y2 = word16(*then, k->arg[*then], y2);
                if (m3) y3 = word16(*then, k->arg[*then], y3);
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
                                                      const float *bias, const uint8_t *words, int sums)
{
    const struct carry_kernel *k = x->kernel;
    float y = sums ? (float)*(const word *)c : *c;
    for (const uint8_t *then = words; *then; then++)
        switch (*then) {
        case CARRY_BIAS: y += *bias; break;
        case CARRY_SCALE: y *= bias[k->scales]; break;
        case CARRY_RESIDUAL: y += x->extra.residual[at]; break;
        case CARRY_OVER: y *= k->scale; break;
        case CARRY_SOFTMAX: y *= share(x, at); break;
        case CARRY_CAST: ((half_word *)x->out)[at] = cast1(y); break;
        case CARRY_CAST_F16: ((half_word *)x->out)[at] = cast1_f16(y); break;
        default: y = (float)word1(*then, k->arg[*then], y);
        }
    if (x->out == x->c || k->norm) *c = y;
}

NARROW static void run8(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                        const uint8_t *words, int sums)
{
    const struct carry_kernel *k = x->kernel;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 y = _mm256_loadu_ps(c + i);
        if (sums) y = _mm256_cvtepi32_ps(_mm256_castps_si256(y));
        for (const uint8_t *then = words; *then; then++)
            switch (*then) {
            case CARRY_BIAS:
                y = _mm256_add_ps(y, k->bias_step == 1 ? _mm256_loadu_ps(bias + i) : _mm256_set1_ps(*bias));
                break;
            case CARRY_SCALE: {
                const float *q = bias + k->scales;
                y = _mm256_mul_ps(y, k->bias_step == 1 ? _mm256_loadu_ps(q + i) : _mm256_set1_ps(*q));
                break;
            }
            case CARRY_RESIDUAL: y = _mm256_add_ps(y, _mm256_loadu_ps(x->extra.residual + at + i)); break;
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
            default: y = word8(*then, k->arg[*then], y);
            }
        if (x->out == x->c || k->norm) _mm256_storeu_ps(c + i, y);
    }
    for (; i < n; i++) one(x, c + i, at + i, k->bias_step == 1 ? bias + i : bias, words, sums);
}

static void run1(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                 const uint8_t *words, int sums)
{
    for (int64_t i = 0; i < n; i++) one(x, c + i, at + i, x->kernel->bias_step == 1 ? bias + i : bias, words, sums);
}

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
        if (*then == CARRY_SCALE) {
            for (more += k->scales; i < n; i++) y[i] *= more[k->bias_step == 1 ? i : 0];
            continue;
        }
        if (*then == CARRY_RESIDUAL || (*then == CARRY_BIAS && k->bias_step == 1)) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) += *(const vec4 *)(more + i);
            for (; i < n; i++) y[i] += more[i];
        } else if (*then == CARRY_BIAS) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) += *more;
            for (; i < n; i++) y[i] += *more;
        } else if (*then == CARRY_OVER) {
            for (; i + 4 <= n; i += 4) *(vec4 *)(y + i) /= (double)k->over;
            for (; i < n; i++) y[i] /= k->over;
        } else {
            for (; i < n; i++) y[i] = word1(*then, k->arg[*then], y[i]);
        }
    }
}

NARROW static void doubles8(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                            const uint8_t *words, int sums)
{
    (void)sums;
    doubles(x, c, at, n, bias, words);
}
static void doubles1(const struct carry_context *x, float *c, int64_t at, int64_t n, const float *bias,
                     const uint8_t *words, int sums)
{
    (void)sums;
    doubles(x, c, at, n, bias, words);
}

/* sums: they are integers, and become floats before; that is once, whether words stand before a norm or not */
typedef void run_of(const struct carry_context *, float *c, int64_t at, int64_t n, const float *bias,
                    const uint8_t *words, int sums);

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
    const int sums = k->type == CARRY_U8S8;
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
        if (words[0] || !k->norm || sums) run(x, block + f * d, o + f, n, bias, words, sums);
        if (k->norm) norm(block + f, n, x->extra.bias + n, k->norm == CARRY_RMSNORM);
        if (k->norm && after[0]) run(x, block + f, o + f, n, bias, after, 0);
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

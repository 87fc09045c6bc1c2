/* What lies between two contractions: softmax block by block, or words of each element of S. */
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
    for (const uint8_t *mid = k->mid; *mid; mid++) y = (float)word1(*mid, k->arg[*mid], y);
    return y;
}

WIDE static void words16(const struct carry_kernel *k, float *s, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 y = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, s + i), _mm512_set1_ps(k->mid_scale));
        for (const uint8_t *mid = k->mid; *mid; mid++) y = word16(*mid, k->arg[*mid], y);
        _mm512_mask_storeu_ps(s + i, m, y);
    }
}

NARROW static void words8(const struct carry_kernel *k, float *s, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 y = _mm256_mul_ps(_mm256_loadu_ps(s + i), _mm256_set1_ps(k->mid_scale));
        for (const uint8_t *mid = k->mid; *mid; mid++) y = word8(*mid, k->arg[*mid], y);
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

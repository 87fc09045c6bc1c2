/* Changes of layout: to[c * to_row + r] = from[r * from_row + c], in blocks of registers; halves become floats. */
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

/* 32 bytes of this row and of one so many floats on */
WIDE static inline __m512 two_rows(const float *from, int64_t row)
{
    const __m512d first = _mm512_castps_pd(_mm512_castps256_ps512(_mm256_loadu_ps(from)));
    return _mm512_castpd_ps(_mm512_insertf64x4(first, _mm256_castps_pd(_mm256_loadu_ps(from + row)), 1));
}

/* x and y have one column in their even fours of floats, another, so many floats on, in the odd ones */
WIDE static inline void put_columns(__m512d x, __m512d y, float *to, int64_t apart)
{
    _mm512_storeu_ps(to, _mm512_castpd_ps(_mm512_shuffle_f64x2(x, y, 0x88)));
    _mm512_storeu_ps(to + apart, _mm512_castpd_ps(_mm512_shuffle_f64x2(x, y, 0xdd)));
}

/* of the eight rows here columns 0 and 4 of floats, 1 and 5, 2 and 6, 3 and 7 */
WIDE static inline void columns8(const float *from, int64_t row, __m512d *c0, __m512d *c1, __m512d *c2, __m512d *c3)
{
    const __m512 a = two_rows(from, 4 * row), b = two_rows(from + row, 4 * row),
                 x = two_rows(from + 2 * row, 4 * row), y = two_rows(from + 3 * row, 4 * row);
    const __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)),
                  next = _mm512_castps_pd(_mm512_unpacklo_ps(x, y)), last = _mm512_castps_pd(_mm512_unpackhi_ps(x, y));
    *c0 = _mm512_unpacklo_pd(low, next), *c1 = _mm512_unpackhi_pd(low, next);
    *c2 = _mm512_unpacklo_pd(high, last), *c3 = _mm512_unpackhi_pd(high, last);
}

/* Loads that insert put two rows into a register: fewer shuffles than of whole rows, fewer loads than of four.  Nothing
 * is an array that a compiler may keep in memory.  Rows of floats, `each` of them an element: 2 of doubles. */
WIDE static inline void square16(const float *from, int64_t from_row, float *to, int64_t to_row, int each)
{
    for (int c = 0; c < 16 && each == 1; c += 8, from += 8, to += 8 * to_row) {
        __m512d x0, x1, x2, x3, y0, y1, y2, y3;
        columns8(from, from_row, &x0, &x1, &x2, &x3);
        columns8(from + 8 * from_row, from_row, &y0, &y1, &y2, &y3);
        put_columns(x0, y0, to, 4 * to_row), put_columns(x1, y1, to + to_row, 4 * to_row);
        put_columns(x2, y2, to + 2 * to_row, 4 * to_row), put_columns(x3, y3, to + 3 * to_row, 4 * to_row);
    }
    for (int c = 0; c < 8 && each == 2; c += 4, from += 8, to += 4 * to_row) {
        const __m512d a = _mm512_castps_pd(two_rows(from, 2 * from_row)),
                      b = _mm512_castps_pd(two_rows(from + from_row, 2 * from_row)),
                      x = _mm512_castps_pd(two_rows(from + 4 * from_row, 2 * from_row)),
                      y = _mm512_castps_pd(two_rows(from + 5 * from_row, 2 * from_row));
        put_columns(_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(x, y), to, 2 * to_row);
        put_columns(_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(x, y), to + to_row, 2 * to_row);
    }
}

/* some rows and columns of one: nothing beyond them is read or written.  Masks are here alone, for they cost */
WIDE static void corner16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols,
                          int each)
{
    float block[512] = { 0 };
    const __mmask16 in = (__mmask16)((1u << cols * each) - 1), out = (__mmask16)((1u << rows * each) - 1);
    for (int64_t i = 0; i < rows; i++)
        _mm512_storeu_ps(block + 16 * i, _mm512_maskz_loadu_ps(in, from + i * from_row));
    square16(block, 16, block + 256, 16, each);
    for (int64_t i = 0; i < cols; i++)
        _mm512_mask_storeu_ps(to + i * to_row, out, _mm512_loadu_ps(block + 256 + 16 * i));
}

WIDE static void plane16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols,
                         int each)
{
    const int64_t most = 16 / each;
    for (int64_t c = 0; c < cols; c += most)
        for (int64_t r = 0; r < rows; r += most) {
            const int64_t nr = rows - r < most ? rows - r : most, nc = cols - c < most ? cols - c : most;
            const float *at = from + r * from_row + c * each;
            float *out = to + c * to_row + r * each;
            if (nr < most || nc < most) corner16(at, from_row, out, to_row, nr, nc, each);
            else square16(at, from_row, out, to_row, each);
        }
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
        for (; c < cols; c++) to[c] = wide1(store, from, c);
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
                plane16(block, 16, to + i * to_row + r, to_row, nr, nc, 1);
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
    const int stored = bytes_stored(c->store);           /* d: floats in an element */
    int halves = c->store == CARRY_HALVES_F16 || c->store == CARRY_HALVES_BF16;
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
        else if (c->from[last] == 1 && !back && c->wide && !stored)
            lines16(from + f * d, c->from[outer] * d, to + t * d, c->to[outer] * d, c->nvar > 1 ? c->size[outer] : 1,
                    fast * d, flip);
        else if (c->from[last] == 1 && !back && !stored)
            lines8(from + f * d, c->from[outer] * d, to + t * d, c->to[outer] * d, c->nvar > 1 ? c->size[outer] : 1,
                   fast * d);
        else if (planes && c->wide && !stored)
            plane16(from + d * (back ? t : f), d * (back ? c->to[outer] : c->from[last]), to + d * (back ? f : t),
                    d * (back ? c->from[last] : c->to[outer]), rows, cols, d);
        else if (planes && d == 2)
            plane_double((const eight *)from + (back ? t : f), back ? c->to[outer] : c->from[last],
                         (eight *)to + (back ? f : t), back ? c->from[last] : c->to[outer], rows, cols);
        else if (planes && !stored)
            plane8(back ? from + t : from + f, back ? c->to[outer] : c->from[last], back ? to + f : to + t,
                   back ? c->from[last] : c->to[outer], rows, cols);
        else
            for (int64_t i = 0, n = c->nvar > 1 ? c->size[outer] : 1; i < n; i++)
                for (int64_t j = 0; j < fast; j++) {
                    int64_t x = f + (n > 1 ? i * c->from[outer] : 0) + j * c->from[last];
                    int64_t y = t + (n > 1 ? i * c->to[outer] : 0) + j;
                    for (int l = 0; l < d; l++)
                        if (back) to[x * d + l] = from[y * d + l];
                        else if (stored) to[y] = wide1(c->store, from, x);
                        else to[y * d + l] = flipped(from[x * d + l], flip);
                }
        more = next_outer(c, outer, at, &f, &t);
    }
}

void carry_forth(const struct carry_change *c, const float *from, float *to) { relayout(c, from, to, 0); }
void carry_back(const struct carry_change *c, const float *from, float *to) { relayout(c, from, to, 1); }

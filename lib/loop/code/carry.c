#include "loop/code/carry.h"
#include <cpuid.h>
#include <immintrin.h>

#define NARROW __attribute__((target("avx2,fma")))
#define WIDE   __attribute__((target("avx512f,avx512vl,avx2,fma")))

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

/* rows as they are, from far apart to close together; the one eight further on is asked for before */
WIDE static void lines16(const float *from, int64_t from_row, float *to, int64_t to_row, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row)
        for (int64_t c = 0; c < cols; c += 16) {
            __mmask16 m = cols - c >= 16 ? 0xffff : (__mmask16)((1u << (cols - c)) - 1);
            _mm_prefetch((const char *)(from + 8 * from_row + c), _MM_HINT_T0);
            _mm512_mask_storeu_ps(to + c, m, _mm512_maskz_loadu_ps(m, from + c));
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

static void change(const struct carry_change *c, const float *from, float *to, int back)
{
    int last = c->nvar - 1, outer = c->nvar > 1 ? last - 1 : 0;
    int64_t at[CARRY_VARS] = { 0 }, f = 0, t = 0;
    int planes = c->nvar > 1 && c->from[outer] == 1;
    for (int more = 1; more; ) {
        int64_t fast = c->edge && at[0] == c->size[0] - 1 ? c->edge : c->size[last];
        int64_t rows = back ? c->size[outer] : fast, cols = back ? fast : c->size[outer];
        if (c->from[last] == 1 && !back && c->wide)
            lines16(from + f, c->from[outer], to + t, c->to[outer], c->nvar > 1 ? c->size[outer] : 1, fast);
        else if (c->from[last] == 1 && !back)
            lines8(from + f, c->from[outer], to + t, c->to[outer], c->nvar > 1 ? c->size[outer] : 1, fast);
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
                    if (back) to[x] = from[y];
                    else to[y] = from[x];
                }
        int i = outer;
        while (i-- > 0) {
            f += c->from[i];
            t += c->to[i];
            if (++at[i] < c->size[i]) break;
            f -= at[i] * c->from[i];
            t -= at[i] * c->to[i];
            at[i] = 0;
        }
        more = i >= 0;
    }
}

void carry_forth(const struct carry_change *c, const float *from, float *to) { change(c, from, to, 0); }
void carry_back(const struct carry_change *c, const float *from, float *to) { change(c, from, to, 1); }

/* where group i of column j lies in a B that is given, in groups */
static int64_t given_at(const struct carry_kernel *k, int64_t i, int64_t j)
{
    const struct carry_change *c = &k->variant[0].change[1];
    if (!k->given) return i * k->row[1] + j;
    if (c->nvar < 3) return c->nvar < 2 ? i + j : i * c->to[0] + j;
    return j / c->size[2] * c->to[0] + i * c->to[1] + j % c->size[2];
}

void carry_pack(void *packed, const void *b, const struct carry_kernel *k)
{
    int64_t g = k->type == CARRY_BF16 ? 2 : 4, n = k->row[1], groups = k->elements[1] / n;
    for (int64_t i = 0; i < groups; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < g; l++) {
                int64_t to = given_at(k, i, j) * g + l, from = (i * g + l) * n + j;
                if (g == 2) ((uint16_t *)packed)[to] = ((const uint16_t *)b)[from];
                else ((uint8_t *)packed)[to] = ((const uint8_t *)b)[from];
            }
}

/* ---- plain loops ---- */

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t word __attribute__((may_alias));

static inline float half(uint32_t bits)                  /* the number of a bf16: the upper half of a float */
{
    union { uint32_t u; float f; } x = { bits << 16 };
    return x.f;
}

static inline void step_of(int type, float *c, const float *a, const float *b)
{
    union { float f; uint32_t u; } x = { *a }, y = { *b };
    if (type == CARRY_F32) {
        *c += *a * *b;
    } else if (type == CARRY_BF16) {
        *c += half(x.u & 0xffff) * half(y.u & 0xffff) + half(x.u >> 16) * half(y.u >> 16);
    } else {
        word *sum = (word *)c;
        for (int i = 0; i < 32; i += 8) *sum += (int32_t)(x.u >> i & 255) * (int8_t)(y.u >> i & 255);
    }
}

static inline __attribute__((always_inline)) void run_line(int op, int type, float *c, int64_t sc, const float *a,
                                                           int64_t sa, const float *b, int64_t sb, int64_t n)
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
        if (op == CARRY_FMA) step_of(type, c + i * sc, a + i * sa, b + i * sb);
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
    for (int64_t i = 0; i < k->elements[2] && !k->add; i++) c[i] = 0;
    int32_t at[CARRY_VARS] = { 0 };
    int64_t o[3] = { 0 };
    if (!k->elements[1]) b = a;
    for (int more = 1; more; ) {
        run_line(k->op, k->type, c + o[2], k->stride[2][in], a + o[0], k->stride[0][in], b + o[1], k->stride[1][in],
                 k->size[in]);
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

/* ---- what is here, memory, the run ---- */

int carry_cpu(void)
{
    unsigned a, b, c, d, x, upper;
    int have = 0;
    if (!__get_cpuid_count(1, 0, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return 0;
    __asm__("xgetbv" : "=a"(x), "=d"(upper) : "c"(0));
    if ((x & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    if (b & bit_AVX2) have |= CARRY_AVX2;
    if ((x & 0xe6) != 0xe6 || !(b & bit_AVX512F) || !(b & 1u << 31)) return have;        /* bit 31: AVX512VL */
    have |= CARRY_AVX512;
    if (c & 1u << 11) have |= CARRY_AVX512VNNI;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && a & 1u << 5) have |= CARRY_AVX512BF16;
    return have;
}

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

struct piece { int64_t bytes; char unused[56]; };        /* before scratch memory, so that that is aligned */

/* memory of the last call is kept for the next one; a thread that finds it in use gets its own */
static struct piece *get_memory(void **pool, int64_t bytes)
{
    struct piece *p = __atomic_exchange_n(pool, 0, __ATOMIC_ACQUIRE);
    bytes += (int64_t)sizeof *p;
    if (p && p->bytes >= bytes) return p;
    if (p) system_call(11, (long)p, p->bytes, 0, 0, 0, 0);               /* munmap */
    long at = system_call(9, 0, bytes, 3, 0x22, -1, 0);  /* mmap, to be read and written, private and anonymous */
    if (at < 0 && at > -4096) return 0;
    p = (struct piece *)at;
    p->bytes = bytes;
    return p;
}

static void put_memory(void **pool, struct piece *p)
{
    p = __atomic_exchange_n(pool, p, __ATOMIC_ACQ_REL);
    if (p) system_call(11, (long)p, p->bytes, 0, 0, 0, 0);
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
    for (int i = 0; i < 2; i++)
        if ((k->variant[i].code || k->variant[i].function) && (k->variant[i].need & have) == k->variant[i].need)
            return &k->variant[i];
    return 0;
}

int carry_level(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    return v ? v->need : 0;
}

void carry_run(float *c, const float *a, const float *b, const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    struct piece *p = v && v->scratch_bytes ? get_memory(&s->pool[0], v->scratch_bytes) : 0;
    if (!v || (v->scratch_bytes && !p)) {
        if (k->given) {                                  /* back to groups */
            p = get_memory(&s->pool[1], k->elements[1] * 4);
            if (!p) __builtin_trap();                    /* no memory, and no way to say so */
            float *to = (float *)(p + 1);
            for (int64_t i = 0, n = k->row[1]; i < k->elements[1]; i++) to[i] = b[given_at(k, i / n, i % n)];
            b = to;
        }
        if (here(s) & CARRY_AVX2) plain_avx2(k, c, a, b);
        else carry_plain(k, c, a, b);
        if (k->given) put_memory(&s->pool[1], p);
        return;
    }
    if (k->op == CARRY_COPY) {                           /* is nothing but a change of layout */
        carry_forth(&v->change[0], a, c);
        return;
    }
    float *room[3], *out = c;
    for (int t = 0; t < 3; t++) room[t] = p ? (float *)((char *)(p + 1) + v->scratch[t]) : 0;
    struct carry_context x = { { room[0], room[1] }, carry_forth };
    if (v->whole[0]) carry_forth(&v->change[0], a, room[0]), a = room[0];
    if (v->whole[1] && !k->given) carry_forth(&v->change[1], b, room[1]), b = room[1];
    if (v->whole[2]) out = room[2];
    carry_code *code = v->function;
    if (!code) code = (carry_code *)((uintptr_t)k + (uintptr_t)v->code);
    if (v->whole[2] && k->add) carry_forth(&v->change[2], c, out);
    code(out, a, b, &x);
    if (v->whole[2]) carry_back(&v->change[2], out, c);
    if (p) put_memory(&s->pool[0], p);
}

static void rows(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < row; j++) to[i * to_row + j] = from[i * from_row + j];
}

void carry_run_ld(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int64_t ldb,
                  const struct carry_kernel *k, struct carry_state *s)
{
    const int64_t ld[3] = { lda, ldb, ldc };
    int64_t at[3], bytes = 0;
    for (int t = 0; t < 3; t++) {                        /* dense copies of what is not */
        at[t] = bytes;
        if (ld[t] != k->row[t]) bytes += (k->elements[t] * 4 + 63) & ~(int64_t)63;
    }
    struct piece *p = bytes ? get_memory(&s->pool[1], bytes) : 0;
    if (bytes && !p) __builtin_trap();                   /* no memory, and no way to say so */
    char *room = (char *)(p + 1);
    if (lda != k->row[0]) rows((float *)(room + at[0]), k->row[0], a, lda, k->row[0], k->elements[0] / k->row[0]);
    if (k->elements[1] && ldb != k->row[1])
        rows((float *)(room + at[1]), k->row[1], b, ldb, k->row[1], k->elements[1] / k->row[1]);
    float *out = ldc != k->row[2] ? (float *)(room + at[2]) : c;
    if (out != c && k->add) rows(out, k->row[2], c, ldc, k->row[2], k->elements[2] / k->row[2]);
    carry_run(out, lda != k->row[0] ? (float *)(room + at[0]) : a,
              k->elements[1] && ldb != k->row[1] ? (float *)(room + at[1]) : b, k, s);
    if (out != c) rows(c, ldc, out, k->row[2], k->row[2], k->elements[2] / k->row[2]);
    if (p) put_memory(&s->pool[1], p);
}

int carry_test(const struct carry_kernel *k, struct carry_state *s)
{
    int64_t n[5] = { k->elements[0], k->elements[1], k->elements[2], k->elements[2], k->given }, bytes = 0;
    for (int i = 0; i < 5; i++) bytes += (n[i] * 4 + 63) & ~(int64_t)63;
    struct piece *p = get_memory(&s->pool[1], bytes);
    if (!p) return 2;
    float *x[5];
    char *at = (char *)(p + 1);
    uint32_t random = 1;
    for (int i = 0; i < 5; i++, at += (n[i - 1] * 4 + 63) & ~(int64_t)63) {
        x[i] = (float *)at;
        for (int64_t j = 0; j < n[i]; j++) {             /* small integers: every order of the sum is exact */
            random = random * 1664525 + 1013904223;
            int value = (int)(random >> 29) - 3;
            union { float f; uint32_t u; } v = { (float)value };
            if (k->type == CARRY_BF16) v.u = (v.u >> 16) | (v.u & 0xffff0000);
            if (k->type == CARRY_U8S8) v.u = (uint32_t)(value & (i ? 255 : 3)) * 0x01010101u;
            x[i][j] = v.f;
        }
    }
    for (int64_t j = 0; j < n[2]; j++) x[3][j] = x[2][j];
    for (int64_t j = 0; j < n[1] && k->given; j++) x[4][given_at(k, j / k->row[1], j % k->row[1])] = x[1][j];
    carry_run(x[2], x[0], k->given ? x[4] : x[1], k, s);
    carry_plain(k, x[3], x[0], x[1]);
    int bad = 0;
    const word *got = (const word *)x[2], *want = (const word *)x[3];
    for (int64_t j = 0; j < n[2]; j++) bad |= got[j] != want[j];
    put_memory(&s->pool[1], p);
    return bad;
}

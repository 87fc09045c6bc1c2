/* The sums by plain loops, on any x86-64. */
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

/* weights of 4 bits, as they are before they are packed */
static void plain_q4(const struct carry_kernel *k, float *c, const float *a, const float *b)
{
    const int64_t n = k->row[1], sum = k->row[0], rows = sum / 8;
    for (int64_t i = 0; i < k->elements[2] && !k->add; i++) c[i] = 0;
    for (int64_t m = 0; m < k->size[0]; m++)
        for (int64_t i = 0; i < sum; i++) {
            const float *scale = b + (rows + i / k->q4) * n, *zero = scale + sum / k->q4 * n;
            for (int64_t j = 0; j < n; j++) {
                const float bits = (float)(((const word *)b)[i / 8 * n + j] >> 4 * (i % 8) & 15);
                c[m * n + j] += a[m * sum + i] * ((bits - (k->zeros ? zero[j] : 8)) * scale[j]);
            }
        }
}

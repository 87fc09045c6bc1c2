/* B that stays from call to call, in the order of the variant that runs here. */
static const struct carry_variant *layout(const struct carry_kernel *, struct carry_state *);

/* where group i of column j lies in a B that is given, in groups */
static int64_t given_at(const struct carry_kernel *k, const struct carry_variant *v, int64_t i, int64_t j)
{
    const struct carry_change *c = &v->change[1];
    if (!v->given) return i * k->row[1] + j;
    if (k->q4 && i >= k->size[1] * k->size[2]) {        /* a scale, then its zero point */
        const int64_t wide = carry_wide(c), g = i - k->size[1] * k->size[2];
        const int64_t row = k->zeros ? g % k->size[1] * 2 + g / k->size[1] : g;
        return v->sums + (c->nvar == 3 ? j / wide * c->to[0] : 0) + row * wide + j % wide;
    }
    if (c->nvar < 3) return c->nvar < 2 ? i + j : i * c->to[0] + j;
    return j / c->size[2] * c->to[0] + i * c->to[1] + j % c->size[2];
}

static inline uint32_t bytes_sum(uint32_t x)
{
    return (uint32_t)((int8_t)x + (int8_t)(x >> 8) + (int8_t)(x >> 16) + (int8_t)(x >> 24));
}

/* a number of row i of weights of 4 bits as it is packed, and back */
static word group_word(const struct carry_kernel *k, int64_t i, word x)
{
    union { word w; float f; } y = { x };
    if (!k->q4) return x;
    if (i < k->size[1] * k->size[2]) return (word)((uint32_t)x ^ 0x88888888);
    if (i >= k->size[1] * k->size[2] + k->size[1]) y.f = 8 - y.f;
    return y.w;
}

void carry_groups(float *packed, const float *b, const struct carry_kernel *k, const struct carry_variant *v)
{
    for (int64_t i = 0, n = k->row[1]; i < k->elements[1]; i++)
        ((word *)packed)[given_at(k, v, i / n, i % n)] = group_word(k, i / n, ((const word *)b)[i]);
}

void carry_sums(float *packed, const struct carry_kernel *k, const struct carry_variant *v)
{
    const struct carry_change *c = &v->change[1];
    const int64_t n = k->row[1], groups = k->elements[1] / n, wide = c->nvar == 3 ? c->size[2] : n;
    if (!v->sums || k->q4) return;
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
    if (k->q4) {
        carry_groups((float *)packed, (const float *)b, k, v);
        return;
    }
    int64_t g = k->type == CARRY_F32 ? 1 : k->type == CARRY_BF16 ? 2 : 4, n = k->row[1], groups = k->elements[1] / n;
    for (int64_t i = 0; i < groups; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < g; l++) {
                int64_t to = given_at(k, v, i, j) * g + l, from = (i * g + l) * n + j;
                if (g == 1) ((float *)packed)[to] = ((const float *)b)[from];
                else if (g == 2) ((uint16_t *)packed)[to] = ((const uint16_t *)b)[from];
                else ((uint8_t *)packed)[to] = ((const uint8_t *)b)[from];
            }
    carry_sums((float *)packed, k, v);
}

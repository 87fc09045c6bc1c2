/* A kernel beside plain loops, on small numbers. */
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

/* A kernel run: tensors that change before and after, its code, or plain loops. */
static int casts(int then) { return then == CARRY_CAST || then == CARRY_CAST_F16; }

/* tensor t as floats where it is stored as halves, A with its zeros: what is to be given back, with them behind it */
static struct piece *widened(const struct carry_kernel *k, int t, const float **x, int have)
{
    const int pad = !t && k->pad.n;
    if ((k->store < CARRY_HALVES_F16 && !pad) || !k->elements[t]) return 0;
    struct piece *p = get_memory(0, pad ? k->padded * bytes_of(k) : k->elements[t] * 4);
    if (!p) __builtin_trap();                            /* no memory, and no way to say so */
    if (pad) carry_surround(&k->pad, k->store, *x, (float *)(p + 1), have);
    else carry_widen((enum carry_store)k->store, *x, (float *)(p + 1), k->elements[t]);
    *x = (float *)(p + 1);
    return p;
}

/* V alone is not changed by the code itself, or before as A and B are */
static const float *widen_second(const struct carry_kernel *k, const float *second, float *room, int wide, int pairs)
{
    if (pairs) carry_pairs(k, second, room);
    if (pairs) return room;
    struct carry_change flat = { .nvar = 1, .wide = wide, .store = k->store, .size[0] = (int32_t)k->elements[3] };
    flat.from[0] = flat.to[0] = 1;
    carry_forth(&flat, second, room);
    return room;
}

void carry_run_then(void *to, const float *a, const float *b, const float *bias, const float *residual,
                    const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    struct carry_extra extra = { bias, residual, k->pair ? bias : 0 };
    float *c = to, *sum = c;                             /* sum: floats of what becomes a bf16 */
    int cast = 0;
    for (int i = 0; i < CARRY_THENS; i++) cast |= casts(k->then[i]);
    int64_t more = cast ? k->elements[2] * 4 : 0, bytes = more + (v ? v->scratch_bytes : 0);
    struct piece *p = bytes ? get_memory(&s->pool[0], bytes) : 0, *own = p;
    if (bytes && !p) v = 0;
    if (cast && !p) own = get_memory(&s->pool[1], more);
    if (cast && !own) __builtin_trap();                  /* no memory, and no way to say so */
    if (cast) sum = (float *)((char *)(own + 1) + (v ? v->scratch_bytes : 0));
    if (!v) {
        struct piece *groups = 0;
        if (layout(k, s)->given) {                       /* back to groups */
            groups = get_memory(&s->pool[1], k->elements[1] * 4);
            if (!groups) __builtin_trap();
            float *back = (float *)(groups + 1);
            for (int64_t i = 0, n = k->row[1]; i < k->elements[1]; i++)
                back[i] = b[given_at(k, layout(k, s), i / n, i % n)];
            b = back;
        }
        struct piece *wide[3] = { widened(k, 0, &a, here(s)), widened(k, 1, &b, 0),
                                  k->pair ? widened(k, 3, &extra.second, 0) : 0 };
        if (k->pair) (here(s) & CARRY_AVX2 ? pair_plain8 : carry_pair_plain)(k, sum, a, b, extra.second);
        else if (here(s) & CARRY_AVX2) plain_avx2(k, sum, a, b);
        else carry_plain(k, sum, a, b);
        if (k->then[0] && !k->pair) carry_finish_all(k, sum, to, extra);
        if (groups) put_memory(&s->pool[1], groups);
        for (int i = 0; i < 3; i++)
            if (wide[i]) put_memory(&s->pool[1], wide[i]);
        if (own) put_memory(&s->pool[0], own);
        return;
    }
    if (k->op == CARRY_COPY) {                           /* is nothing but a change of layout */
        carry_forth(&v->change[0], a, c);
        return;
    }
    float *room[5], *out = sum;
    for (int t = 0; t < 5; t++) room[t] = p ? (float *)((char *)(p + 1) + v->scratch[t]) : 0;
    int wide = v->need & CARRY_AVX512;
    if (k->pair && k->store >= CARRY_HALVES_F16) extra.second = widen_second(k, extra.second, room[4], wide,
                                                                            v->need & CARRY_AVX512BF16);
    struct carry_context x = { { room[0], room[1], k->pair ? room[3] + carry_rows(k) : 0 }, carry_forth,
                               wide ? carry_finish16 : carry_finish8, wide ? carry_between16 : carry_between8,
                               carry_hidden, room[3], k, sum, to, extra };
    if (v->whole[0] && k->pad.n) carry_surround(&k->pad, k->store, a, room[0], v->need);
    else if (v->whole[0]) carry_forth(&v->change[0], a, room[0]);
    if (v->whole[0]) a = room[0];
    if (v->whole[1] && !v->given) carry_forth(&v->change[1], b, room[1]), b = room[1];
    if (v->whole[2]) out = room[2];
    carry_code *code = v->function;
    if (!code) code = (carry_code *)((uintptr_t)k + (uintptr_t)v->code);
    if (v->whole[2] && k->add) carry_forth(&v->change[2], c, out);
    code(out, a, b, &x);
    if (v->whole[2]) carry_back(&v->change[2], out, sum);
    if (v->whole[2] && k->then[0]) carry_finish_all(k, sum, to, extra);
    if (p) put_memory(&s->pool[0], p);
}

void carry_run(float *c, const float *a, const float *b, const struct carry_kernel *k, struct carry_state *s)
{
    carry_run_then(c, a, b, 0, 0, k, s);
}

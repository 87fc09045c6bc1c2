/* A kernel run: tensors that change before and after, its code, or plain loops. */
static int casts(int then) { return then == CARRY_CAST || then == CARRY_CAST_F16; }

/* tensor t as floats where it is stored as halves, A with its zeros; *p is to be given back, with them behind it */
static int widened(const struct carry_kernel *k, int t, const float **x, int have, struct piece **p_of)
{
    const int pad = !t && k->pad.n;
    if ((k->store < CARRY_HALVES_F16 && !pad) || !k->elements[t]) return 0;
    struct piece *p = *p_of = get_memory(0, pad ? k->padded * bytes_of(k) : k->elements[t] * 4);
    if (!p) return CARRY_NO_MEMORY;
    if (pad) carry_surround(&k->pad, k->store, *x, (float *)(p + 1), have);
    else carry_widen((enum carry_store)k->store, *x, (float *)(p + 1), k->elements[t]);
    *x = (float *)(p + 1);
    return 0;
}

/* V alone is not changed by the code itself, or before as A and B are */
static const float *widen_second(const struct carry_kernel *k, const float *second, float *room, int wide, int pairs)
{
    if (pairs) carry_pairs(k, second, room);
    if (pairs) return room;
    struct carry_change flat = { .nvar = 1, .wide = wide, .store = k->store };
    flat.size[0] = (int32_t)k->elements[3];
    flat.from[0] = flat.to[0] = 1;
    carry_forth(&flat, second, room);
    return room;
}

/* where no variant runs, or has memory: plain loops */
static int run_plainly(void *to, float *sum, const float *a, const float *b, struct carry_extra extra,
                       const struct carry_kernel *k, struct carry_state *s)
{
    struct piece *own[4] = { 0 };
    int bad = 0;
    if (layout(k, s)->given) {                           /* back to groups */
        own[3] = get_memory(&s->pool[1], k->elements[1] * 4);
        float *back = (float *)(own[3] + 1);
        for (int64_t i = 0, n = k->row[1]; i < k->elements[1] && own[3]; i++)
            ((word *)back)[i] = group_word(k, i / n, ((const word *)b)[given_at(k, layout(k, s), i / n, i % n)]);
        bad = own[3] ? 0 : CARRY_NO_MEMORY;
        b = back;
    }
    if (!bad) bad = widened(k, 0, &a, here(s), &own[0]);
    if (!bad) bad = widened(k, 1, &b, 0, &own[1]);
    if (!bad && k->pair) bad = widened(k, 3, &extra.second, 0, &own[2]);
    if (!bad && k->q4) plain_q4(k, sum, a, b);
    else if (!bad && k->pair) (here(s) & CARRY_AVX2 ? pair_plain8 : carry_pair_plain)(k, sum, a, b, extra.second);
    else if (!bad && here(s) & CARRY_AVX2) plain_avx2(k, sum, a, b);
    else if (!bad) carry_plain(k, sum, a, b);
    if (!bad && k->then[0] && !k->pair) carry_finish_all(k, sum, to, extra);
    for (int i = 0; i < 4; i++)
        if (own[i]) put_memory(&s->pool[1], own[i]);
    return bad;
}

static void run_code(const struct carry_variant *v, void *to, float *sum, const float *a, const float *b,
                     struct carry_extra extra, struct piece *p, const struct carry_kernel *k)
{
    float *room[5], *out = sum;
    for (int t = 0; t < 5; t++) room[t] = p ? (float *)((char *)(p + 1) + v->scratch[t]) : 0;
    int wide = v->need & CARRY_AVX512;
    const int pairs = v->need & (CARRY_AVX512BF16 | CARRY_AMX_BF16);
    if (k->pair && k->store >= CARRY_HALVES_F16) extra.second = widen_second(k, extra.second, room[4], wide, pairs);
    struct carry_context x = { { room[0], room[1], k->pair ? room[3] + carry_rows(k) : room[3] }, carry_forth,
                               wide ? carry_finish16 : carry_finish8, wide ? carry_between16 : carry_between8,
                               carry_hidden, room[3], k, sum, to, extra };
    if (v->whole[0] && k->pad.n) carry_surround(&k->pad, k->store, a, room[0], v->need);
    else if (v->whole[0]) carry_forth(&v->change[0], a, room[0]);
    if (v->whole[0]) a = room[0];
    if (v->whole[1] && !v->given) carry_forth(&v->change[1], b, room[1]), b = room[1];
    if (v->whole[2]) out = room[2];
    carry_code *code = v->function;
    if (!code) code = (carry_code *)((uintptr_t)k + (uintptr_t)v->code);
    if (v->whole[2] && k->add) carry_forth(&v->change[2], sum, out);
    code(out, a, b, &x);
    if (v->whole[2]) carry_back(&v->change[2], out, sum);
    if (v->whole[2] && k->then[0]) carry_finish_all(k, sum, to, extra);
}

int64_t carry_scratch(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    int cast = 0;
    for (int i = 0; i < CARRY_THENS; i++) cast |= casts(k->then[i]);
    const int64_t bytes = (cast ? k->elements[2] * 4 : 0) + (v ? v->scratch_bytes : 0);
    return bytes ? bytes + (int64_t)sizeof(struct piece) : 0;
}

int carry_run_then(void *to, const float *a, const float *b, const float *bias, const float *residual,
                   const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    struct carry_extra extra = { bias, residual, k->pair ? bias : 0 };
    float *c = (float *)to, *sum = c;                             /* sum: floats of what becomes a bf16 */
    int cast = 0;
    for (int i = 0; i < CARRY_THENS; i++) cast |= casts(k->then[i]);
    int64_t more = cast ? k->elements[2] * 4 : 0, bytes = more + (v ? v->scratch_bytes : 0);
    struct piece *p = bytes ? get_memory(&s->pool[0], bytes) : 0, *own = p;
    int64_t places = 1;                                  /* plain loops fill what lies between these, too */
    for (int i = 0; i < k->nvar; i++) places *= k->stride[2][i] ? k->size[i] : 1;
    if (bytes && !p && places != k->elements[2]) return CARRY_NO_MEMORY;
    if (bytes && !p) v = 0;
    if (cast && !p) own = get_memory(&s->pool[1], more);
    if (cast && !own) return CARRY_NO_MEMORY;
    if (cast) sum = (float *)((char *)(own + 1) + (v ? v->scratch_bytes : 0));
    int bad = 0;
    if (!v) bad = run_plainly(to, sum, a, b, extra, k, s);
    else if (k->op == CARRY_COPY) carry_forth(&v->change[0], a, c);      /* is nothing but a change of layout */
    else run_code(v, to, sum, a, b, extra, p, k);
    if (own) put_memory(&s->pool[0], own);
    return bad;
}

int carry_run(float *c, const float *a, const float *b, const struct carry_kernel *k, struct carry_state *s)
{
    return carry_run_then(c, a, b, 0, 0, k, s);
}

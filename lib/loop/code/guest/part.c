/* The part of one thread; rows that lie apart. */
static const struct carry_kernel *kernel_of(const struct carry_parts *q, const struct carry_chunk *x)
{
    if (x->kernel) return x->kernel;
    return (const struct carry_kernel *)(const void *)((const char *)q + x->at);
}

/* Of an image the lines that a part reads, with their zeros; returns where the first line would be.  The last ones may
 * be more than it reads. */
static const void *lines_of(const struct carry_parts *q, int64_t at, int64_t end, const void *a, struct carry_state *s,
                            struct piece **lines)
{
    const struct carry_kernel *k = kernel_of(q, &q->chunk[0]);
    struct carry_pad z = k->pad;
    int d = 0;                                           /* images are one */
    while (z.before[d] + z.size[d] + z.after[d] == 1) d++;
    const int64_t before = z.before[d], size = z.size[d], all = before + size + z.after[d];
    const int64_t first = at * q->lines, n = all - (q->size - end) * q->lines - first;
    const int64_t row = k->padded / all * bytes_of(k), own = k->elements[0] / size * bytes_of(k);
    z.before[d] = (int32_t)(before <= first ? 0 : before - first < n ? before - first : n);
    int64_t behind = first + n - before - size;
    z.after[d] = (int32_t)(behind <= 0 ? 0 : behind < n ? behind : n);
    z.size[d] = (int32_t)(n - z.before[d] - z.after[d]);
    *lines = get_memory(&s->pool[1], n * row);
    if (!*lines) return 0;
    carry_surround(&z, k->store, (const char *)a + (first > before ? first - before : 0) * own, (float *)(*lines + 1),
                   here(s));
    return (const char *)(*lines + 1) - first * row;
}

int carry_run_part(int thread, int threads, void *c, const void *a, const void *b, const void *more,
                    const void *residual, const struct carry_parts *q, struct carry_state *s)
{
    if (thread < 0 || thread >= threads) return 0;
    struct piece *lines = 0;
    int bad = 0;
    int64_t units = q->size / q->unit, rest = q->size - (units - 1) * q->unit;   /* the last one's */
    int64_t at = units * thread / threads, end = units * (thread + 1) / threads;
    int whole = at == 0 && end == units;
    if (q->lines && !whole && at < end)
        a = lines_of(q, at * q->unit, end == units ? q->size : end * q->unit, a, s, &lines);
    if (!a) return CARRY_NO_MEMORY;
    while (at < end && !bad) {
        int i = !whole;                                  /* the largest that is left of whole units */
        int64_t n = end - at - (end == units && rest > q->unit);
        while (!whole && n > 0 && q->chunk[i].size > n * q->unit) i++;
        if (!whole && n == 0) i = q->chunks - 1;         /* the last, with the rest */
        const struct carry_chunk *x = &q->chunk[i];
        const struct carry_kernel *k = kernel_of(q, x);
        const int64_t from = at * q->unit;
        int64_t over = from * q->step[2];
        if (k->given && q->step[2]) {                    /* columns of weights that are packed, perhaps in panels */
            const struct carry_change *to = &layout(k, s)->change[1];
            if (to->nvar == 3) over = from / to->size[2] * to->to[0] * 4;
        }
        bad = carry_run_then((char *)c + from * q->step[0],
                             (const float *)(const void *)((const char *)a + from * q->step[1]),
                             (const float *)(const void *)((const char *)b + over),
                             more ? (const float *)(const void *)((const char *)more + from * q->step[3]) : 0,
                             residual ? (const float *)(const void *)((const char *)residual + from * q->residual) : 0,
                             k, s);
        at += x->size / q->unit;
    }
    if (lines) put_memory(&s->pool[1], lines);
    return bad;
}

static void copy_rows(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {                    /* bytes; memcpy is not here, and may not be called */
        char *at = to + i * to_row;
        const char *what = from + i * from_row;
#ifdef __x86_64__
        int64_t left = row;
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(what), "+c"(left) : : "memory");
#else
        __builtin_memcpy(at, what, (uintptr_t)row);
#endif
    }
}

int carry_run_ld(void *c, int64_t ldc, const void *a, int64_t lda, const void *b, int64_t ldb, const void *more,
                  int64_t rest, const struct carry_kernel *k, struct carry_state *s)
{
    enum { A, B, C, V, RESIDUAL, TENSORS };
    const int64_t word_bytes = bytes_of(k), in = bytes_stored(k->store) ? bytes_stored(k->store) : word_bytes;
    int cast = 0;
    for (int i = 0; i < CARRY_THENS && !k->pair; i++) cast |= casts(k->then[i]);
    const int64_t bytes[TENSORS] = { in, in, cast ? 2 : word_bytes, in, word_bytes };
    const int64_t ld[TENSORS] = { lda, ldb, ldc, rest, ldc };
    const char *x[TENSORS] = { (const char *)a, (const char *)b, (const char *)c, k->pair ? (const char *)more : 0,
                               k->pair ? 0 : (const char *)(uintptr_t)rest };
    int64_t all = 0;
    int bad = 0;
    for (int pass = 0; pass < 2; pass++) {               /* dense copies of what is not: room for them first */
        struct piece *p = pass && all ? get_memory(&s->pool[1], all) : 0;
        if (pass && all && !p) return CARRY_NO_MEMORY;
        char *room = p ? (char *)(p + 1) : 0;
        for (int t = 0; t < TENSORS; t++) {
            const int from = t == RESIDUAL ? C : t;
            int64_t n = k->elements[from], row = k->row[from];
            if (!x[t] || !n || ld[t] == row) continue;
            if (!pass) {
                all += (n * bytes[t] + 63) & ~(int64_t)63;
                continue;
            }
            if (t != C || k->add) copy_rows(room, row * bytes[t], x[t], ld[t] * bytes[t], row * bytes[t], n / row);
            x[t] = room;
            room += (n * bytes[t] + 63) & ~(int64_t)63;
        }
        if (!pass) continue;
        bad = carry_run_then((void *)(uintptr_t)x[C], (const float *)(const void *)x[A],
                             (const float *)(const void *)x[B],
                             k->pair ? (const float *)(const void *)x[V] : (const float *)more,
                             (const float *)(const void *)x[RESIDUAL], k, s);
        const int64_t row = k->row[C] * bytes[C];
        if (x[C] != (const char *)c) copy_rows((char *)c, ldc * bytes[C], x[C], row, row, k->elements[C] / k->row[C]);
        if (p) put_memory(&s->pool[1], p);
    }
    return bad;
}

/* A kernel beside what its result is in doubles, by loops of its own: of small numbers, all of C, or where that would
 * take long its first row, its last and some between them.  Nothing here is shared with what is tested. */
enum { TEST_A, TEST_B, TEST_C, TEST_GIVEN, TEST_MORE, TEST_RESIDUAL, TEST_HAD, TEST_ROW, TESTS };
struct test {
    const struct carry_kernel *k;
    char *x[TESTS];                                      /* HAD: C before; ROW: doubles of a row of C or S, errors */
    int64_t n[TESTS];
    int soft;                                            /* not exact: gelu, a norm, a division, softmax */
    double most; /* of S and V, what rounding of two contractions is a share of */
};

static double judge_exp(double x)                        /* x of at most some hundreds */
{
    double sum = 1, term = 1;
    int halvings = 0;
    if (x < -700) return 0;
    for (; x > 0.5 || x < -0.5; halvings++) x /= 2;
    for (int i = 1; i < 20; i++) sum += term *= x / i;
    for (; halvings; halvings--) sum *= sum;
    return sum;
}

static double judge_gelu(double x)                        /* erf by its series without cancellation */
{
    const double z = x * 0.70710678118654752440, size = z < 0 ? -z : z;
    double sum = size, term = size;
    for (int i = 1; i < 150 && size < 6; i++) sum += term *= 2 * z * z / (2 * i + 1);
    const double erf = size < 6 ? 1.1283791670955125739 * judge_exp(-z * z) * sum : 1;
    return x * (1 + (z < 0 ? -erf : erf)) / 2;
}

static double test_root(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x))); }

/* number l of element i of an input */
static double test_number(const struct test *t, int which, int64_t i, int l)
{
    const struct carry_kernel *k = t->k;
    const void *x = t->x[which];
    if (k->q4 && which == TEST_A) return ((const float *)x)[i + l];
    if (k->q4 && which == TEST_B) {
        const int64_t n = k->row[1], row = i / n * 8 / k->q4 + k->row[0] / 8;
        const int64_t zero = (row + k->row[0] / k->q4) * n + i % n;
        return ((((const uint32_t *)x)[i] >> 4 * l & 15) - (k->zeros ? ((const float *)x)[zero] : 8.0)) *
               ((const float *)x)[row * n + i % n];
    }
    if (k->type == CARRY_F64) return ((const eight *)x)[i];
    if (k->type == CARRY_BF16) return judge_stored(CARRY_HALVES_BF16, x, 2 * i + l);
    if (k->type == CARRY_U8S8)
        return which == TEST_A && !k->sign ? ((const uint8_t *)x)[4 * i + l] : ((const int8_t *)x)[4 * i + l];
    return judge_stored(k->store, x, i);
}

/* where an element of A with zeros around it is; -1: one of them */
static int64_t test_inside(const struct carry_pad *q, int64_t at)
{
    int64_t to = 0, step = 1;
    for (int d = q->n; d-- > 0; step *= q->size[d]) {
        const int64_t all = q->before[d] + q->size[d] + q->after[d], i = at % all - q->before[d];
        if (i < 0 || i >= q->size[d]) return -1;
        to += i * step;
        at /= all;
    }
    return to;
}

/* the sum over these variables from this place of A and B */
static double test_sum(const struct test *t, int which, const int64_t from[4])
{
    const struct carry_kernel *k = t->k;
    const int group = k->type == CARRY_BF16 ? 2 : k->type == CARRY_U8S8 ? 4 : k->q4 ? 8 : 1;
    int32_t at[CARRY_VARS] = { 0 };
    int64_t o[4] = { from[0], from[1], from[2], from[3] };
    double sum = 0;
    do {
        const int64_t a = k->pad.n ? test_inside(&k->pad, o[0]) : o[0];
        for (int l = 0; l < group && a >= 0; l++) {
            const double x = test_number(t, TEST_A, a, l);
            if (k->op == CARRY_FMA) sum += x * test_number(t, TEST_B, o[1], l);
            else sum += k->op == CARRY_ADD ? x + test_number(t, TEST_B, o[1], l) : x;
        }
    } while (next_place(k, which, at, o));
    return sum;
}

static double test_word(const struct test *t, int which, double y)
{
    const double arg[CARRY_ARGUMENTS] = { t->k->arg[which][0], t->k->arg[which][1] };
    return judge_word(which, arg, y);
}

/* C = mid(A B) V of a row of S that begins at o; `to`: a row of C, along its last variable; the row of S behind it */
static void test_two(const struct test *t, const int64_t o[4], double *to)
{
    const struct carry_kernel *k = t->k;
    const int32_t n = k->size[k->along], wide = k->size[k->last];
    double *s = to + wide, most = -1e300, sum = 0;
    int inner = 0, softmax = 0;
    int64_t see = n;
    for (int v = 0; v < k->nvar; v++)
        if ((k->stride[0][v] || k->stride[1][v]) && !k->stride[2][v] && v != k->along) inner |= 1 << v;
    if (k->query) see = o[2] / k->stride[2][k->query - 1] % k->size[k->query - 1] + 1 + n - k->size[k->query - 1];
    for (int32_t j = 0; j < n; j++) {
        const int64_t from[4] = { o[0], o[1] + j * k->stride[1][k->along], 0, 0 };
        s[j] = test_sum(t, inner, from) * (double)k->mid_scale;
        for (const uint8_t *mid = k->mid; *mid; mid++) {
            s[j] = test_word(t, *mid, s[j]);
            softmax |= *mid == CARRY_SOFTMAX;
        }
        if (j < see && s[j] > most) most = s[j];
    }
    for (int32_t j = 0; j < n && softmax; j++) sum += s[j] = j < see ? judge_exp(s[j] - most) : 0;
    for (int32_t i = 0; i < wide; i++) {
        to[i] = 0;
        for (int32_t j = 0; j < n; j++)
            to[i] += s[j] * test_number(t, TEST_MORE, o[3] + i * k->stride[3][k->last] + j * k->stride[3][k->along], 0);
        if (softmax) to[i] /= sum;
    }
}

static double test_more(const struct test *t, int which, int64_t i)
{
    return t->k->type == CARRY_F64 ? ((const eight *)t->x[which])[i] : ((const float *)t->x[which])[i];
}

static double test_size(double x) { return x < 0 ? -x : x; }

/* What follows, word by word, on n neighbours in C, the first of which is element `at`; `off`: how far from that each
 * may be, by what gelu, divisions and norms round in floats and what the words behind them make of it. */
static void test_follow(const struct test *t, double *y, double *off, int64_t at, int64_t n)
{
    const struct carry_kernel *k = t->k;
    const double digit = k->type == CARRY_F64 ? 0 : 0x1p-24;
    for (const uint8_t *then = k->then; *then; then++) {
        double mean = 0, square = 1e-5, wrong = 0, spread = 0;
        for (int64_t i = 0; i < n && *then == CARRY_LAYERNORM; i++)
            mean += y[i] / n, wrong += (off[i] + 4 * digit * test_size(y[i])) / n;
        for (int64_t i = 0; i < n && *then == k->norm; i++)
            square += (y[i] - mean) * (y[i] - mean) / n, spread += (off[i] + wrong) * (off[i] + wrong) / n;
        spread = test_root(spread / square);
        for (int64_t i = 0; i < n; i++) {
            const int64_t column = (at + i) / k->bias_step % k->bias;
            if (k->type != CARRY_F64) y[i] = (double)(float)y[i];
            if (*then == CARRY_BIAS) y[i] += test_more(t, TEST_MORE, column);
            const double by = *then == CARRY_SCALE ? test_more(t, TEST_MORE, k->scales + column) : 1;
            if (*then == CARRY_RESIDUAL) y[i] += test_more(t, TEST_RESIDUAL, at + i);
            off[i] = judge_error(*then, y[i], off[i]) * test_size(by);
            y[i] = test_word(t, *then, y[i] * by);
            if (*then == CARRY_OVER) y[i] /= k->over, off[i] = off[i] / k->over + digit * test_size(y[i]);
            if (off[i] > 0) off[i] += 2 * digit * test_size(y[i]);
            if (*then != k->norm) continue;
            const double gain = test_more(t, TEST_MORE, k->bias + column) / test_root(square);
            off[i] = test_size(gain) * (off[i] + wrong + test_size(y[i] - mean) * spread);
            y[i] = (y[i] - mean) * gain;
            if (*then == CARRY_LAYERNORM) y[i] += test_more(t, TEST_MORE, 2 * k->bias + column);
        }
    }
}

/* element i of C, before it was run or after, as it is stored */
static double test_result(const struct test *t, int which, int64_t i)
{
    const struct carry_kernel *k = t->k;
    for (const uint8_t *then = k->then; *then && !k->pair; then++)
        if (casts(*then))
            return judge_stored(*then == CARRY_CAST_F16 ? CARRY_HALVES_F16 : CARRY_HALVES_BF16, t->x[which], i);
    if (k->type == CARRY_F64) return ((const eight *)t->x[which])[i];
    if (k->type == CARRY_U8S8 && !k->then[0]) return ((const word *)t->x[which])[i];
    return ((const float *)t->x[which])[i];
}

static int test_far(const struct test *t, double got, double want, double off)
{
    const struct carry_kernel *k = t->k;
    const double size = test_size(want);
    const double d = test_size(got - want), least = k->type == CARRY_F64 ? 1e-13 : 1e-5;
    double may = t->soft ? off + least * (1 + size) : 0;
    if (k->type != CARRY_F64 && (k->type != CARRY_U8S8 || k->then[0])) want = (double)(float)want;
    for (const uint8_t *then = k->then; *then && !k->pair; then++)       /* half of the last digit */
        if (casts(*then)) may += *then == CARRY_CAST_F16 ? size / 2048 + 0x1p-25 : size / 256;
    if (k->pair) may += t->most * (k->store == CARRY_HALVES_BF16 ? 1.0 / 64 : 2e-5);
    if (got == want) return 0;
    return !(d <= may);
}

/* one row of C along its fastest dimension, or all that a row of S leads to */
static int test_row(const struct test *t, const int64_t o[4], int32_t n)
{
    const struct carry_kernel *k = t->k;
    double *y = (double *)(void *)t->x[TEST_ROW], *off = y + t->n[TEST_ROW] / 4;
    int in = -1, reduced = 0, bad = 0;
    for (int v = 0; v < k->nvar; v++) {
        if (k->stride[2][v] == 1 && k->size[v] > 1) in = v;
        if (!k->stride[2][v]) reduced |= 1 << v;
    }
    if (k->pair) test_two(t, o, y);
    for (int32_t i = 0; i < n && !k->pair; i++) {
        int64_t from[4];
        for (int d = 0; d < 4; d++) from[d] = o[d] + (in < 0 ? 0 : i * k->stride[d][in]);
        y[i] = test_sum(t, reduced, from) + (k->add ? test_result(t, TEST_HAD, o[2] + i) : 0);
    }
    for (int32_t i = 0; i < n; i++) off[i] = 0;
    if (!k->pair) test_follow(t, y, off, o[2], n);
    for (int32_t i = 0; i < n; i++) bad |= test_far(t, test_result(t, TEST_C, o[2] + i), y[i], off[i]);
    return bad;
}

/* all rows, or where they are many some of them */
static int test_rows(const struct test *t)
{
    enum { WORK = 10000000 };
    const struct carry_kernel *k = t->k;
    int outer = 0, in = -1, bad = 0;
    double work = 1, rows = 1;
    for (int v = 0; v < k->nvar; v++) {
        work *= k->size[v];
        if (k->pair ? v == k->last : k->stride[2][v] == 1 && k->size[v] > 1) in = v;
        else if (k->stride[2][v]) outer |= 1 << v, rows *= k->size[v];
    }
    const int64_t every = work > WORK ? (int64_t)(work / WORK) + 1 : 1;
    int32_t at[CARRY_VARS] = { 0 };
    int64_t o[4] = { 0 }, row = 0;
    do {
        if (row % every == 0 || row == (int64_t)rows - 1) bad |= test_row(t, o, in < 0 ? 1 : k->size[in]);
        row++;
    } while (next_place(k, outer, at, o));
    return bad;
}

/* small integers: every order of a sum is exact; of bytes all bits, as far as sums of them are */
static void test_fill(struct test *t, int which, uint32_t *random)
{
    const struct carry_kernel *k = t->k;
    const int in = which <= TEST_B || (which == TEST_MORE && k->pair);
    for (int64_t j = 0; j < t->n[which]; j++) {
        *random = *random * 1664525 + 1013904223;
        const int value = (int)(*random >> 29) - 3;
        union { float f; uint32_t u; } v = { (float)value };
        if (k->q4 && which == TEST_B && j < t->n[1] - k->row[1] * (k->row[0] / k->q4) * (1 + k->zeros))
            ((word *)t->x[which])[j] = (int32_t)(*random * 0x9e3779b1u);
        else if (k->type == CARRY_F64) ((eight *)(void *)t->x[which])[j] = value;
        else if (in && bytes_stored(k->store) == 1)
            ((uint8_t *)t->x[which])[j] = (uint8_t)carry_narrow((enum carry_store)k->store, v.f);
        else if (in && bytes_stored(k->store))
            ((half_word *)t->x[which])[j] = carry_narrow((enum carry_store)k->store, v.f);
        else if (k->type == CARRY_BF16 && in) ((word *)t->x[which])[j] = (int32_t)(v.u >> 16 | (v.u & 0xffff0000));
        else if (k->type == CARRY_U8S8 && in)            /* those of B are from -4 to 3, sums of them stay integers */
            ((word *)t->x[which])[j] = which == TEST_A
                                           ? (int32_t)(*random * 0x9e3779b1u)
                                           : (int32_t)((((*random >> 3 & 0x07070707) | 0x80808080) - 0x04040404) ^
                                                       0x80808080);
        else if (k->type == CARRY_U8S8 && which == TEST_C) ((word *)t->x[which])[j] = value;
        else ((float *)t->x[which])[j] = v.f;
    }
}

/* runs it whole, or all of its rows, or by parts as so many threads */
static void test_run(const struct test *t, const struct carry_parts *q, const struct carry_rows *all, int threads,
                     struct carry_state *s)
{
    const struct carry_kernel *k = t->k;
    const float *x[TESTS];
    for (int i = 0; i < TESTS; i++) x[i] = t->n[i] ? (const float *)(const void *)t->x[i] : 0;
    const float *b = k->given ? x[TEST_GIVEN] : x[TEST_B];
    copy_rows(t->x[TEST_C], 0, t->x[TEST_HAD], 0, t->n[TEST_C] * bytes_of(k), 1);
    const int64_t rows = k->elements[2] / k->row[2];
    if (all) carry_run_rows(rows, t->x[TEST_C], x[TEST_A], b, x[TEST_MORE], x[TEST_RESIDUAL], all, s);
    else if (!threads) carry_run_then(t->x[TEST_C], x[TEST_A], b, x[TEST_MORE], x[TEST_RESIDUAL], k, s);
    for (int i = 0; i < threads; i++)
        carry_run_part(i, threads, t->x[TEST_C], x[TEST_A], b, x[TEST_MORE], x[TEST_RESIDUAL], q, s);
}

static int test_kernel(const struct carry_kernel *k, const struct carry_parts *q, const struct carry_rows *all,
                       struct carry_state *s)
{
    const int then = k->then[0] != 0 && !k->pair;
    int64_t d = bytes_of(k), row = k->pair ? k->size[k->last] + k->size[k->along] : 1;
    for (int v = 0; v < k->nvar && !k->pair; v++) row = k->size[v] > row ? k->size[v] : row;
    const int64_t n[TESTS] = { k->elements[0], k->elements[1], k->elements[2], k->given,
                               then ? k->bias * 4 : k->elements[3], then ? k->elements[2] : 0, k->elements[2],
                               row * 4 };
    struct test t = { .k = k, .soft = k->pair || k->norm, .most = k->pair ? 4.0 : 0.0 };
    int64_t bytes = 0;
    for (int i = 0; i < CARRY_THENS; i++) t.soft |= k->then[i] == CARRY_OVER || judge_error(k->then[i], 1, 0) > 0;
    for (int i = 0; i < TESTS; i++) t.n[i] = n[i], bytes += (n[i] * d + 63) & ~(int64_t)63;
    struct piece *p = get_memory(&s->pool[1], bytes);
    if (!p) return 2;
    char *at = (char *)(p + 1);
    uint32_t random = 1;
    for (int i = 0; i < TESTS; at += (t.n[i++] * d + 63) & ~(int64_t)63) {
        t.x[i] = at;
        if (i < TEST_GIVEN || i == TEST_MORE || i == TEST_RESIDUAL) test_fill(&t, i, &random);
    }
    copy_rows(t.x[TEST_HAD], 0, t.x[TEST_C], 0, t.n[TEST_C] * d, 1);
    for (int64_t j = 0; j < t.n[TEST_B] && k->given; j++)
        ((word *)t.x[TEST_GIVEN])[given_at(k, layout(k, s), j / k->row[1], j % k->row[1])] =
            group_word(k, j / k->row[1], ((const word *)t.x[TEST_B])[j]);
    if (k->given) carry_sums((float *)(void *)t.x[TEST_GIVEN], k, layout(k, s));
    if (k->pair && !k->then[0]) t.most = 64.0 * k->size[k->along];
    int bad = 0;
    for (int threads = 0; threads < 4 && !bad; threads += threads ? 1 : 2) {
        if (threads && !q) break;
        test_run(&t, q, all, threads, s);
        bad = test_rows(&t);
    }
    put_memory(&s->pool[1], p);
    return bad;
}

int carry_test(const struct carry_kernel *k, struct carry_state *s) { return test_kernel(k, 0, 0, s); }

int carry_test_parts(const struct carry_parts *q, struct carry_state *s)
{
    return test_kernel(kernel_of(q, &q->chunk[0]), q, 0, s);
}

int carry_test_rows(const struct carry_rows *q, struct carry_state *s)
{
    const struct carry_kernel *k = (const struct carry_kernel *)(const void *)((const char *)q + q->at[0]);
    const int bad = test_kernel(k, 0, 0, s);
    return bad ? bad : test_kernel(k, 0, q, s);
}

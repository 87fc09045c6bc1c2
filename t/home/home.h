/* home.h - what a kernel that loop-emit made ought to give, found from the text of its problem by loops over doubles.
 *
 * Nothing of millrace is used: kinds, types and words are read from the text.  Each operand ends where its memory ends,
 * before a page that may not be touched. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VARS = 8, TENSORS = 6, BIAS = 4, RESIDUAL };      /* tensors: A B C V, then these */
enum type { F32, F64, F16, BF16, U8, S8, I32 };
static const int type_bytes[] = { 4, 8, 2, 2, 1, 1, 4 };

struct form {
    int n, pair, key;                                    /* two contractions: key is the variable softmax goes along */
    long size[VARS], at[4][VARS], elements[4], row[4];   /* strides; extent of the last dimension */
    long bias, bias_step, q4, zeros;                     /* weights of 4 bits: a group; have they zero points? */
    int dims;                                            /* of A: of each dimension its size and the zeros around it */
    long dim[VARS][3];
    enum type type[TENSORS];
    char op;                                             /* * + = (copy) s (sum) */
    double over;                                         /* of the scores between two contractions */
};

enum { MOST_THREADS = 9 };
typedef void part_fn(int thread, int threads, void **x);
typedef void run_fn(void **x), ld_fn(void **x, const int64_t *ld), pack_fn(void *packed, const void *b);
struct home {
    const char *text, *name;
    run_fn *run;
    ld_fn *ld;
    pack_fn *pack;
    long packed;
    int (*test)(void), (*isa)(void);
    part_fn *part;
};

/* ---- numbers ---- */

static unsigned state = 1;
static double draw(enum type wide)                       /* any double or float, or eighths, which halves have */
{
    state = state * 1664525 + 1013904223;
    double upper = (double)(state >> 8) / (1 << 23) - 1;
    if (wide == F32) return upper;
    if (wide != F64) return (double)((int)(state >> 27) - 15) / 8;
    state = state * 1664525 + 1013904223;
    return upper + (double)state * 0x1p-55;
}
static void store(enum type t, void *x, long i, double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    if (t == F32) ((float *)x)[i] = f;
    if (t == F64) ((double *)x)[i] = v;
    uint32_t h = !f ? 0 : (u >> 16 & 0x8000) | ((u & 0x7fffffff) - (112u << 23)) >> 13;
    if (t == F16) ((uint16_t *)x)[i] = (uint16_t)h;
    if (t == BF16) ((uint16_t *)x)[i] = (uint16_t)(u >> 16);
    if (t == U8) ((uint8_t *)x)[i] = (uint8_t)(v * 8 + 15);
    if (t == S8) ((int8_t *)x)[i] = (int8_t)(v * 8);
}
static double load(enum type t, const void *x, long i)
{
    uint32_t h = t == F16 || t == BF16 ? ((const uint16_t *)x)[i] : 0, u = h << 16;
    float f;
    memcpy(&f, &u, 4);
    switch (t) {
    case F32: return ((const float *)x)[i];
    case F64: return ((const double *)x)[i];
    case F16: return (h & 0x8000 ? -1 : 1) * (h & 0x7c00 ? ldexp(1024 + (h & 1023), (int)(h >> 10 & 31) - 25)
                                                         : ldexp(h & 1023, -24));
    case BF16: return f;
    case U8: return ((const uint8_t *)x)[i];
    case S8: return ((const int8_t *)x)[i];
    default: return ((const int32_t *)x)[i];
    }
}
#ifdef LOOSE                                             /* qemu 7.2 reads all of a vector that is loaded by a mask */
enum { BEHIND = 64 };
#else
enum { BEHIND = 0 };
#endif
static void *room(long bytes)                            /* as much as may be touched, to the byte */
{
    bytes += BEHIND;
    long page = sysconf(_SC_PAGESIZE), all = (bytes + page - 1) / page * page;
    char *x = mmap(NULL, (size_t)(all + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED || mprotect(x + all, (size_t)page, PROT_NONE)) exit(2);
    return x + all - bytes;
}

/* ---- problems ---- */

/* variables as letters: "mk" is a row-major matrix; its strides, elements, last row */
static void tensor(struct form *f, int t, const char *names, const char *dims)
{
    long step = 1;
    for (size_t i = strlen(dims); i-- > 0; ) {
        long v = strchr(names, dims[i]) - names;
        f->at[t][v] += step;
        if (i + 1 == strlen(dims)) f->row[t] = f->size[v];
        step *= f->size[v];
    }
    f->elements[t] = step;
}
static void letters(struct form *f, const char *names, const long *size, const char *a, const char *b, const char *c)
{
    f->n = (int)strlen(names);
    for (int v = 0; v < f->n; v++) f->size[v] = size[v];
    tensor(f, 0, names, a), tensor(f, 1, names, b), tensor(f, 2, names, c);
    if (!*b) f->elements[1] = 0;
}
/* variables n m y x c p q; z: the sizes, then zeros above, below, left and right of the images */
static void window(struct form *f, const long *z, int nhwc)
{
    long N = z[0], C = z[1], H = z[2] + z[8] + z[9], W = z[3] + z[10] + z[11], M = z[4], KH = z[5], KW = z[6];
    long S = z[7], P = (H - KH) / S + 1, Q = (W - KW) / S + 1;
    letters(f, "nmyxcpq", (long[]){ N, M, P, Q, C, KH, KW }, "", nhwc ? "pqcm" : "mcpq", nhwc ? "nyxm" : "nmyx");
    long row = nhwc ? W * C : W, col = nhwc ? C : 1, chan = nhwc ? 1 : H * W;
    long at[] = { C * H * W, 0, S * row, S * col, chan, row, col };
    memcpy(f->at[0], at, sizeof at);
    f->elements[0] = N * C * z[2] * z[3], f->row[0] = nhwc ? C : z[3];
    long dim[5][3] = { { N }, { nhwc ? 1 : C }, { z[2], z[8], z[9] }, { z[3], z[10], z[11] }, { nhwc ? C : 1 } };
    f->dims = 5;
    memcpy(f->dim, dim, sizeof dim);
    f->bias = M, f->bias_step = nhwc ? 1 : P * Q;
}

/* v, (+ i i) or (* F i): adds the factors of variables, and to reach what it is at most */
static const char *part(const char *s, const char *names, long factor, const struct form *f, long *to, long *reach)
{
    s += strspn(s, " ");
    if (*s != '(') {
        long v = strchr(names, *s) - names;
        to[v] += factor, *reach += factor * (f->size[v] - 1);
        return s + 1;
    }
    char op = s[1];
    s += 2;
    if (op == '*') {
        char *after;
        factor *= strtol(s, &after, 10);
        return part(after, names, factor, f, to, reach) + 1;
    }
    s = part(part(s, names, factor, f, to, reach), names, factor, f, to, reach);
    return s + 1;
}
static void general(struct form *f, const char *text)
{
    char names[VARS + 1] = "";
    for (const char *s = strstr(text, "sizes") + 5; s[strspn(s, " )")] == '(' && f->n < VARS; f->n++) {
        s += strspn(s, " )") + 1;
        if (s[1] != ' ' || s[2] < '0' || s[2] > '9') break;
        names[f->n] = *s;
        f->size[f->n] = strtol(s + 2, NULL, 10);
        s = strchr(s, ')') + (strchr(s, ')')[1] == ')' ? 0 : 1);
        if (*s == ')') { f->n++; break; }
    }
    for (int t = 0; t < 4; t++) {
        const char *s = strstr(text, (const char *[]){ "(A ", "(B ", "(C ", "(V " }[t]);
        long to[VARS][VARS] = { { 0 } }, extent[VARS], step = 1, there = 1;
        int n = 0;
        if (!s) continue;
        for (s += 3; *s != ')'; n++, s += strspn(s, " ")) {
            long reach = 1, before = 0, after = 0;
            const char *inner = s;
            if (!strncmp(s, "(pad ", 5)) {               /* one number or two, then an index */
                char *end;
                before = after = strtol(s + 5, &end, 10);
                if (end[1] >= '0' && end[1] <= '9') after = strtol(end, &end, 10);
                inner = end + 1;
            }
            s = part(inner, names, 1, f, to[n], &reach) + (inner != s);
            extent[n] = reach;
            f->row[t] = reach - before - after;
            there *= f->row[t];
            if (!t) f->dim[n][0] = f->row[t], f->dim[n][1] = before, f->dim[n][2] = after, f->dims = n + 1;
        }
        for (int i = n; i-- > 0; step *= extent[i])
            for (int v = 0; v < f->n; v++) f->at[t][v] += to[i][v] * step;
        f->elements[t] = there;
    }
    f->pair = f->elements[3] > 0;
    for (int v = 0; f->pair && v < f->n; v++)
        if (f->at[1][v] && f->at[3][v] && !f->at[0][v] && !f->at[2][v]) f->key = v;
    const char *over = strstr(text, "(over ");
    f->over = over ? strtod(over + 6, NULL) : 1;
}
static void attention(struct form *f, const long *z)
{
    letters(f, "hqkde", (long[]){ z[0], z[1], z[2], z[3], z[3] }, "hqd", "hkd", "hqe");
    tensor(f, 3, "hqkde", "hke");
    f->pair = 1, f->key = 2, f->over = sqrt((double)z[3]);
}

static struct form form_of(const char *text)
{
    struct form f = { .op = '*', .bias = 1, .bias_step = 1 };
    char kind[16];
    long z[12] = { 0 };
    const char *pad = strstr(text, "(pad ");
    sscanf(text, "(%15[a-z0-9_] %ld %ld %ld %ld %ld %ld %ld %ld", kind, z, z + 1, z + 2, z + 3, z + 4, z + 5, z + 6,
           z + 7);
    if (!strncmp(kind, "conv", 4) && pad) {
        int n = sscanf(pad, "(pad %ld %ld %ld %ld", z + 8, z + 9, z + 10, z + 11);
        if (n == 1) z[9] = z[10] = z[11] = z[8];
        if (n == 2) z[10] = z[11] = z[9], z[9] = z[8];
    }
    if (!strncmp(kind, "conv", 4)) window(&f, z, kind[4] == '_');
    else if (!strncmp(kind, "attn", 4)) attention(&f, z);
    else if (!strcmp(kind, "nest")) general(&f, text);
    else if (!strcmp(kind, "bmm")) letters(&f, "bmnk", z, "bmk", "bkn", "bmn");
    else if (!strcmp(kind, "point")) letters(&f, "ij", z, "ij", "ij", "ij"), f.op = '+';
    else if (!strcmp(kind, "reduce")) letters(&f, "ij", z, "ij", "", "i"), f.op = 's';
    else if (!strcmp(kind, "transp")) letters(&f, "ij", z, "ij", "", "ji"), f.op = '=';
    else letters(&f, "mnk", z, !strncmp(kind, "mm_t", 4) ? "km" : "mk",
                 !strncmp(kind, "mm_", 3) && kind[4] == 't' ? "nk" : "kn", "mn");
    if (!strncmp(kind, "mm", 2)) f.bias = z[1];
    if (!strncmp(kind, "mm_q4", 5)) f.q4 = z[3], f.zeros = kind[5] == 'z';
    if (!strncmp(kind, "bmm", 3)) f.bias = z[2];
    enum type in = strstr(text, "(type f64)") ? F64 : strstr(text, "(type f16)") ? F16
                 : strstr(text, "(type bf16)") || !strcmp(kind, "mm_bf16") ? BF16 : F32;
    for (int t = 0; t < TENSORS; t++) f.type[t] = t >= BIAS && in != F64 ? F32 : in;
    f.type[2] = in == F64 ? F64 : F32;
    if (strstr(kind, "8s8")) f.type[0] = kind[3] == 'u' ? U8 : S8;
    if (strstr(kind, "8s8")) f.type[1] = S8, f.type[2] = strstr(text, "then") ? F32 : I32;
    const char *then = strstr(text, "(then ");
    const char *bf16 = then ? strstr(then, " bf16)") : NULL, *f16 = then ? strstr(then, " f16)") : NULL;
    if (bf16 && strncmp(bf16 - 5, "(type", 5)) f.type[2] = BF16;
    if (f16 && strncmp(f16 - 5, "(type", 5)) f.type[2] = F16;
    return f;
}

/* weights of 4 bits, of k rows and n columns, as NAME_pack takes them, and what each of them is */
static void *words(const struct form *f, double *exact)
{
    const long k = f->size[2], n = f->size[1], all = k / 8 * n, scales = k / f->q4 * n;
    uint32_t *x = room((all + scales * (1 + f->zeros)) * 4);
    float *scale = (float *)(x + all), *zero = scale + scales;
    for (long i = 0; i < scales; i++) scale[i] = (float)draw(F32);
    for (long i = 0; i < scales && f->zeros; i++) zero[i] = (float)(draw(F16) * 4 + 8);
    for (long i = 0; i < all; i++) draw(F32), x[i] = state ^ state >> 15;
    for (long i = 0; i < k * n; i++) {
        const long at = i / n / f->q4 * n + i % n;
        const uint32_t bits = x[i / n / 8 * n + i % n] >> i / n % 8 * 4 & 15;
        exact[i] = (bits - (f->zeros ? (double)zero[at] : 8)) * (double)scale[at];
    }
    return x;
}

/* ---- what is right ---- */

static int next(const struct form *f, const int *use, long *i)
{
    for (int v = f->n; v-- > 0; ) {
        if (!use[v]) continue;
        if (++i[v] < f->size[v]) return 1;
        i[v] = 0;
    }
    return 0;
}
static long place(const struct form *f, const long *at, const long *i)
{
    long x = 0;
    for (int v = 0; v < f->n; v++) x += at[v] * i[v];
    return x;
}
static double of_a(const struct form *f, const double *a, long at)     /* of its place among zeros */
{
    long x = 0, step = 1;
    for (int d = f->dims; d-- > 0; step *= f->dim[d][0]) {
        const long all = f->dim[d][0] + f->dim[d][1] + f->dim[d][2], i = at % all - f->dim[d][1];
        if (i < 0 || i >= f->dim[d][0]) return 0;
        x += i * step;
        at /= all;
    }
    return f->dims ? a[x] : a[at];
}
static double gelu_of(double x) { return x * (1 + erf(x / sqrt(2))) / 2; }

static void two(const struct form *f, const char *text, double *c, double **x)
{
    int first[VARS], of_s[VARS], rest[VARS];             /* variables of A and B; of S; of S but the key */
    long at[VARS] = { 0 }, n = 1, keys = f->size[f->key];
    for (int v = 0; v < f->n; v++) {
        first[v] = f->at[0][v] || f->at[1][v];
        of_s[v] = first[v] && (f->at[2][v] || f->at[3][v]);
        rest[v] = of_s[v] && v != f->key;
        if (of_s[v]) at[v] = n, n *= f->size[v];
    }
    double *s = calloc((size_t)n, sizeof *s);
    long i[VARS] = { 0 };
    do s[place(f, at, i)] += x[0][place(f, f->at[0], i)] * x[1][place(f, f->at[1], i)]; while (next(f, first, i));
    for (long j = 0; j < n; j++) {
        s[j] /= f->over;
        if (strstr(text, "gelu")) s[j] = gelu_of(s[j]);
        if (strstr(text, "relu")) s[j] = fmax(s[j], 0);
    }
    if (strstr(text, "softmax") || strstr(text, "attn")) {
        do {
            double sum = 0, most = -INFINITY, *row = s + place(f, at, i);
            long step = at[f->key], seen = strstr(text, "causal") ? i[1] + keys - f->size[1] + 1 : keys;
            for (long k = 0; k < seen; k++) most = fmax(most, row[k * step]);
            for (long k = 0; k < keys; k++) sum += row[k * step] = k < seen ? exp(row[k * step] - most) : 0;
            for (long k = 0; k < keys; k++) row[k * step] /= sum;
        } while (next(f, rest, i));
    }
    int second[VARS];
    for (int v = 0; v < f->n; v++) second[v] = of_s[v] || f->at[3][v];
    do c[place(f, f->at[2], i)] += s[place(f, at, i)] * x[3][place(f, f->at[3], i)]; while (next(f, second, i));
    free(s);
}

static void normalise(double *row, long n, const double *gain, int rms)
{
    double mean = 0, square = 0;
    for (long j = 0; j < n && !rms; j++) mean += row[j] / (double)n;
    for (long j = 0; j < n; j++) square += (row[j] - mean) * (row[j] - mean) / (double)n;
    for (long j = 0; j < n; j++) row[j] = (row[j] - mean) / sqrt(square + 1e-5) * gain[j] + (rms ? 0 : gain[n + j]);
}
static void follow(const struct form *f, const char *text, double *c, double **x)
{
    const char *s = strstr(text, "(then ");
    long n = f->elements[2], scale = strstr(text, "layernorm") ? 3 : strstr(text, "rmsnorm") ? 2 : 1;
    for (s = s ? s + 6 : ")"; *s != ')'; s += strcspn(s, " )"), s += *s == ' ') {
        if (!strncmp(s, "layernorm", 9) || !strncmp(s, "rmsnorm", 7))
            for (long i = 0; i < n; i += f->bias) normalise(c + i, f->bias, x[BIAS] + f->bias, *s == 'r');
        for (long i = 0; i < n; i++) {
            if (!strncmp(s, "scale", 5)) c[i] *= x[BIAS][scale * f->bias + i / f->bias_step % f->bias];
            if (!strncmp(s, "bias", 4)) c[i] += x[BIAS][i / f->bias_step % f->bias];
            if (!strncmp(s, "residual", 8)) c[i] += x[RESIDUAL][i];
            if (!strncmp(s, "relu", 4)) c[i] = fmax(c[i], 0);
            if (!strncmp(s, "gelu", 4)) c[i] = gelu_of(c[i]);
            if (*s == '(') c[i] /= strtod(s + 6, NULL);
        }
        if (*s == '(') s = strchr(s, ')') + 1;
    }
}
static void right(const struct form *f, const char *text, double *c, double **x)
{
    long i[VARS] = { 0 };
    int all[VARS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    if (f->pair) two(f, text, c, x);
    else do {
        double a = of_a(f, x[0], place(f, f->at[0], i)), b = f->elements[1] ? x[1][place(f, f->at[1], i)] : 1;
        c[place(f, f->at[2], i)] += f->op == '+' ? a + b : a * b;
    } while (next(f, all, i));
    follow(f, text, c, x);
}

/* ---- the kernel beside it ---- */

struct seat { part_fn *part; int thread, threads; void **x; };
static void *do_part(void *data)
{
    const struct seat *s = data;
    s->part(s->thread, s->threads, s->x);
    return NULL;
}
static void by_threads(part_fn *part, int threads, void **x)     /* all at once; the first one's call comes last */
{
    pthread_t id[MOST_THREADS];
    struct seat seat[MOST_THREADS];
    for (int i = threads; i-- > 0; ) {
        seat[i] = (struct seat){ part, i, threads, x };
        if (!i) do_part(&seat[i]);
        else if (pthread_create(&id[i], NULL, do_part, &seat[i])) exit(2);
    }
    for (int i = 1; i < threads; i++) pthread_join(id[i], NULL);
}

/* the worst distance from what is right, as a share of what is allowed; rows of pad elements more, -1: NAME; below
 * that: NAME_part by as many threads as it is below */
static double far(const struct home *h, int pad, const int *biases)
{
    struct form f = form_of(h->text);
    void *x[TENSORS];
    double *exact[TENSORS], *want = calloc((size_t)f.elements[2], sizeof *want), worst = 0;
    int64_t ld[TENSORS];
    long n[TENSORS], row[TENSORS];
    int then = strstr(h->text, "(then") != NULL, padded = pad > 0 ? pad : 0;
    for (int t = 0; t < TENSORS; t++) {
        n[t] = t < 4 ? f.elements[t] : !then ? 0 : t == BIAS ? f.bias * *biases : f.elements[2];
        row[t] = t < 4 ? f.row[t] : t == RESIDUAL ? f.row[2] : 1;
        long more = t == BIAS ? 0 : padded, rows = n[t] ? n[t] / row[t] : 0;
        ld[t] = row[t] + more;
        x[t] = rows ? room(((rows - 1) * ld[t] + row[t]) * type_bytes[f.type[t]]) : NULL;
        exact[t] = calloc((size_t)n[t] + 1, sizeof *exact[t]);
        enum type wide = f.type[t] == F64 ? F64 : f.type[0] == F32 ? F32 : F16;
        for (long i = 0; rows && i < (rows - 1) * ld[t] + row[t]; i++) store(f.type[t], x[t], i, draw(wide));
        if (t == 1 && f.q4) x[t] = words(&f, exact[t]);
        else for (long i = 0; i < n[t]; i++) exact[t][i] = load(f.type[t], x[t], i / row[t] * ld[t] + i % row[t]);
    }
    right(&f, h->text, want, exact);
    if (h->pack) {
        void *packed = room(h->packed * type_bytes[f.type[1]]);
        h->pack(packed, x[1]);
        x[1] = packed;
    }
    void *arg[5] = { x[2], x[0], x[1], f.pair ? x[3] : x[BIAS], x[RESIDUAL] };
    int64_t by[5] = { ld[2], ld[0], ld[1], ld[3], 0 };
    if (pad < -1) by_threads(h->part, -1 - pad, arg);
    else if (pad < 0) h->run(arg);
    else h->ld(arg, by);
    double share = f.type[2] == F64 ? 1e-12 : f.type[2] == BF16 ? 1 / 128. : f.type[2] == F16 ? 1 / 1000. : 5e-5;
    double more = 0;                                     /* weights of V are rounded to bf16 by the unit for that */
    for (long i = 0; f.pair && f.type[3] == BF16 && h->isa() & (4 | 32) && i < n[3]; i++)
        more = fmax(more, fabs(exact[3][i]) / 256);
    for (long i = 0; i < n[2]; i++) {
        double got = load(f.type[2], x[2], i / row[2] * ld[2] + i % row[2]);
        double d = fabs(got - want[i]) / (share * (1 + fabs(want[i])) + more);
        if (!(d <= worst)) worst = d;
    }
    return worst;                                        /* memory stays: so that what is freed hides nothing */
}

static int check(const struct home *h, int biases)
{
    fflush(stdout);
    double dense = far(h, -1, &biases), none = h->ld ? far(h, 0, &biases) : 0, apart = h->ld ? far(h, 3, &biases) : 0;
    double parts = 0;
    for (int n = 1; n <= MOST_THREADS && h->part; n++) {
        double d = far(h, -1 - n, &biases);
        if (!(d <= parts)) parts = d;
    }
    int test = h->test(), good = dense <= 1 && none <= 1 && apart <= 1 && parts <= 1 && !test;
    printf("%s,%d,%.3g,", h->name, h->isa(), dense), fflush(stdout);
    if (h->ld) printf("%.3g", fmax(none, apart));
    putchar(',');
    if (h->part) printf("%.3g", parts);
    printf(",%d,%d\n", test, good);
    return !good;
}

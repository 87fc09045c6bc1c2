/* gemm.h - what the sources of the peers share: the problem as a list of matrix products, with im2col for windows.
 *
 * Each peer is a source of its own that is compiled when it is asked for, if its package is there:
 *   void *peer_open(const char *kind, const long *size, const char **why)   sizes in the order of the kind's text
 *   void peer_run(void *, float *c, const float *a, const float *b)         c is overwritten
 * A peer that has only matrix products runs a convolution as im2col and one product. */
#include <stdlib.h>
#include <string.h>

struct gemm { /* batch times C[m][n] = A[m][k] B[k][n], or transposed inputs */
    long batch, m, n, k;
    int ta, tb, conv, nhwc, doubles;                     /* doubles: pointers lead to those */
    long nimg, c, h, w, mo, kh, kw, s, ho, wo, pad[4];   /* zeros above, below, left and right of an image */
    long groups, dilation;
    float *col;
};

static inline int gemm_init(struct gemm *g, const char *kind, const long *z, const char **why)
{
    memset(g, 0, sizeof *g);
    g->batch = 1;
    if (!strcmp(kind, "mm_bf16") || !strcmp(kind, "mm_u8s8") || !strcmp(kind, "mm_s8s8")) {
        *why = "it has no products of this type";
        return 0;
    }
    g->doubles = strstr(kind, "(type f64)") != NULL;
    if (g->doubles && strncmp(kind, "mm", 2)) {
        *why = "only products of doubles are written for it";
        return 0;
    }
    if (!strncmp(kind, "mm", 2)) {
        g->m = z[0], g->n = z[1], g->k = z[2];
        g->ta = !strncmp(kind, "mm_tn", 5) || !strncmp(kind, "mm_tt", 5);
        g->tb = !strncmp(kind, "mm_nt", 5) || !strncmp(kind, "mm_tt", 5);
        return 1;
    }
    if (!strcmp(kind, "bmm")) {
        g->batch = z[0], g->m = z[1], g->n = z[2], g->k = z[3];
        return 1;
    }
    if (!strncmp(kind, "conv", 4)) {
        g->conv = 1, g->nhwc = !strncmp(kind, "conv_nhwc", 9);
        g->nimg = z[0], g->c = z[1], g->h = z[2], g->w = z[3], g->mo = z[4], g->kh = z[5], g->kw = z[6], g->s = z[7];
        memcpy(g->pad, z + 8, sizeof g->pad);
        g->groups = z[12], g->dilation = z[13];
        g->ho = (g->h + g->pad[0] + g->pad[1] - g->dilation * (g->kh - 1) - 1) / g->s + 1;
        g->wo = (g->w + g->pad[2] + g->pad[3] - g->dilation * (g->kw - 1) - 1) / g->s + 1;
        g->batch = g->nimg;
        g->k = g->c * g->kh * g->kw;
        g->m = g->nhwc ? g->ho * g->wo : g->mo;
        g->n = g->nhwc ? g->mo : g->ho * g->wo;
        if (g->kh * g->kw * g->s != 1 || g->ho != g->h || g->wo != g->w)
            g->col = (float *)aligned_alloc(64, (g->k * g->ho * g->wo * 4 + 63) / 64 * 64);
        return 1;
    }
    *why = "not a matrix product or a convolution";
    return 0;
}

/* the same of an image with zeros around it: pixel by pixel where a window has some of them */
static inline const float *gemm_padded(const struct gemm *g, const float *x)
{
    float *to = g->col;
    const long n = g->nhwc ? g->c : 1, images = g->nhwc ? 1 : g->c, taps = g->kh * g->kw;
    for (long c = 0; c < images; c++)
        for (long i = 0; i < g->ho; i++)
            for (long j = 0; j < g->wo; j++)
                for (long p = 0; p < g->kh; p++)
                    for (long q = 0; q < g->kw; q++) {
                        long y = i * g->s + p - g->pad[0], z = j * g->s + q - g->pad[2], tap = p * g->kw + q;
                        float *at = to + (g->nhwc ? ((i * g->wo + j) * taps + tap) * n
                                                  : ((c * taps + tap) * g->ho + i) * g->wo + j);
                        if (y < 0 || y >= g->h || z < 0 || z >= g->w) memset(at, 0, (size_t)n * 4);
                        else memcpy(at, x + (c * g->h * g->w + y * g->w + z) * n, (size_t)n * 4);
                    }
    return g->col;
}

/* one image: NCHW gives [c kh kw][ho wo], NHWC gives [ho wo][kh kw c] */
static inline const float *gemm_columns(const struct gemm *g, const float *x)
{
    float *to = g->col;
    if (!to) return x;
    for (long i = 0; i < 4; i++)
        if (g->pad[i]) return gemm_padded(g, x);
    if (g->nhwc) {
        for (long i = 0; i < g->ho; i++)
            for (long j = 0; j < g->wo; j++)
                for (long p = 0; p < g->kh; p++) {
                    memcpy(to, x + ((i * g->s + p) * g->w + j * g->s) * g->c, (size_t)(g->kw * g->c) * 4);
                    to += g->kw * g->c;
                }
        return g->col;
    }
    for (long c = 0; c < g->c; c++)
        for (long p = 0; p < g->kh; p++)
            for (long q = 0; q < g->kw; q++)
                for (long i = 0; i < g->ho; i++) {
                    const float *from = x + (c * g->h + i * g->s + p) * g->w + q;
                    if (g->s == 1) memcpy(to, from, (size_t)g->wo * 4);
                    else for (long j = 0; j < g->wo; j++) to[j] = from[j * g->s];
                    to += g->wo;
                }
    return g->col;
}

/* calls mul(row-major, ta, tb, m, n, k, a, lda, b, ldb, c, ldc) for each product */
#define GEMM_RUN(g, c, a, b, mul) do { \
    for (long i_ = 0; i_ < (g)->batch; i_++) { \
        const float *x_ = (a), *y_ = (b); \
        if ((g)->conv) { \
            const float *col_ = gemm_columns((g), (a) + i_ * (g)->c * (g)->h * (g)->w); \
            x_ = (g)->nhwc ? col_ : (b); \
            y_ = (g)->nhwc ? (b) : col_; \
        } else { \
            x_ += i_ * (g)->m * (g)->k; \
            y_ += i_ * (g)->k * (g)->n; \
        } \
        mul((g)->ta, (g)->tb, (g)->m, (g)->n, (g)->k, x_, (g)->ta ? (g)->m : (g)->k, y_, (g)->tb ? (g)->k : (g)->n, \
            (c) + i_ * (g)->m * (g)->n, (g)->n); \
    } \
} while (0)

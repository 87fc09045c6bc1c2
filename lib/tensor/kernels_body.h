/* kernels_body.h - the kernels of kernels.h in GNU C vectors; included once per instruction set by kernels_*.c, which
 * sets LANES (floats in a register), TILE (pixels a register tile is wide), PAIR (blocks of output channels in it),
 * SUMS (registers of input channels a weight-gradient tile holds) and the name of the table. */
#include "tensor/kernels.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define UNROLL_SOME _Pragma("clang loop unroll_count(4)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define UNROLL_SOME _Pragma("GCC unroll 4")              /* all 16: 3 % slower, and five times as long to compile */
#endif

enum { NV = BLOCK / LANES };                             /* registers in a block */
typedef float V __attribute__((vector_size(4 * LANES)));
typedef int32_t VI __attribute__((vector_size(4 * LANES)));
typedef float VU __attribute__((vector_size(4 * LANES), aligned(4)));

INLINE V load(const float *p) { return *(const V *)__builtin_assume_aligned(p, sizeof (V)); }
INLINE V loadu(const float *p) { return *(const VU *)p; }
INLINE void store(float *p, V v) { *(V *)__builtin_assume_aligned(p, sizeof (V)) = v; }
INLINE V all(float f) { return f - (V){ 0 }; }            /* f - 0 is f, so no addition is left */
INLINE V positive(V v) { return (V)((VI)v & ~(v < 0)); }   /* nan stays nan */

/* the part of 0..n-1, in steps of `step`, that belongs to a thread */
static size_t share(size_t n, size_t step, int part, int parts)
{
    size_t chunks = (n + step - 1) / step, at = chunks * (size_t)part / (size_t)parts * step;
    return at < n ? at : n;
}

static int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

/* One call of the forward micro-kernel: how to walk from pixel to pixel, tap to tap and block to block. */
enum { TAPS = 64 };
struct walk {
    int nib, ntap;                                       /* blocks of input channels, taps of the window */
    int xoff[TAPS], woff[TAPS]; /* floats from the tile's origin to a tap's pixel and weights */
    size_t xplane, wib, wob, yplane;                     /* floats from block to block */
    int xs, ys;                                          /* floats from pixel to pixel */
    bool relu;
};

/* WT pixels, xs floats apart, of OB blocks of output channels: sums live in registers over input channels and taps.
 * With xs a constant the pixels are offsets in the instructions; else their addresses drive sums out of registers. */
INLINE void micro(const int WT, const int OB, const int IC, const int xs, const struct walk *k, const float *x,
                  const float *w, const float *bias, float *y)
{
    V a[PAIR * NV][TILE];
    UNROLL
    for (int v = 0; v < OB * NV; v++) {
        V b = bias ? load(bias + v * LANES) : all(0);
        UNROLL
        for (int t = 0; t < WT; t++) a[v][t] = b;
    }
    for (int ib = 0; ib < k->nib; ib++) {
        if (k->ntap == 1) {                              /* used once, then a plane away: nothing else foresees that */
            UNROLL
            for (int t = 0; t < WT; t++) __builtin_prefetch(x + (size_t)(ib + 1) * k->xplane + k->xoff[0] + t * xs);
        }
        for (int tap = 0; tap < k->ntap; tap++) {
            const float *xp = x + (size_t)ib * k->xplane + k->xoff[tap], *wp = w + (size_t)ib * k->wib + k->woff[tap];
            UNROLL_SOME
            for (int i = 0; i < IC; i++) {
                V q[PAIR * NV];
                UNROLL
                for (int v = 0; v < OB * NV; v++)
                    q[v] = load(wp + (size_t)(v / NV) * k->wob + i * BLOCK + v % NV * LANES);
                UNROLL
                for (int t = 0; t < WT; t++) {
                    V b = all(xp[t * xs + i]);
                    UNROLL
                    for (int v = 0; v < OB * NV; v++) a[v][t] += b * q[v];
                }
            }
        }
    }
    UNROLL
    for (int t = 0; t < WT; t++) {
        UNROLL
        for (int v = 0; v < OB * NV; v++)
            store(y + (size_t)(v / NV) * k->yplane + t * k->ys + v % NV * LANES, k->relu ? positive(a[v][t]) : a[v][t]);
    }
}

typedef void tile_fn(int wt, const struct walk *, const float *x, const float *w, const float *bias, float *y);

#define WIDE(n) case n: if (n <= TILE) micro(n <= TILE ? n : 1, OB, IC, xs, k, x, w, bias, y); break;
INLINE void tile_strided(const int OB, const int IC, const int xs, int wt, const struct walk *k, const float *x,
                         const float *w, const float *bias, float *y)
{
    switch (wt) {
        WIDE(1)
        WIDE(2) WIDE(3) WIDE(4) WIDE(5) WIDE(6) WIDE(7) WIDE(8) WIDE(9) WIDE(10) WIDE(11) WIDE(12) WIDE(13) WIDE(14)
    }
}

INLINE void tile(const int OB, const int IC, int wt, const struct walk *k, const float *x, const float *w,
                 const float *bias, float *y)
{
    if (k->xs == IC) tile_strided(OB, IC, IC, wt, k, x, w, bias, y);
    else if (k->xs == 2 * IC) tile_strided(OB, IC, 2 * IC, wt, k, x, w, bias, y);
    else
        for (int t = 0; t < wt; t++) micro(1, OB, IC, k->xs, k, x + t * k->xs, w, bias, y + t * k->ys);
}
#define TILE_FN(name, OB, IC)                                                                                          \
    static void name(int wt, const struct walk *k, const float *x, const float *w, const float *bias, float *y)        \
    {                                                                                                                  \
        tile(OB, IC, wt, k, x, w, bias, y);                                                                            \
    }
TILE_FN(tile_one, 1, BLOCK)
TILE_FN(tile_image, PAIR, 3)
TILE_FN(tile_image_one, 1, 3)
#if PAIR > 1
TILE_FN(tile_pair, PAIR, BLOCK)
#else
#define tile_pair tile_one
#endif

/* n pixels in a row, in tiles of about equal width */
static void row_of_tiles(tile_fn *fn, int n, const struct walk *k, const float *x, const float *w, const float *bias,
                         float *y)
{
    for (int left = (n + TILE - 1) / TILE; left > 0; left--) {
        int wt = (n + left - 1) / left;
        fn(wt, k, x, w, bias, y);
        x += (size_t)wt * (size_t)k->xs;
        y += (size_t)wt * (size_t)k->ys;
        n -= wt;
    }
}

/* Rows r0..r1-1 and columns c0..c1-1 of nb planes of h x w pixels to `to`, with zeros where they lie outside. */
static void pack(float *to, const float *x, size_t plane, int nb, int h, int w, int r0, int r1, int c0, int c1)
{
    int left = max_int(0, -c0), right = max_int(0, c1 - w), mid = c1 - c0 - left - right;
    for (int b = 0; b < nb; b++) {
        for (int r = r0; r < r1; r++) {
            if (r < 0 || r >= h) {
                memset(to, 0, (size_t)(c1 - c0) * BLOCK * sizeof *to);
            } else {
                memset(to, 0, (size_t)left * BLOCK * sizeof *to);
                memcpy(to + left * BLOCK, x + (size_t)b * plane + ((size_t)r * (size_t)w + (size_t)(c0 + left)) * BLOCK,
                       (size_t)mid * BLOCK * sizeof *to);
                memset(to + (left + mid) * BLOCK, 0, (size_t)right * BLOCK * sizeof *to);
            }
            to += (c1 - c0) * BLOCK;
        }
    }
}

/* The same for a plain image of ic < 16 channels: to [row][column][channel]. */
static void pack_image(float *to, const float *x, int ic, int h, int w, int r0, int r1, int c0, int c1)
{
    for (int r = r0; r < r1; r++) {
        for (int c = c0; c < c1; c++, to += ic)
            for (int i = 0; i < ic; i++)
                to[i] = r < 0 || r >= h || c < 0 || c >= w
                            ? 0
                            : x[((size_t)i * (size_t)h + (size_t)r) * (size_t)w + (size_t)c];
    }
}

enum { BAND = 80 << 10 }; /* floats of input that a band of rows aims at: a third of an L2 */

/* Rows of output in a band, and the padded input rows and columns it needs. */
static int band_rows(int rows, int stride, int kh, size_t row_floats)
{
    int r = ((int)(BAND / row_floats) - kh) / stride + 1;
    if (r < 1) r = 1;
    if (r >= rows) return rows;
    int n = (rows + r - 1) / r;
    return (rows + n - 1) / n;
}

static void conv_forward(const struct conv *c, const float *x, size_t xplane, const float *w, const float *bias,
                         float *y, size_t yplane, int row0, int row1, float *scratch, int part, int parts)
{
    bool image = c->ic < BLOCK;
    int ic = image ? c->ic : BLOCK, nib = image ? 1 : c->ic / BLOCK, nob = c->oc / BLOCK;
    int c0 = -c->pw, c1 = max_int(c->iw, (c->ow - 1) * c->stride + c->kw - c->pw), wide = c1 - c0;
    bool padded = image || c->ph || c->pw || c1 > c->iw;
    int groups = (nob + PAIR - 1) / PAIR,
        rows = band_rows(c->oh, c->stride, c->kh, (size_t)nib * (size_t)wide * (size_t)ic);
    struct walk k = { .nib = nib, .ntap = c->kh * c->kw, .wib = (size_t)(c->kh * c->kw * ic * BLOCK), .yplane = yplane,
                      .xs = c->stride * ic, .ys = BLOCK, .relu = c->relu };
    k.wob = (size_t)nib * k.wib;
    for (int r = row0 / rows * rows; r < row1; r += rows) {
        int a = max_int(r, row0), b = min_int(r + rows, row1), lo = a * c->stride - c->ph;
        int hi = (b - 1) * c->stride + c->kh - c->ph;
        const float *from = x + (size_t)max_int(lo, 0) * (size_t)c->iw * BLOCK;
        if (image) pack_image(scratch, x, ic, c->ih, c->iw, lo, hi, c0, c1);
        else if (padded) pack(scratch, x, xplane, nib, c->ih, c->iw, lo, hi, c0, c1);
        k.xplane = padded ? (size_t)(hi - lo) * (size_t)wide * BLOCK : xplane;
        if (padded) from = scratch;
        for (int t = 0; t < k.ntap; t++) {
            k.xoff[t] = (t / c->kw * wide + t % c->kw) * ic;
            k.woff[t] = t * ic * BLOCK;
        }
        bool flat = c->kh * c->kw == 1 && c->stride == 1 && !padded;   /* 1x1: all pixels of the band are one row */
        int lines = flat ? 1 : b - a, line = flat ? (b - a) * c->ow : c->ow;
        for (int g = groups * part / parts; g < groups * (part + 1) / parts; g++) {
            int ob = g * PAIR;
            bool pair = ob + PAIR <= nob;
            tile_fn *fn = image ? pair ? tile_image : tile_image_one : pair ? tile_pair : tile_one;
            for (int o = ob; o < min_int(ob + PAIR, nob); o += pair ? PAIR : 1)
                for (int h = 0; h < lines; h++)
                    row_of_tiles(fn, line, &k, from + (size_t)h * (size_t)c->stride * (size_t)wide * (size_t)ic,
                                 w + (size_t)o * k.wob, bias + o * BLOCK,
                                 y + (size_t)o * yplane + (size_t)(a + h) * (size_t)c->ow * BLOCK);
        }
    }
}

#if LANES == 16
#include <immintrin.h>
/* 16 x 16: four rounds of exchanges between rows 1, 2, 4 and 8 apart */
INLINE void transpose(const float *from, float *to)
{
    __m512 r[16], s[16];
    UNROLL
    for (int i = 0; i < 16; i++) r[i] = _mm512_load_ps(from + i * 16);
    UNROLL
    for (int i = 0; i < 16; i += 2) {
        s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL
    for (int i = 0; i < 16; i += 4) {
        UNROLL
        for (int j = 0; j < 2; j++) {
            r[i + 2 * j] =
                _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(s[i + j]), _mm512_castps_pd(s[i + 2 + j])));
            r[i + 2 * j + 1] =
                _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(s[i + j]), _mm512_castps_pd(s[i + 2 + j])));
        }
    }
    UNROLL
    for (int i = 0; i < 16; i += 8) {
        UNROLL
        for (int j = 0; j < 4; j++) {
            s[i + j] = _mm512_shuffle_f32x4(r[i + j], r[i + 4 + j], 0x88);
            s[i + 4 + j] = _mm512_shuffle_f32x4(r[i + j], r[i + 4 + j], 0xdd);
        }
    }
    UNROLL
    for (int j = 0; j < 8; j++) {
        r[j] = _mm512_shuffle_f32x4(s[j], s[8 + j], 0x88);
        r[8 + j] = _mm512_shuffle_f32x4(s[j], s[8 + j], 0xdd);
    }
    UNROLL
    for (int j = 0; j < 16; j++) _mm512_store_ps(to + j * 16, r[j]);
}
#else
INLINE void transpose(const float *from, float *to)
{
    for (int i = 0; i < BLOCK; i++)
        for (int o = 0; o < BLOCK; o++) to[o * BLOCK + i] = from[i * BLOCK + o];
}
#endif

/* Columns first, first + s, .. of row h of dx, for n blocks of input channels from `to` on: one class of pixels, which
 * meet the same taps.  k: all but the taps; c0, origin: where `from` begins. */
static void grad_row(const struct conv *c, struct walk *k, int n, int h, int first, int pixels, int c0, int origin,
                     int wide, const float *from, const float *turned, float *to)
{
    int s = c->stride, ntap = c->kh * c->kw;
    k->ntap = 0;
    for (int t = 0; t < ntap; t++) {
        int u = h + c->ph - t / c->kw, v = first + c->pw - t % c->kw;
        if ((u % s + s) % s || (v % s + s) % s) continue;
        k->xoff[k->ntap] = ((floor_div(u, s) - origin) * wide + floor_div(v, s) - c0) * BLOCK;
        k->woff[k->ntap++] = t * BLOCK * BLOCK;
    }
    to += ((size_t)h * (size_t)c->iw + (size_t)first) * BLOCK;
    for (int o = 0; o < n; o += n == PAIR ? PAIR : 1)
        row_of_tiles(n == PAIR ? tile_pair : tile_one, pixels, k, from, turned + (size_t)o * k->wob, NULL,
                     to + (size_t)o * k->yplane);
}

/* dx is a convolution of dy with the transposed weights; with stride s, one for each of the s x s classes of pixels
 * that meet the same taps.  Where dy comes in bands, as many groups of weights as fit are transposed at once, else a
 * band's few pixels would pay for them. */
static void conv_data_grad(const struct conv *c, const float *w, const float *dy, size_t yplane, float *dx,
                           size_t xplane, int row0, int row1, float *scratch, int part, int parts)
{
    int nib = c->oc / BLOCK, nob = c->ic / BLOCK, s = c->stride, ntap = c->kh * c->kw;
    int c0 = min_int(0, floor_div(c->pw - c->kw + 1, s)), c1 = max_int(c->ow, (c->iw - 1 + c->pw) / s + 1),
        wide = c1 - c0;
    int top = floor_div(c->ph - c->kh + 1, s), bottom = (c->ih - 1 + c->ph) / s + 1;
    bool padded = c0 < 0 || c1 > c->ow || top < 0 || bottom > c->oh;
    int groups = (nob + PAIR - 1) / PAIR, end = groups * (part + 1) / parts,
        rows = band_rows(c->ih, 1, c->kh, (size_t)nib * (size_t)wide * BLOCK / (size_t)s);
    struct walk k = { .nib = nib, .wib = (size_t)ntap * BLOCK * BLOCK, .yplane = xplane, .xs = BLOCK, .ys = s * BLOCK };
    k.wob = (size_t)nib * k.wib;
    int fit = row1 > (row0 / rows + 1) * rows ? max_int(1, (int)(CONV_TURNED / (PAIR * k.wob))) : 1;
    float *turned = scratch, *packed = scratch + (size_t)(fit * PAIR) * k.wob; /* [block][oc/16][tap][16 oc][16 ic] */
    bool flat = ntap == 1 && s == 1 && !padded;
    for (int g = groups * part / parts; g < end; g += fit) {
        int ob = g * PAIR, n = min_int(min_int(fit, end - g) * PAIR, nob - ob);
        for (int ib = 0; ib < nib; ib++) {               /* in the order in which weights lie, fetched one step ahead */
            const float *from = w + ((size_t)ib * (size_t)nob + (size_t)ob) * k.wib, *next = from + (size_t)nob * k.wib;
            for (int t = 0; t < n * ntap; t++) {
                UNROLL
                for (int l = 0; l < BLOCK; l++) __builtin_prefetch(next + (size_t)t * BLOCK * BLOCK + l * BLOCK);
                transpose(from + (size_t)t * BLOCK * BLOCK, turned + (size_t)(t / ntap) * k.wob + (size_t)ib * k.wib +
                                                                (size_t)(t % ntap) * BLOCK * BLOCK);
            }
        }
        for (int r = row0 / rows * rows; r < row1; r += rows) {
            int a = max_int(r, row0), b = min_int(r + rows, row1);
            int lo = floor_div(a + c->ph - c->kh + 1, s), hi = (b - 1 + c->ph) / s + 1;
            k.xplane = yplane;
            if (padded) {
                pack(packed, dy, yplane, nib, c->oh, c->ow, lo, hi, c0, c1);
                k.xplane = (size_t)(hi - lo) * (size_t)wide * BLOCK;
            }
            for (int o = 0; o < n; o += PAIR)
                for (int h = a; h < (flat ? a + 1 : b); h++)
                    for (int first = 0; first < min_int(s, c->iw); first++)
                        grad_row(c, &k, min_int(PAIR, n - o), h, first,
                                 flat ? (b - a) * c->iw : (c->iw - first + s - 1) / s, c0, padded ? lo : 0, wide,
                                 padded ? packed : dy, turned + (size_t)o * k.wob, dx + (size_t)(ob + o) * xplane);
        }
    }
}

/* dw of G input channels and OB blocks of output channels at one tap: registers hold it over a band of pixels. */
INLINE void weigh(const int G, const int OB, int lines, int line, const float *x, size_t xline, int xs, const float *dy,
                  size_t yline, size_t yplane, float *dw, size_t wob, bool add)
{
    V a[4 * NV][BLOCK];                                  /* [OB * NV][G] of it */
    UNROLL
    for (int v = 0; v < OB * NV; v++) {
        UNROLL
        for (int i = 0; i < G; i++)
            a[v][i] = add ? load(dw + (size_t)(v / NV) * wob + i * BLOCK + v % NV * LANES) : all(0);
    }
    for (int h = 0; h < lines; h++) {
        const float *xp = x + (size_t)h * xline, *yp = dy + (size_t)h * yline;
        for (int t = 0; t < line; t++, xp += xs, yp += BLOCK) {
            V d[4 * NV];
            UNROLL
            for (int v = 0; v < OB * NV; v++) d[v] = load(yp + (size_t)(v / NV) * yplane + v % NV * LANES);
            UNROLL
            for (int i = 0; i < G; i++) {
                V b = all(xp[i]);
                UNROLL
                for (int v = 0; v < OB * NV; v++) a[v][i] += b * d[v];
            }
        }
    }
    UNROLL
    for (int v = 0; v < OB * NV; v++) {
        UNROLL
        for (int i = 0; i < G; i++) store(dw + (size_t)(v / NV) * wob + i * BLOCK + v % NV * LANES, a[v][i]);
    }
}

typedef void weigh_fn(int lines, int line, const float *x, size_t xline, int xs, const float *dy, size_t yline,
                      size_t yplane, float *dw, size_t wob, bool add);

/* all IC input channels of a block, SUMS/(OB*NV) at a time */
#define WEIGH_FN(name, OB, IC)                                                                                         \
    static void name(int lines, int line, const float *x, size_t xline, int xs, const float *dy, size_t yline,         \
                     size_t yplane, float *dw, size_t wob, bool add)                                                   \
    {                                                                                                                  \
        enum { G = SUMS / (OB * NV) < IC ? SUMS / (OB * NV) : IC };                                                    \
        int i = 0;                                                                                                     \
        for (; i + G <= IC; i += G)                                                                                    \
            weigh(G, OB, lines, line, x + i, xline, xs, dy, yline, yplane, dw + i * BLOCK, wob, add);                  \
        if (IC % G)                                                                                                    \
            weigh(IC % G ? IC % G : 1, OB, lines, line, x + i, xline, xs, dy, yline, yplane, dw + i * BLOCK, wob,      \
                  add);                                                                                                \
    }
WEIGH_FN(weigh_one, 1, BLOCK)
WEIGH_FN(weigh_image, (PAIR > 1 ? 4 : 1), 3)
WEIGH_FN(weigh_image_one, 1, 3)
#if PAIR > 1
WEIGH_FN(weigh_pair, PAIR, BLOCK)
#else
#define weigh_pair weigh_one
#endif

enum { PIXELS = 256 };                                   /* in a band: x and dy of a pair of blocks stay in L1 */

static void conv_weights_grad(const struct conv *c, const float *x, size_t xplane, const float *dy, size_t yplane,
                              float *dw, float *db, bool add, int row0, int row1, float *scratch, int part, int parts)
{
    bool image = c->ic < BLOCK;
    int ic = image ? c->ic : BLOCK, nib = image ? 1 : c->ic / BLOCK, nob = c->oc / BLOCK, ntap = c->kh * c->kw,
        s = c->stride;
    int c0 = -c->pw, c1 = max_int(c->iw, (c->ow - 1) * s + c->kw - c->pw), wide = c1 - c0;
    bool padded = image || c->ph || c->pw || c1 > c->iw;
    int width = image ? PAIR > 1 ? 4 : 1 : PAIR, groups = (nob + width - 1) / width;
    size_t wtap = (size_t)ic * BLOCK, wib = (size_t)ntap * wtap, wob = (size_t)nib * wib;
    int rows = max_int(1, PIXELS / c->ow), fit = band_rows(c->oh, s, c->kh, (size_t)nib * (size_t)wide * (size_t)ic);
    if (rows > fit) rows = fit;
    for (int a = row0; a < row1; a += rows) {
        int b = min_int(a + rows, row1), lo = a * s - c->ph, hi = (b - 1) * s + c->kh - c->ph;
        const float *from = x + (size_t)max_int(lo, 0) * (size_t)c->iw * BLOCK;
        size_t plane = xplane;
        if (image) pack_image(scratch, x, ic, c->ih, c->iw, lo, hi, c0, c1);
        else if (padded) pack(scratch, x, xplane, nib, c->ih, c->iw, lo, hi, c0, c1);
        if (padded) {
            from = scratch;
            plane = (size_t)(hi - lo) * (size_t)wide * BLOCK;
        }
        bool flat = ntap == 1 && s == 1 && !padded;
        int lines = flat ? 1 : b - a, line = flat ? (b - a) * c->ow : c->ow;
        for (int g = groups * part / parts; g < groups * (part + 1) / parts; g++) {
            int ob = g * width;
            bool full = ob + width <= nob;
            weigh_fn *fn = image ? full ? weigh_image : weigh_image_one : full ? weigh_pair : weigh_one;
            for (int o = ob; o < min_int(ob + width, nob); o += full ? width : 1) {
                const float *d = dy + (size_t)o * yplane + (size_t)a * (size_t)c->ow * BLOCK;
                for (int ib = 0; ib < nib; ib++)
                    for (int t = 0; t < ntap; t++)
                        fn(lines, line, from + (size_t)ib * plane + (size_t)(t / c->kw * wide + t % c->kw) * (size_t)ic,
                           (size_t)s * (size_t)wide * (size_t)ic, s * ic, d, (size_t)c->ow * BLOCK, yplane,
                           dw + (size_t)o * wob + (size_t)ib * wib + (size_t)t * wtap, wob, add || a > row0);
            }
            for (int o = ob; o < min_int(ob + width, nob); o++) {
                const float *d = dy + (size_t)o * yplane + (size_t)a * (size_t)c->ow * BLOCK;
                V sum[NV];
                UNROLL
                for (int v = 0; v < NV; v++) sum[v] = add || a > row0 ? load(db + o * BLOCK + v * LANES) : all(0);
                for (int p = 0; p < (b - a) * c->ow; p++, d += BLOCK) {
                    UNROLL
                    for (int v = 0; v < NV; v++) sum[v] += load(d + v * LANES);
                }
                UNROLL
                for (int v = 0; v < NV; v++) store(db + o * BLOCK + v * LANES, sum[v]);
            }
        }
    }
}

static const float epsilon = 1e-5f;                      /* of batch normalisation, as everywhere */

static void batchnorm(const float *gamma, const float *beta, float *const *x, float *const *y, float *mean, float *var,
                      int n, int nb, size_t hw, bool relu, int part, int parts)
{
    float count = 1 / ((float)n * (float)hw);
    for (int b = nb * part / parts; b < nb * (part + 1) / parts; b++) {
        for (int l = b * BLOCK; l < (b + 1) * BLOCK; l += LANES) {
            size_t at = (size_t)b * hw * BLOCK + (size_t)(l % BLOCK);
            V shift = load(x[0] + at), s0 = all(0), q0 = s0, s1 = s0,
              q1 = s0; /* sums about one value: nothing cancels */
            for (int i = 0; i < n; i++) {
                const float *p = x[i] + at;
                size_t j = 0;
                for (; j + 2 <= hw; j += 2) {
                    V u = load(p + j * BLOCK) - shift, v = load(p + (j + 1) * BLOCK) - shift;
                    s0 += u, q0 += u * u, s1 += v, q1 += v * v;
                }
                if (j < hw) {
                    V u = load(p + j * BLOCK) - shift;
                    s0 += u, q0 += u * u;
                }
            }
            V m = (s0 + s1) * count, vv = positive((q0 + q1) * count - m * m), inv = all(0);
            m += shift;
            for (int j = 0; j < LANES; j++) inv[j] = 1 / __builtin_sqrtf(vv[j] + epsilon);
            store(mean + l, m);
            store(var + l, vv);
            V scale = load(gamma + l) * inv, offset = load(beta + l) - m * scale;
            for (int i = 0; i < n; i++) {
                const float *p = x[i] + at;
                float *q = y[i] + at;
                if (relu)
                    for (size_t j = 0; j < hw; j++)
                        store(q + j * BLOCK, positive(load(p + j * BLOCK) * scale + offset));
                else
                    for (size_t j = 0; j < hw; j++) store(q + j * BLOCK, load(p + j * BLOCK) * scale + offset);
            }
        }
    }
}

static void batchnorm_grad(const float *gamma, float *const *x, const float *mean, const float *var, float *const *dz,
                           float *const *dx, float *dgamma, float *dbeta, int n, int nb, size_t hw, int part, int parts)
{
    float count = 1 / ((float)n * (float)hw);
    for (int b = nb * part / parts; b < nb * (part + 1) / parts; b++) {
        for (int l = b * BLOCK; l < (b + 1) * BLOCK; l += LANES) {
            size_t at = (size_t)b * hw * BLOCK + (size_t)(l % BLOCK);
            V m = load(mean + l), s0 = all(0), q0 = s0, s1 = s0, q1 = s0, inv = s0;
            V v = load(var + l);
            for (int j = 0; j < LANES; j++) inv[j] = 1 / __builtin_sqrtf(v[j] + epsilon);
            for (int i = 0; i < n; i++) {
                const float *p = x[i] + at, *d = dz[i] + at;
                size_t j = 0;
                for (; j + 2 <= hw; j += 2) {
                    V d0 = load(d + j * BLOCK), d1 = load(d + (j + 1) * BLOCK);
                    s0 += d0, q0 += d0 * (load(p + j * BLOCK) - m);
                    s1 += d1, q1 += d1 * (load(p + (j + 1) * BLOCK) - m);
                }
                if (j < hw) {
                    V d0 = load(d + j * BLOCK);
                    s0 += d0, q0 += d0 * (load(p + j * BLOCK) - m);
                }
            }
            V db = s0 + s1, dg = (q0 + q1) * inv;
            store(dbeta + l, db);
            store(dgamma + l, dg);
            V scale = load(gamma + l) * inv, a = db * count, q = dg * inv * count;
            for (int i = 0; i < n; i++) {
                const float *p = x[i] + at, *d = dz[i] + at;
                float *o = dx[i] + at;
                for (size_t j = 0; j < hw; j++)
                    store(o + j * BLOCK, scale * (load(d + j * BLOCK) - a - (load(p + j * BLOCK) - m) * q));
            }
        }
    }
}

static void maxpool(const struct pool *c, const float *x, float *y, int32_t *index, size_t planes, int part, int parts)
{
    for (size_t p = share(planes, 1, part, parts); p < share(planes, 1, part + 1, parts); p++) {
        const float *xp = x + p * (size_t)(c->ih * c->iw) * BLOCK;
        float *yp = y + p * (size_t)(c->oh * c->ow) * BLOCK;
        int32_t *ip = index + p * (size_t)(c->oh * c->ow) * BLOCK;
        for (int h = 0; h < c->oh; h++) {
            for (int w = 0; w < c->ow; w++, yp += BLOCK, ip += BLOCK) {
                for (int l = 0; l < BLOCK; l += LANES) {
                    V best = all(-__builtin_inff());
                    VI at = { 0 };
                    for (int a = 0; a < c->kh; a++) {
                        int r = h * c->stride - c->ph + a;
                        if (r < 0 || r >= c->ih) continue;
                        for (int b = 0; b < c->kw; b++) {
                            int q = w * c->stride - c->pw + b;
                            if (q < 0 || q >= c->iw) continue;
                            V v = load(xp + (r * c->iw + q) * BLOCK + l);
                            VI more = (v > best) | (v != v), here = (VI){ 0 } + (a * c->kw + b);
                            best = (V)(((VI)v & more) | ((VI)best & ~more));
                            at = (here & more) | (at & ~more);
                        }
                    }
                    store(yp + l, best);
                    *(VI *)(void *)(ip + l) = at;
                }
            }
        }
    }
}

static void maxpool_grad(const struct pool *c, const float *y, const float *dy, const int32_t *index, float *dx,
                         size_t planes, int part, int parts)
{
    for (size_t p = share(planes, 1, part, parts); p < share(planes, 1, part + 1, parts); p++) {
        const float *up = y ? y + p * (size_t)(c->oh * c->ow) * BLOCK : NULL;
        const float *yp = dy + p * (size_t)(c->oh * c->ow) * BLOCK;
        const int32_t *ip = index + p * (size_t)(c->oh * c->ow) * BLOCK;
        const float *first = yp;
        float *xp = dx + p * (size_t)(c->ih * c->iw) * BLOCK;
        memset(xp, 0, (size_t)(c->ih * c->iw) * BLOCK * sizeof *xp);
        for (int h = 0; h < c->oh; h++) {
            for (int w = 0; w < c->ow; w++, yp += BLOCK, ip += BLOCK) {
                for (int l = 0; l < BLOCK; l += LANES) {
                    VI d = (VI)load(yp + l), at = *(const VI *)(const void *)(ip + l);
                    if (up) d &= load(up + (yp - first) + l) > 0;
                    for (int a = 0; a < c->kh; a++) {
                        int r = h * c->stride - c->ph + a;
                        if (r < 0 || r >= c->ih) continue;
                        for (int b = 0; b < c->kw; b++) {
                            int q = w * c->stride - c->pw + b;
                            if (q < 0 || q >= c->iw) continue;
                            float *to = xp + (r * c->iw + q) * BLOCK + l;
                            store(to, load(to) + (V)(d & (at == a * c->kw + b)));
                        }
                    }
                }
            }
        }
    }
}

static void avgpool(const struct pool *c, const float *x, float *y, size_t planes, int part, int parts)
{
    for (size_t p = share(planes, 1, part, parts); p < share(planes, 1, part + 1, parts); p++) {
        const float *xp = x + p * (size_t)(c->ih * c->iw) * BLOCK;
        float *yp = y + p * (size_t)(c->oh * c->ow) * BLOCK;
        for (int h = 0; h < c->oh; h++) {
            for (int w = 0; w < c->ow; w++, yp += BLOCK) {
                int r0 = max_int(0, h * c->stride - c->ph), r1 = min_int(c->ih, h * c->stride - c->ph + c->kh);
                int q0 = max_int(0, w * c->stride - c->pw), q1 = min_int(c->iw, w * c->stride - c->pw + c->kw);
                for (int l = 0; l < BLOCK; l += LANES) {
                    V sum = all(0);
                    for (int r = r0; r < r1; r++)
                        for (int q = q0; q < q1; q++) sum += load(xp + (r * c->iw + q) * BLOCK + l);
                    store(yp + l, sum * (1 / (float)((r1 - r0) * (q1 - q0))));
                }
            }
        }
    }
}

static void avgpool_grad(const struct pool *c, const float *dy, float *dx, size_t planes, int part, int parts)
{
    for (size_t p = share(planes, 1, part, parts); p < share(planes, 1, part + 1, parts); p++) {
        const float *yp = dy + p * (size_t)(c->oh * c->ow) * BLOCK;
        float *xp = dx + p * (size_t)(c->ih * c->iw) * BLOCK;
        memset(xp, 0, (size_t)(c->ih * c->iw) * BLOCK * sizeof *xp);
        for (int h = 0; h < c->oh; h++) {
            for (int w = 0; w < c->ow; w++, yp += BLOCK) {
                int r0 = max_int(0, h * c->stride - c->ph), r1 = min_int(c->ih, h * c->stride - c->ph + c->kh);
                int q0 = max_int(0, w * c->stride - c->pw), q1 = min_int(c->iw, w * c->stride - c->pw + c->kw);
                float one = 1 / (float)((r1 - r0) * (q1 - q0));
                for (int l = 0; l < BLOCK; l += LANES) {
                    V d = load(yp + l) * one;
                    for (int r = r0; r < r1; r++) {
                        for (int q = q0; q < q1; q++) {
                            float *to = xp + (r * c->iw + q) * BLOCK + l;
                            store(to, load(to) + d);
                        }
                    }
                }
            }
        }
    }
}

static void relu(const float *x, float *y, size_t n, int part, int parts)
{
    size_t i = share(n, BLOCK, part, parts), end = share(n, BLOCK, part + 1, parts);
    for (; i + LANES <= end; i += LANES) store(y + i, positive(load(x + i)));
    for (; i < end; i++) y[i] = x[i] < 0 ? 0 : x[i];
}

static void relu_grad(const float *y, const float *dy, float *dx, size_t n, int part, int parts)
{
    size_t i = share(n, BLOCK, part, parts), end = share(n, BLOCK, part + 1, parts);
    for (; i + LANES <= end; i += LANES) store(dx + i, (V)((VI)load(dy + i) & (load(y + i) > 0)));
    for (; i < end; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void add(const float *a, const float *b, float *y, size_t n, int part, int parts)
{
    size_t i = share(n, BLOCK, part, parts), end = share(n, BLOCK, part + 1, parts);
    for (; i + LANES <= end; i += LANES) store(y + i, load(a + i) + load(b + i));
    for (; i < end; i++) y[i] = a[i] + b[i];
}

/* NI images against one row of weights */
INLINE void dots(const int NI, const float *w, const float *x, size_t k, float *sum)
{
    V a[4], b[4];
    UNROLL
    for (int i = 0; i < NI; i++) a[i] = b[i] = all(0);
    size_t j = 0;
    for (; j + 2 * LANES <= k; j += 2 * LANES) {
        V u = loadu(w + j), v = loadu(w + j + LANES);
        UNROLL
        for (int i = 0; i < NI; i++) {
            a[i] += u * loadu(x + (size_t)i * k + j);
            b[i] += v * loadu(x + (size_t)i * k + j + LANES);
        }
    }
    UNROLL
    for (int i = 0; i < NI; i++) {
        V t = a[i] + b[i];
        float s = 0;
        for (int l = 0; l < LANES; l++) s += t[l];
        for (size_t q = j; q < k; q++) s += w[q] * x[(size_t)i * k + q];
        sum[i] = s;
    }
}

static void dense(const float *w, const float *x, const float *bias, float *y, int n, size_t rows, size_t k,
                  size_t row0, size_t row1, int part, int parts)
{
    for (size_t r = row0 + share(row1 - row0, 1, part, parts); r < row0 + share(row1 - row0, 1, part + 1, parts); r++) {
        float sum[DENSE_FEW];
        int i = 0;
        for (; i + 4 <= n; i += 4) dots(4, w + (r - row0) * k, x + (size_t)i * k, k, sum + i);
        for (; i + 2 <= n; i += 2) dots(2, w + (r - row0) * k, x + (size_t)i * k, k, sum + i);
        for (; i < n; i++) dots(1, w + (r - row0) * k, x + (size_t)i * k, k, sum + i);
        for (i = 0; i < n; i++) y[(size_t)i * rows + r] = sum[i] + bias[r];
    }
}

static void dense_data_grad(const float *w, const float *dy, float *dx, int n, size_t rows, size_t k, size_t row0,
                            size_t row1, bool more, int part, int parts)
{
    size_t j0 = share(k, BLOCK, part, parts), j1 = share(k, BLOCK, part + 1, parts);
    if (!more)
        for (int i = 0; i < n; i++) memset(dx + (size_t)i * k + j0, 0, (j1 - j0) * sizeof *dx);
    size_t r = row0;
    for (; r + 4 <= row1; r += 4) { /* four rows at once: dx is read and written a quarter as often */
        const float *p = w + (r - row0) * k;
        for (int i = 0; i < n; i++) {
            const float *d = dy + (size_t)i * rows + r;
            float *o = dx + (size_t)i * k;
            size_t j = j0;
            for (; j + LANES <= j1; j += LANES)
                *(VU *)(o + j) = loadu(o + j) + ((loadu(p + j) * d[0] + loadu(p + k + j) * d[1]) +
                                                 (loadu(p + 2 * k + j) * d[2] + loadu(p + 3 * k + j) * d[3]));
            for (; j < j1; j++) o[j] += (p[j] * d[0] + p[k + j] * d[1]) + (p[2 * k + j] * d[2] + p[3 * k + j] * d[3]);
        }
    }
    for (; r < row1; r++) {
        const float *p = w + (r - row0) * k;
        for (int i = 0; i < n; i++)
            for (size_t j = j0; j < j1; j++) dx[(size_t)i * k + j] += p[j] * dy[(size_t)i * rows + r];
    }
}

static void dense_weights_grad(const float *dy, const float *x, const float *w, float *dw, int n, size_t rows,
                               size_t k, size_t row0, size_t row1, int part, int parts)
{
    for (size_t r = row0 + share(row1 - row0, 1, part, parts); r < row0 + share(row1 - row0, 1, part + 1, parts); r++) {
        float *o = dw + (r - row0) * k;
        const float *p = w ? w + (r - row0) * k : NULL;
        size_t j = 0;
        for (; j + LANES <= k; j += LANES) {
            V s = loadu(x + j) * dy[r];
            for (int i = 1; i < n; i++) s += loadu(x + (size_t)i * k + j) * dy[(size_t)i * rows + r];
            *(VU *)(o + j) = p ? loadu(p + j) + s : s;
        }
        for (; j < k; j++) {
            float s = x[j] * dy[r];
            for (int i = 1; i < n; i++) s += x[(size_t)i * k + j] * dy[(size_t)i * rows + r];
            o[j] = p ? p[j] + s : s;
        }
    }
}

const struct kernels TABLE = {
    TABLE_NAME, conv_forward, conv_data_grad, conv_weights_grad, batchnorm, batchnorm_grad, maxpool, maxpool_grad,
    avgpool, avgpool_grad, relu, relu_grad, add, dense, dense_data_grad, dense_weights_grad,
};

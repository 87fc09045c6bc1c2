/* lib-kernels.c - every kernel variant against the textbook loops, whole and cut by rows and threads; gradients against
 * finite differences. */
#include "kernels_plain.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static float *filled(size_t n, double scale)
{
    float *p = aligned_alloc(64, (n * sizeof *p + 127) / 64 * 64);
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        p[i] = (float)(((double)(state >> 40) / 8388608 - 1) * scale);
    }
    return p;
}

/* largest difference relative to the largest value; infinite if any is not finite */
static double error(const float *got, const float *want, size_t n)
{
    double worst = 0, scale = 1e-30;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        if (!(d <= 1e30)) return INFINITY;
        worst = fmax(worst, d);
        scale = fmax(scale, fabs((double)want[i]));
    }
    return worst / scale;
}

static bool same(const float *a, const float *b, size_t n) { return memcmp(a, b, n * sizeof *a) == 0; }

static char name[200];
static const char *called(const char *set, const char *what, int i)
{
    snprintf(name, sizeof name, "%s: %s, case %d", set, what, i);
    return name;
}

static const struct conv convs[] = {
    { 16, 5, 5, 16, 5, 5, 3, 3, 1, 1, 1, false },
    { 32, 9, 7, 48, 9, 7, 3, 3, 1, 1, 1, true },
    { 48, 17, 17, 32, 17, 17, 1, 7, 1, 0, 3, true },
    { 32, 17, 17, 64, 17, 17, 7, 1, 1, 3, 0, false },
    { 64, 14, 14, 48, 14, 14, 1, 1, 1, 0, 0, false },
    { 32, 14, 14, 64, 7, 7, 1, 1, 2, 0, 0, false },
    { 16, 15, 15, 32, 7, 7, 3, 3, 2, 0, 0, true },
    { 32, 12, 16, 16, 6, 8, 3, 3, 2, 1, 1, false },
    { 3, 20, 20, 64, 10, 10, 7, 7, 2, 3, 3, false },
    { 3, 33, 33, 32, 16, 16, 3, 3, 2, 0, 0, true },
    { 3, 12, 40, 80, 12, 40, 3, 3, 1, 1, 1, true },
    { 16, 150, 150, 16, 150, 150, 3, 3, 1, 1, 1, true },
    { 64, 40, 60, 16, 40, 60, 3, 3, 1, 1, 1, false },
};

static void test_conv(const struct kernels *k, const struct conv *c, int i)
{
    size_t nx = (size_t)(c->ic * c->ih * c->iw), ny = (size_t)(c->oc * c->oh * c->ow),
           nw = (size_t)(c->oc * c->ic * c->kh * c->kw);
    size_t xp = (size_t)(c->ih * c->iw) * BLOCK, yp = (size_t)(c->oh * c->ow) * BLOCK;
    float *x = filled(nx, 1), *w = filled(nw, 1), *bias = filled((size_t)c->oc, 1), *dy = filled(ny, 1);
    float *want = filled(ny, 0), *got = filled(ny, 0), *cut = filled(ny, 0), *scratch = filled(2 * conv_scratch(c), 0);
    kernels_plain.conv_forward(c, x, xp, w, bias, want, yp, 0, c->oh, scratch, 0, 1);
    k->conv_forward(c, x, xp, w, bias, got, yp, 0, c->oh, scratch, 0, 1);
    near(error(got, want, ny), 0, 2e-5, called(k->name, "convolution", i));
    for (int p = 0; p < 2; p++) {
        k->conv_forward(c, x, xp, w, bias, cut, yp, 0, c->oh / 3, scratch + (size_t)p * conv_scratch(c), p, 2);
        k->conv_forward(c, x, xp, w, bias, cut, yp, c->oh / 3, c->oh, scratch + (size_t)p * conv_scratch(c), p, 2);
    }
    ok(same(cut, got, ny), called(k->name, "convolution by rows and threads is the same to the last bit", i));

    float *dwant = filled(nw, 0), *dgot = filled(nw, 0), *dcut = filled(nw, 0), b1[512],
          b2[512] __attribute__((aligned(64))), b3[512] __attribute__((aligned(64)));
    for (int image = 0; image < 2; image++) {
        kernels_plain.conv_weights_grad(c, x, xp, dy, yp, dwant, b1, image, 0, c->oh, scratch, 0, 1);
        k->conv_weights_grad(c, x, xp, dy, yp, dgot, b2, image, 0, c->oh, scratch, 0, 1);
        for (int p = 0; p < 2; p++) {
            float *own = scratch + (size_t)p * conv_scratch(c);
            k->conv_weights_grad(c, x, xp, dy, yp, dcut, b3, image, 0, c->oh / 3, own, p, 2);
            k->conv_weights_grad(c, x, xp, dy, yp, dcut, b3, true, c->oh / 3, c->oh, own, p, 2);
        }
    }
    near(error(dgot, dwant, nw), 0, 5e-5, called(k->name, "weights gradient", i));
    near(error(b2, b1, (size_t)c->oc), 0, 5e-5, called(k->name, "bias gradient", i));
    ok(same(dcut, dgot, nw) && same(b3, b2, (size_t)c->oc),
       called(k->name, "weights gradient by rows and threads is the same", i));

    if (c->ic >= BLOCK) {
        float *xwant = filled(nx, 1), *xgot = filled(nx, 1), *xcut = filled(nx, 1);
        kernels_plain.conv_data_grad(c, w, dy, yp, xwant, xp, 0, c->ih, scratch, 0, 1);
        k->conv_data_grad(c, w, dy, yp, xgot, xp, 0, c->ih, scratch, 0, 1);
        near(error(xgot, xwant, nx), 0, 2e-5, called(k->name, "data gradient", i));
        for (int p = 0; p < 2; p++) {
            k->conv_data_grad(c, w, dy, yp, xcut, xp, 0, c->ih / 2, scratch + (size_t)p * conv_scratch(c), p, 2);
            k->conv_data_grad(c, w, dy, yp, xcut, xp, c->ih / 2, c->ih, scratch + (size_t)p * conv_scratch(c), p, 2);
        }
        ok(same(xcut, xgot, nx), called(k->name, "data gradient by rows and threads is the same", i));
        free(xwant), free(xgot), free(xcut);
    }
    free(x), free(w), free(bias), free(dy), free(want), free(got), free(cut), free(scratch), free(dwant), free(dgot),
        free(dcut);
}

/* the oracle's own gradients: <dy, f(x+e u) - f(x-e u)> / 2e = <dx, u>, linear in x, so exact up to rounding */
static void test_finite_differences(void)
{
    const struct conv c = { 16, 6, 5, 16, 3, 3, 3, 3, 2, 1, 1, false };
    size_t nx = 16 * 30, ny = 16 * 9, nw = 16 * 16 * 9;
    float *x = filled(nx, 1), *u = filled(nx, 1), *w = filled(nw, 1), *v = filled(nw, 1), *bias = filled(16, 1),
          *dy = filled(ny, 1);
    float *y0 = filled(ny, 0), *y1 = filled(ny, 0), *dx = filled(nx, 0), *dw = filled(nw, 0), db[16];
    double along = 0, back = 0;
    kernels_plain.conv_forward(&c, x, 480, w, bias, y0, 144, 0, 3, NULL, 0, 1);
    for (size_t i = 0; i < nx; i++) x[i] += u[i];
    kernels_plain.conv_forward(&c, x, 480, w, bias, y1, 144, 0, 3, NULL, 0, 1);
    kernels_plain.conv_data_grad(&c, w, dy, 144, dx, 480, 0, 6, NULL, 0, 1);
    for (size_t i = 0; i < ny; i++) along += (double)dy[i] * (y1[i] - y0[i]);
    for (size_t i = 0; i < nx; i++) back += (double)dx[i] * u[i];
    near(along, back, 1e-4, "plain: data gradient agrees with differences");
    kernels_plain.conv_weights_grad(&c, x, 480, dy, 144, dw, db, false, 0, 3, NULL, 0, 1);
    for (size_t i = 0; i < nw; i++) w[i] += v[i];
    kernels_plain.conv_forward(&c, x, 480, w, bias, y0, 144, 0, 3, NULL, 0, 1);
    along = back = 0;
    for (size_t i = 0; i < ny; i++) along += (double)dy[i] * (y0[i] - y1[i]);
    for (size_t i = 0; i < nw; i++) back += (double)dw[i] * v[i];
    near(along, back, 1e-4, "plain: weights gradient agrees with differences");

    enum { HW = 20 };
    float *g = filled(16, 1), *b = filled(16, 1), *bx = filled(HW * 16, 1), *by = filled(HW * 16, 1),
          *bu = filled(HW * 16, 1);
    float *bdx = filled(HW * 16, 0), m[16], s[16], dg[16], dbeta[16];
    kernels_plain.batchnorm(g, b, &bx, &by, m, s, 1, 1, HW, false, 0, 1);
    float *bd = filled(HW * 16, 1), *lo = filled(HW * 16, 0), *hi = filled(HW * 16, 0), *px = filled(HW * 16, 0);
    kernels_plain.batchnorm_grad(g, &bx, m, s, &bd, &bdx, dg, dbeta, 1, 1, HW, 0, 1);
    const float e = 1e-2f;
    float mm[16], ss[16];
    for (int i = 0; i < HW * 16; i++) px[i] = bx[i] + e * bu[i];
    kernels_plain.batchnorm(g, b, &px, &hi, mm, ss, 1, 1, HW, false, 0, 1);
    for (int i = 0; i < HW * 16; i++) px[i] = bx[i] - e * bu[i];
    kernels_plain.batchnorm(g, b, &px, &lo, mm, ss, 1, 1, HW, false, 0, 1);
    along = back = 0;
    for (int i = 0; i < HW * 16; i++)
        along += (double)bd[i] * (hi[i] - lo[i]) / (2 * e), back += (double)bdx[i] * bu[i];
    near(along, back, 2e-3, "plain: batch normalisation's gradient agrees with differences");
}

static void test_nan(const struct kernels *k)
{
    float *holed = filled(160, 1), *o1 = filled(160, 0), *o2 = filled(160, 0);
    int32_t i1[160], i2[160] __attribute__((aligned(64)));
    struct pool row = { .ih = 1, .iw = 10, .oh = 1, .ow = 5, .kh = 1, .kw = 2, .stride = 2 };
    for (int j = 0; j < 160; j += 7) holed[j] = NAN;
    k->relu(holed, o2, 160, 0, 1);
    bool kept = true;
    for (int j = 0; j < 160; j++) kept &= j % 7 ? o2[j] == fmaxf(holed[j], 0) : isnan(o2[j]);
    ok(kept, called(k->name, "relu keeps nan", 160));
    kernels_plain.maxpool(&row, holed, o1, i1, 1, 0, 1);
    k->maxpool(&row, holed, o2, i2, 1, 0, 1);
    kept = !memcmp(i1, i2, 80 * sizeof *i1);
    for (int j = 0; j < 80; j++) {
        float a = holed[j / 16 * 32 + j % 16], b = holed[j / 16 * 32 + 16 + j % 16];
        bool nan = isnan(a) || isnan(b);
        kept &= nan ? isnan(o1[j]) && isnan(o2[j]) : o1[j] == fmaxf(a, b) && o2[j] == fmaxf(a, b);
    }
    ok(kept, called(k->name, "a nan is the maximum of its window", 80));
    free(holed), free(o1), free(o2);
}

static void test_rest(const struct kernels *k)
{
    enum { N = 3, NB = 4, HW = 35, SIZE = N * NB * HW * 16 };
    float *x = filled(SIZE, 2), *y1 = filled(SIZE, 0), *y2 = filled(SIZE, 0), *g = filled(NB * 16, 1),
          *b = filled(NB * 16, 1), *dz = filled(SIZE, 1);
    float *st = filled(NB * 16 * 4, 0), *st2 = filled(NB * 16 * 4, 0);
    for (int i = 0; i < SIZE; i++) x[i] += 50;           /* far from 0: sums about 0 would cancel */
    float *px[N], *py1[N], *py2[N], *pz[N];
    for (int i = 0; i < N; i++)
        px[i] = x + i * NB * HW * 16, py1[i] = y1 + i * NB * HW * 16, py2[i] = y2 + i * NB * HW * 16,
        pz[i] = dz + i * NB * HW * 16;
    for (int relu = 0; relu < 2; relu++) {
        kernels_plain.batchnorm(g, b, px, py1, st, st + 64, N, NB, HW, relu, 0, 1);
        for (int p = 0; p < 2; p++) k->batchnorm(g, b, px, py2, st2, st2 + 64, N, NB, HW, relu, p, 2);
        near(error(y2, y1, SIZE), 0, 1e-4, called(k->name, "batch normalisation", relu));
        near(error(st2, st, 128), 0, 1e-4, called(k->name, "its statistics", relu));
    }
    kernels_plain.batchnorm_grad(g, px, st, st + 64, pz, py1, st + 128, st + 192, N, NB, HW, 0, 1);
    k->batchnorm_grad(g, px, st, st + 64, pz, py2, st2 + 128, st2 + 192, N, NB, HW, 0, 1);
    near(error(y2, y1, SIZE), 0, 1e-4, called(k->name, "batch normalisation's gradient", 0));
    near(error(st2 + 128, st + 128, 128), 0, 1e-4, called(k->name, "its gamma and beta", 0));

    const struct pool pools[] = { { 8, 8, 4, 4, 2, 2, 2, 0, 0 },
                                  { 9, 7, 5, 4, 3, 3, 2, 1, 1 },
                                  { 7, 7, 3, 3, 3, 3, 2, 0, 0 },
                                  { 7, 7, 7, 7, 3, 3, 1, 1, 1 },
                                  { 7, 7, 1, 1, 7, 7, 1, 0, 0 } };
    for (int i = 0; i < 5; i++) {
        const struct pool *c = &pools[i];
        size_t nx = (size_t)(3 * c->ih * c->iw * 16), ny = (size_t)(3 * c->oh * c->ow * 16);
        float *in = filled(nx, 1), *p1 = filled(ny, 0), *p2 = filled(ny, 0), *d1 = filled(nx, 0), *d2 = filled(nx, 0),
              *dy = filled(ny, 1);
        int32_t *i1 = (int32_t *)(void *)filled(ny, 0), *i2 = (int32_t *)(void *)filled(ny, 0);
        kernels_plain.maxpool(c, in, p1, i1, 3, 0, 1);
        for (int p = 0; p < 2; p++) k->maxpool(c, in, p2, i2, 3, p, 2);
        ok(same(p1, p2, ny) && !memcmp(i1, i2, ny * 4), called(k->name, "max pooling", i));
        kernels_plain.maxpool_grad(c, NULL, dy, i1, d1, 3, 0, 1);
        for (int p = 0; p < 2; p++) k->maxpool_grad(c, NULL, dy, i2, d2, 3, p, 2);
        near(error(d2, d1, nx), 0, 1e-6, called(k->name, "max pooling's gradient", i));
        kernels_plain.maxpool_grad(c, p1, dy, i1, d1, 3, 0, 1);
        for (int p = 0; p < 2; p++) k->maxpool_grad(c, p1, dy, i2, d2, 3, p, 2);
        near(error(d2, d1, nx), 0, 1e-6, called(k->name, "max pooling's gradient behind a rectifier", i));
        for (size_t j = 0; j < ny; j++)                  /* whatever lies there, nothing outside is written */
            i1[j] = j % 5 == 0 ? INT32_MIN : j % 5 == 1 ? INT32_MAX : j % 5 == 2 ? c->kh * c->kw : (int32_t)(j % 7) - 1;
        kernels_plain.maxpool_grad(c, NULL, dy, i1, d1, 3, 0, 1);
        k->maxpool_grad(c, NULL, dy, i1, d2, 3, 0, 1);
        near(error(d2, d1, nx), 0, 1e-6, called(k->name, "max pooling's gradient of places that are none", i));
        kernels_plain.avgpool(c, in, p1, 3, 0, 1);
        k->avgpool(c, in, p2, 3, 0, 1);
        near(error(p2, p1, ny), 0, 1e-5, called(k->name, "mean pooling", i));
        kernels_plain.avgpool_grad(c, dy, d1, 3, 0, 1);
        k->avgpool_grad(c, dy, d2, 3, 0, 1);
        near(error(d2, d1, nx), 0, 1e-5, called(k->name, "mean pooling's gradient", i));
        free(in), free(p1), free(p2), free(d1), free(d2), free(dy), free(i1), free(i2);
    }

    for (size_t n = 1; n < 200; n += 66) {
        float *a = filled(n, 1), *c = filled(n, 1), *o1 = filled(n, 0), *o2 = filled(n, 0);
        bool good = true;
        kernels_plain.relu(a, o1, n, 0, 1);
        for (int p = 0; p < 3; p++) k->relu(a, o2, n, p, 3);
        good &= same(o1, o2, n);
        kernels_plain.relu_grad(a, c, o1, n, 0, 1);
        for (int p = 0; p < 3; p++) k->relu_grad(a, c, o2, n, p, 3);
        good &= same(o1, o2, n);
        kernels_plain.add(a, c, o1, n, 0, 1);
        for (int p = 0; p < 3; p++) k->add(a, c, o2, n, p, 3);
        good &= same(o1, o2, n);
        ok(good, called(k->name, "relu, its gradient and add", (int)n));
        free(a), free(c), free(o1), free(o2);
    }

    for (int n = 1; n <= DENSE_FEW; n++) {
        enum { ROWS = 37, K = 101 };
        float *w = filled(ROWS * K, 1), *dx = filled((size_t)n * K, 1), *dy = filled((size_t)n * ROWS, 1),
              *bias = filled(ROWS, 1);
        float *o1 = filled(ROWS * K, 0), *o2 = filled(ROWS * K, 0), *in = filled((size_t)n * K, 1);
        kernels_plain.dense(w, in, bias, o1, n, ROWS, K, 0, ROWS, 0, 1);
        for (int p = 0; p < 2; p++) {
            k->dense(w, in, bias, o2, n, ROWS, K, 0, 12, p, 2);
            k->dense(w + 12 * K, in, bias, o2, n, ROWS, K, 12, ROWS, p, 2);
        }
        near(error(o2, o1, (size_t)n * ROWS), 0, 1e-5, called(k->name, "dense", n));
        kernels_plain.dense_data_grad(w, dy, o1, n, ROWS, K, 0, ROWS, false, 0, 1);
        k->dense_data_grad(w, dy, dx, n, ROWS, K, 0, 12, false, 0, 1);
        k->dense_data_grad(w + 12 * K, dy, dx, n, ROWS, K, 12, ROWS, true, 0, 1);
        near(error(dx, o1, (size_t)n * K), 0, 1e-5, called(k->name, "dense data gradient", n));
        kernels_plain.dense_weights_grad(dy, in, NULL, o1, n, ROWS, K, 0, ROWS, 0, 1);
        k->dense_weights_grad(dy, in, NULL, o2, n, ROWS, K, 0, 20, 0, 1);
        k->dense_weights_grad(dy, in, NULL, o2 + 20 * K, n, ROWS, K, 20, ROWS, 0, 1);
        near(error(o2, o1, ROWS * K), 0, 1e-5, called(k->name, "dense weights gradient", n));
        for (int j = 0; j < ROWS * K; j++) o1[j] += w[j];
        k->dense_weights_grad(dy, in, w, o2, n, ROWS, K, 0, ROWS, 0, 2);
        k->dense_weights_grad(dy, in, w, w, n, ROWS, K, 0, ROWS, 1, 2);   /* in place; the upper half is w still */
        memcpy(o2 + ROWS / 2 * K, w + ROWS / 2 * K, (size_t)((ROWS - ROWS / 2) * K) * sizeof *w);
        near(error(o2, o1, ROWS * K), 0, 1e-5, called(k->name, "dense weights gradient added to weights", n));
        free(w), free(dx), free(dy), free(bias), free(o1), free(o2), free(in);
    }
    free(x), free(y1), free(y2), free(g), free(b), free(dz), free(st), free(st2);
}

int main(void)
{
    test_finite_differences();
    const char *sets[] = { "avx512", "avx2", "vector" };
    for (int i = 0; i < 3; i++) {
        const struct kernels *k = kernels_for(sets[i]);
        if (!k) continue;
        for (int c = 0; c < (int)(sizeof convs / sizeof *convs); c++) test_conv(k, &convs[c], c);
        test_rest(k);
        test_nan(k);
    }
    ok(kernels_for("nonesuch") == NULL, "an unknown variant is refused");
    return done();
}

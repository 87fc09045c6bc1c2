/* kernels.h - what a GPU computes of a training step: one function for a thread, as C that is compiled twice.
 *
 * kernels.cu makes them into PTX, t/shim/cuda.c into a stand-in for the driver that runs on the CPU.  Layouts are those
 * of tensor/kernels.h: activations in blocks of 16 channels, weights [out/16][in/16][kh][kw][in 16][out 16].  Every
 * kernel is given one struct gpu_call and runs for i below its `threads`; p: operands, v: sizes.  Sums run in one order
 * whatever the grid, so that results are reproducible; no library function is used, PTX has none. */
#ifndef MILLRACE_GPU_KERNELS_H
#define MILLRACE_GPU_KERNELS_H
#include <stdint.h>

enum { GPU_OPERANDS = 9, GPU_NUMBERS = 16, GPU_BLOCK = 16 };
struct gpu_call { uint64_t threads; float *p[GPU_OPERANDS]; int64_t v[GPU_NUMBERS]; double scale; };

/* v of convolutions, and of pools (with 16 channels side by side, `images` planes) */
enum { V_IC, V_IH, V_IW, V_OC, V_OH, V_OW, V_KH, V_KW, V_STRIDE, V_PH, V_PW, V_RELU, V_IMAGES };

#define GPU_KERNELS(X) \
    X(conv_direct) X(conv_columns) X(conv_product) X(conv_data) X(conv_weights) X(conv_weights_image) X(sum_images) \
    X(conv_bias) X(norm_sums) X(norm_apply) X(norm_grad_sums) X(norm_grad_apply) X(pool_max) X(pool_max_grad) \
    X(pool_mean) X(pool_mean_grad) X(copy_rows) X(relu) X(relu_grad) X(add) X(dense) X(dense_data) X(dense_weights) \
    X(sum_rows) X(softmax) X(cross_entropy) X(subtract)

#ifdef GPU_BODIES
#ifndef GPU_FUNCTION
#define GPU_FUNCTION static inline
#endif

/* ---- convolutions ---- */

/* of channel ch of a block or, below 16 channels, of a plain plane */
GPU_FUNCTION int64_t pixel(int64_t channels, int64_t ch, int64_t plane, int64_t at)
{
    return channels < GPU_BLOCK ? ch * plane + at : (ch / GPU_BLOCK * plane + at) * GPU_BLOCK + ch % GPU_BLOCK;
}

/* k counts (channel block, row, column, channel in the block) of a window, in the order of the weights */
GPU_FUNCTION void window_place(const int64_t *v, int64_t k, int64_t *ch, int64_t *a, int64_t *b)
{
    int64_t width = v[V_IC] < GPU_BLOCK ? v[V_IC] : GPU_BLOCK, rest = k / width;
    *b = rest % v[V_KW];
    *a = rest / v[V_KW] % v[V_KH];
    *ch = rest / v[V_KW] / v[V_KH] * width + k % width;
}

GPU_FUNCTION float window_value(const int64_t *v, const float *x, int64_t k, int64_t h, int64_t w)
{
    int64_t ch, a, b;
    window_place(v, k, &ch, &a, &b);
    int64_t r = h * v[V_STRIDE] - v[V_PH] + a, q = w * v[V_STRIDE] - v[V_PW] + b;
    if (r < 0 || r >= v[V_IH] || q < 0 || q >= v[V_IW]) return 0;
    return x[pixel(v[V_IC], ch, v[V_IH] * v[V_IW], r * v[V_IW] + q)];
}

GPU_FUNCTION void put_block(const struct gpu_call *c, float *y, const float *sum)
{
    for (int l = 0; l < GPU_BLOCK; l++) y[l] = c->v[V_RELU] && sum[l] < 0 ? 0 : sum[l];
}

/* x, w, bias, y; a thread: 16 channels of a pixel */
GPU_FUNCTION void conv_direct(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, plane = v[V_OH] * v[V_OW], at = (int64_t)i % plane,
                  ob = (int64_t)i / plane % (v[V_OC] / GPU_BLOCK),
                  image = (int64_t)i / plane / (v[V_OC] / GPU_BLOCK), many = v[V_IC] * v[V_KH] * v[V_KW];
    const float *x = c->p[0] + image * v[V_IC] * v[V_IH] * v[V_IW], *w = c->p[1] + ob * many * GPU_BLOCK;
    float sum[GPU_BLOCK];
    for (int l = 0; l < GPU_BLOCK; l++) sum[l] = c->p[2][ob * GPU_BLOCK + l];
    for (int64_t k = 0; k < many; k++) {
        float value = window_value(v, x, k, at / v[V_OW], at % v[V_OW]);
        for (int l = 0; l < GPU_BLOCK; l++) sum[l] += value * w[k * GPU_BLOCK + l];
    }
    put_block(c, c->p[3] + i * GPU_BLOCK, sum);
}

/* x of one image, and the workspace: the windows of all pixels side by side */
GPU_FUNCTION void conv_columns(const struct gpu_call *c, uint64_t i)
{
    int64_t plane = c->v[V_OH] * c->v[V_OW], at = (int64_t)i % plane;
    c->p[1][i] = window_value(c->v, c->p[0], (int64_t)i / plane, at / c->v[V_OW], at % c->v[V_OW]);
}

/* that workspace, w, bias, y of the image */
GPU_FUNCTION void conv_product(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, plane = v[V_OH] * v[V_OW], at = (int64_t)i % plane, ob = (int64_t)i / plane,
                  many = v[V_IC] * v[V_KH] * v[V_KW];
    const float *w = c->p[1] + ob * many * GPU_BLOCK;
    float sum[GPU_BLOCK];
    for (int l = 0; l < GPU_BLOCK; l++) sum[l] = c->p[2][ob * GPU_BLOCK + l];
    for (int64_t k = 0; k < many; k++) {
        float value = c->p[0][k * plane + at];
        for (int l = 0; l < GPU_BLOCK; l++) sum[l] += value * w[k * GPU_BLOCK + l];
    }
    put_block(c, c->p[3] + i * GPU_BLOCK, sum);
}

/* w, dy, dx; a thread: 16 channels of a pixel of dx */
GPU_FUNCTION void conv_data(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, plane = v[V_IH] * v[V_IW], at = (int64_t)i % plane, nib = v[V_IC] / GPU_BLOCK,
                  ib = (int64_t)i / plane % nib, image = (int64_t)i / plane / nib, out = v[V_OH] * v[V_OW];
    const float *dy = c->p[1] + image * v[V_OC] * out;
    float sum[GPU_BLOCK] = { 0 };
    for (int64_t a = 0; a < v[V_KH]; a++) {
        for (int64_t b = 0; b < v[V_KW]; b++) {
            int64_t h = at / v[V_IW] + v[V_PH] - a, w = at % v[V_IW] + v[V_PW] - b;
            if (h < 0 || w < 0 || h % v[V_STRIDE] || w % v[V_STRIDE]) continue;
            h /= v[V_STRIDE], w /= v[V_STRIDE];
            if (h >= v[V_OH] || w >= v[V_OW]) continue;
            for (int64_t o = 0; o < v[V_OC]; o++) {
                float value = dy[pixel(v[V_OC], o, out, h * v[V_OW] + w)];
                const float *k = c->p[0] + ((((o / GPU_BLOCK * nib + ib) * v[V_KH] + a) * v[V_KW] + b) * GPU_BLOCK) *
                                               GPU_BLOCK + o % GPU_BLOCK;
                for (int l = 0; l < GPU_BLOCK; l++) sum[l] += value * k[l * GPU_BLOCK];
            }
        }
    }
    for (int l = 0; l < GPU_BLOCK; l++) c->p[2][i * GPU_BLOCK + (uint64_t)l] = sum[l];
}

GPU_FUNCTION void weights_of(const struct gpu_call *c, int64_t first, int64_t end, int64_t ob, int64_t k, float *sum)
{
    const int64_t *v = c->v, out = v[V_OH] * v[V_OW];
    for (int64_t image = first; image < end; image++) {
        const float *x = c->p[0] + image * v[V_IC] * v[V_IH] * v[V_IW],
                    *dy = c->p[1] + (image * v[V_OC] + ob * GPU_BLOCK) * out;
        for (int64_t at = 0; at < out; at++) {
            float value = window_value(v, x, k, at / v[V_OW], at % v[V_OW]);
            for (int l = 0; l < GPU_BLOCK; l++) sum[l] += value * dy[at * GPU_BLOCK + l];
        }
    }
}

/* x, dy, dw; a thread: 16 output channels of a place in the window */
GPU_FUNCTION void conv_weights(const struct gpu_call *c, uint64_t i)
{
    int64_t many = c->v[V_IC] * c->v[V_KH] * c->v[V_KW];
    float sum[GPU_BLOCK] = { 0 };
    weights_of(c, 0, c->v[V_IMAGES], (int64_t)i / many, (int64_t)i % many, sum);
    for (int l = 0; l < GPU_BLOCK; l++) c->p[2][i * GPU_BLOCK + (uint64_t)l] = sum[l];
}

/* x, dy and the workspace: a dw for every image */
GPU_FUNCTION void conv_weights_image(const struct gpu_call *c, uint64_t i)
{
    int64_t many = c->v[V_IC] * c->v[V_KH] * c->v[V_KW], all = many * (c->v[V_OC] / GPU_BLOCK),
            image = (int64_t)i / all, k = (int64_t)i % all;
    float sum[GPU_BLOCK] = { 0 };
    weights_of(c, image, image + 1, k / many, k % many, sum);
    for (int l = 0; l < GPU_BLOCK; l++) c->p[2][i * GPU_BLOCK + (uint64_t)l] = sum[l];
}

/* that workspace, dw; v[0]: images */
GPU_FUNCTION void sum_images(const struct gpu_call *c, uint64_t i)
{
    float sum = 0;
    for (int64_t n = 0; n < c->v[0]; n++) sum += c->p[0][(uint64_t)n * c->threads + i];
    c->p[1][i] = sum;
}

/* dy, db; a thread: a channel */
GPU_FUNCTION void conv_bias(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, out = v[V_OH] * v[V_OW];
    float sum = 0;
    for (int64_t image = 0; image < v[V_IMAGES]; image++)
        for (int64_t at = 0; at < out; at++)
            sum += c->p[0][image * v[V_OC] * out + pixel(v[V_OC], (int64_t)i, out, at)];
    c->p[1][i] = sum;
}

/* ---- batch normalisation; v: images, blocks, pixels, relu ---- */

GPU_FUNCTION int64_t norm_at(const int64_t *v, int64_t channel, int64_t image, int64_t at)
{
    return ((image * v[1] + channel / GPU_BLOCK) * v[2] + at) * GPU_BLOCK + channel % GPU_BLOCK;
}

/* x, mean, var; a thread: a channel */
GPU_FUNCTION void norm_sums(const struct gpu_call *c, uint64_t i)
{
    float sum = 0, square = 0, count = (float)(c->v[0] * c->v[2]);
    for (int64_t n = 0; n < c->v[0]; n++)
        for (int64_t at = 0; at < c->v[2]; at++) sum += c->p[0][norm_at(c->v, (int64_t)i, n, at)];
    float mean = sum / count;
    for (int64_t n = 0; n < c->v[0]; n++) {
        for (int64_t at = 0; at < c->v[2]; at++) {
            float d = c->p[0][norm_at(c->v, (int64_t)i, n, at)] - mean;
            square += d * d;
        }
    }
    c->p[1][i] = mean;
    c->p[2][i] = square / count;
}

GPU_FUNCTION int64_t channel_of(const int64_t *v, uint64_t i)
{
    return (int64_t)i / GPU_BLOCK / v[2] % v[1] * GPU_BLOCK + (int64_t)i % GPU_BLOCK;
}

/* gamma, beta, x, y, mean, var */
GPU_FUNCTION void norm_apply(const struct gpu_call *c, uint64_t i)
{
    int64_t k = channel_of(c->v, i);
    float y = (c->p[2][i] - c->p[4][k]) * (c->p[0][k] / __builtin_sqrtf(c->p[5][k] + 1e-5f)) + c->p[1][k];
    c->p[3][i] = c->v[3] && y < 0 ? 0 : y;
}

/* x, mean, var, dz, dgamma, dbeta; a thread: a channel */
GPU_FUNCTION void norm_grad_sums(const struct gpu_call *c, uint64_t i)
{
    float sum = 0, cross = 0, inverse = 1 / __builtin_sqrtf(c->p[2][i] + 1e-5f);
    for (int64_t n = 0; n < c->v[0]; n++) {
        for (int64_t at = 0; at < c->v[2]; at++) {
            int64_t k = norm_at(c->v, (int64_t)i, n, at);
            sum += c->p[3][k];
            cross += c->p[3][k] * (c->p[0][k] - c->p[1][i]) * inverse;
        }
    }
    c->p[4][i] = cross;
    c->p[5][i] = sum;
}

/* gamma, x, mean, var, dz, dx, dgamma, dbeta */
GPU_FUNCTION void norm_grad_apply(const struct gpu_call *c, uint64_t i)
{
    int64_t k = channel_of(c->v, i);
    float inverse = 1 / __builtin_sqrtf(c->p[3][k] + 1e-5f), count = (float)(c->v[0] * c->v[2]),
          hat = (c->p[1][i] - c->p[2][k]) * inverse;
    c->p[5][i] = c->p[0][k] * inverse * (c->p[4][i] - c->p[7][k] / count - hat * c->p[6][k] / count);
}

/* ---- pools; an element of the output, or of dx, for a thread ---- */

GPU_FUNCTION int inside_pool(const int64_t *v, int64_t h, int64_t w, int64_t place, int64_t *at)
{
    int64_t r = h * v[V_STRIDE] - v[V_PH] + place / v[V_KW], q = w * v[V_STRIDE] - v[V_PW] + place % v[V_KW];
    *at = r * v[V_IW] + q;
    return r >= 0 && r < v[V_IH] && q >= 0 && q < v[V_IW];
}

GPU_FUNCTION int64_t places_in(const int64_t *v, int64_t h, int64_t w)
{
    int64_t n = 0, at;
    for (int64_t t = 0; t < v[V_KH] * v[V_KW]; t++) n += inside_pool(v, h, w, t, &at);
    return n;
}

/* x, y, index */
GPU_FUNCTION void pool_max(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, l = (int64_t)i % GPU_BLOCK, o = (int64_t)i / GPU_BLOCK, plane = o / (v[V_OH] * v[V_OW]);
    float best = -3.4028235e38f;
    int32_t place = 0;
    for (int64_t t = 0, at; t < v[V_KH] * v[V_KW]; t++) {
        if (!inside_pool(v, o / v[V_OW] % v[V_OH], o % v[V_OW], t, &at)) continue;
        float x = c->p[0][(plane * v[V_IH] * v[V_IW] + at) * GPU_BLOCK + l];
        if (x > best || x != x) best = x, place = (int32_t)t;
    }
    c->p[1][i] = best;
    ((int32_t *)(void *)c->p[2])[i] = place;
}

/* dy of all windows in which the element of dx lies: as the maximum (index), or as one of all (NULL) */
GPU_FUNCTION float from_windows(const int64_t *v, uint64_t i, const float *dy, const int32_t *index)
{
    int64_t l = (int64_t)i % GPU_BLOCK, e = (int64_t)i / GPU_BLOCK, plane = e / (v[V_IH] * v[V_IW]),
            r = e / v[V_IW] % v[V_IH], q = e % v[V_IW];
    float sum = 0;
    for (int64_t t = 0; t < v[V_KH] * v[V_KW]; t++) {
        int64_t h = r + v[V_PH] - t / v[V_KW], w = q + v[V_PW] - t % v[V_KW];
        if (h < 0 || w < 0 || h % v[V_STRIDE] || w % v[V_STRIDE]) continue;
        h /= v[V_STRIDE], w /= v[V_STRIDE];
        if (h >= v[V_OH] || w >= v[V_OW]) continue;
        int64_t k = ((plane * v[V_OH] + h) * v[V_OW] + w) * GPU_BLOCK + l;
        if (!index) sum += dy[k] / (float)places_in(v, h, w);
        else if (index[k] == t) sum += dy[k];
    }
    return sum;
}

/* dy, index, dx */
GPU_FUNCTION void pool_max_grad(const struct gpu_call *c, uint64_t i)
{
    c->p[2][i] = from_windows(c->v, i, c->p[0], (const int32_t *)(const void *)c->p[1]);
}

/* x, y */
GPU_FUNCTION void pool_mean(const struct gpu_call *c, uint64_t i)
{
    const int64_t *v = c->v, l = (int64_t)i % GPU_BLOCK, o = (int64_t)i / GPU_BLOCK, plane = o / (v[V_OH] * v[V_OW]),
                  h = o / v[V_OW] % v[V_OH], w = o % v[V_OW];
    float sum = 0;
    for (int64_t t = 0, at; t < v[V_KH] * v[V_KW]; t++)
        if (inside_pool(v, h, w, t, &at)) sum += c->p[0][(plane * v[V_IH] * v[V_IW] + at) * GPU_BLOCK + l];
    c->p[1][i] = sum / (float)places_in(v, h, w);
}

/* dy, dx */
GPU_FUNCTION void pool_mean_grad(const struct gpu_call *c, uint64_t i)
{
    c->p[1][i] = from_windows(c->v, i, c->p[0], 0);
}

/* ---- flat ---- */

/* from, to; v: floats of a row, floats between rows of either */
GPU_FUNCTION void copy_rows(const struct gpu_call *c, uint64_t i)
{
    int64_t row = (int64_t)i / c->v[0], at = (int64_t)i % c->v[0];
    c->p[1][row * c->v[2] + at] = c->p[0][row * c->v[1] + at];
}

GPU_FUNCTION void relu(const struct gpu_call *c, uint64_t i) { c->p[1][i] = c->p[0][i] < 0 ? 0 : c->p[0][i]; }
GPU_FUNCTION void relu_grad(const struct gpu_call *c, uint64_t i) { c->p[2][i] = c->p[0][i] > 0 ? c->p[1][i] : 0; }
/* v[0]: relu */
GPU_FUNCTION void add(const struct gpu_call *c, uint64_t i)
{
    float sum = c->p[0][i] + c->p[1][i];
    c->p[2][i] = c->v[0] && sum < 0 ? 0 : sum;
}
GPU_FUNCTION void subtract(const struct gpu_call *c, uint64_t i)
{
    c->p[2][i] = (float)c->scale * (c->p[0][i] - c->p[1][i]);
}

/* ---- dense; v: images, rows, columns ---- */

/* w, x, bias, y */
GPU_FUNCTION void dense(const struct gpu_call *c, uint64_t i)
{
    int64_t rows = c->v[1], k = c->v[2], r = (int64_t)i % rows, image = (int64_t)i / rows;
    float sum = c->p[2][r];
    for (int64_t j = 0; j < k; j++) sum += c->p[0][r * k + j] * c->p[1][image * k + j];
    c->p[3][i] = sum;
}

/* w, dy, dx */
GPU_FUNCTION void dense_data(const struct gpu_call *c, uint64_t i)
{
    int64_t rows = c->v[1], k = c->v[2], j = (int64_t)i % k, image = (int64_t)i / k;
    float sum = 0;
    for (int64_t r = 0; r < rows; r++) sum += c->p[0][r * k + j] * c->p[1][image * rows + r];
    c->p[2][i] = sum;
}

/* dy, x, dw */
GPU_FUNCTION void dense_weights(const struct gpu_call *c, uint64_t i)
{
    int64_t rows = c->v[1], k = c->v[2], r = (int64_t)i / k, j = (int64_t)i % k;
    float sum = 0;
    for (int64_t n = 0; n < c->v[0]; n++) sum += c->p[0][n * rows + r] * c->p[1][n * k + j];
    c->p[2][i] = sum;
}

/* x, y; v: rows, columns; a thread: a column */
GPU_FUNCTION void sum_rows(const struct gpu_call *c, uint64_t i)
{
    float sum = 0;
    for (int64_t n = 0; n < c->v[0]; n++) sum += c->p[0][(uint64_t)(n * c->v[1]) + i];
    c->p[1][i] = sum;
}

/* ---- loss ---- */

/* 2^n (1 + f), n = round(x / ln 2), the rest by its series: error below 2e-7 */
GPU_FUNCTION float exponential(float x)
{
    if (!(x >= -87)) return x < 0 ? 0 : x;               /* nan stays nan, here and below */
    float n = x * 1.44269504f, r;
    int32_t whole = (int32_t)(n < 0 ? n - 0.5f : n + 0.5f);
    r = x - (float)whole * 0.693359375f + (float)whole * 2.12194440e-4f;
    float sum = 1 + r * (1 + r * (0.5f + r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720))))));
    union { float f; uint32_t u; } power;
    power.u = (uint32_t)(whole + 127) << 23;
    return sum * power.f;
}

/* of a positive number: exponent and mantissa, log((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + ..) */
GPU_FUNCTION double logarithm(float x)
{
    union { float f; uint32_t u; } of;
    if (x != x) return x;
    of.f = x;
    int32_t exponent = (int32_t)(of.u >> 23) - 127;
    of.u = (of.u & 0x7fffffu) | 0x3f800000u;
    double m = of.f, s, square, sum = 0;
    if (m > 1.4142135) m /= 2, exponent++;
    s = (m - 1) / (m + 1);
    square = s * s;
    for (int k = 19; k > 0; k -= 2) sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* x, y; v: classes; a thread: an image */
GPU_FUNCTION void softmax(const struct gpu_call *c, uint64_t i)
{
    int64_t n = c->v[0];
    const float *x = c->p[0] + (int64_t)i * n;
    float *y = c->p[1] + (int64_t)i * n, top = x[0], sum = 0;
    for (int64_t j = 1; j < n; j++) top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++) sum += y[j] = exponential(x[j] - top);
    for (int64_t j = 0; j < n; j++) y[j] /= sum;
}

/* p, labels, loss; v: numbers, images; one thread */
GPU_FUNCTION void cross_entropy(const struct gpu_call *c, uint64_t i)
{
    double sum = 0;
    for (int64_t j = 0; j < c->v[0]; j++)
        if (c->p[1][j] != 0) sum -= (double)c->p[1][j] * logarithm(c->p[0][j] < 1e-30f ? 1e-30f : c->p[0][j]);
    c->p[2][i] = (float)(sum / (double)c->v[1]);
}
#endif
#endif

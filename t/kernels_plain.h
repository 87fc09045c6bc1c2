/* kernels_plain.h - for lib-kernels.c: every kernel as the textbook loop over its definition, in double sums. */
#include "tensor/kernels.h"
#include <math.h>
#include <string.h>

/* offset of channel ch, row r, column q in an image of h x w pixels with `plane` floats from block to block */
static size_t at(int channels, int ch, int h, int w, size_t plane, int r, int q)
{
    if (channels < BLOCK) return ((size_t)ch * (size_t)h + (size_t)r) * (size_t)w + (size_t)q;
    return (size_t)(ch / BLOCK) * plane + ((size_t)r * (size_t)w + (size_t)q) * BLOCK + (size_t)(ch % BLOCK);
}

static size_t weight_at(const struct conv *c, int o, int i, int a, int b)
{
    int width = c->ic < BLOCK ? c->ic : BLOCK, nib = c->ic < BLOCK ? 1 : c->ic / BLOCK;
    size_t tap =
        (((size_t)(o / BLOCK) * (size_t)nib + (size_t)(i / width)) * (size_t)c->kh + (size_t)a) * (size_t)c->kw +
        (size_t)b;
    return (tap * (size_t)width + (size_t)(i % width)) * BLOCK + (size_t)(o % BLOCK);
}

static void conv_forward(const struct conv *c, const float *x, size_t xplane, const float *w, const float *bias,
                         float *y, size_t yplane, int row0, int row1, float *scratch, int part, int parts)
{
    (void)scratch;
    for (int o = c->oc * part / parts; o < c->oc * (part + 1) / parts; o++) {
        for (int h = row0; h < row1; h++) {
            for (int v = 0; v < c->ow; v++) {
                double sum = bias[o];
                for (int i = 0; i < c->ic; i++) {
                    for (int a = 0; a < c->kh; a++) {
                        for (int b = 0; b < c->kw; b++) {
                            int r = h * c->stride - c->ph + a, q = v * c->stride - c->pw + b;
                            if (r < 0 || r >= c->ih || q < 0 || q >= c->iw) continue;
                            sum += (double)x[at(c->ic, i, c->ih, c->iw, xplane, r, q)] * w[weight_at(c, o, i, a, b)];
                        }
                    }
                }
                y[at(c->oc, o, c->oh, c->ow, yplane, h, v)] = (float)(c->relu && sum < 0 ? 0 : sum);
            }
        }
    }
}

static void conv_data_grad(const struct conv *c, const float *w, const float *dy, size_t yplane, float *dx,
                           size_t xplane, int row0, int row1, float *scratch, int part, int parts)
{
    (void)scratch;
    for (int i = c->ic * part / parts; i < c->ic * (part + 1) / parts; i++) {
        for (int r = row0; r < row1; r++) {
            for (int q = 0; q < c->iw; q++) {
                double sum = 0;
                for (int o = 0; o < c->oc; o++) {
                    for (int a = 0; a < c->kh; a++) {
                        for (int b = 0; b < c->kw; b++) {
                            int h = r + c->ph - a, v = q + c->pw - b;
                            if (h < 0 || v < 0 || h % c->stride || v % c->stride) continue;
                            h /= c->stride, v /= c->stride;
                            if (h < c->oh && v < c->ow)
                                sum +=
                                    (double)dy[at(c->oc, o, c->oh, c->ow, yplane, h, v)] * w[weight_at(c, o, i, a, b)];
                        }
                    }
                }
                dx[at(c->ic, i, c->ih, c->iw, xplane, r, q)] = (float)sum;
            }
        }
    }
}

static void conv_weights_grad(const struct conv *c, const float *x, size_t xplane, const float *dy, size_t yplane,
                              float *dw, float *db, bool add, int row0, int row1, float *scratch, int part, int parts)
{
    (void)scratch;
    for (int o = c->oc * part / parts; o < c->oc * (part + 1) / parts; o++) {
        double bias = add ? db[o] : 0;
        for (int h = row0; h < row1; h++)
            for (int v = 0; v < c->ow; v++) bias += dy[at(c->oc, o, c->oh, c->ow, yplane, h, v)];
        db[o] = (float)bias;
        for (int i = 0; i < c->ic; i++) {
            for (int a = 0; a < c->kh; a++) {
                for (int b = 0; b < c->kw; b++) {
                    double sum = add ? dw[weight_at(c, o, i, a, b)] : 0;
                    for (int h = row0; h < row1; h++) {
                        for (int v = 0; v < c->ow; v++) {
                            int r = h * c->stride - c->ph + a, q = v * c->stride - c->pw + b;
                            if (r < 0 || r >= c->ih || q < 0 || q >= c->iw) continue;
                            sum += (double)x[at(c->ic, i, c->ih, c->iw, xplane, r, q)] *
                                   dy[at(c->oc, o, c->oh, c->ow, yplane, h, v)];
                        }
                    }
                    dw[weight_at(c, o, i, a, b)] = (float)sum;
                }
            }
        }
    }
}

static void batchnorm(const float *gamma, const float *beta, float *const *x, float *const *y, float *mean, float *var,
                      int n, int nb, size_t hw, bool relu, int part, int parts)
{
    for (int c = nb * part / parts * BLOCK; c < nb * (part + 1) / parts * BLOCK; c++) {
        size_t off = (size_t)(c / BLOCK) * hw * BLOCK + (size_t)(c % BLOCK);
        double sum = 0, square = 0, count = (double)n * (double)hw;
        for (int i = 0; i < n; i++)
            for (size_t j = 0; j < hw; j++) sum += x[i][off + j * BLOCK];
        double m = sum / count;
        for (int i = 0; i < n; i++)
            for (size_t j = 0; j < hw; j++) square += pow(x[i][off + j * BLOCK] - m, 2);
        mean[c] = (float)m;
        var[c] = (float)(square / count);
        double scale = gamma[c] / sqrt(square / count + 1e-5);
        for (int i = 0; i < n; i++) {
            for (size_t j = 0; j < hw; j++) {
                double v = (x[i][off + j * BLOCK] - m) * scale + beta[c];
                y[i][off + j * BLOCK] = (float)(relu && v < 0 ? 0 : v);
            }
        }
    }
}

static void batchnorm_grad(const float *gamma, float *const *x, const float *mean, const float *var, float *const *dz,
                           float *const *dx, float *dgamma, float *dbeta, int n, int nb, size_t hw, int part, int parts)
{
    for (int c = nb * part / parts * BLOCK; c < nb * (part + 1) / parts * BLOCK; c++) {
        size_t off = (size_t)(c / BLOCK) * hw * BLOCK + (size_t)(c % BLOCK);
        double sum = 0, cross = 0, count = (double)n * (double)hw, inv = 1 / sqrt(var[c] + 1e-5);
        for (int i = 0; i < n; i++) {
            for (size_t j = 0; j < hw; j++) {
                double d = dz[i][off + j * BLOCK];
                sum += d;
                cross += d * (x[i][off + j * BLOCK] - (double)mean[c]) * inv;
            }
        }
        dbeta[c] = (float)sum;
        dgamma[c] = (float)cross;
        for (int i = 0; i < n; i++) {
            for (size_t j = 0; j < hw; j++) {
                double xhat = (x[i][off + j * BLOCK] - (double)mean[c]) * inv;
                double d = dz[i][off + j * BLOCK];
                dx[i][off + j * BLOCK] = (float)(gamma[c] * inv * (d - sum / count - xhat * cross / count));
            }
        }
    }
}

/* calls visit for each place of each window of one channel */
static size_t window(const struct pool *c, size_t plane, int l, int h, int w, int place)
{
    int r = h * c->stride - c->ph + place / c->kw, q = w * c->stride - c->pw + place % c->kw;
    if (r < 0 || r >= c->ih || q < 0 || q >= c->iw) return SIZE_MAX;
    return ((plane * (size_t)c->ih + (size_t)r) * (size_t)c->iw + (size_t)q) * BLOCK + (size_t)l;
}

static int places(const struct pool *c, size_t plane, int h, int w)
{
    int n = 0;
    for (int place = 0; place < c->kh * c->kw; place++) n += window(c, plane, 0, h, w, place) != SIZE_MAX;
    return n;
}

static size_t out_at(const struct pool *c, size_t plane, int l, int h, int w)
{
    return ((plane * (size_t)c->oh + (size_t)h) * (size_t)c->ow + (size_t)w) * BLOCK + (size_t)l;
}

static void maxpool(const struct pool *c, const float *x, float *y, int32_t *index, size_t planes, int part, int parts)
{
    for (size_t p = planes * (size_t)part / (size_t)parts; p < planes * (size_t)(part + 1) / (size_t)parts; p++) {
        for (int o = 0; o < c->oh * c->ow * BLOCK; o++) {
            int l = o % BLOCK, w = o / BLOCK % c->ow, h = o / BLOCK / c->ow;
            float best = -INFINITY;
            int32_t place = 0;
            for (int t = 0; t < c->kh * c->kw; t++) {
                size_t i = window(c, p, l, h, w, t);
                if (i != SIZE_MAX && (x[i] > best || x[i] != x[i])) best = x[i], place = t;
            }
            y[out_at(c, p, l, h, w)] = best;
            index[out_at(c, p, l, h, w)] = place;
        }
    }
}

static void maxpool_grad(const struct pool *c, const float *y, const float *dy, const int32_t *index, float *dx,
                         size_t planes, int part, int parts)
{
    for (size_t p = planes * (size_t)part / (size_t)parts; p < planes * (size_t)(part + 1) / (size_t)parts; p++) {
        size_t n = (size_t)(c->ih * c->iw) * BLOCK;
        memset(dx + p * n, 0, n * sizeof *dx);
        for (int o = 0; o < c->oh * c->ow * BLOCK; o++) {
            int l = o % BLOCK, w = o / BLOCK % c->ow, h = o / BLOCK / c->ow;
            size_t i = out_at(c, p, l, h, w), to = SIZE_MAX;
            if (index[i] >= 0 && index[i] < c->kh * c->kw) to = window(c, p, l, h, w, index[i]);
            if (to != SIZE_MAX && (!y || y[i] > 0)) dx[to] += dy[i];
        }
    }
}

static void avgpool(const struct pool *c, const float *x, float *y, size_t planes, int part, int parts)
{
    for (size_t p = planes * (size_t)part / (size_t)parts; p < planes * (size_t)(part + 1) / (size_t)parts; p++) {
        for (int o = 0; o < c->oh * c->ow * BLOCK; o++) {
            int l = o % BLOCK, w = o / BLOCK % c->ow, h = o / BLOCK / c->ow;
            double sum = 0;
            for (int t = 0; t < c->kh * c->kw; t++) {
                size_t i = window(c, p, l, h, w, t);
                if (i != SIZE_MAX) sum += x[i];
            }
            y[out_at(c, p, l, h, w)] = (float)(sum / places(c, p, h, w));
        }
    }
}

static void avgpool_grad(const struct pool *c, const float *dy, float *dx, size_t planes, int part, int parts)
{
    for (size_t p = planes * (size_t)part / (size_t)parts; p < planes * (size_t)(part + 1) / (size_t)parts; p++) {
        size_t n = (size_t)(c->ih * c->iw) * BLOCK;
        memset(dx + p * n, 0, n * sizeof *dx);
        for (int o = 0; o < c->oh * c->ow * BLOCK; o++) {
            int l = o % BLOCK, w = o / BLOCK % c->ow, h = o / BLOCK / c->ow;
            for (int t = 0; t < c->kh * c->kw; t++) {
                size_t i = window(c, p, l, h, w, t);
                if (i != SIZE_MAX) dx[i] += dy[out_at(c, p, l, h, w)] / (float)places(c, p, h, w);
            }
        }
    }
}

static size_t from(size_t n, int part, int parts) { return n * (size_t)part / (size_t)parts; }

static void relu(const float *x, float *y, size_t n, int part, int parts)
{
    for (size_t i = from(n, part, parts); i < from(n, part + 1, parts); i++) y[i] = x[i] < 0 ? 0 : x[i];
}

static void relu_grad(const float *y, const float *dy, float *dx, size_t n, int part, int parts)
{
    for (size_t i = from(n, part, parts); i < from(n, part + 1, parts); i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void add(const float *a, const float *b, float *y, size_t n, int part, int parts)
{
    for (size_t i = from(n, part, parts); i < from(n, part + 1, parts); i++) y[i] = a[i] + b[i];
}

static void dense(const float *w, const float *x, const float *bias, float *y, int n, size_t rows, size_t k,
                  size_t row0, size_t row1, int part, int parts)
{
    for (size_t r = row0 + from(row1 - row0, part, parts); r < row0 + from(row1 - row0, part + 1, parts); r++) {
        for (int i = 0; i < n; i++) {
            double sum = bias[r];
            for (size_t j = 0; j < k; j++) sum += (double)w[(r - row0) * k + j] * x[(size_t)i * k + j];
            y[(size_t)i * rows + r] = (float)sum;
        }
    }
}

static void dense_data_grad(const float *w, const float *dy, float *dx, int n, size_t rows, size_t k, size_t row0,
                            size_t row1, bool more, int part, int parts)
{
    for (size_t j = from(k, part, parts); j < from(k, part + 1, parts); j++) {
        for (int i = 0; i < n; i++) {
            double sum = more ? dx[(size_t)i * k + j] : 0;
            for (size_t r = row0; r < row1; r++) sum += (double)w[(r - row0) * k + j] * dy[(size_t)i * rows + r];
            dx[(size_t)i * k + j] = (float)sum;
        }
    }
}

static void dense_weights_grad(const float *dy, const float *x, const float *w, float *dw, int n, size_t rows,
                               size_t k, size_t row0, size_t row1, int part, int parts)
{
    for (size_t r = row0 + from(row1 - row0, part, parts); r < row0 + from(row1 - row0, part + 1, parts); r++) {
        for (size_t j = 0; j < k; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += (double)dy[(size_t)i * rows + r] * x[(size_t)i * k + j];
            dw[(r - row0) * k + j] = w ? w[(r - row0) * k + j] + (float)sum : (float)sum;
        }
    }
}

static const struct kernels kernels_plain = {
    "plain", conv_forward, conv_data_grad, conv_weights_grad, batchnorm, batchnorm_grad, maxpool, maxpool_grad,
    avgpool, avgpool_grad, relu, relu_grad, add, dense, dense_data_grad, dense_weights_grad,
};

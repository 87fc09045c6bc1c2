#include "tensor/ndcode.h"
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const float *in(char *const *at, int i)
{
    return (const float *)(const void *)at[i];
}
static float *out(char *const *at, int i)
{
    return (float *)(void *)at[i];
}
static const int32_t *ints(char *const *at, int i)
{
    return (const int32_t *)(const void *)at[i];
}

/* ---- element by element ---- */

/* steps through `from` for an array of GRAPH_DIMS dimensions, 0 where it is repeated */
static void strides(const struct array *from, int64_t *s)
{
    int64_t step = 1;
    for (int k = 1; k <= GRAPH_DIMS; k++) {
        int64_t d = k <= from->n ? from->d[from->n - k] : 1;
        s[GRAPH_DIMS - k] = d == 1 ? 0 : step;
        step *= d;
    }
}

static void full(const struct array *t, int64_t *d)
{
    for (int k = 0; k < GRAPH_DIMS; k++) d[k] = k < GRAPH_DIMS - t->n ? 1 : t->d[k - (GRAPH_DIMS - t->n)];
}

static void binary(const struct nd *o, char *const *at)
{
    int64_t d[GRAPH_DIMS], s[2][GRAPH_DIMS];
    full(&o->t[2], d);
    strides(&o->t[0], s[0]);
    strides(&o->t[1], s[1]);
    const float *a = in(at, 0), *b = in(at, 1);
    float *y = out(at, 2);
    for (int64_t i = 0; i < d[0]; i++)
        for (int64_t j = 0; j < d[1]; j++)
            for (int64_t k = 0; k < d[2]; k++, y += d[3]) {
                const float *p = a + i * s[0][0] + j * s[0][1] + k * s[0][2],
                            *q = b + i * s[1][0] + j * s[1][1] + k * s[1][2];
                int64_t u = s[0][3], v = s[1][3];
                switch ((enum nd_binary)o->kind) {
                case ND_ADD:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] + q[l * v];
                    break;
                case ND_SUB:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] - q[l * v];
                    break;
                case ND_MUL:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] * q[l * v];
                    break;
                case ND_DIV:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] / q[l * v];
                    break;
                case ND_GREATER:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] > q[l * v];
                    break;
                case ND_LESS:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] < q[l * v];
                    break;
                case ND_EQUAL:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = p[l * u] == q[l * v];
                    break;
                case ND_WHERE:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = q[l * v] != 0 ? p[l * u] : 0;
                    break;
                case ND_ELSE:
                    for (int64_t l = 0; l < d[3]; l++) y[l] = q[l * v] == 0 ? p[l * u] : 0;
                    break;
                case ND_BINARIES:
                    break;
                }
            }
}

/* nan stays nan here, and so it does in ND_RELU: what goes wrong is seen in the loss */
static float between(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static float unary_of(const struct nd *o, float x)
{
    switch ((enum nd_unary)o->kind) {
    case ND_RELU:
        return x < 0 ? 0 : x;
    case ND_SQRT:
        return sqrtf(x);
    case ND_ERF:
        return erff(x);
    case ND_EXP:
        return expf(x);
    case ND_TANH:
        return tanhf(x);
    case ND_SIGMOID:
        return 1 / (1 + expf(-x));
    case ND_POW:
        return o->a == 2 ? x * x : powf(x, (float)o->a);
    case ND_SCALE:
        return x * (float)o->a;
    case ND_SHIFT:
        return x + (float)o->a;
    case ND_CLIP:
        return between(x, (float)o->a, (float)o->b);
    case ND_LOG:
        return logf(x);
    case ND_SOFTPLUS:
        return x > 20 ? x : log1pf(expf(x));
    case ND_LEAKY:
        return x > 0 ? x : (float)o->a * x;
    case ND_ELU:
        return x > 0 ? x : (float)o->a * expm1f(x / (float)o->b);
    case ND_HARDSIGMOID:
        return between(x * (float)o->a + (float)o->b, 0, 1);
    case ND_ABOVE:
        return x > (float)o->a;
    case ND_BELOW:
        return x < (float)o->a;
    case ND_IS:
        return x == (float)o->a;
    case ND_UNARIES:
        break;
    }
    return NAN;
}

static float slope_of(const struct nd *o, float x)
{
    switch ((enum nd_unary)o->kind) {
    case ND_RELU:
        return x > 0;
    case ND_SQRT:
        return 0.5f / sqrtf(x);
    case ND_ERF:
        return 1.12837917f * expf(-x * x);
    case ND_EXP:
        return expf(x);
    case ND_TANH:
        return 1 - tanhf(x) * tanhf(x);
    case ND_SIGMOID:
        return unary_of(o, x) * (1 - unary_of(o, x));
    case ND_POW:
        return o->a == 2 ? 2 * x : (float)o->a * powf(x, (float)o->a - 1);
    case ND_SCALE:
        return (float)o->a;
    case ND_SHIFT:
        return 1;
    case ND_CLIP:
        return x >= (float)o->a && x <= (float)o->b;
    case ND_LOG:
        return 1 / x;
    case ND_SOFTPLUS:
        return 1 / (1 + expf(-x));
    case ND_LEAKY:
        return x > 0 ? 1 : (float)o->a;
    case ND_ELU:
        return x > 0 ? 1 : (float)o->a / (float)o->b * expf(x / (float)o->b);
    case ND_HARDSIGMOID: {
        float y = x * (float)o->a + (float)o->b;
        return y > 0 && y < 1 ? (float)o->a : 0;
    }
    case ND_ABOVE:
    case ND_BELOW:
    case ND_IS:
        return 0;
    case ND_UNARIES:
        break;
    }
    return NAN;
}

/* each output element is a sum in ascending order of its inputs, in double precision */
static void reduce(const struct nd *o, char *const *at, char *scratch)
{
    int64_t d[GRAPH_DIMS], s[GRAPH_DIMS] = { 0 }, step = 1;
    full(&o->t[0], d);
    int shift = GRAPH_DIMS - o->t[0].n;
    for (int k = GRAPH_DIMS; k-- > 0;) {
        bool gone = k >= shift && (o->axes >> (k - shift) & 1);
        s[k] = gone ? 0 : step;
        if (!gone) step *= d[k];
    }
    double *sum = (double *)(void *)scratch;
    for (int64_t i = 0; i < o->t[1].count; i++) sum[i] = 0;
    const float *x = in(at, 0);
    for (int64_t i = 0; i < d[0]; i++)
        for (int64_t j = 0; j < d[1]; j++)
            for (int64_t k = 0; k < d[2]; k++, x += d[3]) {
                double *to = sum + i * s[0] + j * s[1] + k * s[2];
                if (s[3])
                    for (int64_t l = 0; l < d[3]; l++) to[l] += (double)x[l];
                else {
                    double part = 0;
                    for (int64_t l = 0; l < d[3]; l++) part += (double)x[l];
                    *to += part;
                }
            }
    double over = o->mean ? (double)o->t[0].count / (double)o->t[1].count : 1;
    for (int64_t i = 0; i < o->t[1].count; i++) out(at, 1)[i] = (float)(sum[i] / over);
}

static void expand(const struct nd *o, char *const *at)
{
    int64_t d[GRAPH_DIMS], s[GRAPH_DIMS];
    full(&o->t[1], d);
    strides(&o->t[0], s);
    const float *x = in(at, 0);
    float *y = out(at, 1), f = (float)o->a;
    for (int64_t i = 0; i < d[0]; i++)
        for (int64_t j = 0; j < d[1]; j++)
            for (int64_t k = 0; k < d[2]; k++, y += d[3])
                for (int64_t l = 0; l < d[3]; l++) y[l] = f * x[i * s[0] + j * s[1] + k * s[2] + l * s[3]];
}

static void transpose(const struct nd *o, char *const *at)
{
    int n = o->t[0].n;
    int64_t d[GRAPH_DIMS], s[GRAPH_DIMS] = { 0 }, from[GRAPH_DIMS], step = 1;
    for (int k = n; k-- > 0;) {
        from[k] = step;
        step *= o->t[0].d[k];
    }
    full(&o->t[1], d);
    for (int k = 0; k < n; k++) s[GRAPH_DIMS - n + k] = from[o->perm[k]];
    const float *x = in(at, 0);
    float *y = out(at, 1);
    for (int64_t i = 0; i < d[0]; i++)
        for (int64_t j = 0; j < d[1]; j++)
            for (int64_t k = 0; k < d[2]; k++, y += d[3])
                for (int64_t l = 0; l < d[3]; l++) y[l] = x[i * s[0] + j * s[1] + k * s[2] + l * s[3]];
}

/* ---- products ---- */

static void matmul(const struct nd *o, char *const *at)
{
    const struct array *a = &o->t[0], *b = &o->t[1], *y = &o->t[2];
    int64_t m = y->d[y->n - 2], n = y->d[y->n - 1], k = o->ta ? a->d[a->n - 2] : a->d[a->n - 1];
    int64_t batch = y->count / (m * n), astep = a->count / (m * k) > 1 ? m * k : 0,
            bstep = b->count / (k * n) > 1 ? k * n : 0;
    if (batch > 1 && !bstep && !o->ta) { /* rows of all the batch under each other */
        m *= batch;
        batch = 1;
    }
    for (int64_t i = 0; i < batch; i++)
        cblas_sgemm(CblasRowMajor, o->ta ? CblasTrans : CblasNoTrans, o->tb ? CblasTrans : CblasNoTrans, (int)m, (int)n,
                    (int)k, 1, in(at, 0) + i * astep, o->ta ? (int)m : (int)k, in(at, 1) + i * bstep,
                    o->tb ? (int)k : (int)n, 0, out(at, 2) + i * m * n, (int)n);
}

struct window {
    int64_t c, ih, iw, oh, ow, kh, kw;
};

/* rows (channel, kernel place), columns (output place) of one group of one image; back: adds them to x instead */
static void columns(const struct nd *o, const struct window *w, float *x, float *col, bool back)
{
    for (int64_t c = 0; c < w->c; c++)
        for (int64_t r = 0; r < w->kh; r++)
            for (int64_t s = 0; s < w->kw; s++)
                for (int64_t i = 0; i < w->oh; i++, col += w->ow) {
                    int64_t y = i * o->stride[0] - o->pad[0] + r * o->dilation;
                    float *row = x + (c * w->ih + y) * w->iw;
                    for (int64_t j = 0; j < w->ow; j++) {
                        int64_t z = j * o->stride[1] - o->pad[1] + s * o->dilation;
                        bool inside = y >= 0 && y < w->ih && z >= 0 && z < w->iw;
                        if (!back) col[j] = inside ? row[z] : 0;
                        else if (inside) row[z] += col[j];
                    }
                }
}

/* operands by role: 0 x-like, 1 weights, 2 y-like */
static void conv(const struct nd *o, const struct array *x, const struct array *w, const struct array *y, float *px,
                 float *pw, float *py, int what, float *col)
{
    struct window v = { w->d[1], x->d[2], x->d[3], y->d[2], y->d[3], w->d[2], w->d[3] };
    int64_t g = o->group, oc = w->d[0] / g, k = v.c * v.kh * v.kw, pixels = v.oh * v.ow;
    if (what == 0) memset(px, 0, (size_t)x->count * sizeof *px);
    if (what == 1) memset(pw, 0, (size_t)w->count * sizeof *pw);
    for (int64_t n = 0; n < x->d[0]; n++)
        for (int64_t q = 0; q < g; q++) {
            float *xi = px + (n * g + q) * v.c * v.ih * v.iw, *yi = py + (n * g + q) * oc * pixels,
                  *wi = pw + q * oc * k;
            if (what == 0) {
                cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k, (int)pixels, (int)oc, 1, wi, (int)k, yi,
                            (int)pixels, 0, col, (int)pixels);
                columns(o, &v, xi, col, true);
                continue;
            }
            columns(o, &v, xi, col, false);
            if (what == 1)
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)oc, (int)k, (int)pixels, 1, yi, (int)pixels,
                            col, (int)pixels, 1, wi, (int)k);
            else
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)oc, (int)pixels, (int)k, 1, wi, (int)k, col,
                            (int)pixels, 0, yi, (int)pixels);
        }
}

/* ---- windows ---- */

static bool higher(const float *x, int64_t i, int64_t best) { return x[i] > x[best] || isnan(x[i]); }

static void pool(const struct nd *o, char *const *at, bool max, bool grad)
{
    const struct array *x = &o->t[grad ? o->nin : 0], *y = &o->t[grad ? 0 : o->nin];
    int64_t ih = x->d[2], iw = x->d[3], oh = y->d[2], ow = y->d[3];
    float *px = grad ? out(at, o->nin) : NULL, *py = grad ? NULL : out(at, o->nin);
    if (grad) memset(px, 0, (size_t)x->count * sizeof *px);
    for (int64_t p = 0, at_y = 0; p < x->d[0] * x->d[1]; p++)
        for (int64_t i = 0; i < oh; i++)
            for (int64_t j = 0; j < ow; j++, at_y++) {
                int64_t y0 = i * o->stride[0] - o->pad[0], x0 = j * o->stride[1] - o->pad[1], best = -1, n = 0;
                int64_t y1 = y0 + o->kernel[0], x1 = x0 + o->kernel[1];
                if (y0 < 0) y0 = 0;
                if (x0 < 0) x0 = 0;
                if (y1 > ih) y1 = ih;
                if (x1 > iw) x1 = iw;
                n = o->counted ? (int64_t)o->kernel[0] * o->kernel[1] : (y1 - y0) * (x1 - x0);
                if (grad && max) {
                    int64_t where = ints(at, 1)[at_y];
                    if (where >= 0 && where < ih * iw) px[p * ih * iw + where] += in(at, 0)[at_y];
                    continue;
                }
                float sum = 0, share = grad ? in(at, 0)[at_y] / (float)n : 0;
                for (int64_t r = y0; r < y1; r++)
                    for (int64_t s = x0; s < x1; s++) {
                        int64_t k = r * iw + s;
                        if (grad) px[p * ih * iw + k] += share;
                        else if (!max) sum += in(at, 0)[p * ih * iw + k];
                        else if (best < 0 || higher(in(at, 0) + p * ih * iw, k, best)) best = k;
                    }
                if (grad) continue;
                py[at_y] = max ? (best < 0 ? 0 : in(at, 0)[p * ih * iw + best]) : sum / (float)n;
                if (max) ((int32_t *)(void *)at[2])[at_y] = (int32_t)best;
            }
}

static void upsample(const struct nd *o, char *const *at, bool grad)
{
    const struct array *small = &o->t[grad ? 1 : 0];
    int64_t h = small->d[2], w = small->d[3], f = (int64_t)o->a;
    float *to = out(at, 1);
    if (grad) memset(to, 0, (size_t)small->count * sizeof *to);
    for (int64_t p = 0; p < small->d[0] * small->d[1]; p++)
        for (int64_t i = 0; i < h * f; i++)
            for (int64_t j = 0; j < w * f; j++) {
                int64_t s = (p * h + i / f) * w + j / f, b = (p * h * f + i) * w * f + j;
                if (grad) to[s] += in(at, 0)[b];
                else to[b] = in(at, 0)[s];
            }
}

/* ---- statistics ---- */

static void norm(const struct nd *o, char *const *at, bool grad)
{
    const struct array *x = &o->t[0];
    int64_t images = x->d[0], channels = x->d[1], plane = x->count / (images * channels);
    double n = (double)(images * plane);
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, square = 0;
        if (!grad) {
            for (int64_t i = 0; i < images; i++)
                for (int64_t k = 0; k < plane; k++) sum += (double)in(at, 0)[(i * channels + c) * plane + k];
            double mean = sum / n;
            for (int64_t i = 0; i < images; i++)
                for (int64_t k = 0; k < plane; k++) {
                    double v = (double)in(at, 0)[(i * channels + c) * plane + k] - mean;
                    square += v * v;
                }
            double inverse = 1 / sqrt(square / n + o->epsilon);
            out(at, 4)[c] = (float)mean;
            out(at, 5)[c] = (float)inverse;
            float f = (float)inverse * in(at, 1)[c], s = in(at, 2)[c];
            for (int64_t i = 0; i < images; i++)
                for (int64_t k = 0, b = (i * channels + c) * plane; k < plane; k++)
                    out(at, 3)[b + k] = (in(at, 0)[b + k] - (float)mean) * f + s;
            continue;
        }
        float mean = in(at, 2)[c], inverse = in(at, 3)[c];
        for (int64_t i = 0; i < images; i++)
            for (int64_t k = 0, b = (i * channels + c) * plane; k < plane; k++) {
                double dy = (double)in(at, 4)[b + k];
                sum += dy;
                square += dy * (double)((in(at, 0)[b + k] - mean) * inverse);
            }
        out(at, 6)[c] = (float)square;
        out(at, 7)[c] = (float)sum;
        float f = in(at, 1)[c] * inverse, m = (float)(sum / n), q = (float)(square / n);
        for (int64_t i = 0; i < images; i++)
            for (int64_t k = 0, b = (i * channels + c) * plane; k < plane; k++)
                out(at, 5)[b + k] = f * (in(at, 4)[b + k] - m - (in(at, 0)[b + k] - mean) * inverse * q);
    }
}

/* returns the logarithm of the sum of all exp(x) */
static double softmax_row(const float *x, float *y, int64_t n)
{
    float top = x[0];
    double sum = 0;
    for (int64_t i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < n; i++) sum += (double)(y[i] = expf(x[i] - top));
    for (int64_t i = 0; i < n; i++) y[i] = (float)((double)y[i] / sum);
    return (double)top + log(sum);
}

static void softmax(const struct nd *o, char *const *at, bool grad)
{
    const struct array *x = &o->t[0];
    int64_t n = x->d[x->n - 1];
    for (int64_t r = 0; r < x->count / n; r++) {
        if (!grad) {
            softmax_row(in(at, 0) + r * n, out(at, 1) + r * n, n);
            continue;
        }
        const float *y = in(at, 0) + r * n, *dy = in(at, 1) + r * n;
        double dot = 0;
        for (int64_t i = 0; i < n; i++) dot += (double)y[i] * (double)dy[i];
        for (int64_t i = 0; i < n; i++) out(at, 2)[r * n + i] = y[i] * (dy[i] - (float)dot);
    }
}

static void log_softmax(const struct nd *o, char *const *at, bool grad)
{
    int64_t n = o->t[0].d[o->t[0].n - 1];
    for (int64_t r = 0; r < o->t[0].count / n; r++) {
        const float *x = in(at, 0) + r * n, *dy = in(at, 1) + r * n;
        double sum = 0;
        if (grad) {
            for (int64_t i = 0; i < n; i++) sum += (double)dy[i];
            for (int64_t i = 0; i < n; i++) out(at, 2)[r * n + i] = dy[i] - expf(x[i]) * (float)sum;
            continue;
        }
        float top = x[0];
        for (int64_t i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < n; i++) sum += (double)expf(x[i] - top);
        for (int64_t i = 0; i < n; i++) out(at, 1)[r * n + i] = x[i] - top - (float)log(sum);
    }
}

static int64_t safe(int64_t i, int64_t n)
{
    return i >= 0 && i < n ? i : 0;
}

static void loss(const struct nd *o, char *const *at, bool grad)
{
    int64_t rows = o->t[0].d[0], n = o->t[0].d[1];
    double sum = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t label = safe(ints(at, 1)[r], n);
        if (!grad) {
            const float *x = in(at, 0) + r * n;
            sum += softmax_row(x, out(at, 3) + r * n, n) - (double)x[label];
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            out(at, 2)[r * n + i] = (in(at, 0)[r * n + i] - (i == label ? 1.f : 0.f)) / (float)rows;
    }
    if (!grad) *out(at, 2) = (float)(sum / (double)rows);
}

/* ---- pieces ---- */

static int64_t inner_of(const struct array *t, int axis)
{
    int64_t n = 1;
    for (int k = axis + 1; k < t->n; k++) n *= t->d[k];
    return n;
}

/* copies a part of an axis: of `small` at `begin` within `large` */
static void part_of(const struct nd *o, const struct array *large, const struct array *small, const float *from,
                    float *to, bool take, int64_t begin)
{
    int64_t inner = inner_of(large, o->axis), l = large->d[o->axis] * inner, s = small->d[o->axis] * inner;
    for (int64_t i = 0; i < large->count / l; i++)
        if (take) memcpy(to + i * s, from + i * l + begin * inner, (size_t)s * sizeof *to);
        else memcpy(to + i * l + begin * inner, from + i * s, (size_t)s * sizeof *to);
}

static void gather(const struct nd *o, char *const *at, bool grad)
{
    const struct array *table = &o->t[grad ? 2 : 0];
    int64_t rows = table->d[0], n = table->count / rows, count = o->t[grad ? 0 : 1].count;
    if (grad) memset(at[2], 0, (size_t)table->count * sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        int64_t r = ints(at, grad ? 0 : 1)[i];
        r = safe(r < 0 ? r + rows : r, rows);            /* from the end, as in NumPy */
        if (!grad) memcpy(out(at, 2) + i * n, in(at, 0) + r * n, (size_t)n * sizeof(float));
        else
            for (int64_t k = 0; k < n; k++) out(at, 2)[r * n + k] += in(at, 1)[i * n + k];
    }
}

static void dropout(const struct nd *o, char *const *at)
{
    uint64_t step = (uint64_t)*ints(at, 1), threshold = (uint64_t)(o->rate * 18446744073709551615.);
    float keep = (float)(1 / (1 - o->rate));
    for (int64_t i = 0; i < o->t[0].count; i++) { /* splitmix64 of (seed, step, element) */
        uint64_t z = (o->seed << 40) + (step << 32) * 0x9e3779b9 + (uint64_t)i * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        out(at, 2)[i] = (z ^ z >> 31) < threshold ? 0 : in(at, 0)[i] * keep;
    }
}

static void adam(const struct nd *o, char *const *at)
{
    double t = *ints(at, 4) + 1, c1 = 1 - pow(o->first, t), c2 = 1 - pow(o->second, t);
    float b1 = (float)o->first, b2 = (float)o->second, step = (float)(o->rate / c1), root = (float)sqrt(c2);
    for (int64_t i = 0; i < o->t[0].count; i++) {
        float g = in(at, 1)[i], m = b1 * in(at, 2)[i] + (1 - b1) * g, v = b2 * in(at, 3)[i] + (1 - b2) * g * g;
        out(at, 6)[i] = m;
        out(at, 7)[i] = v;
        out(at, 5)[i] = in(at, 0)[i] - step * m / (sqrtf(v) / root + (float)o->epsilon);
    }
}

void nd_free(struct nd *o)
{
    free(o);
}

size_t nd_scratch(const struct nd *o)
{
    if (o->code == REDUCE) return (size_t)o->t[1].count * sizeof(double);
    if (o->code != CONV && o->code != CONV_X && o->code != CONV_W) return 0;
    const struct array *w = &o->t[o->code == CONV ? 1 : o->code == CONV_X ? 0 : 2], *y = &o->t[o->code == CONV ? 2 : 1];
    return (size_t)(w->d[1] * w->d[2] * w->d[3] * y->d[2] * y->d[3]) * sizeof(float);
}

void nd_run(const struct nd *o, char *const *at, char *scratch)
{
    const struct array *t = o->t;
    float *col = (float *)(void *)scratch;
    switch ((enum nd_code)o->code) {
    case BINARY:
        binary(o, at);
        break;
    case UNARY:
        for (int64_t i = 0; i < t[0].count; i++) out(at, 1)[i] = unary_of(o, in(at, 0)[i]);
        break;
    case UNARY_GRAD:
        for (int64_t i = 0; i < t[0].count; i++) out(at, 2)[i] = in(at, 1)[i] * slope_of(o, in(at, 0)[i]);
        break;
    case REDUCE:
        reduce(o, at, scratch);
        break;
    case EXPAND:
        expand(o, at);
        break;
    case RESHAPE:
        memcpy(at[1], at[0], (size_t)t[0].count * 4);
        break;
    case TRANSPOSE:
        transpose(o, at);
        break;
    case MATMUL:
        matmul(o, at);
        break;
    case CONV:
        conv(o, &t[0], &t[1], &t[2], out(at, 0), out(at, 1), out(at, 2), 2, col);
        break;
    case CONV_X:
        conv(o, &t[2], &t[0], &t[1], out(at, 2), out(at, 0), out(at, 1), 0, col);
        break;
    case CONV_W:
        conv(o, &t[0], &t[2], &t[1], out(at, 0), out(at, 2), out(at, 1), 1, col);
        break;
    case MAXPOOL:
    case MAXPOOL_GRAD:
        pool(o, at, true, o->code == MAXPOOL_GRAD);
        break;
    case AVGPOOL:
    case AVGPOOL_GRAD:
        pool(o, at, false, o->code == AVGPOOL_GRAD);
        break;
    case NORM:
    case NORM_GRAD:
        norm(o, at, o->code == NORM_GRAD);
        break;
    case SOFTMAX:
    case SOFTMAX_GRAD:
        softmax(o, at, o->code == SOFTMAX_GRAD);
        break;
    case LOG_SOFTMAX:
    case LOG_SOFTMAX_GRAD:
        log_softmax(o, at, o->code == LOG_SOFTMAX_GRAD);
        break;
    case CONCAT:
        for (int64_t i = 0, begin = 0; i < o->nin; begin += t[i++].d[o->axis])
            part_of(o, &t[o->nin], &t[i], in(at, (int)i), out(at, o->nin), false, begin);
        break;
    case SLICE:
        part_of(o, &t[0], &t[1], in(at, 0), out(at, 1), true, o->begin);
        break;
    case PAD:
        memset(at[1], 0, (size_t)t[1].count * 4);
        part_of(o, &t[1], &t[0], in(at, 0), out(at, 1), false, o->begin);
        break;
    case GATHER:
    case GATHER_GRAD:
        gather(o, at, o->code == GATHER_GRAD);
        break;
    case UPSAMPLE:
    case UPSAMPLE_GRAD:
        upsample(o, at, o->code == UPSAMPLE_GRAD);
        break;
    case LOSS:
    case LOSS_GRAD:
        loss(o, at, o->code == LOSS_GRAD);
        break;
    case DROPOUT:
        dropout(o, at);
        break;
    case COUNT:
        *(int32_t *)(void *)at[1] = *ints(at, 0) + 1;
        break;
    case SGD:
        for (int64_t i = 0; i < t[0].count; i++) out(at, 2)[i] = in(at, 0)[i] - (float)o->rate * in(at, 1)[i];
        break;
    case ADAM:
        adam(o, at);
        break;
    }
}

/* oneDNN: sgemm for products; for those that something follows the matmul primitive with post-operations; for those of
 * bf16 and int8 that with its weights in the format it likes best, reordered before the clock starts; for convolutions
 * the primitive with the tensors as given, weights that are packed reordered likewise, or (-DANY) all in the formats it
 * likes best; for attention
 * its matmul, softmax in place and matmul, for all heads at once or for one after the other, whichever is faster; of
 * bf16 with scores of bf16; a causal mask is added to them by its binary operation; layernorm is its own, after the
 * matmul, where rmsnorm, which it lacks, is a loop of vectors */
#include "gemm.h"
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

struct product {
    struct gemm g;
    dnnl_primitive_t conv;
    dnnl_memory_t mem[3], plain[3];
    dnnl_primitive_t reorder[3];
    float *own[3];
    dnnl_primitive_t matmul;
    int group;                                           /* of a matmul: 2 (bf16) or 4 (int8), how B is given */
    char *rows;                                          /* B row-major */
    int has_bias, nresidual;                             /* nresidual: which post-operation adds one, or -1 */
    dnnl_memory_t bias, residual;
    dnnl_primitive_t norm;                               /* layernorm of what the matmul left */
    int has_rms;                                         /* or rmsnorm of it, a loop of vectors: it has none itself */
    const float *rms;
    dnnl_memory_t gain, shift;
    struct attention {
        long heads, step, q, k, d;                       /* step: heads in a call */
        const float *v;
        float *s, *mask;
        int causal, bf16;
        dnnl_memory_t masked;
        struct calls { dnnl_primitive_t scores, masking, softmax, sums; dnnl_memory_t a, b, s, v, c; } calls[2];
    } attn;
};
static dnnl_engine_t engine;
static dnnl_stream_t stream;

static int make_conv(struct product *p, int packed, const char **why)
{
    struct gemm *g = &p->g;
    const long one = g->groups > 1, from = g->c / g->groups, to = g->mo / g->groups, taps = g->kh * g->kw;
    dnnl_dims_t src = { g->nimg, g->c, g->h, g->w }, wei = { g->groups, to, from, g->kh, g->kw },
                dst = { g->nimg, g->mo, g->ho, g->wo };
    /* as ours are: groups, outputs, inputs and taps, or taps, groups, inputs and outputs */
    dnnl_dims_t lie = { from * (g->nhwc ? to : to * taps), g->nhwc ? 1 : from * taps, g->nhwc ? to : taps,
                        g->nhwc ? g->kw * g->c * to : g->kw, g->nhwc ? g->c * to : 1 };
    dnnl_dims_t strides = { g->s, g->s }, before = { g->pad[0], g->pad[2] }, after = { g->pad[1], g->pad[3] };
    dnnl_dims_t holes = { g->dilation - 1, g->dilation - 1 };
    dnnl_format_tag_t act = g->nhwc ? dnnl_nhwc : dnnl_nchw;
    dnnl_memory_desc_t d[3], given[3];
    *why = "oneDNN refused the convolution";
    if (!engine &&
        (dnnl_engine_create(&engine, dnnl_cpu, 0) || dnnl_stream_create(&stream, engine, dnnl_stream_default_flags)))
        return 0;
#ifdef ANY
    dnnl_format_tag_t tag[3] = { dnnl_format_tag_any, dnnl_format_tag_any, dnnl_format_tag_any };
#else
    dnnl_format_tag_t tag[3] = { act, packed ? dnnl_format_tag_any : dnnl_format_tag_undef, act };
#endif
    if (dnnl_memory_desc_init_by_tag(&d[0], 4, src, dnnl_f32, tag[0]) ||
        dnnl_memory_desc_init_by_tag(&given[0], 4, src, dnnl_f32, act) ||
        dnnl_memory_desc_init_by_strides(&given[1], 4 + one, wei + !one, dnnl_f32, lie + !one) ||
        (tag[1] == dnnl_format_tag_any
         && dnnl_memory_desc_init_by_tag(&d[1], 4 + one, wei + !one, dnnl_f32, tag[1])) ||
        dnnl_memory_desc_init_by_tag(&d[2], 4, dst, dnnl_f32, tag[2]) ||
        dnnl_memory_desc_init_by_tag(&given[2], 4, dst, dnnl_f32, act))
        return 0;
    dnnl_convolution_desc_t c;
    dnnl_primitive_desc_t pd;
    if (tag[1] == dnnl_format_tag_undef) d[1] = given[1];
    if (dnnl_dilated_convolution_forward_desc_init(&c, dnnl_forward_inference, dnnl_convolution_direct, &d[0], &d[1],
                                                   NULL, &d[2], strides, holes, before, after) ||
        dnnl_primitive_desc_create(&pd, &c, NULL, engine, NULL) || dnnl_primitive_create(&p->conv, pd))
        return 0;
    dnnl_query_t what[3] = { dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md };
    for (int i = 0; i < 3; i++) {
        const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, what[i], 0);
        p->own[i] = dnnl_memory_desc_equal(md, &given[i])
                        ? NULL
                        : aligned_alloc(64, (dnnl_memory_desc_get_size(md) + 127) / 64 * 64);
        if (dnnl_memory_create(&p->mem[i], md, engine, p->own[i] ? (void *)p->own[i] : DNNL_MEMORY_NONE)
            || dnnl_memory_create(&p->plain[i], &given[i], engine, DNNL_MEMORY_NONE))
            return 0;
        dnnl_primitive_desc_t r;
        if (!p->own[i]) continue;
        if (dnnl_reorder_primitive_desc_create(&r, i == 2 ? md : &given[i], engine, i == 2 ? &given[i] : md, engine,
                                               NULL) ||
            dnnl_primitive_create(&p->reorder[i], r))
            return 0;
    }
    return 1;
}

static int make_norm(struct product *p, const dnnl_memory_desc_t *md, long n)
{
    dnnl_layer_normalization_desc_t d;
    dnnl_primitive_desc_t pd;
    dnnl_memory_desc_t row;
    dnnl_dims_t dims = { n };
    return !dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, md, NULL, 1e-5f,
                                                       dnnl_use_scale | dnnl_use_shift) &&
           !dnnl_primitive_desc_create(&pd, &d, NULL, engine, NULL) && !dnnl_primitive_create(&p->norm, pd) &&
           !dnnl_memory_desc_init_by_tag(&row, 1, dims, dnnl_f32, dnnl_a) &&
           !dnnl_memory_create(&p->gain, &row, engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&p->shift, &row, engine, DNNL_MEMORY_NONE);
}

/* " (then bias gelu ..)" as post-operations, as far as it has them: a bias comes first */
static int follow(struct product *p, const char *then, long m, long n, dnnl_primitive_attr_t attr, int *half)
{
    dnnl_post_ops_t ops;
    dnnl_dims_t dims = { m, n };
    dnnl_memory_desc_t md;
    int nop = 0;
    char word[16];
    if (dnnl_post_ops_create(&ops) || dnnl_memory_desc_init_by_tag(&md, 2, dims, dnnl_f32, dnnl_ab)) return 0;
    then += strspn(then, " (then");
    for (int used; sscanf(then, "%15[a-z0-9]%n", word, &used) == 1; nop++) {
        then += used + strspn(then + used, " ");
        if (!strcmp(word, "bias")) {
            if (nop) return 0;
            p->has_bias = 1;
        } else if (!strcmp(word, "residual")) {
            p->nresidual = dnnl_post_ops_len(ops);
            if (dnnl_post_ops_append_binary(ops, dnnl_binary_add, &md) ||
                dnnl_memory_create(&p->residual, &md, engine, DNNL_MEMORY_NONE)) return 0;
        } else if (!strcmp(word, "relu")) {
            if (dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0)) return 0;
        } else if (!strcmp(word, "gelu")) {
            if (dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_gelu_erf, 0, 0)) return 0;
        } else if (!strcmp(word, "bf16")) {
            *half = 1;
        } else if (!strcmp(word, "rmsnorm") && *then == ')') {
            p->has_rms = 1;
        } else if (!strcmp(word, "layernorm") && *then == ')') {
            if (!make_norm(p, &md, n)) return 0;
        } else {
            return 0;
        }
    }
    return *then == ')' && !dnnl_primitive_attr_set_post_ops(attr, ops);
}

static int make_matmul(struct product *p, const char *kind, const long *z, const char **why)
{
    int bf16 = !strncmp(kind, "mm_bf16", 7), f32 = !strncmp(kind, "mm ", 3), half = 0;
    const char *then = strchr(kind, ' ');
    dnnl_primitive_attr_t attr = NULL;
    p->group = f32 ? 1 : bf16 ? 2 : 4;
    p->nresidual = -1;
    p->g.m = z[0], p->g.n = z[1], p->g.k = z[2];
    dnnl_data_type_t type[3] = { f32 ? dnnl_f32 : bf16 ? dnnl_bf16 : strncmp(kind, "mm_u8", 5) ? dnnl_s8 : dnnl_u8,
                                 f32 ? dnnl_f32 : bf16 ? dnnl_bf16 : dnnl_s8,
                                 f32 || bf16 || then ? dnnl_f32 : dnnl_s32 };
    dnnl_dims_t dims[3] = { { z[0], z[2] }, { z[2], z[1] }, { z[0], z[1] } };
    dnnl_memory_desc_t d[3], rows;
    dnnl_matmul_desc_t c;
    dnnl_primitive_desc_t pd, r;
    *why = "oneDNN refused the product";
    if (!engine &&
        (dnnl_engine_create(&engine, dnnl_cpu, 0) || dnnl_stream_create(&stream, engine, dnnl_stream_default_flags)))
        return 0;
    if (then && (dnnl_primitive_attr_create(&attr) || !follow(p, then, z[0], z[1], attr, &half))) {
        *why = "oneDNN has no such post-operations";
        return 0;
    }
    if (half) type[2] = dnnl_bf16;
    for (int i = 0; i < 3; i++)
        if (dnnl_memory_desc_init_by_tag(&d[i], 2, dims[i], type[i], i == 1 && !f32 ? dnnl_format_tag_any : dnnl_ab))
            return 0;
    dnnl_dims_t across = { 1, z[1] };
    dnnl_memory_desc_t bias;
    if (dnnl_memory_desc_init_by_tag(&rows, 2, dims[1], type[1], dnnl_ab) ||
        dnnl_memory_desc_init_by_tag(&bias, 2, across, dnnl_f32, dnnl_ab) ||
        dnnl_memory_create(&p->bias, &bias, engine, DNNL_MEMORY_NONE) ||
        dnnl_matmul_desc_init(&c, &d[0], &d[1], p->has_bias ? &bias : NULL, &d[2]) ||
        dnnl_primitive_desc_create(&pd, &c, attr, engine, NULL) || dnnl_primitive_create(&p->matmul, pd))
        return 0;
    if (f32)
        return !dnnl_memory_create(&p->mem[0], &d[0], engine, DNNL_MEMORY_NONE) &&
               !dnnl_memory_create(&p->mem[1], &d[1], engine, DNNL_MEMORY_NONE) &&
               !dnnl_memory_create(&p->mem[2], &d[2], engine, DNNL_MEMORY_NONE);
    const dnnl_memory_desc_t *own = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    p->own[1] = aligned_alloc(64, (dnnl_memory_desc_get_size(own) + 127) / 64 * 64);
    p->rows = malloc((size_t)(p->g.k * p->g.n * (bf16 ? 2 : 1)));
    return !dnnl_memory_create(&p->mem[0], &d[0], engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&p->mem[1], own, engine, p->own[1]) &&
           !dnnl_memory_create(&p->mem[2], &d[2], engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&p->plain[1], &rows, engine, p->rows) &&
           !dnnl_reorder_primitive_desc_create(&r, &rows, engine, own, engine, NULL) &&
           !dnnl_primitive_create(&p->reorder[1], r);
}

static int make_calls(struct attention *t, struct calls *c, long h)
{
    dnnl_dims_t a = { h, t->q, t->d }, b = { h, t->d, t->k }, s = { h, t->q, t->k }, v = { h, t->k, t->d };
    dnnl_memory_desc_t da, db, ds, dv;
    dnnl_matmul_desc_t one, two;
    dnnl_softmax_desc_t soft;
    dnnl_primitive_desc_t p1, p2, p3;
    dnnl_primitive_attr_t attr;
    float scale = 1 / sqrtf((float)t->d);
    dnnl_data_type_t type = t->bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_memory_desc_t dm, dc;
    dnnl_dims_t m = { 1, t->q, t->k };
    dnnl_binary_desc_t hide;
    dnnl_primitive_desc_t p4;
    if (dnnl_memory_desc_init_by_tag(&dm, 3, m, dnnl_f32, dnnl_abc) ||
        dnnl_memory_desc_init_by_tag(&dc, 3, a, dnnl_f32, dnnl_abc) ||
        dnnl_memory_desc_init_by_tag(&ds, 3, s, type, dnnl_abc) ||
        (t->causal && (dnnl_memory_create(&t->masked, &dm, engine, t->mask) ||
                       dnnl_binary_desc_init(&hide, dnnl_binary_add, &ds, &dm, &ds) ||
                       dnnl_primitive_desc_create(&p4, &hide, NULL, engine, NULL) ||
                       dnnl_primitive_create(&c->masking, p4)))) return 0;
    return !dnnl_memory_desc_init_by_tag(&da, 3, a, type, dnnl_abc) &&
           !dnnl_memory_desc_init_by_tag(&db, 3, b, type, dnnl_acb) &&
           !dnnl_memory_desc_init_by_tag(&ds, 3, s, type, dnnl_abc) &&
           !dnnl_memory_desc_init_by_tag(&dv, 3, v, type, dnnl_abc) && !dnnl_primitive_attr_create(&attr) &&
           !dnnl_primitive_attr_set_output_scales(attr, 1, 0, &scale) &&
           !dnnl_matmul_desc_init(&one, &da, &db, NULL, &ds) && !dnnl_matmul_desc_init(&two, &ds, &dv, NULL, &dc) &&
           !dnnl_softmax_forward_desc_init(&soft, dnnl_forward_inference, &ds, 2) &&
           !dnnl_primitive_desc_create(&p1, &one, attr, engine, NULL) && !dnnl_primitive_create(&c->scores, p1) &&
           !dnnl_primitive_desc_create(&p2, &soft, NULL, engine, NULL) && !dnnl_primitive_create(&c->softmax, p2) &&
           !dnnl_primitive_desc_create(&p3, &two, NULL, engine, NULL) && !dnnl_primitive_create(&c->sums, p3) &&
           !dnnl_memory_create(&c->a, &da, engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&c->b, &db, engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&c->s, &ds, engine, t->s) &&
           !dnnl_memory_create(&c->v, &dv, engine, DNNL_MEMORY_NONE) &&
           !dnnl_memory_create(&c->c, &dc, engine, DNNL_MEMORY_NONE);
}

static int make_attention(struct product *p, const char *kind, const long *z, const char **why)
{
    struct attention *t = &p->attn;
    *t = (struct attention){ .heads = z[0], .step = z[0], .q = z[1], .k = z[2], .d = z[3],
                              .causal = !strncmp(kind, "attn_causal", 11), .bf16 = strstr(kind, "bf16") != NULL };
    t->mask = t->causal ? malloc((size_t)(t->q * t->k) * sizeof *t->mask) : NULL;
    for (long i = 0; i < t->q && t->mask; i++)
        for (long j = 0; j < t->k; j++) t->mask[i * t->k + j] = j > i + t->k - t->q ? -INFINITY : 0;
    t->s = aligned_alloc(64, (size_t)(t->heads * t->q * t->k * 4 + 127) / 64 * 64);
    *why = "oneDNN refused the attention";
    return t->s && !dnnl_engine_create(&engine, dnnl_cpu, 0) &&
           !dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) && make_calls(t, &t->calls[0], t->heads) &&
           make_calls(t, &t->calls[1], 1);
}

static void call(dnnl_primitive_t p, dnnl_memory_t src, dnnl_memory_t weights, dnnl_memory_t dst)
{
    dnnl_exec_arg_t arg[3] = { { DNNL_ARG_SRC, src }, { DNNL_ARG_DST, dst }, { DNNL_ARG_WEIGHTS, weights } };
    dnnl_primitive_execute(p, stream, weights ? 3 : 2, arg);
}

static void run_attention(struct attention *t, float *c, const float *a, const float *b)
{
    struct calls *x = &t->calls[t->step == 1];
    for (long h = 0; h < t->heads; h += t->step) {
        const long bytes = t->bf16 ? 2 : 4;
        dnnl_memory_set_data_handle(x->a, (char *)a + h * t->q * t->d * bytes);
        dnnl_memory_set_data_handle(x->b, (char *)b + h * t->k * t->d * bytes);
        dnnl_memory_set_data_handle(x->v, (char *)t->v + h * t->k * t->d * bytes);
        dnnl_memory_set_data_handle(x->c, c + h * t->q * t->d);
        call(x->scores, x->a, x->b, x->s);
        dnnl_exec_arg_t arg[3] = { { DNNL_ARG_SRC_0, x->s }, { DNNL_ARG_SRC_1, t->masked }, { DNNL_ARG_DST, x->s } };
        if (t->causal) dnnl_primitive_execute(x->masking, stream, 3, arg);
        call(x->softmax, x->s, NULL, x->s);
        call(x->sums, x->s, x->v, x->c);
    }
    dnnl_stream_wait(stream);
}

static double seconds_of(struct attention *t, float *c, const float *a, const float *b)
{
    double best = 1e9;
    for (int i = 0; i < 6; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        run_attention(t, c, a, b);
        clock_gettime(CLOCK_MONOTONIC, &to);
        double s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
        if (s < best) best = s;
    }
    return best;
}

void *peer_open(const char *kind, const long *size, const char **why)
{
    struct product *p = calloc(1, sizeof *p);
    if (!strncmp(kind, "mm_bf16", 7) || !strncmp(kind, "mm_u8s8", 7) ||
        !strncmp(kind, "mm_s8s8", 7) || !strncmp(kind, "mm (", 4))
        return make_matmul(p, kind, size, why) ? p : NULL;
    if (!strncmp(kind, "attn", 4)) return make_attention(p, kind, size, why) ? p : NULL;
    if (!gemm_init(&p->g, kind, size, why)) return NULL;
    if (p->g.conv && !make_conv(p, strstr(kind, "(weights") != NULL, why)) return NULL;
    return p;
}

static void mul(int ta, int tb, long m, long n, long k, const float *a, long lda, const float *b, long ldb, float *c,
                long ldc)
{
    dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}

static void reorder(struct product *p, int i)
{
    dnnl_memory_t from = i == 2 ? p->mem[i] : p->plain[i], to = i == 2 ? p->plain[i] : p->mem[i];
    dnnl_exec_arg_t arg[2] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } };
    dnnl_primitive_execute(p->reorder[i], stream, 2, arg);
    dnnl_stream_wait(stream);
}

/* what follows the sum reads these */
void peer_extra(void *data, const float *bias, const float *residual)
{
    struct product *p = data;
    p->attn.v = bias;                                    /* the fourth tensor comes in its place */
    if (p->bias) dnnl_memory_set_data_handle(p->bias, (void *)bias);
    p->rms = p->has_rms ? bias + p->g.n : NULL;
    if (p->norm) dnnl_memory_set_data_handle(p->gain, (void *)(bias + p->g.n));
    if (p->norm) dnnl_memory_set_data_handle(p->shift, (void *)(bias + 2 * p->g.n));
    if (p->residual) dnnl_memory_set_data_handle(p->residual, (void *)residual);
}

/* once, before the clock */
void peer_prepare(void *data, float *c, const float *a, const float *b)
{
    struct product *p = data;
    void *x[3] = { (void *)a, (void *)b, c };
    if (p->attn.heads) {
        double all = seconds_of(&p->attn, c, a, b);
        p->attn.step = 1;
        if (all < seconds_of(&p->attn, c, a, b)) p->attn.step = p->attn.heads;
        return;
    }
    if (p->matmul && p->group == 1) return;
    if (p->matmul) {
        long g = p->group, bytes = g == 2 ? 2 : 1;       /* from groups of the reduction to rows */
        for (long k = 0; k < p->g.k; k++)
            for (long n = 0; n < p->g.n; n++)
                memcpy(p->rows + (k * p->g.n + n) * bytes,
                       (const char *)b + ((k / g * p->g.n + n) * g + k % g) * bytes, (size_t)bytes);
        reorder(p, 1);
        return;
    }
    for (int i = 0; p->g.conv && i < 3; i++) {
        dnnl_memory_set_data_handle(p->own[i] ? p->plain[i] : p->mem[i], x[i]);
        if (p->own[i] && i < 2) reorder(p, i);
    }
}

/* once, after it, to have the result where it is wanted */
void peer_finish(void *data)
{
    struct product *p = data;
    if (p->g.conv && p->own[2]) reorder(p, 2);
}

typedef float wide __attribute__((vector_size(64), aligned(4), may_alias));

static void rms_row(float *c, long n, const float *gain)
{
    wide sum[2] = { { 0 } };
    float all = 1e-5f * (float)n;
    long i = 0;
    for (; i + 32 <= n; i += 32)
        for (int j = 0; j < 2; j++) sum[j] += *(wide *)(c + i + 16 * j) * *(wide *)(c + i + 16 * j);
    for (int j = 0; j < 16; j++) all += sum[0][j] + sum[1][j];
    for (; i < n; i++) all += c[i] * c[i];
    float by = 1 / sqrtf(all / (float)n);
    for (i = 0; i + 16 <= n; i += 16) *(wide *)(c + i) = *(wide *)(c + i) * by * *(const wide *)(gain + i);
    for (; i < n; i++) c[i] *= by * gain[i];
}

void peer_run(void *data, float *c, const float *a, const float *b)
{
    struct product *p = data;
    if (p->attn.heads) {
        run_attention(&p->attn, c, a, b);
        return;
    }
    if (p->matmul) {
        dnnl_exec_arg_t arg[5] = { { DNNL_ARG_SRC, p->mem[0] },
                                   { DNNL_ARG_WEIGHTS, p->mem[1] },
                                   { DNNL_ARG_DST, p->mem[2] } };
        int n = 3;
        if (p->has_bias) arg[n++] = (dnnl_exec_arg_t){ DNNL_ARG_BIAS, p->bias };
        if (p->nresidual >= 0)
            arg[n++] = (dnnl_exec_arg_t){ DNNL_ARG_ATTR_MULTIPLE_POST_OP(p->nresidual) | DNNL_ARG_SRC_1, p->residual };
        dnnl_memory_set_data_handle(p->mem[0], (void *)a);
        if (p->group == 1) dnnl_memory_set_data_handle(p->mem[1], (void *)b);
        dnnl_memory_set_data_handle(p->mem[2], c);
        dnnl_primitive_execute(p->matmul, stream, n, arg);
        dnnl_exec_arg_t rows[4] = { { DNNL_ARG_SRC, p->mem[2] }, { DNNL_ARG_DST, p->mem[2] },
                                    { DNNL_ARG_SCALE, p->gain }, { DNNL_ARG_SHIFT, p->shift } };
        if (p->norm) dnnl_primitive_execute(p->norm, stream, 4, rows);
        dnnl_stream_wait(stream);
        for (long i = 0; i < p->g.m && p->rms; i++) rms_row(c + i * p->g.n, p->g.n, p->rms);
        return;
    }
    if (!p->g.conv) {
        struct gemm *g = &p->g;
        GEMM_RUN(g, c, a, b, mul);
        return;
    }
    dnnl_exec_arg_t arg[3] = { { DNNL_ARG_SRC, p->mem[0] },
                               { DNNL_ARG_WEIGHTS, p->mem[1] },
                               { DNNL_ARG_DST, p->mem[2] } };
    dnnl_primitive_execute(p->conv, stream, 3, arg);
    dnnl_stream_wait(stream);
}

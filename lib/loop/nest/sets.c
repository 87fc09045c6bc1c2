/* sets of problems: the layers of networks, from their papers, and contractions written as einsum; see grid.h */
#include "base/message.h"
#include "base/num.h"
#include "loop/nest/grid.h"
#include <stdlib.h>
#include <string.h>

/* Devlin et al. 2018: BERT-base, 12 heads of 64, hidden 768, inner 3072.  Zhang et al. 2024: TinyLlama 1.1B, hidden
 * 2048, keys and values 256, inner 5632. */
static const struct { const char *set; int n, k; } dense[] = {
    { "bert", 768, 768 }, { "bert", 3072, 768 }, { "bert", 768, 3072 },
    { "llama", 2048, 2048 }, { "llama", 256, 2048 }, { "llama", 5632, 2048 }, { "llama", 2048, 5632 } };

/* c h m k s; half a window of zeros lies around */
static const short resnet50[][5] = { { 3, 224, 64, 7, 2 },    { 64, 56, 64, 1, 1 },    { 64, 56, 64, 3, 1 },
                                     { 64, 56, 256, 1, 1 },   { 256, 56, 64, 1, 1 },   { 256, 56, 128, 1, 1 },
                                     { 128, 56, 128, 3, 2 },  { 128, 28, 512, 1, 1 },  { 256, 56, 512, 1, 2 },
                                     { 512, 28, 128, 1, 1 },  { 128, 28, 128, 3, 1 },  { 512, 28, 256, 1, 1 },
                                     { 256, 28, 256, 3, 2 },  { 256, 14, 1024, 1, 1 }, { 512, 28, 1024, 1, 2 },
                                     { 1024, 14, 256, 1, 1 }, { 256, 14, 256, 3, 1 },  { 1024, 14, 512, 1, 1 },
                                     { 512, 14, 512, 3, 2 },  { 512, 7, 2048, 1, 1 },  { 1024, 14, 2048, 1, 2 },
                                     { 2048, 7, 512, 1, 1 },  { 512, 7, 512, 3, 1 },   { 0 } };
static const short vgg19[][5] = { { 3, 224, 64, 3, 1 },    { 64, 224, 64, 3, 1 },  { 64, 112, 128, 3, 1 },
                                  { 128, 112, 128, 3, 1 }, { 128, 56, 256, 3, 1 }, { 256, 56, 256, 3, 1 },
                                  { 256, 28, 512, 3, 1 },  { 512, 28, 512, 3, 1 }, { 512, 14, 512, 3, 1 }, { 0 } };

/* expansion, channels, repeats, stride, kernel; Sandler et al. 2018, table 2; Tan and Le 2019, table 1 (B0, without
 * squeeze and excitation) */
struct bottleneck { int t, c, n, s, k; };
static const struct bottleneck mobilenet2[] = { { 1, 16, 1, 1, 3 }, { 6, 24, 2, 2, 3 }, { 6, 32, 3, 2, 3 },
                                                { 6, 64, 4, 2, 3 }, { 6, 96, 3, 1, 3 }, { 6, 160, 3, 2, 3 },
                                                { 6, 320, 1, 1, 3 }, { 0 } };
static const struct bottleneck efficientnet[] = { { 1, 16, 1, 1, 3 }, { 6, 24, 2, 2, 3 }, { 6, 40, 2, 2, 5 },
                                                  { 6, 80, 3, 2, 3 }, { 6, 112, 3, 1, 5 }, { 6, 192, 4, 2, 5 },
                                                  { 6, 320, 1, 1, 3 }, { 0 } };

/* products that are hard for another reason than their size: one, two or three rows or columns; wide rows; odd */
static const char *const thin[] = { "(mm 384 1 384)", "(mm 512 2 512)", "(mm 2048 3 128)", "(mm 1 1000 1000)",
                                    "(mm 1 768 768)", "(mm 2 1024 512)", "(mm_nt 1 1000 1000)", "(mm_tn 384 1 384)",
                                    NULL };
static const char *const large[] = { "(mm 513 513 513)", "(mm 640 640 640)", "(mm 768 768 768)", "(mm 520 650 777)",
                                     "(mm 1024 1024 1024)", "(mm 1000 1000 1000)", "(mm 1024 512 768)",
                                     "(mm 576 1024 640)", NULL };

/* BERT-base and GPT-2 small have 12 heads of 64; ViT-B/16 sees 197 patches; others for their head sizes */
static const char *const attention[] = { "(attn 12 128 128 64)", "(attn 12 197 197 64)", "(attn 12 512 512 64)",
                                         "(attn 12 1024 1024 64)", "(attn 8 256 256 32)", "(attn 8 1024 1024 32)",
                                         "(attn 4 512 512 96)", "(attn 8 128 128 128)", "(attn 4 512 512 128)",
                                         "(attn 2 2048 2048 128)", NULL };

/* ViT-B/16 (Dosovitskiy et al. 2021): patches, queries with keys and values, heads, out, both of the perceptron.
 * Whisper, tiny (Radford et al. 2022): 1500 frames of width 384; then a token, its words last.  Rows: a few of a batch.
 * ResNeXt-50, 32 groups (Xie et al. 2017) */
static const char *const vit[] = { "(mm 196 768 768)", "(mm 197 2304 768)", "(attn 12 197 197 64)", "(mm 197 768 768)",
                                   "(mm 197 3072 768)", "(mm 197 768 3072)", NULL };
static const char *const whisper[] = { "(mm 1500 384 384)", "(attn 6 1500 1500 64)", "(mm 1500 1536 384)",
                                       "(mm 1500 384 1536)", "(mm 1 1536 384)", "(mm 1 51865 384)", NULL };
static const char *const rows[] = { "(mm 4 768 768)", "(mm 5 1000 2048)", "(mm 6 64 512)", "(mm 8 3072 768)",
                                    "(mm 12 256 256)", "(mm 16 1024 1024)", "(mm 24 768 3072)", "(mm 32 512 2048)",
                                    NULL };
#define GROUPED(size, width) "(nest (sizes (y " #size ") (x " #size ") (g 32) (m " #width ") (c " #width ") (p 3) " \
    "(q 3)) (A (pad 1 1 (+ y p)) (pad 1 1 (+ x q)) g c) (B p q g c m) (C y x g m))"
static const char *const grouped[] = { GROUPED(56, 4), GROUPED(28, 8), GROUPED(14, 16), GROUPED(7, 32), NULL };

static const struct { const char *name; const char *const *problem; } lists[] = {
    { "thin", thin }, { "large", large }, { "attention", attention }, { "vit", vit }, { "whisper", whisper },
    { "rows", rows }, { "grouped", grouped } };

/* square images and windows, half of one of zeros around */
static void conv(struct grid *g, bool nhwc, int c, int size, int m, int kernel, int stride)
{
    char *pad = kernel > 1 ? xformat(" (pad %d)", kernel / 2) : xstrdup("");
    grid_add(g, xformat("(%s 1 %d %d %d %d %d %d %d%s)", nhwc ? "conv_nhwc" : "conv", c, size, size, m, kernel, kernel,
                        stride, pad));
    free(pad);
}

static void depthwise(struct grid *g, bool nhwc, int c, int size, int kernel, int stride) /* size: of the result */
{
    int before = kernel / 2, after = stride == 1 ? before : before - 1;  /* strided, the last zeros are in no window */
    char *row = xformat(stride == 1 ? "(pad %d %d (+ y p))" : "(pad %d %d (+ (* 2 y) p))", before, after);
    char *col = xformat(stride == 1 ? "(pad %d %d (+ x q))" : "(pad %d %d (+ (* 2 x) q))", before, after);
    grid_add(g, nhwc ? xformat("(nest (sizes (c %d) (y %d) (x %d) (p %d) (q %d)) (A %s %s c) (B p q c) (C y x c))", c,
                               size, size, kernel, kernel, row, col)
                     : xformat("(nest (sizes (c %d) (y %d) (x %d) (p %d) (q %d)) (A c %s %s) (B c p q) (C c y x))", c,
                               size, size, kernel, kernel, row, col));
    free(row);
    free(col);
}

static void bottlenecks(struct grid *g, const struct bottleneck *b, bool nhwc)
{
    int c = 32, size = 112;
    conv(g, nhwc, 3, 224, 32, 3, 2);
    for (; b->t; b++)
        for (int k = 0; k < b->n; k++) {
            int s = k ? 1 : b->s, inner = c * b->t;
            if (inner > c) conv(g, nhwc, c, size, inner, 1, 1);
            size /= s;
            depthwise(g, nhwc, inner, size, b->k, s);
            conv(g, nhwc, inner, size, b->c, 1, 1);
            c = b->c;
        }
    conv(g, nhwc, c, size, 1280, 1, 1);
}

void grid_set(struct grid *g, const char *set, enum grid_type type, bool nhwc, int tokens)
{
    static const char *const product[] = { "mm", "mm_bf16", "mm_u8s8", "mm_s8s8" };
    const char *kind = product[type];
    bool plain = type == GRID_F32, bert = !strcmp(set, "bert");
    if (bert || !strcmp(set, "llama")) {
        for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
            if (!strcmp(dense[i].set, set)) grid_add(g, xformat("(%s %d %d %d)", kind, tokens, dense[i].n, dense[i].k));
        if (plain && bert && tokens > 1) {      /* all heads: scores, and what they weigh */
            grid_add(g, xformat("(nest (sizes (h 12) (q %d) (k %d) (d 64)) (A h q d) (B h k d) (C h q k))", tokens,
                                tokens));
            grid_add(g, xformat("(bmm 12 %d 64 %d)", tokens, tokens));
        }
        return;
    }
    if (!plain) usage("--set=%s is of f32 alone", set);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(set, lists[i].name)) {
            for (const char *const *p = lists[i].problem; *p; p++) grid_add(g, xstrdup(*p));
            return;
        }
    if (!strcmp(set, "causal")) {                        /* the same as attention, masked */
        for (const char *const *list = attention; *list; list++)
            grid_add(g, xformat("(attn_causal%s", *list + strlen("(attn")));
        return;
    }
    if (!strcmp(set, "mobilenet2")) bottlenecks(g, mobilenet2, nhwc);
    else if (!strcmp(set, "efficientnet")) bottlenecks(g, efficientnet, nhwc);
    else
        for (const short (*l)[5] = strcmp(set, "vgg19") ? resnet50 : vgg19; **l; l++)
            conv(g, nhwc, (*l)[0], (*l)[1], (*l)[2], (*l)[3], (*l)[4]);
}

static void index_text(struct buf *b, char tensor, const char *s, size_t n)
{
    buf_format(b, " (%c", tensor);
    for (size_t i = 0; i < n; i++) buf_format(b, " %c", s[i]);
    buf_char(b, ')');
}

void grid_einsum(struct grid *g, const char *einsum, const char *const *sizes, int nsize,
                 const char *mid)
{
    const char *comma = strchr(einsum, ','), *arrow = strstr(einsum, "->");
    const char *next = comma ? strchr(comma + 1, ',') : NULL;
    if (!comma || !arrow || comma > arrow || (next && (next > arrow || strchr(next + 1, ','))))
        usage("--einsum=%s: expected two or three tensors and a result, such as mk,kn->mn", einsum);
    if (mid && !next) usage("--mid needs an einsum of three tensors, such as mk,nk,no->mo");
    struct buf b = { 0 };
    bool seen[128] = { false };
    buf_format(&b, "(nest (sizes");
    for (const char *s = einsum; *s; s++) {
        if (s == comma || s == next || s == arrow || s == arrow + 1) continue;
        if (*s < 'a' || *s > 'z') usage("--einsum=%s: an index is a letter, not '%c'", einsum, *s);
        if (seen[(int)*s]) continue;
        seen[(int)*s] = true;
        const char *value = NULL;
        for (int i = 0; i < nsize; i++)
            if (sizes[i][0] == *s && sizes[i][1] == '=') value = sizes[i] + 2;
        int64_t n;
        if (!value || !int_parse(value, strlen(value), &n)) usage("--einsum needs --size=%c=N", *s);
        buf_format(&b, " (%c %lld)", *s, (long long)n);
    }
    buf_char(&b, ')');
    index_text(&b, 'A', einsum, (size_t)(comma - einsum));
    index_text(&b, 'B', comma + 1, (size_t)((next ? next : arrow) - comma - 1));
    if (next) index_text(&b, 'V', next + 1, (size_t)(arrow - next - 1));
    index_text(&b, 'C', arrow + 2, strlen(arrow + 2));
    if (mid) buf_format(&b, " (mid %s)", mid);
    for (size_t i = 0; i < b.n; i++)
        if (b.s[i] == ',') b.s[i] = ' ';
    buf_char(&b, ')');
    struct problem p;
    problem_parse(&p, (str){ b.s, b.n }, "--einsum");
    free(b.s);
    grid_add(g, xstrdup(p.text));
}

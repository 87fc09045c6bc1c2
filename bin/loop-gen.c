/* loop-gen - problems for loop nests: a grid of sizes, or layers of a network
 *
 * Usage: loop-gen --kind=mm --m=64:256:16 --n=... --k=...
 *        loop-gen --set=resnet50 [--layout=nhwc]
 *        loop-gen --set=bert [--type=bf16] [--tokens=128]
 *        loop-gen --einsum='bqd,bkd->bqk' --size=b=12 --size=q=128 ...
 *
 * Columns out: problem, split (train or test).  One row for each combination
 * of sizes, the last named size varying fastest.  A size is a list of
 * numbers and ranges: 8,16 or 64:256 or 64:256:16 (the end counts) or 8|16.
 * Sizes of a kind, in the order of its text:
 *   mm mm_nt mm_tn mm_tt: m n k     bmm: b m n k
 *   mm_bf16 mm_u8s8 mm_s8s8: m n k, k a multiple of 2 or 4
 *   mm_q4 mm_q4z: m n k g, g a multiple of 8 that divides k
 *   attn attn_causal: h q k d, softmax(A B^T / sqrt d) V of h heads, masked
 *   conv conv_nhwc: n c h w m kh kw s (w is h, kw is kh, n and s are 1 when
 *   not given; --pad=1 has zeros around each image, h and w are without them)
 *   point reduce transp: i j
 * Sets are the distinct convolutions of a network at batch 1
 * (resnet50, vgg19, mobilenet2 and efficientnet, B0, with their depthwise
 * layers, without squeeze and excitation), or the dense layers
 * of one for so many tokens (bert: BERT-base, with attention where the type is
 * f32; llama: TinyLlama 1.1B; --tokens=1 is decoding), or attention of heads
 * of 32 to 128 for 128 to 2048 tokens (causal: with that mask), or products
 * that are hard because they are thin or large (513 to 1024) or have 4 to 32
 * rows, or the layers of ViT-B/16, of Whisper tiny, the grouped convolutions
 * of ResNeXt-50.  --einsum is one
 * contraction of two tensors, an index a letter; or two contractions of three
 * (bqd,bkd,bke->bqe) with --mid between them, such as "(over 8),softmax".
 * With --sample=N not all combinations but N of them, drawn by seed: each
 * item of a list is as likely, in a range each octave; w and kw not given
 * are h and kh.
 * --then has something done with each element of the result, such as
 * bias,gelu or (over 8),residual; see nest.h.
 * With --type=f64 tensors are of doubles, with f16 inputs are stored as such,
 * of any problem that is a sum of products; so with bf16, but bert and llama
 * have products of bf16 then.
 * With --permute every problem comes in each order of its untiled loops.
 * The split is drawn by seed; of N problems ceil((1 - test) (N - 1)) train.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16
 *   $ loop-gen --set=vgg19 --layout=nhwc --test=0
 */
#include "base/filter.h"
#include "base/rng.h"
#include "loop/nest/grid.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *einsum, *size[15];
static enum { NCHW, NHWC } layout = NCHW;
static enum { F32, BF16, U8S8, S8S8, F64, F16 } type = F32;   /* the first four as enum grid_type */
static int set = -1;
static int kind = -1;
static struct list index_size;
static double test = 0.1;
static long seed = 1, sample, tokens = 128;
static bool permute;
static const char *then, *mid, *pad;
static const char *const names[] = { "m", "n", "k", "b", "c", "h", "w", "kh", "kw", "s", "i", "j", "q", "d", "g" };
#define SIZE_OPTION(name, i) { 0, name, STR, &size[i], "SIZES", "sizes of " name }
static const struct opt options[] = {
    { 0, "kind", WORD, &kind, "mm|mm_nt|mm_tn|mm_tt|mm_bf16|mm_u8s8|mm_s8s8|mm_q4|mm_q4z|bmm|conv|conv_nhwc|attn|"
      "attn_causal|point|reduce|transp",
      "kind of problem" },
    { 0, "set", WORD, &set, "resnet50|vgg19|mobilenet2|efficientnet|bert|llama|attention|causal|thin|large|vit|whisper|"
      "rows|grouped",
      "layers of a network instead" },
    { 0, "type", WORD, &type, "f32|bf16|u8s8|s8s8|f64|f16", "type of tensors; u8s8, s8s8 of bert, llama" },
    { 0, "tokens", INT, &tokens, "N", "rows of a set's products", 1, 65536 },
    { 0, "einsum", STR, &einsum, "TEXT", "one contraction, such as mk,kn->mn, instead" },
    { 0, "size", LIST, &index_size, "X=N", "size of an index of it; once for each" },
    { 0, "layout", WORD, &layout, "nchw|nhwc", "layout of a set's tensors" },
    SIZE_OPTION("m", 0), SIZE_OPTION("n", 1), SIZE_OPTION("k", 2), SIZE_OPTION("b", 3), SIZE_OPTION("c", 4),
    SIZE_OPTION("h", 5), SIZE_OPTION("w", 6), SIZE_OPTION("kh", 7), SIZE_OPTION("kw", 8),
    { 0, "s", STR, &size[9], "SIZES", "stride of a convolution" },
    SIZE_OPTION("i", 10), SIZE_OPTION("j", 11), SIZE_OPTION("q", 12), SIZE_OPTION("d", 13),
    { 0, "g", STR, &size[14], "SIZES", "rows of weights of 4 bits with one scale" },
    { 0, "pad", STR, &pad, "ZEROS", "around a convolution's images: 1 or ROWS,COLUMNS or TOP,BOTTOM,LEFT,RIGHT" },
    { 0, "then", STR, &then, "WORDS",
      "what follows each sum: bias,residual,relu,(clip 0 6),gelu,layernorm,(over 8),bf16" },
    { 0, "mid", STR, &mid, "WORDS", "what an einsum has between two contractions: (over 8),relu,gelu,causal,softmax" },
    { 0, "permute", FLAG, &permute, NULL, "every order of the untiled loops" },
    { 0, "test", NUM, &test, "SHARE", "share of problems to test on", 0, 1 },
    { 0, "sample", INT, &sample, "N", "draw so many instead of all", 0, 100000 },
    { 's', "seed", INT, &seed, "N", "seed of the split and the sample" },
    { 0 } };

static const char *given(const char *param)
{
    for (int i = 0; i < 15; i++)
        if (!strcmp(names[i], param) && size[i]) return size[i];
    if (!strcmp(param, "w")) return given("h");
    if (!strcmp(param, "kw")) return given("kh");
    if (!strcmp(param, "s") || (!strcmp(param, "n") && !strncmp(option_word(&kind), "conv", 4))) return "1";
    usage("--kind=%s needs --%s", option_word(&kind), param);
}

/* the problem with (pad ..), (then ..) or (type ..), as its text reads */
static char *followed(const char *text, bool stored)
{
    struct problem p;
    struct buf b = { 0 };
    buf_add(&b, text, strlen(text) - 1);
    if (pad) buf_format(&b, " (pad %s)", pad);
    if (then) buf_format(&b, " (then %s)", then);
    if (stored) buf_format(&b, " (type %s)", option_word(&type));
    buf_char(&b, ')');
    for (size_t i = strlen(text); i < b.n; i++)
        if (b.s[i] == ',') b.s[i] = ' ';
    problem_parse(&p, (str){ b.s, b.n }, pad ? "--pad" : then ? "--then" : "--type");
    free(b.s);
    return xstrdup(p.text);
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("there are no operands");
    if ((kind >= 0) + (set >= 0) + !!einsum != 1) usage("give one of --kind, --set and --einsum");
    if (mid && !einsum) usage("--mid is for --einsum");
    if (pad && kind < 0) usage("--pad is for --kind=conv and conv_nhwc; sets have theirs");
    struct grid g = { .permute = permute };
    bool dense = set >= 0 && (!strcmp(option_word(&set), "bert") || !strcmp(option_word(&set), "llama"));
    bool stored = type == F64 || type == F16 || (type == BF16 && !dense);
    if ((type == U8S8 || type == S8S8) && set < 0) usage("--type=u8s8 is of --set; there is --kind=mm_u8s8");
    if (set >= 0) {
        grid_set(&g, option_word(&set), stored ? GRID_F32 : (enum grid_type)type, layout == NHWC, (int)tokens);
    } else if (einsum) {
        grid_einsum(&g, einsum, (const char *const *)index_size.v, index_size.n, mid);
    } else {
        const char *const *param, *list[14];
        const char *word = option_word(&kind);
        int n = problem_params(str_of(word), &param);
        for (int i = 0; i < n; i++) list[i] = given(param[i]);
        if (sample) grid_sample(&g, word, param, list, n, (size_t)sample, (uint64_t)seed);
        else grid_sizes(&g, word, param, list, n);
    }
    size_t *order = xmalloc(g.n, sizeof *order), train = (size_t)ceil((1 - test) * ((double)g.n - 1));
    bool *tested = xcalloc(g.n, 1);
    if (test == 0) train = g.n;
    for (size_t i = 0; i < g.n; i++) order[i] = i;
    struct rng r = rng_for((uint64_t)seed, str_of("split"));
    rng_shuffle(&r, order, g.n, sizeof *order);
    for (size_t i = train; i < g.n; i++) tested[order[i]] = true;
    csvw *w = csvw_open("-");
    csvw_names(w, "problem,split");
    csvw_end(w);
    for (size_t i = 0; i < g.n; i++) {
        csvw_cstr(w, pad || then || stored ? followed(g.text[i], stored) : g.text[i]);
        csvw_cstr(w, tested[i] ? "test" : "train");
        csvw_end(w);
    }
    return csvw_close(w);
}

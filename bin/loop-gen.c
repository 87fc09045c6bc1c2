/* loop-gen - problems for loop nests: a grid of sizes, or layers of a network
 *
 * Usage: loop-gen --kind=mm --m=64:256:16 --n=... --k=...
 *        loop-gen --set=resnet50 [--layout=nhwc]
 *
 * Columns out: problem, split (train or test).  One row for each combination
 * of sizes, the last named size varying fastest.  A size is a list of
 * numbers and ranges: 8,16 or 64:256 or 64:256:16 (the end counts) or 8|16.
 * Sizes of a kind, in the order of its text:
 *   mm mm_nt mm_tn mm_tt: m n k     bmm: b m n k
 *   conv conv_nhwc: n c h w m kh kw s (w is h, kw is kh, n and s are 1 when
 *   not given; windows are valid: for padding give larger h and w)
 *   point reduce transp: i j
 * Sets are the distinct convolutions of a network at batch 1, padded.
 * With --permute every problem comes in each order of its untiled loops.
 * The split is drawn by seed; of N problems ceil((1 - test) (N - 1)) train.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16
 *   $ loop-gen --set=vgg19 --layout=nhwc --test=0
 */
#include "base/filter.h"
#include "base/num.h"
#include "base/rng.h"
#include "loop/nest.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *kind, *set, *layout = "nchw", *size[12];
static double test = 0.1;
static long seed = 1;
static bool permute;
static const char *const names[12] = { "m", "n", "k", "b", "c", "h", "w", "kh", "kw", "s", "i", "j" };
static const struct opt options[] = {
    { 0, "kind", WORD, &kind, "mm|mm_nt|mm_tn|mm_tt|bmm|conv|conv_nhwc|point|reduce|transp", "kind of problem" },
    { 0, "set", WORD, &set, "resnet50|vgg19", "layers of a network instead" },
    { 0, "layout", WORD, &layout, "nchw|nhwc", "layout of a set's tensors" },
    { 0, "m", STR, &size[0], "SIZES", "size of m, and so on:" },
    { 0, "n", STR, &size[1], "SIZES", "" }, { 0, "k", STR, &size[2], "SIZES", "" },
    { 0, "b", STR, &size[3], "SIZES", "" }, { 0, "c", STR, &size[4], "SIZES", "" },
    { 0, "h", STR, &size[5], "SIZES", "" }, { 0, "w", STR, &size[6], "SIZES", "" },
    { 0, "kh", STR, &size[7], "SIZES", "" }, { 0, "kw", STR, &size[8], "SIZES", "" },
    { 0, "s", STR, &size[9], "SIZES", "stride of a convolution" },
    { 0, "i", STR, &size[10], "SIZES", "" }, { 0, "j", STR, &size[11], "SIZES", "" },
    { 0, "permute", FLAG, &permute, NULL, "every order of the untiled loops" },
    { 0, "test", NUM, &test, "SHARE", "share of problems to test on", 0, 1 },
    { 's', "seed", INT, &seed, "N", "seed of the split" },
    { 0 } };

/* c h m k s; h is padded */
static const short resnet50[][5] = { { 3, 230, 64, 7, 2 },    { 64, 56, 64, 1, 1 },    { 64, 58, 64, 3, 1 },
                                     { 64, 56, 256, 1, 1 },   { 256, 56, 64, 1, 1 },   { 256, 56, 128, 1, 1 },
                                     { 128, 58, 128, 3, 2 },  { 128, 28, 512, 1, 1 },  { 256, 56, 512, 1, 2 },
                                     { 512, 28, 128, 1, 1 },  { 128, 30, 128, 3, 1 },  { 512, 28, 256, 1, 1 },
                                     { 256, 30, 256, 3, 2 },  { 256, 14, 1024, 1, 1 }, { 512, 28, 1024, 1, 2 },
                                     { 1024, 14, 256, 1, 1 }, { 256, 16, 256, 3, 1 },  { 1024, 14, 512, 1, 1 },
                                     { 512, 16, 512, 3, 2 },  { 512, 7, 2048, 1, 1 },  { 1024, 14, 2048, 1, 2 },
                                     { 2048, 7, 512, 1, 1 },  { 512, 9, 512, 3, 1 } };
static const short vgg19[][5] = { { 3, 226, 64, 3, 1 },    { 64, 226, 64, 3, 1 },  { 64, 114, 128, 3, 1 },
                                  { 128, 114, 128, 3, 1 }, { 128, 58, 256, 3, 1 }, { 256, 58, 256, 3, 1 },
                                  { 256, 30, 512, 3, 1 },  { 512, 30, 512, 3, 1 }, { 512, 16, 512, 3, 1 } };

static char **problems;
static size_t count, room;

static void add(char *text)
{
    problems = grow(problems, count + 1, &room, sizeof *problems);
    problems[count++] = text;
}

/* all orders of the untiled loops by Heap's algorithm would not be sorted; plain recursion over the variables is */
static void orders(const struct problem *p, int *at, int n)
{
    if (n == p->nvar) {
        struct buf b = { 0 };
        buf_add(&b, p->text, strlen(p->text) - 1);
        buf_format(&b, " (order");
        for (int i = 0; i < n; i++) buf_format(&b, " %s", p->name[at[i]]);
        buf_format(&b, "))");
        add(b.s);
        return;
    }
    for (int v = 0; v < p->nvar; v++) {
        bool used = false;
        for (int i = 0; i < n; i++) used |= at[i] == p->order[v];
        at[n] = p->order[v];
        if (!used) orders(p, at, n + 1);
    }
}

static void problem(const char *text)
{
    struct problem p;
    int at[NEST_VARS];
    problem_parse(&p, str_of(text), "--kind");
    if (permute) orders(&p, at, 0);
    else add(xstrdup(p.text));
}

static int64_t number(const char *s, size_t n, const char *name)
{
    int64_t v;
    if (!int_parse(s, n, &v)) usage("--%s: '%.*s' is not an integer", name, (int)n, s);
    if (v < 1 || v > 1 << 24) usage("--%s: size %lld is not 1 to %d", name, (long long)v, 1 << 24);
    return v;
}

static const char *given(const char *param)
{
    for (int i = 0; i < 12; i++)
        if (!strcmp(names[i], param) && size[i]) return size[i];
    if (!strcmp(param, "w")) return given("h");
    if (!strcmp(param, "kw")) return given("kh");
    if (!strcmp(param, "s") || (!strcmp(param, "n") && !strncmp(kind, "conv", 4))) return "1";
    usage("--kind=%s needs --%s", kind, param);
}

static void grid(const char *const *param, int n, int i, const char *text)
{
    if (i == n) {
        char *s = xformat("%s)", text);
        problem(s);
        free(s);
        return;
    }
    for (const char *s = given(param[i]); *s; ) {
        size_t len = strcspn(s, ",|"), a = strcspn(s, ":,|"), b = a < len ? strcspn(s + a + 1, ":,|") : 0;
        int64_t lo = number(s, a, param[i]), hi = a < len ? number(s + a + 1, b, param[i]) : lo, step = 1;
        if (a < len && a + 1 + b < len) step = number(s + a + b + 2, len - a - b - 2, param[i]);
        if (hi < lo) usage("--%s: %lld:%lld is empty", param[i], (long long)lo, (long long)hi);
        for (int64_t v = lo; v <= hi; v += step) {
            char *t = xformat("%s %lld", text, (long long)v);
            grid(param, n, i + 1, t);
            free(t);
        }
        s += len + (s[len] != 0);
    }
}

int main(int argc, char **argv)
{
    if (filter_init(argc, argv, help, options) < argc) usage("there are no operands");
    if (!kind == !set) usage("give either --kind or --set");
    if (set) {
        bool res = !strcmp(set, "resnet50");
        const short (*l)[5] = res ? resnet50 : vgg19;
        size_t n = res ? sizeof resnet50 / sizeof *resnet50 : sizeof vgg19 / sizeof *vgg19;
        for (size_t i = 0; i < n; i++) {
            char *s = xformat("(%s 1 %d %d %d %d %d %d %d)", strcmp(layout, "nhwc") ? "conv" : "conv_nhwc", l[i][0],
                              l[i][1], l[i][1], l[i][2], l[i][3], l[i][3], l[i][4]);
            problem(s);
            free(s);
        }
    } else {
        const char *const *param;
        int n = problem_params(str_of(kind), &param);
        char *s = xformat("(%s", kind);
        grid(param, n, 0, s);
        free(s);
    }
    size_t *order = xmalloc(count, sizeof *order), train = (size_t)ceil((1 - test) * ((double)count - 1));
    bool *tested = xcalloc(count, 1);
    if (test == 0) train = count;
    for (size_t i = 0; i < count; i++) order[i] = i;
    struct rng r = rng_for((uint64_t)seed, str_of("split"));
    rng_shuffle(&r, order, count, sizeof *order);
    for (size_t i = train; i < count; i++) tested[order[i]] = true;
    csvw *w = csvw_open("-");
    csvw_names(w, "problem,split");
    csvw_end(w);
    for (size_t i = 0; i < count; i++) {
        csvw_cstr(w, problems[i]);
        csvw_cstr(w, tested[i] ? "test" : "train");
        csvw_end(w);
    }
    return csvw_close(w);
}

#include "loop/nest/grid.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/str.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 1 << 24 };

/* c h m k s; half a window of zeros lies around */
static const short resnet50[][5] = { { 3, 224, 64, 7, 2 },    { 64, 56, 64, 1, 1 },    { 64, 56, 64, 3, 1 },
                                     { 64, 56, 256, 1, 1 },   { 256, 56, 64, 1, 1 },   { 256, 56, 128, 1, 1 },
                                     { 128, 56, 128, 3, 2 },  { 128, 28, 512, 1, 1 },  { 256, 56, 512, 1, 2 },
                                     { 512, 28, 128, 1, 1 },  { 128, 28, 128, 3, 1 },  { 512, 28, 256, 1, 1 },
                                     { 256, 28, 256, 3, 2 },  { 256, 14, 1024, 1, 1 }, { 512, 28, 1024, 1, 2 },
                                     { 1024, 14, 256, 1, 1 }, { 256, 14, 256, 3, 1 },  { 1024, 14, 512, 1, 1 },
                                     { 512, 14, 512, 3, 2 },  { 512, 7, 2048, 1, 1 },  { 1024, 14, 2048, 1, 2 },
                                     { 2048, 7, 512, 1, 1 },  { 512, 7, 512, 3, 1 } };
static const short vgg19[][5] = { { 3, 224, 64, 3, 1 },    { 64, 224, 64, 3, 1 },  { 64, 112, 128, 3, 1 },
                                  { 128, 112, 128, 3, 1 }, { 128, 56, 256, 3, 1 }, { 256, 56, 256, 3, 1 },
                                  { 256, 28, 512, 3, 1 },  { 512, 28, 512, 3, 1 }, { 512, 14, 512, 3, 1 } };

static void add(struct grid *g, char *text)
{
    g->text = grow(g->text, g->n + 1, &g->cap, sizeof *g->text);
    g->text[g->n++] = text;
}

/* all orders of the untiled loops, sorted, which those of Heap's algorithm would not be */
static void orders(struct grid *g, const struct problem *p, int *at, int n)
{
    if (n == p->nvar) {
        struct buf b = { 0 };
        buf_add(&b, p->text, strlen(p->text) - 1);
        buf_format(&b, " (order");
        for (int i = 0; i < n; i++) buf_format(&b, " %s", p->name[at[i]]);
        buf_format(&b, "))");
        add(g, b.s);
        return;
    }
    for (int v = 0; v < p->nvar; v++) {
        bool used = false;
        for (int i = 0; i < n; i++) used |= at[i] == p->order[v];
        at[n] = p->order[v];
        if (!used) orders(g, p, at, n + 1);
    }
}

static void problem(struct grid *g, char *text, const char *where)
{
    struct problem p;
    int at[NEST_VARS];
    problem_parse(&p, str_of(text), where);
    if (g->permute) orders(g, &p, at, 0);
    else add(g, xstrdup(p.text));
    free(text);
}

void grid_add(struct grid *g, char *text)
{
    for (size_t i = 0; i < g->n; i++)
        if (!strcmp(g->text[i], text)) return;
    problem(g, text, "--set");
}

static int64_t number(const char *s, size_t n, const char *name)
{
    int64_t v;
    if (!int_parse(s, n, &v)) usage("--%s: '%.*s' is not an integer", name, (int)n, s);
    if (v < 1 || v > MAX_SIZE) usage("--%s: size %lld is not 1 to %d", name, (long long)v, MAX_SIZE);
    return v;
}

struct range { int64_t lo, hi, step; };
static size_t read_range(const char *s, const char *name, struct range *r)   /* returns the length of the item */
{
    size_t len = strcspn(s, ",|"), a = strcspn(s, ":,|"), b = a < len ? strcspn(s + a + 1, ":,|") : 0;
    r->lo = r->hi = number(s, a, name);
    r->step = 1;
    if (a < len) r->hi = number(s + a + 1, b, name);
    if (a < len && a + 1 + b < len) r->step = number(s + a + b + 2, len - a - b - 2, name);
    if (r->hi < r->lo) usage("--%s: %lld:%lld is empty", name, (long long)r->lo, (long long)r->hi);
    return len;
}

/* is size i, which was not given, the one before it? */
static bool square(const char *const *param, const char *const *list, int i)
{
    return i && (!strcmp(param[i], "w") || !strcmp(param[i], "kw")) && list[i] == list[i - 1];
}

static void sizes(struct grid *g, const char *const *param, const char *const *list, int n, int i, const char *text,
                  int64_t before)
{
    if (i == n) {
        problem(g, xformat("%s)", text), "--kind");
        return;
    }
    for (const char *s = list[i]; *s; ) {
        struct range r = { before, before, 1 };
        size_t len = square(param, list, i) ? strlen(s) : read_range(s, param[i], &r);
        for (int64_t v = r.lo; v <= r.hi; v += r.step) {
            char *t = xformat("%s %lld", text, (long long)v);
            sizes(g, param, list, n, i + 1, t, v);
            free(t);
        }
        s += len + (s[len] != 0);
    }
}

void grid_sizes(struct grid *g, const char *kind, const char *const *param, const char *const *list, int n)
{
    char *s = xformat("(%s", kind);
    sizes(g, param, list, n, 0, s, 0);
    free(s);
}

static int64_t draw(struct rng *g, const char *list, const char *name)
{
    struct range r;
    size_t items = 1;
    for (const char *s = list; *s; s++) items += *s == ',' || *s == '|';
    for (size_t pick = rng_below(g, items); pick-- > 0; ) list += strcspn(list, ",|") + 1;
    read_range(list, name, &r);
    double v = exp(log((double)r.lo) + rng_unit(g) * log((double)(r.hi + 1) / (double)r.lo));
    return r.lo + ((int64_t)v - r.lo) / r.step * r.step;
}

void grid_sample(struct grid *g, const char *kind, const char *const *param, const char *const *list, int n,
                 size_t count, uint64_t seed)
{
    struct rng r = rng_for(seed, str_of("sizes"));
    struct intern drawn = { 0 };
    for (size_t tries = 0; drawn.n < count; tries++) {
        if (tries > 100 * count) usage("--sample: there are not %zu different problems", count);
        struct buf b = { 0 };
        buf_format(&b, "(%s", kind);
        int64_t v = 0;
        for (int i = 0; i < n; i++) {
            if (!square(param, list, i)) v = draw(&r, list[i], param[i]);
            buf_format(&b, " %lld", (long long)v);
        }
        buf_format(&b, ")");
        struct problem p;
        problem_parse(&p, (str){ b.s, b.n }, "--kind");
        free(b.s);
        size_t before = drawn.n;
        if (intern(&drawn, str_of(p.text)) == before) problem(g, xstrdup(p.text), "--kind");
    }
    intern_free(&drawn);
}

void grid_network(struct grid *g, const char *network, bool nhwc)
{
    bool res = !strcmp(network, "resnet50");
    const short (*l)[5] = res ? resnet50 : vgg19;
    size_t n = res ? sizeof resnet50 / sizeof *resnet50 : sizeof vgg19 / sizeof *vgg19;
    for (size_t i = 0; i < n; i++)
        grid_conv(g, nhwc, l[i][0], l[i][1], l[i][2], l[i][3], l[i][4]);
}

void grid_conv(struct grid *g, bool nhwc, int c, int size, int m, int kernel, int stride)
{
    char *pad = kernel > 1 ? xformat(" (pad %d)", kernel / 2) : xstrdup("");
    grid_add(g, xformat("(%s 1 %d %d %d %d %d %d %d%s)", nhwc ? "conv_nhwc" : "conv", c, size, size, m, kernel, kernel,
                        stride, pad));
    free(pad);
}

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

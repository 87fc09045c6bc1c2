#include "decisions/site.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

int site_cmp(struct site a, struct site b)
{
    int c = str_cmp(a.callee, b.callee);
    return c ? c : str_cmp(a.chain, b.chain);
}

static const char *last_separator(str chain)
{
    const char *last = NULL;
    for (const char *p = chain.s, *end = p + chain.n, *q; (q = memmem(p, (size_t)(end - p), " @ ", 3)); p = q + 3)
        last = q;
    return last;
}

str site_stage(str chain)
{
    const char *last = last_separator(chain);
    str s = { last ? last + 3 : chain.s, 0 };
    if (last) s.n = (size_t)(chain.s + chain.n - s.s);
    return str_is(s, "compile") || str_is(s, "link") ? s : (str){ "", 0 };
}

str site_bare(str chain)
{
    size_t stage = site_stage(chain).n;
    return (str){ chain.s, chain.n - (stage ? stage + 3 : 0) };
}

str site_outermost(str chain)
{
    chain = site_bare(chain);
    const char *last = last_separator(chain), *from = last ? last + 3 : chain.s, *end = chain.s + chain.n;
    const char *colon = memchr(from, ':', (size_t)(end - from));
    return (str){ from, (size_t)((colon ? colon : end) - from) };
}

str site_plain(str symbol)
{
    for (;;) {
        const char *dot = memrchr(symbol.s, '.', symbol.n);
        size_t digits = dot ? (size_t)(symbol.s + symbol.n - dot - 1) : 0, n = 0;
        while (n < digits && dot[1 + n] >= '0' && dot[1 + n] <= '9') n++;
        if (!digits || n < digits || dot == symbol.s) return symbol;
        symbol.n = (size_t)(dot - symbol.s);
    }
}

void site_add(struct buf *b, struct site s)
{
    buf_str(b, s.callee);
    buf_char(b, ' ');
    buf_str(b, s.chain);
}

void site_key(struct buf *b, struct site s)
{
    b->n = 0;
    site_add(b, s);
}

void site_base_key(struct buf *b, struct site s)
{
    const char *end = memmem(s.chain.s, s.chain.n, " @ ", 3);
    if (end) s.chain.n = (size_t)(end - s.chain.s);
    site_key(b, s);
}

long site_base_find(const struct intern *keys, struct site s)
{
    struct buf b = { 0 };
    site_base_key(&b, s);
    long k = intern_find(keys, (str){ b.s, b.n });
    free(b.s);
    return k;
}

/* does NAME stand as the function of an element FUNCTION:LINE:COLUMN? */
bool site_recursive(struct site s)
{
    const char *p = s.chain.s, *end = p + s.chain.n;
    while (p < end) {
        const char *q = memmem(p, (size_t)(end - p), " @ ", 3);
        if (!q) q = end;
        const char *colon = memchr(p, ':', (size_t)(q - p));
        if (colon && str_eq((str){ p, (size_t)(colon - p) }, s.callee)) return true;
        p = q < end ? q + 3 : end;
    }
    return false;
}

bool site_stable(str chain)
{
    for (const char *p = chain.s, *end = p + chain.n; (p = memchr(p, ':', (size_t)(end - p))); p++)
        if (end - p > 7 && memcmp(p, ":429496", 7) == 0) return false;   /* line 0 minus the function's, modulo 2^32 */
    return chain.n > 0;
}

size_t site_steps(str chain, str **step, size_t *cap)
{
    size_t n = 0;
    const char *end = chain.s + chain.n;
    for (;;) {                                           /* innermost is first in the chain, last in the path */
        const char *sep = NULL, *p = chain.s;
        for (const char *q; (q = memmem(p, (size_t)(end - p), " @ ", 3)); p = q + 3) sep = q;
        const char *from = sep ? sep + 3 : chain.s;
        *step = grow(*step, n + 1, cap, sizeof **step);
        (*step)[n++] = (str){ from, (size_t)(end - from) };
        if (!sep) return n;
        end = sep;
    }
}

/* live.c - see live.h */
#include "inline/live.h"
#include "base/message.h"
#include "decisions/canonical.h"
#include <stdlib.h>
#include <string.h>

void live_add(struct live *l, str callee, str chain, bool inlined)
{
    l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
    l->v[l->n++] = (struct live_site){ { arena_copy(&l->text, callee.s, callee.n), callee.n },
                                       { arena_copy(&l->text, chain.s, chain.n), chain.n }, inlined, { "", 0 } };
}

void live_reason(struct live *l, str why)
{
    l->v[l->n - 1].reason = (str){ arena_copy(&l->text, why.s, why.n), why.n };
}

static int by_key(const void *a, const void *b)
{
    const struct live_site *x = a, *y = b;
    int c = str_cmp(x->callee, y->callee);
    return c ? c : str_cmp(x->chain, y->chain);
}

static int by_key_inlined_first(const void *a, const void *b)
{
    const struct live_site *x = a, *y = b;
    int c = by_key(a, b);
    return c ? c : y->inlined - x->inlined;
}

void live_sort(struct live *l)
{
    if (l->n) qsort(l->v, l->n, sizeof *l->v, by_key_inlined_first);
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++)
        if (kept == 0 || by_key(&l->v[kept - 1], &l->v[i]) != 0) l->v[kept++] = l->v[i];
    l->n = kept;
}

struct live_site *live_find(const struct live *l, str callee, str chain)
{
    struct live_site key = { .callee = callee, .chain = chain };
    return l->n ? bsearch(&key, l->v, l->n, sizeof *l->v, by_key) : NULL;
}

uint64_t live_hash(const struct live *l)
{
    uint64_t h = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (!l->v[i].inlined) continue;
        h = hash_bytes(l->v[i].callee.s, l->v[i].callee.n, h);
        h = hash_bytes(l->v[i].chain.s, l->v[i].chain.n, h + 1);
    }
    return h;
}

size_t live_inlined(const struct live *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) n += l->v[i].inlined;
    return n;
}

void live_clear(struct live *l)
{
    l->n = 0;
    arena_reset(&l->text);
}

void live_free(struct live *l)
{
    free(l->v);
    arena_free(&l->text);
    *l = (struct live){ 0 };
}

static void take_site(void *closure, const struct sexp *e, const struct canonical_site *x)
{
    struct live *l = closure;
    struct buf chain = { 0 };
    if (x->callee.n == 0) sexp_die(e, x->at, "a site without a callee");
    if (memchr(x->callee.s, '\'', x->callee.n))
        sexp_die(e, x->at, "a callee with a quote: replay files have no escapes");
    for (size_t i = x->n; i-- > 0;) {
        if (chain.n) buf_add(&chain, " @ ", 3);
        buf_str(&chain, x->step[i]);
    }
    live_add(l, x->callee, (str){ chain.s, chain.n }, x->action == ACTION_INLINE);
    free(chain.s);
}

void live_read(struct live *l, const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    live_clear(l);
    canonical_read(e, take_site, l);
    sexp_close(r);
    live_sort(l);
}

/* the steps of a chain, outermost first; borrowed from it; the array is the caller's */
static size_t steps_of(str chain, str **step, size_t *cap)
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

void live_write(const struct live *l, const char *path, const char *program, const char *compiler)
{
    str *step = NULL;
    size_t cap = 0;
    sexpw *w = sexpw_open(path);
    canonical_begin(w, str_of(program), str_of(compiler));
    for (size_t i = 0; i < l->n; i++) {
        struct canonical_site x = { .callee = l->v[i].callee,
                                    .action = l->v[i].inlined ? ACTION_INLINE : ACTION_APPLY };
        x.n = steps_of(l->v[i].chain, &step, &cap);
        x.step = step;
        canonical_write(w, &x);
    }
    canonical_end(w);
    free(step);
    sexpw_close(w);
}

static const char *last_separator(str chain)
{
    const char *last = NULL;
    for (const char *p = chain.s, *end = p + chain.n, *q; (q = memmem(p, (size_t)(end - p), " @ ", 3)); p = q + 3)
        last = q;
    return last;
}

str live_stage(str chain)
{
    const char *last = last_separator(chain);
    str s = { last ? last + 3 : chain.s, 0 };
    if (last) s.n = (size_t)(chain.s + chain.n - s.s);
    return str_is(s, "compile") || str_is(s, "link") ? s : (str){ "", 0 };
}

str live_bare(str chain)
{
    size_t stage = live_stage(chain).n;
    return (str){ chain.s, chain.n - (stage ? stage + 3 : 0) };
}

str live_outermost(str chain)
{
    chain = live_bare(chain);
    const char *last = last_separator(chain), *from = last ? last + 3 : chain.s, *end = chain.s + chain.n;
    const char *colon = memchr(from, ':', (size_t)(end - from));
    return (str){ from, (size_t)((colon ? colon : end) - from) };
}

str live_plain(str symbol)
{
    for (;;) {
        const char *dot = memrchr(symbol.s, '.', symbol.n);
        size_t digits = dot ? (size_t)(symbol.s + symbol.n - dot - 1) : 0, n = 0;
        while (n < digits && dot[1 + n] >= '0' && dot[1 + n] <= '9') n++;
        if (!digits || n < digits || dot == symbol.s) return symbol;
        symbol.n = (size_t)(dot - symbol.s);
    }
}

void live_base_key(struct buf *b, str callee, str chain)
{
    const char *end = memmem(chain.s, chain.n, " @ ", 3);
    b->n = 0;
    buf_str(b, callee);
    buf_char(b, ' ');
    buf_add(b, chain.s, end ? (size_t)(end - chain.s) : chain.n);
}

long live_key_find(const struct intern *keys, str callee, str chain)
{
    struct buf b = { 0 };
    live_base_key(&b, callee, chain);
    long k = intern_find(keys, (str){ b.s, b.n });
    free(b.s);
    return k;
}

/* does NAME stand as the function of an element FUNCTION:LINE:COLUMN? */
bool live_recursive(str callee, str chain)
{
    const char *p = chain.s, *end = p + chain.n;
    while (p < end) {
        const char *q = memmem(p, (size_t)(end - p), " @ ", 3);
        if (!q) q = end;
        const char *colon = memchr(p, ':', (size_t)(q - p));
        if (colon && str_eq((str){ p, (size_t)(colon - p) }, callee)) return true;
        p = q < end ? q + 3 : end;
    }
    return false;
}

bool live_stable(str chain)
{
    for (const char *p = chain.s, *end = p + chain.n; (p = memchr(p, ':', (size_t)(end - p))); p++)
        if (end - p > 7 && memcmp(p, ":429496", 7) == 0) return false;   /* line 0 minus the function's, modulo 2^32 */
    return chain.n > 0;
}

struct call_list live_calls(const struct live *l)
{
    size_t n = live_inlined(l), k = 0;
    str *callee = xmalloc(n, sizeof *callee), *chain = xmalloc(n, sizeof *chain);
    for (size_t i = 0; i < l->n; i++) {
        if (!l->v[i].inlined) continue;
        callee[k] = l->v[i].callee;
        chain[k++] = l->v[i].chain;
    }
    return (struct call_list){ callee, chain, n };
}

void live_of_build(struct live *l, const struct remarks *r, const struct ir_module *m)
{
    for (size_t i = 0; i < r->n; i++) if (r->v[i].kind == INLINED) live_add(l, r->v[i].callee, r->v[i].chain, true);
    for (size_t i = 0; m && i < m->ncalls; i++)
        if (m->call[i].chain.n) live_add(l, m->function[m->call[i].callee].name, m->call[i].chain, false);
}

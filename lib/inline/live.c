/* live.c - see live.h */
#include "inline/live.h"
#include "decisions/canonical.h"
#include <stdlib.h>
#include <string.h>

void live_add(struct live *l, struct site s, bool inlined)
{
    l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
    s.callee.s = arena_copy(&l->text, s.callee.s, s.callee.n);
    s.chain.s = arena_copy(&l->text, s.chain.s, s.chain.n);
    l->v[l->n++] = (struct live_site){ s, inlined, { "", 0 } };
}

void live_reason(struct live *l, str why)
{
    l->v[l->n - 1].reason = (str){ arena_copy(&l->text, why.s, why.n), why.n };
}

static int by_key(const void *a, const void *b)
{
    const struct live_site *x = a, *y = b;
    return site_cmp(x->site, y->site);
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

struct live_site *live_find(const struct live *l, struct site s)
{
    struct live_site key = { .site = s };
    return l->n ? bsearch(&key, l->v, l->n, sizeof *l->v, by_key) : NULL;
}

uint64_t live_hash(const struct live *l)
{
    uint64_t h = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (!l->v[i].inlined) continue;
        h = hash_bytes(l->v[i].site.callee.s, l->v[i].site.callee.n, h);
        h = hash_bytes(l->v[i].site.chain.s, l->v[i].site.chain.n, h + 1);
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
    live_add(l, (struct site){ x->callee, (str){ chain.s, chain.n } }, x->action == ACTION_INLINE);
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

void live_write(const struct live *l, const char *path, const char *program, const char *compiler)
{
    str *step = NULL;
    size_t cap = 0;
    sexpw *w = sexpw_open(path);
    canonical_begin(w, str_of(program), compiler ? str_of(compiler) : (str){ 0 });
    for (size_t i = 0; i < l->n; i++) {
        struct canonical_site x = { .callee = l->v[i].site.callee,
                                    .action = l->v[i].inlined ? ACTION_INLINE : ACTION_APPLY };
        x.n = site_steps(l->v[i].site.chain, &step, &cap);
        x.step = step;
        canonical_write(w, &x);
    }
    canonical_end(w);
    free(step);
    sexpw_close(w);
}

struct call_list live_calls(const struct live *l)
{
    size_t n = live_inlined(l), k = 0;
    str *callee = xmalloc(n, sizeof *callee), *chain = xmalloc(n, sizeof *chain);
    for (size_t i = 0; i < l->n; i++) {
        if (!l->v[i].inlined) continue;
        callee[k] = l->v[i].site.callee;
        chain[k++] = l->v[i].site.chain;
    }
    return (struct call_list){ callee, chain, n };
}

void live_of_build(struct live *l, const struct remarks *r, const struct ir_module *m)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].kind == INLINED) live_add(l, (struct site){ r->v[i].callee, r->v[i].chain }, true);
    for (size_t i = 0; m && i < m->ncalls; i++)
        if (m->call[i].chain.n)
            live_add(l, (struct site){ m->function[m->call[i].callee].name, m->call[i].chain }, false);
}

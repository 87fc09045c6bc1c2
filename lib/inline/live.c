/* live.c - see live.h */
#include "inline/live.h"
#include "base/message.h"
#include "tree/sexp.h"
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

static void read_site(struct live *l, const struct sexp *e, snode site)
{
    snode path = sexp_get(e, site, "path");
    if (path == SEXP_NONE) sexp_die(e, site, "site without a path");
    str callee = sexp_str_of(e, site, "callee"), flag = sexp_str_of(e, site, "inline");
    if (!str_is(flag, "true") && !str_is(flag, "false"))
        sexp_die(e, site, "inline is '%.*s', not true or false", (int)flag.n, flag.s);
    struct buf chain = { 0 };
    for (size_t i = sexp_count(e, path); i-- > 1;) {     /* child 0 is the word `path` */
        if (chain.n) buf_add(&chain, " @ ", 3);
        buf_str(&chain, sexp_atom(e, sexp_nth(e, path, i)));
    }
    if (chain.n == 0) sexp_die(e, path, "empty path");
    if (memchr(chain.s, '\n', chain.n) || memchr(callee.s, '\n', callee.n) || memchr(callee.s, '\'', callee.n))
        sexp_die(e, site, "a name with a quote or a line end");      /* it would forge lines of the replay file */
    live_add(l, callee, (str){ chain.s, chain.n }, str_is(flag, "true"));
    free(chain.s);
}

void live_read(struct live *l, const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (!sexp_head(e, 0, "decisions")) sexp_die(e, 0, "expected (decisions ...)");
    live_clear(l);
    for (snode c = sexp_first(e, 0); c != SEXP_NONE; c = sexp_after(e, c))
        if (sexp_head(e, c, "site")) read_site(l, e, c);
    sexp_close(r);
    live_sort(l);
}

static void write_path(sexpw *w, str chain)
{
    sexpw_begin(w, "path");
    const char *end = chain.s + chain.n;
    for (;;) {                                           /* innermost is first in the chain, last in the path */
        const char *sep = NULL, *p = chain.s;
        for (const char *q; (q = memmem(p, (size_t)(end - p), " @ ", 3)); p = q + 3) sep = q;
        const char *from = sep ? sep + 3 : chain.s;
        sexpw_atom(w, (str){ from, (size_t)(end - from) });
        if (!sep) break;
        end = sep;
    }
    sexpw_end(w);
}

void live_write(const struct live *l, const char *path, const char *program, const char *compiler)
{
    sexpw *w = sexpw_open(path);
    sexpw_begin(w, "decisions");
    sexpw_pair_str(w, "program", str_of(program));
    sexpw_pair_str(w, "compiler", str_of(compiler));
    for (size_t i = 0; i < l->n; i++) {
        sexpw_line(w);
        sexpw_begin(w, "site");
        write_path(w, l->v[i].chain);
        sexpw_pair_str(w, "callee", l->v[i].callee);
        sexpw_pair_str(w, "inline", str_of(l->v[i].inlined ? "true" : "false"));
        sexpw_end(w);
    }
    sexpw_end(w);
    sexpw_close(w);
}

void live_base_key(struct buf *b, str callee, str chain)
{
    const char *end = memmem(chain.s, chain.n, " @ ", 3);
    b->n = 0;
    buf_str(b, callee);
    buf_char(b, ' ');
    buf_add(b, chain.s, end ? (size_t)(end - chain.s) : chain.n);
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

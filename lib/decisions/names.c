/* names.c - see names.h */
#include "decisions/names.h"
#include <stdlib.h>
#include <string.h>

/* ---- a map from 64-bit keys to 32-bit numbers: open addressing, at most half full, never deletes ---- */

static size_t map_slot(const struct map64 *m, uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    size_t i = (h ^ h >> 29) & (m->nslot - 1);
    while (m->value[i] != NAME_NONE && m->key[i] != key) i = (i + 1) & (m->nslot - 1);
    return i;
}

/* a free slot has the value NAME_NONE, so a caller must store something else before the next call */
uint32_t *map64_at(struct map64 *m, uint64_t key)
{
    if (m->n * 2 >= m->nslot) {
        struct map64 old = *m;
        m->nslot = old.nslot ? old.nslot * 2 : 64;
        m->key = xmalloc(m->nslot, sizeof *m->key);
        m->value = xmalloc(m->nslot, sizeof *m->value);
        memset(m->value, 0xff, m->nslot * sizeof *m->value);
        for (size_t i = 0; i < old.nslot; i++) {
            if (old.value[i] == NAME_NONE) continue;
            size_t j = map_slot(m, old.key[i]);
            m->key[j] = old.key[i];
            m->value[j] = old.value[i];
        }
        free(old.key);
        free(old.value);
    }
    size_t i = map_slot(m, key);
    if (m->value[i] == NAME_NONE) {
        m->key[i] = key;
        m->n++;
    }
    return &m->value[i];
}

uint32_t map64_find(const struct map64 *m, uint64_t key)
{
    return m->nslot ? m->value[map_slot(m, key)] : (uint32_t)NAME_NONE;
}

void map64_clear(struct map64 *m)
{
    m->n = 0;
    if (m->nslot) memset(m->value, 0xff, m->nslot * sizeof *m->value);
}

void map64_free(struct map64 *m)
{
    free(m->key);
    free(m->value);
    *m = (struct map64){ 0 };
}

void names_free(struct names *s)
{
    intern_free(&s->text);
    intern_free(&s->closures);
    intern_free(&s->sites);
    intern_free(&s->metas);
    free_all(s->closure, s->site, s->path, s->meta, s->scratch.s);
    map64_free(&s->path_of);
    *s = (struct names){ 0 };
}

/* ---- reading ---- */

static str part(const struct names *s, uint32_t text)
{
    return s->text.name[text];
}

static void put_unit(struct buf *b, str ident, str linkage)
{
    bool caml = linkage.n == ident.n + 4 && memcmp(linkage.s, "caml", 4) == 0 &&
                memcmp(linkage.s + 4, ident.s, ident.n) == 0;
    if (!caml && !str_eq(ident, linkage)) {
        buf_str(b, ident);
        buf_char(b, '=');
    }
    buf_str(b, linkage);
}

/* the inverse: ident and linkage from the text of a unit */
static void take_unit(str text, str *ident, str *linkage)
{
    const char *equal = memchr(text.s, '=', text.n);
    *linkage = *ident = text;
    if (equal) {
        *ident = (str){ text.s, (size_t)(equal - text.s) };
        *linkage = (str){ equal + 1, text.n - ident->n - 1 };
    } else if (text.n > 4 && memcmp(text.s, "caml", 4) == 0) {
        *ident = (str){ text.s + 4, text.n - 4 };
    }
}

static uint32_t closure_new(struct names *s, str key, str ident, str linkage, str name, str stamp)
{
    size_t before = s->closures.n;
    uint32_t k = intern(&s->closures, key);
    if (k < before) return k;
    s->closure = grow(s->closure, s->closures.n, &s->cap_closure, sizeof *s->closure);
    struct closure c = { NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE };
    if (ident.s) {
        c.ident = intern(&s->text, ident);
        c.linkage = intern(&s->text, linkage);
        c.name = intern(&s->text, name);
        c.stamp = intern(&s->text, stamp);
    }
    s->closure[k] = c;
    return k;
}

static str unit_part(const struct sexp *e, snode unit, size_t i)
{
    if (!sexp_is_list(e, unit) || sexp_count(e, unit) != 2) sexp_die(e, unit, "not a compilation unit (Ident linkage)");
    return sexp_atom(e, sexp_nth(e, unit, i));
}

/* of a stamp; simple overrides have none */
static bool digits_or_empty(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.s[i] < '0' || s.s[i] > '9') return false;
    return true;
}

/* steps of a path are joined by blanks, so none may hold one */
static void no_blank(const struct sexp *e, snode n, str text)
{
    if (memchr(text.s, ' ', text.n)) sexp_die(e, n, "a name with a blank, '%.*s'", (int)text.n, text.s);
}

str names_number(const struct sexp *e, snode n)
{
    str t = sexp_atom(e, n);
    if (!t.n || !digits_or_empty(t)) sexp_die(e, n, "'%.*s' is not a stamp", (int)t.n, t.s);
    return t;
}

uint32_t names_closure(struct names *s, const struct sexp *e, snode n)
{
    if (sexp_is_atom(e, n)) {
        no_blank(e, n, sexp_atom(e, n));
        return names_closure_of(s, sexp_atom(e, n));
    }
    if (sexp_count(e, n) != 3) sexp_die(e, n, "not a function ((Ident linkage) name stamp)");
    snode unit = sexp_first(e, n), name = sexp_after(e, unit), stamp = sexp_after(e, name);
    str ident = unit_part(e, unit, 0), linkage = unit_part(e, unit, 1);
    str what = sexp_atom(e, name), number = names_number(e, stamp);
    s->scratch.n = 0;
    put_unit(&s->scratch, ident, linkage);
    buf_add(&s->scratch, "__", 2);
    buf_str(&s->scratch, what);
    buf_add(&s->scratch, "__", 2);
    buf_str(&s->scratch, number);
    no_blank(e, n, (str){ s->scratch.s, s->scratch.n });
    return closure_new(s, (str){ s->scratch.s, s->scratch.n }, ident, linkage, what, number);
}

/* where "__" begins in s at or after i; s.n if nowhere */
static size_t underscores(str s, size_t i)
{
    for (; i + 1 < s.n; i++)
        if (s.s[i] == '_' && s.s[i + 1] == '_') return i;
    return s.n;
}

/* linkage__name__stamp.  A linkage may itself hold "__" (packed modules): its segments begin with a capital, and the
 * name takes at least the last segment. */
uint32_t names_closure_of(struct names *s, str t)
{
    long known = intern_find(&s->closures, t);
    if (known >= 0) return (uint32_t)known;
    str none = { 0 };
    size_t last = t.n;
    for (size_t i = underscores(t, 0); i < t.n; i = underscores(t, i + 1)) last = i;
    if (last == t.n) return closure_new(s, t, none, none, none, none);
    str stamp = { t.s + last + 2, t.n - last - 2 }, rest = { t.s, last };
    size_t cut = underscores(rest, 0);
    if (cut == rest.n || !digits_or_empty(stamp)) return closure_new(s, t, none, none, none, none);
    for (size_t next; (next = underscores(rest, cut + 2)) < rest.n; cut = next)
        if (rest.s[cut + 2] < 'A' || rest.s[cut + 2] > 'Z') break;
    str ident, linkage, name = { rest.s + cut + 2, rest.n - cut - 2 };
    take_unit((str){ rest.s, cut }, &ident, &linkage);
    return closure_new(s, t, ident, linkage, name, stamp);
}

static uint32_t meta_new(struct names *s, struct meta m)
{
    struct {
        uint32_t id, origin, opt, special;
        int32_t n;
    } key = { m.closure_id, m.origin, m.opt_origin, m.specialised, m.n_fields };
    size_t before = s->metas.n;
    uint32_t k = intern(&s->metas, (str){ (const char *)&key, sizeof key });
    if (k < before) return k;
    s->meta = grow(s->meta, s->metas.n, &s->cap_meta, sizeof *s->meta);
    s->meta[k] = m;
    return k;
}

uint32_t names_meta_of(struct names *s, uint32_t closure)
{
    return meta_new(s, (struct meta){ NAME_NONE, closure, NAME_NONE, NAME_NONE, 0 });
}

/* () is none, (X) is X */
static uint32_t option(struct names *s, const struct sexp *e, snode n)
{
    if (!sexp_is_list(e, n) || sexp_count(e, n) > 1) sexp_die(e, n, "not an option: () or (FUNCTION)");
    snode x = sexp_first(e, n);
    if (x == SEXP_NONE) return NAME_NONE;
    return names_closure(s, e, x);
}

uint32_t names_meta(struct names *s, const struct sexp *e, snode n)
{
    size_t fields = sexp_is_list(e, n) ? sexp_count(e, n) : 0;
    if (fields < 3 || fields > 5) sexp_die(e, n, "function metadata has 3, 4 or 5 fields");
    struct meta m = { NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, (int)fields };
    snode x = sexp_first(e, n);
    m.closure_id = option(s, e, x);
    x = sexp_after(e, x);
    if (!sexp_is_list(e, x)) sexp_die(e, x, "the second field of function metadata is a list");
    x = sexp_after(e, x);
    m.origin = names_closure(s, e, x);
    if (fields > 3) m.opt_origin = option(s, e, x = sexp_after(e, x));
    if (fields > 4 && sexp_first(e, x = sexp_after(e, x)) != SEXP_NONE)
        m.specialised = names_apply(s, e, sexp_first(e, x));
    return meta_new(s, m);
}

static uint32_t site_new(struct names *s, str key, enum site_kind kind, str a, str b, str stamp, uint32_t closure)
{
    size_t before = s->sites.n;
    uint32_t k = intern(&s->sites, key);
    if (k < before) return k;
    s->site = grow(s->site, s->sites.n, &s->cap_site, sizeof *s->site);
    struct apply_site x = { kind, closure, NAME_NONE, NAME_NONE };
    if (kind == SITE_V1) {
        x.a = intern(&s->text, a);
        x.b = intern(&s->text, b);
    }
    if (kind != SITE_ATOM) x.stamp = intern(&s->text, stamp);
    s->site[k] = x;
    return k;
}

/* What a site is: (Plain_apply N), (Over_application N) or (Stub); in a key it is Apply[N], Over[N] or Stub. */
enum stamp_kind { PLAIN_APPLY, OVER_APPLICATION, STUB };
static const char *const stamp_head[] = { "Plain_apply", "Over_application", "Stub" };
static const char *const stamp_key[] = { "Apply", "Over", "Stub" };

static enum stamp_kind stamp_read(const struct sexp *e, snode n)
{
    if (sexp_head(e, n, "Stub") || (sexp_is_atom(e, n) && str_is(sexp_atom(e, n), "Stub"))) return STUB;
    for (int k = 0; k < STUB; k++)
        if (sexp_head(e, n, stamp_head[k]) && sexp_count(e, n) == 2) return (enum stamp_kind)k;
    sexp_die(e, n, "not an apply stamp: (Plain_apply N), (Over_application N) or (Stub)");
}

static uint32_t names_site(struct names *s, const struct sexp *e, snode unit, snode stamp)
{
    str ident = unit_part(e, unit, 0), linkage = unit_part(e, unit, 1);
    enum stamp_kind kind = stamp_read(e, stamp);
    s->scratch.n = 0;
    put_unit(&s->scratch, ident, linkage);
    buf_add(&s->scratch, "__", 2);
    size_t at = s->scratch.n;
    buf_str(&s->scratch, str_of(stamp_key[kind]));
    if (kind != STUB) {
        str number = names_number(e, sexp_nth(e, stamp, 1));
        buf_char(&s->scratch, '[');
        buf_str(&s->scratch, number);
        buf_char(&s->scratch, ']');
    }
    str key = { s->scratch.s, s->scratch.n };
    no_blank(e, unit, key);
    return site_new(s, key, SITE_V1, ident, linkage, (str){ key.s + at, key.n - at }, NAME_NONE);
}

uint32_t names_site_v0(struct names *s, uint32_t closure, str offset)
{
    s->scratch.n = 0;
    names_put_closure(&s->scratch, s, closure);
    buf_char(&s->scratch, '@');
    buf_str(&s->scratch, offset);
    return site_new(s, (str){ s->scratch.s, s->scratch.n }, SITE_V0, (str){ 0 }, (str){ 0 }, offset, closure);
}

uint32_t names_site_of(struct names *s, str t)
{
    long known = intern_find(&s->sites, t);
    if (known >= 0) return (uint32_t)known;
    str none = { 0 };
    size_t i = t.n;
    while (i && t.s[i - 1] >= '0' && t.s[i - 1] <= '9') i--;
    if (i > 1 && i < t.n && t.s[i - 1] == '@') {
        uint32_t c = names_closure_of(s, (str){ t.s, i - 1 });
        if (s->closure[c].ident != NAME_NONE) return site_new(s, t, SITE_V0, none, none, (str){ t.s + i, t.n - i }, c);
    }
    size_t last = t.n;
    for (i = underscores(t, 0); i < t.n; i = underscores(t, i + 1)) last = i;
    if (last < t.n) {
        str word = { t.s + last + 2, t.n - last - 2 }, ident, linkage;
        bool call = (word.n > 7 && memcmp(word.s, "Apply[", 6) == 0) || (word.n > 6 && memcmp(word.s, "Over[", 5) == 0);
        take_unit((str){ t.s, last }, &ident, &linkage);
        if ((call && word.s[word.n - 1] == ']') || str_is(word, "Stub") || str_is(word, "Apply"))
            return site_new(s, t, SITE_V1, ident, linkage, word, NAME_NONE);
    }
    return site_new(s, t, SITE_ATOM, none, none, none, NAME_NONE);
}

/* An apply id is (unit stamp) or (unit stamp (PARENT ...)); its path is that of its parents, then its own site.
 * Parents have parents, so a stack of ids half read: `next` is the next parent of each. */
uint32_t names_apply(struct names *s, const struct sexp *e, snode n)
{
    struct frame { snode next; uint32_t own; } few[16], *stack = few, *heap = NULL;
    size_t depth = 0, room = 16, cap = 0;
    uint32_t path = 0;
    for (;;) {
        size_t k = sexp_is_list(e, n) ? sexp_count(e, n) : 0;
        if (k != 2 && k != 3) sexp_die(e, n, "not an apply id (UNIT STAMP) or (UNIT STAMP (PARENT ...))");
        snode unit = sexp_first(e, n), stamp = sexp_after(e, unit);
        if (depth == room) {
            heap = grow(heap, depth + 1, &cap, sizeof *heap);
            if (stack == few) memcpy(heap, few, sizeof few);
            stack = heap;
            room = cap;
        }
        stack[depth++] =
            (struct frame){ k == 3 ? sexp_first(e, sexp_after(e, stamp)) : SEXP_NONE, names_site(s, e, unit, stamp) };
        while (depth && stack[depth - 1].next == SEXP_NONE) path = path_add(s, path, stack[--depth].own);
        if (!depth) break;
        n = stack[depth - 1].next;
        stack[depth - 1].next = sexp_after(e, n);
    }
    free(heap);
    return path;
}

uint32_t names_path(struct names *s, const struct sexp *e, snode n)
{
    if (!sexp_is_list(e, n)) sexp_die(e, n, "not a path");
    uint32_t path = 0;
    for (snode x = sexp_first(e, n); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (sexp_is_atom(e, x)) {
            str t = sexp_atom(e, x);
            no_blank(e, x, t);
            if (!t.n || t.s[0] == '{' || t.s[0] == '<') sexp_die(e, x, "'%.*s' is not a call site", (int)t.n, t.s);
            path = path_add(s, path, names_site_of(s, t));
            continue;
        }
        if (sexp_count(e, x) != 2) sexp_die(e, x, "not a step (UNIT STAMP) of a path");
        snode unit = sexp_first(e, x), stamp = sexp_after(e, unit);
        if (sexp_is_atom(e, unit))
            path = path_add(s, path, names_site_v0(s, names_closure(s, e, stamp), names_number(e, unit)));
        else path = path_add(s, path, names_site(s, e, unit, stamp));
    }
    return path;
}

/* Sites hold a '/' only where a function's name does, in V0; there a path is a single site. */
uint32_t names_path_of(struct names *s, str t)
{
    if (t.n < 3 || t.s[0] != '<' || t.s[t.n - 1] != '>') return path_add(s, 0, names_site_of(s, t));
    t = (str){ t.s + 1, t.n - 2 };
    uint32_t whole = names_site_of(s, t);
    if (s->site[whole].kind == SITE_V0 || !memchr(t.s, '/', t.n)) return path_add(s, 0, whole);
    uint32_t path = 0;
    for (size_t i = 0; i <= t.n; ) {
        const char *slash = memchr(t.s + i, '/', t.n - i);
        size_t end = slash ? (size_t)(slash - t.s) : t.n;
        path = path_add(s, path, names_site_of(s, (str){ t.s + i, end - i }));
        i = end + 1;
    }
    return path;
}

bool names_unknown(const struct names *s, uint32_t meta)
{
    if (meta == NAME_NONE || s->meta[meta].origin == NAME_NONE) return true;
    str origin = s->closures.name[s->meta[meta].origin];
    return str_is(origin, "unknown__unknown__0") || str_is(origin, "unknown");
}

bool names_is_stub(const struct names *s, uint32_t site)
{
    return s->site[site].kind == SITE_V1 && str_is(part(s, s->site[site].stamp), "Stub");
}

/* ---- paths ---- */

static void path_init(struct names *s)
{
    if (s->n_path) return;
    s->path = grow(s->path, 1, &s->cap_path, sizeof *s->path);
    s->path[0] = (struct path){ 0, NAME_NONE, 0 };
    s->n_path = 1;
}

uint32_t path_add(struct names *s, uint32_t path, uint32_t site)
{
    path_init(s);
    uint32_t *at = map64_at(&s->path_of, (uint64_t)path << 32 | site);
    if (*at == NAME_NONE) {
        *at = (uint32_t)s->n_path;
        s->path = grow(s->path, s->n_path + 1, &s->cap_path, sizeof *s->path);
        s->path[s->n_path++] = (struct path){ path, site, s->path[path].length + 1 };
    }
    return *at;
}

uint32_t path_length(const struct names *s, uint32_t path)
{
    return path ? s->path[path].length : 0;
}

uint32_t path_prefix(const struct names *s, uint32_t path, uint32_t length)
{
    while (path_length(s, path) > length) path = s->path[path].parent;
    return path;
}

bool path_begins(const struct names *s, uint32_t path, uint32_t with)
{
    return path_prefix(s, path, path_length(s, with)) == with;
}

/* the sites of a path, outermost first, in `few` (of FEW) or on the heap; give back with path_close */
enum { FEW = 32 };

static uint32_t *path_open(const struct names *s, uint32_t path, uint32_t *few)
{
    uint32_t n = path_length(s, path), *site = n > FEW ? xmalloc(n, sizeof *site) : few;
    for (uint32_t i = n; i-- > 0; path = s->path[path].parent) site[i] = s->path[path].site;
    return site;
}

static void path_close(uint32_t *site, const uint32_t *few)
{
    if (site != few) free(site);
}

uint32_t path_join(struct names *s, uint32_t path, uint32_t more, uint32_t from)
{
    uint32_t n = path_length(s, more), few[FEW], *site = path_open(s, more, few);
    for (uint32_t i = from; i < n; i++) path = path_add(s, path, site[i]);
    path_close(site, few);
    return path;
}

/* ---- writing ---- */

void names_put_closure(struct buf *b, const struct names *s, uint32_t closure)
{
    buf_str(b, s->closures.name[closure]);
}

static void names_put_site(struct buf *b, const struct names *s, uint32_t site)
{
    buf_str(b, s->sites.name[site]);
}

void names_put_path(struct buf *b, const struct names *s, uint32_t path)
{
    uint32_t n = path_length(s, path);
    if (n == 1 && s->site[s->path[path].site].kind == SITE_ATOM) {
        names_put_site(b, s, s->path[path].site);
        return;
    }
    uint32_t few[FEW], *site = path_open(s, path, few);
    for (uint32_t i = 0; i < n; i++) {
        buf_char(b, i ? '/' : '<');
        names_put_site(b, s, site[i]);
    }
    buf_char(b, '>');
    path_close(site, few);
}

static void write_unit(sexpw *w, const struct names *s, uint32_t ident, uint32_t linkage)
{
    sexpw_begin(w, NULL);
    sexpw_atom(w, part(s, ident));
    sexpw_atom(w, part(s, linkage));
    sexpw_end(w);
}

void names_write_closure(sexpw *w, const struct names *s, uint32_t k)
{
    const struct closure *c = &s->closure[k];
    if (c->ident == NAME_NONE) {
        sexpw_atom(w, s->closures.name[k]);
        return;
    }
    sexpw_begin(w, NULL);
    write_unit(w, s, c->ident, c->linkage);
    sexpw_atom(w, part(s, c->name));
    sexpw_atom(w, part(s, c->stamp));
    sexpw_end(w);
}

static void write_option(sexpw *w, const struct names *s, uint32_t closure)
{
    sexpw_begin(w, NULL);
    if (closure != NAME_NONE) names_write_closure(w, s, closure);
    sexpw_end(w);
}

void names_write_meta(sexpw *w, const struct names *s, uint32_t k, int n_fields)
{
    struct meta m = { NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, 5 };
    if (k != NAME_NONE) m = s->meta[k];
    if (!n_fields) n_fields = m.n_fields ? m.n_fields : 5;
    sexpw_begin(w, NULL);
    write_option(w, s, m.closure_id);
    sexpw_begin(w, NULL);
    sexpw_end(w);
    if (m.origin != NAME_NONE) {
        names_write_closure(w, s, m.origin);
    } else {
        sexpw_begin(w, NULL);
        sexpw_begin(w, "unknown");
        sexpw_cstr(w, "unknown");
        sexpw_end(w);
        sexpw_cstr(w, "unknown");
        sexpw_int(w, 0);
        sexpw_end(w);
    }
    if (n_fields > 3) write_option(w, s, m.opt_origin);
    if (n_fields > 4) {
        sexpw_begin(w, NULL);
        if (m.specialised != NAME_NONE) names_write_apply(w, s, m.specialised, true);
        sexpw_end(w);
    }
    sexpw_end(w);
}

/* the two items of (unit stamp); V0 sites are (offset callee), atoms stand for themselves */
static void write_site_items(sexpw *w, const struct names *s, const struct apply_site *x)
{
    if (x->kind == SITE_V0) {
        sexpw_atom(w, part(s, x->stamp));
        names_write_closure(w, s, x->a);
        return;
    }
    write_unit(w, s, x->a, x->b);
    str word = part(s, x->stamp);
    int kind = 0;
    while (kind < STUB && !str_begins(word, stamp_key[kind])) kind++;
    sexpw_begin(w, stamp_head[kind]);
    size_t skip = strlen(stamp_key[kind]) + 1;
    if (kind != STUB) sexpw_atom(w, (str){ word.s + skip, word.n - skip - 1 });
    sexpw_end(w);
}

/* (unit stamp); V0: (offset closure) */
static void names_write_site(sexpw *w, const struct names *s, uint32_t k)
{
    if (s->site[k].kind == SITE_ATOM) {
        sexpw_atom(w, s->sites.name[k]);
        return;
    }
    sexpw_begin(w, NULL);
    write_site_items(w, s, &s->site[k]);
    sexpw_end(w);
}

void names_write_path(sexpw *w, const struct names *s, uint32_t path)
{
    uint32_t n = path_length(s, path), few[FEW], *site = path_open(s, path, few);
    sexpw_begin(w, NULL);
    for (uint32_t i = 0; i < n; i++) names_write_site(w, s, site[i]);
    sexpw_end(w);
    path_close(site, few);
}

/* The last site is the own stamp; the others become its parents, outermost first, each without parents of its own. */
void names_write_apply(sexpw *w, const struct names *s, uint32_t path, bool parents)
{
    const struct apply_site *x = &s->site[s->path[path].site];
    if (x->kind == SITE_ATOM) {
        names_write_path(w, s, path);
        return;
    }
    sexpw_begin(w, NULL);
    write_site_items(w, s, x);
    if (parents) {
        uint32_t n = path_length(s, path), few[FEW], *site = path_open(s, path, few);
        sexpw_begin(w, NULL);
        for (uint32_t i = 0; i + 1 < n; i++) {
            sexpw_begin(w, NULL);
            write_site_items(w, s, &s->site[site[i]]);
            sexpw_begin(w, NULL);
            sexpw_end(w);
            sexpw_end(w);
        }
        sexpw_end(w);
        path_close(site, few);
    }
    sexpw_end(w);
}

/* str.c - see str.h */
#include "base/str.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include <fnmatch.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

str str_of(const char *s)
{
    return (str){ s, strlen(s) };
}

bool str_eq(str a, str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

bool str_is(str a, const char *s)
{
    return str_eq(a, str_of(s));
}

bool str_begins(str a, const char *with)
{
    size_t n = strlen(with);
    return a.n >= n && (n == 0 || memcmp(a.s, with, n) == 0);
}

int str_cmp(str a, str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    return (n ? memcmp(a.s, b.s, n) : 0) ?: ORDER(a.n, b.n);
}

size_t str_character(str s)
{
    const unsigned char *p = (const unsigned char *)s.s, c = s.n ? *p : 0;
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n > s.n) return 0;
    for (size_t k = 1; k < n; k++) if ((p[k] & 0xc0) != 0x80) return 0;
    unsigned char d = n > 2 ? p[1] : 0;
    bool overlong = (c == 0xe0 && d < 0xa0) || (c == 0xf0 && d < 0x90);
    return overlong || (c == 0xed && d >= 0xa0) || (c == 0xf4 && d >= 0x90) ? 0 : n;
}

bool str_like(str s, str pattern)
{
    static bool set;
    if (!set) setlocale(LC_CTYPE, "C.UTF-8");
    set = true;
    char *both = xmalloc(size_add(size_add(s.n, pattern.n), 2), 1), *p = both + s.n + 1;
    memcpy(both, s.s ? s.s : "", s.n);
    memcpy(p, pattern.s, pattern.n);
    both[s.n] = p[pattern.n] = '\0';
    const bool like = fnmatch(p, both, 0) == 0;
    free(both);
    return like;
}

/* Eight bytes a step through a 128-bit product, the mixing idea of wyhash (Wang Yi, 2019). */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *s = p;
    uint64_t h = seed ^ 0x9e3779b97f4a7c15u ^ n * 0xff51afd7ed558ccdu;
    while (n) {
        uint64_t w = 0;
        size_t k = n < 8 ? n : 8;
        for (size_t i = 0; i < k; i++) w |= (uint64_t)s[i] << (8 * i);
        unsigned __int128 m = (unsigned __int128)(h ^ w) * 0xa0761d6478bd642fu;
        h = (uint64_t)m ^ (uint64_t)(m >> 64);
        s += k;
        n -= k;
    }
    unsigned __int128 m = (unsigned __int128)(h ^ 0xe7037ed1a0b428dbu) * 0x8ebc6af09c88c6e3u;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

void buf_add(struct buf *b, const char *s, size_t n)
{
    b->s = grow(b->s, size_add(b->n, n) + 1, &b->cap, 1);
    if (n) memcpy(b->s + b->n, s, n);
    b->s[b->n += n] = 0;
}

void buf_str(struct buf *b, str s)
{
    buf_add(b, s.s, s.n);
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_format(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) die("cannot format a message");
    b->s = grow(b->s, size_add(b->n, (size_t)n) + 1, &b->cap, 1);
    vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
    va_end(again);
    b->n += (size_t)n;
}

/* open addressing; a slot holds number + 1, 0 is empty; at most half full */
static size_t probe(const struct intern *t, str s)
{
    size_t i = hash_bytes(s.s, s.n, 0) & (t->nslot - 1);
    while (t->slot[i] && !str_eq(t->name[t->slot[i] - 1], s)) i = (i + 1) & (t->nslot - 1);
    return i;
}

long intern_find(const struct intern *t, str s)
{
    if (!t->nslot) return -1;
    return (long)t->slot[probe(t, s)] - 1;
}

uint32_t intern(struct intern *t, str s)
{
    if (t->n * 2 >= t->nslot) {
        if (t->n >= UINT32_MAX / 4) die("more than %zu distinct names", t->n);
        t->nslot = t->nslot ? t->nslot * 2 : 64;
        t->slot = xrealloc(t->slot, t->nslot, sizeof *t->slot);
        memset(t->slot, 0, t->nslot * sizeof *t->slot);
        for (size_t i = 0; i < t->n; i++) t->slot[probe(t, t->name[i])] = (uint32_t)i + 1;
    }
    size_t i = probe(t, s);
    if (!t->slot[i]) {
        t->name = grow(t->name, t->n + 1, &t->cap, sizeof *t->name);
        t->name[t->n++] = (str){ arena_copy(&t->text, s.s, s.n), s.n };
        t->slot[i] = (uint32_t)t->n;
    }
    return t->slot[i] - 1;
}

void intern_free(struct intern *t)
{
    free(t->name);
    free(t->slot);
    arena_free(&t->text);
    *t = (struct intern){ 0 };
}

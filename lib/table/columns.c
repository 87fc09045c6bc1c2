/* columns.c - see columns.h */
#include "table/columns.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>

bool columns_hold(struct columns c, int col)
{
    for (int i = 0; i < c.n; i++) if (c.v[i] == col) return true;
    return false;
}

static void add(struct columns *c, int col, const char *option)
{
    if (columns_hold(*c, col)) usage("%s names a column twice", option);
    c->v = xrealloc(c->v, (size_t)c->n + 1, sizeof *c->v);
    c->v[c->n++] = col;
}

static void add_matches(const csv *t, struct columns *c, const char *pattern, const char *option)
{
    int before = c->n;
    for (int i = 0; i < csv_ncol(t); i++)
        if (str_like(csv_name(t, i), str_of(pattern))) add(c, i, option);
    if (c->n == before) die_at(csv_file(t), 1, "no column matches '%s'", pattern);
}

static void add_range(const csv *t, struct columns *c, const char *from, const char *to, const char *option)
{
    int a = csv_need(t, from), b = csv_need(t, to);
    for (int i = a; i != b; i += a < b ? 1 : -1) add(c, i, option);
    add(c, b, option);
}

static struct columns parse(const csv *t, const char *names, bool patterns, const char *option)
{
    struct columns c = { 0 };
    for (const char *p = names;; p++) {
        size_t n = strcspn(p, ",");
        char *name = xformat("%.*s", (int)n, p);
        bool pattern = patterns && csv_find(t, name) < 0;   /* a name as it stands is that column */
        char *range = pattern ? strstr(name, "..") : NULL;
        if (!n) usage("%s: a column name is empty in '%s'", option, names);
        if (range) {
            *range = 0;
            add_range(t, &c, name, range + 2, option);
        } else if (pattern && strpbrk(name, "*?[")) add_matches(t, &c, name, option);
        else add(&c, csv_need(t, name), option);
        free(name);
        p += n;
        if (!*p) return c;
    }
}

struct columns columns_of(const csv *t, const char *names, const char *option)
{
    return parse(t, names, false, option);
}

struct columns columns_matching(const csv *t, const char *patterns, const char *option)
{
    return parse(t, patterns, true, option);
}

void columns_named(struct intern *t, const char *names, const char *option)
{
    for (const char *p = names;; p++) {
        size_t n = strcspn(p, ","), before = t->n;
        if (!n || intern(t, (str){ p, n }) != before)
            usage("%s: a name is empty or comes twice in '%s'", option, names);
        p += n;
        if (!*p) return;
    }
}

struct columns columns_all(const csv *t)
{
    struct columns c = { xmalloc((size_t)csv_ncol(t), sizeof *c.v), csv_ncol(t) };
    for (int i = 0; i < c.n; i++) c.v[i] = i;
    return c;
}

struct columns columns_without(const csv *t, struct columns those)
{
    struct columns c = { xmalloc((size_t)csv_ncol(t) + 1, sizeof *c.v), 0 };
    for (int i = 0; i < csv_ncol(t); i++) if (!columns_hold(those, i)) c.v[c.n++] = i;
    return c;
}

str columns_key(const csv *t, struct columns c, struct buf *b)
{
    if (c.n == 1) return csv_str(t, c.v[0]);
    b->n = 0;
    for (int i = 0; i < c.n; i++) {
        str s = csv_str(t, c.v[i]);
        buf_add(b, (const char *)&s.n, sizeof s.n);      /* lengths first: no value can look like two */
        buf_str(b, s);
    }
    return (str){ b->s, b->n };
}

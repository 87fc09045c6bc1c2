#include "table.h"
#include <stdlib.h>
#include <string.h>

static struct word *slot[1024];

unsigned hash_step(unsigned h, char c)
{
    return (h ^ (unsigned char)c) * 16777619u;
}

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    while (*s) h = hash_step(h, *s++);
    return h;
}

static int same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

static struct word *fresh(const char *text, struct word **where)
{
    struct word *w = calloc(1, sizeof *w);
    if (!w) abort();
    strncpy(w->text, text, sizeof w->text - 1);
    w->next = *where;
    *where = w;
    return w;
}

struct word *table_find(const char *text)
{
    struct word **s = &slot[hash(text) % 1024];
    for (struct word *w = *s; w; w = w->next) if (same(w->text, text)) return w;
    return fresh(text, s);
}

unsigned table_list(struct word **out, unsigned max)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 1024; i++) for (struct word *w = slot[i]; w && n < max; w = w->next) out[n++] = w;
    return n;
}

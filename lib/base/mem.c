/* mem.c - see mem.h */
#include "base/mem.h"
#include "base/message.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(ALIGN) char bytes[];
};

void *xrealloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) die("out of memory (%zu x %zu bytes)", n, size);
    p = realloc(p, bytes ? bytes : 1);
    if (!p) die("out of memory (%zu bytes)", bytes);
    return p;
}

void *xmalloc(size_t n, size_t size)
{
    return xrealloc(NULL, n, size);
}

void *xcalloc(size_t n, size_t size)
{
    if (size && n > PTRDIFF_MAX / size) die("out of memory (%zu x %zu bytes)", n, size);
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p) die("out of memory (%zu x %zu bytes)", n, size);
    return p;
}

char *xstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(xmalloc(n, 1), s, n);
}

char *xstrndup(const char *s, size_t n)
{
    char *copy = xmalloc(n + 1, 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

void free_each(void **p, size_t n)
{
    for (size_t i = 0; i < n; i++) free(p[i]);
}

char *xformat(const char *fmt, ...)
{
    char *s;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0) die("out of memory");
    return s;
}

void *grow(void *p, size_t need, size_t *cap, size_t size)
{
    if (need <= *cap) return p;
    size_t want = *cap + *cap / 2 + 16;
    *cap = want > need ? want : need;
    return xrealloc(p, *cap, size);
}

void *arena_get(struct arena *a, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - BLOCK) die("out of memory (%zu bytes)", bytes);
    size_t n = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < n) {
        size_t size = n > BLOCK ? n : BLOCK;
        b = xmalloc(1, sizeof *b + size);
        *b = (struct arena_block){ .next = a->head, .size = size };
        a->head = b;
    }
    void *p = b->bytes + b->used;
    b->used += n;
    return p;
}

char *arena_copy(struct arena *a, const char *s, size_t n)
{
    char *p = arena_get(a, n + 1);
    if (n) memcpy(p, s, n);
    p[n] = 0;
    return p;
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->head;
    if (!keep) return;
    for (struct arena_block *b = keep->next, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    keep->next = NULL;
    keep->used = 0;
}

void arena_free(struct arena *a)
{
    arena_reset(a);
    free(a->head);
    a->head = NULL;
}

ssize_t text_line(FILE *f, const char *path, char **line, size_t *room)
{
    ssize_t n = getline(line, room, f);
    if (n < 0 && !feof(f)) die_errno("%s", path);
    return n;
}

/* mem.h - memory that cannot be NULL, and arenas for things that die together.
 *
 * All functions die("out of memory") instead of returning NULL; sizes are checked for overflow. */
#ifndef MILLRACE_MEM_H
#define MILLRACE_MEM_H
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

void *xmalloc(size_t n, size_t size);                    /* n objects of size bytes, not cleared */
void *xcalloc(size_t n, size_t size);                    /* the same, zeroed */
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xformat(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* a fresh string; caller frees */

/* Room for at least `need` objects in p, whose capacity is *cap: returns p, moved and doubled when it is full. */
void *grow(void *p, size_t need, size_t *cap, size_t size);

/* free() each of the arguments: free_all(p->id, p->size, p); */
#define free_all(...) free_each((void *[]){ __VA_ARGS__ }, sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *))
void free_each(void **p, size_t n);

/* getline() of a file called `path`, for messages.  Negative is the end and nothing else: where memory is refused
 * getline says the same as at the end, without ferror(). */
ssize_t text_line(FILE *, const char *path, char **line, size_t *room);

/* memcpy without a call for the short texts that tables are made of */
static inline void copy_short(char *to, const char *from, size_t n)
{
    if (n > 16) memcpy(to, from, n);
    else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else if (n) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

/* Arena: many small allocations, freed at once.  Zero-initialise.  Pointers stay valid until reset or free. */
struct arena { struct arena_block *head; };
void *arena_get(struct arena *, size_t bytes);           /* 16-byte aligned, not cleared */
char *arena_copy(struct arena *, const char *s, size_t n);   /* n bytes and a NUL */
void arena_reset(struct arena *);                        /* forget all, keep the memory of one block */
void arena_free(struct arena *);
#endif

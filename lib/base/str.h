/* str.h - borrowed byte slices, a growing buffer, and interning: equal text, equal small integer. */
#ifndef MILLRACE_STR_H
#define MILLRACE_STR_H
#include "base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { const char *s; size_t n; } str;         /* borrowed, not NUL-terminated; s may be NULL when n is 0 */

str str_of(const char *s);                               /* of a C string */
bool str_eq(str a, str b);
bool str_is(str a, const char *s);
bool str_begins(str a, const char *with);
int str_cmp(str a, str b);                               /* byte order, shorter first: < 0, 0, > 0 */
bool str_like(str, str pattern);                         /* with * ? [..] of a shell; characters are UTF-8's */
size_t str_character(str);                               /* bytes of the UTF-8 character it begins with; 0: none */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);   /* stable over machines and versions: may be stored */

/* Growing byte buffer.  Zero-initialise; b.s is NUL-terminated after every call; free(b.s) at the end. */
struct buf { char *s; size_t n, cap; };
void buf_add(struct buf *, const char *s, size_t n);
void buf_str(struct buf *, str);
void buf_char(struct buf *, char c);
void buf_format(struct buf *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Interning: 0, 1, 2, ... in order of first appearance, so nothing ever depends on hash order.  Zero-initialise. */
struct intern { str *name; size_t n, cap; uint32_t *slot; size_t nslot; struct arena text; };
uint32_t intern(struct intern *, str);                   /* copies new text; the same text gives the same number */
long intern_find(const struct intern *, str);            /* -1 if never seen */
void intern_free(struct intern *);
#endif

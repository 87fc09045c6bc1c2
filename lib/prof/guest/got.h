/* got.h - one object's calls of one function of another object lead elsewhere: the slot that the loader bound is
 * changed, what others call stays as it is.  Pages that the loader made read-only get their rights back. */
#ifndef MILLRACE_GOT_H
#define MILLRACE_GOT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* in every loaded object whose name contains `name` (NULL: any) and that holds the address (0: any); how many slots */
size_t got_point(const char *name, uintptr_t holds, const char *function, uintptr_t to);
#endif

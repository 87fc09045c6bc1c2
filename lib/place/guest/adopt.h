/* adopt.h - calls of one loaded library that go elsewhere from now on.
 *
 * What a preloaded library does for a whole process from its start, this does later and for one library: entries of
 * its table of imported functions are changed.  x86-64 and ELF; elsewhere nothing is found. */
#ifndef MILLRACE_PLACE_ADOPT_H
#define MILLRACE_PLACE_ADOPT_H
#include <stddef.h>

struct call { const char *name; void *to; };

/* library: how the name of its file begins.  Entries changed. */
int adopt(const char *library, const struct call *, size_t n);
#endif

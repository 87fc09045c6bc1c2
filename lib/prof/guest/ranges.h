/* ranges.h - where the code of the interpreter, of libc and of extensions lies. */
#ifndef MILLRACE_RANGES_H
#define MILLRACE_RANGES_H
#include <stdbool.h>
#include <stdint.h>

enum { INTERPRETER, LIBC, EXTENSION, UNKNOWN };
/* standard: of Python's own library */
struct code_range { uintptr_t from, to; int kind; bool standard; char name[64]; };

void ranges_find(void);                                  /* of what is loaded now */
const struct code_range *ranges_at(uintptr_t);           /* NULL: nobody's */
int ranges_kind(const void *);
unsigned long long ranges_objects(void);                 /* how many shared objects have been loaded so far */
#endif

/* sizes.h - text_bytes of programs under labels, from a table of bench-count whose column run is PROGRAM.INPUT. */
#ifndef MILLRACE_SIZES_H
#define MILLRACE_SIZES_H
#include "base/str.h"

struct size { str program; long label; double bytes; };
struct sizes { struct size *v; size_t n, cap; struct arena text; };      /* zero-initialise */

str sizes_program(str run);                              /* PROGRAM of PROGRAM.INPUT, which may hold dots itself */
void sizes_read(struct sizes *, const char *path, const struct intern *labels);
double size_ratio(const struct sizes *, str program, long label, long base);     /* nan: one is not known */
#endif

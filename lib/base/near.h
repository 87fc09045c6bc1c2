/* near.h - did you mean: which of the names that there are is nearest to one that is not.
 *
 * The distance is the number of letters put in, left out, changed or exchanged with their neighbour (Damerau, 1964); a
 * name that begins with the other is near, too.  Zero-initialise but for `want`. */
#ifndef MILLRACE_NEAR_H
#define MILLRACE_NEAR_H
#include "base/str.h"

struct near { str want, best; size_t distance; };

void near_offer(struct near *, str name);                /* borrowed; the first of equals stays */
#endif

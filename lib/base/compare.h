/* compare.h - what a comparison for qsort() is made of
 *
 * -1, 0 or 1 where a stands before b, beside it or after it.  Keys that follow one another are joined by ?:, as in
 * ORDER(x->name, y->name) ?: ORDER(x->row, y->row); downwards, the two are exchanged. */
#ifndef MILLRACE_COMPARE_H
#define MILLRACE_COMPARE_H
#include <string.h>
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline int order_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return ORDER(x, y);
}

static inline int order_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}
#endif

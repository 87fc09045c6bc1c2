/* sumtree.h - weights of places that change often, drawn in proportion; each operation takes log n steps. */
#ifndef MILLRACE_SUMTREE_H
#define MILLRACE_SUMTREE_H
#include <stddef.h>

struct sumtree { long leaves; double *sum; };            /* leaf i is sum[leaves + i]; sum[1] is the total */
struct sumtree sumtree_new(long places);
void sumtree_set(struct sumtree *, long place, double weight);
double sumtree_get(const struct sumtree *, long place);
long sumtree_find(const struct sumtree *, double mass);  /* of 0 <= mass < total: a place of positive weight */
void sumtree_again(struct sumtree *);                    /* the sums, after leaves were written directly */
void sumtree_free(struct sumtree *);
#endif

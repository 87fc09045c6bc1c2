/* cells.h - the table of cells (see overlap.h) in memory, its sets, and sums over it. */
#ifndef MILLRACE_CELLS_H
#define MILLRACE_CELLS_H
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

struct cell_row {
    const char *proc, *phase, *op, *cats;                /* "" where the input has no such column */
    int64_t total, lo, hi, runs;                         /* ns; lo, hi, runs 0 where absent */
};
struct cells { struct cell_row *v; size_t n, cap; struct arena text; };   /* zero-initialise */
void cells_read(struct cells *, char **paths);           /* needs cats and total_ns */

bool set_has(const char *set, const char *member);
size_t set_size(const char *set);
bool is_overhead(str category);                          /* begins with "ovh:" */
bool is_gpu(str category);                               /* GPU, or Communication: NCCL's kernels */
bool set_has_gpu(const char *set);

/* Which categories run where: GPU and Communication on the GPU, overhead nowhere, all others on the CPU. */
enum { ON_CPU = 1, ON_GPU = 2 };
unsigned resources_of(const char *cats);                 /* mask of ON_ */
extern const char *const resources_name[4];              /* "", CPU, GPU, CPU+GPU */

/* Sums by a text key, kept sorted by set_cmp of the parts: what the views and the venn form are made of. */
struct sum { const char *part[4]; int64_t total; };
struct sums { struct sum *v; size_t n, cap; };
int sums_order(const struct sum *, const struct sum *, int parts);   /* of the first parts */
void sums_add(struct sums *, const struct sum *);        /* parts borrowed; NULL parts at the end */
void sums_merge(struct sums *);                          /* sort, add up equal keys */

/* The last part is a set.  Inclusive: for each set that occurs and each single member, the sum over all its supersets.
 * Exclusive: the inverse.  Both within rows whose other parts agree; result ordered by size of the set, then members.
 * */
void sums_inclusive(struct sums *, int part, struct arena *);
void sums_exclusive(struct sums *, int part);
#endif

/* many.h - a product whose weights are packed, for any number of rows: one layout of B, kernels of 1 to some rows.
 *
 * B is in panels of two vectors.  Columns are done a block after the other, such that B's stays in the second cache
 * while all rows pass; rows in nearly equal chunks, of as many as the registers take (carry_run_rows). */
#ifndef MILLRACE_MANY_H
#define MILLRACE_MANY_H
#include "loop/code/image.h"

struct image_rows {
    struct carry_rows about;                             /* but where its kernels are */
    struct problem chunk[CARRY_ROWS + 1];                /* of 1 .. about.most rows */
    struct nest nest[CARRY_ROWS + 1][ISAS];
};
const char *many_nest(struct nest *, const struct problem *, enum isa);    /* of NAME; or why there is none */
const char *many_plan(struct image_rows *, const struct image_kernel *);
#endif

/* parts.h - a problem cut along the slowest variable of C, so that any number of threads can each do a part of it.
 *
 * A part is a problem of its own: fewer of that variable, tensors that begin elsewhere with the strides of the whole.
 * The variable is cut into units, about as many rows as a tile has, 8 to 64 of them if there are; the last one has what
 * is left.  Thread i of n does those from i / n to (i + 1) / n of them, by code for 1, 2, 4 .. units (carry_run_part),
 * so that no two write the same element, whatever n is.  Blocks of inputs that all parts need are packed by each. */
#ifndef MILLRACE_PARTS_H
#define MILLRACE_PARTS_H
#include "loop/code/image.h"

struct image_parts {
    struct carry_parts about;                            /* but where its kernels are */
    struct problem chunk[CARRY_CHUNKS];                  /* of about.chunk; [0], the whole, is not set */
    int var;                                             /* -1: not cut, for this reason */
    const char *why;
};
void parts_plan(struct image_parts *, const struct image_kernel *);
#endif

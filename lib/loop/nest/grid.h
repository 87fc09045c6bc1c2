/* grid.h - lists of problems: every combination of lists of sizes, or the convolutions of a network.
 *
 * A list of sizes is numbers and ranges: 8,16 or 8|16 or 64:256 or 64:256:16, the end counts.  Anything else is wrong
 * usage of the option that has the name of the size. */
#ifndef MILLRACE_GRID_H
#define MILLRACE_GRID_H
#include "loop/nest/nest.h"

struct grid {
    bool permute;                                        /* every problem in each order of its untiled loops */
    char **text;                                         /* canonical problems, n of them, owned */
    size_t n, cap;
};

/* the last size varies fastest; param and list as long as the kind has sizes */
void grid_sizes(struct grid *, const char *kind, const char *const *param, const char *const *list, int n);
/* count different problems, each size drawn from its list: an item evenly, in a range evenly by its logarithm */
void grid_sample(struct grid *, const char *kind, const char *const *param, const char *const *list, int n,
                 size_t count, uint64_t seed);
/* "bert", "llama" (dense layers for so many tokens, of type f32, bf16, u8s8 or s8s8), "resnet50", "vgg19" (batch 1),
 * "mobilenet2", "efficientnet", "attention", "thin", "large", "vit", "whisper", "rows" and "grouped" */
enum grid_type { GRID_F32, GRID_BF16, GRID_U8S8, GRID_S8S8 };
void grid_set(struct grid *, const char *set, enum grid_type, bool nhwc, int tokens);
/* "mk,kn->mn" with sizes "m=8", .. as one (nest ..), or "mk,nk,no->mo" as two contractions with `mid` between them
 * (NULL: nothing); usage() where that is none */
void grid_einsum(struct grid *, const char *einsum, const char *const *sizes, int nsize, const char *mid);
void grid_add(struct grid *, char *text);                /* a problem, once if it comes again; text is taken */
#endif

/* image.h - kernels that leave the program: as an object, a shared library, C text, or memory to be called.
 *
 * An image is one run of position-independent bytes without relocations (what carries, descriptions, code) and a few
 * bytes of zeroed state.  For each kernel NAME it has, with TYPE the tensors' element (float; see carry.h for others):
 *   int NAME(TYPE *c, const TYPE *a, const TYPE *b)              row-major and dense, as in the problem's text
 *   int NAME_ld(TYPE *c, int64_t ldc, const TYPE *a, int64_t lda, const TYPE *b, int64_t ldb)   rows that far apart
 *   void NAME_pack(TYPE *packed, const TYPE *b)      where B stays: from row-major (and then there is no _ld)
 * A problem with (then ..) has NAME(TYPE *c, a, b, const float *bias, const float *residual), where those it has no
 * word for may be NULL, c is uint16_t after bf16 or f16 and else float (all three are double in sums of doubles); its
 * NAME_ld ends with these two, and the rows of the residual are ldc elements apart.  Two contractions have
 * NAME(c, a, b, v) and NAME_ld(.., v, ldv).
 *   int NAME_part(int thread, int threads, ..)      as NAME: the part of one thread of so many, see parts.h; one call
 *                          for each of them is NAME, in any order or at once
 *   int NAME_rows(int64_t rows, ..)      as NAME, of any number of rows, see many.h
 *   int NAME_test(void)    0: equal to plain loops on small numbers
 *   int NAME_isa(void)     bits of enum carry_cpu that it runs with on this machine; 0: plain loops
 * C is overwritten, or with `add` added to.  A and B of NAME may be anywhere and need no alignment; no tensor may
 * overlap C.  Kernels may be called by any number of threads at once; scratch memory is mapped at the first call and
 * kept for the next.  Registers: System V; AVX state is left clean. */
#ifndef MILLRACE_IMAGE_H
#define MILLRACE_IMAGE_H
#include "loop/code/kernel.h"
#include <stdio.h>

struct image_kernel {                                    /* what to emit: the nest may differ by instruction set */
    const char *name;                                    /* a C identifier, at most 64 characters */
    const struct problem *p;
    const struct nest *nest[ISAS];                       /* by enum isa; NULL: not for this one */
    bool add, parts, rows;                               /* with NAME_part, with NAME_rows (many.h) */
};

struct image {
    struct buf bytes;
    struct image_symbol { char name[72]; size_t at, size; } *symbol;
    size_t nsymbol, symbol_cap;
    struct image_site { size_t at; int32_t add; } *site; /* 32 bits that become the distance to the state, plus add */
    size_t nsite, site_cap;
};

void image_begin(struct image *);
const char *image_add(struct image *, const struct image_kernel *);  /* NULL, or why it cannot be emitted */
void image_object(const struct image *, FILE *);         /* ELF, relocatable */
void image_shared(const struct image *, FILE *, const char *soname);
void image_header(FILE *, const struct image_kernel *, size_t n);
/* executable memory, or NULL; stays for good.  The address of a symbol is at + its offset. */
void *image_load(const struct image *);
const struct image_symbol *image_find(const struct image *, const char *name);     /* NULL: none */
void image_free(struct image *);

enum image_call { CALL_PLAIN, CALL_LD, CALL_PART, CALL_ROWS, CALLS };      /* NAME, NAME_ld, NAME_part, NAME_rows */
void image_declare(struct buf *, const struct image_kernel *, enum image_call);
bool image_has(const struct image_kernel *, enum image_call);
int64_t image_packed(const struct image_kernel *);       /* elements of B as NAME_pack leaves it, in groups */
const char *image_weights(const struct problem *);       /* C's name of the elements that NAME_pack packs */
struct image_form { int isa; enum kernel_unit unit; };
/* the description of a kernel as far as it is the same for both; shared by the writers */
void image_describe(struct carry_kernel *, const struct image_kernel *);
const char *image_variant(struct carry_kernel *, int i, struct kernel *, const struct image_kernel *,
                          struct image_form);
/* the next one to be written, from { ISAS } on: each instruction set that has a nest, where that is by the unit for
 * bf16 (the kernel just encoded says so) without it once more; false: no more */
bool image_next(struct image_form *, const struct image_kernel *, const struct kernel *);
#endif

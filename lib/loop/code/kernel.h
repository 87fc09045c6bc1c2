/* kernel.h - a loop nest as machine code or C text: a plan (plan.h), its instructions (ir.h), their bytes; run.
 *
 * Accumulators start at zero (C is overwritten), or are loaded when a reduction loop runs outside the tile.  Remainders
 * are code of their own, a last partial vector is masked.  Where both inputs have the vector variable (a depthwise
 * convolution with channels last), both are read as vectors; where it is a reduction, its lanes are summed at the end.
 * A tensor in which the vector variable is not at unit stride is transposed into scratch on every run, block by block
 * where the outer loops all move through it; that time is part of the run.
 * Signed bytes in A are copied, 128 more, before the nest or as its blocks are packed, since VNNI multiplies unsigned
 * bytes by signed ones; sums begin at -128 times those of the columns of B, which stand behind the rows of each panel
 * of the weights.  AMX multiplies them as they are.
 * The memory of the code is writable while it is written and executable afterwards, never both. */
#ifndef MILLRACE_KERNEL_H
#define MILLRACE_KERNEL_H
#include "loop/code/plan.h"

enum { ENCODER_VERSION = 17 };                           /* part of the key of stored measurements */
struct ir;

struct kernel {
    enum isa isa;
    int rows, vectors, vector_var;                       /* the largest register tile; what is in the vectors */
    size_t bytes;                                        /* of code, with what follows it */
    struct transposition change[3];
    bool whole;                                          /* set by the caller: inputs are transposed before the nest */
    bool given;                                          /* B is taken as kernel_weights leaves it, see there, */
    int64_t sums;                                        /* with carry_sums so far behind it in each panel; or 0 */
    bool fixed;                                          /* set by the caller: `rows` of plan_ask */
    bool add;                                            /* set by the caller: C += A B, not C = A B */
    enum kernel_unit unit;                               /* set by the caller */
    struct loop_plan *plan;                                   /* what was decided, and its instructions */
    struct ir *ir;
    bool pairs;                                          /* it is by the unit: V is as carry_pairs leaves it */
    bool cast;                                           /* C has 2 bytes an element; its sums are in scratch */
    struct carry_extra extra;                            /* set by the caller: what follows the sum reads this; V */
    struct carry_kernel about;                           /* what that is told */
    struct buf *text;                                    /* set by the caller: C statements go there instead of code */
    uint8_t *region;                                     /* memory of the code, reused from call to call */
    size_t scratch_bytes[4];                             /* what each tensor needs, and S; 0: none */
    int64_t second_at;                                   /* V, stored as halves, is floats so far in scratch[3]; or 0 */
    size_t scratch_room[4];
    float *scratch[4];
};

/* NULL and a kernel ready to run, or the reason why this nest has no code (a short sentence).  Zero-initialise the
 * kernel before the first call; it may be encoded again and again.  The code is position-independent and needs nothing
 * but its arguments (struct carry_context), so it may be copied elsewhere.  Where elements are doubles, pointers to
 * floats lead to doubles, here and below. */
const char *kernel_encode(struct kernel *, const struct problem *, const struct nest *, enum isa);
void kernel_run(const struct kernel *, float *c, const float *a, const float *b);
/* the same by the instructions one by one, on any machine: NULL, or that an address is outside of its tensor */
const char *kernel_interpret(const struct kernel *, float *c, const float *a, const float *b);
/* In products of types narrower than float, and where the problem says (weights packed), B is what stays: it is packed
 * once, whole, before any run, in panels as wide as the nest's tile.  Nothing happens for others.  Emitted kernels have
 * NAME_pack for it. */
void kernel_weights(const struct kernel *, const float *b);
void kernel_prepare(const struct kernel *, const float *a, const float *b); /* the parts of a run: transpose inputs, */
void kernel_body(const struct kernel *, float *c, const float *a, const float *b);     /* compute, */
void kernel_finish(const struct kernel *, float *c);                                   /* transpose the result */
const uint8_t *kernel_bytes(const struct kernel *);      /* the code, .bytes of it */
void kernel_free(struct kernel *);
/* the plan, or its instructions, as lines; or why there is none */
void kernel_print(struct buf *, const struct problem *, const struct nest *, enum isa, bool add, bool instructions);

/* What the encoder would do, without code: the tile, the strides after transpositions, the elements transposed (`far`:
 * those of them that leave the caches in between; `packs`: calls) and those copied as they are, and the cycles of its
 * instructions (two FMAs and two loads a cycle, latency 4) if all data were in the first cache.
 * whole: as in struct kernel.  The same reasons as kernel_encode, but for code that is too long. */
struct kernel_plan {
    int vector_var, rows, vectors, nodes;                /* nodes: of the plan, as long as it took to make */
    int step_var, step;                                  /* so many steps of this reduction at once; -1: one of any */
    int64_t stride[4][NEST_VARS];
    double cycles, moved, copied, far, packs;
    bool pairs;                                          /* A, B and V are two bytes an element */
    bool apart;                                          /* it asks for rows far apart before they are needed */
    bool packed[2];                                      /* block by block, or B before: */
    int64_t given;                                       /* elements of B as kernel_weights leaves it; 0: as it is */
};
const char *kernel_plan(struct kernel_plan *, const struct problem *, const struct nest *, enum isa, bool whole);
const char *kernel_plan_asked(struct kernel_plan *, const struct problem *, const struct nest *,
                              const struct plan_ask *);

void problem_carry(struct carry_kernel *, const struct problem *);   /* as what carries describes it, without code */
/* The same tensors seen by any schedule: slow and right; c is overwritten, 2 bytes an element after a cast.
 * `within` becomes what each element may be off by: for the rounding of gelu, divisions, norms and attention, and
 * of its scores to bf16 where V is at most 4, carried through the words behind them. */
void problem_reference(const struct problem *, float *c, float *within, const float *a, const float *b,
                       struct carry_extra);
/* is a result that of the reference: bit by bit, or where it says so within that, 1e-5 and 1e-5 of itself? */
bool problem_equal(const struct problem *, const float *got, const float *want, const float *within);
#endif

/* encode.h - machine code for one loop nest, written byte by byte: AVX-512, AVX2 or AMX on x86-64, a few microseconds
 * each.
 *
 * The rule (after LoopNest, Wasti et al. 2022): the result's variable at unit stride is the vector; walking in from
 * the outermost loop, the first depth at which the result's block fits the vector registers is the register tile.
 * Everything of the result below that depth is unrolled into accumulators, reductions below it become counted loops
 * with an unrolled body, loops above it count down in general registers.  A block that would not fit even innermost
 * is cut to fit.  Remainders are code of their own, a last partial vector is masked.  Accumulators start at zero (C is
 * overwritten), or are loaded when a reduction loop runs outside the tile.
 * Where both inputs have the vector variable (a depthwise convolution with channels last), both are read as vectors.
 * An input that a mark wants packed is copied block by block inside the marked loop: panels as wide as a tile, one
 * behind the other, or rows close together where it is not the one in the vectors.
 * A tensor in which the vector variable is not at unit stride is transposed into scratch on every run; that time is
 * part of the run.  What follows the sum ((then ..) of the problem) is done by a function that travels along, on each
 * block of C once it is complete, while that is in the second cache: the largest such, or what is inside the outermost
 * loop over a reduction that is cut.  Bias and relu alone are done in registers instead, before a tile is stored, where
 * no reduction is cut outside of the tiles.
 * An A with zeros around it is copied with them before the nest, unless all of them are left out.  Where a tile's place
 * says that some of its rows would only add zeros they are left out: blocks at a border and those between are code of
 * their own, so are such steps of a reduction; loops of more than four such kinds stay as they are.
 * An input is transposed block by block inside the outer loops that all move through it, just before the block is used;
 * where there are none, before the nest.  C is transposed after it.
 *
 * Of two contractions each block of S is one nest into scratch, then a function that travels along makes softmax or
 * what else lies between, then the block of C is a nest again.  The vectors are along S's rows in the first (B is
 * transposed if it must be, as above), along C's in the second.  Softmax is made block by block: of each row of C the
 * greatest element of S so far and the sum are kept, and what was summed before is made less when a greater one comes
 * (Milakov and Gimelshein 2018, Dao et al. 2022).  Of attention stored as bf16 both are by the unit for bf16, where it
 * is: sums are floats, what softmax makes of a block of S is rounded to bf16 in its place, V is copied to pairs of rows
 * before the nest.  Odd head sizes and blocks of S that begin with an odd column are computed in floats.
 *
 * Signed bytes in A are copied, 128 more, before the nest or as its blocks are packed, since VNNI multiplies unsigned
 * bytes by signed ones; sums begin at -128 times those of the columns of B, which stand behind the rows of each panel
 * of the weights.  AMX multiplies them as they are.
 *
 * With AMX the tile is of up to four of its tiles of C, each of 16 rows, along one variable that A has and B lacks, by
 * 16 columns of the vector variable; reductions below it count 16 steps (of groups) of the one at unit stride in A.
 * What is left of rows, of columns and of that reduction are tiles of other shapes, which are set outside of all loops
 * that have only one.
 *
 * Where B is larger than half of the second cache, and blocks of it are used again by an inner loop, the block after
 * the present one is asked for, into that cache, a few lines with each step; blocks are rows, or panels of weights.
 *
 * The memory of the code is writable while it is written and executable afterwards, never both. */
#ifndef MILLRACE_ENCODE_H
#define MILLRACE_ENCODE_H
#include "loop/code/carry.h"
#include "loop/nest/nest.h"

enum isa { ISA_AVX2, ISA_AVX512, ISA_AMX, ISAS };         /* AMX: of narrow types, beside AVX-512 */
enum { ENCODER_VERSION = 10 };                            /* part of the key of stored measurements */
extern const char *const isa_name[ISAS];                 /* "avx2", "avx512", "amx" */
bool isa_here(enum isa);                                 /* by cpuid; for AMX the system is asked for leave, too */
enum isa isa_best(void);                                 /* of vectors; dies when neither is here */
enum isa isa_of(str name, bool *good);
int problem_lanes(const struct problem *, enum isa);     /* elements in a vector */
int isa_accumulators(enum isa);                          /* vectors, or tiles, of the result that fit */

struct transposition {                                   /* of a tensor to one with another variable fastest */
    bool needed;
    int var[NEST_VARS];                                  /* of change.size and so on, before some were merged */
    struct carry_change change;
    int64_t elements;
    int32_t panel;                                       /* see plan_transposition; 0: none */
    int64_t sums;                                        /* of signed bytes: elements to what the sums begin at */
};

/* Attention of bf16 by the unit for bf16, which takes its scores after softmax as bf16, too: where it is here; in
 * code for elsewhere, too; or as floats all the same. */
enum kernel_unit { UNIT_HERE, UNIT_ALWAYS, UNIT_NEVER };

struct kernel {
    enum isa isa;
    int rows, vectors, vector_var;                       /* the largest register tile; what is in the vectors */
    int threads;
    size_t entry[2];                                     /* where in the code each thread's part begins */
    int64_t offset[2][3];                                /* where its part of each tensor begins, in bytes */
    size_t bytes;                                        /* of code, with what follows it */
    struct transposition change[3];
    bool whole;                                          /* set by the caller: inputs are transposed before the nest */
    bool given;                                          /* B is taken as kernel_weights leaves it, see there, */
    int64_t sums;                                        /* with carry_sums so far behind it in each panel; or 0 */
    bool add;                                            /* set by the caller: C += A B, not C = A B */
    enum kernel_unit unit;                               /* set by the caller */
    bool pairs;                                          /* it is by the unit: V is as carry_pairs leaves it */
    bool asked;                                          /* it asks for blocks of B before they are used */
    bool cast;                                           /* C has 2 bytes an element; its sums are in scratch */
    struct carry_extra extra;                            /* set by the caller: what follows the sum reads this; V */
    struct carry_kernel about;                           /* what that is told */
    struct buf *text;                                    /* set by the caller: C statements go there instead of code */
    uint8_t *region;                                     /* memory of the code, reused from call to call */
    size_t scratch_bytes[4];                             /* what each tensor needs, and S; 0: none */
    int64_t second_at;                                   /* V, stored as halves, is floats so far in scratch[3]; or 0 */
    size_t scratch_room[4], second_room[4];
    float *scratch[4], *second[4];                       /* second: of the second thread */
    struct carry_change *pack;                           /* of blocks that the code has transposed as it goes */
    int npack;
    struct asm_fix *fix;                                 /* of the assembler, reused */
    size_t fix_room;
};

/* NULL and a kernel ready to run, or the reason why this nest has no code (a short sentence).  Zero-initialise the
 * kernel before the first call; it may be encoded again and again.  The code is position-independent and needs nothing
 * but its arguments (struct carry_context), so it may be copied elsewhere.  Where elements are doubles, pointers to
 * floats lead to doubles, here and below. */
const char *kernel_encode(struct kernel *, const struct problem *, const struct nest *, enum isa);
void kernel_run(const struct kernel *, float *c, const float *a, const float *b);
/* In products of types narrower than float, and where the problem says (weights packed), B is what stays: it is packed
 * once, whole, before any run, in panels as wide as the nest's tile.  Nothing happens for others.  Emitted kernels have
 * NAME_pack for it. */
void kernel_weights(const struct kernel *, const float *b);
void kernel_prepare(const struct kernel *, const float *a, const float *b); /* the parts of a run: transpose inputs, */
void kernel_body(const struct kernel *, float *c, const float *a, const float *b);     /* compute, */
void kernel_finish(const struct kernel *, float *c);                                   /* transpose the result */
const uint8_t *kernel_bytes(const struct kernel *);      /* the code, .bytes of it */
void kernel_free(struct kernel *);

/* What the encoder would do, without code: the tile, the strides after transpositions, the elements transposed (`far`:
 * those of them that leave the caches in between; `packs`: calls) and those copied as they are, and the cycles of its
 * instructions (two FMAs and two loads a cycle, latency 4) if all data were in the first cache.
 * whole: as in struct kernel.  The same reasons as kernel_encode, but for code that is too long. */
struct kernel_plan {
    int vector_var, rows, vectors, threads;
    int step_var, step;                                  /* so many steps of this reduction at once; -1: one of any */
    int64_t stride[4][NEST_VARS];
    double cycles, moved, copied, far, packs;
    bool asked;                                          /* blocks of B are asked for before they are used */
    bool exact;                                          /* no zeros around A are read, it is taken as it lies */
    bool pairs;                                          /* A, B and V are two bytes an element */
    bool packed[2];                                      /* block by block, or B before: */
    int64_t given;                                       /* elements of B as kernel_weights leaves it; 0: as it is */
};
const char *kernel_plan(struct kernel_plan *, const struct problem *, const struct nest *, enum isa, bool whole);

void problem_carry(struct carry_kernel *, const struct problem *);   /* as what carries describes it, without code */
int problem_needs(const struct problem *, enum isa);     /* bits of carry_cpu to run its code */
/* the same tensors seen by any schedule: slow and right; c is overwritten, with 2 bytes an element after a cast */
void problem_reference(const struct problem *, float *c, const float *a, const float *b, struct carry_extra);
/* is a result that of the reference, bit by bit, or but for the rounding of gelu and of norms, of attention, and of its
 * scores to bf16 where V is at most 4? */
bool problem_equal(const struct problem *, const float *got, const float *want);
#endif

/* carry.h - what travels with a kernel: changes of layout, the choice of instruction set, plain loops, a self-test.
 *
 * Needs nothing but the compiler's own headers: it is part of the library, of every object that is emitted (as a blob
 * of position-independent code without relocations), and of every C text.  Tensors are arrays of 4-byte elements: a
 * float, a group of two bf16 or a group of four bytes along the reduction (C of the last is int32); or of doubles, to
 * which the pointers then lead, whatever they are to.  What is read (A, B and V) may be stored as f16 or bf16, 2 bytes
 * an element, or in a byte, and becomes floats on its way to the arithmetic.  Strides count elements. */
#ifndef MILLRACE_CARRY_H
#define MILLRACE_CARRY_H
#include "loop/nest/words.h"
#include <stdint.h>

enum { CARRY_VARS = 8, CARRY_VARIANTS = 4 };
enum carry_op { CARRY_FMA, CARRY_ADD, CARRY_SUM, CARRY_COPY };           /* as problem_op */
#define CARRY_WORD(w, ...) CARRY_##w,
enum carry_then { CARRY_END, CARRY_ALL_WORDS(CARRY_WORD) CARRY_WORDS };   /* SOFTMAX in then: over the sum of its row */
enum { CARRY_THENS = 8 };
enum carry_type { CARRY_F32, CARRY_BF16, CARRY_U8S8, CARRY_F64 };
/* of what is read; signed bytes become unsigned, 128 more */
#define CARRY_STORE(name, ...) CARRY_HALVES_##name,
enum carry_store { CARRY_FLOATS, CARRY_DOUBLES, CARRY_STORES(CARRY_STORE) CARRY_SIGNED };
enum carry_cpu { CARRY_AVX2 = 1, CARRY_AVX512 = 2, CARRY_AVX512BF16 = 4, CARRY_AVX512VNNI = 8,     /* bits */
                 CARRY_AMX_BF16 = 32, CARRY_AMX_INT8 = 64 };

/* Between two contractions: rows of S with `from` their strides in S and `to` in C, the last two for the columns of S
 * and of C; edge: these are the first columns. */
struct carry_change {                                    /* of a tensor or block to one with another variable fastest */
    int32_t nvar, wide;                                  /* wide: by AVX-512 */
    int32_t edge, store;                                 /* edge, not 0: extent of the fastest at the end of [0]; store:
                                                            of what is read: enum carry_store; halves become floats */
    int32_t size[CARRY_VARS];                            /* slowest first */
    int64_t from[CARRY_VARS], to[CARRY_VARS];            /* strides; [nvar-2] is fastest in `from`, [nvar-1] in `to` */
};

/* of B as it is packed: words of a row, of a panel if there are any */
static inline int64_t carry_wide(const struct carry_change *c)
{
    return c->nvar == 3 ? c->size[2] : c->nvar == 2 ? c->to[0] : (c->size[0] + 15) & ~15;
}

struct carry_pad {                                       /* of A: its dimensions, slowest first, and zeros around it */
    int32_t n, size[CARRY_VARS], before[CARRY_VARS], after[CARRY_VARS];  /* n: 0 where there are none */
};

struct carry_kernel;
struct carry_extra { const float *bias, *residual, *second; };       /* what follows a sum, in its type, and V; or 0 */
struct carry_context {                                   /* what code that changes blocks as it goes is called with */
    float *scratch[3];                                   /* the third: a block of S, or tiles of C */
    void (*change)(const struct carry_change *, const float *from, float *to);
    /* of a block of C that is complete: its sizes, and its strides as `to`; the fields below are for this */
    void (*finish)(const struct carry_change *, float *block, const struct carry_context *);
    /* two contractions, with V of the block; is all of a block of S masked? */
    void (*between)(const struct carry_change *, float *c, const struct carry_context *, const float *second);
    int (*hidden)(const struct carry_change *, float *c, const struct carry_context *, const float *second);
    float *rows;                                         /* of softmax: two for each row of C, the most and the sum */
    const struct carry_kernel *kernel;
    float *c;                                            /* where C begins, */
    void *out;                                           /* and what is made of it: 2 bytes an element after a cast */
    struct carry_extra extra;
};
typedef void carry_code(float *c, const float *a, const float *b, const struct carry_context *);

struct carry_variant {                                   /* the same nest for one instruction set; in that order */
    int32_t need;                                        /* bits of carry_cpu */
    int64_t given;                                       /* B is as change[1] leaves it, */
    int64_t sums;                                        /* and so far behind it in each panel, see carry_sums; or 0;
                                                            of weights of 4 bits: where their scales begin */
    int64_t code;                                        /* bytes from the struct carry_kernel to its code; 0: none */
    int64_t scratch_bytes;                               /* all of it */
    carry_code *function;                                /* its address, where that is known */
    int32_t whole[3];                                    /* which tensors change before or after */
    int64_t scratch[5];                                  /* offsets of scratch of each tensor, S, V */
    struct carry_change change[3];
};

struct carry_kernel {                                    /* in the order in which C text names its fields */
    int32_t op, type, add, nvar;                         /* add: C += A B */
    int64_t given;                                       /* elements of a B as any variant takes it; 0: as it is */
    int32_t q4, zeros;                                   /* weights of 4 bits, see nest.h: steps of a group; or 0 */
    int32_t store, sign;                                 /* of A, B and V: enum carry_store; of U8S8: 128 where bytes of
                                                            A are signed, or 0 */
    int32_t size[CARRY_VARS];
    int64_t stride[4][CARRY_VARS], elements[4], row[4];  /* row: extent of the last dimension, what ld is instead of */
    int64_t padded;                                      /* elements of A with its zeros, as its strides are */
    struct carry_pad pad;
    uint8_t then[CARRY_THENS];                           /* what follows the sum: enum carry_then, to the first 0 */
    int32_t pair, along, last;                           /* pair: C = mid(A B) V; see problem */
    float mid_scale;                                     /* of S, first of all */
    uint8_t mid[CARRY_THENS];                            /* what follows that: CARRY_RELU, CARRY_GELU, CARRY_SOFTMAX */
    float scale;                                         /* of CARRY_OVER: one over the divisor */
    int64_t bias_step, bias, scales;                     /* element i of C has the (i / bias_step % bias)-th bias, and
                                                            the scale so many behind it */
    float arg[CARRY_WORDS_ROOM][CARRY_ARGUMENTS];        /* by carry_then: numbers behind the others */
    int32_t over;                                        /* the divisor */
    int32_t query, norm;                                 /* of causal: its variable and one; CARRY_LAYERNORM .. or 0 */
    struct carry_variant variant[CARRY_VARIANTS];        /* the better one first */
};

/* Parts of a kernel for any number of threads, along one variable: code for so many of it, and what a step along it is
 * in bytes. */
enum { CARRY_CHUNKS = 9 };
struct carry_chunk {
    int64_t at;                                          /* bytes from the struct carry_parts to its kernel; 0: */
    const struct carry_kernel *kernel;                   /* its address */
    int64_t size;
};
struct carry_parts {
    int32_t size, unit, chunks;                          /* of all; a thread has whole units, the last one the rest */
    int32_t lines;                                       /* of an image with zeros around it, a step along it; or 0 */
    int64_t step[4], residual;                           /* of C, A, B, and V or the bias */
    struct carry_chunk chunk[CARRY_CHUNKS];              /* all; units, most first; one unit and the rest, if any */
};

/* Any number of rows, by kernels of 1 to `most` of them on so many columns, a block; one layout of B for all. */
enum { CARRY_ROWS = 32 };
struct carry_rows {
    int32_t most, blocks;
    int64_t columns, row[3], column[1];                  /* bytes to the next row of C and A, floats of the residual's;
                                                            bytes of C's columns */
    int64_t at[CARRY_ROWS + 1];                          /* bytes from here to each kernel; the first is NAME */
};

/* zero at first; for all kernels of an object.  Memory of calls that are over is kept for so many at once. */
enum { CARRY_KEPT = 8 };
struct carry_pool { void *piece[CARRY_KEPT]; };
struct carry_state { int32_t cpu, unused; struct carry_pool pool[2]; };

void carry_forth(const struct carry_change *, const float *from, float *to);
void carry_back(const struct carry_change *, const float *from, float *to);     /* from and to as in carry_forth's */
/* A with its zeros around it; halves become floats.  By what `have` says that is here, bits of carry_cpu */
void carry_surround(const struct carry_pad *, int store, const void *from, float *to, int have);
/* n numbers of CARRY_STORES to floats, one by one; a float to such bits, of halves to nearest, ties to even */
void carry_widen(enum carry_store, const void *from, float *to, int64_t n);
uint16_t carry_narrow(enum carry_store, float);
/* row-major b[k][n] of 2-byte or 1-byte numbers to the order in groups that B of such a type has, or `given`: to that
 * of the variant that runs here */
void carry_pack(void *packed, const void *b, const struct carry_kernel *, struct carry_state *);
/* the same of weights of 4 bits: zero points become 8 - zero, bits signed numbers */
void carry_groups(float *packed, const float *b, const struct carry_kernel *, const struct carry_variant *);
/* Signed bytes in A are multiplied as unsigned ones, 128 more; so each sum of C begins at -128 times that of its column
 * of B, where the variant has `sums` at that place: these are put there, modulo 2^32. */
void carry_sums(float *packed, const struct carry_kernel *, const struct carry_variant *);
int carry_cpu(void);     /* bits of what is here, operating system included, which is asked for leave to use AMX */
/* the same of what a processor and system say: leaf 1, leaf 7, its part 1, xgetbv; that leave is given */
struct carry_words { uint32_t c1, b7, c7, d7, a71, state; };
#ifdef __x86_64__
int carry_bits(const struct carry_words *);
#endif
/* c = the operation, or with `add` += it, by plain loops, on any x86-64; without what follows it; A has its zeros */
void carry_plain(const struct carry_kernel *, float *c, const float *a, const float *b);
/* the same for two contractions; `second` is V */
void carry_pair_plain(const struct carry_kernel *, float *c, const float *a, const float *b, const float *second);
/* what follows the sum, on a block of C as in carry_context: by AVX-512, AVX2 or plain loops.  After a cast nothing may
 * be read from C any more: its place may be that of the result. */
void carry_finish16(const struct carry_change *, float *block, const struct carry_context *);
void carry_finish8(const struct carry_change *, float *block, const struct carry_context *);
void carry_finish1(const struct carry_change *, float *block, const struct carry_context *);
/* between two contractions, as in carry_context */
void carry_between16(const struct carry_change *, float *c, const struct carry_context *, const float *second);
void carry_between8(const struct carry_change *, float *c, const struct carry_context *, const float *second);
int carry_hidden(const struct carry_change *, float *c, const struct carry_context *, const float *second);
/* V, stored as bf16, for the unit for bf16: pairs of its rows; a wide machine is needed */
void carry_pairs(const struct carry_kernel *, const float *v, float *to);
int64_t carry_rows(const struct carry_kernel *);         /* floats of context.rows, a multiple of 16 */
/* the same for all of C */
void carry_finish_all(const struct carry_kernel *, float *c, void *out, struct carry_extra);
/* The best variant that runs here; plain loops where none does.  Any number of threads may call it at once.  0, or that
 * there was no memory, and then C is as it was or what of it was done. */
enum { CARRY_NO_MEMORY = 12 };                           /* ENOMEM */
int carry_run(float *c, const float *a, const float *b, const struct carry_kernel *, struct carry_state *);
/* the same with what follows the sum; c has 2 bytes an element where that is a cast; or `bias` is V */
int carry_run_then(void *c, const float *a, const float *b, const float *bias, const float *residual,
                    const struct carry_kernel *, struct carry_state *);
/* the same with rows of the last dimension `ld` elements apart, the residual's as c's.  more and rest are the bias and
 * the residual's address, or V and its ld. */
int carry_run_ld(void *c, int64_t ldc, const void *a, int64_t lda, const void *b, int64_t ldb, const void *more,
                  int64_t rest, const struct carry_kernel *, struct carry_state *);
/* the part of one thread of so many, or nothing where `thread` is none of them; more is the bias or V */
int carry_run_part(int thread, int threads, void *c, const void *a, const void *b, const void *more,
                    const void *residual, const struct carry_parts *, struct carry_state *);
int carry_run_rows(int64_t rows, void *c, const void *a, const void *b, const void *more, const void *residual,
                   const struct carry_rows *, struct carry_state *);
/* runs it on small numbers and compares with doubles: 0 good, 1 wrong, 2 no memory; by parts of 2 and 3 threads, too */
int carry_test(const struct carry_kernel *, struct carry_state *);
int carry_test_parts(const struct carry_parts *, struct carry_state *);
int carry_test_rows(const struct carry_rows *, struct carry_state *);
/* bytes that a call takes from the system, which are kept for the next */
int64_t carry_scratch(const struct carry_kernel *, struct carry_state *);
int carry_level(const struct carry_kernel *, struct carry_state *);  /* bits of carry_cpu that it runs with; 0: plain */
#endif

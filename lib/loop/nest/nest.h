/* nest.h - tensor problems, schedules of one contraction as trees of loops, and the actions that change them.
 *
 * A problem is C[..] += A[..] * B[..] over named variables (or a sum, an element-wise sum, a copy), each tensor a
 * row-major float array whose dimensions are affine in the variables.  Text: (mm M N K), (conv N C H W M KH KW S),
 * the other words of problem_kinds, or the general (nest (sizes (m 8) ..) (A m k) (B k n) (C m n)); a trailing
 * (order k m n) sets the order of the untiled loops.  Windows are "valid", but for a trailing (pad P), (pad ROWS
 * COLUMNS) or (pad TOP BOTTOM LEFT RIGHT): so many zeros are read around each image, whose H and W are what is in
 * memory.  In a general nest a dimension of A is (pad P INDEX) or (pad BEFORE AFTER INDEX): what the index reaches less
 * these is in memory.
 * (mm_bf16 M N K) and (mm_u8s8 M N K) have A[m][k] of 2-byte or unsigned bytes, and B[k/g][n][g] of 2-byte or signed
 * bytes, g = 2 or 4 of which K is a multiple: the order in which processors multiply them.  Their variable k counts
 * groups of g, an element is such a group of 4 bytes, and strides and sizes are in groups.  (mm_s8s8 M N K) is mm_u8s8
 * with signed bytes in A, too.
 * (mm_q4 M N K G) has A[m][k] of floats and weights of 4 bits: B is [K/8][N] words, of each the lowest 4 bits are those
 * of the first of 8 steps, behind them floats scale[K/G][N], and in mm_q4z zero[K/G][N]; B[k][n] is (bits - zero) scale
 * of the group of G steps, without zeros (bits - 8) scale.  Its variables g and k count groups and words.
 * A trailing (type f64) makes the elements of any sum of products doubles, also those of bias and residual, which
 * with relu, clip, scale and (over N) are all that may follow such a sum.  (type f16), (type bf16) and (type e5m2) have
 * A, B and V of any sum of products of floats stored so, the last in a byte; they are multiplied as floats.
 * A trailing (weights packed) of a convolution or a general nest of floats says that B stays from call to call and is
 * packed once before, as those of narrow types are.
 * A sum of products may go on with each element of C, in the order of words of a trailing (then ..): bias adds a vector
 * along C's fastest variable that A lacks (of a product n, of a convolution m, in groups one within a group), or where
 * there is none that B has (of a depthwise convolution the channel); residual adds a tensor of C's shape; relu; (clip
 * LO HI), of integers, first not below LO; gelu, x (1 + erf(x / sqrt 2)) / 2; (over N) divides by N; bf16 or f16, the
 * last, rounds to that, and C has 2 bytes an element; layernorm and rmsnorm, of rows along what bias is along: what is
 * above the row's mean over the root of its variance, or x over the root of its mean square, 1e-5 added below the root,
 * times a gain, plus (layernorm) a shift: these are the second and third vector behind the bias, whether or not there
 * is the word bias; scale multiplies by a vector, the last of these.  Integer sums become floats before.  In general
 * nests as in all others.
 * Two contractions in one nest, as attention is: (nest (sizes ..) (A ..) (B ..) (mid (over 8) softmax) (V ..) (C ..))
 * is S = A B, what (mid ..) says of each element of S or of its rows, C = S V.  B and V have one variable that A and C
 * lack: S has it, softmax goes along it, C is summed over it.  C's fastest variable is V's fastest and in no other.
 * What A and B alone have is summed in S.  Words of mid: (over N), the first, relu, gelu, clip, causal, softmax.
 * causal: row q of S, the fastest variable of its rows in C, has its columns up to q + (columns - rows) alone.
 * (attn H Q K D) is softmax(A B^T / sqrt D) V for H heads, (attn_causal ..) that with causal.
 *
 * A nest is a schedule: the loops of the computation, outermost first, and the loops that write the result back.
 * Both share a prefix (the loops before the first reduction that agree), as in the tree that is printed.  A loop of
 * variable v runs `size` blocks of its inner extent and then `tail` single elements of v.  Values, copy freely.
 * Of two contractions the loops before the first of a variable that one of them lacks (nest_split) are of both, and
 * inside of them S is made a block at a time; of the loops after it each takes those of its variables, in this order.
 *
 * After LoopTune (Grubisic, Wasti, Cummins, Steiner, Zlateski, arXiv 2309.01825) and loop_tool's agent: same actions,
 * same legality, checked by replaying the published action lists. */
#ifndef MILLRACE_NEST_H
#define MILLRACE_NEST_H
#include "base/str.h"
#include "loop/nest/words.h"
#include <stdbool.h>
#include <stdint.h>

enum { Q4_STEPS = 8 };                                   /* in a word of weights of 4 bits */
enum { NEST_VARS = 8, NEST_LOOPS = 16, NEST_DIMS = 8 };
enum { TENSOR_A, TENSOR_B, TENSOR_C, TENSOR_V };        /* V: where there are two contractions */
enum problem_type { TYPE_F32, TYPE_BF16, TYPE_U8S8, TYPE_F64 };  /* C is float, float, int32, double */
#define STORE_OF(name, ...) STORE_##name,
enum problem_store { STORE_FLOATS, STORE_DOUBLES, CARRY_STORES(STORE_OF) STORES };       /* of A, B and V */
struct problem_pad {                                     /* dimensions of A, slowest first; those without are merged */
    int32_t n, size[NEST_DIMS], before[NEST_DIMS], after[NEST_DIMS];     /* n: 0 where there is no padding */
};
#define THEN_OF(word, ...) THEN_##word,
enum problem_then { THEN_END, CARRY_ALL_WORDS(THEN_OF) THENS_END, THENS = THENS_END - 1 };
enum { MAX_THEN = 7 };
enum problem_op { OP_FMA, OP_ADD, OP_SUM, OP_COPY };     /* C += A*B | C = A+B | C += A | C = A */

struct problem {
    char text[256], kind[16];                            /* canonical text; its head */
    enum problem_op op;
    enum problem_type type;
    bool sign;                                           /* of TYPE_U8S8: bytes of A are signed, too */
    int q4;                                              /* B of 4 bits: steps of the sum with one scale; or 0 */
    bool zeros;                                          /* with zero points; */
    int64_t scales;                                      /* these, at the end of B: elements */
    bool weights;                                        /* B is packed once, before: narrow types, (weights packed) */
    int group;                                           /* steps of the reduction in an element of A and B: 1, 2, 4 */
    int bytes;                                           /* of an element: 4, 8 of TYPE_F64; */
    enum problem_store store;                            /* but those of CARRY_STORES of A, B and V */
    int nvar, order[NEST_VARS];                          /* order: variables of the untiled loops, outermost first */
    char name[NEST_VARS][8];
    int32_t size[NEST_VARS];
    bool reduced[NEST_VARS];                             /* not among the variables of C */
    int64_t stride[4][NEST_VARS];                        /* elements of tensor t per step of variable v; 0: absent; */
    struct problem_pad pad;                              /* those of A are with its zeros around it, */
    int64_t padded;                                      /* elements of A then */
    int64_t elements[4];                                 /* allocated, at most 2^28; 0 for a B that is not there */
    int64_t row[4];                                      /* extent of the last dimension; 1 where there is none */
    uint8_t then[MAX_THEN + 1];                          /* enum problem_then, to the first THEN_END */
    int32_t over;                                        /* of THEN_OVER */
    int32_t arg[CARRY_WORDS_ROOM][CARRY_ARGUMENTS];             /* by problem_then: integers behind the others */
    int64_t bias_step, bias;                             /* element i of C has bias element i / bias_step mod bias */
    int biases;                                          /* vectors of them: the bias, a gain, a shift, a scale, */
    int64_t scale;                                       /* which begins so far behind the bias; or 0 */
    int norm;                                            /* the variable that rows are normalised along, or -1 */
    bool pair;                                           /* two contractions; then also */
    int along, last;                                     /* the variable softmax goes along; C's fastest */
    int query;                                           /* of causal: the variable of rows, or -1 */
    uint8_t mid[MAX_THEN + 1];                           /* THEN_OVER, THEN_RELU, THEN_GELU, THEN_SOFTMAX */
    float mid_scale;                                     /* of THEN_OVER */
};

extern const char problem_kinds[];                       /* "mm|mm_nt|...", for messages and option tables */
int problem_params(str kind, const char *const **names);   /* sizes of a kind, in the order of its text; 0: unknown */
void problem_parse(struct problem *, str text, const char *where);   /* dies "where: why" on anything unsound */
bool problem_then(const struct problem *, enum problem_then);   /* is it among them? */
bool problem_cast(const struct problem *);               /* has C 2 bytes an element? */
int problem_bytes(const struct problem *, int t);        /* of an element of A, B, V, or of C before a cast */
double problem_flops(const struct problem *);            /* 2 x product of the extents for C += A*B, else 1 x */

/* pack_a, pack_b: inside this loop the block of that input is copied to where it lies together, before it is used */
enum { MARK_UNROLL = 1, MARK_VECTORIZE = 2, MARK_PACK_A = 4, MARK_PACK_B = 8, MARKS = 4 };
extern const char *const mark_name[MARKS];               /* of bits 0 .. */
struct loop { uint8_t var, marks; int32_t size, tail; };
struct nest {
    int8_t n, nwrite, cursor;                            /* cursor: a loop of the computation */
    struct loop loop[NEST_LOOPS], write[NEST_LOOPS];
};

void nest_reset(const struct problem *, struct nest *);  /* untiled, cursor on the outermost loop */
int nest_shared(const struct problem *, const struct nest *);   /* length of the shared prefix */
int nest_split(const struct problem *, const struct nest *);    /* of two contractions: loops that both have */
void nest_inner(const struct loop *, int n, int32_t inner[NEST_LOOPS]);   /* extent of one block of each loop */
bool nest_same(const struct nest *, const struct nest *);       /* the same tree, whatever the cursors */
uint64_t nest_hash(const struct nest *, bool with_cursor);      /* stable, may be stored */
void nest_print(struct buf *, const struct problem *, const struct nest *);   /* (tree (for m 112 0 ...)), no cursor */
void nest_parse(struct nest *, const struct problem *, str tree, int cursor, const char *where);   /* dies */
void nest_show(struct buf *, const struct problem *, const struct nest *);    /* lines for reading, with the cursor */

/* Actions.  The first seven are the published set in the order of its network's outputs. */
enum { ACT_UP, ACT_DOWN, ACT_SWAP_UP, ACT_SWAP_DOWN, ACT_SPLIT_4, ACT_SPLIT_8, ACT_SPLIT_16, ACT_PUBLISHED,
       ACT_SPLIT_2 = ACT_PUBLISHED, ACT_SPLIT_5, ACT_SPLIT_32, ACT_SPLIT_64, ACT_SPLIT_128, ACT_SPLIT_256,
       ACT_MERGE, ACT_UNROLL, ACT_VECTORIZE, ACT_PACK_A, ACT_PACK_B, ACT_COUNT };
enum { ACT_SPLIT_ANY = 1 << 16 };                        /* ACT_SPLIT_ANY + N: split by any N from 2 to 65535 */

/* Rules of legality beyond "it can be done".  Published: an innermost loop of size 1 or a multiple of 8 (its code
 * generator had no masks), and at most 10 loops under the first root (a convolution then has no room for tiles). */
enum { RULE_NONE = 0, RULE_EIGHT = 1, RULE_TEN = 2, RULE_PUBLISHED = RULE_EIGHT | RULE_TEN };

const char *act_name(int action, char b[40]);            /* "split_12"; b is used where no constant will do */
int act_of(str name);                                    /* -1: no such action */
const char *nest_act(const struct problem *, struct nest *, int action, unsigned rules);   /* NULL, or why it is
                                                            illegal (a short sentence) and the nest is unchanged */
uint32_t nest_mask(const struct problem *, const struct nest *, unsigned rules);   /* bit a: action a is legal */
bool nest_effect(const struct nest *before, const struct nest *after);             /* tree or cursor changed */

/* Observations.  Published: 10 slots of 20 for the loops under the first root in preorder: cursor, size, tail, in the
 * computation, shares of strides by power of two (16 buckets).  Scaled: 16 slots of 20 for the computation's loops:
 * cursor, present, logarithms of size, tail, block and of the stride in A, B and the stored C, what the variable is in
 * (A, B, C), whether C has it at unit stride, marks, whether it divides evenly, and how many vector registers the
 * result needs below the loop and from it on. */
enum { OBS_SLOT = 20, OBS_SIZE = 10 * OBS_SLOT, OBS_SCALED = NEST_LOOPS * OBS_SLOT, OBS_STRIDES = 16, OBS_PREV = 5 };
void nest_loops_tensor(const struct problem *, const struct nest *, float f[OBS_SIZE]);
void nest_loops_scaled(const struct problem *, const struct nest *, float f[OBS_SCALED]);
void nest_stride_tensor(const struct problem *, const struct nest *, bool scaled, float f[OBS_STRIDES]);
void nest_prev_tensor(const int *actions, int n, int nactions, float *f);   /* OBS_PREV x nactions, newest first */
#endif

/* asm.h - the few x86-64 instructions that a loop nest needs, in VEX (ymm) or EVEX (zmm) form; or the same as C text.
 *
 * Memory operands are [base + displacement] with base rdi, rsi or rdx.  The code is position-independent and without
 * relocations: a literal pool follows it.  It is called as carry_code: the context's address waits on the stack.
 * With `text` set each instruction is written as a statement of C with intrinsics on variables v0 .. v31, m (mask),
 * n0 .. n10 (counters) and byte pointers c, a, b, v; x is the context, d0, d1, .. are the changes; s0 .. s2 are strides
 * of tiles.
 * After "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, 2.3 (VEX) and 2.7 (EVEX, with its
 * scaled 8-bit displacements), 5.1 (VDPBF16PS, VPDPBUSD), 3.3 and 5.1 (AMX: LDTILECFG, TDPBF16PS, TDPBUSD ..). */
#ifndef MILLRACE_ASM_H
#define MILLRACE_ASM_H
#include "base/str.h"
#include "loop/code/carry.h"

enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R14 = 14, R15 = 15 };
enum { ASM_COUNTERS = 11, ASM_MASK_REGISTER = 15, ASM_ENTER = 11 };
enum { ASM_TILES = 8, ASM_TILE_COUNTERS = 3, ASM_SHAPES = 32, ASM_TILE_ROWS = 16 };

/* 32 bits to be known at the end: of a change, or -1 the masks, -2 the shapes of tiles */
struct asm_fix { uint32_t at; int32_t change, offset; };
/* of all tiles at once: 0 to 3 are rows x columns of C, 4 and 5 rows x 16 of A, 6 and 7 16 x columns of B, all elements
 * of 4 bytes; with a rest, 5 and 7 have only so many steps of the sum */
struct asm_shape { uint8_t rows, columns, rest; };
struct assembler {
    uint8_t *start, *at, *limit;                         /* emission past the limit sets full and writes no more */
    bool wide, full;                                     /* wide: EVEX, zmm, 32 registers */
    enum carry_type type;
    bool sign;                                           /* of tiles of U8S8: x is signed, too */
    int pushed;                                          /* bases that are set aside */
    struct asm_shape shape[ASM_SHAPES];                  /* those that are used */
    int nshape;
    struct asm_fix *fix;                                 /* kept from code to code; asm_free gives it back */
    size_t nfix, room;
    struct buf *text;
};

void asm_begin(struct assembler *, uint8_t *memory, long bytes, bool wide, enum carry_type);
void asm_load(struct assembler *, int reg, int base, long disp, bool masked);
/* of halves, which become floats; wide only */
void asm_load_half(struct assembler *, enum carry_store, int reg, int base, long disp, bool masked);
void asm_store(struct assembler *, int reg, int base, long disp, bool masked);
void asm_broadcast(struct assembler *, int reg, int base, long disp);
/* acc += x * y, of groups where the type has them; of U8S8 x is unsigned, y signed */
void asm_fma(struct assembler *, int acc, int x, int y);
void asm_fma_broadcast(struct assembler *, int acc, int x, int base, long disp);   /* wide only: acc += x * [one] */
/* acc += x * a vector; v is free to hold it where a masked operand cannot come from memory */
void asm_fma_vector(struct assembler *, int acc, int x, int base, long disp, bool masked, int v);
void asm_zero(struct assembler *, int reg);
void asm_sum(struct assembler *, int reg, int base, long disp, bool masked, int v);  /* reg += memory; v is free */
/* the sums of the lanes of n accumulators, 1 to 4, in the first n lanes of register 0; these are 0 .. n-1 or others
 * of 4 and more; registers 0 to 3 and `spare` do not survive */
void asm_total(struct assembler *, const int *acc, int n, int spare);
/* the first lanes of register 0, after asm_total: n together, or one of them, with what is there added to it or not;
 * registers 1 and 2 do not survive */
void asm_store_four(struct assembler *, int base, long disp, bool add);
void asm_store_one(struct assembler *, int lane, int base, long disp, bool add);
/* r14, which is the last counter but one else, leads so many bytes behind rdx; rows of so many lines, so many
 * bytes apart, are asked for from there on, into the second cache, and it goes on behind them */
void asm_stream_first(struct assembler *);
void asm_stream_from(struct assembler *, long bytes);
void asm_stream(struct assembler *, int rows, long lines, long bytes);
/* what follows a sum: r15, which is the last counter else, leads to the bias, so many bytes on; then rax does until
 * more is called; reg += the bias from there on, or one of its numbers; the greater one; integers become floats */
void asm_bias_first(struct assembler *, long bytes);
void asm_bias(struct assembler *);
void asm_plus_bias(struct assembler *, int reg, long disp, bool vector, bool masked, int spare);
void asm_most(struct assembler *, int reg, int other);
void asm_floats(struct assembler *, int reg);
void asm_prefetch(struct assembler *, int base, long disp);           /* into the first cache; any address will do */
void asm_mask(struct assembler *, int lanes);                         /* for the masked forms: the first lanes */
void asm_add(struct assembler *, int base, long bytes);
/* counter 0 .. ASM_COUNTERS-1 = n; what follows is a loop: */
void asm_count(struct assembler *, int counter, int32_t n);
void asm_loop(struct assembler *, int counter, const uint8_t *top);   /* counter--, go to top unless zero */
/* the context's `change` of what base points to into scratch t, by change number `change`; no vector or mask register
 * survives.  A base can be set aside while it is scratch t. */
void asm_change(struct assembler *, int change, int base, int t);
void asm_finish(struct assembler *, int change);          /* the context's `finish` of the block at rdi, so too */
void asm_between(struct assembler *, int change);        /* the context's `between` of S for the block of C at rdi */
/* what follows until the end is for blocks that are not `hidden` alone */
size_t asm_hidden(struct assembler *, int change);
void asm_hidden_end(struct assembler *, size_t);
/* V is at r15, which is the last counter else; then rdx is that until it is popped */
void asm_second(struct assembler *);
void asm_push_second(struct assembler *);
void asm_push(struct assembler *, int base, int t);
void asm_pop(struct assembler *, int base);
void asm_enter(struct assembler *); /* aligns, then saves registers in ASM_ENTER bytes */
void asm_leave(struct assembler *);
/* AMX, for types narrower than float.  asm_tile_shape is false where there are too many shapes; it zeroes all tiles.
 * Strides 0, 1 and 2 are those of rows of A, B and C; after asm_tile_stride the last ASM_TILE_COUNTERS counters are
 * taken.  At the end of the code all tiles are given back. */
bool asm_tile_shape(struct assembler *, struct asm_shape);
void asm_tile_stride(struct assembler *, int tensor, int32_t bytes);
void asm_tile_load(struct assembler *, int tile, int base, int tensor, long disp);
void asm_tile_store(struct assembler *, int tile, int base, int tensor, long disp);
void asm_tile_zero(struct assembler *, int tile);
void asm_tile_multiply(struct assembler *, int acc, int x, int y);   /* acc += x y; of U8S8 x is unsigned, y signed */
void asm_tile_release(struct assembler *);
void asm_end(struct assembler *, const struct carry_change *, int n); /* the pool: masks, changes, shapes of tiles */
void asm_free(struct assembler *);
#endif

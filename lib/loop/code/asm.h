/* asm.h - the few x86-64 instructions that a loop nest needs, in VEX (ymm) or EVEX (zmm) form.
 *
 * Memory operands are [base + displacement] with base rdi, rsi or rdx.  After "Intel 64 and IA-32 Architectures
 * Software Developer's Manual", volume 2, 2.3 (VEX) and 2.7 (EVEX, with its scaled 8-bit displacements). */
#ifndef MILLRACE_ASM_H
#define MILLRACE_ASM_H
#include <stdbool.h>
#include <stdint.h>

enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RBP = 5, RSI = 6, RDI = 7 };
enum { ASM_COUNTERS = 11, ASM_MASK_REGISTER = 15, ASM_TABLE = 64, ASM_ENTER = 10 };

struct assembler {
    uint8_t *start, *at, *limit;                         /* emission past the limit sets full and writes no more */
    bool wide, full;                                     /* wide: EVEX, zmm, 32 registers */
};

/* the first ASM_TABLE bytes hold the table of AVX2 masks; code follows */
void asm_begin(struct assembler *, uint8_t *memory, long bytes, bool wide);
void asm_load(struct assembler *, int reg, int base, long disp, bool masked);
void asm_store(struct assembler *, int reg, int base, long disp, bool masked);
void asm_broadcast(struct assembler *, int reg, int base, long disp);
void asm_fma(struct assembler *, int acc, int x, int y);              /* acc += x * y */
void asm_fma_broadcast(struct assembler *, int acc, int x, int base, long disp);   /* wide only: acc += x * [one] */
void asm_zero(struct assembler *, int reg);
void asm_mask(struct assembler *, int lanes);                         /* for the masked forms: the first lanes */
void asm_add(struct assembler *, int base, long bytes);
void asm_count(struct assembler *, int counter, int32_t n);           /* counter 0 .. ASM_COUNTERS-1 = n */
void asm_loop(struct assembler *, int counter, const uint8_t *top);   /* counter--, go to top unless zero */
/* call fn(argument, base); no vector or mask register survives.  A base can be set aside while it is something else */
void asm_call(struct assembler *, uint64_t fn, uint64_t argument, int base);
void asm_push(struct assembler *, int base, uint64_t value);
void asm_pop(struct assembler *, int base);
void asm_enter(struct assembler *); /* aligns, then saves registers in ASM_ENTER bytes */
void asm_leave(struct assembler *);
#endif

/* x86.h - what the x86-64 targets share: integer instructions, the frame, calls, the pool behind the code.
 *
 * Code is position-independent and without relocations.  A target is a function that writes one vector instruction.
 * After "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, 2.3 (VEX), 2.7 (EVEX, with its scaled
 * 8-bit displacements), 3.3 and 5.1 (VDPBF16PS, VPDPBUSD; AMX: LDTILECFG, TDPBF16PS, TDPBUSD ..). */
#ifndef MILLRACE_X86_H
#define MILLRACE_X86_H
#include "loop/code/ir.h"

enum x86_pool { POOL_MASKS, POOL_CHANGES, POOL_SHAPES };
struct x86_fix { size_t at; enum x86_pool pool; int32_t offset; };       /* 32 bits there are a distance to the pool */
struct x86_out {
    uint8_t *start, *at, *end;
    bool full;                                           /* it did not fit: what is written is never run */
    enum carry_type type;
    enum carry_store store;                              /* of halves that are loaded */
    bool sign;                                           /* of tiles of bytes: those of A are signed, too */
    struct x86_fix *fix;
    size_t nfix, room;
};
struct x86_op {
    uint8_t map, pp, op;
}; /* map 1: 0F, 2: 0F38, 3: 0F3A; pp 0: none, 1: 66, 2: F3, 3: F2 */
extern const uint8_t x86_base[BASES];
void x86_byte(struct x86_out *, unsigned);
void x86_word(struct x86_out *, uint32_t);
void x86_raw(struct x86_out *, const char *, int n);
void x86_address(struct x86_out *, unsigned reg, unsigned base, int32_t disp, int scale);    /* disp8 counts 2^scale */
void x86_in_register(struct x86_out *, unsigned reg, unsigned rm);
void x86_later(struct x86_out *, enum x86_pool, int32_t offset);
void x86_vex(struct x86_out *, struct x86_op, unsigned reg, unsigned v, unsigned x, unsigned wide, unsigned w);

void avx2_ins(struct x86_out *, const struct ins *);
void avx512_ins(struct x86_out *, const struct ins *);
void amx_ins(struct x86_out *, const struct ins *);
void amx_shape(const struct tile_shape *, uint8_t to[64]);       /* what LDTILECFG reads */
/* lanes of registers r[0..4), of which n count, summed to the first n lanes of register 0; and those stored */
void avx2_total(struct x86_out *, const unsigned r[4], int n);
void avx2_lanes(struct x86_out *, const struct ins *);
#endif

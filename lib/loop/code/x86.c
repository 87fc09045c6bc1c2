#include "loop/code/x86.h"
#include "base/mem.h"
#include <string.h>

const uint8_t x86_base[BASES] = { [BASE_A] = 6, [BASE_B] = 2, [BASE_C] = 7, [BASE_BIAS] = 1, [BASE_RESIDUAL] = 8,
                                 [BASE_GROUP] = 9,                                  [BASE_SECOND] = 1 };

void x86_byte(struct x86_out *o, unsigned x) { *o->at++ = (uint8_t)x; }

void x86_word(struct x86_out *o, uint32_t x)                 /* x86 is little-endian, and so are we then */
{
    memcpy(o->at, &x, 4);
    o->at += 4;
}

void x86_raw(struct x86_out *o, const char *x, int n)
{
    memcpy(o->at, x, (size_t)n);
    o->at += n;
}

void x86_address(struct x86_out *o, unsigned reg, unsigned base, int32_t disp, int scale)
{
    unsigned modrm = (reg & 7) << 3 | (base & 7);
    bool small = !(disp & ((1 << scale) - 1)) && disp >> scale >= -128 && disp >> scale <= 127;
    x86_byte(o, (!disp ? 0 : small ? 0x40 : 0x80) | modrm);
    if (disp && small) x86_byte(o, (unsigned)(disp >> scale) & 255);
    else if (disp) x86_word(o, (uint32_t)disp);
}

void x86_in_register(struct x86_out *o, unsigned reg, unsigned rm) { x86_byte(o, 0xC0 | (reg & 7) << 3 | (rm & 7)); }

void x86_later(struct x86_out *o, enum x86_pool pool, int32_t offset)
{
    o->fix = grow(o->fix, o->nfix + 1, &o->room, sizeof *o->fix);
    o->fix[o->nfix++] = (struct x86_fix){ (size_t)(o->at - o->start), pool, offset };
    x86_word(o, 0);
}

void x86_vex(struct x86_out *o, struct x86_op c, unsigned reg, unsigned v, unsigned x, unsigned wide, unsigned w)
{
    x86_byte(o, 0xC4);
    x86_byte(o, (~reg >> 3 & 1) << 7 | 1 << 6 | (~x >> 3 & 1) << 5 | c.map);
    x86_byte(o, w << 7 | (~v & 15) << 3 | wide << 2 | c.pp);
    x86_byte(o, c.op);
}

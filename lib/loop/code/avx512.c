/* EVEX, zmm.  The mask is k1. */
#include "loop/code/x86.h"

struct type {
    struct x86_op load, store, spread, mac, plus, max, min, times;
    uint8_t w, scale;
}; /* scale: log of an element */
#define FLOATS { 1, 0, 0x10 }, { 1, 0, 0x11 }, { 2, 1, 0x18 }
#define THEN { 1, 0, 0x5F }, { 1, 0, 0x5D }, { 1, 0, 0x59 }, 0, 2
static const struct type types[] = {
    /* vfmadd231ps, vaddps; vmaxps, vminps, vmulps */
    [CARRY_F32] = { FLOATS, { 2, 1, 0xB8 }, { 1, 0, 0x58 }, THEN },
    [CARRY_BF16] = { FLOATS, { 2, 2, 0x52 }, { 1, 0, 0x58 }, THEN }, /* vdpbf16ps */
    [CARRY_U8S8] = { FLOATS, { 2, 1, 0x50 }, { 1, 1, 0xFE }, THEN },   /* vpdpbusd */
    [CARRY_F64] = { { 1, 1, 0x10 },
                    { 1, 1, 0x11 },
                    { 2, 1, 0x19 },
                    { 2, 1, 0xB8 },
                    { 1, 1, 0x58 },
                    { 1, 1, 0x5F },
                    { 1, 1, 0x5D },
                    { 1, 1, 0x59 },
                    1,
                    3 }
};
static const struct x86_op FLOAT_OF = { 1, 2, 0x2A }, DOUBLE_OF = { 1, 3, 0x2A };
static const struct x86_op FLOAT = { 1, 0, 0x5B }, XOR = { 1, 1, 0xEF }, UPPER = { 3, 1, 0x1B }, SHIFT = { 1, 1, 0x72 },
                         PERMUTE = { 2, 1, 0x16 }, PERMUTE_FOURS = { 3, 1, 0x04 },
                         WIDEN_F16 = { 2, 1, 0x13 }, WIDEN_WORDS = { 2, 1, 0x33 };
enum { TABLE = 31, ZEROING = 0x81, MERGING = 1, BROADCAST = 0x10, HALF = 1 << 5, WHOLE = 2 << 5 };

/* rm: a register, or -1 for memory at base */
static void evex(struct x86_out *o, struct x86_op c, unsigned reg, unsigned v, int rm, unsigned base, unsigned flags,
                 unsigned w)
{
    const unsigned x = rm >= 0 ? (unsigned)rm : base;
    x86_byte(o, 0x62);
    x86_byte(o, (~reg >> 3 & 1) << 7 | (rm >= 0 ? ~x >> 4 & 1 : 1) << 6 | (~x >> 3 & 1) << 5 | (~reg >> 4 & 1) << 4 |
                    c.map);
    x86_byte(o, w << 7 | (~v & 15) << 3 | 4 | c.pp);
    x86_byte(o, (flags & HALF ? flags : flags | WHOLE) | (~v >> 4 & 1) << 3);
    x86_byte(o, c.op);
    if (rm >= 0) x86_in_register(o, reg, x);
}

static void memory(struct x86_out *o, struct x86_op c, const struct ins *i, unsigned v, unsigned flags, int scale,
                   unsigned w)
{
    evex(o, c, (unsigned)i->d, v, -1, x86_base[i->base], flags, w);
    x86_address(o, (unsigned)i->d, x86_base[i->base], i->disp, scale);
}

/* d = d op b, or d += a * b; b where it is */
static void arithmetic(struct x86_out *o, struct x86_op c, const struct ins *i, unsigned w)
{
    unsigned v = i->op == INS_FLOAT ? 0 : (unsigned)i->a;
    if (i->from == FROM_VECTOR) memory(o, c, i, v, i->masked ? MERGING : 0, 6, w);
    else if (i->from == FROM_SPREAD) memory(o, c, i, v, BROADCAST, types[o->type].scale, w);
    else evex(o, c, (unsigned)i->d, v, i->op == INS_FLOAT ? i->d : i->b, 0, 0, w);
}

/* halves become floats: vcvtph2ps; or vpmovzxwd and vpslld by 16 */
static void load_halves(struct x86_out *o, const struct ins *i, enum carry_store store)
{
    const unsigned d = (unsigned)i->d;
    memory(o, store == CARRY_HALVES_F16 ? WIDEN_F16 : WIDEN_WORDS, i, 0, i->masked ? ZEROING : 0, 5, 0);
    if (store == CARRY_HALVES_F16) return;
    evex(o, SHIFT, 6, d, i->d, 0, 0, 0);
    x86_byte(o, 16);
}

/* vpsrld, unless they are the lowest; vpermps looks at four bits alone */
static void bits(struct x86_out *o, const struct ins *i)
{
    const unsigned d = (unsigned)i->d;
    if (i->disp) {
        evex(o, SHIFT, 2, d, i->a, 0, 0, 0);
        x86_byte(o, 4 * (unsigned)i->disp);
    }
    evex(o, PERMUTE, d, i->disp ? d : (unsigned)i->a, TABLE, 0, 0, 0);
}

/* one lane of each four: vpermilps; of each eight that of the second in all lanes, then that of the first in its own */
static void groups(struct x86_out *o, const struct ins *i)
{
    struct ins one = *i;
    if (i->each == 4) {
        memory(o, PERMUTE_FOURS, i, 0, 0, 6, 0);
        x86_byte(o, i->lane * 0x55u);
        return;
    }
    for (int g = 2; g-- > 0; ) {
        one.disp = i->disp + 4 * (8 * g + i->lane);
        memory(o, types[o->type].spread, &one, 0, g ? 0 : MERGING, 2, 0);
    }
}

/* zmm to ymm, into registers 0 to 3, which then are summed as by AVX2 */
static void total(struct x86_out *o, const struct ins *i)
{
    const struct type *t = &types[o->type];
    const unsigned spare = (unsigned)i->b;
    for (int k = 0; k < i->a; k++) {
        const unsigned acc = (unsigned)(i->d + k);
        evex(o, UPPER, acc, 0, (int)spare, 0, 0, 1);     /* vextractf64x4 */
        x86_byte(o, 1);
        evex(o, t->plus, (unsigned)k, acc, (int)spare, 0, HALF, t->w);
    }
    avx2_total(o, (const unsigned[]){ 0, 1, 2, 3 }, i->a);
}

void avx512_ins(struct x86_out *o, const struct ins *i)
{
    const struct type *t = &types[o->type];
    const struct type *f = i->floats && o->type != CARRY_F64 ? &types[CARRY_F32] : t;
    switch (i->op) {
    case INS_ZERO: evex(o, XOR, (unsigned)i->d, (unsigned)i->d, i->d, 0, 0, 0); break;
    case INS_LOAD:
        if (i->half) load_halves(o, i, o->store);
        else memory(o, t->load, i, 0, i->masked ? ZEROING : 0, 6, t->w);
        break;
    case INS_SPREAD:
        if (i->each) groups(o, i);
        else memory(o, t->spread, i, 0, 0, t->scale, t->w);
        break;
    case INS_MAC: arithmetic(o, t->mac, i, t->w); break;
    case INS_PLUS: arithmetic(o, f->plus, i, f->w); break;
    case INS_MAX: arithmetic(o, f->max, i, f->w); break;
    case INS_MIN: arithmetic(o, f->min, i, f->w); break;
    case INS_TIMES: arithmetic(o, f->times, i, f->w); break;
    case INS_NUMBER:                                     /* mov eax, number; vcvtsi2ss d, d, eax; vbroadcastss d, d */
        x86_byte(o, 0xB8);
        x86_word(o, (uint32_t)i->disp);
        evex(o, f->w ? DOUBLE_OF : FLOAT_OF, (unsigned)i->d, (unsigned)i->d, 0, 0, 0, 0);
        evex(o, f->spread, (unsigned)i->d, 0, i->d, 0, 0, f->w);
        break;
    case INS_FLOAT: arithmetic(o, FLOAT, i, 0); break;
    case INS_STORE: memory(o, t->store, i, 0, i->masked ? MERGING : 0, 6, t->w); break;
    case INS_MASK:                                       /* mov eax, lanes; kmovw k1, eax */
        x86_byte(o, 0xB8);
        x86_word(o, (1u << i->disp) - 1);
        x86_raw(o, "\xC5\xF8\x92\xC8", 4);
        break;
    case INS_TABLE:                                      /* vmovups zmm31, [rip + ..] */
        evex(o, t->load, TABLE, 0, -1, 5, 0, 0);
        x86_byte(o, (TABLE & 7) << 3 | 5);
        x86_later(o, POOL_MASKS, 0);
        break;
    case INS_BITS: bits(o, i); break;
    case INS_TOTAL: total(o, i); break;
    case INS_LANES: avx2_lanes(o, i); break;
    }
}

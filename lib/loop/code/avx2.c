/* VEX, ymm.  A mask is in the last register, made of the words that follow the code. */
#include "loop/code/x86.h"

enum { MASK = 15 };
static const struct type {
    struct x86_op load, store, masked_load, masked_store, spread, mac, plus, max, min, times;
    uint8_t w;
} types[] = {
    [CARRY_F32] = { { 1, 0, 0x10 }, { 1, 0, 0x11 }, { 2, 1, 0x2C }, { 2, 1, 0x2E }, { 2, 1, 0x18 }, { 2, 1, 0xB8 },
                    { 1, 0, 0x58 }, { 1, 0, 0x5F }, { 1, 0, 0x5D }, { 1, 0, 0x59 }, 0 },
    [CARRY_F64] = { { 1, 1, 0x10 }, { 1, 1, 0x11 }, { 2, 1, 0x2D }, { 2, 1, 0x2F }, { 2, 1, 0x19 }, { 2, 1, 0xB8 },
                    { 1, 1, 0x58 }, { 1, 1, 0x5F }, { 1, 1, 0x5D }, { 1, 1, 0x59 }, 1 } };
static const struct x86_op XOR = { 1, 0, 0x57 }, PLUS_INTS = { 1, 1, 0xFE },
                           SHIFT = { 1, 1, 0x72 }, FLOAT = { 1, 0, 0x5B },
                           FLOAT_OF = { 1, 2, 0x2A }, DOUBLE_OF = { 1, 3, 0x2A };

static void memory(struct x86_out *o, struct x86_op c, const struct ins *i, unsigned v, unsigned w)
{
    x86_vex(o, c, (unsigned)i->d, v, x86_base[i->base], 1, w);
    x86_address(o, (unsigned)i->d, x86_base[i->base], i->disp, 0);
}

static void arithmetic(struct x86_out *o, struct x86_op c, const struct ins *i, unsigned w)
{
    if (i->from == FROM_VECTOR) {
        memory(o, c, i, (unsigned)i->a, w);
        return;
    }
    x86_vex(o, c, (unsigned)i->d, (unsigned)i->a, (unsigned)i->b, 1, w);
    x86_in_register(o, (unsigned)i->d, (unsigned)i->b);
}

/* vpslld, vpsrad: their sign, too; vcvtdq2ps */
static void bits(struct x86_out *o, unsigned d, unsigned a, unsigned up)
{
    for (int down = !up; down < 2; down++, a = d) {
        x86_vex(o, SHIFT, down ? 4 : 6, d, a, 1, 0);
        x86_in_register(o, down ? 4 : 6, a);
        x86_byte(o, down ? 28 : up);
    }
    x86_vex(o, FLOAT, d, 0, d, 1, 0);
    x86_in_register(o, d, d);
}

void avx2_ins(struct x86_out *o, const struct ins *i)
{
    const struct type *t = &types[o->type];
    switch (i->op) {
    case INS_ZERO:
        x86_vex(o, XOR, (unsigned)i->d, (unsigned)i->d, (unsigned)i->d, 1, 0);
        x86_in_register(o, (unsigned)i->d, (unsigned)i->d);
        break;
    case INS_LOAD: memory(o, i->masked ? t->masked_load : t->load, i, i->masked ? MASK : 0, 0); break;
    case INS_SPREAD:                                     /* vbroadcastss; vpermilps: one lane of each four */
        memory(o, i->each ? (struct x86_op){ 3, 1, 0x04 } : t->spread, i, 0, 0);
        if (i->each) x86_byte(o, i->lane * 0x55u);
        break;
    case INS_STORE: memory(o, i->masked ? t->masked_store : t->store, i, i->masked ? MASK : 0, 0); break;
    case INS_MAC: arithmetic(o, t->mac, i, t->w); break;
    case INS_PLUS: arithmetic(o, t->plus, i, 0); break;
    case INS_MAX: arithmetic(o, t->max, i, 0); break;
    case INS_MIN: arithmetic(o, t->min, i, 0); break;
    case INS_TIMES: arithmetic(o, t->times, i, 0); break;
    case INS_NUMBER:                                     /* mov eax, number; vcvtsi2ss d, d, eax; vbroadcastss d, d */
        x86_byte(o, 0xB8);
        x86_word(o, (uint32_t)i->disp);
        x86_vex(o, t->w ? DOUBLE_OF : FLOAT_OF, (unsigned)i->d, (unsigned)i->d, 0, 0, 0);
        x86_in_register(o, (unsigned)i->d, 0);
        x86_vex(o, t->spread, (unsigned)i->d, 0, (unsigned)i->d, 1, 0);
        x86_in_register(o, (unsigned)i->d, (unsigned)i->d);
        break;
    case INS_MASK:                                       /* vmovups ymm15, [rip + ..]: so many ones, then zeros */
        x86_vex(o, types[CARRY_F32].load, MASK, 0, 0, 1, 0);
        x86_byte(o, (MASK & 7) << 3 | 5);
        x86_later(o, POOL_MASKS, 32 - (i->disp << (t->w ? 3 : 2)));
        break;
    case INS_BITS: bits(o, (unsigned)i->d, (unsigned)i->a, 28 - 4 * (unsigned)i->disp); break;
    case INS_TOTAL: {
        const unsigned r = (unsigned)i->d;
        avx2_total(o, (const unsigned[]){ r, r + (i->a > 1), r + (i->a > 2 ? 2 : 0), r + (i->a > 3 ? 3 : 0) }, i->a);
        break;
    }
    case INS_LANES: avx2_lanes(o, i); break;
    }
}

/* ---- sums of lanes, in registers 0 to 15 ---- */

static const struct x86_op PART = { 3, 1, 0x19 };          /* vextractf128 */

static struct x86_op plus_of(enum carry_type type)
{
    return type == CARRY_U8S8 ? PLUS_INTS : types[type == CARRY_F64 ? CARRY_F64 : CARRY_F32].plus;
}

void avx2_total(struct x86_out *o, const unsigned from[4], int n)
{
    static const struct x86_op HALVES = { 3, 1, 0x06 }, PAIRS[] = {        /* vperm2f128; vhaddps, vphaddd, vhaddpd */
        [CARRY_F32] = { 1, 3, 0x7C }, [CARRY_BF16] = { 1, 3, 0x7C }, [CARRY_U8S8] = { 2, 1, 0x02 },
        [CARRY_F64] = { 1, 1, 0x7C } };
    const bool doubles = o->type == CARRY_F64;
    const unsigned r[4] = { from[0], n > 1 ? from[1] : from[0], n > 2 ? from[2] : from[0], n > 3 ? from[3] : from[0] };
    const unsigned step[3][3] = { { 2, r[2], r[3] }, { 0, r[0], r[1] }, { 0, 0, 2 } };
    for (int i = 0; i < 3; i++) {
        if ((n < 3 && i == 0) || (doubles && i == 2)) continue;
        const unsigned b = n < 3 && i == 2 ? 0 : step[i][2];
        x86_vex(o, PAIRS[o->type], step[i][0], step[i][1], b, 1, 0);
        x86_in_register(o, step[i][0], b);
    }
    for (unsigned half = 0; half < 2 && doubles; half++) {       /* lower halves of 0 and 2, upper ones */
        const unsigned other = n < 3 ? 0 : 2;
        x86_vex(o, HALVES, !half, 0, other, 1, 0);
        x86_in_register(o, !half, other);
        x86_byte(o, half ? 0x31 : 0x20);
    }
    if (!doubles) {
        x86_vex(o, PART, 0, 0, 1, 1, 0);
        x86_in_register(o, 0, 1);
        x86_byte(o, 1);
    }
    x86_vex(o, plus_of(o->type), 0, 0, 1, doubles, 0);
    x86_in_register(o, 0, 1);
}

static void at(struct x86_out *o, struct x86_op c, unsigned reg, const struct ins *i, unsigned wide)
{
    x86_vex(o, c, reg, 0, x86_base[i->base], wide, 0);
    x86_address(o, reg, x86_base[i->base], i->disp, 0);
}

void avx2_lanes(struct x86_out *o, const struct ins *i)
{
    static const struct x86_op load[] = { { 1, 2, 0x10 }, { 1, 3, 0x10 } },
                               store[] = { { 1, 2, 0x11 }, { 1, 3, 0x11 } },
                               lane[] = { { 3, 1, 0x04 }, { 3, 1, 0x05 } }; /* of floats, of doubles */
    const bool doubles = o->type == CARRY_F64;
    int n = i->d;
    unsigned from = 0;
    if (i->a == 4) {                                     /* four doubles are a ymm */
        if (i->b > 0) {
            at(o, types[CARRY_F32].load, 1, i, doubles);
            x86_vex(o, plus_of(o->type), 0, 0, 1, doubles, 0);
            x86_in_register(o, 0, 1);
        }
        at(o, types[CARRY_F32].store, 0, i, doubles);
        return;
    }
    if (doubles && n > 1) {
        x86_vex(o, PART, 0, 0, from = 1, 1, 0);
        x86_in_register(o, 0, 1);
        x86_byte(o, 1);
        n -= 2;
    }
    x86_vex(o, lane[doubles], 1, 0, from, 0, 0);             /* vpermilps or vpermilpd xmm1, from, lane */
    x86_in_register(o, 1, from);
    x86_byte(o, (unsigned)n);
    if (i->b > 0) {
        at(o, load[doubles], 2, i, 0);
        x86_vex(o, plus_of(o->type), 1, 1, 2, 0, 0);
        x86_in_register(o, 1, 2);
    }
    at(o, store[doubles], 1, i, 0);
}

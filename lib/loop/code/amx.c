/* AMX: loads and stores of tiles, their products.  Strides of rows of A, B and C are in the last counters. */
#include "loop/code/x86.h"
#include <string.h>

static const uint8_t stride[3] = { 13, 14, 15 };
static const struct x86_op CONFIG = { 2, 0, 0x49 }, ZERO = { 2, 3, 0x49 }, LOAD = { 2, 3, 0x4B },
                           STORE = { 2, 2, 0x4B }, PAIRS = { 2, 2, 0x5C }, UNSIGNED = { 2, 1, 0x5E },
                           SIGNED = { 2, 3, 0x5E };

/* the palette, bytes of a row from byte 16 on, rows from byte 48 on.  Tiles 0 to 3 are rows x columns of C, 4 and 5 of
 * A, 6 and 7 of B; with a rest, 5 and 7 have only so many steps of the sum. */
void amx_shape(const struct tile_shape *x, uint8_t to[64])
{
    memset(to, 0, 64);
    to[0] = 1;
    for (int i = 0; i < 8; i++) {
        bool a = i == 4 || i == 5, b = i > 5, rest = x->rest && i % 2;
        to[16 + 2 * i] = (uint8_t)(4 * (a ? rest ? x->rest : TILE_SIDE : x->columns));
        to[48 + i] = (uint8_t)(b ? rest ? x->rest : TILE_SIDE : x->rows);
    }
}

/* [base + disp + row * index]: the index is a must, and above r7 */
static void memory(struct x86_out *o, struct x86_op c, const struct ins *i)
{
    const unsigned index = stride[i->base], modrm = (unsigned)i->d << 3 | 4;
    x86_byte(o, 0xC4);
    x86_byte(o, 0xA0u | c.map);
    x86_byte(o, 0x78u | c.pp);
    x86_byte(o, c.op);
    x86_byte(o, (i->disp == 0 ? 0 : i->disp >= -128 && i->disp <= 127 ? 0x40 : 0x80) | modrm);
    x86_byte(o, (index & 7) << 3 | x86_base[i->base]);
    if (i->disp >= -128 && i->disp <= 127 && i->disp) x86_byte(o, (unsigned)i->disp & 255);
    else if (i->disp) x86_word(o, (uint32_t)i->disp);
}

void amx_ins(struct x86_out *o, const struct ins *i)
{
    switch (i->op) {
    case INS_SHAPE:                                      /* ldtilecfg [rip + to the shape] */
        x86_vex(o, CONFIG, 0, 0, 0, 0, 0);
        x86_byte(o, 5);
        x86_later(o, POOL_SHAPES, i->disp);
        break;
    case INS_STRIDE:                                     /* mov r32, bytes clears the upper half */
        x86_byte(o, 0x41);
        x86_byte(o, 0xB8 | (stride[i->base] & 7));
        x86_word(o, (uint32_t)i->disp);
        break;
    case INS_TILE_ZERO:
        x86_vex(o, ZERO, 0, 0, 0, 0, 0);
        x86_byte(o, 0xC0u | (unsigned)i->d << 3);
        break;
    case INS_TILE_LOAD: memory(o, LOAD, i); break;
    case INS_TILE_STORE: memory(o, STORE, i); break;
    case INS_TILE_MAC:
        x86_vex(o, o->type == CARRY_BF16 ? PAIRS : o->sign ? SIGNED : UNSIGNED, (unsigned)i->d, (unsigned)i->b,
            (unsigned)i->a, 0, 0);
        x86_byte(o, 0xC0u | (unsigned)i->d << 3 | (unsigned)i->a);
        break;
    }
}

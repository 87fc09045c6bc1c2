/* Instructions to bytes: the frame, loops, calls, the pool behind the code; vectors are written by their target. */
#include "loop/code/x86.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* [rsp]: the context, what is set aside, counters that are not in registers */
enum { RAX = 0, RSP = 4, SAVED = 8, HEADROOM = 256, TILE_COUNTERS = 3, MASKS = 64 };
/* of the innermost loops; AMX has strides in the last ones */
static const uint8_t counter[] = { 3, 5, 10, 11, 12, 13, 14, 15 };

/* [rsp + disp] as an operand */
static void in_frame(struct x86_out *o, unsigned reg, int disp)
{
    x86_byte(o, (disp < 128 ? 0x44 : 0x84) | (reg & 7) << 3);
    x86_byte(o, 0x24);
    if (disp < 128) x86_byte(o, (unsigned)disp);
    else x86_word(o, (uint32_t)disp);
}

/* mov between a register and the frame, or from [rax + disp]; op 8B: from there, 89: to it */
static void frame(struct x86_out *o, unsigned op, unsigned reg, int disp)
{
    x86_byte(o, 0x48 | (reg >> 3) << 2);
    x86_byte(o, op);
    in_frame(o, reg, disp);
}

static void from_context(struct x86_out *o, unsigned reg, size_t disp)
{
    x86_byte(o, 0x48 | (reg >> 3) << 2);
    x86_byte(o, 0x8B);
    x86_byte(o, 0x40 | (reg & 7) << 3 | RAX);
    x86_byte(o, (unsigned)disp);
}

static void add(struct x86_out *o, unsigned r, int32_t by)
{
    bool small = by >= -128 && by <= 127;
    x86_byte(o, 0x48 | r >> 3);
    x86_byte(o, small ? 0x83 : 0x81);
    x86_byte(o, 0xC0 | (r & 7));
    if (small) x86_byte(o, (unsigned)by & 255);
    else x86_word(o, (uint32_t)by);
}

struct frame { int registers, holds, more, bytes; };     /* counters in registers; what lies in it */

static struct frame frame_of(const struct loop_plan *q)
{
    struct frame f = { .registers = (int)sizeof counter - (q->target->tiles ? TILE_COUNTERS : 0), .holds = q->holds };
    f.more = q->depth > f.registers ? q->depth - f.registers : 0;
    f.bytes = SAVED + 8 * (f.holds + f.more);
    f.bytes += f.bytes % 16 ? 0 : 8;                     /* with six registers pushed calls are aligned */
    return f;
}

static void count(struct x86_out *o, const struct frame *f, int n, int32_t passes)
{
    if (n >= f->more) {                                  /* mov r32, passes clears the upper half */
        unsigned r = counter[n - f->more];
        if (r >= 8) x86_byte(o, 0x41);
        x86_byte(o, 0xB8 | (r & 7));
    } else {
        x86_byte(o, 0xC7);
        in_frame(o, 0, SAVED + 8 * (f->holds + n));
    }
    x86_word(o, (uint32_t)passes);
}

static void count_down(struct x86_out *o, const struct frame *f, int n, const uint8_t *top)
{
    if (n >= f->more) {                                  /* dec, jnz */
        unsigned r = counter[n - f->more];
        if (r >= 8) x86_byte(o, 0x41);
        x86_byte(o, 0xFF);
        x86_byte(o, 0xC8 | (r & 7));
    } else {
        x86_byte(o, 0xFF);
        in_frame(o, 1, SAVED + 8 * (f->holds + n));
    }
    x86_raw(o, "\x0F\x85", 2);
    x86_word(o, (uint32_t)(top - (o->at + 4)));
}

/* A function of the context, whose first argument is a change.  No vector is live outside of tiles, so that only
 * addresses and counters are to be kept. */
static void call(struct x86_out *o, const struct ins *i)
{
    static const size_t function[] = { offsetof(struct carry_context, change), offsetof(struct carry_context, finish),
                                       offsetof(struct carry_context, between),
                                       offsetof(struct carry_context, hidden) };
    enum { PUSHED = 64 };
    x86_raw(o, "\x57\x56\x52\x51\x41\x50\x41\x51\x41\x52\x41\x53", 12);      /* push rdi rsi rdx rcx r8 r9 r10 r11 */
    frame(o, 0x8B, RAX, PUSHED);
    if (i->call == CALL_CHANGE) {                        /* rsi = the base, rdx = scratch; */
        if (i->base == BASE_B) x86_raw(o, "\x48\x89\xD6", 3);
        from_context(o, 2, offsetof(struct carry_context, scratch) + 8u * i->base);
    } else {                                             /* rsi = rdi, rdx = rax, rcx is V */
        x86_raw(o, "\x48\x89\xFE\x48\x89\xC2", 6);
    }
    x86_raw(o, "\x48\x8D\x3D", 3);                       /* lea rdi, [rip + to the change] */
    x86_later(o, POOL_CHANGES, i->disp);
    x86_raw(o, "\xC5\xF8\x77\xFF\x50", 5);               /* vzeroupper; call [rax + ..] */
    x86_byte(o, (unsigned)function[i->call]);
    x86_raw(o, "\x41\x5B\x41\x5A\x41\x59\x41\x58\x59\x5A\x5E\x5F", 12);
}

static void hold(struct x86_out *o, const struct ins *i)
{
    frame(o, 0x89, x86_base[i->base], SAVED + 8 * i->d);
    if (i->disp == HOLD_SECOND) {
        x86_raw(o, "\x48\x89", 2);
        x86_in_register(o, x86_base[BASE_SECOND], x86_base[i->base]);
        return;
    }
    frame(o, 0x8B, RAX, 0);
    from_context(o, x86_base[i->base], offsetof(struct carry_context, scratch) + 8u * (unsigned)i->disp);
}

static void base(struct x86_out *o, const struct ins *i)
{
    static const size_t extra[] = { [BASE_BIAS] = offsetof(struct carry_context, extra.bias),
                                    [BASE_RESIDUAL] = offsetof(struct carry_context, extra.residual),
                                    [BASE_SECOND] = offsetof(struct carry_context, extra.second) };
    if (i->base == BASE_GROUP) {                         /* lea r9, [rdx + ..] */
        x86_raw(o, "\x4C\x8D\x8A", 3);
        x86_word(o, (uint32_t)i->disp);
        return;
    }
    frame(o, 0x8B, RAX, 0);
    from_context(o, x86_base[i->base], extra[i->base]);
}

static void enter(struct x86_out *o, const struct frame *f)
{
    x86_raw(o, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57", 10);      /* push rbx, rbp, r12 .. r15 */
    add(o, RSP, -f->bytes);
    frame(o, 0x89, 1, 0);
}

static void leave(struct x86_out *o, const struct frame *f, bool tiles)
{
    if (tiles) x86_raw(o, "\xC4\xE2\x78\x49\xC0", 5);    /* tilerelease */
    add(o, RSP, f->bytes);
    x86_raw(o, "\x41\x5F\x41\x5E\x41\x5D\x41\x5C\x5D\x5B\xC5\xF8\x77\xC3", 14);      /* pop, vzeroupper, ret */
}

/* what follows the code: masks of AVX2 or what 4 bits are, changes, shapes of tiles */
static void pool(struct x86_out *o, const struct loop_plan *q)
{
    const size_t change = sizeof(struct carry_change);
    const bool masks = !q->target->memory_masked, table = q->p->q4 && !masks;
    if (o->full || (size_t)(o->end - o->at) < MASKS + 256 + change * (size_t)q->nchange + 64u * (unsigned)q->nshape) {
        o->full = true;
        return;
    }
    while ((o->at - o->start) % 64) x86_byte(o, 0xCC);   /* nothing runs into it */
    uint8_t *at[3] = { o->at, o->at + (masks || table ? MASKS : 0), NULL };
    if (masks) memset(at[0], 0xff, MASKS / 2), memset(at[0] + MASKS / 2, 0, MASKS / 2);
    for (int j = 0; j < 16 && table; j++) memcpy(at[0] + 4 * j, &(float){ (float)(j < 8 ? j : j - 16) }, 4);
    o->at = at[1];
    for (int i = 0; i < q->nchange; i++) x86_raw(o, (const char *)&q->change[i].about, (int)change);
    while (q->nshape && (o->at - o->start) % 64) x86_byte(o, 0);
    at[2] = o->at;
    for (int i = 0; i < q->nshape; i++, o->at += 64) amx_shape(&q->shape[i], o->at);
    for (size_t i = 0; i < o->nfix; i++) {
        const struct x86_fix *f = &o->fix[i];
        const int32_t unit = f->pool == POOL_CHANGES ? (int32_t)change : f->pool == POOL_SHAPES ? 64 : 1;
        uint8_t *from = o->start + f->at, *to = at[f->pool] + (int64_t)f->offset * unit;
        int32_t distance = (int32_t)(to - (from + 4));
        memcpy(from, &distance, 4);
    }
}

/* where a loop begins: by the longest forms of nop */
static void align(struct x86_out *o)
{
    static const char nop[9][9] = { "\x90", "\x66\x90", "\x0F\x1F\x00", "\x0F\x1F\x40\x00", "\x0F\x1F\x44\x00\x00",
                                    "\x66\x0F\x1F\x44\x00\x00", "\x0F\x1F\x80\x00\x00\x00\x00",
                                    "\x0F\x1F\x84\x00\x00\x00\x00\x00", "\x66\x0F\x1F\x84\x00\x00\x00\x00\x00" };
    for (int left = (int)(-(o->at - o->start) & 31); left > 0; ) {
        const int n = left < 9 ? left : 9;
        x86_raw(o, nop[n - 1], n);
        left -= n;
    }
}

static void one(struct x86_out *o, const struct ins *i, const struct frame *f, const struct loop_plan *q,
                const uint8_t *top[2 * PLAN_DEPTH])
{
    switch (i->op) {
    case INS_PREFETCH:
    case INS_PREFETCH2:                                  /* prefetcht0, prefetcht1 */
        if (x86_base[i->base] >= 8) x86_byte(o, 0x41);
        x86_raw(o, "\x0F\x18", 2);
        x86_address(o, i->op == INS_PREFETCH ? 1 : 2, x86_base[i->base], i->disp, 0);
        break;
    case INS_MOVE: add(o, x86_base[i->base], i->disp); break;
    case INS_BASE: base(o, i); break;
    case INS_CALL: call(o, i); break;
    case INS_HOLD: hold(o, i); break;
    case INS_RELEASE: frame(o, 0x8B, x86_base[i->base], SAVED + 8 * i->d); break;
    case INS_LOOP:
        count(o, f, i->d, i->disp);
        align(o);
        top[i->d] = o->at;
        break;
    case INS_END: count_down(o, f, i->d, top[i->d]); break;
    case INS_SKIP:
        call(o, i);
        x86_raw(o, "\x85\xC0\x0F\x85\0\0\0\0", 8);       /* test eax, eax; jnz behind the end */
        top[PLAN_DEPTH] = o->at;
        break;
    case INS_SKIP_END:
        if (!o->full) memcpy(o->start + (top[PLAN_DEPTH] - o->start) - 4,
                             &(int32_t){ (int32_t)(o->at - top[PLAN_DEPTH]) }, 4);
        break;
    default:
        if (i->op >= INS_SHAPE && i->op < INS_TABLE) amx_ins(o, i);
        else if (q->target->bytes == 64) avx512_ins(o, i);
        else avx2_ins(o, i);
    }
}

void ins_bytes(const struct ir *x, struct machine_code *code)
{
    const struct loop_plan *q = x->q;
    const struct frame f = frame_of(q);
    struct x86_out o = { .start = code->to, .at = code->to, .end = code->to + code->room, .type = q->type,
                     .sign = q->p->sign, .store = (enum carry_store)q->p->store };
    const uint8_t *top[2 * PLAN_DEPTH] = { 0 };
    for (const struct ins *i = x->ins; i < x->ins + x->n; i++) {
        if (o.end - o.at < HEADROOM) o.full = true, o.at = o.start, o.nfix = 0;
        if (i->op == INS_ENTER) enter(&o, &f);
        else if (i->op == INS_LEAVE) leave(&o, &f, q->target->tiles);
        else one(&o, i, &f, q, top);
    }
    pool(&o, q);
    code->n = o.full ? code->room + 1 : (size_t)(o.at - o.start);
    free(o.fix);
}

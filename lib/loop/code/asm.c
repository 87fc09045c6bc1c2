#include "loop/code/asm.h"
#include <stdlib.h>
#include <stddef.h>
#include <string.h>

/* before each instruction: room for the longest, or start over (what is there is never run once `full` is set) */
static inline void room(struct assembler *s)
{
    if (s->limit - s->at >= 16) return;
    s->full = true;
    s->at = s->start;
    s->nfix = 0;
}

static inline void byte(struct assembler *s, unsigned x)
{
    *s->at++ = (uint8_t)x;
}

static inline void word(struct assembler *s, int32_t x)  /* x86 is little-endian, and so are we then */
{
    memcpy(s->at, &x, 4);
    s->at += 4;
}

/* map 1: 0F, 2: 0F38, 3: 0F3A; pp 0: none, 1: 66, 2: F3, 3: F2 */
struct insn { uint8_t map, pp, op; };
static const struct insn LOAD_PS = { 1, 0, 0x10 }, STORE_PS = { 1, 0, 0x11 }, BROADCAST_PS = { 2, 1, 0x18 },
                         LOAD_PD = { 1, 1, 0x10 }, STORE_PD = { 1, 1, 0x11 }, BROADCAST_PD = { 2, 1, 0x19 },
                         XOR_WIDE = { 1, 1, 0xEF }, XOR = { 1, 0, 0x57 },
                         MASK_LOAD_PS = { 2, 1, 0x2C }, MASK_STORE_PS = { 2, 1, 0x2E },
                         MASK_LOAD_PD = { 2, 1, 0x2D }, MASK_STORE_PD = { 2, 1, 0x2F };
/* the one of these for floats, or for doubles */
#define OF_TYPE(s, name) ((s)->type == CARRY_F64 ? name##_PD : name##_PS)
static const struct insn multiply[] = { [CARRY_F32] = { 2, 1, 0xB8 },            /* vfmadd231ps */
                                        [CARRY_BF16] = { 2, 2, 0x52 },           /* vdpbf16ps */
                                        [CARRY_U8S8] = { 2, 1, 0x50 },           /* vpdpbusd */
                                        [CARRY_F64] = { 2, 1, 0xB8 } };          /* vfmadd231pd, by W */
static const struct insn add[] = { [CARRY_F32] = { 1, 0, 0x58 },                  /* vaddps */
                                   [CARRY_BF16] = { 1, 0, 0x58 },
                                   [CARRY_U8S8] = { 1, 1, 0xFE },                 /* vpaddd */
                                   [CARRY_F64] = { 1, 1, 0x58 } };                /* vaddpd */
static const char *const name_of[16] = { [RDX] = "b", [RSI] = "a", [RDI] = "c", [R14] = "w", [R15] = "v", [RAX] = "v" };

static inline void address(struct assembler *s, int reg, int base, long disp,
                           int scale) /* 8-bit displacements count in 2^scale */
{
    unsigned modrm = (unsigned)(reg & 7) << 3 | (unsigned)base;
    if (disp == 0) {
        byte(s, modrm);
    } else if ((disp & ((1 << scale) - 1)) == 0 && disp >> scale >= -128 && disp >> scale <= 127) {
        byte(s, 0x40 | modrm);
        byte(s, (uint8_t)(disp >> scale));
    } else {
        byte(s, 0x80 | modrm);
        word(s, (int32_t)disp);
    }
}

enum { HALF = 1 << 5, WHOLE = 2 << 5, DOUBLE = 0x80 };   /* lengths of EVEX, as in its last byte; its W */

/* x: rm's extension bits, from a register or 0 for memory */
static inline void evex_of(struct assembler *s, struct insn i, unsigned reg, unsigned v, unsigned x, unsigned flags,
                           unsigned length, unsigned w)
{
    room(s);
    uint32_t p0 = (~reg >> 3 & 1) << 7 | (~x >> 4 & 1) << 6 | (~x >> 3 & 1) << 5 | (~reg >> 4 & 1) << 4 | i.map;
    uint32_t p1 = w | (~v & 15) << 3 | 4 | i.pp, p2 = flags | length | (~v >> 4 & 1) << 3;
    word(s, (int32_t)(0x62 | p0 << 8 | p1 << 16 | p2 << 24));
    byte(s, i.op);
}

static inline void evex(struct assembler *s, struct insn i, unsigned reg, unsigned v, unsigned x, unsigned flags)
{
    evex_of(s, i, reg, v, x, flags, WHOLE, s->type == CARRY_F64 ? DOUBLE : 0);
}

static inline void vex_of(struct assembler *s, struct insn i, unsigned reg, unsigned v, unsigned x, unsigned wide)
{
    room(s);
    uint32_t p0 = (~reg >> 3 & 1) << 7 | 1 << 6 | (~x >> 3 & 1) << 5 | i.map;
    uint32_t w = s->type == CARRY_F64 && i.map == 2 && i.op == 0xB8;     /* no other form that is here has it */
    uint32_t p1 = w << 7 | (~v & 15) << 3 | wide << 2 | i.pp;
    word(s, (int32_t)(0xC4 | p0 << 8 | p1 << 16 | (uint32_t)i.op << 24));
}

static inline void vex(struct assembler *s, struct insn i, unsigned reg, unsigned v, unsigned x)
{
    vex_of(s, i, reg, v, x, 1);
}

static void with_register(struct assembler *s, struct insn i, int reg, int v, int rm)
{
    if (s->wide) evex(s, i, (unsigned)reg, (unsigned)v, (unsigned)rm, 0);
    else vex(s, i, (unsigned)reg, (unsigned)v, (unsigned)rm);
    byte(s, 0xC0 | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}

void asm_begin(struct assembler *s, uint8_t *memory, long bytes, bool wide, enum carry_type type)
{
    *s = (struct assembler){ .start = memory, .at = memory, .limit = memory + bytes, .wide = wide, .type = type,
                             .fix = s->fix, .room = s->room, .text = s->text };
}

/* 32 bits that are the distance to something in the pool */
static void later(struct assembler *s, int32_t change, int32_t offset)
{
    s->fix = grow(s->fix, s->nfix + 1, &s->room, sizeof *s->fix);
    s->fix[s->nfix++] = (struct asm_fix){ (uint32_t)(s->at - s->start), change, offset };
    word(s, 0);
}

static inline int element(const struct assembler *s) { return s->type == CARRY_F64 ? 3 : 2; }   /* log of its bytes */

void asm_load(struct assembler *s, int reg, int base, long disp, bool masked)
{
    if (s->text) {
        const char *sort = s->type == CARRY_F64 ? "d" : "s", *to = s->type == CARRY_F64 ? "double" : "float";
        if (masked && s->wide)
            buf_format(s->text, "v%d = _mm512_maskz_loadu_p%s(m, (const %s *)(%s + %ld));\n", reg, sort, to,
                       name_of[base], disp);
        else
            buf_format(s->text, "v%d = _mm%d_%s_p%s((const %s *)(%s + %ld)%s);\n", reg, s->wide ? 512 : 256,
                       masked ? "maskload" : "loadu", sort, to, name_of[base], disp, masked ? ", m" : "");
        return;
    }
    if (s->wide) {
        evex(s, OF_TYPE(s, LOAD), (unsigned)reg, 0, 0, masked ? 0x81 : 0);    /* k1, zeroing */
        address(s, reg, base, disp, 6);
    } else {
        vex(s, masked ? OF_TYPE(s, MASK_LOAD) : LOAD_PS, (unsigned)reg, masked ? ASM_MASK_REGISTER : 0, 0);
        address(s, reg, base, disp, 0);
    }
}

void asm_load_half(struct assembler *s, enum carry_store store, int reg, int base, long disp, bool masked)
{
    static const struct insn WIDEN_F16 = { 2, 1, 0x13 }, WIDEN_WORDS = { 2, 1, 0x33 }, SHIFT = { 1, 1, 0x72 };
    bool f16 = store == CARRY_HALVES_F16;                /* vcvtph2ps; vpmovzxwd and vpslld by 16 */
    if (s->text) {
        buf_format(s->text, f16 ? "v%d = _mm512_cvtph_ps(" : "v%d = _mm512_castsi512_ps(_mm512_slli_epi32("
                                                             "_mm512_cvtepu16_epi32(", reg);
        buf_format(s->text, masked ? "_mm256_maskz_loadu_epi16(m, %s + %ld)"
                                   : "_mm256_loadu_si256((const __m256i *)(%s + %ld))", name_of[base], disp);
        buf_format(s->text, f16 ? ");\n" : "), 16));\n");
        return;
    }
    evex_of(s, f16 ? WIDEN_F16 : WIDEN_WORDS, (unsigned)reg, 0, 0, masked ? 0x81 : 0, WHOLE, 0);
    address(s, reg, base, disp, 5);
    if (f16) return;
    evex_of(s, SHIFT, 6, (unsigned)reg, (unsigned)reg, 0, WHOLE, 0);
    byte(s, 0xC0 | 6 << 3 | (unsigned)(reg & 7));
    byte(s, 16);
}

void asm_store(struct assembler *s, int reg, int base, long disp, bool masked)
{
    if (s->text) {
        const char *name = !masked ? "storeu" : s->wide ? "mask_storeu" : "maskstore";
        buf_format(s->text, "_mm%d_%s_p%s((%s *)(%s + %ld), %sv%d);\n", s->wide ? 512 : 256, name,
                   s->type == CARRY_F64 ? "d" : "s", s->type == CARRY_F64 ? "double" : "float", name_of[base], disp,
                   masked ? "m, " : "", reg);
        return;
    }
    if (s->wide) {
        evex(s, OF_TYPE(s, STORE), (unsigned)reg, 0, 0, masked ? 1 : 0);
        address(s, reg, base, disp, 6);
    } else {
        vex(s, masked ? OF_TYPE(s, MASK_STORE) : STORE_PS, (unsigned)reg, masked ? ASM_MASK_REGISTER : 0, 0);
        address(s, reg, base, disp, 0);
    }
}

void asm_broadcast(struct assembler *s, int reg, int base, long disp)
{
    if (s->text) {
        buf_format(s->text, "v%d = SPREAD(%s + %ld);\n", reg, name_of[base], disp);
        return;
    }
    if (s->wide) evex(s, OF_TYPE(s, BROADCAST), (unsigned)reg, 0, 0, 0);
    else vex(s, OF_TYPE(s, BROADCAST), (unsigned)reg, 0, 0);
    address(s, reg, base, disp, s->wide ? element(s) : 0);
}

void asm_fma(struct assembler *s, int acc, int x, int y)
{
    if (s->text) buf_format(s->text, "v%d = MULTIPLY(v%d, v%d, v%d); KEEP(v%d);\n", acc, acc, x, y, acc);
    else with_register(s, multiply[s->type], acc, x, y);
}

void asm_fma_broadcast(struct assembler *s, int acc, int x, int base, long disp)
{
    if (s->text) {
        buf_format(s->text, "v%d = MULTIPLY(v%d, v%d, SPREAD(%s + %ld)); KEEP(v%d);\n", acc, acc, x, name_of[base],
                   disp, acc);
        return;
    }
    evex(s, multiply[s->type], (unsigned)acc, (unsigned)x, 0, 0x10);
    address(s, acc, base, disp, element(s));
}

void asm_fma_vector(struct assembler *s, int acc, int x, int base, long disp, bool masked, int v)
{
    if (s->text || (masked && !s->wide)) {
        asm_load(s, v, base, disp, masked);
        asm_fma(s, acc, x, v);
    } else if (s->wide) {                                /* lanes beyond the mask keep what they have */
        evex(s, multiply[s->type], (unsigned)acc, (unsigned)x, 0, masked ? 1 : 0);
        address(s, acc, base, disp, 6);
    } else {
        vex(s, multiply[s->type], (unsigned)acc, (unsigned)x, 0);
        address(s, acc, base, disp, 0);
    }
}

void asm_zero(struct assembler *s, int reg)
{
    if (s->text) {
        buf_format(s->text, "v%d = _mm%d_setzero_p%s();\n", reg, s->wide ? 512 : 256,
                   s->type == CARRY_F64 ? "d" : "s");
        return;
    }
    with_register(s, s->wide ? XOR_WIDE : XOR, reg, reg, reg);
}

void asm_sum(struct assembler *s, int reg, int base, long disp, bool masked, int v)
{
    if (s->text || (masked && !s->wide)) {
        asm_load(s, v, base, disp, masked);
        if (s->text) buf_format(s->text, "v%d = PLUS(v%d, v%d);\n", reg, reg, v);
        else with_register(s, add[s->type], reg, reg, v);
    } else if (s->wide) {
        evex(s, add[s->type], (unsigned)reg, (unsigned)reg, 0, masked ? 1 : 0);
        address(s, reg, base, disp, 6);
    } else {
        vex(s, add[s->type], (unsigned)reg, (unsigned)reg, 0);
        address(s, reg, base, disp, 0);
    }
}

static void in_register(struct assembler *s, unsigned reg, unsigned rm)
{
    byte(s, 0xC0 | (reg & 7) << 3 | (rm & 7));
}

static const struct insn PART = { 3, 1, 0x19 };          /* vextractf128 */

/* VEX forms reach registers 0 to 15 alone, so what is halved goes there */
void asm_total(struct assembler *s, const int *acc, int n, int spare)
{
    static const struct insn UPPER = { 3, 1, 0x1B }, HALVES = { 3, 1, 0x06 };    /* vextractf64x4, .. */
    static const struct insn PAIRS_PS = { 1, 3, 0x7C }, PAIRS_PD = { 1, 1, 0x7C }, PAIRS_BYTES = { 2, 1, 0x02 };
    bool doubles = s->type == CARRY_F64;
    struct insn pairs = s->type == CARRY_U8S8 ? PAIRS_BYTES : OF_TYPE(s, PAIRS), sum = add[s->type];
    unsigned r[4];                                       /* vphaddd, vhaddps, vhaddpd */
    if (s->text) {
        buf_format(s->text, "s = TOTAL(");
        for (int i = 0; i < 4; i++) buf_format(s->text, "HALF(v%d)%s", acc[i < n ? i : 0], i < 3 ? ", " : ");\n");
        return;
    }
    for (int i = 0; i < n; i++) {
        r[i] = (unsigned)(s->wide ? i : acc[i]);
        if (!s->wide) continue;
        evex_of(s, UPPER, (unsigned)acc[i], 0, (unsigned)spare, 0, WHOLE, DOUBLE);
        in_register(s, (unsigned)acc[i], (unsigned)spare);
        byte(s, 1);
        evex_of(s, sum, r[i], (unsigned)acc[i], (unsigned)spare, 0, HALF, doubles ? DOUBLE : 0);
        in_register(s, r[i], (unsigned)spare);
    }
    for (int i = n; i < 4; i++) r[i] = r[0];
    const unsigned step[3][3] = { { 2, r[2], r[3] }, { 0, r[0], r[1] }, { 0, 0, 2 } };
    for (int i = 0; i < 3; i++) {
        if (n < 3 && i == 0) continue;
        if (doubles && i == 2) break;
        vex(s, pairs, step[i][0], step[i][1], n < 3 && i == 2 ? 0 : step[i][2]);
        in_register(s, step[i][0], n < 3 && i == 2 ? 0 : step[i][2]);
    }
    for (unsigned half = 0; half < 2 && doubles; half++) {       /* vperm2f128: lower halves of 0 and 2, upper ones */
        unsigned other = n < 3 ? 0 : 2;
        vex(s, HALVES, !half, 0, other);
        in_register(s, !half, other);
        byte(s, half ? 0x31 : 0x20);
    }
    if (!doubles) {
        vex(s, PART, 0, 0, 1);
        in_register(s, 0, 1);
        byte(s, 1);
    }
    vex_of(s, sum, 0, 0, 1, doubles);
    in_register(s, 0, 1);
}

static const struct insn LOAD_ONE_PS = { 1, 2, 0x10 }, STORE_ONE_PS = { 1, 2, 0x11 }, LANE_PS = { 3, 1, 0x04 },
                         LOAD_ONE_PD = { 1, 3, 0x10 }, STORE_ONE_PD = { 1, 3, 0x11 }, LANE_PD = { 3, 1, 0x05 };

void asm_store_four(struct assembler *s, int base, long disp, bool with)
{
    if (s->text) {
        buf_format(s->text, "STORE_FOUR(%s + %ld, s, %d);\n", name_of[base], disp, with);
        return;
    }
    unsigned whole = s->type == CARRY_F64;               /* four doubles are a ymm */
    if (with) {
        vex_of(s, LOAD_PS, 1, 0, 0, whole);
        address(s, 1, base, disp, 0);
        vex_of(s, add[s->type], 0, 0, 1, whole);
        in_register(s, 0, 1);
    }
    vex_of(s, STORE_PS, 0, 0, 0, whole);
    address(s, 0, base, disp, 0);
}

void asm_store_one(struct assembler *s, int lane, int base, long disp, bool with)
{
    if (s->text) {
        buf_format(s->text, "STORE_ONE(%s + %ld, s, %d, %d);\n", name_of[base], disp, lane, with);
        return;
    }
    unsigned from = 0;
    if (s->type == CARRY_F64 && lane > 1) {
        vex(s, PART, 0, 0, from = 1);
        in_register(s, 0, 1);
        byte(s, 1);
        lane -= 2;
    }
    vex_of(s, OF_TYPE(s, LANE), 1, 0, from, 0);          /* vpermilps or vpermilpd xmm1, from, lane */
    in_register(s, 1, from);
    byte(s, (unsigned)lane);
    if (with) {
        vex_of(s, OF_TYPE(s, LOAD_ONE), 2, 0, 0, 0);
        address(s, 2, base, disp, 0);
        vex_of(s, add[s->type], 1, 1, 2, 0);
        in_register(s, 1, 2);
    }
    vex_of(s, OF_TYPE(s, STORE_ONE), 1, 0, 0, 0);
    address(s, 1, base, disp, 0);
}

void asm_prefetch(struct assembler *s, int base, long disp)
{
    if (s->text) {
        buf_format(s->text, "__builtin_prefetch(%s + %ld);\n", name_of[base], disp);
        return;
    }
    room(s);
    byte(s, 0x0F);
    byte(s, 0x18);
    address(s, 1, base, disp, 0);
}

void asm_mask(struct assembler *s, int lanes)
{
    if (s->text) {
        if (s->wide) buf_format(s->text, "m = %d;\n", (1 << lanes) - 1);
        else buf_format(s->text, "m = _mm256_loadu_si256((const __m256i *)(masks + %d));\n",
                        8 - (lanes << element(s)) / 4);
        return;
    }
    room(s);
    if (s->wide) {                                       /* mov eax, mask; kmovw k1, eax */
        byte(s, 0xB8);
        word(s, (1 << lanes) - 1);
        static const uint8_t kmovw[] = { 0xC5, 0xF8, 0x92, 0xC8 };
        for (int i = 0; i < 4; i++) byte(s, kmovw[i]);
    } else {                                             /* vmovups ymm15, [rip + to the masks, 8 - lanes words on] */
        vex(s, LOAD_PS, ASM_MASK_REGISTER, 0, 0);
        byte(s, (ASM_MASK_REGISTER & 7) << 3 | 5);
        later(s, -1, 32 - (lanes << element(s)));
    }
}

void asm_add(struct assembler *s, int base, long bytes)
{
    if (s->text && bytes) buf_format(s->text, "%s += %ld;\n", name_of[base], bytes);
    if (s->text) return;
    if (!bytes) return;
    room(s);
    byte(s, 0x48 | (unsigned)base >> 3);
    if (bytes >= -128 && bytes <= 127) {
        byte(s, 0x83);
        byte(s, 0xC0u | ((unsigned)base & 7));
        byte(s, (uint8_t)bytes);
    } else {
        byte(s, 0x81);
        byte(s, 0xC0u | ((unsigned)base & 7));
        word(s, (int32_t)bytes);
    }
}

static const uint8_t counters[ASM_COUNTERS] = { 8, 9, 10, 11, RCX, RBX, RBP, 12, 13, 14, 15 };

void asm_count(struct assembler *s, int counter, int32_t n)
{
    if (s->text) {
        buf_format(s->text, "n%d = %d;\ndo {\n", counter, n);
        s->full |= s->text->n > 8 << 20;
        return;
    }
    unsigned r = counters[counter];
    room(s);
    if (r >= 8) byte(s, 0x41);
    byte(s, 0xB8 | (r & 7));                             /* mov r32, n clears the upper half */
    word(s, n);
}

void asm_loop(struct assembler *s, int counter, const uint8_t *top)
{
    if (s->text) {
        buf_format(s->text, "} while (--n%d);\n", counter);
        return;
    }
    unsigned r = counters[counter];
    room(s);
    if (r >= 8) byte(s, 0x41);
    byte(s, 0xFF);
    byte(s, 0xC8 | (r & 7));                             /* dec r32 */
    byte(s, 0x0F);
    byte(s, 0x85);                                       /* jnz */
    word(s, (int32_t)(top - (s->at + 4)));
}

static void raw(struct assembler *s, const uint8_t *code, size_t n)
{
    room(s);
    memcpy(s->at, code, n);
    s->at += n;
}

/* mov reg, [base + disp] of 64 bits; base is not r12 or the like */
static void load_word(struct assembler *s, int reg, int base, int disp)
{
    raw(s, (uint8_t[]){ 0x48, 0x8B, (uint8_t)(0x80 | reg << 3 | base) }, 3);
    if (base == RSP) byte(s, 0x24);
    word(s, disp);
}

/* a call of a function of the context, whose first argument is a change: registers are kept, the stack is aligned; the
 * rest of the arguments is made by `more`, with the context in rax */
static void call(struct assembler *s, int change, const uint8_t *more, size_t n, uint8_t function)
{
    static const uint8_t push[] = { 0x55, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53 };
    static const uint8_t pop[] = { 0x41, 0x5B, 0x41, 0x5A, 0x41, 0x59, 0x41, 0x58, 0x5F, 0x5E, 0x5A, 0x59, 0x5D };
    static const uint8_t align[] = { 0x48, 0x89, 0xE5, 0x48, 0x83, 0xE4, 0xF0 };     /* rbp = rsp; rsp &= -16 */
    const uint8_t run[] = { 0xC5, 0xF8, 0x77, 0xFF, 0x50, function, 0x48, 0x89, 0xEC };      /* vzeroupper, its call */
    raw(s, push, sizeof push);
    raw(s, align, sizeof align);
    load_word(s, RAX, RBP, 8 * (9 + s->pushed));         /* the context, below what was pushed */
    raw(s, more, n);
    raw(s, (uint8_t[]){ 0x48, 0x8D, 0x3D }, 3);          /* lea rdi, [rip + to the change] */
    later(s, change, 0);
    raw(s, run, sizeof run);
    raw(s, pop, sizeof pop);
}

void asm_change(struct assembler *s, int change, int base, int t)
{
    if (s->text) {
        buf_format(s->text, "x->change(&d%d, (const float *)%s, x->scratch[%d]);\n", change, name_of[base], t);
        return;
    }
    const uint8_t more[] = { 0x48, 0x89, (uint8_t)(0xC0 | base << 3 | RSI), 0x48, 0x8B, 0x50, (uint8_t)(8 * t) };
    call(s, change, more, sizeof more, offsetof(struct carry_context, change));      /* rsi = base, rdx = scratch */
}

/* of a block of C */
void asm_finish(struct assembler *s, int change)
{
    static const uint8_t more[] = { 0x48, 0x89, 0xFE, 0x48, 0x89, 0xC2 };            /* rsi = rdi, rdx = rax */
    if (s->text) buf_format(s->text, "x->finish(&d%d, (float *)c, x);\n", change);
    else call(s, change, more, sizeof more, offsetof(struct carry_context, finish));
}

/* and with V of the block: rcx = r15 */
static void with_second(struct assembler *s, int change, const char *name, uint8_t function)
{
    static const uint8_t more[] = { 0x48, 0x89, 0xFE, 0x48, 0x89, 0xC2, 0x4C, 0x89, 0xF9 };
    if (s->text) buf_format(s->text, "x->%s(&d%d, (float *)c, x, (const float *)v)", name, change);
    else call(s, change, more, sizeof more, function);
}

void asm_between(struct assembler *s, int change)
{
    with_second(s, change, "between", offsetof(struct carry_context, between));
    if (s->text) buf_format(s->text, ";\n");
}

size_t asm_hidden(struct assembler *s, int change)
{
    if (s->text) buf_format(s->text, "if (!");
    with_second(s, change, "hidden", offsetof(struct carry_context, hidden));
    if (s->text) buf_format(s->text, ") {\n");
    else raw(s, (uint8_t[]){ 0x85, 0xC0, 0x0F, 0x85, 0, 0, 0, 0 }, 8);      /* test eax, eax; jnz */
    return (size_t)(s->at - s->start);
}

void asm_hidden_end(struct assembler *s, size_t from)
{
    if (s->text) buf_format(s->text, "}\n");
    else if (!s->full) memcpy(s->start + from - 4, &(int32_t){ (int32_t)((size_t)(s->at - s->start) - from) }, 4);
}

void asm_second(struct assembler *s)
{
    if (s->text) {
        buf_format(s->text, "const char *v = (const char *)x->extra.second;\n");
        return;
    }
    raw(s, (uint8_t[]){ 0x4C, 0x8B, 0x3C, 0x24, 0x4D, 0x8B, 0x7F,                  /* r15 = [rsp]; r15 = [r15 + ] */
                        offsetof(struct carry_context, extra.second) }, 8);
}

void asm_stream_first(struct assembler *s)
{
    if (s->text) buf_format(s->text, "const char *w = b;\n");
}

void asm_stream_from(struct assembler *s, long bytes)
{
    if (s->text) {
        buf_format(s->text, "w = b + %ld;\n", bytes);
        return;
    }
    raw(s, (uint8_t[]){ 0x4C, 0x8D, 0xB2 }, 3);          /* lea r14, [rdx + bytes] */
    word(s, (int32_t)bytes);
}

void asm_stream(struct assembler *s, int rows, long lines, long bytes)
{
    for (long i = 0; i < rows * lines; i++) {
        long at = i / lines * bytes + i % lines * 64;
        if (s->text) {
            buf_format(s->text, "__builtin_prefetch(w + %ld, 0, 2);\n", at);
            continue;
        }
        raw(s, (uint8_t[]){ 0x41, 0x0F, 0x18 }, 3);      /* prefetcht1 [r14 + ..] */
        address(s, 2, R14 & 7, at, 0);
    }
    asm_add(s, R14, rows * bytes);
}

void asm_bias_first(struct assembler *s, long bytes)
{
    if (s->text) buf_format(s->text, "const char *v = (const char *)x->extra.bias;\n");
    else raw(s, (uint8_t[]){ 0x4C, 0x8B, 0x3C, 0x24, 0x4D, 0x8B, 0x7F, offsetof(struct carry_context, extra.bias) }, 8);
    asm_add(s, R15, bytes);
}

void asm_bias(struct assembler *s)
{
    if (!s->text) raw(s, (uint8_t[]){ 0x4C, 0x89, 0xF8 }, 3);    /* mov rax, r15 */
}

void asm_plus_bias(struct assembler *s, int reg, long disp, bool vector, bool masked, int spare)
{
    static const struct insn ADD = { 1, 0, 0x58 };
    const bool load = s->text || (!s->wide && (masked || !vector));
    if (load && vector) asm_load(s, spare, RAX, disp, masked);
    else if (load) asm_broadcast(s, spare, RAX, disp);
    if (s->text) {
        buf_format(s->text, "v%d = _mm%d_add_ps(v%d, v%d);\n", reg, s->wide ? 512 : 256, reg, spare);
    } else if (load) {
        with_register(s, ADD, reg, reg, spare);
    } else if (s->wide) {                                /* lanes beyond the mask keep what they have */
        evex(s, ADD, (unsigned)reg, (unsigned)reg, 0, !vector ? 0x10 : masked ? 1 : 0);
        address(s, reg, RAX, disp, vector ? 6 : 2);
    } else {
        vex(s, ADD, (unsigned)reg, (unsigned)reg, 0);
        address(s, reg, RAX, disp, 0);
    }
}

void asm_most(struct assembler *s, int reg, int other)
{
    static const struct insn MAX = { 1, 0, 0x5F };
    if (s->text) buf_format(s->text, "v%d = _mm%d_max_ps(v%d, v%d);\n", reg, s->wide ? 512 : 256, reg, other);
    else with_register(s, MAX, reg, reg, other);
}

void asm_floats(struct assembler *s, int reg)
{
    static const struct insn FLOATS = { 1, 0, 0x5B };    /* vcvtdq2ps */
    if (s->text) buf_format(s->text, "v%d = _mm512_cvtepi32_ps(_mm512_castps_si512(v%d));\n", reg, reg);
    else with_register(s, FLOATS, reg, 0, reg);
}

void asm_push_second(struct assembler *s)
{
    s->pushed++;
    if (s->text) buf_format(s->text, "{\nconst char *keep = b;\nb = v;\n");
    else raw(s, (uint8_t[]){ 0x52, 0x4C, 0x89, 0xFA }, 4);                        /* push rdx; rdx = r15 */
}

void asm_push(struct assembler *s, int base, int t)
{
    s->pushed++;
    if (s->text) {
        const char *kind = base == RDI ? "" : "const ";
        buf_format(s->text, "{\n%schar *keep = %s;\n%s = (%schar *)x->scratch[%d];\n", kind, name_of[base],
                   name_of[base], kind, t);
        return;
    }
    room(s);
    byte(s, 0x50u | (unsigned)base);
    load_word(s, base, RSP, 8 * s->pushed);
    load_word(s, base, base, 8 * t);
}

void asm_pop(struct assembler *s, int base)
{
    s->pushed--;
    if (s->text) {
        buf_format(s->text, "%s = keep;\n}\n", name_of[base]);
        return;
    }
    room(s);
    byte(s, 0x58u | (unsigned)base);
}

void asm_enter(struct assembler *s)
{
    static const uint8_t push[] = { 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x51 };  /* rcx last */
    if (s->text) return;
    if (s->limit - s->at < 96) s->full = true, s->at = s->start;
    while ((s->at - s->start) % 64) byte(s, 0x90);
    for (unsigned i = 0; i < sizeof push; i++) byte(s, push[i]);
}

void asm_leave(struct assembler *s)
{
    static const uint8_t pop[] = { 0x59, 0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x41,
                                   0x5C, 0x5D, 0x5B, 0xC5, 0xF8, 0x77, 0xC3 };
    if (s->text) return;
    room(s);
    for (unsigned i = 0; i < sizeof pop; i++) byte(s, pop[i]);
}

/* ---- tiles ---- */

static const struct insn TILE_CONFIG = { 2, 0, 0x49 }, TILE_ZERO = { 2, 3, 0x49 }, TILE_LOAD = { 2, 3, 0x4B },
                         TILE_STORE = { 2, 2, 0x4B };
static const struct insn tile_multiply[] = { [CARRY_BF16] = { 2, 2, 0x5C },      /* tdpbf16ps */
                                             [CARRY_U8S8] = { 2, 1, 0x5E } },    /* tdpbusd */
                         TILE_SIGNED = { 2, 3, 0x5E };   /* tdpbssd */
static const uint8_t tile_stride[3] = { 13, 14, 15 };    /* the last counters */

/* what ldtilecfg reads: the palette, bytes of a row from byte 16 on, rows from byte 48 on */
static void shape_bytes(struct asm_shape x, uint8_t to[64])
{
    memset(to, 0, 64);
    to[0] = 1;
    for (int i = 0; i < ASM_TILES; i++) {
        bool a = i == 4 || i == 5, b = i > 5, rest = x.rest && i % 2;
        to[16 + 2 * i] = (uint8_t)(4 * (a ? rest ? x.rest : ASM_TILE_ROWS : x.columns));
        to[48 + i] = (uint8_t)(b ? rest ? x.rest : ASM_TILE_ROWS : x.rows);
    }
}

bool asm_tile_shape(struct assembler *s, struct asm_shape x)
{
    int i = 0;
    while (i < s->nshape && memcmp(&s->shape[i], &x, sizeof x)) i++;
    if (i == ASM_SHAPES) return false;
    if (i == s->nshape) s->shape[s->nshape++] = x;
    if (s->text) {
        uint8_t bytes[64];
        shape_bytes(x, bytes);
        buf_format(s->text, "{\nstatic const uint8_t shape[64] = {");
        for (int j = 0; j < 64; j++) buf_format(s->text, " %d,", bytes[j]);
        buf_format(s->text, " };\n_tile_loadconfig(shape);\n}\n");
        return true;
    }
    vex_of(s, TILE_CONFIG, 0, 0, 0, 0);                  /* ldtilecfg [rip + to the shape] */
    byte(s, 5);
    later(s, -2, 64 * i);
    return true;
}

void asm_tile_stride(struct assembler *s, int tensor, int32_t bytes)
{
    if (s->text) {
        buf_format(s->text, "s%d = %d;\n", tensor, bytes);
        return;
    }
    room(s);
    byte(s, 0x41);
    byte(s, 0xB8 | (tile_stride[tensor] & 7));           /* mov r32, bytes clears the upper half */
    word(s, bytes);
}

/* [base + disp + row * index]: the index is a must */
static void tile_memory(struct assembler *s, struct insn i, int tile, int base, int tensor, long disp)
{
    unsigned index = tile_stride[tensor], modrm = (unsigned)tile << 3 | 4;
    room(s);
    word(s, (int32_t)(0xC4 | (0xA0u | i.map) << 8 | (0x78u | i.pp) << 16 | (uint32_t)i.op << 24));     /* X: above r7 */
    byte(s, (disp == 0 ? 0 : disp >= -128 && disp <= 127 ? 0x40 : 0x80) | modrm);
    byte(s, (index & 7) << 3 | (unsigned)base);
    if (disp >= -128 && disp <= 127 && disp) byte(s, (uint8_t)disp);
    else if (disp) word(s, (int32_t)disp);
}

void asm_tile_load(struct assembler *s, int tile, int base, int tensor, long disp)
{
    if (s->text) buf_format(s->text, "_tile_loadd(%d, %s + %ld, s%d);\n", tile, name_of[base], disp, tensor);
    else tile_memory(s, TILE_LOAD, tile, base, tensor, disp);
}

void asm_tile_store(struct assembler *s, int tile, int base, int tensor, long disp)
{
    if (s->text) buf_format(s->text, "_tile_stored(%d, %s + %ld, s%d);\n", tile, name_of[base], disp, tensor);
    else tile_memory(s, TILE_STORE, tile, base, tensor, disp);
}

void asm_tile_zero(struct assembler *s, int tile)
{
    if (s->text) {
        buf_format(s->text, "_tile_zero(%d);\n", tile);
        return;
    }
    vex_of(s, TILE_ZERO, 0, 0, 0, 0);
    byte(s, 0xC0u | (unsigned)tile << 3);
}

void asm_tile_multiply(struct assembler *s, int acc, int x, int y)
{
    if (s->text) {
        buf_format(s->text, "TILES(%d, %d, %d);\n", acc, x, y);
        return;
    }
    vex_of(s, s->sign ? TILE_SIGNED : tile_multiply[s->type], (unsigned)acc, (unsigned)y, (unsigned)x, 0);
    byte(s, 0xC0u | (unsigned)acc << 3 | (unsigned)x);
}

void asm_tile_release(struct assembler *s)
{
    if (s->text) {
        buf_format(s->text, "_tile_release();\n");
        return;
    }
    vex_of(s, TILE_CONFIG, 0, 0, 0, 0);
    byte(s, 0xC0);
}

void asm_end(struct assembler *s, const struct carry_change *change, int n)
{
    enum { MASKS = 64 };
    if (s->text || s->full) return;
    long need = MASKS + 192 + (long)sizeof *change * n + 64 * s->nshape;
    if (s->limit - s->at < need) {
        s->full = true;
        return;
    }
    while ((s->at - s->start) % 64) byte(s, 0xCC);       /* nothing runs into it */
    uint8_t *masks = s->at, *changes = masks + (s->wide ? 0 : MASKS);
    if (!s->wide) memset(masks, 0xff, MASKS / 2), memset(masks + MASKS / 2, 0, MASKS / 2);
    if (n) memcpy(changes, change, sizeof *change * (size_t)n);
    s->at = changes + sizeof *change * (size_t)n;
    while (s->nshape && (s->at - s->start) % 64) byte(s, 0);
    uint8_t *shapes = s->at;
    for (int i = 0; i < s->nshape; i++, s->at += 64) shape_bytes(s->shape[i], s->at);
    for (size_t i = 0; i < s->nfix; i++) {
        struct asm_fix f = s->fix[i];
        uint8_t *from = s->start + f.at, *to = masks + f.offset;
        if (f.change >= 0) to = changes + sizeof *change * (size_t)f.change;
        if (f.change == -2) to = shapes + f.offset;
        int32_t distance = (int32_t)(to - (from + 4));
        memcpy(from, &distance, 4);
    }
}

void asm_free(struct assembler *s)
{
    free(s->fix);
    s->fix = NULL;
    s->room = 0;
}

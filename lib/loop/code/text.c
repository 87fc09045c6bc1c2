/* C statements with intrinsics, one for each instruction, on variables v0 .. v31, m (the mask), n0 .. (counters) and
 * byte pointers c, a, b, v (bias or V), r (residual); x is the context, d0, d1, .. are the
 * changes, s0 .. s2 are strides of tiles, s is the sums of lanes.  SPREAD, MULTIPLY, PLUS, HALF, TOTAL, STORE_FOUR,
 * STORE_ONE and TILES are macros of native.c, by type and instruction set. */
#include "loop/code/x86.h"

static const char *const name_of[BASES] = { [BASE_A] = "a", [BASE_B] = "b", [BASE_C] = "c", [BASE_BIAS] = "v",
                                            [BASE_RESIDUAL] = "r", [BASE_GROUP] = "g", [BASE_SECOND] = "v" };
enum { MAX_TEXT = 8 << 20 };

struct text { struct buf *b; const struct loop_plan *q; bool wide, doubles; };

static const char *width(const struct text *t) { return t->wide ? "512" : "256"; }

static void load(const struct text *t, const struct ins *i)
{
    const char *sort = t->doubles ? "d" : "s", *to = t->doubles ? "double" : "float", *at = name_of[i->base];
    const bool f16 = t->q->p->store == STORE_F16;
    if (i->half) {
        buf_format(t->b, f16 ? "_mm512_cvtph_ps(" : "_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(");
        buf_format(t->b, i->masked ? "_mm256_maskz_loadu_epi16(m, %s + %d)"
                                   : "_mm256_loadu_si256((const __m256i *)(const void *)(%s + %d))", at, i->disp);
        buf_format(t->b, f16 ? ")" : "), 16))");
    } else if (i->masked && t->wide) {
        buf_format(t->b, "_mm512_maskz_loadu_p%s(m, (const %s *)(%s + %d))", sort, to, at, i->disp);
    } else {
        buf_format(t->b, "_mm%s_%s_p%s((const %s *)(%s + %d)%s)", width(t), i->masked ? "maskload" : "loadu", sort, to,
                   at, i->disp, i->masked ? ", m" : "");
    }
}

static void operand(const struct text *t, const struct ins *i)
{
    if (i->from == FROM_REGISTER) buf_format(t->b, "v%d", i->b);
    else if (i->from == FROM_SPREAD) buf_format(t->b, "SPREAD(%s + %d)", name_of[i->base], i->disp);
    else load(t, i);
}

static void arithmetic(const struct text *t, const struct ins *i)
{
    static const char *const more[] = { [INS_PLUS] = "add", [INS_MAX] = "max", [INS_MIN] = "min", [INS_TIMES] = "mul" };
    const char *sort = t->doubles ? "d" : "s";
    if (i->op == INS_MAC) buf_format(t->b, "v%d = MULTIPLY(v%d, v%d, ", i->d, i->d, i->a);
    else if (i->op == INS_PLUS && !i->floats) buf_format(t->b, "v%d = PLUS(v%d, ", i->d, i->a);
    else buf_format(t->b, "v%d = _mm%s_%s_p%s(v%d, ", i->d, width(t), more[i->op], sort, i->a);
    operand(t, i);
    buf_format(t->b, ")");
    if (i->op == INS_MAC) buf_format(t->b, "; KEEP(v%d)", i->d);
    buf_format(t->b, ";\n");
}

static void call(const struct text *t, const struct ins *i)
{
    if (i->call == CALL_CHANGE)
        buf_format(t->b, "x->change(&d%d, (const float *)%s, x->scratch[%d]);\n", i->disp, name_of[i->base], i->base);
    else if (i->call == CALL_FINISH) buf_format(t->b, "x->finish(&d%d, (float *)c, x);\n", i->disp);
    else
        buf_format(t->b,
                   i->call == CALL_BETWEEN ? "x->between(&d%d, (float *)c, x, (const float *)v);\n"
                                           : "if (!x->hidden(&d%d, (float *)c, x, (const float *)v)) {\n",
                   i->disp);
}

static void hold(const struct text *t, const struct ins *i)
{
    const char *kind = i->base == BASE_C ? "" : "const ", *at = name_of[i->base];
    buf_format(t->b, "{\n%schar *keep%d = %s;\n", kind, i->d, at);
    if (i->disp == HOLD_SECOND) buf_format(t->b, "%s = v;\n", at);
    else buf_format(t->b, "%s = (%schar *)x->scratch[%d];\n", at, kind, i->disp);
}

static void shape(const struct text *t, const struct ins *i)
{
    uint8_t bytes[64];
    amx_shape(&t->q->shape[i->disp], bytes);
    buf_format(t->b, "{\nstatic const uint8_t shape[64] = {");
    for (int j = 0; j < 64; j++) buf_format(t->b, " %d,", bytes[j]);
    buf_format(t->b, " };\n_tile_loadconfig(shape);\n}\n");
}

static void total(const struct text *t, const struct ins *i)
{
    buf_format(t->b, "s = TOTAL(");
    for (int k = 0; k < 4; k++) buf_format(t->b, "HALF(v%d)%s", i->d + (k < i->a ? k : 0), k < 3 ? ", " : ");\n");
}

static void tiles(const struct text *t, const struct ins *i)
{
    switch (i->op) {
    case INS_SHAPE: shape(t, i); break;
    case INS_STRIDE: buf_format(t->b, "s%d = %d;\n", i->base, i->disp); break;
    case INS_TILE_ZERO: buf_format(t->b, "_tile_zero(%d);\n", i->d); break;
    case INS_TILE_LOAD:
        buf_format(t->b, "_tile_loadd(%d, %s + %d, s%d);\n", i->d, name_of[i->base], i->disp, i->base);
        break;
    case INS_TILE_MAC: buf_format(t->b, "TILES(%d, %d, %d);\n", i->d, i->a, i->b); break;
    case INS_TILE_STORE:
        buf_format(t->b, "_tile_stored(%d, (void *)(%s + %d), s%d);\n", i->d, name_of[i->base], i->disp, i->base);
        break;
    }
}

static void vectors(const struct text *t, const struct ins *i)
{
    const char *w = width(t), *sort = t->doubles ? "d" : "s", *at = i->base < BASES ? name_of[i->base] : "";
    switch (i->op) {
    case INS_ZERO: buf_format(t->b, "v%d = _mm%s_setzero_p%s();\n", i->d, w, sort); break;
    case INS_LOAD:
        buf_format(t->b, "v%d = ", i->d);
        load(t, i);
        buf_format(t->b, ";\n");
        break;
    case INS_SPREAD:
        if (!i->each) buf_format(t->b, "v%d = SPREAD(%s + %d);\n", i->d, at, i->disp);
        else if (i->each == 4)
            buf_format(t->b, "v%d = _mm%s_permute_ps(_mm%s_loadu_ps((const float *)(%s + %d)), %d);\n", i->d, w, w, at,
                       i->disp, i->lane * 0x55);
        else
            buf_format(t->b, "v%d = _mm512_mask_mov_ps(SPREAD(%s + %d), m, SPREAD(%s + %d));\n", i->d, at,
                       i->disp + 4 * (8 + i->lane), at, i->disp + 4 * i->lane);
        break;
    case INS_NUMBER: buf_format(t->b, "v%d = _mm%s_set1_p%s(%d);\n", i->d, w, sort, i->disp); break;
    case INS_BITS:
        if (t->wide) buf_format(t->b, "v%d = BITS(v%d, %d);\n", i->d, i->a, 4 * i->disp);
        else buf_format(t->b, "v%d = _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32("
                        "_mm256_castps_si256(v%d), %d), 28));\n", i->d, i->a, 28 - 4 * i->disp);
        break;
    case INS_FLOAT: buf_format(t->b, "v%d = _mm512_cvtepi32_ps(_mm512_castps_si512(v%d));\n", i->d, i->d); break;
    case INS_STORE:
        buf_format(t->b, "_mm%s_%s_p%s((%s *)(%s + %d), %sv%d);\n", w,
                   !i->masked ? "storeu" : t->wide ? "mask_storeu" : "maskstore", sort, t->doubles ? "double" : "float",
                   at, i->disp, i->masked ? "m, " : "", i->d);
        break;
    case INS_MASK:
        if (t->wide) buf_format(t->b, "m = %d;\n", (1 << i->disp) - 1);
        else buf_format(t->b, "m = _mm256_loadu_si256((const __m256i *)(const void *)(masks + %d));\n",
                        8 - i->disp * (t->doubles ? 2 : 1));
        break;
    case INS_TOTAL: total(t, i); break;
    case INS_LANES:
        if (i->a == 4) buf_format(t->b, "STORE_FOUR(%s + %d, s, %d);\n", at, i->disp, i->b > 0);
        else buf_format(t->b, "STORE_ONE(%s + %d, s, %d, %d);\n", at, i->disp, i->d, i->b > 0);
        break;
    default: tiles(t, i);
    }
}

static void line(const struct text *t, const struct ins *i)
{
    static const char *const field[] = { [BASE_BIAS] = "bias", [BASE_RESIDUAL] = "residual", [BASE_SECOND] = "second" };
    const char *at = i->base < BASES ? name_of[i->base] : "";
    switch (i->op) {
    case INS_MAC:
    case INS_PLUS:
    case INS_MAX:
    case INS_MIN:
    case INS_TIMES: arithmetic(t, i); break;
    case INS_PREFETCH: buf_format(t->b, "__builtin_prefetch(%s + %d);\n", at, i->disp); break;
    case INS_PREFETCH2: buf_format(t->b, "__builtin_prefetch(%s + %d, 0, 2);\n", at, i->disp); break;
    case INS_MOVE: buf_format(t->b, "%s += %d;\n", at, i->disp); break;
    case INS_BASE:
        if (i->base == BASE_GROUP) buf_format(t->b, "const char *g = b + %d;\n", i->disp);
        else buf_format(t->b, "const char *%s = (const char *)x->extra.%s;\n", at, field[i->base]);
        break;
    case INS_TABLE: break;
    case INS_LEAVE:
        if (t->q->target->tiles) buf_format(t->b, "_tile_release();\n");
        break;
    case INS_CALL:
    case INS_SKIP: call(t, i); break;
    case INS_HOLD: hold(t, i); break;
    case INS_RELEASE: buf_format(t->b, "%s = keep%d;\n}\n", at, i->d); break;
    case INS_SKIP_END: buf_format(t->b, "}\n"); break;
    case INS_LOOP: buf_format(t->b, "n%d = %d;\ndo {\n", i->d, i->disp); break;
    case INS_END: buf_format(t->b, "} while (--n%d);\n", i->d); break;
    default: vectors(t, i);
    }
}

void ins_text(const struct ir *x, struct buf *b)
{
    const struct text t = { b, x->q, x->q->target->bytes == 64, x->q->type == CARRY_F64 };
    for (const struct ins *i = x->ins; i < x->ins + x->n && b->n < MAX_TEXT; i++) line(&t, i);
}

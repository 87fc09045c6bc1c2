/* The instructions done one by one, every address checked: no assembler and no such processor is needed.  Arithmetic is
 * that of plain C on each lane; functions that travel along are called as machine code calls them. */
#include "loop/code/ir.h"
#include <math.h>
#include <string.h>

union lane { double d; float f; int32_t i; uint32_t u; uint8_t byte[4]; };
struct place { char *from; int64_t at, size; };
struct amx_tile { uint32_t word[TILE_SIDE][TILE_SIDE]; };
struct machine {
    const struct loop_plan *q;
    const struct carry_context *x;
    union lane v[32][16], total[4];
    struct amx_tile tile[8];
    uint8_t shape[8][2];                                 /* rows, columns */
    int32_t left[PLAN_DEPTH];
    int lanes, word, mask;
    int64_t stride[3];
    struct place base[BASES], kept[PLAN_DEPTH];
    const char *why;
};

static void *reach_at(struct machine *m, int base, int64_t at, int64_t bytes)
{
    static char nothing[64];
    struct place *p = &m->base[base];
    at += p->at;
    if (p->from && at >= 0 && at + bytes <= p->size) return p->from + at;
    m->why = "an address is outside of its tensor";
    return nothing;
}

static void *reach(struct machine *m, const struct ins *i, int64_t more)
{
    return reach_at(m, i->base, i->disp + more, m->word);
}

static float half(uint32_t x) { return ((union lane){ .u = x << 16 }).f; }

static union lane read(struct machine *m, const struct ins *i, int l, bool spread)
{
    union lane x = { 0 };
    if (!i->half) memcpy(&x, reach(m, i, spread ? 0 : m->word * (int64_t)l), (size_t)m->word);
    else carry_widen((enum carry_store)m->q->p->store, reach_at(m, i->base, i->disp + 2 * l, 2), &x.f, 1);
    return x;
}

static union lane multiply(const struct loop_plan *q, union lane s, union lane x, union lane y)
{
    if (q->type == CARRY_F64) s.d = fma(x.d, y.d, s.d);
    if (q->type == CARRY_F32) s.f = fmaf(x.f, y.f, s.f);
    if (q->type == CARRY_BF16) s.f += half(x.u >> 16) * half(y.u >> 16) + half(x.u & 0xffff) * half(y.u & 0xffff);
    for (int i = 0; i < 4 && q->type == CARRY_U8S8; i++) {
        int a = q->target->tiles && q->p->sign ? (int8_t)x.byte[i] : x.byte[i];
        s.u += (uint32_t)(a * (int8_t)y.byte[i]);
    }
    return s;
}

static union lane plus(const struct loop_plan *q, union lane a, union lane b, bool floats)
{
    if (q->type == CARRY_U8S8 && !floats) a.u += b.u;
    else if (q->type == CARRY_F64) a.d += b.d;
    else a.f += b.f;
    return a;
}

static void lane(struct machine *m, const struct ins *i, int l)
{
    static const union lane zero;
    const bool on = !i->masked || l < m->mask, doubles = m->q->type == CARRY_F64;
    union lane *d = &m->v[i->d][l], a = i->a < 0 ? zero : m->v[i->a][l], b = i->b < 0 ? zero : m->v[i->b][l];
    if (i->from != FROM_REGISTER && !on) return;
    if (i->from != FROM_REGISTER) b = read(m, i, l, i->from == FROM_SPREAD);
    switch (i->op) {
    case INS_ZERO: *d = zero; break;
    case INS_LOAD: *d = on ? read(m, i, l, false) : zero; break;
    case INS_SPREAD: *d = read(m, i, i->each ? l / i->each * i->each + i->lane : 0, !i->each); break;
    case INS_MAC: *d = multiply(m->q, *d, a, b); break;
    case INS_PLUS: *d = plus(m->q, a, b, i->floats); break;
    case INS_MAX:
        if (doubles) d->d = a.d > b.d ? a.d : b.d;
        else d->f = a.f > b.f ? a.f : b.f;
        break;
    case INS_MIN:
        if (doubles) d->d = a.d < b.d ? a.d : b.d;
        else d->f = a.f < b.f ? a.f : b.f;
        break;
    case INS_TIMES:
        if (doubles) d->d = a.d * b.d;
        else d->f = a.f * b.f;
        break;
    case INS_NUMBER:
        if (doubles) d->d = i->disp;
        else d->f = (float)i->disp;
        break;
    case INS_BITS: d->f = (float)((int32_t)(a.u << (28 - 4 * i->disp)) >> 28); break;
    case INS_FLOAT: d->f = (float)d->i; break;
    case INS_STORE:
        if (on) memcpy(reach(m, i, m->word * (int64_t)l), d, (size_t)m->word);
        break;
    }
}

static void lanes(struct machine *m, const struct ins *i)
{
    static const union lane zero;
    if (i->op == INS_TOTAL) {
        for (int k = 0; k < i->a; k++) {
            m->total[k] = zero;
            for (int l = 0; l < m->lanes; l++) m->total[k] = plus(m->q, m->total[k], m->v[i->d + k][l], false);
        }
        return;
    }
    for (int k = 0; k < i->a; k++) {
        union lane had = { 0 }, *sum = &m->total[i->d + k];
        char *to = reach(m, i, m->word * (int64_t)k);
        memcpy(&had, to, (size_t)m->word);
        if (i->b > 0) *sum = plus(m->q, *sum, had, false);
        memcpy(to, sum, (size_t)m->word);
    }
}

static void tiles(struct machine *m, const struct ins *i)
{
    const int t = i->d;
    if (i->op == INS_STRIDE) m->stride[i->base] = i->disp;
    if (i->op == INS_TILE_ZERO) memset(&m->tile[t], 0, sizeof m->tile[t]);
    if (i->op == INS_SHAPE) {
        const struct tile_shape *x = &m->q->shape[i->disp];
        for (int k = 0; k < 8; k++) {
            const int rest = x->rest && k % 2 ? x->rest : TILE_SIDE;
            m->shape[k][0] = (uint8_t)(k > 5 ? rest : x->rows);
            m->shape[k][1] = (uint8_t)(k == 4 || k == 5 ? rest : x->columns);
        }
    }
    if (i->op == INS_TILE_LOAD || i->op == INS_TILE_STORE)
        for (int r = 0; r < m->shape[t][0]; r++) {
            const size_t bytes = 4u * m->shape[t][1];
            void *at = reach_at(m, i->base, i->disp + r * m->stride[i->base], (int64_t)bytes);
            if (i->op == INS_TILE_LOAD) memcpy(m->tile[t].word[r], at, bytes);
            else memcpy(at, m->tile[t].word[r], bytes);
        }
    if (i->op != INS_TILE_MAC) return;
    for (int r = 0; r < m->shape[t][0]; r++)
        for (int k = 0; k < m->shape[i->a][1]; k++)
            for (int c = 0; c < m->shape[t][1]; c++) {
                union lane s = { .u = m->tile[t].word[r][c] }, x = { .u = m->tile[i->a].word[r][k] };
                m->tile[t].word[r][c] = multiply(m->q, s, x, (union lane){ .u = m->tile[i->b].word[k][c] }).u;
            }
}

static int call(struct machine *m, const struct ins *i)
{
    const struct carry_change *d = &m->q->change[i->disp].about;
    char *at = m->base[i->base].from + m->base[i->base].at, *v = m->base[BASE_SECOND].from + m->base[BASE_SECOND].at;
    float *c = (float *)(void *)at;
    const float *second = (const float *)(void *)v;
    if (i->call == CALL_CHANGE) m->x->change(d, c, m->x->scratch[i->base]);
    else if (i->call == CALL_FINISH) m->x->finish(d, c, m->x);
    else if (i->call == CALL_BETWEEN) m->x->between(d, c, m->x, second);
    else return m->x->hidden(d, c, m->x, second);
    return 0;
}

static void hold(struct machine *m, const struct ins *i)
{
    struct place *p = &m->base[i->base];
    m->kept[i->d] = *p;
    if (i->disp == HOLD_SECOND) *p = m->base[BASE_SECOND];
    else *p = (struct place){ (char *)m->x->scratch[i->disp], 0,
                              i->disp < 2 ? m->q->scratch[i->disp]
                              : m->q->staged ? PLAN_TILES * TILE_BYTES : m->q->s_elements * 4 };
}

static void one(struct machine *m, const struct ins *i, int32_t *at)
{
    switch (i->op) {
    case INS_PREFETCH:
    case INS_PREFETCH2:
    case INS_ENTER:
    case INS_TABLE:
    case INS_SKIP_END: break;
    case INS_MASK: m->mask = i->disp; break;
    case INS_BASE:
        if (i->base == BASE_GROUP) m->base[BASE_GROUP] = m->base[BASE_B], m->base[BASE_GROUP].at += i->disp;
        break;
    case INS_MOVE: m->base[i->base].at += i->disp; break;
    case INS_CALL: call(m, i); break;
    case INS_SKIP:
        if (call(m, i)) *at = i->b;
        break;
    case INS_HOLD: hold(m, i); break;
    case INS_RELEASE: m->base[i->base] = m->kept[i->d]; break;
    case INS_LOOP: m->left[i->d] = i->disp; break;
    case INS_END:
        if (--m->left[i->d]) *at = i->b;
        break;
    case INS_TOTAL:
    case INS_LANES: lanes(m, i); break;
    default:
        if (i->op >= INS_SHAPE && i->op <= INS_TILE_STORE) tiles(m, i);
        else
            for (int l = 0; l < m->lanes; l++) lane(m, i, l);
    }
}

const char *ins_run(const struct ir *o, char *const base[BASES], const int64_t bytes[BASES],
                    const struct carry_context *x)
{
    struct machine m = { .q = o->q, .x = x, .lanes = o->q->lanes, .word = o->q->p->bytes, .mask = 64 };
    for (int b = 0; b < BASES; b++) m.base[b] = (struct place){ base[b], 0, bytes[b] };
    for (int32_t at = 0; !m.why && o->ins[at].op != INS_LEAVE; at++) one(&m, &o->ins[at], &at);
    return m.why;
}

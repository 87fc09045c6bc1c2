/* Operands to memory, by what the target can; values to registers. */
#include "loop/code/ir.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static bool changes(const struct ins *i) { return i->op >= INS_MAC && i->op <= INS_TIMES; }
static bool makes(const struct ins *i)
{
    return i->op == INS_ZERO || i->op == INS_LOAD || i->op == INS_SPREAD || i->op == INS_NUMBER ||
           i->op == INS_BITS;
}
static bool has_values(const struct ins *i) { return i->op <= INS_STORE || i->op == INS_TOTAL; }
static bool uses_d(const struct ins *i) { return changes(i) || i->op == INS_FLOAT || i->op == INS_STORE; }

static bool may_fold(const struct target *t, const struct ins *load)
{
    if (load->op == INS_SPREAD) return t->memory_spread && !load->each;
    return load->op == INS_LOAD && !load->half && (t->memory_masked || !load->masked);
}

void ins_fold(struct ir *o)
{
    const size_t n = (size_t)o->values + 1;
    uint8_t *uses = xcalloc(n, sizeof *uses);
    int32_t *from = xcalloc(n, sizeof *from), to = 0;
    for (const struct ins *i = o->ins; i < o->ins + o->n; i++) {
        if (!has_values(i) || i->op == INS_TOTAL) continue;
        const int32_t v[3] = { uses_d(i) ? i->d : -1, i->a == i->d ? -1 : i->a, i->b };
        for (int k = 0; k < 3; k++)
            if (v[k] >= 0 && uses[v[k]] < 2) uses[v[k]]++;
    }
    for (int32_t at = 0, line = 0; at < o->n; at++) {
        struct ins *i = &o->ins[at];
        if (i->op >= INS_STORE && i->op < INS_PREFETCH) line = at;       /* no load goes across */
        if (makes(i)) from[i->d] = at;
        if (!changes(i) || uses[i->b] != 1 || from[i->b] < line) continue;
        struct ins *load = &o->ins[from[i->b]];
        if (!may_fold(o->q->target, load)) continue;
        i->from = load->op == INS_SPREAD ? FROM_SPREAD : FROM_VECTOR;
        i->base = load->base, i->disp = load->disp, i->masked = load->masked, i->b = -1;
        load->op = INS_NONE;
    }
    for (int32_t at = 0; at < o->n; at++) {              /* close the gaps; the other ends are found again */
        struct ins *i = &o->ins[at];
        if (i->op == INS_NONE) continue;
        if (i->op == INS_LOOP || i->op == INS_SKIP || i->op == INS_END || i->op == INS_SKIP_END) o->ins[i->b].b = to;
        o->ins[to++] = *i;
    }
    o->n = to;
    free(uses);
    free(from);
}

/* where each value is used last; inside a tile only accumulators live across a loop, and those are used after it */
static void find_last(const struct ir *o, int32_t *last)
{
    for (int32_t at = 0; at < o->n; at++) {
        const struct ins *i = &o->ins[at];
        if (!has_values(i)) continue;
        if (i->op == INS_TOTAL) {
            for (int k = 0; k < i->a; k++) last[i->d + k] = at;
            continue;
        }
        if (i->d >= 0) last[i->d] = at;
        if (i->a >= 0) last[i->a] = at;
        if (i->b >= 0) last[i->b] = at;
    }
}

/* Linear scan.  Nothing is spilt: a plan takes only tiles that fit, so a lack of registers is an error of ours. */
const char *ins_assign(struct ir *o)
{
    const struct target *t = o->q->target;
    const uint32_t all = (uint32_t)((1ull << t->registers) - 1), last_one = 1u << (t->registers - 1);
    const uint32_t mask = t->memory_masked && !o->q->p->q4 ? 0 : last_one;
    const size_t n = (size_t)o->values + 1;
    int32_t *last = xcalloc(n, sizeof *last);
    int8_t *reg = xcalloc(n, sizeof *reg);
    uint32_t available = all;
    const char *why = NULL;
    find_last(o, last);
    for (int32_t at = 0; at < o->n && !why; at++) {
        struct ins *i = &o->ins[at];
        int32_t *const operand[3] = { &i->d, &i->a, &i->b };
        if (i->op == INS_MASK || i->op == INS_TABLE) available &= ~mask;  /* the last one, to the end of its tile */
        if (!has_values(i)) continue;
        if (i->op == INS_TOTAL) {
            const int32_t d = i->d;
            for (int k = 0; k < i->a; k++) available |= 1u << reg[d + k];
            i->d = reg[d];
            if ((available | mask) == all) available = all;
            continue;
        }
        if (makes(i)) {
            if (!available) why = "the registers do not suffice";
            const int r = available ? __builtin_ctz(available) : 0;
            available &= ~(1u << r);
            reg[i->d] = (int8_t)r;
        }
        for (int k = 0; k < 3; k++) {
            const int32_t v = *operand[k];
            if (v < 0) continue;
            *operand[k] = reg[v];
            if (last[v] == at) available |= 1u << reg[v];
        }
        if (i->op == INS_STORE && (available | mask) == all) available = all;
    }
    o->values = t->registers;
    free(last);
    free(reg);
    return why;
}

#include "loop/code/ir.h"
#include "base/mem.h"
#include <stdlib.h>

struct ins *ins_put(struct ir *o, enum ins_op op)
{
    if (o->n == o->most) {
        size_t cap = (size_t)o->most;
        o->ins = grow(o->ins, (size_t)o->n + 1, &cap, sizeof *o->ins);
        o->most = (int32_t)cap;
    }
    struct ins *i = &o->ins[o->n++];
    *i = (struct ins){ .op = (uint8_t)op, .d = -1, .a = -1, .b = -1 };
    return i;
}

void ins_count(const struct ir *o, struct count *c)
{
    double times = 1;
    *c = (struct count){ 0 };
    for (const struct ins *i = o->ins; i < o->ins + o->n; i++) {
        if (i->op == INS_LOOP) times *= i->disp;
        if (i->op == INS_END) times /= o->ins[i->b].disp;
        if (i->op == INS_SKIP_END) times /= PLAN_SEEN;
        if (i->floats) continue;                         /* what follows the sum */
        const bool of_sum = i->base < BASE_BIAS;
        c->mac += times * (i->op == INS_MAC || i->op == INS_TILE_MAC);
        c->load += times * ((i->op == INS_LOAD && of_sum) || i->from == FROM_VECTOR ||
                            (i->op == INS_TILE_LOAD && i->base == BASE_C));
        c->spread += times * ((i->op == INS_SPREAD && of_sum) || i->from == FROM_SPREAD);
        c->store += times * (i->op == INS_STORE || i->op == INS_TILE_STORE);
        c->calls += times * (i->op == INS_CALL || i->op == INS_SKIP);
        if (i->op == INS_SKIP) times *= PLAN_SEEN;
    }
}

void ins_free(struct ir *o)
{
    free(o->ins);
    *o = (struct ir){ 0 };
}

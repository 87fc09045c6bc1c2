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

void ins_free(struct ir *o)
{
    free(o->ins);
    *o = (struct ir){ 0 };
}

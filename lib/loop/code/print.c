/* plans and instructions as lines that are read */
#include "loop/code/ir.h"
#include <stdio.h>

static const char *const base_name[BASES] = { "A", "B", "C", "bias", "residual", "scales", "V" };
static const char *const call_name[] = { "change", "finish", "between", "hidden" };

static void change_line(struct buf *b, const struct carry_change *c)
{
    for (int i = 0; i < c->nvar; i++)
        buf_format(b, " %d:%lld>%lld", c->size[i], (long long)c->from[i], (long long)c->to[i]);
    if (c->edge) buf_format(b, " edge %d", c->edge);
}

static void tile_line(struct buf *b, const struct loop_plan *q, const struct walk_node *d)
{
    static const char *const start[] = { "", ", adds to C", ", adds to sums of B" };
    const struct tile *x = &q->tile[d->n];
    const char *name = q->p->name[q->part[x->part].vec];
    buf_format(b, "tile %d: %d rows x %d vectors along %s", d->n, x->nrow, x->nv, name);
    if (x->tail > 0) buf_format(b, ", the last of %d lanes", x->tail);
    if (x->shape.rows)
        buf_format(b, ", %d x %d at row %d column %d", x->shape.rows, x->shape.columns, x->at[0], x->at[1]);
    else buf_format(b, ", %d held, %d broadcasts", x->hold, x->casts);
    buf_format(b, "%s%s%s%s", start[x->start], x->late ? ", C late" : "", x->lanes ? ", lanes summed" : "",
               x->last ? ", complete" : "");
    if (x->chains > 1) buf_format(b, ", each in %d accumulators", x->chains);
    if (x->ahead) buf_format(b, ", prefetches %d bytes on", x->ahead);
    if (x->next) buf_format(b, ", prefetches %d lines of the next panel %d bytes on", x->lines, x->next);
    buf_format(b, ", views %d %d %d\n", x->view[0], x->view[1], x->view[2]);
}

static void node_line(struct buf *b, const struct loop_plan *q, const struct walk_node *d)
{
    switch (d->kind) {
    case NODE_LOOP: buf_format(b, "loop %d\n", d->n); break;
    case NODE_TILE: tile_line(b, q, d); break;
    case NODE_BODY:
        buf_format(b, "body");
        for (int i = 0; i < d->nvar; i++) buf_format(b, " %s*%d", q->p->name[d->var[i]], d->times[i]);
        buf_format(b, d->n >= 0 ? "%s, out %x\n" : "%s\n", d->rest ? " (rest)" : "", d->n >= 0 ? q->out[d->n] : 0);
        break;
    case NODE_MOVE:
        buf_format(b, "move");
        for (int i = 0; i < BASES; i++)
            if (d->by[i]) buf_format(b, " %s %+lld", base_name[i], (long long)d->by[i]);
        buf_format(b, "\n");
        break;
    case NODE_CALL:
        buf_format(b, "%s %s", call_name[d->call], base_name[d->base]);
        change_line(b, &q->change[d->n].about);
        buf_format(b, "\n");
        break;
    case NODE_HOLD:
        if (d->n == HOLD_SECOND) buf_format(b, "%s is V\n", base_name[d->base]);
        else buf_format(b, "%s is scratch %d\n", base_name[d->base], d->n);
        break;
    case NODE_SKIP: buf_format(b, "unless hidden\n"); break;
    case NODE_SHAPE:
        buf_format(b, "shape %d x %d, rest %d\n", q->shape[d->n].rows, q->shape[d->n].columns, q->shape[d->n].rest);
        break;
    default: buf_format(b, "end\n");
    }
}

static const char *lying(const struct loop_plan *q, int t)
{
    if (t == TENSOR_B && q->given) return "packed by the caller";
    if (t == TENSOR_A && q->lies) return "as it lies, zeros left out";
    if (t == TENSOR_A && q->p->pad.n) return "copied with its zeros";
    return q->before[t].needed ? "changed whole" : q->view[t].half ? "as halves" : "as it lies";
}

void loop_plan_print(struct buf *b, const struct loop_plan *q)
{
    int in = 0;
    for (int t = 0; t < 3; t++) {
        buf_format(b, "%c %s", "ABC"[t], lying(q, t));
        if (q->before[t].needed && q->before[t].change.nvar) change_line(b, &q->before[t].change);
        buf_format(b, "\n");
    }
    for (int i = 0; i < q->n; i++) {
        const struct walk_node *d = &q->node[i];
        in -= d->kind == NODE_END;
        buf_format(b, "%*s", 2 * in, "");
        node_line(b, q, d);
        in += d->kind == NODE_LOOP || d->kind == NODE_TILE || d->kind == NODE_HOLD || d->kind == NODE_SKIP;
    }
}

static const char *const ins_name[INS_COUNT] = {
    [INS_ZERO] = "zero", [INS_LOAD] = "load", [INS_SPREAD] = "spread", [INS_MAC] = "mac", [INS_PLUS] = "plus",
    [INS_MAX] = "max", [INS_MIN] = "min", [INS_TIMES] = "times", [INS_NUMBER] = "number",
    [INS_FLOAT] = "float", [INS_STORE] = "store", [INS_PREFETCH] = "prefetch", [INS_PREFETCH2] = "prefetch2",
    [INS_BITS] = "bits", [INS_TABLE] = "table", [INS_MASK] = "mask",
    [INS_MOVE] = "move", [INS_CALL] = "call", [INS_HOLD] = "hold", [INS_RELEASE] = "release", [INS_SKIP] = "skip",
    [INS_SKIP_END] = "skip_end", [INS_LOOP] = "loop", [INS_END] = "end", [INS_BASE] = "base",
    [INS_TOTAL] = "total", [INS_LANES] = "lanes", [INS_ENTER] = "enter", [INS_LEAVE] = "leave",
    [INS_SHAPE] = "shape", [INS_STRIDE] = "stride", [INS_TILE_ZERO] = "tile_zero", [INS_TILE_LOAD] = "tile_load",
    [INS_TILE_MAC] = "tile_mac", [INS_TILE_STORE] = "tile_store" };

void ins_print(struct buf *b, const struct ir *x)
{
    for (int32_t i = 0; i < x->n; i++) {
        const struct ins *s = &x->ins[i];
        buf_format(b, "%d %s", i, ins_name[s->op]);
        if (s->d >= 0) buf_format(b, " %d", s->d);
        if (s->a >= 0) buf_format(b, " %d", s->a);
        if (s->b >= 0) buf_format(b, " %d", s->b);
        if (s->from || s->op == INS_LOAD || s->op == INS_SPREAD || s->op == INS_STORE || s->op == INS_LANES ||
            s->op == INS_PREFETCH || s->op == INS_PREFETCH2 || s->op == INS_TILE_LOAD ||
            s->op == INS_TILE_STORE)                     /* memory at base + disp */
            buf_format(b, " %s%+d%s", base_name[s->base], s->disp, s->from == FROM_SPREAD ? " spread" : "");
        else if (s->disp) buf_format(b, " %d", s->disp);
        if (s->each) buf_format(b, " lane %d of each %d", s->lane, s->each);
        buf_format(b, "%s%s\n", s->masked ? " masked" : "", s->half ? " half" : "");
    }
}

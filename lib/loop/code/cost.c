/* What a plan costs: instructions by kind, and cycles if all data were in the first cache.  Multiply-adds and loads are
 * as many a cycle as the machine does, a chain goes through each accumulator. */
#include "loop/code/plan.h"
#include "loop/code/machine.h"
#include <math.h>

struct step { double mac, load, spread; };

/* one step of the sum of a tile, but for the rows that are left out */
static struct step step_of(const struct loop_plan *q, const struct tile *x, const struct tile_row *row, uint32_t out)
{
    const struct plan_part *of = &q->part[x->part];
    struct step c = { 0 };
    if (x->lanes && x->hold > 1) return (struct step){ x->nrow, x->hold + x->nrow / x->hold, 0 };
    for (int i = 0, end; i < x->nrow; i = end) {         /* rows that have the same vectors */
        int on = 0;
        for (end = i; end < x->nrow && row[end].at[of->held] == row[i].at[of->held]; end++) on += !(out >> end & 1);
        c.mac += on * x->nv;
        c.load += on ? x->nv : 0;
        if (of->both) c.load += on * x->nv;
        else if (q->groups.each) c.spread += on * x->nv;
        else c.spread += x->hold == x->nv || on <= x->casts ? on : on * x->nv;
    }
    if (q->p->q4) c.mac *= Q4_STEPS, c.spread *= Q4_STEPS;
    return c;
}

static double step_cycles(const struct loop_plan *q, const struct tile *x, struct step s, const struct loop_machine *m)
{
    const bool both = q->part[x->part].both && (!x->lanes || x->hold == 1);
    const bool folded = q->target->memory_spread && (x->nv == 1 || s.spread > x->nrow);
    double loads = s.load + s.spread, more = both ? (q->target->memory_spread ? 0 : s.mac) : folded ? 0 : s.spread;
    double held = both ? s.load - s.mac : s.load;
    if (q->p->q4) {                                      /* each vector of them is made of bits, and scaled */
        const double made = Q4_STEPS * x->nv, scales = 1 + q->p->zeros;
        loads += made * scales;
        s.mac += made * ((q->target->memory_masked ? 2 : 3) + scales);
    }
    const double shuffles = q->groups.each ? s.spread : 0;     /* where products are made */
    return fmax(fmax((s.mac + shuffles) / m->fmas, fmax(loads / m->loads, (s.mac + held + more) / 5)),
                m->fma_latency / x->chains);
}

/* Cycles of tiles of AMX: each multiplication takes one for each row of A, or as the machine was measured; loads of
 * tiles one for every two of their rows. */
static double amx_cycles(const struct tile *x, const struct loop_machine *m)
{
    int n = x->nrow * x->nv, loads_a = x->nrow, loads_b = x->nrow == 1 || x->nv < 3 ? x->nv : x->nrow * x->nv;
    if (x->shape.rest) loads_b = x->nrow * x->nv - (x->nrow - 1);
    double multiply = n * m->tile * fmax(x->shape.rows, 4) / TILE_SIDE;
    double load = (loads_a * x->shape.rows + loads_b * TILE_SIDE) / m->loads;
    return fmax(multiply, load) + 0.1 * fmin(multiply, load);
}

/* of what follows the sum of so many elements of C, where it is no part of the tiles */
static double finish_cycles(const struct loop_plan *q, double elements)
{
    double cycles = 4;
#define ADD_CYCLES(word, each, ...) if (problem_then(q->p, THEN_##word)) cycles += each;
    CARRY_ELEMENTS(ADD_CYCLES, )
    return 60 + elements / q->lanes * cycles;
}

static double of_call(const struct loop_plan *q, const struct walk_node *x, const struct loop_machine *m,
                      struct plan_cost *c, double times)
{
    const struct plan_change *d = &q->change[x->n];
    const struct carry_change *a = &d->about;
    c->count.calls += times;
    switch (x->call) {
    case CALL_CHANGE:
        c->packs += times;
        if (d->moved) c->moved += times * d->elements;   /* a row takes as long as one more vector */
        else c->copied += times * d->elements * (1 + (double)q->lanes / a->size[a->nvar - 1]);
        if ((double)q->p->elements[x->base] * q->p->bytes <= m->cache[1].bytes) return 0;
        return d->elements * q->p->bytes / m->cache[1].per_cycle;      /* waits for the next cache */
    case CALL_FINISH: return finish_cycles(q, d->elements);
    case CALL_BETWEEN:
        return 60 + d->elements / a->size[a->nvar - 2] * 30 + d->elements / q->lanes * (q->p->mid[0] ? 12 : 2);
    default: return 0;
    }
}

/* of a tile but for its bodies */
static double of_tile(const struct loop_plan *q, const struct tile *x, struct plan_cost *c, double times)
{
    const int n = x->nrow * x->nv;
    const bool zero = x->start == START_ZERO;
    if (!x->lanes) c->count.store += times * n, c->count.load += times * n * (!zero + x->late);
    if (x->shape.rows) return n * ((zero ? 24 : 40) + (x->last && q->simple && q->p->then[0] ? 2 * TILE_SIDE : 0)) + 20;
    if (x->lanes) return n * 4 + 16;
    return n * (zero && !x->late ? 0.75 : 1.25) + 12 + (x->last && q->simple && q->p->then[0] ? n : 0);
}

/* the share of broadcasts that are not there from the step before: neighbours of a window, as a guess */
static double new_ones(const struct loop_plan *q, const struct walk_node *d, const struct tile *x,
                       const struct tile_row *row)
{
    const int last = d->nvar - 1;
    if (!q->groups.each || last < 0 || d->var[last] == q->groups.channel) return 1;
    const int64_t by = tile_view(q, x, BASE_A)->stride[d->var[last]];
    int again = 0;
    for (int i = 0; i < x->nrow; i++)
        for (int k = 0; k < x->nrow; k++) again += row[k].at[BASE_A] == row[i].at[BASE_A] + by;
    return 1 - again * (d->times[last] - 1.0) / (x->nrow * (double)d->times[last]);
}

static void of_body(const struct loop_plan *q, const struct walk_node *d, const struct tile *x,
                    const struct tile_row *row, const struct loop_machine *m, struct plan_cost *c, double times)
{
    double steps = 1, cost = 0;
    struct step s = { 0 };
    const double share = new_ones(q, d, x, row);
    for (int k = 0; k < d->nvar; k++) steps *= d->times[k];
    if (x->shape.rows) {
        c->cycles += times * steps * amx_cycles(x, m);
        c->count.mac += times * steps * x->nrow * x->nv;
        return;
    }
    for (int k = 0; k < (d->n < 0 ? 1 : steps); k++) {   /* rows are left out: step by step */
        const double n = d->n < 0 ? times * steps : times;
        if (!k || q->out[d->n + k] != q->out[d->n + k - 1])
            s = step_of(q, x, row, d->n < 0 ? 0 : q->out[d->n + k]),
            cost = s.mac > 0 ? step_cycles(q, x, (struct step){ s.mac, s.load, s.spread * share }, m) : 0;
        c->cycles += n * cost;
        c->count.mac += n * s.mac;
        c->count.load += n * s.load;
        c->count.spread += n * s.spread;
    }
}

void loop_plan_count(const struct loop_plan *q, const struct loop_machine *m, struct plan_cost *c)
{
    double times = 1;
    const struct tile *x = NULL;
    struct tile_row row[PLAN_ROWS];
    *c = (struct plan_cost){ 0 };
    for (int i = 0; i < q->n; i++) {
        const struct walk_node *d = &q->node[i], *from = d->kind == NODE_END ? &q->node[d->n] : d;
        switch (d->kind) {
        case NODE_LOOP: times *= d->n; break;
        case NODE_SKIP:
            c->count.calls += times;
            times *= PLAN_SEEN;
            break;
        case NODE_END: times /= from->kind == NODE_LOOP ? from->n : from->kind == NODE_SKIP ? PLAN_SEEN : 1; break;
        case NODE_CALL: c->cycles += times * of_call(q, d, m, c, times); break;
        case NODE_SHAPE: c->cycles += times * 150; break;
        case NODE_TILE:
            if (x != &q->tile[d->n]) tile_rows(q, &q->tile[d->n], row);
            x = &q->tile[d->n];
            c->cycles += times * of_tile(q, x, c, times);
            break;
        case NODE_BODY: of_body(q, d, x, row, m, c, times); break;
        }
    }
    if (q->p->then[0] && q->before[TENSOR_C].needed) c->cycles += finish_cycles(q, q->p->elements[TENSOR_C]);
}

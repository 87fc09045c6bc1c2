/* A plan to instructions.  Nothing that has a cost is decided here: offsets alone are computed. */
#include "loop/code/table.h"
#include <string.h>

struct lower {
    struct ir *o;
    const struct loop_plan *q;
    const struct tile *x;
    const struct plan_part *of;
    struct tile_row row[PLAN_ROWS];
    int32_t acc[PLAN_ROWS], held[PLAN_ROWS];             /* values */
    int64_t key[PLAN_ROWS];                              /* broadcasts that are still there, by displacement */
    int32_t value[PLAN_ROWS];
    int held_bases, turn, channel;                       /* channel: of each group, where they are side by side */
    int first;                                           /* sums along lanes: the accumulators in turn begin at this */
    bool rest;                                           /* the present body is of the last lanes, or steps */
};

static struct ins *put(struct lower *l, enum ins_op op) { return ins_put(l->o, op); }

static int32_t memory(struct lower *l, enum ins_op op, int32_t d, int base, int64_t disp, bool masked)
{
    struct ins *i = put(l, op);
    i->d = d;
    i->base = (uint8_t)base;
    i->disp = (int32_t)disp;
    i->masked = masked;
    return d;
}

static int32_t new_value(struct lower *l) { return l->o->values++; }

/* in the body of a sum along lanes they are masked in its rest alone */
static bool masked(const struct lower *l, int j)
{
    if (l->of->lanes) return l->rest;
    return l->x->tail && j == l->x->nv - 1;
}

static int64_t c_at(const struct lower *l, int i)        /* of accumulator i */
{
    return l->row[i / l->x->nv].at[BASE_C] + tile_vector(l->q, l->x, BASE_C, i % l->x->nv);
}

/* vector j of an input's row that begins here */
static int32_t input_vector(struct lower *l, int base, int64_t here, int j)
{
    int32_t v = memory(l, INS_LOAD, new_value(l), base, here + tile_vector(l->q, l->x, base, j), masked(l, j));
    l->o->ins[l->o->n - 1].half = tile_view(l->q, l->x, base)->half;
    return v;
}

static int32_t held_vector(struct lower *l, int64_t here, int j) { return input_vector(l, (int)l->of->held, here, j); }

/* of vector j, where groups of lanes have each their own */
static int32_t spread(struct lower *l, int64_t disp, int j)
{
    const int each = l->q->groups.each;
    if (each) disp += tile_vector(l->q, l->x, (int)l->of->cast, j);
    for (int i = 0; i < l->x->casts; i++)
        if (l->key[i] == disp && l->value[i] >= 0) return l->value[i];
    int i = l->turn++ % l->x->casts;
    l->key[i] = disp;
    l->value[i] = memory(l, INS_SPREAD, new_value(l), (int)l->of->cast, disp, false);
    l->o->ins[l->o->n - 1].each = (uint8_t)each, l->o->ins[l->o->n - 1].lane = (uint8_t)l->channel;
    return l->value[i];
}

/* A comes first where that matters, for it is unsigned; else the one that may be in memory comes last */
static void multiply(struct lower *l, int32_t acc, int32_t cast, int32_t held)
{
    const bool first = !type_table[l->q->type].commutes && l->of->cast == BASE_A;
    struct ins *i = put(l, INS_MAC);
    i->d = acc;
    i->a = first ? cast : held;
    i->b = first ? held : cast;
}

/* one step of a sum along lanes, all vectors of the held input at once */
static void step_of_lanes(struct lower *l, const int64_t at[BASE_SECOND])
{
    const struct tile *x = l->x;
    const int held = (int)l->of->held, cast = (int)l->of->cast, each = x->nrow / x->hold;
    for (int j = 0; j < x->hold; j++) l->held[j] = held_vector(l, l->row[j * each].at[held] + at[held], 0);
    for (int j = 0; j < x->hold && x->ahead; j++)
        memory(l, INS_PREFETCH, -1, held, l->row[j * each].at[held] + at[held] + x->ahead, false);
    for (int i = 0; i < each; i++) {
        const int32_t c = input_vector(l, cast, l->row[i].at[cast] + at[cast], 0);
        for (int j = 0; j < x->hold; j++) multiply(l, l->acc[l->first + j * each + i], c, l->held[j]);
    }
}

/* one step of the sum, operands so many bytes on */
static void step(struct lower *l, const int64_t at[BASE_SECOND], uint32_t out)
{
    const struct tile *x = l->x;
    const int held = (int)l->of->held, cast = (int)l->of->cast;
    for (int i = 0, end; i < x->nrow; i = end) {         /* rows that have the same vectors */
        for (end = i; end < x->nrow && l->row[end].at[held] == l->row[i].at[held]; ) end++;
        if (!(~(uint64_t)out & ((1ull << end) - (1ull << i)))) continue;
        const int64_t here = l->row[i].at[held] + at[held];
        for (int from = 0; from < x->nv; from += x->hold) {
            for (int j = from; j < from + x->hold; j++) l->held[j] = held_vector(l, here, j);
            for (int j = from; j < from + x->hold && x->ahead; j++)
                memory(l, INS_PREFETCH, -1, held, here + tile_vector(l->q, x, held, j) + x->ahead, false);
            for (int j = 0; j < x->lines && !i && !from; j++)
                memory(l, INS_PREFETCH2, -1, held, here + x->next + j * PLAN_LINE, false);
            for (int r = i; r < end; r++) {
                const int64_t other = l->row[r].at[cast] + at[cast];
                if (out >> r & 1) continue;
                for (int j = from; j < from + x->hold; j++) {
                    int32_t c = l->of->both ? input_vector(l, cast, other, j) : spread(l, other, j);
                    multiply(l, l->acc[l->first + r * x->nv + j], c, l->held[j]);
                }
            }
        }
    }
}

static void change(struct lower *l, enum ins_op op, int32_t d, int32_t b, bool floats)
{
    struct ins *i = put(l, op);
    i->d = i->a = d;
    i->b = b;
    i->floats = floats;
}

/* a word of weights of 4 bits in each column: its steps one after the other, each made floats in all columns */
static void step_of_words(struct lower *l, const int64_t at[BASE_SECOND])
{
    const struct tile *x = l->x;
    int32_t word[PLAN_ROWS];
    for (int j = 0; j < x->nv; j++) word[j] = held_vector(l, at[BASE_B], j);
    for (int s = 0; s < Q4_STEPS * x->nv; s += x->hold) {
        const int from = s % x->nv, step = s / x->nv;
        for (int j = from; j < from + x->hold; j++) {
            struct ins *i = put(l, INS_BITS);
            i->d = l->held[j] = new_value(l), i->a = word[j], i->disp = step;
            for (int row = l->q->p->zeros; row >= 0; row--) {
                const int64_t scale = at[BASE_GROUP] + tile_vector(l->q, x, BASE_GROUP, j) + row * l->q->group_row;
                const int32_t by = memory(l, INS_LOAD, new_value(l), BASE_GROUP, scale, masked(l, j));
                change(l, row ? INS_PLUS : INS_TIMES, l->held[j], by, true);
            }
        }
        for (int r = 0; r < x->nrow; r++)
            for (int j = from; j < from + x->hold; j++)
                multiply(l, l->acc[r * x->nv + j], spread(l, l->row[r].at[BASE_A] + at[BASE_A] + 4 * step, j),
                         l->held[j]);
    }
}

/* a tile of A or B in one of the registers that it may be in; held: which of them each has, -1 none */
static int32_t hold_tile(struct lower *l, int t, int i, int64_t disp, int held[2])
{
    const int use = l->x->shape.rest ? l->rest : i & 1;
    const int32_t tile = (t == TENSOR_A ? 4 : 6) + use;
    if (held[use] != i) memory(l, INS_TILE_LOAD, tile, t, disp, false);
    held[use] = i;
    return tile;
}

/* TILE_SIDE steps of the sum for each tile of C, or the rest; to and fro: a row begins with what the last one ended */
static void step_of_tiles(struct lower *l, const int64_t at[BASE_SECOND])
{
    const struct tile *x = l->x;
    int held_a[2] = { -1, -1 }, held_b[2] = { -1, -1 };
    for (int i = 0; i < x->nrow; i++)
        for (int k = 0; k < x->nv; k++) {
            int j = i & 1 ? x->nv - 1 - k : k;
            int32_t a = hold_tile(l, TENSOR_A, i, l->row[i].at[BASE_A] + at[BASE_A], held_a);
            int32_t b = hold_tile(l, TENSOR_B, j, tile_vector(l->q, x, BASE_B, j) + at[BASE_B], held_b);
            struct ins *m = put(l, INS_TILE_MAC);
            m->d = i * x->nv + j, m->a = a, m->b = b;
        }
}

static void body(struct lower *l, const struct walk_node *d)
{
    int32_t at[NEST_VARS] = { 0 }, done = 0;
    l->rest = d->rest;
    memset(l->value, 0xff, sizeof l->value);
    l->first = 0;
    for (int i = 0; i >= 0; ) {
        int64_t bytes[BASE_SECOND] = { 0 };
        for (i = 0; i < d->nvar; i++) {
            const int v = d->var[i];
            const int64_t unit = l->x->shape.rows && v == l->of->step ? TILE_SIDE
                                 : l->of->lanes && v == l->of->vec   ? l->q->lanes : 1;
            for (int b = 0; b < BASE_SECOND; b++) bytes[b] += at[i] * unit * tile_view(l->q, l->x, b)->stride[v];
            if (l->q->groups.each && v == l->q->groups.channel && at[i] != l->channel) {
                memset(l->value, 0xff, sizeof l->value); /* none of the other's */
                l->channel = at[i];
            }
        }
        if (l->x->shape.rows) step_of_tiles(l, bytes);
        else if (l->q->p->q4) step_of_words(l, bytes);
        else if (l->x->lanes && l->x->hold > 1) step_of_lanes(l, bytes);
        else step(l, bytes, d->n < 0 ? 0 : l->q->out[d->n + done++]);
        if (l->x->lanes) l->first = (l->first + l->x->nrow) % (l->x->nrow * l->x->chains);
        while (i-- > 0 && ++at[i] == d->times[i]) at[i] = 0;
    }
    l->rest = false;
}

static void begin_tiles(struct lower *l)
{
    const struct tile *x = l->x;
    const int var[3] = { l->of->row, l->of->step, l->of->row };
    const bool apart = x->start == START_ZERO && x->last && l->q->staged;    /* C has no tiles */
    for (int b = 0; b < 3 - apart; b++) memory(l, INS_STRIDE, -1, b, tile_view(l->q, x, b)->stride[var[b]], false);
    for (int i = 0; i < x->nrow * x->nv; i++)
        if (x->start == START_ZERO) put(l, INS_TILE_ZERO)->d = i;
        else memory(l, INS_TILE_LOAD, i, BASE_C, l->row[i / x->nv].at[BASE_C] + tile_vector(l->q, x, BASE_C, i % x->nv),
                    false);
}

static void begin_tile(struct lower *l, const struct tile *x)
{
    l->x = x;
    l->of = &l->q->part[x->part];
    tile_rows(l->q, x, l->row);
    if (x->shape.rows) {
        begin_tiles(l);
        return;
    }
    if (x->tail || l->q->groups.each == 8) put(l, INS_MASK)->disp = x->tail ? x->tail : 8;
    if (l->q->p->q4 && l->q->target->memory_masked) put(l, INS_TABLE);
    for (int i = 0; i < x->nrow * x->nv * x->chains; i++) {
        const int j = i % x->nv;
        l->acc[i] = new_value(l);
        if (x->late) memory(l, INS_PREFETCH, -1, BASE_C, c_at(l, i), false);
        if (x->start == START_ZERO) put(l, INS_ZERO)->d = l->acc[i];
        else if (x->start == START_LOAD) memory(l, INS_LOAD, l->acc[i], BASE_C, c_at(l, i), masked(l, j));
        else memory(l, INS_LOAD, l->acc[i], BASE_B,
                    tile_vector(l->q, x, BASE_B, j) + tile_view(l->q, x, BASE_B)->sums, masked(l, j));
    }
}

/* the lanes of each accumulator summed, four at a time, and stored */
static void total(struct lower *l)
{
    const struct tile *x = l->x;
    for (int k = x->chains; k > 1; k /= 2)                /* by halves */
        for (int i = 0; i < x->nrow * k / 2; i++) change(l, INS_PLUS, l->acc[i], l->acc[i + x->nrow * k / 2], false);
    for (int i = 0; i < x->nrow; i += 4) {
        const int n = x->nrow - i < 4 ? x->nrow - i : 4;
        bool together = n == 4;
        struct ins *t = put(l, INS_TOTAL);
        t->d = l->acc[i];
        t->a = n;
        t->b = x->nrow;                                  /* the first register behind them */
        for (int j = 0; j < n; j++) together &= l->row[i + j].at[BASE_C] == l->row[i].at[BASE_C] + l->q->p->bytes * j;
        for (int j = 0; j < (together ? 1 : n); j++) {
            memory(l, INS_LANES, j, BASE_C, l->row[i + j].at[BASE_C], false);
            l->o->ins[l->o->n - 1].a = together ? 4 : 1;
            l->o->ins[l->o->n - 1].b = x->add;
        }
    }
}

/* a word, or a part of it, on all accumulators */
static void follow_by(struct lower *l, const struct then_step *t, int n)
{
    const struct tile *x = l->x;
    const int with = t->with, base = with == FROM_SCALE ? BASE_BIAS : with;
    const bool one = base == BASE_BIAS && l->q->bias != l->of->vec;
    const int64_t further = with == FROM_SCALE ? l->q->p->scale * l->q->p->bytes : 0;
    const int32_t number = with < FROM_ARG ? 0 : l->q->p->arg[t->word][with - FROM_ARG];
    int32_t value = -1;
    if (with >= FROM_ZERO) {
        struct ins *i = put(l, number ? INS_NUMBER : INS_ZERO);
        i->d = value = new_value(l);
        i->disp = number;
    }
    for (int i = 0; i < n; i++) {
        const int j = i % x->nv;
        if (with < FROM_ZERO)
            value = memory(l, one ? INS_SPREAD : INS_LOAD, new_value(l), base,
                           l->row[i / x->nv].at[base] + tile_vector(l->q, x, base, j) + further, !one && masked(l, j));
        change(l, (enum ins_op)t->op, l->acc[i], value, true);
    }
}

/* what follows the sum, in the registers of a tile that is complete */
static void follow(struct lower *l)
{
    const struct tile *x = l->x;
    const int n = x->nrow * x->nv;
    for (int i = 0; i < n && type_table[l->q->type].integers; i++) change(l, INS_FLOAT, l->acc[i], -1, true);
    for (const uint8_t *then = l->q->p->then; *then; then++)
        for (const struct then_step *t = then_table; t->word; t++)
            if (t->word == *then) follow_by(l, t, n);
}

/* the same of tiles in scratch, where A was: some rows at a time, as vectors, which go to C */
static void follow_tiles(struct lower *l)
{
    enum { ROWS = 4 };
    const struct tile *x = l->x;
    const int rows = x->nrow * x->shape.rows;
    struct tile some = *x;
    some.shape = (struct tile_shape){ 0 };
    some.tail = x->shape.columns % l->q->lanes;
    l->x = &some;
    if (some.tail) put(l, INS_MASK)->disp = some.tail;
    for (int from = 0; from < rows; from += ROWS) {
        some.nrow = (int16_t)(rows - from < ROWS ? rows - from : ROWS);
        for (int i = 0; i < some.nrow; i++)
            for (int b = BASE_C; b <= BASE_RESIDUAL; b++)
                l->row[i].at[b] = (x->at[0] + from + i) * tile_view(l->q, x, b)->stride[l->of->row];
        for (int i = 0; i < some.nrow * some.nv; i++) {
            const int row = from + i / some.nv, tile = row / TILE_SIDE * some.nv + i % some.nv;
            const int64_t at = tile * TILE_BYTES + row % TILE_SIDE * TILE_SIDE * 4;
            l->acc[i] = memory(l, INS_LOAD, new_value(l), BASE_A, at, masked(l, i % some.nv));
        }
        follow(l);
        for (int i = 0; i < some.nrow * some.nv; i++)
            memory(l, INS_STORE, l->acc[i], BASE_C, c_at(l, i), masked(l, i % some.nv));
    }
    l->x = x;
}

static void hold_a(struct lower *l, enum ins_op op)
{
    struct ins *i = put(l, op);
    i->base = BASE_A, i->disp = 2, i->d = l->held_bases;
}

/* rows of C some KiB apart drive each other out of the first cache: what follows is done before they are there */
static void end_tiles(struct lower *l, int n)
{
    const struct tile *x = l->x;
    const bool staged = x->last && l->q->staged;
    if (staged) hold_a(l, INS_HOLD);
    if (staged) memory(l, INS_STRIDE, -1, BASE_A, TILE_SIDE * 4, false);
    for (int i = 0; i < n; i++) {
        const int64_t c = l->row[i / x->nv].at[BASE_C] + tile_vector(l->q, x, BASE_C, i % x->nv);
        memory(l, INS_TILE_STORE, i, staged ? BASE_A : BASE_C, staged ? i * TILE_BYTES : c, false);
    }
    if (staged) follow_tiles(l);
    if (staged) hold_a(l, INS_RELEASE);
}

static void end_tile(struct lower *l)
{
    const struct tile *x = l->x;
    const int n = x->nrow * x->nv;
    if (x->shape.rows) {
        end_tiles(l, n);
        return;
    }
    if (x->lanes) {
        total(l);
        return;
    }
    for (int i = 0; i < n && x->late; i++) {
        int32_t c = memory(l, INS_LOAD, new_value(l), BASE_C, c_at(l, i), masked(l, i % x->nv));
        change(l, INS_PLUS, l->acc[i], c, false);
    }
    if (x->last) follow(l);
    for (int i = 0; i < n; i++) memory(l, INS_STORE, l->acc[i], BASE_C, c_at(l, i), masked(l, i % x->nv));
}

static void enter(struct lower *l)
{
    const struct problem *p = l->q->p;
    put(l, INS_ENTER);
    if (l->q->simple && finish_vector(p)) put(l, INS_BASE)->base = BASE_BIAS;
    if (l->q->simple && problem_then(p, THEN_RESIDUAL)) put(l, INS_BASE)->base = BASE_RESIDUAL;
    if (p->pair) put(l, INS_BASE)->base = BASE_SECOND;
    if (p->q4) memory(l, INS_BASE, -1, BASE_GROUP, l->q->group_at, false);
}

void ins_lower(struct ir *o, const struct loop_plan *q)
{
    struct lower l = { .o = o, .q = q };
    int32_t begin[2 * PLAN_DEPTH], open = 0, depth = 0;      /* of LOOP, HOLD and SKIP */
    struct ins *i;
    o->q = q;
    o->n = o->values = 0;
    enter(&l);
    for (int at = 0; at < q->n; at++) {
        const struct walk_node *d = &q->node[at];
        switch (d->kind) {
        case NODE_LOOP:
            begin[open++] = o->n;
            i = put(&l, INS_LOOP);
            i->d = depth++;
            i->disp = d->n;
            break;
        case NODE_TILE: begin_tile(&l, &q->tile[d->n]); break;
        case NODE_BODY: body(&l, d); break;
        case NODE_MOVE:
            for (int b = 0; b < BASES; b++)
                if (d->by[b]) memory(&l, INS_MOVE, -1, b, d->by[b], false);
            break;
        case NODE_CALL:
            i = put(&l, INS_CALL);
            i->call = d->call, i->base = d->base, i->disp = d->n;
            break;
        case NODE_HOLD:
            i = put(&l, INS_HOLD);
            i->base = d->base, i->disp = d->n, i->d = l.held_bases++;
            break;
        case NODE_SKIP:
            begin[open++] = o->n;
            i = put(&l, INS_SKIP);
            i->call = CALL_HIDDEN, i->base = d->base, i->disp = d->n;
            break;
        case NODE_SHAPE: put(&l, INS_SHAPE)->disp = d->n; break;
        case NODE_END:
            if (q->node[d->n].kind == NODE_TILE) end_tile(&l);
            if (q->node[d->n].kind == NODE_HOLD) {
                i = put(&l, INS_RELEASE);
                i->base = q->node[d->n].base, i->d = --l.held_bases;
            }
            if (q->node[d->n].kind != NODE_LOOP && q->node[d->n].kind != NODE_SKIP) break;
            o->ins[begin[--open]].b = o->n;
            i = put(&l, q->node[d->n].kind == NODE_LOOP ? INS_END : INS_SKIP_END);
            i->b = begin[open];
            if (i->op == INS_END) i->d = --depth;
        }
    }
    put(&l, INS_LEAVE);
}

/* Tiles of AMX: up to four of C, each of 16 rows along one variable that A has and B lacks, by 16 columns of the vector
 * variable; reductions below them count 16 steps of the one at unit stride in A.  What is left of rows, of columns and
 * of that reduction are tiles of other shapes, which are set outside of all loops that have only one. */
#include "loop/code/walk.h"
#include <string.h>

enum { BODY_TILES = 16, MARKED_TILES = 128 };

static int32_t tiles_of(int32_t n) { return (n + TILE_SIDE - 1) / TILE_SIDE; }

const char *amx_choose(struct plan_part *x)
{
    static const char columns[] = "columns of AMX tiles are along B and C";
    const struct problem *p = x->p;
    x->row = x->step = -1;
    if (x->lanes || x->both || x->held != BASE_B) return columns;
    for (int v = 0; v < p->nvar; v++) {
        bool a = p->stride[TENSOR_A][v], b = p->stride[TENSOR_B][v], c = p->stride[TENSOR_C][v];
        if (a && !b && c && (x->row < 0 || p->size[v] > p->size[x->row])) x->row = v;
        if (p->reduced[v] && p->stride[TENSOR_A][v] == 1 && b) x->step = v;
    }
    return x->row < 0 || x->step < 0 ? "rows of AMX tiles are rows of A, along the sum" : NULL;
}

/* the shapes that a block of C is cut into: whole tiles, what is left of columns, of rows, of both; how many */
static int shapes_of(const struct plan_walk *w, const int32_t *e, struct tile x[4])
{
    const int32_t rows = e[w->of->row], columns = e[w->of->vec];
    const int32_t whole[2] = { rows / TILE_SIDE, columns / TILE_SIDE };
    int n = 0;
    for (int i = 0; i < 4; i++) {
        int32_t high = i / 2 ? rows % TILE_SIDE : TILE_SIDE, wide = i % 2 ? columns % TILE_SIDE : TILE_SIDE;
        struct tile *t = &x[n];
        memset(t, 0, sizeof *t);
        t->nrow = (int16_t)(i / 2 ? 1 : whole[0]);
        t->nv = (int16_t)(i % 2 ? 1 : whole[1]);
        t->shape = (struct tile_shape){ (uint8_t)high, (uint8_t)wide, (uint8_t)(e[w->of->step] % TILE_SIDE) };
        t->at[0] = i / 2 ? whole[0] * TILE_SIDE : 0;
        t->at[1] = i % 2 ? whole[1] * TILE_SIDE : 0;
        n += high && wide && t->nrow && t->nv;
    }
    return n;
}

static bool same(struct tile_shape a, struct tile_shape b)
{
    return a.rows == b.rows && a.columns == b.columns && a.rest == b.rest;
}

static void set_shape(struct plan_walk *w, struct tile_shape x)
{
    struct loop_plan *q = w->q;
    int i = 0;
    if (same(w->shape, x)) return;
    w->shape = x;
    while (i < q->nshape && !same(q->shape[i], x)) i++;
    if (i == TILE_SIDE * 2) {
        w->why = "too many shapes of tiles";
        return;
    }
    if (i == q->nshape) q->shape[q->nshape++] = x;
    walk_node(w, NODE_SHAPE, i);
}

/* the shapes of all tiles below depth d: 0 none yet, 1 one, which is *x, 2 several */
static int shapes_below(const struct plan_walk *w, int d, const int32_t *e, int n, struct tile_shape *x)
{
    const bool outer = w->of == w->q->part && w->q->split >= 0;
    for (int i = 0; i < 2 && outer && d == w->q->split; i++) {
        struct plan_walk side = *w;
        int32_t block[NEST_VARS] = { 0 };
        side.of = &w->q->part[1 + i];
        chain_extents(w->q, i, e, block);
        n = shapes_below(&side, 0, block, n, x);
    }
    if (outer && d == w->q->split) return n;
    if (!outer && tile_fits(w, e)) {
        struct tile q[4];
        for (int i = 0, m = shapes_of(w, e, q); i < m; i++) {
            if (n && !same(*x, q[i].shape)) return 2;
            *x = q[i].shape;
            n = 1;
        }
        return n;
    }
    if (d == w->of->n) return 2;
    int v = w->of->loop[d].var;
    int32_t step = tile_block(w, d, e), below[NEST_VARS];
    memcpy(below, e, sizeof below);
    below[v] = step;
    n = shapes_below(w, d + 1, below, n, x);
    below[v] = e[v] % step;
    return below[v] && n < 2 ? shapes_below(w, d + 1, below, n, x) : n;
}

void amx_before(struct plan_walk *w, int d, const int32_t *e)
{
    struct tile_shape x;
    if (!w->q->target->tiles) return;
    if (shapes_below(w, d, e, 0, &x) == 1) set_shape(w, x);
    else w->shape = (struct tile_shape){ 0 };            /* unknown where the loop begins again */
}

static void shape_put(struct plan_walk *w, int d, const int32_t *e, bool first, struct tile *x)
{
    const int step = w->of->step, n = x->nrow * x->nv;
    const int32_t whole = e[step] / TILE_SIDE;
    struct tile_sum r[NEST_VARS], others[NEST_VARS];
    bool unroll;
    int nr = tile_reductions(w, d, e, r, &unroll), nothers = 0;
    for (int b = 0; b < 3; b++) x->view[b] = (uint8_t)w->now[b];
    x->part = (uint8_t)(w->of - w->q->part);
    for (int v = 0; v < w->of->p->nvar; v++) x->e[v] = w->of->p->reduced[v] ? 1 : e[v];
    x->start = first ? START_ZERO : START_LOAD;
    if (x->last && w->q->staged && w->q->holds <= w->held) w->q->holds = w->held + 1;    /* A's, meanwhile */
    set_shape(w, x->shape);
    for (int i = 0; i < nr; i++)
        if (r[i].var == step) r[i] = (struct tile_sum){ step, whole, TILE_SIDE };
        else others[nothers++] = r[i];
    const int64_t budget = (unroll ? MARKED_TILES : BODY_TILES) / n;
    const struct rim_rows none = { 0 };
    const int at = w->q->n;
    walk_node(w, NODE_TILE, tile_number(w->q, x));
    if (whole) tile_sums(w, x, &none, r, nr, budget);
    if (x->shape.rest) {
        x->tail = -1;
        walk_move(w, step, (int64_t)whole * TILE_SIDE, false);
        tile_sums(w, x, &none, others, nothers, budget);
        walk_move(w, step, -(int64_t)whole * TILE_SIDE, false);
    }
    walk_shut_moved(w, at, -1);
}

void amx_put(struct plan_walk *w, int d, const int32_t *e, bool first, bool last)
{
    struct tile x[4];
    const int n = shapes_of(w, e, x), nv = (int)tiles_of(e[w->of->vec]), rows = (int)tiles_of(e[w->of->row]);
    if (rows * nv > w->q->rows * w->q->vectors) w->q->rows = rows, w->q->vectors = nv;
    for (int i = 0; i < n; i++) {
        x[i].last = last;
        shape_put(w, d, e, first, &x[i]);
    }
}

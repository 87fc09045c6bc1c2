/* Which blocks of C fit the registers, or the tiles of AMX; what an innermost loop is cut to so that they do. */
#include "loop/code/machine.h"
#include "loop/code/walk.h"
#include <math.h>

static int32_t tiles_of(int32_t n) { return (n + TILE_SIDE - 1) / TILE_SIDE; }

static bool amx_fits(const struct plan_walk *w, const int32_t *e)
{
    const int row = w->of->row;
    int64_t rows = 1, nv = tiles_of(e[w->of->vec]);
    for (int v = 0; v < w->of->p->nvar; v++)
        if (!w->of->p->reduced[v] && v != w->of->vec) rows *= e[v];
    return rows == e[row] && nv <= PLAN_TILES && tiles_of(e[row]) * nv <= PLAN_TILES;
}

/* others of C one by one; two by two tiles, if there are */
static int32_t amx_block(const struct plan_walk *w, int d, const int32_t *e)
{
    const int v = w->of->loop[d].var, vec = w->of->vec, row = w->of->row;
    int32_t other = v == vec ? tiles_of(e[row]) : (e[vec] + w->q->lanes - 1) / w->q->lanes;
    int32_t most = v != vec && v != row ? 1 : TILE_SIDE * (other > PLAN_TILES ? 2 : PLAN_TILES / other);
    return most < e[v] ? most : e[v];
}

static bool fit(const struct plan_walk *w, int64_t rows, int64_t nv)
{
    const struct target *t = w->q->target;
    if (rows > t->accumulators || nv > t->accumulators || rows * nv > t->accumulators) return false;
    if (w->q->p->q4) return rows * nv + nv + Q4_MORE <= t->registers;
    return t->registers < 32 || nv > 4 || rows * nv + nv + 1 <= t->registers;
}

int64_t tile_block_rows(const struct plan_walk *w, const int32_t *e, int *vectors)
{
    const struct plan_part *x = w->of;
    int64_t rows = 1;
    for (int v = 0; v < x->p->nvar; v++)
        if (!x->p->reduced[v] && v != x->vec) rows *= e[v];
    *vectors = x->lanes ? 1 : (e[x->vec] + w->q->lanes - 1) / w->q->lanes;
    return rows;
}

bool tile_fits(const struct plan_walk *w, const int32_t *e)
{
    if (w->q->target->tiles) return amx_fits(w, e);
    int nv;
    int64_t rows = tile_block_rows(w, e, &nv);
    return fit(w, rows, nv);
}

bool tile_far(const struct plan_walk *w, enum plan_base base, double bytes)
{
    return (double)(w->of->p->elements[base] * w->of->p->bytes) >= bytes;
}

/* Of sums along lanes an input from beyond the second cache, used once or twice, is what all wait for: as many rows at
 * a time as uses, each a stream of its own, come 1.1 to 1.2 times as fast as eight of 2 to 16 KiB (Zen 5) */
int tile_streams(const struct plan_walk *w, enum plan_base base)
{
    if (!w->of->lanes || w->packed[base] || w->q->p->pair) return 0;
    const double uses = problem_flops(w->of->p) / 2 / (double)w->of->p->elements[base];
    return uses <= 2 && tile_far(w, base, machine_here()->cache[1].bytes) ? (int)ceil(uses) : 0;
}

/* block of loop d; an innermost block of the result is made as large as the registers allow */
int32_t tile_block(const struct plan_walk *w, int d, const int32_t *e)
{
    const struct plan_part *x = w->of;
    const struct target *t = w->q->target;
    const int v = x->loop[d].var;
    const int32_t step = x->inner[d];
    if (step > 1 || x->p->reduced[v] || (x == w->q->part && w->q->split >= 0)) return step;
    if (t->tiles) return amx_block(w, d, e);
    for (enum plan_base b = BASE_A; b <= BASE_B; b++) {
        const int now = w->now[b];                       /* -1: how it will lie is being decided */
        const int streams = now >= 0 && w->q->view[now].stride[v] ? tile_streams(w, b) : 0;
        if (streams) return streams < e[v] ? streams : e[v];
    }
    int nv;
    int64_t rows = tile_block_rows(w, e, &nv), most;
    if (v == x->vec) {
        most = rows > t->accumulators ? 1 : t->accumulators / rows;
        while (most > 1 && !fit(w, rows, most)) most--;
        most *= w->q->lanes;
    } else {
        rows /= e[v];
        most = rows * nv > t->accumulators ? 1 : t->accumulators / (rows * nv);
        while (most > 1 && !fit(w, rows * most, nv)) most--;
    }
    return most < e[v] ? (int32_t)most : e[v];
}

#include "loop/code/walk.h"
#include "loop/code/machine.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the loops outside the tiles ---- */

static void walk_nest(struct plan_walk *w, int d, const int32_t *e, bool first, bool last);

/* is an input to be packed here, before what is inside depth d? */
static int packed_here(const struct plan_walk *w, int d, bool fit)
{
    for (int t = 0; t < 2; t++) {
        bool half = w->now[t] >= 0 && w->q->view[w->now[t]].half;
        bool must = fit && (!w->marked[t] || half || access_raised(w->q, t));
        if (w->depth[t] >= 0 && !w->packed[t] && (must || d >= w->depth[t])) return t;
    }
    return -1;
}

/* Tiles read a panel of the held input, which comes from the third cache or from memory.  Each of the first of them
 * asks for a line of all rows of the panel that is next, or for some of each where they are few: no more are on their
 * way than a processor can wait for.  So many do */
static int32_t lines_next(struct plan_walk *w, int d, const int32_t *x, int32_t turns)
{
    if (!turns || w->q->view[w->now[w->of->held]].stride[w->of->loop[d].var] || !tile_fits(w, x)) return 0;
    const int n = tile_lines(w, x);
    if (!tile_asks(w, d + 1, x, n >= turns)) return 0;
    w->lines = (n + turns - 1) / turns;
    return (n + w->lines - 1) / w->lines;
}

/* the blocks of the loop at depth d; of a reduction the first and the last pass are apart, where they start or end C */
static void blocks(struct plan_walk *w, int d, const int32_t *e, bool first, bool last)
{
    const struct plan_part *of = w->of;
    const int v = of->loop[d].var;
    const int32_t step = tile_block(w, d, e), full = e[v] / step, tail = e[v] % step;
    const bool reduced = of->p->reduced[v], borders = rims_few(w, v, step, e);
    const bool asked = w->asked;
    const int64_t panel = w->panel, by = step * w->q->view[w->now[of->held]].stride[v];
    int32_t x[NEST_VARS];
    memcpy(x, e, sizeof x);
    x[v] = step;
    const int32_t lines = lines_next(w, d, x, full);
    w->asked |= lines > 0;
    for (int32_t at = 0, n; at < full; at += n) {
        const bool alone = at < lines || (reduced && first && at == 0);
        w->line = at < lines ? w->panel + (int64_t)at * w->lines * PLAN_LINE : 0;
        if (by) w->panel = by;
        n = alone ? 1 : borders ? rims_same(w, v, at, full, x) : full - at;
        if (!alone && reduced && last && !tail && n > 1 && at + n == full) n--;
        if (by && n == 1 && at + 1 == full && panel) w->panel = panel - (full - 1) * by;     /* the next outside */
        walk_shift(w, v, at * step, n, step);
        if (n > 1) amx_before(w, d + 1, x);
        int loop = walk_open(w, n);
        walk_nest(w, d + 1, x, first && !(reduced && at), last && !(reduced && (tail || at + n < full)));
        walk_move(w, v, step, true);
        walk_shut(w, loop);
        walk_shift(w, v, -at * step, 2 - n, step);
    }
    x[v] = tail;
    w->line = 0;
    walk_shift(w, v, full * step, 1, 0);
    if (tail) walk_nest(w, d + 1, x, first && !(reduced && full), last);
    walk_shift(w, v, -full * step, 1, 0);
    walk_move(w, v, -(int64_t)full * step, true);
    w->panel = panel;
    w->asked = asked;
}

static void packed(struct plan_walk *w, int t, int d, const int32_t *e, bool first, bool last)
{
    struct packed_block x = pack_begin(w, t, d, e);
    walk_nest(w, d, e, first, last);
    pack_end(w, t, x);
}

/* the block of S, what lies between, the block of C */
static void chained(struct plan_walk *w, const int32_t *e, bool first)
{
    struct chain_block x = chain_begin(w, e, first);
    const struct tile_shape before = w->shape;
    for (int i = 0; i < 2; i++) {
        int32_t block[NEST_VARS] = { 0 };
        struct plan_walk s = chain_side(w, &x, i, e, block);
        walk_nest(&s, 0, block, first || !i, false);
        if (s.why) w->why = s.why;
        w->shape = s.shape;
        chain_end(w, &x, i);
    }
    if (x.skip >= 0 && memcmp(&before, &w->shape, sizeof before)) w->shape = (struct tile_shape){ 0 };
}

static void walk_nest(struct plan_walk *w, int d, const int32_t *e, bool first, bool last)
{
    const struct plan_part *of = w->of;
    const bool outer = of == w->q->part && w->q->split >= 0, fit = !outer && tile_fits(w, e);
    if (w->why) return;
    if (w->finish && finish_here(w, d, e, fit)) {
        w->finish = false;
        walk_nest(w, d, e, first, last);
        w->finish = true;
        finish_put(w, e);
        return;
    }
    int t = packed_here(w, d, fit);
    if (t >= 0) packed(w, t, d, e, first, last);
    else if (fit && w->q->target->tiles) amx_put(w, d, e, first, last);
    else if (fit) tile_put(w, d, e, first, last);
    else if (outer && d == w->q->split) chained(w, e, first);
    else if (d == of->n) w->why = "the result does not fit the registers";
    else blocks(w, d, e, first, last);
}

/* ---- a plan ---- */

static const char *make(struct loop_plan *q, const struct problem *p, const struct nest *n, bool lies, bool apart)
{
    struct plan_walk w = { .q = q, .apart = apart, .of = q->part, .depth = { -1, -1 },
                           .now = { -1, -1, -1, -1, -1, -1 } };
    const struct plan_ask ask = q->ask;
    memset(q, 0, offsetof(struct loop_plan, node));
    q->ask = ask;
    q->p = p;
    q->target = &target_of[ask.isa];
    q->lanes = problem_lanes(p, ask.isa);
    q->type = (enum carry_type)p->type;
    q->bias = q->step = q->split = -1;
    q->lies = lies && p->pad.n;
    const char *why = access_choose(&w, n);
    if (why) return why;
    access_lay(&w);
    for (int b = 0; b < BASES; b++) w.now[b] = b;
    w.finish = q->finish && !q->simple;
    if (q->lies && q->origin) walk_node(&w, NODE_MOVE, 0)->by[BASE_A] = -q->origin;
    walk_nest(&w, 0, q->p->size, !ask.add || q->view[TENSOR_B].sums, q->simple);
    if (q->n && q->node[q->n - 1].kind == NODE_MOVE) q->n--;
    if (w.mixed && q->lies) return make(q, p, n, false, apart);
    if (w.why && q->groups.each) return make(q, p, n, lies, true);
    return w.why;
}

const char *loop_plan_make(struct loop_plan *q, const struct problem *p, const struct nest *n,
                           const struct plan_ask *ask)
{
    q->ask = *ask;
    return make(q, p, n, true, false);
}

void loop_plan_free(struct loop_plan *q)
{
    free(q->node);
    free(q->tile);
    free(q->out);
    free(q->change);
    q->node = NULL, q->tile = NULL, q->out = NULL, q->change = NULL;
    q->most_nodes = q->most_tiles = q->most_out = q->most_changes = 0;
}

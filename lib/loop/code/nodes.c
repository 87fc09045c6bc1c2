/* The lists that a plan is, as they grow: nodes, tiles, views, changes. */
#include "loop/code/walk.h"
#include "base/mem.h"
#include <string.h>

/* room for one more; out of memory is said by mem.h */
static void *more(void *array, int n, int *most, size_t size)
{
    if (n < *most) return array;
    size_t cap = (size_t)*most;
    array = grow(array, (size_t)n + 1, &cap, size);
    *most = (int)cap;
    return array;
}

struct walk_node *walk_node(struct plan_walk *w, enum walk_kind kind, int32_t n)
{
    struct loop_plan *q = w->q;
    q->node = more(q->node, q->n, &q->most_nodes, sizeof *q->node);
    struct walk_node *x = &q->node[q->n++];
    memset(x, 0, sizeof *x);
    x->kind = (uint8_t)kind;
    x->n = n;
    return x;
}

/* anything? */
static bool walk_moves(const struct walk_node *x)
{
    for (int b = 0; b < BASES; b++)
        if (x->by[b]) return true;
    return false;
}

void walk_move(struct plan_walk *w, int var, int64_t steps, bool with_c)
{
    struct loop_plan *q = w->q;
    if (!steps) return;
    const bool behind = q->n && q->node[q->n - 1].kind == NODE_MOVE;
    struct walk_node *x = behind ? &q->node[q->n - 1] : walk_node(w, NODE_MOVE, 0);
    for (int b = 0; b < BASES; b++)
        if (w->now[b] >= 0 && (with_c || b < BASE_C || b == BASE_GROUP))
            x->by[b] += steps * q->view[w->now[b]].stride[var];
    if (!walk_moves(x)) q->n--;
}

int walk_open(struct plan_walk *w, int32_t n)
{
    if (n < 2) return -1;
    if (++w->live > w->q->depth) w->q->depth = w->live;
    if (w->live == PLAN_DEPTH) w->why = "too many loops inside each other";
    walk_node(w, NODE_LOOP, n);
    return w->q->n - 1;
}

void walk_shut(struct plan_walk *w, int at)
{
    if (at < 0) return;
    const struct walk_node *x = &w->q->node[at];
    if (x->kind == NODE_LOOP) w->live--;
    if (x->kind == NODE_HOLD) w->held--;
    walk_node(w, NODE_END, at);
}

void walk_shut_moved(struct plan_walk *w, int at, int lost)
{
    struct loop_plan *q = w->q;
    struct walk_node back = q->node[q->n - 1];
    if (back.kind == NODE_MOVE) q->n--;
    walk_shut(w, at);
    if (back.kind != NODE_MOVE) return;
    if (lost >= 0) back.by[lost] = 0;
    if (walk_moves(&back)) *walk_node(w, NODE_MOVE, 0) = back;
}

int walk_hold(struct plan_walk *w, int base, int32_t to)
{
    walk_node(w, NODE_HOLD, to)->base = (uint8_t)base;
    if (++w->held > w->q->holds) w->q->holds = w->held;
    return w->q->n - 1;
}

int walk_change(struct plan_walk *w, const struct carry_change *c, double elements, bool moved)
{
    struct loop_plan *q = w->q;
    q->change = more(q->change, q->nchange, &q->most_changes, sizeof *q->change);
    q->change[q->nchange] = (struct plan_change){ *c, elements, moved };
    return q->nchange++;
}

int walk_view(struct plan_walk *w, const struct plan_view *x)
{
    struct loop_plan *q = w->q;
    for (int i = BASES; i < q->nview; i++)
        if (!memcmp(&q->view[i], x, sizeof *x)) return i;
    if (q->nview == PLAN_VIEWS) {
        w->why = "too many blocks that lie otherwise";
        return 0;
    }
    q->view[q->nview] = *x;
    return q->nview++;
}

int tile_number(struct loop_plan *q, const struct tile *x)
{
    for (int i = 0; i < q->ntile; i++)
        if (!memcmp(&q->tile[i], x, sizeof *x)) return i;
    q->tile = more(q->tile, q->ntile, &q->most_tiles, sizeof *q->tile);
    memcpy(&q->tile[q->ntile], x, sizeof *x);            /* with its padding, for memcmp */
    return q->ntile++;
}

int32_t walk_common(int32_t a, int32_t b) { return b ? walk_common(b, a % b) : a; }

void walk_shift(struct plan_walk *w, int v, int32_t by, int32_t n, int32_t apart)
{
    w->at.low[v] += by;
    w->at.high[v] += by + (n - 1) * apart;
}

/* Inputs that are copied, block by block inside a loop or whole before the nest, to where they lie as the tiles read
 * them: the vectors' variable fastest, in panels as wide as a tile, one behind the other, or in rows close together. */
#include "loop/code/walk.h"
#include <string.h>

enum { PACK_ELEMENTS = 1024 };

/* Strides in elements, rows padded off multiples of 4 KiB; or, where panel is not 0, cut into panels of so many of
 * `fast`, one behind the other, rows close together; its stride then holds for multiples of a panel; each with one row
 * more, if sums begin at something. */
void pack_lay(struct transposition *x, const struct problem *p, int t, int fast, int32_t panel, const int32_t *size,
              int64_t stride[NEST_VARS])
{
    struct carry_change *c = &x->change;
    x->needed = true;
    c->nvar = 0;
    for (int64_t below = INT64_MAX; ; ) {                /* slowest first, `fast` aside */
        int next = -1;
        for (int v = 0; v < p->nvar; v++)
            if (v != fast && size[v] > 1 && p->stride[t][v] && p->stride[t][v] < below
                && (next < 0 || p->stride[t][v] > p->stride[t][next])) next = v;
        if (next < 0) break;
        below = p->stride[t][next];
        x->var[c->nvar++] = next;
    }
    if (panel >= size[fast] || c->nvar == 0 || c->nvar + 2 > CARRY_VARS) panel = 0;
    if (panel) {
        memmove(x->var + 1, x->var, sizeof *x->var * (size_t)c->nvar++);
        x->var[0] = fast;
    }
    x->var[c->nvar++] = fast;
    x->panel = panel;
    int64_t step = 1, row = 1;
    c->edge = panel ? size[fast] % panel : 0;
    for (int i = c->nvar; i-- > 0; ) {
        int v = x->var[i];
        stride[v] = c->to[i] = step;
        c->from[i] = p->stride[t][v];
        c->size[i] = size[v];
        if (panel && i == c->nvar - 1) c->size[i] = panel;
        if (panel && i == 0) {
            c->from[i] *= panel;
            c->size[i] = (size[v] + panel - 1) / panel;
            stride[v] = step / panel;
        }
        step *= c->size[i];
        if (!panel && i == c->nvar - 1) {
            step = (step + 15) & ~(int64_t)15;
            if (step % 512 == 0) step += 16;
        }
        if (i == c->nvar - 1) row = step;
        if (t == TENSOR_B && (p->sign || p->q4) && i == (panel > 0))
            x->sums = step, step += row * (p->q4 ? p->scales / size[fast] : 1);
    }
    x->elements = step;
    for (int i = c->nvar - 3; i >= (panel > 0); i--) {   /* two that lie together in both are one */
        if (c->from[i] != c->from[i + 1] * c->size[i + 1] || c->to[i] != c->to[i + 1] * c->size[i + 1]) continue;
        c->size[i + 1] *= c->size[i];
        c->nvar--;
        for (int j = i; j < c->nvar; j++)
            c->size[j] = c->size[j + 1], c->from[j] = c->from[j + 1], c->to[j] = c->to[j + 1];
    }
}

/* The depth at which an input is transposed block by block: inside the outer loops that all move through it, so that
 * each element is transposed once, and used while it is in a cache. */
int pack_depth(const struct plan_walk *w, int t)
{
    const struct plan_part *x = &w->q->part[0];
    int32_t e[NEST_VARS];
    memcpy(e, x->p->size, sizeof e);
    for (int d = 0; d < x->n; d++) {
        struct loop l = x->loop[d];
        double block = 1;
        if (l.size + (l.tail > 0) > 1 && !x->p->stride[t][l.var]) return d;
        e[l.var] = x->inner[d];
        for (int v = 0; v < x->p->nvar; v++)
            if (x->p->stride[t][v]) block *= e[v];
        if (block < PACK_ELEMENTS) return d;
    }
    return 0;
}

/* the widest panel such that every tile below depth d begins at one; 0: none */
static int32_t panel_width(const struct plan_walk *w, int d, const int32_t *block)
{
    const struct loop_plan *q = w->q;
    const struct plan_part *x = w->of;
    int32_t e[NEST_VARS], width = 0;
    memcpy(e, block, sizeof e);
    if (x == q->part && q->split >= 0) {                 /* the tiles of the first contraction, in blocks of S */
        struct plan_walk first = *w;
        first.of = &q->part[1];
        for (; d < q->split; d++) {
            int v = x->loop[d].var;
            if (x->inner[d] >= e[v]) continue;
            e[v] = x->inner[d];
            if (v == x->vec) width = walk_common(e[v], width);
        }
        if (width % q->lanes) return 0;                  /* blocks do not begin where panels could */
        for (int v = 0; v < q->p->nvar; v++)
            if (!first.of->p->stride[TENSOR_A][v] && !first.of->p->stride[TENSOR_B][v]) e[v] = 1;
        return walk_common(panel_width(&first, 0, e), width);
    }
    for (; d < x->n && !tile_fits(w, e); d++) {
        int v = x->loop[d].var;
        int32_t step = tile_block(w, d, e);
        if (v == x->vec && step < e[v])                  /* 1: as wide as registers allow */
            width = walk_common(x->inner[d] == 1 ? q->lanes : step, width);
        e[v] = step;
    }
    return width % q->lanes ? 0 : width;
}

/* the variable that shall be fastest in a packed input: the vector's, or where it has none, the one that is */
static int fastest(const struct plan_walk *w, int t, const int32_t *size)
{
    const struct problem *p = w->of->p;
    int best = -1;
    if (p->stride[t][w->of->vec]) return w->of->vec;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[t][v] && (best < 0 || (size[v] > 1 && (size[best] == 1 || p->stride[t][v] < p->stride[t][best]))))
            best = v;
    return best;
}

static void view_of(struct plan_view *x, const struct transposition *c, const int64_t *stride, int fast, int bytes)
{
    memset(x, 0, sizeof *x);
    for (int v = 0; v < NEST_VARS; v++) x->stride[v] = stride[v] * bytes;
    x->panel = c->panel;
    if (c->panel) x->panel_bytes = stride[fast] * c->panel * bytes;
}

static void want(struct loop_plan *q, int t, int64_t elements)
{
    const int64_t bytes = (elements + 32 * q->lanes) * q->p->bytes;
    if (bytes > q->scratch[t]) q->scratch[t] = bytes;
}

/* behind each panel of weights of 4 bits: for each group a row of scales, and one of zero points */
static void lay_groups(struct loop_plan *q, const struct transposition *c)
{
    const struct problem *p = q->p;
    struct plan_view *x = &q->view[BASE_GROUP];
    q->group_at = c->sums * 4;
    q->group_row = carry_wide(&c->change) * 4;
    *x = q->view[TENSOR_B];
    for (int v = 0; v < p->nvar; v++)
        if (p->reduced[v]) x->stride[v] = p->stride[TENSOR_A][v] == p->q4 ? (1 + p->zeros) * q->group_row : 0;
}

/* all of B, before any run */
void pack_weights(struct plan_walk *w)
{
    struct loop_plan *q = w->q;
    const struct plan_part *x = &q->part[0];
    struct transposition *c = &q->before[TENSOR_B];
    struct plan_view *v = &q->view[TENSOR_B];
    int64_t *stride = q->seen[TENSOR_B];
    int32_t wide = panel_width(w, 0, q->p->size);
    if (q->ask.rows && wide % (2 * q->lanes) == 0) wide = 2 * q->lanes;  /* each tile begins with one, or has all */
    pack_lay(c, q->p, TENSOR_B, x->vec, wide, q->p->size, stride);
    view_of(v, c, stride, x->vec, q->p->bytes);
    v->sums = q->target->tiles || q->p->q4 ? 0 : c->sums * q->p->bytes;
    if (q->p->q4) lay_groups(q, c);
    if (c->panel) stride[x->vec] = 1;                    /* what a block touches: panels hold neighbours */
    w->depth[TENSOR_B] = -1;
    w->marked[TENSOR_B] = false;
    w->packed[TENSOR_B] = true;
    want(q, TENSOR_B, c->elements);
}

/* the block of input t that is used below depth d, from here on in its place */
struct packed_block pack_begin(struct plan_walk *w, int t, int d, const int32_t *e)
{
    struct loop_plan *q = w->q;
    const struct problem *p = w->of->p;
    const int keep = w->now[t], fast = fastest(w, t, e);
    struct transposition c = { .change.wide = q->target->bytes == 64,
                               .change.store = access_store(q, t, q->view[keep].half) };
    int64_t to[NEST_VARS] = { 0 };
    struct plan_view view;
    double elements = 1;
    memcpy(to, p->stride[t], sizeof p->stride[t]);
    pack_lay(&c, p, t, fast, fast == w->of->vec && !w->of->lanes ? panel_width(w, d, e) : 0, e, to);
    view_of(&view, &c, to, fast, p->bytes);
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[t][v]) elements *= e[v];
    want(q, t, c.elements);
    struct walk_node *x = walk_node(w, NODE_CALL, walk_change(w, &c.change, elements, access_transposed(q, t)));
    x->call = CALL_CHANGE;
    x->base = (uint8_t)t;
    const int at = walk_hold(w, t, t);
    w->now[t] = walk_view(w, &view);
    w->packed[t] = true;
    return (struct packed_block){ at, keep };
}

void pack_end(struct plan_walk *w, int t, struct packed_block x)
{
    w->packed[t] = false;
    w->now[t] = x.keep;
    walk_shut_moved(w, x.at, t);
}

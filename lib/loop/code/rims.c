/* Zeros around A that are left out: which rows of a tile read nothing else at a step of the sum.  Pure functions of
 * where the present block may begin (a range of each variable): no state of their own. */
#include "loop/code/walk.h"
#include <string.h>

enum { MOST_KINDS = 4 };                                 /* loops of more kinds of blocks stay as they are */

/* is an index of A made of steps of so many elements, and of what is faster and fills no step? */
static bool whole_steps(const struct rim *g, const struct problem *p, int32_t after, int32_t by)
{
    int64_t inside = 0;
    for (int i = 0; i < g->n; i++) {
        const int v = g->var[i];
        if (g->step[v] < by) inside += (int64_t)g->step[v] * (p->size[v] - 1);
        else if (g->step[v] % by) return false;
    }
    return inside < by && !(g->before % by || g->size % by || after % by);
}

/* Indices without zeros are one with the one before, channels with columns: it is counted in the largest steps that it
 * has, and what is faster does not move it. */
static void coarser(struct rim *g, const struct problem *p, int32_t after)
{
    int32_t by = 1;
    int n = 0;
    for (int i = 0; i < g->n; i++) {
        const int32_t step = g->step[g->var[i]];
        if (step > by && whole_steps(g, p, after, step)) by = step;
    }
    g->before /= by, g->size /= by;
    for (int i = 0; i < g->n; i++) {
        g->step[g->var[i]] /= by;
        if (g->step[g->var[i]]) g->var[n++] = g->var[i];
    }
    g->n = (int8_t)n;
}

/* Each index of A with zeros around it from its strides: the digits of a number.  Those that move with the vectors are
 * left alone. */
bool rims_find(struct loop_plan *q, int64_t dense[NEST_VARS])
{
    const struct problem *p = q->p;
    int64_t left[NEST_VARS], below = p->padded, lie = p->elements[TENSOR_A], origin = 0;
    bool can = p->pad.n > 0;
    memcpy(left, p->stride[TENSOR_A], sizeof left);
    for (int d = 0; d < p->pad.n; d++) {
        struct rim g = { .before = p->pad.before[d], .size = p->pad.size[d] };
        int reductions = 0;
        below /= g.before + g.size + p->pad.after[d];
        lie /= g.size;
        origin += g.before * lie;
        for (int v = 0; v < p->nvar; v++) {
            g.step[v] = p->size[v] > 1 ? (int32_t)(left[v] / below) : 0;
            left[v] %= below;
            dense[v] += g.step[v] * lie;
            reductions += p->reduced[v] && g.step[v];
            if (g.step[v]) g.var[g.n++] = (int8_t)v;
        }
        if (!g.before && !p->pad.after[d]) continue;
        coarser(&g, p, p->pad.after[d]);
        for (int v = reductions = 0; v < p->nvar; v++) reductions += p->reduced[v] && g.step[v];
        if (!g.step[q->part[0].vec] && q->nrim < RIMS) q->rim[q->nrim++] = g;
        else reductions = 2;
        can &= reductions < 2;
    }
    q->origin = origin * p->bytes;
    return can;
}

static void ends(const struct rim *g, const struct plan_range *at, int32_t e[2])
{
    e[0] = e[1] = 0;
    for (int i = 0; i < g->n; i++) {
        const int v = g->var[i];
        e[0] += g->step[v] * at->low[v], e[1] += g->step[v] * at->high[v];
    }
}

static bool zeros_only(const struct rim *g, const int32_t e[2], int32_t at)
{
    return e[1] + at < g->before || e[0] + at >= g->before + g->size;
}

void rims_rows(struct rim_rows *x, const struct loop_plan *q, const struct tile_row *row, int n)
{
    for (int k = 0; k < q->nrim; k++) {
        x->n[k] = 0;
        x->least[k] = x->most[k] = row[0].rim[k];
        for (int i = 0; i < n; i++) {
            const int32_t at = row[i].rim[k];
            int j = 0;
            while (j < x->n[k] && x->at[k][j] != at) j++;
            if (j == x->n[k]) x->at[k][j] = at, x->rows[k][j] = 0, x->n[k]++;
            x->rows[k][j] |= 1u << i;
            if (at < x->least[k]) x->least[k] = at;
            if (at > x->most[k]) x->most[k] = at;
        }
    }
}

/* does no row reach a zero, wherever in this range it is? */
bool rims_inside(const struct loop_plan *q, const struct plan_range *at, const struct rim_rows *x)
{
    for (int k = 0; k < q->nrim; k++) {
        const struct rim *g = &q->rim[k];
        int32_t e[2];
        ends(g, at, e);
        if (e[0] + x->least[k] < g->before || e[1] + x->most[k] >= g->before + g->size) return false;
    }
    return true;
}

/* bits of rows that are left out; *mixed: one of the others reads zeros at one place and not at another */
uint32_t rims_out(const struct loop_plan *q, const struct plan_range *at, const struct rim_rows *x, bool *mixed)
{
    uint32_t out = 0, some = 0;
    for (int k = 0; k < q->nrim; k++) {
        const struct rim *g = &q->rim[k];
        int32_t e[2];
        ends(g, at, e);
        if (e[0] + x->least[k] >= g->before && e[1] + x->most[k] < g->before + g->size) continue;
        for (int i = 0; i < x->n[k]; i++) {
            const int32_t here = x->at[k][i];
            if (zeros_only(g, e, here)) out |= x->rows[k][i];
            if (e[0] + here < g->before || e[1] + here >= g->before + g->size) some |= x->rows[k][i];
        }
    }
    *mixed |= (some & ~out) != 0;
    return out;
}

bool rims_move(const struct loop_plan *q, int v)
{
    bool has = false;
    for (int k = 0; k < q->nrim; k++) has |= q->rim[k].step[v] > 0;
    return has;
}

/* How many steps of so many at most until an index in a block, of those from `at` on with its variables from i on,
 * is in zeros that was not, or no longer is */
static int32_t unchanged(const struct rim *g, int32_t by, const int32_t *e, int32_t at, int i, int32_t n)
{
    if (i == g->n) {
        const int32_t next = at < g->before ? g->before : g->before + g->size;
        const int32_t steps = next > at ? (next - at - 1) / by + 1 : n;
        return steps < n ? steps : n;
    }
    for (int32_t k = 0; k < e[g->var[i]] && n > 1; k++) n = unchanged(g, by, e, at + k * g->step[g->var[i]], i + 1, n);
    return n;
}

/* how many blocks of v from `at` on are code of one kind: the same elements of each read zeros */
int32_t rims_same(struct plan_walk *w, int v, int32_t at, int32_t full, const int32_t *e)
{
    const struct loop_plan *q = w->q;
    int32_t n = full - at;
    walk_shift(w, v, at * e[v], 1, 0);
    for (int k = 0; k < q->nrim && n > 1; k++) {
        const struct rim *g = &q->rim[k];
        int32_t x[2], far = 0;
        if (!g->step[v]) continue;
        ends(g, &w->at, x);
        for (int i = 0; i < g->n; i++) far += g->step[g->var[i]] * (e[g->var[i]] - 1);
        const bool some = x[0] < g->before || x[1] + far >= g->before + g->size;
        n = x[0] < x[1] && some ? 1 : unchanged(g, g->step[v] * e[v], e, x[1], 0, n);
    }
    walk_shift(w, v, -at * e[v], 1, 0);
    return n;
}

/* are there blocks of v with zeros around A, but not many kinds of them? */
bool rims_few(struct plan_walk *w, int v, int32_t step, const int32_t *e)
{
    int32_t x[NEST_VARS], full = e[v] / step, n = 0;
    if (!rims_move(w->q, v)) return false;
    memcpy(x, e, sizeof x);
    x[v] = step;
    for (int32_t at = 0; at < full && n <= MOST_KINDS; at += rims_same(w, v, at, full, x)) n++;
    return n <= MOST_KINDS;
}

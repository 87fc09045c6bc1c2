/* Groups of four or eight channels fill a part of a vector each: so many of them side by side fill it whole.  The
 * columns of all groups are one variable then; weights are copied to rows along it before the nest, and of a vector of
 * A each lane takes the channel of its own group that the step is of.  For C[.. g m] += A[.. g c] B[.. g .. m] with as
 * many c as m, of floats. */
#include "loop/code/walk.h"
#include <string.h>

static bool find(const struct problem *p, int lanes, struct plan_groups *g)
{
    const int64_t(*s)[NEST_VARS] = p->stride;
    *g = (struct plan_groups){ .of = p, .group = -1, .column = -1, .channel = -1 };
    if (p->pair || p->op != OP_FMA || p->type != TYPE_F32 || p->store != STORE_FLOATS || p->q4 || p->weights ||
        p->norm >= 0 || finish_vector(p)) return false;
    for (int v = 0; v < p->nvar; v++) {
        if (p->size[v] < 2 || !s[TENSOR_B][v]) continue;
        if (s[TENSOR_C][v] == 1 && !s[TENSOR_A][v]) g->column = v;
        if (s[TENSOR_A][v] == 1 && !s[TENSOR_C][v]) g->channel = v;
    }
    if (g->column < 0 || g->channel < 0) return false;
    const int32_t n = g->each = p->size[g->column];
    if ((n != 4 && n != 8) || n >= lanes || p->size[g->channel] != n) return false;
    for (int v = 0; v < p->nvar; v++)
        if (s[TENSOR_A][v] == n && s[TENSOR_C][v] == n && s[TENSOR_B][v]) g->group = v;
    return g->group >= 0 && p->size[g->group] * n % lanes == 0;
}

bool groups_merge(const struct problem *p, int lanes, struct problem *to, struct plan_groups *g)
{
    struct carry_change *c = &g->weights;
    int64_t step = 1, *b = to->stride[TENSOR_B];
    int var[NEST_VARS], n = 0;
    if (!find(p, lanes, g)) {
        g->each = 0;
        return false;
    }
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_B][v] && v != g->group && v != g->column && v != g->channel) var[n++] = v;
    var[n++] = g->channel, var[n++] = g->group, var[n++] = g->column;
    *to = *p;
    for (c->nvar = n; n-- > 0; step *= c->size[n]) {
        const int v = var[n];
        c->size[n] = p->size[v], c->from[n] = p->stride[TENSOR_B][v];
        c->to[n] = b[v] = step;
    }
    for (int t = 0; t < 3; t++) to->stride[t][g->group] = 1, to->stride[t][g->column] = 0;
    to->stride[TENSOR_A][g->channel] = 0;                /* it chooses lanes */
    to->size[g->group] *= g->each;
    to->size[g->column] = 1;
    return true;
}

/* the nest's loops over the merged problem; false: it is not merged for them */
bool groups_choose(struct loop_plan *q, const struct nest *t)
{
    struct plan_part *x = &q->part[0];
    struct plan_groups *g = &q->groups;
    int innermost = -1, n = 0;
    if (q->target->tiles || !groups_merge(q->p, q->lanes, &q->paired, g)) return false;
    g->each = 0;
    for (int d = 0; d < t->n; d++) {
        struct loop l = t->loop[d];
        const bool column = l.var == g->column;
        if (l.marks & (MARK_PACK_A | MARK_PACK_B)) return false;
        if (l.marks & MARK_VECTORIZE && !column && l.var != g->group) return false;
        if (l.var == g->group) innermost = n, l.tail *= q->p->size[g->column];
        if (!column) q->side_loop[0][n++] = l;
    }
    g->each = q->p->size[g->column];
    q->side_loop[0][innermost].size *= g->each;
    q->p = &q->paired;
    *x = (struct plan_part){ .p = q->p, .loop = q->side_loop[0], .n = n, .vec = g->group, .held = BASE_B,
                             .cast = BASE_A };
    nest_inner(x->loop, n, x->inner);
    return true;
}

/* Each step takes all channels of a group: the one before the last of the sum's variables, so that the same channel
 * serves neighbours of a window; the last, where that would be a long body. */
const char *groups_order(const struct plan_walk *w, const int32_t *e, struct tile_sum *r, int n, int64_t *budget)
{
    enum { LONG = 64 };
    const struct plan_groups *g = &w->q->groups;
    int at = 0;
    while (at < n && r[at].var != g->channel) at++;
    if (at == n || r[at].n != g->each || e[g->group] % w->q->lanes) return "a part of a group";
    const struct tile_sum channels = r[at];
    memmove(r + at, r + at + 1, sizeof *r * (size_t)(n - 1 - at));
    const bool before = n > 1 && r[n - 2].n * g->each <= LONG;
    if (before) r[n - 1] = r[n - 2];
    r[n - 1 - before] = channels;
    const int64_t least = g->each * (int64_t)(before ? r[n - 1].n : 1);
    if (*budget < least) *budget = least;
    return NULL;
}

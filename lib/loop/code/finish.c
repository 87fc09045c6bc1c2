/* What follows the sum: in the registers of tiles that are complete, or by a function that travels along, on each block
 * of C once it is complete, while that is in the second cache: the largest such, or what is inside the outermost loop
 * over a reduction that is cut. */
#include "loop/code/walk.h"
#include "loop/code/machine.h"
#include "loop/code/table.h"

bool finish_vector(const struct problem *p) { return problem_then(p, THEN_BIAS) || problem_then(p, THEN_SCALE); }

/* Can all that follows the sum be done in registers?  A bias is a vector along one variable of C, and so is a scale. */
void finish_choose(struct loop_plan *q)
{
    const struct problem *p = q->p;
    bool softmax = false;
    for (const uint8_t *mid = p->mid; p->pair && *mid; mid++) softmax |= *mid == THEN_SOFTMAX;
    q->cast = problem_cast(p);
    q->finish = (p->then[0] || softmax) && !q->before[TENSOR_C].needed;
    if (!q->finish || p->pair || q->part[0].lanes || p->norm >= 0 || q->ask.add || q->ask.calls)
        return;
    for (const uint8_t *then = p->then; *then; then++)
        if (!then_in_registers(*then)) return;
    for (int v = 0; v < p->nvar && finish_vector(p); v++)
        if (p->stride[TENSOR_C][v] == p->bias_step && p->size[v] == p->bias) q->bias = v;
    q->simple = q->bias >= 0 || !finish_vector(p);
}

/* Is the block of C inside loop d what is finished at once?  No reduction is outside of it; it stays in the second
 * cache, or the next loop is a reduction, or it is a tile.  Calls for each tile would cost more than that. */
bool finish_here(const struct plan_walk *w, int d, const int32_t *e, bool fit)
{
    const struct plan_part *of = w->of;
    double bytes = 4;
    for (int v = 0; v < of->p->nvar; v++)
        if (!of->p->reduced[v]) bytes *= e[v];
    if (fit || d == of->n || d == w->q->split || bytes <= machine_here()->cache[1].bytes / 8) return true;
    int v = of->loop[d].var;
    return (of->p->reduced[v] || v == of->p->norm) && of->inner[d] < e[v];       /* rows of a norm are whole */
}

/* the call for a block of C that is complete: its variables, the slowest first */
void finish_put(struct plan_walk *w, const int32_t *e)
{
    const struct problem *p = w->of->p;
    struct carry_change c = { .wide = w->q->target->bytes == 64 };
    double n = 1;
    for (int64_t below = INT64_MAX; ; ) {
        int next = -1;
        for (int v = 0; v < p->nvar; v++) {
            int64_t s = p->stride[TENSOR_C][v];
            if (e[v] > 1 && s && s < below && (next < 0 || s > p->stride[TENSOR_C][next])) next = v;
        }
        if (next < 0) break;
        below = p->stride[TENSOR_C][next];
        c.size[c.nvar] = e[next];
        c.to[c.nvar++] = below;
        n *= e[next];
    }
    struct walk_node *x = walk_node(w, NODE_CALL, walk_change(w, &c, n, false));
    x->call = CALL_FINISH;
    x->base = BASE_C;
}

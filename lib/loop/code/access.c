/* Which variable is in the vectors, which input has it, how each tensor lies where the code sees it. */
#include "loop/code/walk.h"
#include "loop/code/machine.h"
#include <string.h>

/* do so many stay in the second cache, beside what else is used? */
static bool near(const struct loop_plan *q, int64_t elements)
{
    return (double)(elements * q->p->bytes) <= machine_here()->cache[1].bytes * 5 / 8;
}

/* a relative cost of having v in the vectors, or -1 when it cannot be */
static double vector_cost(const struct problem *p, int v, int lanes)
{
    bool a = p->stride[TENSOR_A][v] != 0, b = p->stride[TENSOR_B][v] != 0;
    if (!(a || b) || (p->reduced[v] && !(a && b))) return -1;
    double moved = 0, sums = p->reduced[v] ? 4 * (double)p->elements[TENSOR_C] : 0;
    for (int t = 0; t < 3; t++) {
        if (p->stride[t][v] == 0 || p->stride[t][v] == 1) continue;
        if (!access_plain(p, t)) return -1;
        moved += (double)p->elements[t];
    }
    double used = (double)p->size[v] / ((p->size[v] + lanes - 1) / lanes * lanes);
    return problem_flops(p) / (4.0 * lanes) / used * (a && b ? 2 : 1) + moved * 1.5 + sums;      /* both: loads */
}

/* signed bytes have columns in the vectors, since sums begin with something of each column; so have tiles */
static bool may_be_vector(const struct problem *p, int v, bool tiles)
{
    return !(tiles || p->sign) || !(p->reduced[v] || p->stride[TENSOR_A][v]);
}

static int choose_vector(const struct loop_plan *q, const struct nest *t, const char **why)
{
    const struct problem *p = q->p;
    for (int i = 0; i < t->n; i++)
        if (t->loop[i].marks & MARK_VECTORIZE) {
            if (vector_cost(p, t->loop[i].var, q->lanes) >= 0 && may_be_vector(p, t->loop[i].var, false))
                return t->loop[i].var;
            *why = p->sign ? "of signed bytes columns are in the vectors" :
                   "the vector variable is not in C and an input or in both inputs, or strides over a window";
            return -1;
        }
    int best = -1;
    for (int v = 0; v < p->nvar; v++) {
        if (!may_be_vector(p, v, q->target->tiles)) continue;
        double c = vector_cost(p, v, q->lanes);
        if (c >= 0 && (best < 0 || c < vector_cost(p, best, q->lanes))) best = v;
    }
    if (best < 0) *why = "no variable of C can be in the vectors";
    return best;
}

static bool halves(const struct problem *p, int t) { return t != TENSOR_C && p->store >= STORE_F16; }

/* where a mark has input t packed: sets its depth */
static const char *read_marks(struct plan_walk *w, const struct nest *n)
{
    for (int t = 0; t < 2; t++)
        for (int d = 0; d < n->n; d++) {
            if (!(n->loop[d].marks & (t == TENSOR_A ? MARK_PACK_A : MARK_PACK_B))) continue;
            if (!access_plain(w->q->p, t)) return "an input that is read in windows cannot be packed";
            if (w->q->part[0].both) return "both inputs are read as vectors, none of them can be packed";
            w->depth[t] = d + 1;
            w->marked[t] = true;
        }
    return NULL;
}

/* B that stays from call to call is packed once for all: of narrow types, or where the problem says so and rows of its
 * last dimension, as carry_pack reads them, are of the vectors' variable alone */
static bool weights(const struct loop_plan *q)
{
    const struct plan_part *x = &q->part[0];
    return q->p->weights && x->held == BASE_B && !x->both && access_plain(q->p, TENSOR_B) &&
           (q->p->group > 1 ||
            (q->p->stride[TENSOR_B][x->vec] == 1 && q->p->row[TENSOR_B] == q->p->size[x->vec]));
}

static void changed(struct loop_plan *q, int t, int64_t elements, bool moved)
{
    *(moved ? &q->before_moved : &q->before_copied) += (double)elements;
    if (!near(q, elements)) q->before_far += (double)elements;
    q->scratch[t] = elements * q->p->bytes;
}

/* a tensor whose vector variable is not the fastest: whole, before the nest, or block by block inside of it */
static void transpose(struct plan_walk *w, int t, int64_t stride[NEST_VARS])
{
    struct loop_plan *q = w->q;
    struct transposition *c = &q->before[t];
    int depth = t == TENSOR_C || q->ask.whole ? 0 : pack_depth(w, t);
    if (q->split >= 0 && depth > q->split) depth = q->split;
    if (t != TENSOR_C) {
        if (!q->ask.whole && w->marked[t]) depth = w->depth[t], w->marked[t] = false;
        w->depth[t] = depth ? depth : -1;
    }
    pack_lay(c, q->p, t, q->part[0].vec, 0, q->p->size, q->seen[t]);
    c->needed = !depth;
    if (depth) return;
    memcpy(stride, q->seen[t], sizeof q->seen[t]);
    changed(q, t, q->p->elements[t], true);
    q->scratch[t] = c->elements * q->p->bytes;
}

/* is the held input small, and made floats by so many tiles that it is better done once? */
static bool read_often(const struct loop_plan *q)
{
    enum { OFTEN = 64 };
    const int t = (int)q->part[0].held;
    int64_t rows = 1;
    for (int v = 0; v < q->p->nvar; v++)
        if (q->p->stride[TENSOR_C][v] && !q->p->stride[t][v]) rows *= q->p->size[v];
    return rows >= OFTEN && near(q, q->p->elements[t]);
}

static void lay_out(struct plan_walk *w, int t, const int64_t dense[NEST_VARS])
{
    struct loop_plan *q = w->q;
    const struct problem *p = q->p;
    const struct plan_part *x = &q->part[0];
    struct transposition *c = &q->before[t];
    struct plan_view *view = &q->view[t];
    int64_t stride[NEST_VARS];
    const bool half = halves(p, t);
    *c = (struct transposition){ .change = { .wide = q->target->bytes == 64, .store = access_store(q, t, half) } };
    *view = (struct plan_view){ 0 };
    memcpy(stride, p->stride[t], sizeof stride);
    memcpy(q->seen[t], (q->groups.each ? q->groups.of : p)->stride[t], sizeof stride);
    if (t == TENSOR_B && q->groups.each) {
        c->needed = true;
        c->change = q->groups.weights;
        c->change.wide = q->target->bytes == 64;
        changed(q, t, p->elements[t], true);
    } else if (t == TENSOR_B && q->given) {
        pack_weights(w);
        return;
    }
    if (t == TENSOR_A && q->lies) {
        memcpy(stride, dense, sizeof stride);
    } else if (t == TENSOR_A && p->pad.n) {
        c->needed = true;
        changed(q, t, p->padded, false);
    } else if (access_transposed(q, t)) {
        transpose(w, t, stride);
        view->half = half && !c->needed;
    } else if (t != TENSOR_C && w->marked[t]) {
        view->half = half;
    } else if (half && p->store <= STORE_BF16 && q->target->halves &&
               (x->lanes || (t == (int)x->held && !x->both && !read_often(q)))) {
        view->half = true;                               /* they become floats as they are loaded */
    } else if (half || access_raised(q, t)) {
        c->needed = true;
        c->change.nvar = 1;
        c->change.size[0] = (int32_t)p->elements[t];
        c->change.from[0] = c->change.to[0] = 1;
        changed(q, t, p->elements[t], false);
    }
    for (int v = 0; v < p->nvar; v++) view->stride[v] = stride[v] * (view->half ? problem_bytes(p, t) : p->bytes);
}

static const char *choose_roles(struct loop_plan *q, const struct nest *n)
{
    struct plan_part *x = &q->part[0];
    const struct problem *p = q->p;
    const char *why = NULL;
    x->vec = choose_vector(q, n, &why);
    if (why) return why;
    x->lanes = p->reduced[x->vec];
    x->both = p->stride[TENSOR_A][x->vec] && p->stride[TENSOR_B][x->vec];
    x->held = p->stride[TENSOR_A][x->vec] && !x->both ? BASE_A : BASE_B;
    if (x->both && p->type == TYPE_U8S8) x->held = BASE_A;               /* the unsigned one is held */
    x->cast = x->held == BASE_A ? BASE_B : BASE_A;
    return q->target->tiles ? amx_choose(x) : NULL;
}

/* what bias and residual are beside C, which has its views by now */
static void lay_more(struct loop_plan *q)
{
    const struct problem *p = q->p;
    for (int b = BASE_BIAS; b < BASES; b++)
        if (b != BASE_GROUP || !p->q4) q->view[b] = (struct plan_view){ 0 };
    for (int v = 0; v < p->nvar; v++) {
        if (q->simple && v == q->bias) q->view[BASE_BIAS].stride[v] = p->bytes;
        if (q->simple && problem_then(p, THEN_RESIDUAL)) q->view[BASE_RESIDUAL].stride[v] = q->view[BASE_C].stride[v];
        if (p->pair)                                     /* of pairs a step is half a row of them */
            q->view[BASE_SECOND].stride[v] = p->stride[TENSOR_V][v] * (q->pairs && v == p->along ? 2 : 4);
    }
    q->nview = BASES;
}

const char *access_choose(struct plan_walk *w, const struct nest *n)
{
    struct loop_plan *q = w->q;
    const struct problem *p = q->p;
    int64_t dense[NEST_VARS] = { 0 };
    if (p->op != OP_FMA) return "only sums of products have code";
    if (p->group > 1 && !q->target->narrow) return "this type has code for AVX-512 alone";
    if (p->group == 1 && !p->pair && q->target->tiles) return "tiles of AMX are for bf16 and bytes alone";
    if (q->ask.add && problem_cast(p)) return "what is rounded to two bytes cannot be added to";
    if (q->ask.add && p->type == TYPE_U8S8 && p->then[0]) return "floats that were sums of bytes cannot be added to";
    q->part[0] = (struct plan_part){ .p = p, .loop = n->loop, .n = n->n };
    nest_inner(n->loop, n->n, q->part[0].inner);
    const char *why = p->pair ? chain_choose(w, n) : w->apart || !groups_choose(q, n) ? choose_roles(q, n) : NULL;
    for (int i = 1; i < 3 && p->pair && q->target->tiles && !why; i++) why = amx_choose(&q->part[i]);
    if (!why && !p->pair && !q->target->tiles) {
        bool can = rims_find(q, dense) && p->store < STORE_F16;
        q->lies = q->lies && can;
        if (q->ask.rough) q->nrim = 0;
    }
    if (!why) why = read_marks(w, n);
    for (int t = 0; t < 2 && p->pair; t++)
        if (w->depth[t] > q->split) w->depth[t] = q->split;
    p = q->p;
    q->given = !why && weights(q);
    return !why && p->q4 && !q->given ? "columns of weights of 4 bits are in the vectors" : why;
}

void access_lay(struct plan_walk *w)
{
    struct loop_plan *q = w->q;
    int64_t dense[NEST_VARS] = { 0 };
    if (q->lies) {
        q->nrim = 0;
        rims_find(q, dense);
        if (q->ask.rough) q->nrim = 0;
    }
    memcpy(q->seen[TENSOR_V], q->p->stride[TENSOR_V], sizeof q->seen[TENSOR_V]);
    for (int t = 0; t < 3; t++) lay_out(w, t, dense);
    for (int t = 0; t < 2; t++) q->walked[t] = w->depth[t] >= 0;
    finish_choose(q);
    q->staged = q->target->tiles && q->simple;
    if (q->staged) q->scratch[3] = PLAN_TILES * TILE_BYTES;
    lay_more(q);
}

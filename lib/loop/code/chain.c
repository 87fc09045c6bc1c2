/* Two contractions: each block of S is one nest into scratch, then a function that travels along makes softmax or what
 * else lies between, then the block of C is a nest again.  The vectors are along S's rows in the first, along C's in
 * the second.  Softmax is made block by block: of each row of C the greatest element of S so far and the sum are kept,
 * and what was summed before is made less when a greater one comes (Milakov and Gimelshein 2018, Dao et al. 2022).  Of
 * attention stored as bf16 both are by the unit for bf16, where it is: what softmax makes of a block of S is rounded to
 * bf16 in its place, V is copied to pairs of rows before the nest.  Odd head sizes and blocks of S that begin with an
 * odd column are computed in floats.  Where AMX is, both are tiles of it. */
#include "loop/code/walk.h"
#include <string.h>

enum { MAX_BLOCK = 1 << 24 };

/* Can it be by the unit that multiplies pairs?  A and B have pairs where the first sum goes along what is fastest in
 * both and even; V is copied to pairs of rows before, so that blocks of S begin with even columns.  Then all of them
 * are problems of elements of 4 bytes. */
static bool take_pairs(struct loop_plan *q)
{
    struct problem *p = &q->paired;
    *p = *q->p;
    const int64_t rows = p->size[p->along], row = p->stride[TENSOR_V][p->along];
    const int64_t all = rows * row, some = (rows + 1) / 2 * row;         /* of V, before and after */
    const int step = problem_pairs(p);
    if (step < 0 || !q->target->halves) return false;
    for (int d = 0; d < q->split; d++)
        if (q->part[0].loop[d].var == p->along && q->part[0].inner[d] < rows && q->part[0].inner[d] % 2) return false;
    p->size[step] /= 2;
    for (int v = 0; v < p->nvar; v++) {
        int64_t *s = &p->stride[TENSOR_V][v];
        if (*s > row) *s = *s / all * some;
        for (int t = TENSOR_A; t <= TENSOR_B && v != step; t++) p->stride[t][v] /= 2;
    }
    for (int t = TENSOR_A; t <= TENSOR_B; t++) p->elements[t] /= 2;
    p->elements[TENSOR_V] = p->elements[TENSOR_V] / all * some;
    p->store = STORE_FLOATS;
    q->p = q->part[0].p = p;
    q->step = step;
    q->type = CARRY_BF16;
    return true;
}

/* strides of a block of S as the common loops leave it: the columns first, then rows */
static const char *lay_scores(struct loop_plan *q)
{
    const struct problem *p = q->p;
    int32_t e[NEST_VARS];
    int64_t step = 1;
    memcpy(e, p->size, sizeof e);
    for (int d = 0; d < q->split; d++)
        if (q->part[0].inner[d] < e[q->part[0].loop[d].var]) e[q->part[0].loop[d].var] = q->part[0].inner[d];
    for (int v = p->nvar; v-- > -1; ) {
        int u = v == p->nvar - 1 ? p->along : v + 1;
        if (v < p->nvar - 1 && u == p->along) continue;
        if (u != p->along && (!p->stride[TENSOR_C][u] || u == p->last)) continue;
        q->s_stride[u] = step;
        step *= e[u];
        if (u == p->along) step = (step + 15) & ~(int64_t)15;
        if (u == p->along && step % 512 == 0) step += 16;
        if (step > MAX_BLOCK) return "a block of the first contraction's result has more than 64 MiB";
    }
    q->s_elements = step;
    return NULL;
}

/* one of the two as a problem and loops of its own */
static void make_side(struct loop_plan *q, int i)
{
    const struct problem *p = q->p;
    const struct plan_part *outer = &q->part[0];
    struct problem *x = &q->side[i];
    struct plan_part *side = &q->part[1 + i];
    *x = *p;
    x->pair = false;
    memset(x->stride, 0, sizeof x->stride);
    *side = (struct plan_part){ .p = x, .loop = q->side_loop[i], .vec = i ? p->last : p->along, .held = BASE_B,
                           .cast = BASE_A };
    for (int v = 0; v < p->nvar; v++) {
        x->stride[TENSOR_A][v] = i ? q->s_stride[v] : p->stride[TENSOR_A][v];
        x->stride[TENSOR_B][v] = p->stride[i ? TENSOR_V : TENSOR_B][v];
        x->stride[TENSOR_C][v] = i ? p->stride[TENSOR_C][v] : q->s_stride[v];
        x->reduced[v] = (x->stride[TENSOR_A][v] || x->stride[TENSOR_B][v]) && !x->stride[TENSOR_C][v];
    }
    if (i && q->pairs) x->size[p->along] = (p->size[p->along] + 1) / 2;
    x->elements[TENSOR_A] = i ? q->s_elements : p->elements[TENSOR_A];
    x->elements[TENSOR_B] = p->elements[i ? TENSOR_V : TENSOR_B];
    x->elements[TENSOR_C] = i ? p->elements[TENSOR_C] : q->s_elements;
    for (int d = q->split; d < outer->n; d++) {
        int v = outer->loop[d].var;
        if (!x->stride[TENSOR_A][v] && !x->stride[TENSOR_B][v]) continue;
        bool half = q->pairs && v == (i ? p->along : q->step);
        side->inner[side->n] = half ? (outer->inner[d] + 1) / 2 : outer->inner[d];
        q->side_loop[i][side->n++] = outer->loop[d];
    }
}

static bool unit_here(void)                              /* asked once: a virtual machine takes long */
{
    static _Atomic int have = -1;
    if (have < 0) have = carry_cpu();
    return have & CARRY_AVX512BF16;
}

const char *chain_choose(struct plan_walk *w, const struct nest *n)
{
    struct loop_plan *q = w->q;
    const bool tiles = q->target->tiles;
    const bool unit = tiles || (q->ask.unit == UNIT_HERE ? unit_here() : q->ask.unit == UNIT_ALWAYS);
    const enum problem_store store = q->p->store;
    q->split = nest_split(q->p, n);
    q->pairs = unit && take_pairs(q);
    if (tiles && !q->pairs) return "blocks of scores are not of pairs, which tiles of AMX multiply";
    const char *why = lay_scores(q);
    if (why) return why;
    for (int i = 0; i < 2; i++) make_side(q, i);
    q->part[0].vec = q->p->along;
    q->part[0].held = BASE_B;
    q->part[0].cast = BASE_A;
    struct carry_kernel k = { .nvar = q->p->nvar, .last = q->p->last };  /* rows of softmax: what it asks of them */
    memcpy(k.size, q->p->size, sizeof k.size);
    memcpy(k.stride, q->p->stride, sizeof k.stride);
    memcpy(k.elements, q->p->elements, sizeof k.elements);
    k.then[0] = q->p->mid[0] ? CARRY_SOFTMAX : 0;
    const int64_t s = q->s_elements + carry_rows(&k), v = store >= STORE_F16 ? q->p->elements[TENSOR_V] : 0;
    q->second_at = v ? (s + 15) & ~(int64_t)15 : 0;
    q->scratch[3] = 4 * (v ? q->second_at + v : s);
    return NULL;
}

/* before the block of S is made: the call between, and what is skipped where it is masked */
struct chain_block chain_begin(struct plan_walk *w, const int32_t *e, bool first)
{
    struct loop_plan *q = w->q;
    const struct problem *p = q->p;
    struct carry_change c = { .wide = q->target->bytes == 64, .edge = first,
                              .store = q->pairs ? CARRY_HALVES_BF16 : CARRY_FLOATS };
    double n = e[p->along];
    for (int v = 0; v < p->nvar; v++) {
        if (!q->s_stride[v] || v == p->along) continue;
        c.size[c.nvar] = e[v];
        c.from[c.nvar] = q->s_stride[v];
        c.to[c.nvar++] = p->stride[TENSOR_C][v];
        n *= e[v];
    }
    c.size[c.nvar] = e[p->along], c.from[c.nvar++] = 1;
    c.size[c.nvar] = e[p->last], c.to[c.nvar++] = 1;
    struct chain_block x = { .change = walk_change(w, &c, n, false), .skip = -1, .hold = { -1, -1 } };
    if (p->query >= 0 && !first) {                       /* the first block of a row has a column that it sees */
        x.skip = q->n;
        walk_node(w, NODE_SKIP, x.change)->base = BASE_C;
    }
    return x;
}

void chain_extents(const struct loop_plan *q, int i, const int32_t *e, int32_t *block)
{
    const struct problem *p = q->p, *side = &q->side[i];
    for (int v = 0; v < p->nvar; v++) {
        bool in = side->stride[TENSOR_A][v] || side->stride[TENSOR_B][v];
        block[v] = !in ? 1 : i && q->pairs && v == p->along ? (e[v] + 1) / 2 : e[v];
    }
}

/* where the nest of side i is walked, on the present block */
struct plan_walk chain_side(struct plan_walk *w, struct chain_block *x, int i, const int32_t *e, int32_t *block)
{
    struct loop_plan *q = w->q;
    const struct problem *p = q->p;
    struct plan_view scores, second;
    x->hold[0] = walk_hold(w, i ? BASE_A : BASE_C, 2);
    if (i) x->hold[1] = walk_hold(w, BASE_B, HOLD_SECOND);
    struct plan_walk s = *w;
    memset(&scores, 0, sizeof scores);
    memset(&second, 0, sizeof second);
    s.of = &q->part[1 + i];
    s.depth[0] = s.depth[1] = -1;
    s.marked[0] = s.marked[1] = false;
    s.finish = false;
    s.now[BASE_SECOND] = -1;                             /* outside of both it moves */
    chain_extents(q, i, e, block);
    for (int v = 0; v < p->nvar; v++) {
        scores.stride[v] = q->s_stride[v] * 4;
        second.stride[v] = p->stride[TENSOR_V][v] * 4;
    }
    s.now[i ? TENSOR_A : TENSOR_C] = walk_view(w, &scores);
    if (!i) return s;
    s.now[TENSOR_B] = walk_view(w, &second);
    s.packed[0] = s.packed[1] = false;
    return s;
}

void chain_end(struct plan_walk *w, const struct chain_block *x, int i)
{
    const struct problem *p = w->q->p;
    if (i) {
        walk_shut_moved(w, x->hold[1], BASE_B);
        walk_shut_moved(w, x->hold[0], BASE_A);
        walk_shut(w, x->skip);
        return;
    }
    walk_shut_moved(w, x->hold[0], BASE_C);
    if (!p->mid[0] && p->mid_scale == 1) return;
    struct walk_node *call = walk_node(w, NODE_CALL, x->change);
    call->call = CALL_BETWEEN;
    call->base = BASE_C;
}

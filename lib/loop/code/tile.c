/* The register tile: which blocks of C fit, the bodies of its sum and the loops around them. */
#include "loop/code/walk.h"
#include "loop/code/machine.h"
#include "base/checked.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { BODY_MACS = 320, MAX_UNROLL = 16, MARKED_MACS = 4000 };       /* as measured on Zen 5 */
enum { APART_STEPS = 4 };                                /* likewise on Xeons, where 16 are as slow as one */
enum { LATE_STEPS = 32, AHEAD_STEPS = 16, AHEAD_ROW = 1024, AHEAD_ELEMENTS = 1 << 14 };
enum { CHAINS = 8, FAR_AHEAD = 6144, FAR_LEAST = 768, AHEAD_MOST = 1 << 30 };
enum { SOME_WAYS = 3 };                                  /* of the first cache, which has 8 or 12 */

/* ---- where its rows and vectors are ---- */

const struct plan_view *tile_view(const struct loop_plan *q, const struct tile *x, int base)
{
    return &q->view[base <= BASE_C ? x->view[base] : base];
}

int64_t tile_vector(const struct loop_plan *q, const struct tile *x, int base, int j)
{
    const struct plan_view *y = tile_view(q, x, base);
    const int32_t lane = x->at[1] + j * q->lanes, bytes = y->half ? 2 : q->p->bytes;
    if (base == BASE_BIAS && q->bias != q->part[0].vec) return 0;
    return y->panel ? lane / y->panel * y->panel_bytes + lane % y->panel * bytes : (int64_t)lane * bytes;
}

static int amx_rows(const struct loop_plan *q, const struct tile *x, struct tile_row *row)
{
    const int v = q->part[x->part].row;
    for (int i = 0; i < x->nrow; i++) {
        row[i] = (struct tile_row){ 0 };
        for (int b = 0; b <= BASE_C; b++)
            if (b != BASE_B) row[i].at[b] = (x->at[0] + i * TILE_SIDE) * tile_view(q, x, b)->stride[v];
    }
    return x->nrow;
}

/* what moves in the held input is slowest, so that equal vector addresses are together */
int tile_rows(const struct loop_plan *q, const struct tile *x, struct tile_row *row)
{
    const struct plan_part *of = &q->part[x->part];
    const int64_t *held = tile_view(q, x, of->held)->stride;
    int n = 1;
    if (x->shape.rows) return amx_rows(q, x, row);
    row[0] = (struct tile_row){ 0 };
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < of->p->nvar; v++) {
            const int e = x->e[v];
            int64_t stride[BASE_SECOND];
            if (v == of->vec || e < 2 || (held[v] != 0) != (pass == 0)) continue;
            for (int b = 0; b < BASE_SECOND; b++) stride[b] = tile_view(q, x, b)->stride[v];
            for (int i = n; i-- > 0; )                   /* from behind: in place */
                for (int s = e; s-- > 0; ) {
                    struct tile_row *to = &row[i * e + s];
                    *to = row[i];
                    for (int b = 0; b < BASE_SECOND; b++) to->at[b] += s * stride[b];
                    for (int k = 0; k < q->nrim; k++) to->rim[k] += s * q->rim[k].step[v];
                }
            n *= e;
        }
    return n;
}

/* ---- the sum ---- */

static void body(struct plan_walk *w, const struct tile *t, const struct rim_rows *row, const struct tile_sum *r,
                 int nr, int32_t n)
{
    struct loop_plan *q = w->q;
    int32_t steps = 1, i[NEST_VARS] = { 0 };
    struct walk_node *x = walk_node(w, NODE_BODY, -1);
    x->nvar = (uint8_t)nr;
    x->rest = t->tail < 0;
    for (int k = 0; k < nr; k++) x->var[k] = (uint8_t)r[k].var, x->times[k] = k ? r[k].n : n, steps *= x->times[k];
    if (!q->nrim) return;
    struct plan_range all = w->at;
    for (int k = 0; k < nr; k++) all.high[r[k].var] += (x->times[k] - 1) * r[k].unit;
    if (rims_inside(q, &all, row)) return;
    if (q->nout + steps > q->most_out) {
        size_t cap = (size_t)q->most_out;
        q->out = grow(q->out, size_add((size_t)q->nout, (size_t)steps), &cap, sizeof *q->out);
        q->most_out = (int)cap;
    }
    x->n = q->nout;
    bool again = true;                                   /* has a variable moved that moves a rim? */
    for (int32_t s = 0; s < steps; s++) {
        for (int k = 0; k < nr && again; k++) walk_shift(w, r[k].var, i[k] * r[k].unit, 1, 0);
        q->out[q->nout] = again ? rims_out(q, &w->at, row, &w->mixed) : q->out[q->nout - 1];
        for (int k = 0; k < nr && again; k++) walk_shift(w, r[k].var, -i[k] * r[k].unit, 1, 0);
        q->nout++;
        again = false;
        for (int k = nr; k-- > 0; i[k] = 0) {
            again |= rims_move(q, r[k].var);
            if (++i[k] < x->times[k]) break;
        }
    }
    if (w->mixed && q->lies) w->why = "A has to be copied with its zeros";      /* and is: see plan.c */
}

/* How many steps of the first of these leave out the same rows, each by itself and all as one place; `all`: all rows.
 * (That no one is found mixed here is found in their bodies.) */
static int32_t same_rows(struct plan_walk *w, const struct tile *t, const struct rim_rows *row,
                         const struct tile_sum *r, int nr, int32_t at, bool *all)
{
    const struct plan_range keep = w->at;
    bool no = true;
    int32_t n = 1;
    *all = false;
    if (!rims_move(w->q, r->var)) return r->n - at;
    for (int k = 1; k < nr; k++) w->at.high[r[k].var] += (r[k].n - 1) * r[k].unit;
    walk_shift(w, r->var, at * r->unit, 1, 0);
    struct plan_range rest = w->at;
    rest.high[r->var] += (r->n - at - 1) * r->unit;
    if (rims_inside(w->q, &rest, row)) {
        w->at = keep;
        return r->n - at;
    }
    const uint32_t out = rims_out(w->q, &w->at, row, &no);
    *all = out == (uint32_t)((1ull << t->nrow) - 1);
    for (; at + n < r->n; n++) {
        struct plan_range one = w->at, together = w->at;
        one.low[r->var] += n * r->unit, one.high[r->var] += n * r->unit, together.high[r->var] += n * r->unit;
        if (rims_out(w->q, &one, row, &no) != out || rims_out(w->q, &together, row, &no) != out)
            break;
    }
    w->at = keep;
    return n;
}

/* counted loops around bodies of at most so many steps */
void tile_sums(struct plan_walk *w, struct tile *t, const struct rim_rows *row, const struct tile_sum *r, int nr,
               int64_t budget)
{
    int64_t inside = 1;
    const int v = r[0].var;
    const int32_t unit = r[0].unit;
    int32_t here = 0;
    for (int i = 1; i < nr; i++) inside *= r[i].n;
    if (nr == 0 || inside * r[0].n <= budget) {
        body(w, t, row, r, nr, nr ? r[0].n : 1);
        return;
    }
    for (int32_t from = 0, n; from < r[0].n; from += n) {
        bool all;
        n = same_rows(w, t, row, r, nr, from, &all);
        if (all) continue;
        const int32_t unroll = inside > budget ? 1 : (int32_t)(budget / inside < n ? budget / inside : n);
        const int32_t times = n / unroll, rest = n % unroll;
        walk_move(w, v, (int64_t)(from - here) * unit, false);
        int at = walk_open(w, times);
        walk_shift(w, v, from * unit, times, unroll * unit);
        if (inside > budget) tile_sums(w, t, row, r + 1, nr - 1, budget);
        else body(w, t, row, r, nr, unroll);
        walk_shift(w, v, -from * unit, 2 - times, unroll * unit);
        walk_move(w, v, (int64_t)unroll * unit, false);
        walk_shut(w, at);
        here = from + times * unroll;
        walk_shift(w, v, here * unit, 1, 0);
        if (rest) body(w, t, row, r, nr, rest);
        walk_shift(w, v, -here * unit, 1, 0);
    }
    walk_move(w, v, -(int64_t)here * unit, false);
}

/* the vector variable is the innermost of nr + 1 reductions: whole vectors of it, then what is left with a mask */
static void lanes_of_sum(struct plan_walk *w, struct tile *t, const struct rim_rows *row, struct tile_sum *r, int nr,
                         int64_t budget, int32_t n)
{
    const int v = w->of->vec;
    const int32_t whole = n / w->q->lanes;
    const int16_t tail = t->tail;
    t->tail = 0;
    if (whole) {
        r[nr] = (struct tile_sum){ v, whole, w->q->lanes };
        tile_sums(w, t, row, r, nr + 1, budget);
    }
    if (!tail) return;
    t->tail = -1;                                        /* bodies of the rest */
    walk_move(w, v, (int64_t)whole * w->q->lanes, false);
    tile_sums(w, t, row, r, nr, budget);
    walk_move(w, v, -(int64_t)whole * w->q->lanes, false);
}

int tile_reductions(const struct plan_walk *w, int depth, const int32_t *e, struct tile_sum *r, bool *unroll)
{
    const struct plan_part *of = w->of;
    unsigned seen = 0;
    int n = 0;
    *unroll = false;
    for (int d = depth; d < of->n; d++) {
        int v = of->loop[d].var;
        if (!of->p->reduced[v]) continue;
        *unroll |= (of->loop[d].marks & MARK_UNROLL) != 0;
        if (!(seen >> v & 1) && e[v] > 1 && v != of->vec) r[n++] = (struct tile_sum){ v, e[v], 1 };
        seen |= 1u << v;
    }
    return n;
}

/* prefetchers begin anew with each row, which may be as short as a page */
static int32_t lines_ahead(const struct plan_walk *w, int rows)
{
    if (tile_streams(w, w->of->held) != 1) return 0;
    return FAR_AHEAD / rows > FAR_LEAST ? FAR_AHEAD / rows : FAR_LEAST;
}

/* Of rows so far apart so many are asked for: of those that fall into the same sets of the first cache some, or they
 * would drive each other out before use */
static int32_t steps_ahead(int64_t stride)
{
    const int64_t apart = stride & -stride, way = (int64_t)machine_here()->cache[0].way;
    const int64_t steps = SOME_WAYS * (apart < way ? way / apart : 1);
    return (int32_t)(steps < AHEAD_STEPS ? steps : AHEAD_STEPS);
}

/* Rows of vectors that lie far apart are asked for before they are needed: prefetchers of processors lose them.
 * The next is enough where its panel has been asked for.  Not for one row of C, which waits for memory alone: what is
 * asked for twice comes later, if it is on the same page */
static int32_t rows_ahead(const struct plan_walk *w, const struct tile *t, const struct tile_sum *r)
{
    const int held = (int)w->of->held;
    const struct plan_view *x = &w->q->view[w->now[held]];
    bool far = !w->packed[held] && x->stride[r->var] >= (t->nrow > 1 ? AHEAD_ROW : 4 * AHEAD_ROW) &&
               w->of->p->elements[held] > AHEAD_ELEMENTS;
    if (!far || r->n < 2 * AHEAD_STEPS) return 0;
    return (int32_t)(x->stride[r->var] * (w->asked || t->next ? 1 : steps_ahead(x->stride[r->var])));
}

int tile_lines(const struct plan_walk *w, const int32_t *e)
{
    const bool half = w->q->view[w->now[w->of->held]].half;
    int nv;
    tile_block_rows(w, e, &nv);
    return (nv * w->q->lanes * (half ? 2 : w->of->p->bytes) + PLAN_LINE - 1) / PLAN_LINE;
}

/* Where few tiles use a panel asking costs 5 % when the third cache is ours alone (8 x 3072 x 768, Zen 5), and gains a
 * third when others use it: it is done if no rows can be asked for in time, and the panel stays in the second cache */
bool tile_asks(const struct plan_walk *w, int depth, const int32_t *e, bool few)
{
    const struct plan_part *of = w->of;
    const struct problem *p = w->q->p;
    const int held = (int)of->held;
    const bool copied = w->packed[held] && !(held == TENSOR_B && w->q->given);
    if (copied || of->lanes || of->both || w->q->target->tiles || p->pair || p->q4 || !w->panel) return false;
    if (!tile_far(w, of->held, machine_here()->cache[2].bytes / 4)) return false;      /* others use it, too */
    if (!few) return true;
    struct tile_sum r[NEST_VARS + 1];
    bool unroll;
    int nv, nr = tile_reductions(w, depth, e, r, &unroll);
    if (!nr || tile_block_rows(w, e, &nv) == 1) return false;
    double bytes = tile_lines(w, e) * PLAN_LINE;
    for (int i = 0; i < nr; i++) bytes *= r[i].n;
    const int64_t stride = w->q->view[w->now[held]].stride[r[nr - 1].var];
    return stride >= AHEAD_ROW && steps_ahead(stride) < AHEAD_STEPS && bytes <= machine_here()->cache[1].bytes / 2;
}

/* registers: accumulators, what is held, broadcasts */
static void assign(const struct target *t, struct tile *x, bool q4)
{
    const int more = q4 ? x->nv + (t->memory_masked ? 1 : x->tail ? 2 : 0) : x->tail && !t->memory_masked;
    const int n = x->nrow * x->nv * x->chains, top = t->registers - more;
    x->hold = x->nv <= top - n - 1 ? x->nv : 1;
    x->casts = (int16_t)(top - n - x->hold);
}

/* Of sums along lanes all vectors of the held input are held, where each of the other is multiplied by all of them: it
 * is loaded once */
static void hold_all(const struct plan_walk *w, struct tile *x)
{
    const struct plan_part *of = w->of;
    int32_t held = 1;
    for (int v = 0; v < of->p->nvar; v++) {
        if (of->p->reduced[v] || x->e[v] < 2 || !w->q->view[w->now[of->held]].stride[v]) continue;
        if (w->q->view[w->now[of->cast]].stride[v]) return;
        held *= x->e[v];
    }
    if (!w->q->nrim && x->nrow * x->chains + held < w->q->target->registers - (x->tail > 0)) x->hold = (int16_t)held;
}

/* Few sums along lanes would wait for their own last step: each has some accumulators, in turn */
static void spread_sums(const struct plan_walk *w, struct tile *x, double steps)
{
    const int most = x->lanes ? w->q->target->registers / 4 : 0;
    x->chains = 1;
    while (x->nrow * x->chains < CHAINS && x->nrow * x->chains <= most && x->chains * CHAINS <= steps) x->chains *= 2;
}

static void start(const struct plan_walk *w, struct tile *x, double steps, bool first)
{
    const bool sums = first && w->q->view[w->now[TENSOR_B]].sums > 0 && w->of->held == BASE_B;
    x->start = sums ? START_SUMS : first ? START_ZERO : START_LOAD;
    x->late = (!first && steps >= LATE_STEPS && !x->lanes) || (sums && w->q->ask.add);
    if (x->lanes) x->add = !first, x->start = START_ZERO;
    else if (x->late && !sums) x->start = START_ZERO;
}

void tile_put(struct plan_walk *w, int depth, const int32_t *e, bool first, bool last)
{
    struct loop_plan *q = w->q;
    const struct plan_part *of = w->of;
    struct tile x;
    struct tile_sum r[NEST_VARS + 1];
    struct tile_row row[PLAN_ROWS];
    bool unroll, any = false;
    double steps = 1;
    int nv, nr = tile_reductions(w, depth, e, r, &unroll);
    memset(&x, 0, sizeof x);
    for (int v = 0; v < of->p->nvar; v++) x.e[v] = of->p->reduced[v] ? 1 : e[v], steps *= of->p->reduced[v] ? e[v] : 1;
    for (int b = 0; b < 3; b++) x.view[b] = (uint8_t)w->now[b];
    x.part = (uint8_t)(of - q->part);
    x.lanes = of->lanes;
    x.nrow = (int16_t)tile_block_rows(w, e, &nv);
    x.nv = (int16_t)nv;
    x.tail = (int16_t)(e[of->vec] % q->lanes);
    x.last = last;
    spread_sums(w, &x, steps / q->lanes);
    assign(q->target, &x, q->p->q4);
    if (x.lanes && !q->p->q4) hold_all(w, &x);
    start(w, &x, steps, first);
    const bool alone = !w->asked && of->p->elements[TENSOR_C] == x.nrow * (int64_t)of->p->size[of->vec];
    const int64_t next = alone && tile_asks(w, depth, e, true) ? w->panel : w->line;
    if (next && llabs(next) < AHEAD_MOST)
        x.next = (int32_t)next, x.lines = (int16_t)(alone ? tile_lines(w, e) : w->lines);
    if (x.lanes) x.ahead = lines_ahead(w, x.nrow);
    else if (nr) x.ahead = rows_ahead(w, &x, &r[nr - 1]);
    const int n = x.nrow * x.nv;
    if (n > q->rows * q->vectors) q->rows = x.nrow, q->vectors = x.nv;
    int64_t budget = BODY_MACS / n < MAX_UNROLL ? BODY_MACS / n : MAX_UNROLL;
    /* prefetchers follow a load from row to row, some of them a few: the search tries both */
    if (x.ahead && !x.lanes) budget = unroll ? APART_STEPS : 1;
    else if (unroll) budget = MARKED_MACS / n;
    if (q->p->q4) budget /= Q4_STEPS;
    if (budget < 1) budget = 1;
    if (q->groups.each) w->why = groups_order(w, e, r, nr, &budget);
    if (w->why) return;
    const int at = q->n;
    walk_node(w, NODE_TILE, tile_number(q, &x));
    struct rim_rows rows;                                /* where there are rims */
    if (q->nrim) rims_rows(&rows, q, row, tile_rows(q, &x, row));
    struct tile now = x;
    if (x.lanes) lanes_of_sum(w, &now, &rows, r, nr, budget, e[of->vec]);
    else tile_sums(w, &now, &rows, r, nr, budget);
    for (int i = at; i < q->n; i++)
        any |= q->node[i].kind == NODE_BODY;
    if (!any && !first && !last) {                       /* it would only add zeros */
        q->n = at;
        return;
    }
    walk_shut_moved(w, at, -1);
}

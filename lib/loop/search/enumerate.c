/* The analytic search's nests: a register tile, an order of the loops around it, a cut of the reduction, packings.
 * Each is chosen by the model among all that the best ones of the step before lead to, so that a problem takes some
 * thousand plans whatever its size; see candidate.h. */
#include "loop/search/candidate.h"
#include "loop/code/machine.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 800, CUTS = 600, PACKS = 300, EXACTLY = 32 };      /* so many lead to more; are ranked again, */
enum { NODES = 25, EXACT_NODES = 350 };                  /* unmeasured, with so many nodes in a plan, or fewer */
enum { PACK_FROM = 8192 };                               /* elements of an input, for which it may be worth while */

struct choice {
    struct candidate c;
    int8_t vec, nv, row[2], order[NEST_VARS], outer;     /* vector variable, vectors of the tile; variables of its rows;
                                                            loops outside of it */
    int32_t rows[2];                                     /* extents of these */
    double near;                                         /* cycles if all were in the first cache */
    enum decision { TILE, ORDER, CUT, PACK } step;       /* the last one that made it */
    bool ordered;                                        /* it has led to all orders */
};

struct maker {
    const struct search *s;
    const struct problem *p;                             /* groups of channels side by side; in pieces they are not */
    struct plan_groups groups;
    int lanes, nacc, own;                                /* own: what plans have in vectors unless told; -1: unknown */
    enum decision step;
    struct choice *x, now;
    size_t n, cap;
    int64_t nodes, most;                                 /* of all plans that were made; that may be */
};

static void keep(struct maker *m)
{
    struct nest t;
    struct model_terms x;
    struct candidate *c = &m->now.c;
    const bool mark = m->own >= 0 && m->now.vec != m->own && !m->p->pair;
    c->vec = mark ? m->now.vec : -1;
    if (!candidate_build(m->s->p, c, &t)) return;
    if (mark) candidate_vectorize(&t, c->vec);
    const struct plan_ask ask = { .isa = m->s->v->isa, .whole = m->s->v->prepared, .rough = m->p->pad.n > 0 };
    if (model_asked(&x, m->s->p, &t, &ask)) return;
    m->nodes += x.plan.nodes;
    if (!m->p->pair && m->own < 0) m->own = x.plan.vector_var;
    if (!m->p->pair && m->own != m->now.vec && c->vec < 0) {
        keep(m);                                         /* the first of all */
        return;
    }
    c->seconds = x.seconds;
    m->now.near = x.plan.cycles + x.packing;
    m->now.step = m->step;
    m->now.ordered = false;
    m->x = grow(m->x, m->n + 1, &m->cap, sizeof *m->x);
    m->x[m->n++] = m->now;
}

/* packings that are allowed, of inputs so large that it may be worth while */
static int may_pack(const struct maker *m)
{
    const uint32_t allowed = m->s->actions;
    int may = 0;
    if (allowed >> ACT_PACK_A & 1 && m->p->elements[TENSOR_A] >= PACK_FROM) may |= PACK_A_ONCE | PACK_A_TILE;
    if (allowed >> ACT_PACK_B & 1 && m->p->elements[TENSOR_B] >= PACK_FROM) may |= PACK_B_ONCE;
    return may;
}

static int32_t block_of(const struct choice *x, int v, int lanes)
{
    return v == x->vec ? x->nv * lanes : v == x->row[0] ? x->rows[0] : v == x->row[1] ? x->rows[1] : 1;
}

/* The widest block of x's innermost outer loop such that as many columns of B, or of A, as deep as kc stay in half of
 * the second cache; cut evenly, in whole tiles; 0: all do, or there are others outside. */
static int32_t wide(const struct maker *m, int32_t kc)
{
    const struct choice *x = &m->now;
    if (x->outer < 2 || !kc) return 0;
    const int v = x->order[x->outer - 1];
    const int32_t tile = block_of(x, v, m->lanes);
    const int32_t most = (int32_t)(machine_here()->cache[1].bytes / 2 / m->p->bytes / kc);
    const int32_t parts = most < tile ? 1 : (m->p->size[v] + most - 1) / most;
    return parts < 2 ? 0 : ((m->p->size[v] + parts - 1) / parts + tile - 1) / tile * tile;
}

static void add(struct maker *m, int v, int32_t block)
{
    struct candidate *c = &m->now.c;
    const struct plan_groups *g = &m->groups;
    if (g->each && v == g->group && block > 1) block = (block + g->each - 1) / g->each;
    c->piece[c->n++] = (struct loop_piece){ (int8_t)v, block };
}

/* The loops outside the tile as they are ordered, the outermost reduction cut to blocks of kc (0: not) outside of them,
 * or just inside the first of them; `across`: the innermost of them once more behind that, in blocks so wide; the
 * reductions inside, turned by one or not; the tile. */
static void with_cut(struct maker *m, const int *red, int nred, int32_t kc, bool inside, int turn, int32_t across)
{
    struct choice *x = &m->now;
    struct candidate *c = &x->c;
    *c = (struct candidate){ 0 };
    for (int i = 0; i <= x->outer; i++) {
        if (kc && i == inside) add(m, red[0], kc);
        if (across && i == inside) add(m, x->order[x->outer - 1], across);
        if (i < x->outer) add(m, x->order[i], block_of(x, x->order[i], m->lanes));
    }
    c->outer = c->n;
    for (int i = 0; i < nred; i++) add(m, red[(i + turn) % nred], 1);
    for (int i = 0; i < 2; i++)
        if (x->row[i] >= 0 && x->rows[i] > 1) add(m, x->row[i], 1);
    if (!m->p->reduced[x->vec]) add(m, x->vec, 1);
    if (m->groups.each) add(m, m->groups.column, 1);
    keep(m);
}

/* reductions, long ones first; *real: how many of them are longer than one */
static int reductions(const struct problem *p, int red[NEST_VARS], int *real)
{
    int n = 0;
    *real = 0;
    for (int long_ones = 1; long_ones >= 0; long_ones--)
        for (int i = 0; i < p->nvar; i++)
            if (p->reduced[p->order[i]] && (p->size[p->order[i]] > 1) == long_ones) {
                red[n++] = p->order[i];
                *real += long_ones;
            }
    return n;
}

enum { KINDS = 5, MIDDLE = 2 };
static void some_cuts(struct maker *m, int from, int to, bool all)
{
    static const int32_t cut[3][KINDS] = { { 0, 128, 256, 512, 1024 }, { 0, 32, 64, 128, 512 },
                                           { 0, 8, 32, 128, 512 } };
    int red[NEST_VARS], real, n = reductions(m->p, red, &real);
    for (int turn = 0; turn < (real > 1 && all ? 2 : 1); turn++)
        for (int i = from; i < to; i++) {
            int32_t kc = cut[real > 1 ? 1 : m->now.nv > 4 ? 2 : 0][i];
            if (kc && (!n || kc * 3 > m->p->size[red[0]] * 2)) continue; /* nothing to cut */
            const int32_t parts = kc ? (m->p->size[red[0]] + kc / 2) / kc : 0;
            if (kc) kc = (m->p->size[red[0]] + parts - 1) / parts;       /* evenly: no short rest at the end */
            const int32_t across = all && !turn ? wide(m, kc) : 0;
            if (i != MIDDLE || turn || !all) with_cut(m, red, n, kc, false, turn, 0);
            if (all && kc && m->now.outer > 1) with_cut(m, red, n, kc, true, turn, 0);
            if (across) with_cut(m, red, n, kc, false, turn, across);
        }
}

static void cuts(struct maker *m) { some_cuts(m, 0, KINDS, true); }

static void permute(struct maker *m, const int8_t *vars, int n, int k)
{
    if (k == n) {
        if (memcmp(vars, m->now.order, (size_t)n)) some_cuts(m, 0, 1, false);
        some_cuts(m, MIDDLE, MIDDLE + 1, false);
        /* rows of B far apart, or halves that each tile makes floats, may rule out all without */
        m->now.c.pack = (int8_t)(may_pack(m) & (m->p->store < STORE_F16 ? PACK_B_ONCE : PACK_A_ONCE | PACK_B_ONCE));
        if (m->now.c.pack) keep(m);
    }
    for (int i = 0; i < n && k < n; i++) {
        if (memchr(m->now.order, vars[i], (size_t)k)) continue;
        m->now.order[k] = vars[i];
        permute(m, vars, n, k + 1);
    }
}

/* the outermost of many keep their place */
static void orders(struct maker *m)
{
    int8_t vars[NEST_VARS];
    memcpy(vars, m->now.order, sizeof vars);
    permute(m, vars, m->now.outer, m->now.outer > 4 ? m->now.outer - 4 : 0);
}

static void packs(struct maker *m)
{
    const int may = may_pack(m);
    for (int pack = 1; pack < PACKINGS; pack++) {
        if ((pack & ~may) || (pack & 3) == 3) continue;
        m->now.c.pack = (int8_t)pack;
        keep(m);
    }
}

static int by_seconds(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return ORDER(x->c.seconds, y->c.seconds);
}

static int by_near(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return ORDER(x->near, y->near);
}

static bool same_start(const struct choice *x, const struct choice *y)       /* the tile and the order */
{
    return x->vec == y->vec && x->nv == y->nv && !memcmp(x->row, y->row, sizeof x->row) &&
           !memcmp(x->rows, y->rows, sizeof x->rows) && !memcmp(x->order, y->order, (size_t)x->outer);
}

static int64_t nodes_of(const struct maker *m, int n) { return m->s->measure > 1 ? INT32_MAX : n; }

/* what the best ones lead to by one more decision, each start once but for packings: so many; to learn from, more */
static void expand(struct maker *m, size_t most, int (*by)(const void *, const void *), enum decision step)
{
    if (!m->n) return;
    most *= m->s->spread ? 16 : m->s->measure > 1 ? 4 : 1;
    m->most += nodes_of(m, NODES) * (int64_t)most;
    const size_t all = m->n;
    size_t *led = xmalloc(all, sizeof *led), n = 0;
    qsort(m->x, m->n, sizeof *m->x, by);
    m->step = step;
    for (size_t i = 0; i < all && m->n - all < most && m->nodes < m->most; i++) {
        bool done = m->x[i].step >= step || (step == ORDER && (m->x[i].step != TILE || m->x[i].ordered));
        for (size_t k = 0; k < n && step != PACK; k++) done |= same_start(&m->x[i], &m->x[led[k]]);
        if (done) continue;
        led[n++] = i;
        m->x[i].ordered |= step == ORDER;
        m->now = m->x[i];
        step == ORDER ? orders(m) : step == CUT ? cuts(m) : packs(m);
    }
    free(led);
}

static void with_tile(struct maker *m)
{
    struct choice *x = &m->now;
    x->outer = 0;
    for (int i = 0; i < m->p->nvar; i++) {
        const int v = m->p->order[i];
        if (!m->p->reduced[v] && m->p->size[v] > block_of(x, v, m->lanes)) x->order[x->outer++] = (int8_t)v;
    }
    some_cuts(m, 0, 1, false);
}

static bool fits(const struct maker *m, int rows)
{
    int nv = m->now.nv, n = rows * nv, registers = m->nacc > 16 ? 32 : 16;
    return n <= m->nacc && (registers == 16 || nv > 4 || n + nv + 1 <= registers);
}

/* extents of a row variable worth trying: those that cut its size evenly, the largest of them, and a few plain ones */
static int extents(int32_t size, int most, int *e)
{
    int n = 0;
    if (most > size) most = size;
    for (int r = most; r >= 1; r--) {
        int parts = (size + r - 1) / r;
        bool even = (size + parts - 1) / parts == r;
        if (even || r == most || r % 4 == 0) e[n++] = r;
    }
    return n;
}

static void set_rows(struct choice *x, int a, int32_t ea, int b, int32_t eb)
{
    x->row[0] = (int8_t)a, x->rows[0] = ea;
    x->row[1] = (int8_t)b, x->rows[1] = eb;
}

/* tiles of AMX: two by two of them, four in a row or in a column, or less */
static void with_amx(struct maker *m)
{
    const struct problem *p = m->p;
    struct choice *x = &m->now;
    int32_t columns = (p->size[x->vec] + m->lanes - 1) / m->lanes;
    int row = -1;
    for (int v = 0; v < p->nvar; v++)                    /* the same as the encoder's */
        if (p->stride[TENSOR_A][v] && !p->stride[TENSOR_B][v] && p->stride[TENSOR_C][v] &&
            (row < 0 || p->size[v] > p->size[row])) row = v;
    if (row < 0) return;
    for (x->nv = 1; x->nv <= m->nacc && x->nv <= columns; x->nv = (int8_t)(x->nv * 2)) {
        int32_t rows = m->nacc / x->nv * m->lanes;
        set_rows(x, row, rows < p->size[row] ? rows : p->size[row], -1, 1);
        with_tile(m);
    }
}

/* may rows of a tile be along v? */
static bool may_row(const struct maker *m, int v)
{
    return !m->p->reduced[v] && v != m->now.vec && m->p->size[v] > 1;
}

static void with_rows(struct maker *m, int a, int b)
{
    const struct problem *p = m->p;
    struct choice *x = &m->now;
    int ea[64] = { 1 }, eb[64] = { 1 }, na = 1, nb = 1;
    if (a >= 0) na = extents(p->size[a], m->nacc / x->nv, ea);
    if (b >= 0) nb = extents(p->size[b], m->nacc / x->nv, eb);
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            int rows = ea[i] * eb[j];
            if (!fits(m, rows) || (b >= 0 && (ea[i] == 1 || eb[j] == 1))) continue;
            const int few = p->reduced[x->vec] ? 4 : m->nacc * 3 / 8;    /* along lanes: few streams from memory */
            if (rows * x->nv < few && a >= 0 && ea[i] < p->size[a]) continue;
            set_rows(x, a, ea[i], b, eb[j]);
            with_tile(m);
        }
}

static void with_vector(struct maker *m)
{
    const struct problem *p = m->p;
    struct choice *x = &m->now;
    double others = 1;                                   /* few of them leave registers for wider tiles */
    for (int v = 0; v < p->nvar; v++)
        if (!p->reduced[v] && v != x->vec) others *= p->size[v];
    int most = p->reduced[x->vec] ? 1 : (p->size[x->vec] + m->lanes - 1) / m->lanes;
    for (x->nv = 1; x->nv <= most && x->nv <= m->nacc; x->nv++) {
        if (x->nv > 4 && (x->nv * others > m->nacc || x->nv % 4)) continue;
        with_rows(m, -1, -1);
        for (int a = 0; a < p->nvar; a++)
            for (int b = -1; b < a; b++)
                if (may_row(m, a) && (b < 0 || may_row(m, b))) with_rows(m, a, b);
    }
}

/* Two contractions: blocks of rows and of columns of S outside, tiles of as many rows for both, as wide each.  S is
 * to stay in the second cache. */
static void with_pair(struct maker *m)
{
    static const int32_t heights[] = { 16, 32, 48, 64, 96, 128, 192, 256, 512 }, widths[] = { 64, 128, 256, 512, 1024 };
    enum { HEIGHTS = sizeof heights / sizeof *heights, WIDTHS = sizeof widths / sizeof *widths, S_MOST = 1 << 16 };
    const struct problem *p = m->p;
    int row = -1;
    for (int v = 0; v < p->nvar; v++)                    /* the longest of C's that B and V lack */
        if (p->stride[TENSOR_C][v] && p->stride[TENSOR_A][v] && !p->stride[TENSOR_B][v] && !p->stride[TENSOR_V][v] &&
            (row < 0 || p->size[v] > p->size[row])) row = v;
    for (m->now.nv = 1; m->now.nv <= 4; m->now.nv++) {
        const bool tiles = m->s->v->isa == ISA_AMX;
        int32_t rows = m->nacc / m->now.nv * (tiles ? m->lanes : 1);
        while (rows > 1 && !tiles && !fits(m, rows)) rows--;
        for (int i = 0; i <= HEIGHTS; i++)
            for (int j = 0; j <= WIDTHS; j++) {
                int32_t high = row < 0 ? 1 : i < HEIGHTS ? heights[i] : p->size[row];
                int32_t wide = j < WIDTHS ? widths[j] : p->size[p->along];
                if ((i < HEIGHTS && (row < 0 || high >= p->size[row])) || (int64_t)high * wide > S_MOST) continue;
                if (j < WIDTHS && wide >= p->size[p->along]) continue;
                struct candidate *c = &m->now.c;
                *c = (struct candidate){ 0 };
                for (int v = 0; v < p->nvar; v++) {      /* the others outermost */
                    int u = p->order[v];
                    bool common = p->stride[TENSOR_A][u] || p->stride[TENSOR_B][u];
                    if (u != row && common && p->stride[TENSOR_C][u])
                        c->piece[c->n++] = (struct loop_piece){ (int8_t)u, 1 };
                }
                if (row >= 0) c->piece[c->n++] = (struct loop_piece){ (int8_t)row, high };
                c->piece[c->n++] = (struct loop_piece){ (int8_t)p->along, wide };
                c->outer = c->n;
                c->piece[c->n++] = (struct loop_piece){ (int8_t)p->last, m->now.nv * m->lanes };
                if (row >= 0) c->piece[c->n++] = (struct loop_piece){ (int8_t)row, rows };
                c->piece[c->n++] = (struct loop_piece){ (int8_t)p->along, m->now.nv * m->lanes };
                for (int v = 0; v < p->nvar; v++)
                    if (p->reduced[v] && v != p->along) c->piece[c->n++] = (struct loop_piece){ (int8_t)v, 1 };
                if (row >= 0) c->piece[c->n++] = (struct loop_piece){ (int8_t)row, 1 };
                c->piece[c->n++] = (struct loop_piece){ (int8_t)p->along, 1 };
                c->piece[c->n++] = (struct loop_piece){ (int8_t)p->last, 1 };
                keep(m);
            }
    }
}

/* is a variable of the result less than a vector? then a reduction may be in the vectors */
static bool thin(const struct problem *p, int lanes)
{
    for (int v = 0; v < p->nvar; v++)
        if (!p->reduced[v] && p->size[v] < lanes) return true;
    return false;
}

/* Where zeros are around images all were ranked as if there were none, which is quick: the best few by what they do. */
static void rank_again(struct maker *m)
{
    const size_t most = EXACTLY * (m->s->measure > 1 ? 4 : 1);
    int64_t nodes = nodes_of(m, EXACT_NODES) * (int64_t)most;
    size_t n = 0;
    if (!m->p->pad.n) return;
    for (size_t i = 0; i < m->n && i < most && nodes > 0; n = ++i) {
        struct candidate *c = &m->x[i].c;
        struct nest t;
        struct model_terms x;
        if (i && candidate_same(c, &m->x[i - 1].c)) {
            c->seconds = m->x[i - 1].c.seconds;
            continue;
        }
        candidate_build(m->s->p, c, &t);
        if (c->vec >= 0) candidate_vectorize(&t, c->vec);
        c->seconds = model_terms(&x, m->s->p, &t, m->s->v->isa, m->s->v->prepared) ? INFINITY : x.seconds;
        if (isfinite(c->seconds)) nodes -= x.plan.nodes;
    }
    qsort(m->x, n, sizeof *m->x, by_seconds);
}

size_t candidates(const struct search *s, struct candidate **c)
{
    struct maker m = { .s = s, .p = s->p, .lanes = problem_lanes(s->p, s->v->isa),
                       .nacc = isa_accumulators(s->v->isa), .own = -1 };
    struct problem merged;
    if (groups_merge(s->p, m.lanes, &merged, &m.groups)) m.p = &merged, m.own = m.groups.group;
    if (s->p->pair) with_pair(&m);
    for (m.now.vec = 0; m.now.vec < s->p->nvar && !s->p->pair; m.now.vec++)
        if ((s->v->isa == ISA_AMX && s->p->reduced[m.now.vec]) || (m.groups.each && m.now.vec != m.own)) continue;
        else if (s->v->isa == ISA_AMX) with_amx(&m);
        else if (!s->p->reduced[m.now.vec] || thin(s->p, m.lanes)) with_vector(&m);
    if (!s->p->pair) {
        expand(&m, ORDERS, by_near, ORDER);
        expand(&m, ORDERS, by_seconds, ORDER);
        expand(&m, CUTS, by_seconds, CUT);
        expand(&m, PACKS, by_seconds, PACK);
    }
    if (m.n) qsort(m.x, m.n, sizeof *m.x, by_seconds);
    rank_again(&m);
    *c = xmalloc(m.n + 1, sizeof **c);
    for (size_t i = 0; i < m.n; i++) (*c)[i] = m.x[i].c;
    free(m.x);
    return m.n;
}

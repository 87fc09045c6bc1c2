/* the analytic search: enumerate register tiles and orders of the loops around them, rank by the model, measure the
 * first few; see search.h */
#include "loop/search/candidate.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACTLY = 128, MAX_CANDIDATES = 60000, CONFIRM = 4 };
enum { PACK_FROM = 8192 };                               /* elements of an input, for which it may be worth while */

struct maker {
    struct search *s;
    const struct problem *p;
    int lanes, nacc;
    struct candidate *c;
    size_t n, cap;
    int vec, nv;                                         /* vector variable and vectors of the tile */
    int row[2], rows[2];                                 /* variables and extents of its rows */
};

static void keep_one(struct maker *m, const struct candidate *c)
{
    struct nest t;
    struct model_terms x;
    if (m->n == MAX_CANDIDATES || !candidate_build(m->p, c, &t)) return;
    for (int i = 0; i < t.n; i++)
        if (t.loop[i].var == m->vec) t.loop[i].marks &= (uint8_t)~MARK_VECTORIZE;
    const struct plan_ask ask = { .isa = m->s->v->isa, .whole = m->s->v->prepared, .rough = m->p->pad.n > 0 };
    if (model_asked(&x, m->p, &t, &ask)) return;
    const bool other = x.plan.vector_var != m->vec;      /* not the encoder's own choice */
    if (other) candidate_vectorize(&t, m->vec);
    if (other && model_asked(&x, m->p, &t, &ask)) return;
    m->c = grow(m->c, m->n + 1, &m->cap, sizeof *m->c);
    m->c[m->n] = *c;
    m->c[m->n].vec = other ? m->vec : -1;
    m->c[m->n++].seconds = x.seconds;
}

/* with every packing that is allowed, and for inputs so large that it may be worth while */
static void keep(struct maker *m, struct candidate *c)
{
    int may = 0;
    if (m->s->actions >> ACT_PACK_A & 1 && m->p->elements[TENSOR_A] >= PACK_FROM) may |= PACK_A_ONCE | PACK_A_TILE;
    if (m->s->actions >> ACT_PACK_B & 1 && m->p->elements[TENSOR_B] >= PACK_FROM) may |= PACK_B_ONCE;
    for (int pack = 0; pack < PACKINGS; pack++) {
        if ((pack & ~may) || (pack & 3) == 3) continue;
        c->pack = (int8_t)pack;
        keep_one(m, c);
    }
}

/* loops outside the tile in this order, the outermost reduction cut to blocks of kc (0: not) outside of them, or just
 * inside the first of them, and the reductions inside, turned by one or not */
static void with_cut(struct maker *m, const int *outer, int nouter, const int *red, int nred, int32_t kc, bool inside,
                     int turn, int cut)
{
    struct candidate c = {
        .vec = -1, .nv = (int8_t)m->nv, .cut = (int8_t)cut, .first = (int8_t)(nouter ? outer[0] : -1)
    };
    for (int i = 0; i <= nouter; i++) {
        if (kc && i == inside) c.piece[c.n++] = (struct loop_piece){ (int8_t)red[0], kc };
        if (i == nouter) break;
        int v = outer[i];
        int32_t block = v == m->vec      ? m->nv * m->lanes
                        : v == m->row[0] ? m->rows[0]
                        : v == m->row[1] ? m->rows[1]
                                         : 1;
        c.piece[c.n++] = (struct loop_piece){ (int8_t)v, block };
    }
    c.outer = c.n;
    for (int i = 0; i < nred; i++) c.piece[c.n++] = (struct loop_piece){ (int8_t)red[(i + turn) % nred], 1 };
    for (int i = 0; i < 2; i++)
        if (m->row[i] >= 0 && m->rows[i] > 1) c.piece[c.n++] = (struct loop_piece){ (int8_t)m->row[i], 1 };
    if (!m->p->reduced[m->vec]) c.piece[c.n++] = (struct loop_piece){ (int8_t)m->vec, 1 };
    keep(m, &c);
}

static void with_order(struct maker *m, const int *outer, int nouter)
{
    enum { CUTS = 5 };
    static const int32_t cuts[3][CUTS] = { { 0, 128, 256, 512, 1024 }, { 0, 32, 64, 128, 512 },
                                           { 0, 8, 32, 128, 512 } };
    const struct problem *p = m->p;
    int red[NEST_VARS], nred = 0, real = 0;
    for (int long_ones = 1; long_ones >= 0; long_ones--)
        for (int i = 0; i < p->nvar; i++)
            if (p->reduced[p->order[i]] && (p->size[p->order[i]] > 1) == long_ones) {
                red[nred++] = p->order[i];
                real += long_ones;
            }
    for (int turn = 0; turn < (real > 1 ? 2 : 1); turn++)
        for (int cut = 0; cut < CUTS; cut++) {
            int32_t kc = cuts[real > 1 ? 1 : m->nv > 4 ? 2 : 0][cut];
            if (kc && (!nred || kc * 2 > p->size[red[0]])) continue;     /* nothing to cut */
            with_cut(m, outer, nouter, red, nred, kc, false, turn, cut);
            if (kc && nouter > 1) with_cut(m, outer, nouter, red, nred, kc, true, turn, cut + CUTS);
        }
}

static void orders(struct maker *m, const int *vars, int n, int *at, int k)
{
    if (k == n) {
        with_order(m, at, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        bool used = false;
        for (int j = 0; j < k; j++) used |= at[j] == vars[i];
        at[k] = vars[i];
        if (!used) orders(m, vars, n, at, k + 1);
    }
}

static bool outside(const struct maker *m, int v)        /* does a loop of v remain outside the tile? */
{
    if (m->p->reduced[v]) return false;
    int32_t block = v == m->vec ? m->nv * m->lanes : v == m->row[0] ? m->rows[0] : v == m->row[1] ? m->rows[1] : 1;
    return m->p->size[v] > block;
}

static void with_tile(struct maker *m)
{
    int vars[NEST_VARS], at[NEST_VARS], n = 0, fixed = 0;
    for (int i = 0; i < m->p->nvar; i++)
        if (outside(m, m->p->order[i])) vars[n++] = m->p->order[i];
    if (n > 4) fixed = n - 4;                            /* the outermost of many keep their place */
    memcpy(at, vars, sizeof at);
    orders(m, vars, n, at, fixed);
}

static bool fits(const struct maker *m, int rows)
{
    int n = rows * m->nv, registers = m->nacc > 16 ? 32 : 16;
    return n <= m->nacc && (registers == 16 || m->nv > 4 || n + m->nv + 1 <= registers);
}

/* extents of a row variable worth trying: those that cut its size evenly, the largest of them, and a few plain ones */
static int extents(int32_t size, int most, int *e)
{
    int n = 0;
    for (int r = most; r >= 1; r--) {
        int parts = (size + r - 1) / r;
        bool even = (size + parts - 1) / parts == r;
        if (r <= size && (even || r == most || r % 4 == 0)) e[n++] = r;
    }
    return n;
}

/* tiles of AMX: two by two of them, four in a row or in a column, or less */
static void with_amx(struct maker *m)
{
    const struct problem *p = m->p;
    int32_t columns = (p->size[m->vec] + m->lanes - 1) / m->lanes;
    m->row[0] = m->row[1] = -1;
    m->rows[0] = m->rows[1] = 1;
    for (int v = 0; v < p->nvar; v++)                    /* the same as the encoder's */
        if (p->stride[TENSOR_A][v] && !p->stride[TENSOR_B][v] && p->stride[TENSOR_C][v] &&
            (m->row[0] < 0 || p->size[v] > p->size[m->row[0]])) m->row[0] = v;
    if (m->row[0] < 0) return;
    for (m->nv = 1; m->nv <= m->nacc && m->nv <= columns; m->nv *= 2) {
        m->rows[0] = m->nacc / m->nv * m->lanes;
        if (m->rows[0] > p->size[m->row[0]]) m->rows[0] = p->size[m->row[0]];
        with_tile(m);
    }
}

static void with_vector(struct maker *m)
{
    const struct problem *p = m->p;
    double others = 1;                                   /* few of them leave registers for wider tiles */
    for (int v = 0; v < p->nvar; v++)
        if (!p->reduced[v] && v != m->vec) others *= p->size[v];
    int most_vectors = p->reduced[m->vec] ? 1 : (p->size[m->vec] + m->lanes - 1) / m->lanes;
    for (m->nv = 1; m->nv <= most_vectors && m->nv <= m->nacc; m->nv++) {
        if (m->nv > 4 && (m->nv * others > m->nacc || m->nv % 4)) continue;
        for (int a = -1; a < p->nvar; a++) {
            if (a >= 0 && (p->reduced[a] || a == m->vec || p->size[a] == 1)) continue;
            for (int b = -1; b < a || b < 0; b++) {
                if (b >= 0 && (a < 0 || p->reduced[b] || b == m->vec || p->size[b] == 1)) continue;
                int ea[64], eb[64], na = 1, nb = 1;
                ea[0] = eb[0] = 1;
                if (a >= 0) na = extents(p->size[a], m->nacc / m->nv < p->size[a] ? m->nacc / m->nv : p->size[a], ea);
                if (b >= 0) nb = extents(p->size[b], m->nacc / m->nv < p->size[b] ? m->nacc / m->nv : p->size[b], eb);
                for (int i = 0; i < na; i++)
                    for (int j = 0; j < nb; j++) {
                        int rows = ea[i] * eb[j];
                        if (!fits(m, rows) || (b >= 0 && (ea[i] == 1 || eb[j] == 1))) continue;
                        if (rows * m->nv < m->nacc * 3 / 8 && a >= 0 && (ea[i] < p->size[a])) continue;
                        m->row[0] = a, m->rows[0] = ea[i];
                        m->row[1] = b, m->rows[1] = eb[j];
                        with_tile(m);
                    }
            }
        }
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
    m->vec = p->along;
    for (m->nv = 1; m->nv <= 4; m->nv++) {
        int32_t rows = m->nacc / m->nv;
        while (rows > 1 && !fits(m, rows)) rows--;
        for (int i = 0; i <= HEIGHTS; i++)
            for (int j = 0; j <= WIDTHS; j++) {
                int32_t high = row < 0 ? 1 : i < HEIGHTS ? heights[i] : p->size[row];
                int32_t wide = j < WIDTHS ? widths[j] : p->size[p->along];
                if ((i < HEIGHTS && (row < 0 || high >= p->size[row])) || (int64_t)high * wide > S_MOST) continue;
                if (j < WIDTHS && wide >= p->size[p->along]) continue;
                struct candidate c = { .vec = -1, .nv = (int8_t)m->nv, .cut = (int8_t)(j / 2) };
                for (int v = 0; v < p->nvar; v++) {      /* the others outermost */
                    int u = p->order[v];
                    bool common = p->stride[TENSOR_A][u] || p->stride[TENSOR_B][u];
                    if (u != row && common && p->stride[TENSOR_C][u])
                        c.piece[c.n++] = (struct loop_piece){ (int8_t)u, 1 };
                }
                if (row >= 0) c.piece[c.n++] = (struct loop_piece){ (int8_t)row, high };
                c.piece[c.n++] = (struct loop_piece){ (int8_t)p->along, wide };
                c.outer = c.n;
                c.piece[c.n++] = (struct loop_piece){ (int8_t)p->last, m->nv * m->lanes };
                if (row >= 0) c.piece[c.n++] = (struct loop_piece){ (int8_t)row, rows };
                c.piece[c.n++] = (struct loop_piece){ (int8_t)p->along, m->nv * m->lanes };
                for (int v = 0; v < p->nvar; v++)
                    if (p->reduced[v] && v != p->along) c.piece[c.n++] = (struct loop_piece){ (int8_t)v, 1 };
                if (row >= 0) c.piece[c.n++] = (struct loop_piece){ (int8_t)row, 1 };
                c.piece[c.n++] = (struct loop_piece){ (int8_t)p->along, 1 };
                c.piece[c.n++] = (struct loop_piece){ (int8_t)p->last, 1 };
                keep_one(m, &c);
            }
    }
}

static int by_seconds(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return ORDER(x->seconds, y->seconds);
}

/* Where zeros are around images all were ranked as if there were none, which is quick: the best few by what they do. */
static void rank_again(struct maker *m)
{
    const size_t n = m->n < EXACTLY ? m->n : EXACTLY;
    if (!m->p->pad.n) return;
    for (size_t i = 0; i < n; i++) {
        struct candidate *c = &m->c[i];
        struct nest t;
        candidate_build(m->p, c, &t);
        if (c->vec >= 0) candidate_vectorize(&t, c->vec);
        if (model_seconds(&c->seconds, m->p, &t, m->s->v->isa, m->s->v->prepared)) c->seconds = INFINITY;
    }
    qsort(m->c, n, sizeof *m->c, by_seconds);
}

/* ---- from a candidate to actions ---- */

struct walk { const struct problem *p; struct nest t; int path[SEARCH_PATH], n; bool failed; };

static void step(struct walk *w, int action)
{
    if (w->n == SEARCH_PATH - 1 || nest_act(w->p, &w->t, action, RULE_NONE)) w->failed = true;
    else w->path[w->n++] = action;
}

static void go_to(struct walk *w, int i)
{
    while (!w->failed && w->t.cursor != i) step(w, w->t.cursor > i ? ACT_UP : ACT_DOWN);
}

static int split_action(int32_t by)
{
    for (int a = 0; a < ACT_COUNT; a++) {
        char name[40], want[40];
        snprintf(want, sizeof want, "split_%d", by);
        if (!strcmp(act_name(a, name), want)) return a;
    }
    return ACT_SPLIT_ANY + by;
}

/* the loop of `var` that has `depth` others of it above */
static int find_loop(const struct nest *t, int var, int depth)
{
    for (int i = 0; i < t->n; i++)
        if (t->loop[i].var == var && depth-- == 0) return i;
    return -1;
}

static bool derive(const struct problem *p, const struct candidate *c, struct walk *w)
{
    struct nest want;
    if (!candidate_build(p, c, &want)) return false;
    *w = (struct walk){ .p = p };
    nest_reset(p, &w->t);
    int depth[NEST_VARS] = { 0 };
    for (int i = 0; i < c->n; i++) {
        int v = c->piece[i].var;
        int loop = find_loop(&w->t, v, depth[v]);
        if (c->piece[i].block == 1 || loop < 0 || w->t.loop[loop].size <= c->piece[i].block) continue;
        go_to(w, loop);
        step(w, split_action(c->piece[i].block));
        depth[v]++;
    }
    memset(depth, 0, sizeof depth);
    for (int i = 0; i < want.n && !w->failed; i++) {
        int loop = find_loop(&w->t, want.loop[i].var, depth[want.loop[i].var]++);
        if (loop < 0) return false;
        go_to(w, loop);
        while (!w->failed && loop-- > i) step(w, ACT_SWAP_UP);
    }
    if (c->vec >= 0) {
        int last = w->t.n;
        while (last-- > 0 && w->t.loop[last].var != c->vec) {}
        go_to(w, last);
        step(w, ACT_VECTORIZE);
    }
    for (int i = 0; i < want.n && c->pack; i++)
        for (int b = 0; b < 2; b++)
            if (want.loop[i].marks & (b ? MARK_PACK_B : MARK_PACK_A)) {
                go_to(w, i);
                step(w, b ? ACT_PACK_B : ACT_PACK_A);
            }
    if (c->parallel) {
        int first = 0;
        while (first < w->t.n && p->reduced[w->t.loop[first].var]) first++;
        if (first == w->t.n) return false;
        go_to(w, first);
        step(w, ACT_PARALLEL);
    }
    return !w->failed;
}

/* is a variable of the result less than a vector? then a reduction may be in the vectors */
static bool thin(const struct problem *p, int lanes)
{
    for (int v = 0; v < p->nvar; v++)
        if (!p->reduced[v] && p->size[v] < lanes) return true;
    return false;
}

/* measures it, and keeps the best few */
static void visit(struct search *s, const struct walk *w, struct walk top[CONFIRM], double gflops[CONFIRM])
{
    double g = search_visit(s, &w->t, w->path, w->n);
    int k = CONFIRM;
    while (k > 0 && g > gflops[k - 1]) k--;
    if (k == CONFIRM) return;
    memmove(gflops + k + 1, gflops + k, sizeof *gflops * (size_t)(CONFIRM - k - 1));
    memmove(top + k + 1, top + k, sizeof *top * (size_t)(CONFIRM - k - 1));
    gflops[k] = g;
    top[k] = *w;
}

void search_heuristic(struct search *s)
{
    struct maker m = {
        .s = s, .p = s->p, .lanes = problem_lanes(s->p, s->v->isa), .nacc = isa_accumulators(s->v->isa)
    };
    struct nest t;
    nest_reset(s->p, &t);
    if (s->p->pair) with_pair(&m);
    for (m.vec = 0; m.vec < s->p->nvar && !s->p->pair; m.vec++)
        if (s->v->isa == ISA_AMX && s->p->reduced[m.vec]) continue;
        else if (s->v->isa == ISA_AMX) with_amx(&m);
        else if (!s->p->reduced[m.vec] || thin(s->p, m.lanes)) with_vector(&m);
    if (m.n) qsort(m.c, m.n, sizeof *m.c, by_seconds);
    rank_again(&m);
    struct walk w, top[CONFIRM];
    double gflops[CONFIRM] = { 0 };
    int done = 0;
    size_t *order = s->spread ? order_drawn(m.n, &s->rng)
                    : s->order ? s->order(m.c, m.n, s) : order_by_model(m.c, m.n);
    for (size_t i = 0; i < m.n && done < s->measure && !(done && search_over(s)); i++) {
        struct candidate *c = &m.c[order[i]];
        c->parallel = s->actions >> ACT_PARALLEL & 1;
        if (!derive(s->p, c, &w)) continue;
        visit(s, &w, top, gflops);
        done++;
    }
    free(order);
    if (!done) search_visit(s, &t, w.path, 0);
    /* the best few once more, in turn: which of them won may have been chance */
    double again[CONFIRM] = { 0 };
    for (int round = 0; round < 3 && !s->v->model; round++)
        for (int k = 0; k < CONFIRM && gflops[k] > 0 && !search_over(s); k++)
            again[k] = fmax(again[k], evaluate_again(s->v, &top[k].t, 8).gflops);
    for (int k = 1, best = 0; k < CONFIRM; k++)
        if (again[k] > again[best]) {
            best = k;
            s->best = top[k].t;
            s->npath = top[k].n;
            memcpy(s->path, top[k].path, sizeof *s->path * (size_t)s->npath);
        }
    free(m.c);
}

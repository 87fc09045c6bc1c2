#include "loop/search/residual.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include "loop/code/machine.h"
#include "loop/search/candidate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JUDGED = 2000 };                                  /* candidates that are looked at */
static const double SURE = 0.9;                          /* share of the problems, see margin() */
static const double NEVER = 1e9;
static const double MARGIN = 0.5;                        /* octaves beyond the range that are still inside */

const char *const residual_name[RESIDUAL_FEATURES] = {
    "problem_flops", "problem_a", "problem_b", "problem_c", "problem_reuse", "problem_type", "problem_windows",
    "problem_reductions", "problem_variables", "problem_row_a", "problem_row_b", "problem_row_c", "machine_lanes",
    "machine_l1", "machine_l2",
    "pace", "whole", "traffic_1", "traffic_2", "traffic_3", "packing", "rows", "vectors", "tile", "lanes_used",
    "rows_used", "both", "vector_reduced", "vector_a", "moved", "copied", "far", "packs", "packed_a", "packed_b",
    "steps", "passes", "block_a", "block_b", "stride_vector", "crowded_vector", "stride_other", "crowded_other",
    "crowded_c", "outer_a", "outer_b", "inner_a", "inner_b", "outer_loops" };

static double octaves(double x) { return log2(1 + fmax(x, 0)); }
static double crowded(double bytes) { return bytes >= 4096 && fmod(bytes, 4096) == 0; }

/* where the register tile begins: the depth, and the extents there */
static int tile_depth(const struct problem *p, const struct nest *t, const struct kernel_plan *q, int lanes, int32_t *e)
{
    int32_t inner[NEST_LOOPS];
    nest_inner(t->loop, t->n, inner);
    for (int v = 0; v < NEST_VARS; v++) e[v] = v < p->nvar ? p->size[v] : 1;
    for (int d = 0; d < t->n; d++) {
        double n = 1;
        for (int v = 0; v < p->nvar; v++)
            if (!p->reduced[v]) n *= v == q->vector_var ? (e[v] + lanes - 1) / lanes : e[v];
        if (n <= q->rows * q->vectors) return d;
        e[t->loop[d].var] = inner[d];
    }
    return t->n;
}

static double used(int32_t size, double block)           /* share of whole blocks that is filled */
{
    return block < 1 ? 1 : size / (ceil(size / block) * block);
}

static void of_problem(double *f, const struct problem *p, int lanes)
{
    const struct loop_machine *m = machine_here();
    double flops = problem_flops(p), a = (double)p->elements[TENSOR_A], all = 0, plain = 1, reductions = 0;
    for (int u = 0; u < 3; u++) all += (double)p->elements[u];
    for (int v = 0; v < p->nvar; v++) {
        if (p->stride[TENSOR_A][v]) plain *= p->size[v];
        reductions += p->reduced[v] && p->size[v] > 1;
    }
    *f++ = log2(flops);
    for (int u = 0; u < 3; u++) *f++ = octaves((double)p->elements[u]);
    *f++ = log2(flops / all);
    *f++ = p->type;
    *f++ = plain > a;
    *f++ = reductions;
    *f++ = p->nvar;
    for (int u = 0; u < 3; u++) *f++ = octaves((double)p->row[u]);
    *f++ = lanes;
    for (int i = 0; i < 2; i++) *f++ = log2(m->cache[i].bytes);
}

const char *residual_see(struct seen_nest *s, const struct problem *p, const struct nest *t, enum isa isa,
                         bool prepared)
{
    struct model_terms m;
    const char *why = model_terms(&m, p, t, isa, prepared);
    s->seconds = m.seconds;
    if (why) return why;
    const struct kernel_plan *q = &m.plan;
    int lanes = problem_lanes(p, isa), vec = q->vector_var, e0 = 0;
    double *f = s->f, least = problem_flops(p) / (4.0 * lanes), steps = 1, passes = 1, worst = 1;
    int32_t e[NEST_VARS];
    of_problem(f, p, lanes);
    f += RESIDUAL_PROBLEM;
    int depth = tile_depth(p, t, q, lanes, e), red = -1;
    bool va = p->stride[TENSOR_A][vec] != 0, vb = p->stride[TENSOR_B][vec] != 0;
    int vt = va && !vb ? TENSOR_A : TENSOR_B, xt = TENSOR_A + TENSOR_B - vt;
    double block[2] = { 1, 1 };
    for (int v = 0; v < p->nvar; v++) {
        if (p->reduced[v]) steps *= e[v];
        else if (v != vec) worst *= used(p->size[v], e[v]);
        for (int u = 0; u < 2; u++)
            if (p->stride[u][v]) block[u] *= e[v];
    }
    for (int d = 0; d < t->n; d++) {
        struct loop l = t->loop[d];
        if (d < depth && p->reduced[l.var]) passes *= l.size + (l.tail > 0);
        if (d >= depth && p->reduced[l.var] && e[l.var] > 1) red = l.var;
        e0 += d < depth && l.size + (l.tail > 0) > 1;
    }
    double sv = red < 0 ? 0 : (double)q->stride[vt][red] * p->bytes, sx = 0, sc = 0;
    for (int v = 0; v < p->nvar; v++) {
        if (p->reduced[v] || v == vec || e[v] < 2) continue;
        sx = fmax(sx, (double)q->stride[xt][v] * p->bytes);
        sc = fmax(sc, (double)q->stride[TENSOR_C][v] * p->bytes);
    }
    int first = -1, last = -1;
    for (int d = 0; d < depth; d++)
        if (t->loop[d].size + (t->loop[d].tail > 0) > 1) {
            if (first < 0) first = t->loop[d].var;
            last = t->loop[d].var;
        }
    *f++ = least / m.plan.cycles;
    *f++ = log2(least / m.cycles);
    for (int i = 0; i < MODEL_LEVELS; i++) *f++ = octaves(m.traffic[i] / least);
    *f++ = octaves(m.packing / least);
    *f++ = q->rows;
    *f++ = q->vectors;
    *f++ = q->rows * q->vectors / (double)isa_accumulators(isa);
    *f++ = used(p->size[vec], (double)q->vectors * lanes);
    *f++ = worst;
    *f++ = va && vb;
    *f++ = p->reduced[vec];
    *f++ = vt == TENSOR_A;
    *f++ = octaves(q->moved * 100 / least);
    *f++ = octaves(q->copied * 100 / least);
    *f++ = octaves(q->far * 100 / least);
    *f++ = octaves(q->packs);
    for (int u = 0; u < 2; u++) *f++ = q->packed[u];
    *f++ = log2(steps);
    *f++ = log2(passes);
    for (int u = 0; u < 2; u++) *f++ = log2(block[u]);
    *f++ = octaves(sv);
    *f++ = crowded(sv);
    *f++ = octaves(sx);
    *f++ = crowded(sx);
    *f++ = crowded(sc);
    for (int u = 0; u < 2; u++) *f++ = first >= 0 && p->stride[u][first] != 0;
    for (int u = 0; u < 2; u++) *f++ = last >= 0 && p->stride[u][last] != 0;
    *f++ = e0;
    return NULL;
}

/* ---- learned ---- */

/* the residual of each row, centred within its group */
static double *targets(const struct residual_row *r, size_t n, size_t groups, const struct residual_options *o)
{
    double *y = xmalloc(n + 1, sizeof *y), *sum = xcalloc(groups + 1, sizeof *sum);
    size_t *count = xcalloc(groups + 1, sizeof *count);
    for (size_t i = 0; i < n; i++) {
        y[i] = log(r[i].seconds / r[i].s.seconds);
        sum[r[i].group] += y[i];
        count[r[i].group]++;
    }
    for (size_t i = 0; i < n; i++) y[i] = fmax(-1.5, fmin(1.5, y[i] - sum[r[i].group] / (double)count[r[i].group]));
    struct rng g = rng_for(o->seed, str_of("shuffle"));
    size_t *seen = xcalloc(groups + 1, sizeof *seen), *of = xmalloc(n + 1, sizeof *of), first = 0;
    for (size_t k = 0; o->shuffle && k < groups; first += count[k++]) seen[k] = first;
    for (size_t i = 0; o->shuffle && i < n; i++) of[seen[r[i].group]++] = i;             /* row by row of each group */
    first = 0;
    for (size_t k = 0; o->shuffle && k < groups; first += count[k++])
        for (size_t i = count[k]; i-- > 1; ) {
            size_t from = of[first + i], to = of[first + (size_t)rng_below(&g, i + 1)];
            double x = y[from];
            y[from] = y[to];
            y[to] = x;
        }
    free_all(seen, of, sum, count);
    return y;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return ORDER(x, y);
}

/* How far a promise may be from what came of it: on each problem the members that have not seen it choose among its
 * nests, as a search does; SURE of the problems are not disappointed by more than this (split conformal prediction,
 * Papadopoulos et al. 2002).  out: is member m without problem g? at m * problems + g */
static double margin(const struct residual *k, const struct residual_row *r, size_t n, const bool *out)
{
    double *short_by = xmalloc(k->problems + 1, sizeof *short_by);
    size_t known = 0;
    struct choice { size_t base, best; double gain; struct residual some; } *of = xcalloc(k->problems + 1, sizeof *of);
    for (size_t i = 0; i < n; i++) {
        struct choice *g = &of[r[i].group];
        if (!g->some.n) {
            for (int m = 0; m < k->n; m++)
                if (out[(size_t)m * k->problems + r[i].group]) g->some.member[g->some.n++] = k->member[m];
            g->base = i;
        }
        if (r[i].s.seconds < r[g->base].s.seconds) g->base = i;
    }
    for (size_t i = 0; i < n; i++) {
        struct choice *g = &of[r[i].group];
        double member[RESIDUAL_MEMBERS];
        if (i == g->base || g->some.n < 2 || r[i].s.seconds > 2 * r[g->base].s.seconds) continue;
        residual_predict(&g->some, &r[g->base].s, member);
        double gain = residual_gain(&g->some, &r[g->base].s, member, &r[i].s, false);
        if (gain > g->gain) g->gain = gain, g->best = i;
    }
    for (size_t g = 0; g < k->problems; g++)
        if (of[g].gain > 0) short_by[known++] = of[g].gain - log(r[of[g].base].seconds / r[of[g].best].seconds);
    if (known) qsort(short_by, known, sizeof *short_by, by_size);
    size_t at = (size_t)ceil(SURE * (double)(known + 1));
    double most = at > known ? NEVER : fmax(0, short_by[at - 1]);        /* too few problems to say */
    free(short_by);
    free(of);
    return most;
}

struct residual residual_fit(const struct residual_row *r, size_t n, const struct residual_options *o)
{
    struct residual k = { .rows = n, .n = (int)o->members };
    for (size_t i = 0; i < n; i++) {
        if (r[i].group >= k.problems) k.problems = r[i].group + 1;
        for (int j = 0; j < RESIDUAL_PROBLEM; j++) {
            double x = r[i].s.f[j];
            k.low[j] = i ? fmin(k.low[j], x) : x;
            k.high[j] = i ? fmax(k.high[j], x) : x;
        }
    }
    double *y = targets(r, n, k.problems, o), *x = NULL, *t = NULL;
    size_t room = 0, room_y = 0, *times = xcalloc(k.problems + 1, sizeof *times);
    struct boost_options b = { .rounds = o->rounds, .depth = o->depth, .rate = o->rate, .lambda = 1, .min_weight = 4 };
    struct rng g = rng_for(o->seed, str_of("residual"));
    bool *out = xcalloc(size_mul(k.problems, (size_t)k.n) + 1, 1);
    for (int m = 0; m < k.n; m++) {                      /* whole problems, drawn with replacement */
        size_t rows = 0;
        memset(times, 0, k.problems * sizeof *times);
        for (size_t i = 0; i < k.problems; i++) times[rng_below(&g, k.problems)]++;
        for (size_t i = 0; i < k.problems; i++) out[(size_t)m * k.problems + i] = !times[i];
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < times[r[i].group]; c++) {
                x = grow(x, (rows + 1) * RESIDUAL_FEATURES, &room, sizeof *x);
                t = grow(t, rows + 1, &room_y, sizeof *t);
                memcpy(x + rows * RESIDUAL_FEATURES, r[i].s.f, sizeof r[i].s.f);
                t[rows++] = y[i];
            }
        char *name[RESIDUAL_FEATURES];
        for (int j = 0; j < RESIDUAL_FEATURES; j++) name[j] = xstrdup(residual_name[j]);
        k.member[m] = model_new(MODEL_BOOST, "residual", NULL, 0, name, RESIDUAL_FEATURES);
        for (int j = 0; j < RESIDUAL_FEATURES; j++) free(name[j]);
        k.member[m]->tree = boost_fit(x, t, rows, RESIDUAL_FEATURES, 0, &b, k.member[m]->weight, &k.member[m]->ntree);
    }
    k.margin = margin(&k, r, n, out);
    free_all(x, t, y, times, out);
    return k;
}

void residual_write(const struct residual *k, const char *path)
{
    sexpw *w = sexpw_open(path);
    sexpw_begin(w, "residual");
    sexpw_pair(w, "rows", (double)k->rows);
    sexpw_pair(w, "problems", (double)k->problems);
    sexpw_pair(w, "margin", k->margin);
    sexpw_begin(w, "range");
    for (int j = 0; j < RESIDUAL_PROBLEM; j++) {
        sexpw_begin(w, residual_name[j]);
        sexpw_num(w, k->low[j]);
        sexpw_num(w, k->high[j]);
        sexpw_end(w);
    }
    sexpw_end(w);
    for (int m = 0; m < k->n; m++) {
        sexpw_line(w);
        model_write(k->member[m], w);
    }
    sexpw_end(w);
    sexpw_close(w);
}

static double bound(const struct sexp *e, snode list, size_t i)
{
    snode x = sexp_nth(e, list, i);
    if (sexp_count(e, list) != 3) sexp_die(e, list, "expected (FEATURE LEAST MOST)");
    return sexp_num(e, x);
}

static size_t count_of(const struct sexp *e, const char *key)
{
    snode at = sexp_value(e, 0, key);
    if (at == SEXP_NONE) sexp_die(e, 0, "no (%s ...) in this list", key);
    int64_t n = sexp_int(e, at);
    if (n < 0) sexp_die(e, at, "'%lld' is no count", (long long)n);
    return (size_t)n;
}

struct residual residual_from(const struct sexp *e)
{
    struct residual k = { 0 };
    snode range = sexp_get(e, 0, "range");
    if (!sexp_head(e, 0, "residual") || range == SEXP_NONE) sexp_die(e, 0, "not a (residual ...)");
    k.rows = count_of(e, "rows");
    k.problems = count_of(e, "problems");
    k.margin = sexp_num_of(e, 0, "margin");
    if (!(k.margin >= 0)) sexp_die(e, 0, "a margin below 0");
    for (int j = 0; j < RESIDUAL_PROBLEM; j++) {
        snode x = sexp_get(e, range, residual_name[j]);
        if (x == SEXP_NONE) sexp_die(e, range, "no range of %s: learned by another version", residual_name[j]);
        k.low[j] = bound(e, x, 1);
        k.high[j] = bound(e, x, 2);
    }
    for (snode x = sexp_first(e, 0); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (!sexp_head(e, x, "model")) continue;
        if (k.n == RESIDUAL_MEMBERS) sexp_die(e, x, "more than %d models", RESIDUAL_MEMBERS);
        struct model *m = model_from(e, x);
        bool same = m->kind == MODEL_BOOST && !m->nclass && m->nfeature == RESIDUAL_FEATURES;
        for (int j = 0; same && j < RESIDUAL_FEATURES; j++) same = !strcmp(m->feature[j], residual_name[j]);
        if (!same) sexp_die(e, x, "not boosted trees for a number on the features of a nest");
        k.member[k.n++] = m;
    }
    if (!k.n) sexp_die(e, 0, "no model in it");
    return k;
}

struct residual residual_read(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    struct residual k = residual_from(sexp_only(r));
    sexp_close(r);
    return k;
}

void residual_free(struct residual *k)
{
    for (int m = 0; m < k->n; m++) model_free(k->member[m]);
    k->n = 0;
}

/* ---- used ---- */

bool residual_knows(const struct residual *k, const struct seen_nest *s)
{
    for (int j = 0; j < RESIDUAL_PROBLEM; j++)
        if (!(s->f[j] >= k->low[j] - MARGIN && s->f[j] <= k->high[j] + MARGIN)) return false;
    return true;
}

void residual_predict(const struct residual *k, const struct seen_nest *s, double member[RESIDUAL_MEMBERS])
{
    for (int m = 0; m < k->n; m++) model_predict(k->member[m], s->f, &member[m]);
}

double residual_gain(const struct residual *k, const struct seen_nest *base, const double base_member[RESIDUAL_MEMBERS],
                     const struct seen_nest *other, bool plain)
{
    double y[RESIDUAL_MEMBERS], mean = 0, square = 0, said = log(base->seconds / other->seconds);
    residual_predict(k, other, y);
    for (int m = 0; m < k->n; m++) {
        y[m] = base_member[m] - y[m];
        mean += y[m] / k->n;
    }
    for (int m = 0; m < k->n; m++) square += (y[m] - mean) * (y[m] - mean);
    return said + mean - (plain ? 0 : k->margin + (k->n < 2 ? 0 : sqrt(square / (k->n - 1))));
}

/* ---- the order of candidates ---- */

struct judged { size_t at; double gain; };

static int by_gain(const void *a, const void *b)
{
    const struct judged *x = a, *y = b;
    if (x->gain != y->gain) return x->gain < y->gain ? 1 : -1;
    return ORDER(x->at, y->at);
}

/* the features of a candidate; false: it has no code */
static bool see(struct seen_nest *seen, const struct candidate *c, const struct search *s)
{
    struct nest t;
    if (!candidate_build(s->p, c, &t)) return false;
    if (c->vec >= 0) candidate_vectorize(&t, c->vec);
    return !residual_see(seen, s->p, &t, s->v->isa, s->v->prepared);
}

/* all that the model finds at most half as fast as its best, with what the residual says that they gain over that */
static size_t judge(const struct candidate *c, size_t n, const struct search *s, struct judged *j)
{
    struct seen_nest base, other;
    double member[RESIDUAL_MEMBERS];
    size_t k = 0;
    for (size_t i = 0; i < n && k < JUDGED && !(c[i].seconds > 2 * c[0].seconds); i++) {
        if (i && c[i].pack == c[i - 1].pack && !memcmp(c[i].piece, c[i - 1].piece, sizeof c[i].piece)) continue;
        if (!see(i ? &other : &base, &c[i], s)) continue;
        if (!i && !s->trusting && !residual_knows(s->residual, &base)) return 0;
        if (!i) residual_predict(s->residual, &base, member);
        j[k++] = (struct judged){ i, i ? residual_gain(s->residual, &base, member, &other, true) : 0 };
    }
    return k;
}

/* the place, from `from` to before `to`, of the pick that the residual finds slowest, and what is known of that */
static size_t slowest(const size_t *pick, size_t from, size_t to, const struct candidate *c, const struct search *s,
                      struct seen_nest *seen, double member[RESIDUAL_MEMBERS])
{
    struct seen_nest x;
    double y[RESIDUAL_MEMBERS], most = -INFINITY;
    size_t at = to;
    for (size_t i = from; i < to; i++) {
        if (!see(&x, &c[pick[i]], s)) continue;
        residual_predict(s->residual, &x, y);
        double said = log(x.seconds);
        for (int m = 0; m < s->residual->n; m++) said += y[m] / s->residual->n;
        if (said <= most) continue;
        most = said, at = i, *seen = x;
        memcpy(member, y, sizeof y);
    }
    return at;
}

/* Those that the residual wants go to the end of what is measured, each in the place of the slowest of the model's that
 * is still there, while it is sure to be faster than that */
static void challenge(size_t *order, size_t n, const struct candidate *c, const struct search *s,
                      const struct judged *j, size_t found)
{
    size_t most = (size_t)s->measure < n ? (size_t)s->measure : n, kept = most == 1 ? 0 : (most + 1) / 2;
    for (size_t i = 0; i < found && most > kept; i++) {
        struct seen_nest slow, fast;
        double member[RESIDUAL_MEMBERS];
        size_t from = 0;
        while (from < n && order[from] != j[i].at) from++;
        if (from < (size_t)s->measure || from == n || !see(&fast, &c[j[i].at], s)) continue;     /* measured anyway */
        size_t at = slowest(order, kept, most, c, s, &slow, member);
        if (at == most || !(residual_gain(s->residual, &slow, member, &fast, false) > 0)) break;
        most--;
        order[from] = order[at];
        order[at] = order[most];
        order[most] = j[i].at;
    }
}

size_t *order_by_residual(const struct candidate *c, size_t n, const struct search *s)
{
    struct judged *j = xmalloc(JUDGED, sizeof *j);
    size_t *order = order_by_kind(c, n, s->measure), found = judge(c, n, s, j);
    qsort(j, found, sizeof *j, by_gain);
    if (s->trusting) {
        size_t *rest = order, k = 0;
        bool *taken = xcalloc(n + 1, 1);
        order = xmalloc(n + 1, sizeof *order);
        for (size_t i = 0; i < found; i++) order[k++] = j[i].at, taken[j[i].at] = true;
        for (size_t i = 0; i < n && k < n; i++)
            if (!taken[rest[i]]) order[k++] = rest[i], taken[rest[i]] = true;
        while (k < n) order[k++] = rest[0];
        free(rest);
        free(taken);
    } else if (s->measure > 0) {
        challenge(order, n, c, s, j, found);
    }
    free(j);
    return order;
}

#include "loop/search/rank.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include "loop/search/candidate.h"
#include "loop/search/within.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 2 };                                     /* of the file: what another wrote is not looked at */
static const double MOST = 1.5, STEEP = 3, FLOOR = 0.05; /* of slow-downs and weights, see rank.h */

static const char *feature_name(int j)
{
    return j < NEST_FEATURES ? nest_feature[j] : j == NEST_FEATURES ? "model_seconds" : "model_slowdown";
}

static void features_of(double *x, const struct seen_nest *s)
{
    for (int j = 0; j < NEST_FEATURES; j++) x[j] = isfinite(s->f[j]) ? s->f[j] : 0;
}

static void input(double *x, const struct seen_nest *s, double least)
{
    features_of(x, s);
    x[NEST_FEATURES] = log(s->seconds);
    x[NEST_FEATURES + 1] = log(s->seconds / least);
}

/* ---- learned ---- */

static void shuffled(double *y, const struct rank_row *r, size_t n, size_t groups, uint64_t seed)
{
    size_t *of = xmalloc(n + 1, sizeof *of);
    struct rng g = rng_for(seed, str_of("shuffle"));
    for (size_t k = 0; k < groups; k++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (r[i].group == k) of[m++] = i;
        for (size_t i = m; i-- > 1; ) {
            const size_t j = (size_t)rng_below(&g, i + 1);
            const double t = y[of[i]];
            y[of[i]] = y[of[j]];
            y[of[j]] = t;
        }
    }
    free(of);
}

/* to some digits: trees are read at every search */
static double rounded(double x, int digits)
{
    if (x == 0) return 0;
    const double unit = pow(10, digits - 1 - floor(log10(fabs(x))));
    return round(x * unit) / unit;
}

struct rank rank_fit(const struct rank_row *r, size_t n, const char *machine, enum isa isa,
                     const struct rank_options *o)
{
    struct rank k = { .isa = isa, .rows = n };
    snprintf(k.machine, sizeof k.machine, "%s", machine);
    for (size_t i = 0; i < n; i++)
        if (r[i].group >= k.problems) k.problems = r[i].group + 1;
    double *best = xmalloc(k.problems + 1, sizeof *best), *least = xmalloc(k.problems + 1, sizeof *least);
    for (size_t g = 0; g < k.problems; g++) best[g] = least[g] = INFINITY;
    for (size_t i = 0; i < n; i++) {
        best[r[i].group] = fmin(best[r[i].group], r[i].seconds);
        least[r[i].group] = fmin(least[r[i].group], r[i].s.seconds);
    }
    double *x = xmalloc(size_mul(n + 1, RANK_FEATURES), sizeof *x);
    double *y = xmalloc(n + 1, sizeof *y), *w = xmalloc(n + 1, sizeof *w);
    for (size_t i = 0; i < n; i++) {
        input(x + i * RANK_FEATURES, &r[i].s, least[r[i].group]);
        y[i] = fmin(MOST, log(r[i].seconds / best[r[i].group]));
    }
    if (o->shuffle) shuffled(y, r, n, k.problems, o->forest.seed);
    for (size_t i = 0; i < n; i++) w[i] = exp(-STEEP * y[i]) + FLOOR;
    char *name[RANK_FEATURES];
    for (int j = 0; j < RANK_FEATURES; j++) name[j] = (char *)(uintptr_t)feature_name(j);
    k.trees = model_new(MODEL_FOREST, "slowdown", NULL, 0, name, RANK_FEATURES);
    k.trees->tree = forest_fit(x, y, w, n, RANK_FEATURES, 0, &o->forest, &k.trees->ntree);
    for (size_t t = 0; t < k.trees->ntree; t++)
        for (int i = 0; i < k.trees->tree[t].n; i++) {
            struct tree_node *node = &k.trees->tree[t].node[i];
            node->threshold = rounded(node->threshold, 6);
            node->value = rounded(node->value, 4);
        }
    free_all(best, least, x, y, w);
    return k;
}

void rank_write(const struct rank *k, const char *path)
{
    sexpw *w = sexpw_open(path);
    sexpw_begin(w, "rank");
    sexpw_pair_str(w, "machine", str_of(k->machine));
    sexpw_pair_str(w, "isa", str_of(isa_name[k->isa]));
    sexpw_pair(w, "encoder", ENCODER_VERSION);
    sexpw_pair(w, "rows", (double)k->rows);
    sexpw_pair(w, "problems", (double)k->problems);
    sexpw_line(w);
    model_write(k->trees, w);
    sexpw_end(w);
    sexpw_close(w);
}

struct rank rank_from(const struct sexp *e)
{
    struct rank k = { 0 };
    if (!sexp_head(e, 0, "rank")) sexp_die(e, 0, "not a (rank ...), as loop-rank writes it");
    const str machine = sexp_str_of(e, 0, "machine");
    snprintf(k.machine, sizeof k.machine, "%.*s", (int)machine.n, machine.s);
    bool good;
    k.isa = isa_of(sexp_str_of(e, 0, "isa"), &good);
    if (!good) sexp_die(e, sexp_value(e, 0, "isa"), "avx2, avx512 or amx");
    k.rows = (size_t)sexp_int(e, sexp_value(e, 0, "rows"));
    k.problems = (size_t)sexp_int(e, sexp_value(e, 0, "problems"));
    snode at = sexp_first(e, 0);
    while (at != SEXP_NONE && !sexp_head(e, at, "model")) at = sexp_after(e, at);
    bool same = at != SEXP_NONE && sexp_num_of(e, 0, "encoder") == ENCODER_VERSION;
    if (same) k.trees = model_from(e, at);
    const struct model *m = k.trees;
    same = same && m->kind == MODEL_FOREST && !m->nclass && m->nfeature == RANK_FEATURES;
    for (int j = 0; same && j < RANK_FEATURES; j++) same = !strcmp(m->feature[j], feature_name(j));
    if (!same) sexp_die(e, 0, "learned by another version: make loop-learn");
    if (!m->ntree) sexp_die(e, at, "no tree in it");
    return k;
}

struct rank rank_read(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    struct rank k = rank_from(sexp_only(r));
    sexp_close(r);
    return k;
}

static void forget(struct rank *k)
{
    within_free(k->now);
    free(k->model);
    k->now = NULL;
    k->model = NULL;
}

void rank_free(struct rank *k)
{
    model_free(k->trees);
    forget(k);
}

char *rank_place(const char *machine, enum isa isa)
{
    const char *given = getenv("MILLRACE_LOOP_RANK"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given && *given) return xstrdup(given);
    if ((!cache || !*cache) && (!home || !*home)) return NULL;
    const uint64_t key = hash_bytes(machine, strlen(machine), ENCODER_VERSION << 8 | FORMAT);
    return xformat("%s%s/millrace/loop-rank-%s-%016llx", cache && *cache ? cache : home,
                   cache && *cache ? "" : "/.cache", isa_name[isa], (unsigned long long)key);
}

/* ---- used ---- */

double rank_slowdown(const struct rank *k, const struct seen_nest *s, double least)
{
    double x[RANK_FEATURES], slowdown;
    input(x, s, least);
    model_predict(k->trees, x, &slowdown);
    return slowdown;
}

/* brings what is next to order[at] */
static void bring_next(struct rank *k, size_t *order, size_t at, size_t n)
{
    k->next = within_next(k->now);
    size_t i = at;
    while (i < n && (k->next == k->first || order[i] != k->model[k->next])) i++;
    if (i == n) return;
    memmove(order + at + 1, order + at, (i - at) * sizeof *order);
    order[at] = k->model[k->next];
}

size_t *order_by_rank(const struct candidate *c, size_t n, const struct search *s)
{
    struct rank *k = s->rank;
    size_t *order = order_by_model(c, n);
    forget(k);
    if (s->measure < 2 || !n || k->isa != s->v->isa) return order;       /* one alone is the model's */
    k->first = n < RANK_FIRST ? n : RANK_FIRST;
    k->model = xmalloc(k->first, sizeof *k->model);
    memcpy(k->model, order, k->first * sizeof *order);
    double *slowdown = xmalloc(k->first, sizeof *slowdown), *x = xcalloc(size_mul(k->first, NEST_FEATURES), sizeof *x);
    for (size_t i = 0; i < k->first; i++) {
        struct seen_nest seen;
        struct nest t;
        const struct candidate *y = &c[order[i]];
        slowdown[i] = INFINITY;
        if (!candidate_build(s->p, y, &t)) continue;
        if (y->vec >= 0) candidate_vectorize(&t, y->vec);
        if (nest_features(&seen, s->p, &t, s->v->isa, s->v->prepared)) continue;
        slowdown[i] = rank_slowdown(k, &seen, c[0].seconds);
        features_of(x + i * NEST_FEATURES, &seen);
    }
    k->now = within_new(x, slowdown, k->first, NEST_FEATURES);
    free_all(slowdown, x);
    bring_next(k, order, 0, n);
    return order;
}

void told_rank(const struct search *s, size_t *order, size_t at, size_t n, double gflops)
{
    struct rank *k = s->rank;
    if (!k->now || k->next == k->first) return;
    within_told(k->now, k->next, gflops > 0 ? -log(gflops) : NAN);
    bring_next(k, order, at + 1, n);
}

/* ---- tables ---- */

static bool is(csv *t, int column, const char *word) { return column < 0 || str_is(csv_str(t, column), word); }

/* seconds of this row; nan: it has none */
static double seconds_of(csv *t, const struct problem *p, int seconds, int gflops)
{
    double x = seconds >= 0 && csv_has(t, seconds) ? csv_num(t, seconds) : NAN;
    const int column = isnan(x) && gflops >= 0 && csv_has(t, gflops) ? gflops : seconds;
    if (column == gflops && column >= 0 && csv_num(t, gflops) == 0) return NAN;
    if (column == gflops && column >= 0) x = problem_flops(p) / csv_num(t, gflops) * 1e-9;
    if (isnan(x)) return x;
    if (!(x > 0) || !isfinite(x)) csv_die(t, column, "a positive number");
    return x;
}

void rank_table_head(csvw *w)
{
    csvw_names(w, "problem,isa,tree,seconds,model_seconds");
    for (int j = 0; j < NEST_FEATURES; j++) csvw_names(w, nest_feature[j]);
    csvw_end(w);
}

static void write_features(csvw *w, const struct nest_rows *r, enum isa isa, const struct rank_row *x)
{
    csvw_cstr(w, r->p.text);
    csvw_cstr(w, isa_name[isa]);
    rows_write_tree(w, &r->p, &r->nest);
    csvw_num(w, x->seconds);
    csvw_num(w, x->s.seconds);
    for (int j = 0; j < NEST_FEATURES; j++) csvw_num(w, x->s.f[j]);
    csvw_end(w);
}

void rank_collect(struct rank_rows *k, const char *path, const char *machine, enum isa isa, csvw *w)
{
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    const int of = csv_find(t, "machine"), set = csv_find(t, "isa"), encoder = csv_find(t, "encoder");
    const int kind = csv_find(t, "kind");
    int seconds = csv_find(t, "seconds"), gflops = csv_find(t, "gflops");
    if (gflops >= 0 && encoder < 0) seconds = -1;        /* of searches: when it was found */
    if (seconds < 0 && gflops < 0) csv_need(t, "seconds");
    while (rows_next(&r)) {
        if (!is(t, of, machine) || !is(t, set, isa_name[isa]) || (kind >= 0 && is(t, kind, "simulated"))) continue;
        if (encoder >= 0 && csv_int(t, encoder) != ENCODER_VERSION) continue;
        struct rank_row x = { .seconds = seconds_of(t, &r.p, seconds, gflops) };
        if (isnan(x.seconds) || nest_features(&x.s, &r.p, &r.nest, isa, false)) continue;
        x.group = (size_t)intern(&k->groups, str_of(r.p.text));
        k->row = grow(k->row, k->n + 1, &k->room, sizeof *k->row);
        k->row[k->n++] = x;
        if (w) write_features(w, &r, isa, &x);
    }
    rows_close(&r);
}

struct chosen { str *field; struct seen_nest s; double slowdown, seconds; size_t at, place; bool code; };

static int by_model(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    if (x->code != y->code) return ORDER(y->code, x->code);
    if (x->s.seconds != y->s.seconds) return ORDER(x->s.seconds, y->s.seconds);
    return ORDER(x->at, y->at);
}

static int by_row(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return ORDER(x->at, y->at);
}

/* what the nests were measured at says which one is next */
static void measure_in_order(struct chosen *c, size_t coded, enum rank_order by, struct rng *g)
{
    const size_t n = coded < RANK_FIRST ? coded : RANK_FIRST;
    double *prior = xmalloc(n + 1, sizeof *prior), *x = xmalloc(size_mul(n, NEST_FEATURES) + 1, sizeof *x);
    for (size_t i = 0; i < n; i++) {
        prior[i] = by == RANK_UNTRAINED ? fmin(MOST, log(c[i].s.seconds / c[0].s.seconds)) : c[i].slowdown;
        features_of(x + i * NEST_FEATURES, &c[i].s);
    }
    for (size_t i = n; by == RANK_RANDOM && i-- > 1; ) {
        const size_t j = (size_t)rng_below(g, i + 1);
        const double t = prior[i];
        prior[i] = prior[j];
        prior[j] = t;
    }
    struct within *w = within_new(x, prior, n, NEST_FEATURES);
    for (size_t k = 0; k < n; k++) {
        const size_t next = within_next(w);
        c[next].place = k;
        within_told(w, next, log(c[next].seconds));
    }
    within_free(w);
    free_all(prior, x);
}

/* rows of one problem, in the order of measuring, written as they came */
static void place(struct chosen *c, size_t n, int columns, const struct rank *k, enum rank_order by, struct rng *g,
                  csvw *w)
{
    size_t coded = 0;
    qsort(c, n, sizeof *c, by_model);
    while (coded < n && c[coded].code) coded++;
    for (size_t i = 0; i < n; i++) {
        c[i].place = i;
        if (i < coded) c[i].slowdown = rank_slowdown(k, &c[i].s, c[0].s.seconds);
    }
    if (by != RANK_MODEL) measure_in_order(c, coded, by, g);
    qsort(c, n, sizeof *c, by_row);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) csvw_str(w, c[i].field[j]);
        csvw_known(w, c[i].code ? c[i].s.seconds : NAN);
        csvw_known(w, c[i].code ? c[i].slowdown : NAN);
        csvw_int(w, (int64_t)c[i].place);
        csvw_end(w);
    }
}

int rank_place_table(const struct rank *k, enum isa isa, const char *path, enum rank_order by, uint64_t seed)
{
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    const int columns = csv_ncol(t), gflops = csv_find(t, "gflops");
    const int seconds = gflops >= 0 && csv_find(t, "encoder") < 0 ? -1 : csv_find(t, "seconds");
    struct arena text = { 0 };
    struct chosen *c = NULL;
    size_t n = 0, cap = 0;
    struct rng g = rng_for(seed, str_of("order"));
    csvw *w = csvw_open("-");
    csvw_copy_names(w, t);
    csvw_names(w, "model_seconds,slowdown,place");
    csvw_end(w);
    for (bool more = true; more; ) {
        more = rows_next(&r);
        if (n && (!more || r.fresh)) {
            place(c, n, columns, k, by, &g, w);
            arena_free(&text);
            text = (struct arena){ 0 };
            n = 0;
        }
        if (!more) break;
        c = grow(c, n + 1, &cap, sizeof *c);
        c[n] = (struct chosen){ .field = arena_get(&text, size_mul((size_t)columns, sizeof(str))), .at = n };
        for (int j = 0; j < columns; j++) c[n].field[j] = (str){ csv_cstr(t, j, &text), csv_str(t, j).n };
        c[n].code = !nest_features(&c[n].s, &r.p, &r.nest, isa, false);
        c[n].seconds = seconds_of(t, &r.p, seconds, gflops);
        n++;
    }
    free(c);
    rows_close(&r);
    return csvw_close(w);
}

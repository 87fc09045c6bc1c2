#include "loop/search/rank.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include "loop/search/candidate.h"
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

static void input(double *x, const struct seen_nest *s, double least)
{
    for (int j = 0; j < NEST_FEATURES; j++) x[j] = isfinite(s->f[j]) ? s->f[j] : 0;
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

void rank_free(struct rank *k) { model_free(k->trees); }

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

struct place { double slowdown; size_t at; };

static int by_slowdown(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->slowdown != y->slowdown) return ORDER(x->slowdown, y->slowdown);
    return ORDER(x->at, y->at);
}

static size_t *ordered(const double *slowdown, size_t n, int sides)
{
    const size_t first = n < RANK_FIRST ? n : RANK_FIRST;
    struct place *by = xmalloc(first + 1, sizeof *by);
    size_t *order = xmalloc(n + 1, sizeof *order), k = 0;
    bool *taken = xcalloc(n + 1, 1);
    for (size_t i = 0; i < first; i++) by[i] = (struct place){ slowdown[i], i };
    qsort(by, first, sizeof *by, by_slowdown);
    for (size_t i = 0; i < first; i++)
        for (int side = 0; side < sides; side++) {
            const size_t at = side ? i : by[i].at;
            if (!taken[at]) order[k++] = at;
            taken[at] = true;
        }
    for (size_t i = first; i < n; i++) order[k++] = i;
    free_all(by, taken);
    return order;
}

size_t *rank_turns(const double *slowdown, size_t n) { return ordered(slowdown, n, 2); }
size_t *rank_alone(const double *slowdown, size_t n) { return ordered(slowdown, n, 1); }

size_t *order_by_rank(const struct candidate *c, size_t n, const struct search *s)
{
    size_t *model = order_by_model(c, n), first = n < RANK_FIRST ? n : RANK_FIRST;
    if (s->measure < 2 || !n) return model;              /* one alone is the model's */
    double *slowdown = xmalloc(n + 1, sizeof *slowdown);
    for (size_t i = 0; i < first; i++) {
        struct seen_nest seen;
        struct nest t;
        const struct candidate *x = &c[model[i]];
        slowdown[i] = INFINITY;
        if (!candidate_build(s->p, x, &t)) continue;
        if (x->vec >= 0) candidate_vectorize(&t, x->vec);
        if (!nest_features(&seen, s->p, &t, s->v->isa, s->v->prepared))
            slowdown[i] = rank_slowdown(s->rank, &seen, c[0].seconds);
    }
    size_t *turns = rank_turns(slowdown, n), *order = xmalloc(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = model[turns[i]];
    free_all(model, slowdown, turns);
    return order;
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
    int seconds = csv_find(t, "seconds"), gflops = csv_find(t, "gflops");
    if (gflops >= 0 && encoder < 0) seconds = -1;        /* of searches: when it was found */
    if (seconds < 0 && gflops < 0) csv_need(t, "seconds");
    while (rows_next(&r)) {
        if (!is(t, of, machine) || !is(t, set, isa_name[isa])) continue;
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

struct chosen { str *field; struct seen_nest s; double slowdown; size_t at, place; bool code; };

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

/* rows of one problem, in the order of measuring, written as they came */
static void place(struct chosen *c, size_t n, int columns, const struct rank *k, enum rank_order by, struct rng *g,
                  csvw *w)
{
    size_t coded = 0;
    qsort(c, n, sizeof *c, by_model);
    while (coded < n && c[coded].code) coded++;
    double *slowdown = xmalloc(n + 1, sizeof *slowdown);
    for (size_t i = 0; i < coded; i++) {
        c[i].slowdown = rank_slowdown(k, &c[i].s, c[0].s.seconds);
        slowdown[i] = by == RANK_MODEL ? (double)i : by == RANK_RANDOM ? rng_unit(g) : c[i].slowdown;
    }
    size_t *order = by == RANK_LEARNED ? rank_alone(slowdown, coded) : rank_turns(slowdown, coded);
    for (size_t i = 0; i < n; i++) c[i].place = i;
    for (size_t i = 0; i < coded; i++) c[order[i]].place = i;
    qsort(c, n, sizeof *c, by_row);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) csvw_str(w, c[i].field[j]);
        csvw_known(w, c[i].code ? c[i].s.seconds : NAN);
        csvw_known(w, c[i].code ? c[i].slowdown : NAN);
        csvw_int(w, (int64_t)c[i].place);
        csvw_end(w);
    }
    free_all(order, slowdown);
}

int rank_place_table(const struct rank *k, enum isa isa, const char *path, enum rank_order by, uint64_t seed)
{
    struct nest_rows r;
    csv *t = csv_open(path);
    rows_open(&r, t, true);
    const int columns = csv_ncol(t);
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
        n++;
    }
    free(c);
    rows_close(&r);
    return csvw_close(w);
}

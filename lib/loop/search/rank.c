#include "loop/search/rank.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include "loop/search/candidate.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST = 1.5, STEEP = 3, FLOOR = 0.05; /* of slow-downs and weights, see rank.h */

static const char *feature_name(int j)
{
    return j < NEST_FEATURES ? nest_feature[j] : j == NEST_FEATURES ? "model_seconds" : "model_slowdown";
}

static void input(float *x, const struct seen_nest *s, double least)
{
    for (int j = 0; j < NEST_FEATURES; j++) x[j] = isfinite(s->f[j]) ? (float)s->f[j] : 0;
    x[NEST_FEATURES] = (float)log(s->seconds);
    x[NEST_FEATURES + 1] = (float)log(s->seconds / least);
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
    float *x = xmalloc(size_mul(n + 1, RANK_FEATURES), sizeof *x);
    double *y = xmalloc(n + 1, sizeof *y), *w = xmalloc(n + 1, sizeof *w);
    for (size_t i = 0; i < n; i++) {
        input(x + i * RANK_FEATURES, &r[i].s, least[r[i].group]);
        y[i] = fmin(MOST, log(r[i].seconds / best[r[i].group]));
    }
    if (o->shuffle) shuffled(y, r, n, k.problems, o->trees.seed);
    for (size_t i = 0; i < n; i++) w[i] = exp(-STEEP * y[i]) + FLOOR;
    k.trees = trees_fit(x, y, w, n, RANK_FEATURES, &o->trees);
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
    sexpw_begin(w, "features");
    for (int j = 0; j < RANK_FEATURES; j++) sexpw_cstr(w, feature_name(j));
    sexpw_end(w);
    for (int t = 0; t < k->trees.count; t++) {
        const size_t end = t + 1 < k->trees.count ? k->trees.root[t + 1] : k->trees.n;
        sexpw_line(w);
        sexpw_begin(w, "tree");
        for (size_t i = k->trees.root[t]; i < end; i++) {
            char b[32];
            const struct trees_node *node = &k->trees.node[i];
            sexpw_int(w, node->feature);
            snprintf(b, sizeof b, node->feature < 0 ? "%.4g" : "%.7g", (double)node->at);
            sexpw_cstr(w, b);
        }
        sexpw_end(w);
    }
    sexpw_end(w);
    sexpw_close(w);
}

/* a tree in pre-order: every inner node waits for its right one */
static void tree_from(struct trees *t, const struct sexp *e, snode list)
{
    int32_t waits[TREES_DEEP + 1];
    int depth = 0;
    bool whole = false;
    t->root[t->count++] = t->n;
    for (snode c = sexp_nth(e, list, 1); c != SEXP_NONE; ) {
        const int64_t feature = sexp_int(e, c);
        const snode next = sexp_after(e, c);
        if (next == SEXP_NONE || whole) sexp_die(e, c, "not a tree: a node is FEATURE THRESHOLD or -1 VALUE");
        const double at = sexp_num(e, next);
        if (feature < -1 || feature >= RANK_FEATURES)
            sexp_die(e, c, "no feature has the number %lld", (long long)feature);
        if (!(fabs(at) <= FLT_MAX)) sexp_die(e, next, "a number that is not finite");
        if (t->n >= INT32_MAX / 2) sexp_die(e, c, "more nodes than can be");
        t->node = grow(t->node, t->n + 1, &t->room, sizeof *t->node);
        t->node[t->n] = (struct trees_node){ (float)at, (int16_t)feature, 0 };
        if (feature >= 0) {
            if (depth > TREES_DEEP) sexp_die(e, c, "a tree deeper than %d", TREES_DEEP);
            waits[depth++] = (int32_t)t->n;
        } else if (depth) {
            t->node[waits[--depth]].right = (int32_t)t->n + 1;
        } else {
            whole = true;
        }
        t->n++;
        c = sexp_after(e, next);
    }
    if (!whole) sexp_die(e, list, "a tree that ends before its leaves");
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
    const snode names = sexp_get(e, 0, "features");
    bool same = sexp_count(e, names) == RANK_FEATURES + 1 && sexp_num_of(e, 0, "encoder") == ENCODER_VERSION;
    for (int j = 0; same && j < RANK_FEATURES; j++)
        same = str_is(sexp_atom(e, sexp_nth(e, names, (size_t)j + 1)), feature_name(j));
    if (!same) sexp_die(e, 0, "learned by another version: make loop-learn");
    const size_t most = sexp_count(e, 0);
    k.trees.root = xmalloc(most + 1, sizeof *k.trees.root);
    k.trees.features = RANK_FEATURES;
    for (snode x = sexp_first(e, 0); x != SEXP_NONE; x = sexp_after(e, x))
        if (sexp_head(e, x, "tree")) tree_from(&k.trees, e, x);
    if (!k.trees.count) sexp_die(e, 0, "no tree in it");
    return k;
}

struct rank rank_read(const char *path)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    struct rank k = rank_from(sexp_only(r));
    sexp_close(r);
    return k;
}

void rank_free(struct rank *k) { trees_free(&k->trees); }

char *rank_place(const char *machine, enum isa isa)
{
    const char *given = getenv("MILLRACE_LOOP_RANK"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given && *given) return xstrdup(given);
    if ((!cache || !*cache) && (!home || !*home)) return NULL;
    const uint64_t key = hash_bytes(machine, strlen(machine), ENCODER_VERSION);
    return xformat("%s%s/millrace/loop-rank-%s-%016llx", cache && *cache ? cache : home,
                   cache && *cache ? "" : "/.cache", isa_name[isa], (unsigned long long)key);
}

/* ---- used ---- */

double rank_slowdown(const struct rank *k, const struct seen_nest *s, double least)
{
    float x[RANK_FEATURES];
    input(x, s, least);
    return trees_predict(&k->trees, x);
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

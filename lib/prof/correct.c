/* correct.c - see correct.h */
#include "prof/correct.h"
#include "base/checked.h"
#include "base/message.h"
#include "measure/stats.h"
#include "prof/sweep.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cost { str hook; double mean, inside, error, freedom, calls; };   /* calls: over all cells, in full costs */
struct costs { struct cost *v; size_t n, cap; };

/* of one call of a hook; what is longer was not measured */
static const double LONGEST_NS = 1e9;

static int64_t whole_ns(double ns)
{
    if (!(fabs(ns) < 9e18)) die("number too large: %g ns", ns);
    return llround(ns);
}

static struct costs read_costs(const char *path)
{
    struct costs c = { 0 };
    const struct sexp *x = sexp_only(sexp_open(path, SEXP_CORE));
    if (!sexp_head(x, 0, "calibration")) sexp_die(x, 0, "expected (calibration (cost ..) ..)");
    for (snode n = sexp_after(x, sexp_first(x, 0)); n != SEXP_NONE; n = sexp_after(x, n)) {
        if (!sexp_head(x, n, "cost")) continue;
        double mean = sexp_num_of(x, n, "mean_ns"), repeats = sexp_num_or(x, n, "n", 1);
        double std = sexp_num_or(x, n, "std_ns", 0), inside = sexp_num_or(x, n, "inside_ns", mean / 2);
        if (!(fabs(mean) < LONGEST_NS && std >= 0 && std < LONGEST_NS && fabs(inside) < LONGEST_NS && repeats >= 0))
            sexp_die(x, n, "a hook's cost is no time of less than a second");
        c.v = grow(c.v, c.n + 1, &c.cap, sizeof *c.v);
        c.v[c.n++] =
            (struct cost){ sexp_str_of(x, n, "hook"), mean, fmin(mean, inside),
                           repeats > 1 ? std / sqrt(repeats - 1) : std, /* std is the population's */
                           fmax(0, repeats - 1) };
    }
    return c;
}

static size_t cost_of(const struct costs *c, str hook)
{
    size_t any = c->n;
    for (size_t h = 0; h < c->n; h++) {
        if (str_eq(c->v[h].hook, hook)) return h;
        if (str_is(c->v[h].hook, "any")) any = h;
    }
    return any;
}

void correct_costs(const char *calibration, const char *const *hook, size_t n, struct hook_cost *cost)
{
    struct costs c = read_costs(calibration);
    for (size_t i = 0; i < n; i++) {
        size_t h = cost_of(&c, str_of(hook[i]));
        cost[i] = h < c.n ? (struct hook_cost){ c.v[h].mean, c.v[h].inside } : (struct hook_cost){ 0, 0 };
    }
    free(c.v);
}

/* the texts that tell a cell from all others */
static str key_of(struct buf *b, const char *proc, const char *phase, const char *op, const char *cats)
{
    const char *part[] = { proc, phase, op, cats };
    b->n = 0;
    for (int k = 0; k < 4; k++) buf_add(b, part[k], strlen(part[k]) + 1);
    return (str){ b->s, b->n };
}

/* what a cell could not give: from the largest others of the same operation, first and each one's next */
static double carry(const struct cells *c, double *left, size_t first, const size_t *next, double debt)
{
    while (debt > 0) {
        size_t best = c->n;
        for (size_t k = first; k < c->n; k = next[k]) {
            if (left[k] <= 0 || !c->v[k].cats[0] || set_has_gpu(c->v[k].cats)) continue;
            if (best == c->n || left[k] > left[best]) best = k;
        }
        if (best == c->n) break;
        double take = fmin(debt, left[best]);
        left[best] -= take;
        debt -= take;
    }
    return debt;
}

/* degrees of freedom of a sum of independent errors; *error: their root sum of squares */
static double welch(const double *v, const double *freedom, size_t n, double *error)
{
    double variance = 0, parts = 0;
    for (size_t i = 0; i < n; i++) {
        variance += v[i] * v[i];
        if (freedom[i] > 0) parts += v[i] * v[i] * v[i] * v[i] / freedom[i];
    }
    *error = sqrt(variance);
    return parts > 0 ? variance * variance / parts : 0;
}

struct correction *correct_counted(const struct cells *c, const char *calibration, const char *hooks,
                                   struct removed *total)
{
    struct costs costs = read_costs(calibration);
    struct correction *out = xcalloc(c->n, sizeof *out);
    double *left = xcalloc(c->n, sizeof *left), *share = xcalloc(size_mul(c->n, costs.n) + 1, sizeof *share);
    struct arena text = { 0 };
    struct intern missing = { 0 }, keys = { 0 }, ops = { 0 };
    struct buf key = { 0 };
    size_t *cell = xmalloc(c->n, sizeof *cell);          /* by number of its key; of several the first */
    /* of process, phase and operation: the number by cell, the first and last cell of each, the next of each cell */
    size_t *of = xmalloc(c->n, sizeof *of), *first = xmalloc(c->n, sizeof *first), *last = xmalloc(c->n, sizeof *last);
    size_t *next = xmalloc(c->n, sizeof *next);
    for (size_t i = 0; i < c->n; i++) {
        const struct cell_row *r = &c->v[i];
        size_t known = keys.n;
        if (intern(&keys, key_of(&key, r->proc, r->phase, r->op, r->cats)) == known) cell[known] = i;
        left[i] = (double)r->total;
        known = ops.n;
        of[i] = intern(&ops, key_of(&key, r->proc, r->phase, r->op, ""));
        next[i] = c->n;
        if (of[i] == known) first[known] = i;
        else next[last[of[i]]] = i;
        last[of[i]] = i;
    }
    csv *t = csv_open(hooks);
    int proc = csv_need(t, "proc"), phase = csv_need(t, "phase"), op = csv_need(t, "op"), cats = csv_need(t, "cats");
    int hook = csv_need(t, "hook"), before = csv_need(t, "before"), begun = csv_need(t, "begun");
    while (csv_next(t)) {
        arena_reset(&text);
        long k = intern_find(&keys, key_of(&key, csv_cstr(t, proc, &text), csv_cstr(t, phase, &text),
                                           csv_cstr(t, op, &text), csv_cstr(t, cats, &text)));
        size_t i = k < 0 ? c->n : cell[k];
        size_t h = cost_of(&costs, csv_str(t, hook));
        if (h == costs.n) intern(&missing, csv_str(t, hook));
        if (i == c->n || h == costs.n || set_has_gpu(c->v[i].cats)) continue;
        const struct cost *one = &costs.v[h];
        double n_before = csv_num(t, before), n_begun = csv_num(t, begun);
        double cost = one->inside * n_begun + (one->mean - one->inside) * n_before;
        left[i] -= cost;
        share[i * costs.n + h] += one->mean > 0 ? cost / one->mean : (n_begun + n_before) / 2;
    }
    csv_close(t);
    for (size_t h = 0; h < missing.n; h++) warn("hook %s is not calibrated, its cost is taken as 0", missing.name[h].s);
    for (size_t i = 0; i < c->n; i++) {
        if (left[i] >= 0) continue;
        double debt = -left[i];
        left[i] = 0;
        out[i].clipped = whole_ns(carry(c, left, first[of[i]], next, debt));
    }
    for (size_t i = 0; i < c->n; i++) {
        out[i].corrected = whole_ns(left[i]);
        double variance = 0;
        for (size_t h = 0; h < costs.n; h++) {
            double error = share[i * costs.n + h] * costs.v[h].error;
            variance += error * error;
            costs.v[h].calls += share[i * costs.n + h];
        }
        out[i].error = sqrt(variance);
    }
    /* one hook's errors in all cells have one cause and add up; those of different hooks are independent */
    double *error = xcalloc(costs.n + 1, sizeof *error), *freedom = xcalloc(costs.n + 1, sizeof *freedom);
    *total = (struct removed){ 0 };
    for (size_t h = 0; h < costs.n; h++) {
        error[h] = costs.v[h].calls * costs.v[h].error;
        freedom[h] = costs.v[h].freedom;
        total->ns += costs.v[h].calls * costs.v[h].mean;
    }
    total->freedom = welch(error, freedom, costs.n, &total->error);
    intern_free(&missing);
    intern_free(&keys);
    intern_free(&ops);
    arena_free(&text);
    free_all(costs.v, left, share, cell, of, first, last, next, key.s, error, freedom);
    return out;
}

/* ---- all cells together */

struct sample { double *v, mean, error, freedom; size_t n; };

static void describe(struct sample *s)
{
    s->mean = mean(s->v, s->n);
    s->error = s->n > 1 ? deviation(s->v, s->n) / sqrt((double)s->n) : 0;
    s->freedom = (double)s->n - 1;
}

static struct sample read_totals(const char *path)
{
    struct sample s = { 0 };
    size_t cap = 0;
    csv *t = csv_open(path);
    for (int k = csv_need(t, "total_ns"); csv_next(t);) {
        s.v = grow(s.v, s.n + 1, &cap, sizeof *s.v);
        s.v[s.n++] = csv_num(t, k);
    }
    csv_close(t);
    if (!s.n) die("%s: no rows", path);
    describe(&s);
    return s;
}

static double half_width(const double *v, const double *freedom, size_t n, double confidence)
{
    double p = (1 + confidence) / 2, error, f = welch(v, freedom, n, &error);
    return error * (f > 0 ? gsl_cdf_tdist_Pinv(p, f) : gsl_cdf_ugaussian_Pinv(p));
}

/* what each round's own calibration would have taken; nothing if none is taken at all */
static struct sample taken_by_round(const char *path, double taken)
{
    struct sample s = { 0 };
    size_t cap = 0;
    csv *t = csv_open(path);
    int calls = csv_need(t, "calls"), off = csv_need(t, "uninstrumented_ns"), on = csv_need(t, "instrumented_ns");
    while (csv_next(t)) {
        s.v = grow(s.v, s.n + 1, &cap, sizeof *s.v);
        double n = csv_num(t, calls);
        s.v[s.n++] = n > 0 ? (csv_num(t, on) - csv_num(t, off)) / n : 0;
    }
    csv_close(t);
    describe(&s);
    for (size_t i = 0; i < s.n; i++) s.v[i] *= taken > 0 && s.mean > 0 ? taken / s.mean : 0;
    return s;
}

/* half the width for the mean of a - b - c, row by row; b may be NULL */
static double paired_half_width(const struct sample *a, const struct sample *b, const struct sample *c,
                                double confidence)
{
    struct sample d = { .v = xcalloc(a->n, sizeof *d.v), .n = a->n };
    for (size_t i = 0; i < a->n; i++) d.v[i] = a->v[i] - (b ? b->v[i] : 0) - c->v[i];
    describe(&d);
    free(d.v);
    return half_width(&d.error, &d.freedom, 1, confidence);
}

struct total correct_total(const struct cells *c, const struct correction *r, struct removed removed,
                           const char *repeats, const char *against, const char *pairs, double confidence)
{
    struct total t = { 0 };
    struct sample runs = { 0 }, bare = { 0 };
    double left = 0;
    for (size_t k = 0; k < c->n; k++) {
        t.raw += (double)c->v[k].total;
        left += (double)r[k].corrected;
        t.clipped += (double)r[k].clipped;
    }
    t.taken = t.raw - left;
    if (repeats) {
        runs = read_totals(repeats);
        t.raw = runs.mean;
    }
    if (against) {
        bare = read_totals(against);
        t.truth = bare.mean;
    }
    t.corrected = t.raw - t.taken;
    double error[] = { removed.error, runs.error, bare.error };
    double freedom[] = { removed.freedom, runs.freedom, bare.freedom };
    t.half = half_width(error, freedom, 2, confidence);
    t.half_against = half_width(error, freedom, 3, confidence);
    if (pairs) {
        struct sample taken = taken_by_round(pairs, t.taken);
        if (taken.n != runs.n || (against && bare.n != runs.n))
            die("%s: %zu rows, but %zu repeats", pairs, taken.n, runs.n);
        t.half = paired_half_width(&runs, NULL, &taken, confidence);
        if (against) t.half_against = paired_half_width(&runs, &bare, &taken, confidence);
        free(taken.v);
    }
    free(runs.v);
    free(bare.v);
    return t;
}

/* ---- placed intervals */

/* the set without overhead and, if there was any, without what ran on the CPU; operations stay */
static const char *without_overhead(const char *cats, struct arena *text)
{
    struct buf set = { 0 }, member = { 0 };
    bool overhead = false;
    for (str rest = str_of(cats); set_next(&rest, &member);) overhead |= is_overhead((str){ member.s, member.n });
    if (!overhead) return cats;
    for (str rest = str_of(cats); set_next(&rest, &member);) {
        bool op = member.n > 3 && memcmp(member.s, "op:", 3) == 0, gpu = is_gpu((str){ member.s, member.n });
        if (op || gpu) set_add(&set, (str){ member.s, member.n });
    }
    const char *out = arena_copy(text, set.s, set.n);
    free(set.s);
    free(member.s);
    return out;
}

static bool only_operations(const char *cats)
{
    struct buf member = { 0 };
    bool only = true;
    for (str rest = str_of(cats); only && set_next(&rest, &member);)
        only = member.n > 3 && memcmp(member.s, "op:", 3) == 0;
    free(member.s);
    return only;
}

struct correction *correct_placed(struct cells *c)
{
    struct correction *out = xcalloc(c->n, sizeof *out);
    struct cells left = { .v = c->v };
    struct intern keys = { 0 };
    struct buf key = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        struct cell_row r = c->v[i];
        const char *cats = without_overhead(r.cats, &c->text);
        if (cats != r.cats && only_operations(cats)) continue;   /* nothing but overhead: the time goes */
        r.cats = cats;
        uint32_t k = intern(&keys, key_of(&key, r.proc, r.phase, r.op, r.cats));
        struct cell_row *same = &left.v[k];
        if (k < left.n) {
            same->total = i64_add(same->total, r.total);
            same->runs = i64_add(same->runs, r.runs);
            if (r.lo < same->lo) same->lo = r.lo;
            if (r.hi > same->hi) same->hi = r.hi;
        } else left.v[left.n++] = r;
    }
    intern_free(&keys);
    free(key.s);
    c->n = left.n;
    for (size_t i = 0; i < c->n; i++) out[i].corrected = c->v[i].total;
    return out;
}

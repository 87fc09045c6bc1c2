/* worth.c - see worth.h */
#include "inline/worth.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/rng.h"
#include "fit/dense.h"
#include "fit/ridge.h"
#include "inline/live.h"
#include "inline/parts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 3, MOST_PATHS = 1500, FOLDS = 8, DRAWS = 8, SURE = 7 };
/* in eigenvalues of centred 0 and 1, what is below this is rounding; what is told apart leaves no more than slack */
static const double rounding = 1e-9, slack = 1e-6;
/* what inlining a call may save, as shares of what its callee executes and of what its caller does; a path below the
 * least share of the whole is left out; what no model explains, as shares of the whole */
static const double saves_callee = 0.1, saves_caller = 0.005, least_share = 1e-5, noises[] = { 1e-4, 1e-3, 1e-2 };

/* A copy of the last call's callee in `root`, by way of these calls: what it executes moves there from `from`, the
 * first call's callee, less what that saves. */
struct path { uint32_t call[DEEP], root, from; size_t n; double moves, saves, saved, draw[DRAWS]; };
struct function { double *cost, most; };                 /* of each trial; the most of them */
struct numbers { uint32_t *v; size_t n, cap; };
struct worth_model {
    struct intern site, function;
    struct function *f;
    size_t cap;
    uint32_t *caller, *callee;                           /* of each call: functions */
    unsigned char *x;                                    /* x[trial * calls + call] */
    struct path *path;
    size_t n, cap_path;
    struct numbers *touches;                             /* of each call: paths through it */
    double whole;                                        /* mean cost of a trial */
    struct arena text;
};

static void push(struct numbers *l, uint32_t v)
{
    l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
    l->v[l->n++] = v;
}

/* ---- trials and their answers */

struct row { long trial; uint32_t site; unsigned char inlined; str decisions; };

static str caller_of(str site)
{
    const char *at = memchr(site.s, '@', site.n), *end = site.s + site.n, *from = at ? at + 1 : site.s,
               *colon = memchr(from, ':', (size_t)(end - from));
    return live_plain((str){ from, (size_t)((colon ? colon : end) - from) });
}

static uint32_t function_of(struct worth_model *m, str name, size_t trials)
{
    size_t before = m->function.n, k = intern(&m->function, name);
    m->f = grow(m->f, m->function.n, &m->cap, sizeof *m->f);
    if (k == before) m->f[k] = (struct function){ .cost = xcalloc(trials + 1, sizeof(double)) };
    return (uint32_t)k;
}

static bool take_parts(struct worth *w, const char *store, str decisions, size_t trials)
{
    struct worth_model *m = w->model;
    struct parts parts = { 0 };
    char *path = xformat("%s/%.*s.parts.csv", store, (int)decisions.n, decisions.s);
    bool there = parts_read(&parts, path) && parts.runs;
    for (size_t i = 0; i < parts.name.n && there; i++) {
        uint32_t k = function_of(m, parts.name.name[i], trials);
        struct function *f = &m->f[k];
        double sum = 0;
        for (size_t run = 1; run <= parts.runs; run++) sum += parts.cost[i][run];
        f->cost[w->trials] = sum;
        f->most = fmax(f->most, sum);
    }
    parts_free(&parts);
    free(path);
    return there;
}

void worth_read(struct worth *w, csv *t, const char *store)
{
    int trial = csv_need(t, "trial"), decisions = csv_need(t, "decisions"), site = csv_need(t, "site"),
        inlined = csv_need(t, "inlined");
    struct worth_model *m = xcalloc(1, sizeof *m);
    struct row *row = NULL;
    size_t n = 0, cap = 0, trials = 0;
    *w = (struct worth){ .model = m };
    while (csv_next(t)) {
        str d = csv_str(t, decisions);
        row = grow(row, n + 1, &cap, sizeof *row);
        row[n] = (struct row){ csv_int(t, trial), intern(&m->site, csv_str(t, site)), csv_int(t, inlined) != 0, d };
        bool new = !n || row[n].trial != row[n - 1].trial;
        trials += new;
        row[n].decisions = new ? (str){ arena_copy(&m->text, d.s, d.n), d.n } : row[n - 1].decisions;
        n++;
    }
    w->n = m->site.n;
    w->call = xcalloc(w->n + 1, sizeof *w->call);
    for (size_t k = 0; k < w->n; k++) {
        str s = m->site.name[k];
        const char *at = memchr(s.s, '@', s.n);
        w->call[k] = (struct worth_call){ .site = s, .caller = caller_of(s),
                                          .callee = live_plain((str){ s.s, at ? (size_t)(at - s.s) : s.n }) };
    }
    m->x = xcalloc(size_mul(trials + 1, w->n + 1), 1);
    for (size_t i = 0; i < n;) {
        size_t from = i;
        unsigned char *x = m->x + w->trials * w->n;
        memset(x, 0, w->n);
        for (; i < n && row[i].trial == row[from].trial; i++) x[row[i].site] = row[i].inlined;
        w->trials += take_parts(w, store, row[from].decisions, trials);
    }
    if (w->trials < 2) die("%s: fewer than two trials whose functions were counted", store);
    m->caller = xmalloc(w->n + 1, sizeof *m->caller);
    m->callee = xmalloc(w->n + 1, sizeof *m->callee);
    for (size_t k = 0; k < w->n; k++) {
        m->caller[k] = function_of(m, w->call[k].caller, trials);
        m->callee[k] = function_of(m, w->call[k].callee, trials);
    }
    for (size_t k = 0; k < m->function.n; k++)
        for (size_t i = 0; i < w->trials; i++) m->whole += m->f[k].cost[i] / (double)w->trials;
    free(row);
}

/* ---- paths */

static void add_paths(struct worth *w, uint32_t root, uint32_t caller, uint32_t *path, size_t deep)
{
    struct worth_model *m = w->model;
    for (uint32_t k = 0; k < w->n; k++) {
        bool again = m->callee[k] == root;
        if (m->caller[k] != caller) continue;
        for (size_t i = 0; i < deep; i++) again |= m->caller[path[i]] == m->callee[k];
        path[deep] = k;
        uint32_t from = m->callee[path[0]];
        double moves = m->f[m->callee[k]].most > 0 ? m->f[m->callee[k]].most : m->f[root].most,
               saves = saves_callee * m->f[m->callee[k]].most + saves_caller * m->f[root].most;
        if (again || saves < least_share * m->whole || m->n >= MOST_PATHS) continue;
        m->path = grow(m->path, m->n + 1, &m->cap_path, sizeof *m->path);
        struct path *p = &m->path[m->n];
        *p = (struct path){ .root = root, .from = from, .n = deep + 1, .moves = moves, .saves = saves };
        memcpy(p->call, path, (deep + 1) * sizeof *path);
        for (size_t i = 0; i <= deep; i++) push(&m->touches[path[i]], (uint32_t)m->n);
        m->n++;
        if (deep + 1 < DEEP) add_paths(w, root, m->callee[k], path, deep + 1);
    }
}

static bool there(const struct path *p, const unsigned char *x)
{
    for (size_t i = 0; i < p->n; i++) if (!x[p->call[i]]) return false;
    return true;
}

/* ---- all equations: a row a trial and function; columns: each function's own cost, what each path moves, what it
 * saves; each in units of how large it may be, so that one strength of the ridge is right for all */

static struct sparse equations(const struct worth *w, double *y)
{
    const struct worth_model *m = w->model;
    struct sparse a = { 0 };
    size_t nf = m->function.n, row = 0;
    for (size_t t = 0; t < w->trials; t++)
        for (uint32_t f = 0; f < nf; f++) {
            if (m->f[f].most > 0) sparse_add(&a, f, 3 * m->f[f].most / m->whole);
            for (uint32_t k = 0; k < m->n; k++) {
                const struct path *p = &m->path[k];
                if ((p->root != f && p->from != f) || !there(p, m->x + t * w->n)) continue;
                sparse_add(&a, (uint32_t)nf + k, (p->root == f ? 1 : -1) * p->moves / m->whole);
                if (p->root == f) sparse_add(&a, (uint32_t)(nf + m->n) + k, -p->saves / m->whole);
            }
            sparse_end_row(&a);
            y[row++] = m->f[f].cost[t] / m->whole;
        }
    return a;
}

/* what the model says of a trial, over the mean */
static double told(const struct worth *w, const double *v, const unsigned char *x)
{
    const struct worth_model *m = w->model;
    double sum = 0;
    for (size_t f = 0; f < m->function.n; f++) sum += v[f] * 3 * m->f[f].most / m->whole;
    for (size_t k = 0; k < m->n; k++)
        if (there(&m->path[k], x)) sum -= v[m->function.n + m->n + k] * m->path[k].saves / m->whole;
    return sum;
}

static double total(const struct worth *w, size_t trial)
{
    double sum = 0;
    for (size_t f = 0; f < w->model->function.n; f++) sum += w->model->f[f].cost[trial];
    return sum;
}

/* the noise with which trials that are left out are told best */
static double choose_noise(const struct worth *w, struct ridge *r, const double *y, double *weight, double *v)
{
    size_t nf = w->model->function.n, folds = w->trials < FOLDS ? w->trials : FOLDS;
    double best = INFINITY, noise = noises[0];
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        double error = 0;
        for (size_t fold = 0; fold < folds; fold++) {
            for (size_t t = 0; t < w->trials; t++)
                for (size_t f = 0; f < nf; f++) weight[t * nf + f] = t % folds != fold;
            ridge_solve(r, noises[i] * noises[i], y, weight, v);
            for (size_t t = fold; t < w->trials; t += folds)
                error += pow(told(w, v, w->model->x + t * w->n) - total(w, t) / w->model->whole, 2);
        }
        if (error < best) {
            best = error;
            noise = noises[i];
        }
    }
    return noise;
}

static void fit(struct worth *w, uint64_t sample)
{
    struct worth_model *m = w->model;
    size_t nf = m->function.n, rows = w->trials * nf;
    double *y = xmalloc(rows + 1, sizeof *y), *weight = xmalloc(rows + 1, sizeof *weight),
           *v = xcalloc(nf + 2 * m->n + 1, sizeof *v);
    struct sparse a = equations(w, y);
    if (a.cols < nf + 2 * m->n) a.cols = nf + 2 * m->n;
    struct ridge *r = ridge_new(&a, RIDGE_AUTO);
    double noise = choose_noise(w, r, y, weight, v);
    for (int draw = -1; draw < DRAWS; draw++) {          /* all trials once; then trials drawn with replacement */
        char name[32];
        snprintf(name, sizeof name, "draw %d", draw);
        struct rng drawn = rng_for(sample, str_of(name));
        for (size_t i = 0; i < rows; i++) weight[i] = draw < 0 && !sample;
        for (size_t t = 0; t < w->trials && (draw >= 0 || sample); t++) {
            size_t which = rng_below(&drawn, w->trials);
            for (size_t f = 0; f < nf; f++) weight[which * nf + f]++;
        }
        ridge_solve(r, noise * noise, y, weight, v);
        for (size_t k = 0; k < m->n; k++) {
            struct path *p = &m->path[k];
            if (draw < 0) p->saved = v[nf + m->n + k] * p->saves;
            else p->draw[draw] = v[nf + m->n + k] * p->saves;
        }
    }
    ridge_free(r);
    sparse_free(&a);
    free(y);
    free(weight);
    free(v);
}

/* ---- which calls do the trials tell from all others? */

/* z: a column a path of f's equations, centred; a call is told apart when its own direction is a sum of rows */
static void tell_apart(struct worth *w, uint32_t f)
{
    const struct worth_model *m = w->model;
    struct numbers own = { 0 };
    size_t n = w->trials;
    for (uint32_t k = 0; k < m->n; k++)
        if (m->path[k].root == f || m->path[k].from == f) push(&own, k);
    size_t p = own.n;
    double *z = xcalloc(size_mul(n, p) + 1, sizeof *z), *g = xcalloc(size_mul(n, n), sizeof *g),
           *d = xcalloc(n, sizeof *d), *v = xcalloc(size_mul(n, n), sizeof *v);
    for (size_t c = 0; c < p; c++) {
        double mean = 0;
        for (size_t t = 0; t < n; t++)
            mean += (z[t * p + c] = there(&m->path[own.v[c]], m->x + t * w->n)) / (double)n;
        for (size_t t = 0; t < n; t++) z[t * p + c] -= mean;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t c = 0; c < p; c++) g[i * n + j] += z[i * p + c] * z[j * p + c];
    if (p) dense_eigen(g, n, d, v);
    for (size_t c = 0; c < p; c++) {
        const struct path *q = &m->path[own.v[c]];
        double shared = 0;
        if (q->n > 1) continue;
        for (size_t j = 0; j < n && d[j] > rounding * d[0]; j++) {
            double dot = 0;
            for (size_t t = 0; t < n; t++) dot += v[t * n + j] * z[t * p + c];
            shared += dot * dot / d[j];
        }
        w->call[q->call[0]].known &= shared > 1 - slack;
    }
    free_all(z, g, d, v, own.v);
}

/* ---- the search in the model */

/* what deciding call k the other way would add; *sure: in how many draws it would be of that sign */
static double flip(const struct worth *w, unsigned char *x, uint32_t k, int *sure)
{
    const struct worth_model *m = w->model;
    double sum = 0, draw[DRAWS] = { 0 };
    for (size_t i = 0; i < m->touches[k].n; i++) {
        const struct path *p = &m->path[m->touches[k].v[i]];
        bool before = there(p, x);
        x[k] ^= 1;
        int change = there(p, x) - before;
        x[k] ^= 1;
        sum -= change * p->saved;
        for (int d = 0; d < DRAWS && change; d++) draw[d] -= change * p->draw[d];
    }
    *sure = 0;
    for (int d = 0; d < DRAWS; d++) *sure += draw[d] * sum > 0;
    return sum;
}

/* one call at a time, the one that gains most first, of steps that at least so many draws agree on */
static void descend(const struct worth *w, unsigned char *x, int least_sure)
{
    for (size_t step = 0; step < 4 * w->n; step++) {
        double least = -1e-9 * w->model->whole;
        long best = -1;
        for (uint32_t k = 0; k < w->n; k++) {
            int sure;
            double d = flip(w, x, k, &sure);
            if (d < least && sure >= least_sure) {
                least = d;
                best = k;
            }
        }
        if (best < 0) return;
        x[best] ^= 1;
    }
}

void worth_fit(struct worth *w, uint64_t sample)
{
    struct worth_model *m = w->model;
    size_t least = 0;
    uint32_t path[DEEP];
    m->touches = xcalloc(w->n + 1, sizeof *m->touches);
    for (uint32_t f = 0; f < m->function.n; f++) add_paths(w, f, f, path, 0);
    fit(w, sample);
    for (size_t k = 0; k < w->n; k++) w->call[k].known = w->call[k].matters = m->touches[k].n > 0;
    for (uint32_t f = 0; f < m->function.n; f++) tell_apart(w, f);
    for (size_t t = 1; t < w->trials; t++) if (total(w, t) < total(w, least)) least = t;
    unsigned char *from = m->x + least * w->n, *x = xmalloc(w->n + 1, 1);
    memcpy(x, from, w->n);
    for (uint32_t k = 0; k < w->n; k++) {
        struct worth_call *c = &w->call[k];
        c->worth = flip(w, x, k, &c->sure) * (x[k] ? 1 : -1);
        c->sign = c->worth != 0 ? c->worth > 0 : x[k];
    }
    descend(w, x, 0);
    for (size_t k = 0; k < w->n; k++) w->call[k].best = x[k];
    memcpy(x, from, w->n);
    descend(w, x, SURE);
    for (size_t k = 0; k < w->n; k++) w->call[k].careful = x[k];
    free(x);
}

void worth_free(struct worth *w)
{
    struct worth_model *m = w->model;
    for (size_t k = 0; k < m->function.n; k++) free(m->f[k].cost);
    for (size_t k = 0; m->touches && k < w->n; k++) free(m->touches[k].v);
    void *all[] = { m->touches, m->f, m->x, m->path, m->caller, m->callee, w->call };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    intern_free(&m->site);
    intern_free(&m->function);
    arena_free(&m->text);
    free(m);
}

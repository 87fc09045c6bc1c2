/* search.c - see search.h */
#include "inline/search.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ranked { struct live_site site; double heat; };

/* ---- annealing and random walk */

struct chain_state { const struct tried *now; long step; };

/* follow the chain through its complete steps */
static struct chain_state replay(const struct decision_search *s, bool always)
{
    struct chain_state c = { history_best(&s->history, &s->objective), 0 };
    const struct history *h = &s->history;
    const struct tried *first = NULL;
    for (size_t i = 0; i < h->n; i++)
        if (str_is(h->v[i].chain, s->chain) && h->v[i].step == 0) first = &h->v[i];
    if (first) {                                         /* the chain's first proposals name where it began */
        const struct tried *t = history_find(h, first->parent);
        if (t) c.now = t;
    }
    for (;; c.step++) {
        const struct tried *least = NULL;
        long n = 0;
        for (size_t i = 0; i < h->n; i++) {
            const struct tried *t = &h->v[i];
            if (!str_is(t->chain, s->chain) || t->step != c.step) continue;
            n++;
            if (!least || history_energy(&s->objective, t) < history_energy(&s->objective, least)) least = t;
        }
        if (n < s->count) return c;
        double d = history_energy(&s->objective, least) - history_energy(&s->objective, c.now);
        double part = (double)c.step / (double)s->steps, temperature = s->t_max * exp(-log(s->t_max / s->t_min) * part);
        char *key = xformat("%s/accept/%ld", s->chain, c.step);
        struct rng r = rng_for(s->seed, str_of(key));
        free(key);
        bool take = least->ok && (always || d <= 0 || rng_unit(&r) <= exp(-d / temperature));
        if (take) c.now = least;
    }
}

static size_t draw(struct rng *r, const double *weight, size_t n, double total)
{
    double x = rng_unit(r) * total;
    for (size_t i = 0; i + 1 < n; i++) if ((x -= weight[i]) < 0) return i;
    return n - 1;
}

/* turn off an inlined call together with all that was inlined through it */
static void backtrack(struct live *set, const struct live_site *c)
{
    struct live_site *have = live_find(set, c->site);
    if (have) have->inlined = false;
    for (size_t i = 0; i < set->n; i++) {
        str chain = set->v[i].site.chain, outer = c->site.chain;
        if (chain.n > outer.n && memcmp(chain.s + chain.n - outer.n, outer.s, outer.n) == 0)
            set->v[i].inlined = false;
    }
}

static size_t anneal(struct decision_search *s, struct proposal *p, bool always)
{
    static const int sizes[] = { 1, 1, 2, 3, 5 };
    struct chain_state c = replay(s, always);
    if (c.step >= s->steps) return 0;
    struct live now = { 0 };
    search_load(s, c.now->decisions, &now);
    struct search_pool pool = search_pool(s, &now);
    double total = 0;
    for (size_t i = 0; i < pool.n; i++) total += pool.weight[i];
    size_t n = 0;
    for (long k = 0; k < s->count && pool.n; k++) {
        char *key = xformat("%s/%ld/%ld", s->chain, c.step, k);
        struct rng r = rng_for(s->seed, str_of(key));
        free(key);
        for (int attempt = 0; attempt < 100; attempt++) {
            search_copy(s, &p[n].set, &now);
            const struct live_site *first = &pool.site[draw(&r, pool.weight, pool.n, total)];
            if (first->inlined && rng_below(&r, 4) == 0) backtrack(&p[n].set, first);
            else
                for (int m = sizes[rng_below(&r, 5)]; m > 0; m--)
                    search_flip(&p[n].set, &pool.site[draw(&r, pool.weight, pool.n, total)]);
            search_finish(&p[n], c.now->decisions, c.step);
            if (!search_is_new(s, p, n, c.step)) continue;
            n++;
            break;
        }
    }
    bool all_known = true;                               /* so few calls that the step cannot be filled: the end */
    for (size_t i = 0; i < n; i++) all_known = all_known && history_find(&s->history, str_of(p[i].hash));
    search_pool_free(&pool);
    live_free(&now);
    return all_known ? 0 : n;
}

/* ---- every call alone, then together */

static int by_energy(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return ORDER(x->heat, y->heat);
}

static size_t singles(struct decision_search *s, struct proposal *p)
{
    const struct tried *now = history_best(&s->history, &s->objective);
    double here = history_energy(&s->objective, now);
    struct live set = { 0 };
    search_load(s, now->decisions, &set);
    struct search_pool pool = search_pool(s, &set);
    size_t n = 0, nhelp = 0, width = s->width && (size_t)s->width < pool.n ? (size_t)s->width : pool.n;
    struct ranked *help = xmalloc(pool.n, sizeof *help);
    for (size_t i = 0; i < width && n < (size_t)s->count; i++) {
        search_copy(s, &p[n].set, &set);
        search_flip(&p[n].set, &pool.site[i]);
        search_finish(&p[n], now->decisions, s->steps);
        const struct tried *t = history_find(&s->history, str_of(p[n].hash));
        if (!t) {
            if (search_is_new(s, p, n, -1)) n++;
        } else if (history_energy(&s->objective, t) < here)
            help[nhelp++] = (struct ranked){ pool.site[i], history_energy(&s->objective, t) };
    }
    if (n == 0 && nhelp) {                               /* all alone were tried: now those that helped, together */
        qsort(help, nhelp, sizeof *help, by_energy);
        for (size_t m = nhelp; m > 1 && n < (size_t)s->count; m = (m + 1) / 2) {
            search_copy(s, &p[n].set, &set);
            for (size_t i = 0; i < m; i++) search_flip(&p[n].set, &help[i].site);
            search_finish(&p[n], now->decisions, s->steps);
            if (search_is_new(s, p, n, -1)) n++;
            if (m == 2) break;
        }
    }
    free(help);
    search_pool_free(&pool);
    live_free(&set);
    return n;
}

/* ---- subsets of a few calls: all of them, or a tree search */

static void subset(const struct decision_search *s, struct live *set, const struct live *from,
                   const struct search_pool *pool, const bool *yes, size_t n)
{
    search_copy(s, set, from);
    for (size_t i = 0; i < n; i++) {
        struct live_site *have = live_find(set, pool->site[i].site);
        if (have ? have->inlined != yes[i] : yes[i]) search_flip(set, &pool->site[i]);
    }
}

static size_t exhaustive(struct decision_search *s, struct proposal *p)
{
    enum { MOST = 20 };
    struct live set = { 0 };
    search_load(s, s->objective.base->decisions, &set);
    struct search_pool pool = search_pool(s, &set);
    if (pool.n > MOST)
        die("%zu calls are too many for an exhaustive search (at most %d); use --hot to leave out cold ones", pool.n,
            MOST);
    size_t n = 0;
    for (uint32_t code = 0; code < 1u << pool.n && n < (size_t)s->count; code++) {
        bool yes[MOST];
        for (size_t i = 0; i < pool.n; i++) yes[i] = code >> i & 1;
        subset(s, &p[n].set, &set, &pool, yes, pool.n);
        search_finish(&p[n], s->objective.base->decisions, (long)code);
        if (search_is_new(s, p, n, -1)) n++;
    }
    search_pool_free(&pool);
    live_free(&set);
    return n;
}

enum { TREE_DEPTH = 40 };
struct visit { bool yes[TREE_DEPTH]; double reward; };

/* UCB1 (Auer et al. 2002) down the known part of the tree, then a random leaf biased to what the best set does */
static void descend(const struct visit *v, size_t nv, size_t depth, bool *yes, const bool *best, struct rng *r)
{
    bool *alive = xmalloc(nv + 1, sizeof *alive);
    for (size_t i = 0; i < nv; i++) alive[i] = true;
    bool known = true;
    for (size_t d = 0; d < depth; d++) {
        double n[2] = { 0 }, sum[2] = { 0 };
        for (size_t i = 0; i < nv; i++) if (alive[i]) n[v[i].yes[d]]++, sum[v[i].yes[d]] += v[i].reward;
        if (!known) yes[d] = rng_below(r, 4) ? best[d] : !best[d];
        else if (n[0] == 0 && n[1] == 0) yes[d] = best[d];
        else if (n[0] == 0 || n[1] == 0) yes[d] = n[1] == 0;
        else {
            double total = log(n[0] + n[1]), u[2];
            for (int k = 0; k < 2; k++)
                u[k] = sum[k] / n[k] + 0.05 * sqrt(2 * total / n[k]); /* rewards spread over some per cent */
            yes[d] = u[1] > u[0];
        }
        known = known && n[yes[d]] > 0;
        for (size_t i = 0; i < nv; i++) alive[i] = alive[i] && v[i].yes[d] == yes[d];
    }
    free(alive);
}

static size_t mcts(struct decision_search *s, struct proposal *p)
{
    struct live base = { 0 }, other = { 0 };
    search_load(s, s->objective.base->decisions, &base);
    struct search_pool pool = search_pool(s, &base);
    size_t depth = pool.n < TREE_DEPTH ? pool.n : TREE_DEPTH, nv = 0, n = 0;
    struct visit *v = xmalloc(s->history.n + 1, sizeof *v);
    bool best[TREE_DEPTH] = { 0 };
    const struct tried *top = history_best(&s->history, &s->objective);
    long step = 0;
    for (size_t i = 0; i < s->history.n; i++) {
        const struct tried *t = &s->history.v[i];
        if (str_is(t->chain, s->chain) && t->step >= step) step = t->step + 1;
        if (!t->ok) continue;
        search_load_inlined(s, t->decisions, &other);
        for (size_t d = 0; d < depth; d++) {
            const struct live_site *c = live_find(&other, pool.site[d].site);
            v[nv].yes[d] = c && c->inlined;
        }
        if (t == top) memcpy(best, v[nv].yes, sizeof best);
        v[nv++].reward = -history_energy(&s->objective, t);
        if (isinf(v[nv - 1].reward)) nv--;
    }
    for (int attempt = 0; attempt < 50 && n < (size_t)s->count && depth; attempt++) {
        char *key = xformat("%s/%ld/%d", s->chain, step, attempt);
        struct rng r = rng_for(s->seed, str_of(key));
        free(key);
        bool yes[TREE_DEPTH];
        descend(v, nv, depth, yes, best, &r);
        subset(s, &p[n].set, &base, &pool, yes, depth);
        search_finish(&p[n], s->objective.base->decisions, step);
        if (search_is_new(s, p, n, -1)) n++;
        else memcpy(v[nv].yes, yes, sizeof yes), v[nv++].reward = 0;     /* seen: go elsewhere */
        if (nv > s->history.n) break;
    }
    free(v);
    search_pool_free(&pool);
    live_free(&base);
    live_free(&other);
    return n;
}

/* ---- where to begin */

/* the heuristic's set with the least text: what it says is cheap for calls of which nothing is known */
static const struct tried *smallest(const struct decision_search *s)
{
    const struct tried *best = s->objective.base;
    for (size_t i = 0; i < s->history.n; i++) {
        const struct tried *t = &s->history.v[i];
        if (t->ok && str_is(t->chain, "") && t->text_bytes < best->text_bytes) best = t;
    }
    return best;
}

/* Of the calls that a heuristic inlines the executed ones, or the often executed ones; about the others it is decided
 * as in the default or in the smallest program, since other inputs execute other calls, or they stay calls. */
static size_t start(struct decision_search *s, struct proposal *p)
{
    enum { AS_DEFAULT, AS_SMALLEST, AS_NOTHING };
    static const struct { double part; int rest; } way[] = {
        { 1e-4, AS_DEFAULT }, { 1e-4, AS_SMALLEST }, { 0, AS_NOTHING },
        { 1e-4, AS_NOTHING }, { 1e-2, AS_SMALLEST }, { 0, AS_SMALLEST } };
    /* the part is of the hottest call's executions */
    struct live set = { 0 }, cold[3] = { { 0 } };
    search_load_inlined(s, s->objective.base->decisions, &cold[0]);
    search_load_inlined(s, smallest(s)->decisions, &cold[1]);
    size_t n = 0, ways = sizeof way / sizeof *way;
    for (size_t i = 0; i < ways * s->history.n && n < (size_t)s->count; i++) { /* one way with every heuristic first */
        const struct tried *t = &s->history.v[i % s->history.n];
        size_t k = i / s->history.n;
        if (!t->ok || !str_is(t->chain, "") || str_is(t->decisions, "none")) continue;
        search_load_inlined(s, t->decisions, &set);
        struct search_pool pool = search_pool(s, &set);
        double cut = way[k].part * (pool.n ? pool.heat[0] : 0);
        const struct live *rest = &cold[way[k].rest];
        live_clear(&p[n].set);
        for (size_t j = 0; j < pool.n; j++)
            if (pool.site[j].inlined && pool.heat[j] > cut)
                live_add(&p[n].set, pool.site[j].site, true);
        for (size_t j = 0; j < rest->n; j++)
            if (rest->v[j].inlined && search_heat(s, &rest->v[j]) <= cut &&
                work_legal(s->work, rest->v[j].site.callee, rest->v[j].site.chain))
                live_add(&p[n].set, rest->v[j].site, true);
        live_sort(&p[n].set);
        search_finish(&p[n], t->decisions, (long)k);
        if (search_is_new(s, p, n, -1)) n++;
        search_pool_free(&pool);
    }
    live_free(&set);
    live_free(&cold[0]);
    live_free(&cold[1]);
    return n;
}

size_t search_propose(struct decision_search *s, struct proposal *p)
{
    switch (s->algorithm) {
    case SEARCH_START: return start(s, p);
    case SEARCH_LOCAL: return search_local(s, p);
    case SEARCH_FLIP: return singles(s, p);
    case SEARCH_EXHAUSTIVE: return exhaustive(s, p);
    case SEARCH_MCTS: return mcts(s, p);
    case SEARCH_ANNEAL: case SEARCH_WALK: return anneal(s, p, s->algorithm == SEARCH_WALK);
    }
    return 0;
}

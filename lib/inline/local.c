/* local.c - the search `local`: in one build a call is decided the other way in each of many functions, and what each
 * of these moves did is read from its own functions' instructions and bytes (parts.h).
 *
 * A move touches the function that the call is in, the callee, and where the first is itself inlined, its hosts and
 * theirs; moves that share a function are never in one build.  Steps 0 of the chain are such tests; after `width` of
 * them the moves that helped are tried together, as step 1: if that is better it is the best set, where the next tests
 * start, else the better half of them is tried, and so on; with a limit on instructions, those that save most text for
 * what the limit leaves.  A move's help is the mean over the runs without the one that gains most, so that what helps a
 * single input is not taken; what it did from an earlier best set is the estimate until it is tried again.  When every
 * move was tried once they are tried again from the best set, until nothing helps.
 * Which moves a test made lies beside its set: store/HASH.moves.csv (move, callee, chain, inline). */
#include "inline/parts.h"
#include "base/checked.h"
#include "base/compare.h"
#include "inline/search.h"
#include "base/message.h"
#include "base/rng.h"
#include "table/csvio.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct move {
    struct live_site *site;                              /* n of them, all decided `to` */
    size_t n, nnear;
    uint32_t *near;                                      /* functions touched, numbers of local.function */
    uint32_t key, *decides;                              /* what names it in every context; keys of its n calls */
    double instructions, text, energy; /* what it did to the logarithm of either, and to the goal; nan: not known */
    double order;
    bool to, tested, here;                               /* here: what it did is known from this very set */
};

struct edge { uint32_t inlined, into; double copies; };  /* numbers of local.function */

struct local {
    struct decision_search *s;
    const struct tried *now;
    struct live set;                                     /* of now, complete */
    struct parts parts;                                  /* of now */
    struct move *v;
    struct edge *edge;
    double *copies;                                      /* of each function of an edge; 0: not counted yet */
    const struct live_site **inner;                      /* calls of the set that are inlined in the linker */
    size_t n, cap, nedge, ncopies, ninner;
    struct intern key, function;
    struct arena memory;
    size_t tests;                                        /* made from now */
};

static char *store_path(const struct local *l, str decisions, const char *ending)
{
    return xformat("%s/%.*s%s", l->s->store, (int)decisions.n, decisions.s, ending);
}

static void touch(struct local *l, struct move *m, str function)
{
    uint32_t k = intern(&l->function, site_plain(function));
    for (size_t i = 0; i < m->nnear; i++) if (m->near[i] == k) return;
    uint32_t *more = arena_get(&l->memory, size_mul(m->nnear + 1, sizeof *more));
    if (m->nnear) memcpy(more, m->near, m->nnear * sizeof *more);
    more[m->nnear++] = k;
    m->near = more;
}

static uint32_t key_of(struct local *l, const struct live_site *site, size_t n)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < n; i++) {
        site_add(&b, site[i].site);
        buf_char(&b, '\n');
    }
    uint32_t k = intern(&l->key, (str){ b.s, b.n });
    free(b.s);
    return k;
}

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return ORDER(x->inlined, y->inlined) ?: ORDER(x->into, y->into);
}

/* which functions are inlined into which and how often, each pair once, in order */
static void list_edges(struct local *l)
{
    size_t cap = 0, n = 0;
    for (size_t i = 0; i < l->set.n; i++) {
        if (!l->set.v[i].inlined) continue;
        l->edge = grow(l->edge, l->nedge + 1, &cap, sizeof *l->edge);
        str inlined = site_plain(l->set.v[i].site.callee), into = site_plain(site_outermost(l->set.v[i].site.chain));
        uint32_t first = intern(&l->function, inlined);
        l->edge[l->nedge++] = (struct edge){ first, intern(&l->function, into), 1 };
    }
    if (l->nedge) qsort(l->edge, l->nedge, sizeof *l->edge, by_edge);
    for (size_t i = 0; i < l->nedge; i++)
        if (n && by_edge(&l->edge[n - 1], &l->edge[i]) == 0) l->edge[n - 1].copies++;
        else l->edge[n++] = l->edge[i];
    l->nedge = n;
    l->ncopies = l->function.n;
    l->copies = xcalloc(l->ncopies + 1, sizeof *l->copies);
}

static size_t first_edge(const struct local *l, uint32_t function)
{
    size_t from = 0, to = l->nedge;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (l->edge[middle].inlined < function) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* how often a function's code is in the program: its own body, and wherever it is inlined */
static double copies(struct local *l, str function)
{
    long f = intern_find(&l->function, function);
    if (f < 0 || (size_t)f >= l->ncopies) return 1;
    if (l->copies[f] > 0) return l->copies[f];
    l->copies[f] = 1;                                    /* for a function that comes back to itself */
    double n = parts_find(&l->parts, function) != NULL;
    for (size_t i = first_edge(l, (uint32_t)f); i < l->nedge && l->edge[i].inlined == (uint32_t)f; i++)
        n += l->edge[i].copies * copies(l, l->function.name[l->edge[i].into]);
    return l->copies[f] = n > 1 ? n : 1;
}

/* the functions that hold code of a touched one: what it is inlined into, and so on */
static void touch_hosts(struct local *l, struct move *m)
{
    for (size_t i = 0; i < m->nnear; i++) {
        uint32_t f = m->near[i];
        for (size_t k = first_edge(l, f); k < l->nedge && l->edge[k].inlined == f; k++)
            touch(l, m, l->function.name[l->edge[k].into]);
    }
}

static void add_move(struct local *l, struct live_site *site, size_t n, bool to)
{
    struct move m = { .site = site, .n = n, .to = to, .energy = NAN, .instructions = NAN, .text = NAN };
    m.key = key_of(l, site, n);
    for (size_t i = 0; i < n; i++) touch(l, &m, site_outermost(site[i].site.chain));
    touch_hosts(l, &m);
    for (size_t i = 0; i < n; i++) touch(l, &m, site[i].site.callee);
    for (size_t i = 0; i < n; i++)                       /* what the copy of the callee may call from now on */
        for (size_t k = 0; k < l->ninner && to; k++)
            if (str_eq(site_outermost(l->inner[k]->site.chain), site_plain(site[i].site.callee)))
                touch(l, &m, l->inner[k]->site.callee);
    m.decides = arena_get(&l->memory, size_mul(n, sizeof *m.decides));
    for (size_t i = 0; i < n; i++) m.decides[i] = key_of(l, &site[i], 1);
    l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
    l->v[l->n++] = m;
}

static int by_order(const void *a, const void *b)
{
    const struct move *x = a, *y = b;
    return ORDER(x->order, y->order);
}

/* all calls of one function at once: a function that has no callers left is gone */
static void add_groups(struct local *l, const struct search_pool *pool)
{
    struct intern callee = { 0 };
    for (size_t i = 0; i < pool->n; i++) intern(&callee, pool->site[i].site.callee);
    for (size_t k = 0; k < callee.n; k++)
        for (int to = 0; to < 2; to++) {
            size_t n = 0;
            struct live_site *site = arena_get(&l->memory, size_mul(pool->n, sizeof *site));
            for (size_t i = 0; i < pool->n; i++)
                if (pool->site[i].inlined == !to && str_eq(pool->site[i].site.callee, callee.name[k]))
                    site[n++] = pool->site[i];
            if (n > 1 && n <= 24) add_move(l, site, n, to);
        }
    intern_free(&callee);
}

/* Least first.  Where a function is inlined into several places, or into one that is itself there several times: by
 * what one copy of it would save by the compiler's estimate, the most first (a function with a single call is forced
 * in by a bonus of 15000).  Then how far the estimate is from where the compiler changes its mind: what is near is
 * likelier to be decided wrongly.  Moves of the same distance, and those without an estimate at the end, come in
 * random order. */
static double promise(struct local *l, const struct move *m, str key)
{
    enum { SIZE_THRESHOLD = 5, LEAST_COST = -300, LAST_CALL_BONUS = 15000, FAR = 100000 };   /* of -Oz */
    double away = 0, body = 0, places = 0;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        double cost = search_cost(l->s, &m->site[i]);
        places += copies(l, site_plain(site_outermost(m->site[i].site.chain)));
        if (isnan(cost)) continue;
        away += fabs(cost - SIZE_THRESHOLD);
        body += (cost < LEAST_COST ? cost + LAST_CALL_BONUS : cost) - SIZE_THRESHOLD;
        n++;
    }
    struct rng r = rng_for(l->s->seed, key);
    if (!m->to && body > 0 && places > 1) return -body / (double)n * (places - 1) + rng_unit(&r);
    return (n ? away / (double)n : FAR) + rng_unit(&r);
}

/* Instructions: one call each, the most executed first, down to where none can be felt.  Text: the promising first. */
static void list_moves(struct local *l)
{
    struct decision_search *s = l->s;
    struct search_pool pool = search_pool(s, &l->set);
    bool size = s->objective.text_weight > 0.5;
    list_edges(l);
    l->inner = xmalloc(l->set.n + 1, sizeof *l->inner);
    for (size_t i = 0; i < l->set.n; i++)
        if (l->set.v[i].inlined && str_is(site_stage(l->set.v[i].site.chain), "link"))
            l->inner[l->ninner++] = &l->set.v[i];
    for (size_t i = 0; i < pool.n; i++) {
        if (!size && s->heat && pool.heat[i] < 1e-5 * l->now->instructions) break;
        struct live_site *site = arena_get(&l->memory, sizeof *site);
        *site = pool.site[i];
        add_move(l, site, 1, !site->inlined);
    }
    if (size) add_groups(l, &pool);
    for (size_t i = 0; i < l->n; i++)
        l->v[i].order = size ? promise(l, &l->v[i], l->key.name[l->v[i].key]) : (double)i;
    if (l->n) qsort(l->v, l->n, sizeof *l->v, by_order);
    search_pool_free(&pool);
}

/* what a move did: the change of its functions' costs between two builds */
static void effect(const struct local *l, struct move *m, const struct tried *from, const struct parts *before,
                   const struct parts *then)
{
    const struct objective *o = &l->s->objective;
    double by[1 + PART_RUNS] = { 0 }, total[1 + PART_RUNS] = { from->text_bytes };
    size_t most = from->nrun < PART_RUNS ? from->nrun : PART_RUNS,
           runs = before->runs == then->runs && before->runs == most ? most : 0;
    for (size_t k = 1; k <= runs; k++) total[k] = from->run[k - 1];
    for (size_t i = 0; i < m->nnear; i++) {
        str f = l->function.name[m->near[i]];
        const double *a = parts_find(before, f), *b = parts_find(then, f);
        for (size_t k = 0; k <= runs; k++) by[k] += ((b ? b[k] : 0) - (a ? a[k] : 0)) / total[k];
    }
    double sum = 0, least = 0;
    for (size_t k = 1; k <= runs; k++) {
        sum += by[k];
        if (by[k] < least) least = by[k];
    }
    m->text = by[0];
    m->instructions = runs == 0 ? NAN : runs > 2 ? (sum - least) / (double)(runs - 1) : sum / (double)runs;
    m->energy = o->text_weight >= 1 ? m->text : (1 - o->text_weight) * m->instructions + o->text_weight * m->text;
}

static bool read_parts(const struct local *l, struct parts *parts, str decisions)
{
    char *file = store_path(l, decisions, ".parts.csv");
    bool there = parts_read(parts, file);
    free(file);
    return there;
}

/* What a test tells about its move.  A test that was made from another set is an estimate, and when its move is part of
 * the present set, of the way back. */
static void learn(struct local *l, uint32_t key, bool to, bool here, bool same_chain, const struct tried *from,
                  const struct parts *before, const struct parts *then)
{
    for (size_t i = 0; i < l->n; i++) {
        struct move *m = &l->v[i];
        if (m->key != key) continue;
        m->tested = m->tested || same_chain;
        if (!then || m->here) continue;
        effect(l, m, from, before, then);
        if (m->to != to) {
            m->instructions = -m->instructions;
            m->text = -m->text;
            m->energy = -m->energy;
        }
        m->here = here;
    }
}

/* one test that was made: marks its moves as tested, and takes down what they did */
static void read_test(struct local *l, const struct tried *t)
{
    char *path = store_path(l, t->decisions, ".moves.csv");
    if (access(path, R_OK) != 0) {
        free(path);
        return;
    }
    bool here = str_eq(t->parent, l->now->decisions), same = str_is(t->chain, l->s->chain);
    struct parts before = { 0 }, then = { 0 };
    const struct tried *from = history_find(&l->s->history, t->parent);
    bool known = t->ok && from && from->ok && read_parts(l, &then, t->decisions) && read_parts(l, &before, t->parent);
    l->tests += here && same;
    csv *c = csv_open(path);
    int move = csv_need(c, "move"), callee = csv_need(c, "callee"), chain = csv_need(c, "chain"),
        to = csv_need(c, "inline");
    struct live_site *site = NULL;
    size_t n = 0, cap = 0;
    int64_t last = -1;
    bool last_to = false;
    for (bool more = true; more;) {
        more = csv_next(c);
        int64_t k = more ? csv_int(c, move) : -1;
        if (k != last && n) {
            learn(l, key_of(l, site, n), last_to, here, same, from, &before, known ? &then : NULL);
            n = 0;
        }
        if (!more) break;
        last = k;
        last_to = str_is(csv_str(c, to), "yes");
        site = grow(site, n + 1, &cap, sizeof *site);
        site[n].site.callee = str_of(csv_cstr(c, callee, &l->memory));
        site[n].site.chain = str_of(csv_cstr(c, chain, &l->memory));
        site[n++].inlined = false;
    }
    free(site);
    csv_close(c);
    parts_free(&before);
    parts_free(&then);
    free(path);
}

/* Not inlined any more: what was inlined through the call goes on inside the callee, where it has no body yet. */
static void leave(const struct local *l, struct live *set, const struct live_site *c)
{
    struct live_site *have = live_find(set, c->site);
    if (have) have->inlined = false;
    bool has_body = parts_find(&l->parts, c->site.callee) != NULL;
    str outer = site_bare(c->site.chain), stage = site_stage(c->site.chain);
    size_t n = set->n;
    for (size_t i = 0; i < n; i++) {
        str chain = site_bare(set->v[i].site.chain);
        if (!str_eq(site_stage(set->v[i].site.chain), stage) || chain.n <= outer.n + 3 ||
            memcmp(chain.s + chain.n - outer.n, outer.s, outer.n) != 0)
            continue;
        str inner = { chain.s, chain.n - outer.n - 3 };
        if (memcmp(inner.s + inner.n, " @ ", 3) != 0 ||
            !str_eq(site_outermost(inner), site_plain(c->site.callee)))
            continue;
        char *again = xformat("%.*s%s%.*s", (int)inner.n, inner.s, stage.n ? " @ " : "", (int)stage.n, stage.s);
        if (set->v[i].inlined && !has_body) live_add(set, (struct site){ set->v[i].site.callee, str_of(again) }, true);
        set->v[i].inlined = false;
        free(again);
    }
    live_sort(set);
}

/* Inlined before the link: what the linker was to inline in the callee, it is to inline in this copy too. */
static void join(struct live *set, const struct live_site *c)
{
    search_flip(set, c);
    if (!str_is(site_stage(c->site.chain), "compile")) return;
    str outer = site_bare(c->site.chain);
    size_t n = set->n;
    for (size_t i = 0; i < n; i++) {
        const struct live_site *s = &set->v[i];
        if (!s->inlined || !str_is(site_stage(s->site.chain), "link") ||
            !str_eq(site_outermost(s->site.chain), site_plain(c->site.callee)))
            continue;
        str inner = site_bare(s->site.chain);
        char *chain = xformat("%.*s @ %.*s @ link", (int)inner.n, inner.s, (int)outer.n, outer.s);
        live_add(set, (struct site){ s->site.callee, str_of(chain) }, true);
        free(chain);
    }
    live_sort(set);
}

static void apply(const struct local *l, struct live *set, const struct move *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct live_site *have = live_find(set, m->site[i].site);
        if ((have && have->inlined) == m->to) continue;
        if (m->to) join(set, &m->site[i]);
        else leave(l, set, &m->site[i]);
    }
}

/* sites that are not inlined are not part of a set's name */
static void only_inlined(const struct local *l, struct proposal *p)
{
    struct live all = p->set;
    p->set = (struct live){ 0 };
    search_copy(l->s, &p->set, &all);
    live_free(&all);
    search_finish(p, l->now->decisions, 0);
}

static void write_moves(const struct local *l, const char *hash, const struct move *const *m, size_t n)
{
    char *path = store_path(l, str_of(hash), ".moves.csv");
    csvw *w = csvw_open(path);
    csvw_names(w, "move,callee,chain,inline");
    csvw_end(w);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m[i]->n; k++) {
            csvw_int(w, (int64_t)i);
            csvw_str(w, m[i]->site[k].site.callee);
            csvw_str(w, m[i]->site[k].site.chain);
            csvw_cstr(w, m[i]->to ? "yes" : "no");
            csvw_end(w);
        }
    csvw_close(w);
    free(path);
}

/* one build that tests as many moves as do not meet; false when nothing is left to test */
static bool test(struct local *l, struct proposal *p, size_t n)
{
    bool *near = xcalloc(l->function.n + 1, sizeof *near);
    const struct move **chosen = xmalloc(l->n + 1, sizeof *chosen);
    size_t nchosen = 0;
    search_copy(l->s, &p[n].set, &l->set);
    for (size_t i = 0; i < l->n && nchosen < (size_t)l->s->together; i++) {
        struct move *m = &l->v[i];
        bool meets = m->tested;
        for (size_t k = 0; k < m->nnear; k++) meets = meets || near[m->near[k]];
        if (meets) continue;
        for (size_t k = 0; k < m->nnear; k++) near[m->near[k]] = true;
        apply(l, &p[n].set, m);
        m->tested = true;
        chosen[nchosen++] = m;
    }
    only_inlined(l, &p[n]);
    bool good = nchosen && search_is_new(l->s, p, n, -1);
    if (good) write_moves(l, p[n].hash, chosen, nchosen);
    free(near);
    free(chosen);
    return good;
}

static int by_energy(const void *a, const void *b)
{
    const struct move *x = *(const struct move *const *)a, *y = *(const struct move *const *)b;
    return ORDER(x->energy, y->energy) ?: ORDER(x->order, y->order);
}

static void apply_all(struct local *l, struct proposal *p, const struct move *const *m, size_t n)
{
    search_copy(l->s, &p->set, &l->set);
    for (size_t i = 0; i < n; i++) apply(l, &p->set, m[i]);
    only_inlined(l, p);
    p->step = 1;
}

/* sorts, the best first, and keeps of moves that decide about the same call the best one; how many are left */
static size_t without_rivals(struct local *l, const struct move **m, size_t n)
{
    bool *decided = xcalloc(l->key.n + 1, sizeof *decided);
    size_t kept = 0;
    if (n) qsort(m, n, sizeof *m, by_energy);
    for (size_t i = 0; i < n; i++) {
        bool clear = true;
        for (size_t k = 0; k < m[i]->n; k++) clear = clear && !decided[m[i]->decides[k]];
        if (!clear) continue;
        for (size_t k = 0; k < m[i]->n; k++) decided[m[i]->decides[k]] = true;
        m[kept++] = m[i];
    }
    free(decided);
    return kept;
}

/* the moves that helped, all or the better half or ...: the first such set that is new */
static bool together(struct local *l, struct proposal *p)
{
    const struct move **help = xmalloc(l->n + 1, sizeof *help);
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; i < l->n; i++) if (l->v[i].energy < -1e-5) help[n++] = &l->v[i];
    n = without_rivals(l, help, n);
    for (size_t m = n; m > 0 && !found; m /= 2) {
        apply_all(l, p, help, m);
        found = search_is_new(l->s, p, 0, -1);
    }
    free(help);
    return found;
}

/* the moves for which text + price * instructions falls, and the sum of what they do to instructions */
static size_t at_price(struct local *l, double price, const struct move **take, double *instructions)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct move *m = &l->v[i];
        if (isnan(m->instructions)) continue;
        m->energy = m->text + price * m->instructions;
        if (m->energy < -1e-6) take[n++] = m;
    }
    n = without_rivals(l, take, n);
    *instructions = 0;
    for (size_t i = 0; i < n; i++) *instructions += take[i]->instructions;
    return n;
}

/* With a limit on instructions every move has two prices, and what is left below the limit is bought from those that
 * save most text for it: the price of an instruction is the least that keeps the sum within.  Effects add up only
 * roughly, so for the next attempts a half, a quarter .. of what is left is spent, then nothing, then more is saved. */
static bool together_within(struct local *l, struct proposal *p)
{
    enum { ATTEMPTS = 6, STEPS = 60 };
    const struct objective *o = &l->s->objective;
    static const double part[ATTEMPTS] = { 1, 0.5, 0.25, 0, -0.5, -2 }, below[ATTEMPTS] = { 1, 1.25, 1.5, 2, 3, 4 };
    double left = history_instructions(o, o->within) - history_instructions(o, l->now), sum;
    if (fabs(left) < 1e-4) left = 1e-4;
    const struct move **take = xmalloc(l->n + 1, sizeof *take);
    bool found = false;
    for (int i = 0; i < ATTEMPTS && !found; i++) {
        double low = 0, high = 1e4;
        for (int k = 0; k < STEPS; k++) {
            double price = low > 0 ? sqrt(low * high) : high * 1e-6;
            at_price(l, price, take, &sum);
            if (sum > (left > 0 ? part[i] : below[i]) * left) low = price;
            else high = price;
        }
        size_t n = at_price(l, high, take, &sum);
        if (n == 0) continue;
        apply_all(l, p, take, n);
        found = search_is_new(l->s, p, 0, -1);
    }
    free(take);
    return found;
}

size_t search_local(struct decision_search *s, struct proposal *p)
{
    struct local l = { .s = s, .now = history_best(&s->history, &s->objective) };
    search_load(s, l.now->decisions, &l.set);
    char *path = store_path(&l, l.now->decisions, ".parts.csv");
    if (!parts_read(&l.parts, path)) die("%s is missing: measure this set again", path);
    free(path);
    list_moves(&l);
    for (size_t i = 0; i < s->history.n; i++)
        if (s->history.v[i].step == 0) read_test(&l, &s->history.v[i]);
    size_t n = 0, left = 0, width = s->width ? (size_t)s->width : 4;
    for (size_t i = 0; i < l.n; i++) left += !l.v[i].tested;
    if (left == 0)                                       /* once more, from here */
        for (size_t i = 0; i < l.n; i++) {
            l.v[i].tested = l.v[i].here;
            left += !l.v[i].tested;
        }
    if (l.tests && (l.tests >= width || left == 0) && (l.tests % width == 0 || left == 0 || s->count > 1))
        n = s->objective.within ? together_within(&l, p) : together(&l, p);
    while (n == 0 || p[0].step == 0) {
        if (n == (size_t)s->count || !test(&l, p, n)) break;
        n++;
    }
    return n;
}

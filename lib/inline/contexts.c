/* contexts.c - the algorithm `contexts` of search.h: a call stays inlined only where its stack is executed often.
 *
 * The inliner works from callees to callers, so what is inlined in a function's own body is in every copy of it.  Other
 * decisions for other copies are possible only where the call is left in the function itself and inlined in the copies:
 * "leaf in mid: no, but leaf in mid in top: yes" (two keys, see live.h).  How often a copy is executed is not counted
 * but reckoned: the call's own count, times the share that each step of its stack has in the calls of its callee.
 * Functions are gone through from callees to callers, so that a copy which was made in one function is looked at again
 * where that function is inlined itself; functions inlined into each other in a circle stay as they are.
 *
 * A build decides about all copies at once.  Of each function's own instructions and bytes (parts.h) one sees where it
 * paid; where it did not the copies are put back.  A copy that the compiler did not inline (LLVM inlines no call twice
 * among functions that call each other in a circle) is lost, so that call is decided in the function again.  That is
 * the next proposal. */
#include "base/checked.h"
#include "base/compare.h"
#include "inline/parts.h"
#include "inline/search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT_STEPS = 4, SIZE_THRESHOLD = 5 };          /* of -Oz: what costs less is inlined */
static const double OWN = 0.01;                          /* of a call's executions, in the function's own body */

struct place { uint32_t callee, host; double heat, cost; bool link; };

struct contexts {
    const struct decision_search *s;
    struct live set;                                     /* only grows; `inlined` is what changes */
    struct place *v;                                     /* of each in set */
    size_t cap;
    struct intern function;
    double *entries, *left;                              /* executed direct calls of each; of them, those that stay */
    size_t cap_entries, cap_left;
    struct parts parts;
    bool *stays;                                         /* of each function: all copies in it do */
    struct live obeyed;                                  /* what a build of such copies inlined; empty: none was made */
    double cut;
};

static uint32_t number(struct contexts *x, str function)
{
    size_t before = x->function.n;
    uint32_t k = intern(&x->function, function);
    x->entries = grow(x->entries, x->function.n, &x->cap_entries, sizeof *x->entries);
    x->left = grow(x->left, x->function.n, &x->cap_left, sizeof *x->left);
    if (k == before) x->entries[k] = x->left[k] = 0;
    return k;
}

/* keys of site_table.h: "callee chain"; of copies, whose chain has several elements, the call itself is there too */
static void count_entries(struct contexts *x)
{
    const struct intern *key = x->s->heat_key;
    for (size_t i = 0; i < key->n; i++) {
        str k = key->name[i];
        const char *blank = memchr(k.s, ' ', k.n);
        if (!blank || memmem(k.s, k.n, " @ ", 3)) continue;
        uint32_t f = number(x, (str){ k.s, (size_t)(blank - k.s) });
        x->entries[f] += x->s->heat[i];
    }
}

static str first_element(str chain)
{
    const char *end = memmem(chain.s, chain.n, " @ ", 3);
    return (str){ chain.s, end ? (size_t)(end - chain.s) : chain.n };
}

static str without_first(str chain)
{
    size_t n = first_element(chain).n;
    return n < chain.n ? (str){ chain.s + n + 3, chain.n - n - 3 } : (str){ "", 0 };
}

static double share(struct contexts *x, str callee, str element)
{
    struct live_site c = { .callee = callee, .chain = element };
    uint32_t k = number(x, live_plain(callee));
    double all = x->entries[k];
    return all > 0 ? fmin(1, search_heat(x->s, &c) / all) : 0;
}

static double heat(struct contexts *x, const struct live_site *c)
{
    double h = search_heat(x->s, c);
    for (str chain = live_bare(c->chain), next; (next = without_first(chain)).n; chain = next)
        h *= share(x, live_outermost(first_element(chain)), first_element(next));
    return h;
}

static void count_left(struct contexts *x, const struct live *known)
{
    for (size_t i = 0; i < known->n; i++) {
        const struct live_site *c = &known->v[i];
        if (c->inlined || str_is(live_stage(c->chain), "compile")) continue;   /* the linker is asked again */
        uint32_t f = number(x, live_plain(c->callee));
        x->left[f] += heat(x, c);
    }
}

static void place(struct contexts *x, size_t i)
{
    const struct live_site *c = &x->set.v[i];
    x->v = grow(x->v, i + 1, &x->cap, sizeof *x->v);
    x->v[i] = (struct place){ .callee = number(x, live_plain(c->callee)), .host = number(x, live_outermost(c->chain)),
                              .heat = heat(x, c), .cost = search_cost(x->s, c),
                              .link = str_is(live_stage(c->chain), "link") };
}

/* the copy of call c that lies where d is inlined */
static struct live_site copy_name(const struct contexts *x, size_t c, size_t d, struct buf *b)
{
    str inner = live_bare(x->set.v[c].chain), outer = live_bare(x->set.v[d].chain),
        stage = live_stage(x->set.v[x->v[c].link ? c : d].chain);
    b->n = 0;
    buf_format(b, "%.*s @ %.*s%s%.*s", (int)inner.n, inner.s, (int)outer.n, outer.s, stage.n ? " @ " : "",
               (int)stage.n, stage.s);
    return (struct live_site){ .callee = x->set.v[c].callee, .chain = { b->s, b->n } };
}

static void add_copy(struct contexts *x, size_t c, size_t d)
{
    struct buf b = { 0 };
    struct live_site copy = copy_name(x, c, d, &b);
    live_add(&x->set, copy.callee, copy.chain, true);
    place(x, x->set.n - 1);
    free(b.s);
}

/* One function: its calls that are inlined, those first whose copies of their callees others lie in; and where it is
 * inlined itself. */
struct inlined { size_t site, depth; };
struct body {
    struct inlined *call;
    size_t *into, ncalls, ninto;
    bool *split, *kept;                                  /* of each call; of each call and place */
};

static int by_depth(const void *a, const void *b)
{
    const struct inlined *x = a, *y = b;
    return ORDER(x->depth, y->depth) ?: ORDER(x->site, y->site);
}

static void list_body(const struct contexts *x, uint32_t function, struct body *b)
{
    b->ncalls = b->ninto = 0;
    for (size_t i = 0; i < x->set.n; i++) {
        if (!x->set.v[i].inlined) continue;
        if (x->v[i].host == function) b->call[b->ncalls++] = (struct inlined){ i, live_bare(x->set.v[i].chain).n };
        if (x->v[i].callee == function) b->into[b->ninto++] = i;
    }
    if (b->ncalls) qsort(b->call, b->ncalls, sizeof *b->call, by_depth);
}

/* the call whose copy of its callee this one lies in; ncalls: it lies in the function itself */
static size_t parent(const struct contexts *x, const struct body *b, size_t k)
{
    str chain = live_bare(x->set.v[b->call[k].site].chain), outer = without_first(chain),
        name = live_outermost(first_element(chain));
    for (size_t i = 0; outer.n && i < k; i++) {
        const struct live_site *c = &x->set.v[b->call[i].site];
        if (str_eq(live_bare(c->chain), outer) && str_eq(live_plain(c->callee), name)) return i;
    }
    return b->ncalls;
}

static bool reached(const struct contexts *x, const struct body *b, size_t c, size_t d)
{
    return x->v[b->into[d]].link || !x->v[c].link;       /* before the link: that copy has a key of its own already */
}

static bool refused(const struct contexts *x, const struct body *b, size_t c, const bool *kept)
{
    struct buf name = { 0 };
    bool any = false;
    for (size_t d = 0; d < b->ninto && x->obeyed.n && !any; d++) {
        if (!kept[d]) continue;
        struct live_site copy = copy_name(x, c, b->into[d], &name);
        const struct live_site *have = live_find(&x->obeyed, copy.callee, copy.chain);
        any = !have || !have->inlined;
    }
    free(name.s);
    return any;
}

static bool worth_a_call(const struct contexts *x, size_t c)
{
    return !(x->v[c].cost > SIZE_THRESHOLD);             /* not known, or its callee's only call: it stays */
}

/* is call k to be decided for each place by itself?  Then `kept` are the places where it stays. */
static bool choose(struct contexts *x, const struct body *b, uint32_t function, size_t k, bool *kept)
{
    size_t c = b->call[k].site, up = parent(x, b, k), left = 0, cold = 0;
    double inner = x->v[c].heat, entries = x->entries[function], rest = inner,
           own = entries > 0 ? inner * fmin(1, x->left[function] / entries) : 0;
    bool follows = up < b->ncalls && b->split[up];
    for (size_t d = 0; d < b->ninto; d++) {
        double h = entries > 0 ? inner * fmin(1, x->v[b->into[d]].heat / entries) : 0;
        bool stays = h > x->cut || (follows && worth_a_call(x, c)) || x->stays[x->v[b->into[d]].host];
        kept[d] = reached(x, b, c, d) && stays && (!follows || b->kept[up * b->ninto + d]);
        if (!reached(x, b, c, d)) continue;
        rest -= h;
        left += kept[d];
        cold += !kept[d];
    }
    if (follows) return true;
    if (worth_a_call(x, c)) return false;
    if (up < b->ncalls && inner <= x->cut && search_heat(x->s, &x->set.v[c]) > x->cut) return true;  /* a cold copy */
    bool body = parts_find(&x->parts, x->function.name[function]) != NULL;
    return left && fmax(own, rest) <= fmax(x->cut, OWN * inner) && (cold || body) && !refused(x, b, c, kept);
}

static void split_body(struct contexts *x, uint32_t function)
{
    struct body b = { .call = xmalloc(x->set.n + 1, sizeof *b.call), .into = xmalloc(x->set.n + 1, sizeof *b.into) };
    list_body(x, function, &b);
    b.split = xcalloc(b.ncalls + 1, sizeof *b.split);
    b.kept = xcalloc(size_add(size_mul(b.ncalls, b.ninto), 1), sizeof *b.kept);
    for (size_t k = 0; k < b.ncalls; k++) {
        bool *kept = b.kept + k * b.ninto;
        b.split[k] = choose(x, &b, function, k, kept);
        if (!b.split[k]) continue;
        x->set.v[b.call[k].site].inlined = false;
        for (size_t d = 0; d < b.ninto; d++) if (kept[d]) add_copy(x, b.call[k].site, b.into[d]);
    }
    free(b.call);
    free(b.into);
    free(b.split);
    free(b.kept);
}

/* a function after all that is inlined into it */
static void split_all(struct contexts *x)
{
    size_t n = x->function.n;
    uint32_t *waits = xcalloc(n + 1, sizeof *waits);
    bool *done = xcalloc(n + 1, sizeof *done);
    for (size_t i = 0; i < x->set.n; i++) waits[x->v[i].host]++;
    size_t sites = x->set.n;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t f = 0; f < n; f++) {
            if (done[f] || waits[f]) continue;
            done[f] = more = true;
            for (size_t i = 0; i < sites; i++) if (x->v[i].callee == f) waits[x->v[i].host]--;
            split_body(x, f);
        }
    }
    free(waits);
    free(done);
}

static void free_contexts(struct contexts *x)
{
    live_free(&x->set);
    intern_free(&x->function);
    live_free(&x->obeyed);
    parts_free(&x->parts);
    free(x->v);
    free(x->entries);
    free(x->left);
    free(x->stays);
}

static bool read_parts(const struct decision_search *s, struct parts *p, str decisions)
{
    char *file = xformat("%s/%.*s.parts.csv", s->store, (int)decisions.n, decisions.s);
    bool there = parts_read(p, file);
    free(file);
    return there;
}

/* did the function get no better? by the goal: its bytes, and its instructions in the mean of the runs */
static bool did_not_pay(const struct decision_search *s, const struct tried *from, const double *before,
                        const double *after, size_t runs)
{
    double text = (after[0] - before[0]) / from->text_bytes, instructions = 0;
    for (size_t k = 1; k <= runs; k++) instructions += (after[k] - before[k]) / from->run[k - 1] / (double)runs;
    double energy = (1 - s->objective.text_weight) * instructions + s->objective.text_weight * text;
    return energy >= 0 && (text > 0 || instructions > 0);
}

/* what stays in a function stays in all copies of it: only where it paid in none of those that hold them */
static void only_in_all(struct contexts *x)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < x->set.n; i++) {
            const struct place *c = &x->v[i];
            if (!x->stays[c->callee] || x->stays[c->host]) continue;
            x->stays[c->callee] = false;
            more = true;
        }
    }
}

/* in which functions a build that was made of these copies did not pay */
static void judge(struct contexts *x, const struct tried *from, const struct tried *t)
{
    struct parts then = { 0 };
    if (read_parts(x->s, &then, t->decisions)) {
        size_t runs = then.runs == x->parts.runs && then.runs == from->nrun ? then.runs : 0;
        for (size_t f = 0; f < x->function.n; f++) {
            const double *a = parts_find(&x->parts, x->function.name[f]), *b = parts_find(&then, x->function.name[f]);
            x->stays[f] = a && b && did_not_pay(x->s, from, a, b, runs);
        }
    }
    parts_free(&then);
    only_in_all(x);
    search_load_inlined(x->s, t->decisions, &x->obeyed);
}

/* the hottest call's executions, a part of which is where to draw the line */
static double hottest(const struct decision_search *s)
{
    double most = 0;
    for (size_t i = 0; i < s->heat_key->n; i++) most = fmax(most, s->heat[i]);
    return most;
}

/* judged: the build made by the same step, NULL for a first one */
static bool propose(const struct decision_search *s, struct proposal *p, size_t n, const struct tried *from, long step,
                    const struct tried *judged)
{
    static const double part[CONTEXT_STEPS] = { 1e-4, 0, 1e-3, 1e-2 };
    struct contexts x = { .s = s, .cut = part[step] * hottest(s) };
    struct live known = { 0 };
    count_entries(&x);
    read_parts(s, &x.parts, from->decisions);
    search_load(s, from->decisions, &known);
    search_copy(s, &x.set, &known);
    count_left(&x, &known);
    for (size_t i = 0; i < x.set.n; i++) place(&x, i);
    x.stays = xcalloc(x.function.n + 1, sizeof *x.stays);
    if (judged) judge(&x, from, judged);
    split_all(&x);
    live_sort(&x.set);
    search_copy(s, &p[n].set, &x.set);
    search_finish(&p[n], from->decisions, judged ? CONTEXT_STEPS + step : step);
    live_free(&known);
    free_contexts(&x);
    return search_is_new(s, p, n, -1);
}

size_t search_contexts(struct decision_search *s, struct proposal *p)
{
    size_t n = 0;
    if (!s->heat) return 0;
    for (size_t i = 0; i < s->history.n && n < (size_t)s->count; i++) {
        const struct tried *t = &s->history.v[i], *from = history_find(&s->history, t->parent);
        if (!t->ok || !from || !from->ok || !str_is(t->chain, s->chain)) continue;
        if (t->step < 0 || t->step >= CONTEXT_STEPS) continue;
        n += propose(s, p, n, from, t->step, t);
    }
    const struct tried *best = history_best(&s->history, &s->objective), *from[] = { best, s->objective.base };
    for (long k = 0; k < CONTEXT_STEPS; k++)             /* the default has instructions to give away */
        for (size_t i = 0; i < 1 + (best != from[1]) && n < (size_t)s->count; i++)
            n += propose(s, p, n, from[i], k, NULL);
    return n;
}

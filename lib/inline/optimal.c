/* optimal.c - see optimal.h */
#include "inline/optimal.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a set of calls in a function: those inlined, and those that so come within reach and are left */
struct entry { uint32_t function, *in, *out; size_t nin, nout; double cost; };

struct list { uint32_t *v; size_t n, cap; };

struct optimal {
    struct optimal_problem p;
    struct list *calls_of, *callers_of;                  /* of each function: calls that it makes, calls of it */
    struct entry *entry;
    size_t nentries, cap;
    struct intern key;                                   /* function and calls, as bytes -> entry */
    struct list *table, *want;                          /* of each function: entries with a cost, entries to be asked */
    bool *closed;
    signed char *x, *stays;                              /* the search: of each call, of each function: -1 undecided */
    double *share;
    bool relaxed;
    double *alone;                                       /* relaxed: what each call adds to its open caller alone */
    long nodes, builds;
    unsigned char *mark, *seen, *start;
    struct list stack;
};

static void push(struct list *l, uint32_t v)
{
    l->v = grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
    l->v[l->n++] = v;
}

/* ---- sets and their tables */

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return ORDER(*x, *y);
}

/* Calls within reach of f when the marked ones are inlined: *in and *out get them.  o->seen is clean before, after. */
static void reach(struct optimal *o, uint32_t f, const signed char *x, struct list *in, struct list *out)
{
    in->n = out->n = 0;
    o->stack.n = 0;
    push(&o->stack, f);
    o->seen[f] = 1;
    for (size_t k = 0; k < o->stack.n; k++) {
        const struct list *l = &o->calls_of[o->stack.v[k]];
        for (size_t i = 0; i < l->n; i++) {
            uint32_t c = l->v[i], to = o->p.call[c].callee;
            push(x[c] ? in : out, c);
            if (x[c] && !o->seen[to]) {
                o->seen[to] = 1;
                push(&o->stack, to);
            }
        }
    }
    for (size_t k = 0; k < o->stack.n; k++) o->seen[o->stack.v[k]] = 0;
}

static uint32_t *copy(const struct list *l)
{
    return l->n ? memcpy(xmalloc(l->n, sizeof *l->v), l->v, l->n * sizeof *l->v) : NULL;
}

/* the entry of f under x, made without a cost where it is new */
static uint32_t entry_of(struct optimal *o, uint32_t f, const signed char *x)
{
    struct list in = { 0 }, out = { 0 }, key = { 0 };
    reach(o, f, x, &in, &out);
    if (in.n) qsort(in.v, in.n, sizeof *in.v, by_number);
    push(&key, f);
    for (size_t i = 0; i < in.n; i++) push(&key, in.v[i]);
    size_t before = o->key.n;
    uint32_t k = intern(&o->key, (str){ (const char *)key.v, key.n * sizeof *key.v });
    if (k == before) {
        o->entry = grow(o->entry, o->nentries + 1, &o->cap, sizeof *o->entry);
        o->entry[o->nentries++] = (struct entry){ f, copy(&in), copy(&out), in.n, out.n, NAN };
    }
    free(in.v);
    free(out.v);
    free(key.v);
    return k;
}

/* nan: not known; the array may move while the entry is looked for */
static double cost_under(struct optimal *o, uint32_t f, const signed char *x)
{
    uint32_t k = entry_of(o, f, x);
    return o->entry[k].cost;
}

static void set_cost(struct optimal *o, uint32_t k, double cost)
{
    struct entry *e = &o->entry[k];
    if (isnan(e->cost)) push(&o->table[e->function], k);
    e->cost = cost;
}

/* All sets of f, an entry each, if there are no more than `most`: false when there are.  Calls are decided in the
 * order in which they come within reach: o->mark says which were passed over. */
static bool enumerate(struct optimal *o, uint32_t f, signed char *x, struct list *all)
{
    struct list in = { 0 }, out = { 0 };
    size_t i = 0;
    bool whole = true;
    if ((long)all->n >= o->p.most) return false;
    reach(o, f, x, &in, &out);
    while (i < out.n && o->mark[out.v[i]]) i++;
    if (i == out.n) {
        push(all, entry_of(o, f, x));
    } else {
        uint32_t c = out.v[i];
        o->mark[c] = 1;
        whole = enumerate(o, f, x, all);
        o->mark[c] = 0;
        x[c] = 1;
        whole = whole && enumerate(o, f, x, all);
        x[c] = 0;
    }
    free(in.v);
    free(out.v);
    return whole;
}

/* For an open function: the sets that differ from that under x by one call within reach. */
static void neighbours(struct optimal *o, uint32_t f, signed char *x, struct list *all)
{
    struct list in = { 0 }, out = { 0 };
    reach(o, f, x, &in, &out);
    for (size_t i = 0; i < in.n + out.n; i++) {
        uint32_t c = i < in.n ? in.v[i] : out.v[i - in.n];
        x[c] ^= 1;
        push(all, entry_of(o, f, x));
        x[c] ^= 1;
    }
    free(in.v);
    free(out.v);
}

/* ---- builds, each for as many entries as agree */

static bool agrees(const struct entry *e, const signed char *x)
{
    for (size_t i = 0; i < e->nin; i++) if (x[e->in[i]] == 0) return false;
    for (size_t i = 0; i < e->nout; i++) if (x[e->out[i]] == 1) return false;
    return true;
}

static void impose(const struct entry *e, signed char *x)
{
    for (size_t i = 0; i < e->nin; i++) x[e->in[i]] = 1;
    for (size_t i = 0; i < e->nout; i++) x[e->out[i]] = 0;
}

/* One that goes when all its calls are inlined has a cost only where one is left; a second look, after `agrees`. */
static bool can_be_there(const struct optimal *o, uint32_t f, const signed char *x)
{
    if (o->p.stays[f]) return true;
    for (size_t i = 0; i < o->callers_of[f].n; i++) if (x[o->callers_of[f].v[i]] != 1) return true;
    return false;
}

static void keep_there(const struct optimal *o, uint32_t f, signed char *x)
{
    long free_call = -1;
    if (o->p.stays[f]) return;
    for (size_t i = 0; i < o->callers_of[f].n; i++) {
        uint32_t c = o->callers_of[f].v[i];
        if (x[c] == 0) return;
        if (x[c] < 0) free_call = c;
    }
    x[free_call] = 0;
}

static uint32_t *by_wants(struct optimal *o)
{
    uint32_t *order = xmalloc(o->p.nfunctions + 1, sizeof *order);
    for (uint32_t f = 0; f < o->p.nfunctions; f++) {     /* the longest lists first; few functions */
        size_t at = f;
        for (; at > 0 && o->want[order[at - 1]].n < o->want[f].n; at--) order[at] = order[at - 1];
        order[at] = f;
    }
    return order;
}

/* Ask for what is wanted until nothing is, or the budget is spent: false then. */
static bool ask(struct optimal *o)
{
    enum { LOOK_AHEAD = 64 };
    size_t n = o->p.nfunctions, m = o->p.ncalls;
    signed char *x = xmalloc(m + 1, 1);
    unsigned char *inlined = xmalloc(m + 1, 1), *wanted = xmalloc(n + 1, 1);
    double *cost = xcalloc(n + 1, sizeof *cost);
    bool all = true;
    for (;;) {
        uint32_t *order = by_wants(o);
        bool any = false;
        memset(x, -1, m);
        for (size_t i = 0; i < n; i++) {
            struct list *w = &o->want[order[i]];
            size_t kept = 0;
            for (size_t k = 0; k < w->n; k++) if (isnan(o->entry[w->v[k]].cost)) w->v[kept++] = w->v[k];
            w->n = kept;
            for (size_t k = 0; k < w->n && k < LOOK_AHEAD; k++)
                if (can_be_there(o, order[i], x) && agrees(&o->entry[w->v[k]], x)) {
                    impose(&o->entry[w->v[k]], x);
                    keep_there(o, order[i], x);
                    any = true;
                    break;
                }
        }
        free(order);
        if (!any) break;
        if (o->builds >= o->p.builds) {
            all = false;
            break;
        }
        for (size_t i = 0; i < m; i++) inlined[i] = (unsigned char)(x[i] = x[i] == 1);
        uint32_t *k = xmalloc(n + 1, sizeof *k);
        for (uint32_t f = 0; f < n; f++) {
            k[f] = entry_of(o, f, x);
            wanted[f] = isnan(o->entry[k[f]].cost) && can_be_there(o, f, x);
        }
        bool built = o->p.cost(o->p.closure, inlined, wanted, cost);
        o->builds++;
        for (uint32_t f = 0; f < n; f++) {
            if (!wanted[f]) continue;
            const struct entry *e = &o->entry[k[f]];
            set_cost(o, k[f], built ? cost[f] : INFINITY);
            if (built && o->p.learned) o->p.learned(o->p.closure, f, e->in, e->nin, cost[f]);
        }
        free(k);
    }
    free_all(x, inlined, wanted, cost);
    return all;
}

/* ---- the search in the tables */

struct part { double cost, lower; };                     /* the best found, and no less than this */

static bool undecided_goes(const struct optimal *o, uint32_t f)
{
    return o->stays[f] < 0;
}

/* what follows from the calls decided so far for a function that may go */
static void settle(struct optimal *o, uint32_t f)
{
    if (o->stays[f] >= 0) return;
    bool all = true;
    for (size_t i = 0; i < o->callers_of[f].n; i++) {
        int x = o->x[o->callers_of[f].v[i]];
        if (x == 0) {
            o->stays[f] = 1;
            return;
        }
        all &= x == 1;
    }
    if (all) o->stays[f] = 0;
}

static bool ignored(const struct optimal *o, uint32_t f)
{
    return o->relaxed && !o->closed[f];
}

/* the calls that the cost of f still waits for */
static void waits_for(struct optimal *o, uint32_t f, struct list *vars)
{
    struct list in = { 0 }, out = { 0 };
    vars->n = 0;
    if (undecided_goes(o, f))
        for (size_t i = 0; i < o->callers_of[f].n; i++)
            if (o->x[o->callers_of[f].v[i]] < 0) push(vars, o->callers_of[f].v[i]);
    if (o->stays[f] != 0 && !ignored(o, f)) {
        reach(o, f, o->x, &in, &out);                    /* -1 counts as within reach */
        for (size_t i = 0; i < in.n; i++) if (o->x[in.v[i]] < 0) push(vars, in.v[i]);
    } else if (o->stays[f] != 0) {
        for (size_t i = 0; i < o->calls_of[f].n; i++)
            if (o->x[o->calls_of[f].v[i]] < 0) push(vars, o->calls_of[f].v[i]);
    }
    free(in.v);
    free(out.v);
}

/* no less than this in an open function, if each call adds what it adds alone */
static double open_cost(const struct optimal *o, uint32_t f)
{
    double sum = 0;
    for (size_t i = 0; i < o->calls_of[f].n; i++) {
        uint32_t c = o->calls_of[f].v[i];
        sum += o->x[c] == 1 ? o->alone[c] : o->x[c] == 0 ? 0 : fmin(0, o->alone[c]);
    }
    return sum;
}

static double least_entry(const struct optimal *o, uint32_t f, bool share)
{
    double least = INFINITY;
    for (size_t i = 0; i < o->table[f].n; i++) {
        const struct entry *e = &o->entry[o->table[f].v[i]];
        if (!agrees(e, o->x)) continue;
        double cost = e->cost;
        for (size_t k = 0; share && k < e->nout; k++) {
            const struct optimal_call *c = &o->p.call[e->out[k]];
            if (c->caller == f && undecided_goes(o, c->callee)) cost += o->share[c->callee];
        }
        if (cost < least) least = cost;
    }
    return least;
}

/* A function that may go costs its least entry unless all its calls are inlined: each of these that is left pays for a
 * part of it.  Functions that surely stay pay for their own entries. */
static double bound(struct optimal *o, const struct list *functions)
{
    double sum = 0;
    for (size_t i = 0; i < functions->n; i++) {
        uint32_t f = functions->v[i];
        size_t calls = 0;
        if (!undecided_goes(o, f)) continue;
        for (size_t k = 0; k < o->callers_of[f].n; k++) calls += o->x[o->callers_of[f].v[k]] < 0;
        double least = ignored(o, f) ? 0 : least_entry(o, f, false);
        o->share[f] = calls && isfinite(least) ? least / (double)calls : 0;
    }
    for (size_t i = 0; i < functions->n; i++) {
        uint32_t f = functions->v[i];
        if (o->stays[f] == 1) sum += ignored(o, f) ? open_cost(o, f) : least_entry(o, f, true);
    }
    return sum;
}

static struct part solve(struct optimal *, const struct list *functions, double limit);

struct saved { signed char *x, *stays; };

static struct saved save(const struct optimal *o)
{
    return (struct saved){ memcpy(xmalloc(o->p.ncalls + 1, 1), o->x, o->p.ncalls),
                           memcpy(xmalloc(o->p.nfunctions + 1, 1), o->stays, o->p.nfunctions) };
}

static void restore(struct optimal *o, const struct saved *s)
{
    memcpy(o->x, s->x, o->p.ncalls);
    memcpy(o->stays, s->stays, o->p.nfunctions);
}

static void forget(struct saved *s)
{
    free(s->x);
    free(s->stays);
}

/* one function that surely stays, and calls that nobody else waits for: its best entry */
static struct part alone(struct optimal *o, uint32_t f)
{
    const struct entry *best = NULL;
    if (ignored(o, f)) {
        double cost = 0;
        for (size_t i = 0; i < o->calls_of[f].n; i++) {
            uint32_t c = o->calls_of[f].v[i];
            if (o->x[c] < 0) o->x[c] = o->alone[c] < 0;
            cost += o->x[c] == 1 ? o->alone[c] : 0;
        }
        return (struct part){ cost, cost };
    }
    for (size_t i = 0; i < o->table[f].n; i++) {
        const struct entry *e = &o->entry[o->table[f].v[i]];
        if (agrees(e, o->x) && (!best || e->cost < best->cost)) best = e;
    }
    if (!best) return (struct part){ INFINITY, INFINITY };
    impose(best, o->x);
    return (struct part){ best->cost, best->cost };
}

/* take the decision that parts most: a function that may go and has most callers, else the call most waited for */
static void choose(struct optimal *o, const struct list *functions, long *function, long *call)
{
    struct list vars = { 0 };
    size_t most = 1;
    *function = *call = -1;
    for (size_t i = 0; i < functions->n; i++) {
        uint32_t f = functions->v[i];
        size_t n = 0;
        if (!undecided_goes(o, f)) continue;
        for (size_t k = 0; k < o->callers_of[f].n; k++) n += o->x[o->callers_of[f].v[k]] < 0;
        if (n > most) {
            most = n;
            *function = f;
        }
    }
    if (*function >= 0) return;
    uint32_t *count = xcalloc(o->p.ncalls + 1, sizeof *count), best = 0;
    for (size_t i = 0; i < functions->n; i++) {
        waits_for(o, functions->v[i], &vars);
        for (size_t k = 0; k < vars.n; k++)
            if (++count[vars.v[k]] > best) {
                best = count[vars.v[k]];
                *call = vars.v[k];
            }
    }
    free(count);
    free(vars.v);
}

static void decide(struct optimal *o, long function, long call, int how)
{
    if (function < 0) {
        o->x[call] = (signed char)how;
    } else {
        o->stays[function] = (signed char)!how;
        for (size_t i = 0; how && i < o->callers_of[function].n; i++) o->x[o->callers_of[function].v[i]] = 1;
    }
}

/* functions whose calls hang together; leaves the best decisions in x */
static struct part solve_group(struct optimal *o, const struct list *functions, double limit)
{
    struct part best = { INFINITY, INFINITY };
    long function, call;
    if (functions->n == 1 && o->stays[functions->v[0]] == 1) return alone(o, functions->v[0]);
    double lower = bound(o, functions);
    if (lower >= limit || o->nodes <= 0) return (struct part){ INFINITY, lower };
    o->nodes--;
    choose(o, functions, &function, &call);
    struct saved before = save(o), found = { NULL, NULL };
    double first[2];
    for (int how = 0; how < 2; how++) {
        decide(o, function, call, how);
        for (size_t i = 0; i < functions->n; i++) settle(o, functions->v[i]);
        first[how] = bound(o, functions);
        restore(o, &before);
    }
    best.lower = INFINITY;
    for (int k = 0; k < 2; k++) {
        int how = k ^ (first[1] < first[0]);
        decide(o, function, call, how);
        struct part p = solve(o, functions, fmin(limit, best.cost));
        if (p.cost < best.cost) {
            best.cost = p.cost;
            forget(&found);
            found = save(o);
        }
        best.lower = fmin(best.lower, p.lower);
        restore(o, &before);
    }
    best.lower = fmax(best.lower, lower);
    if (found.x) restore(o, &found);
    forget(&found);
    forget(&before);
    return best;
}

static uint32_t root(uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* the sum over functions; what does not hang together is solved apart */
static struct part solve(struct optimal *o, const struct list *functions, double limit)
{
    struct part sum = { 0, 0 };
    struct list rest = { 0 }, vars = { 0 };
    size_t m = o->p.ncalls;
    uint32_t *up = xmalloc(m + 1, sizeof *up), *first = xmalloc(functions->n + 1, sizeof *first);
    for (uint32_t i = 0; i < m; i++) up[i] = i;
    for (size_t i = 0; i < functions->n; i++) settle(o, functions->v[i]);
    for (size_t i = 0; i < functions->n; i++) {
        uint32_t f = functions->v[i];
        waits_for(o, f, &vars);
        if (vars.n == 0) {
            double cost = o->stays[f] != 1 ? 0 : ignored(o, f) ? open_cost(o, f) : least_entry(o, f, false);
            sum.cost += cost;
            sum.lower += cost;
            continue;
        }
        first[rest.n] = vars.v[0];
        push(&rest, f);
        for (size_t k = 1; k < vars.n; k++) up[root(up, vars.v[k])] = root(up, vars.v[0]);
    }
    size_t ngroups = 0;
    struct list *group = xcalloc(rest.n + 1, sizeof *group);
    long *number = xmalloc(m + 1, sizeof *number);
    for (size_t i = 0; i < m; i++) number[i] = -1;
    for (size_t i = 0; i < rest.n; i++) {
        uint32_t r = root(up, first[i]);
        if (number[r] < 0) number[r] = (long)ngroups++;
        push(&group[number[r]], rest.v[i]);
    }
    double *least = xmalloc(ngroups + 1, sizeof *least), left = 0;
    for (size_t i = 0; i < ngroups; i++) left += least[i] = bound(o, &group[i]);
    for (size_t i = 0; i < ngroups; i++) {
        left -= least[i];
        struct part p = { INFINITY, least[i] };
        if (sum.lower + least[i] + left < limit) p = solve_group(o, &group[i], limit - sum.lower - left);
        sum.cost += p.cost;
        sum.lower += fmin(p.cost, p.lower);
    }
    for (size_t i = 0; i < ngroups; i++) free(group[i].v);
    free_all(group, number, least, up, first, rest.v, vars.v);
    return sum;
}

static struct part search(struct optimal *o, bool relaxed, double limit)
{
    struct list all = { 0 };
    o->relaxed = relaxed;
    o->nodes = o->p.nodes;
    memset(o->x, -1, o->p.ncalls);
    for (uint32_t f = 0; f < o->p.nfunctions; f++) {
        o->stays[f] = o->p.stays[f] ? 1 : -1;
        push(&all, f);
    }
    struct part p = solve(o, &all, limit);
    free(all.v);
    return p;
}

/* ---- */

struct optimal *optimal_new(const struct optimal_problem *p)
{
    struct optimal *o = xcalloc(1, sizeof *o);
    size_t n = p->nfunctions, m = p->ncalls;
    o->p = *p;
    o->calls_of = xcalloc(n + 1, sizeof *o->calls_of);
    o->callers_of = xcalloc(n + 1, sizeof *o->callers_of);
    for (uint32_t i = 0; i < m; i++) {
        push(&o->calls_of[p->call[i].caller], i);
        push(&o->callers_of[p->call[i].callee], i);
    }
    o->table = xcalloc(n + 1, sizeof *o->table);
    o->want = xcalloc(n + 1, sizeof *o->want);
    o->closed = xcalloc(n + 1, sizeof *o->closed);
    o->share = xcalloc(n + 1, sizeof *o->share);
    o->alone = xcalloc(m + 1, sizeof *o->alone);
    o->x = xcalloc(m + 1, 1);
    o->stays = xcalloc(n + 1, 1);
    o->mark = xcalloc(m + 1, 1);
    o->seen = xcalloc(n + 1, 1);
    return o;
}

void optimal_know(struct optimal *o, uint32_t f, const uint32_t *call, size_t n, double cost)
{
    memset(o->x, 0, o->p.ncalls);
    for (size_t i = 0; i < n; i++) o->x[call[i]] = 1;
    set_cost(o, entry_of(o, f, o->x), cost);
    memset(o->x, 0, o->p.ncalls);
}

void optimal_start(struct optimal *o, const unsigned char *inlined)
{
    if (!o->start) o->start = xmalloc(o->p.ncalls + 1, 1);
    memcpy(o->start, inlined, o->p.ncalls);
}

double optimal_cost(struct optimal *o, const unsigned char *inlined)
{
    double sum = 0;
    for (size_t i = 0; i < o->p.ncalls; i++) o->x[i] = (signed char)inlined[i];
    for (uint32_t f = 0; f < o->p.nfunctions; f++) {
        bool goes = !o->p.stays[f];
        for (size_t i = 0; i < o->callers_of[f].n; i++) goes &= inlined[o->callers_of[f].v[i]];
        if (!goes) sum += cost_under(o, f, o->x);
    }
    return sum;
}

double optimal_entry(struct optimal *o, uint32_t f, const unsigned char *inlined)
{
    for (size_t i = 0; i < o->p.ncalls; i++) o->x[i] = (signed char)inlined[i];
    return cost_under(o, f, o->x);
}

void optimal_mend(struct optimal *o, uint32_t f, const unsigned char *inlined, double cost)
{
    for (size_t i = 0; i < o->p.ncalls; i++) o->x[i] = (signed char)inlined[i];
    set_cost(o, entry_of(o, f, o->x), cost);
}

/* what every call of an open function adds when it is the only one that is inlined */
static double measure_alone(struct optimal *o)
{
    double none = 0;
    signed char *x = xcalloc(o->p.ncalls + 1, 1);
    for (uint32_t f = 0; f < o->p.nfunctions; f++) {
        if (o->closed[f]) continue;
        double base = cost_under(o, f, x);
        if (o->p.stays[f]) none += base;  /* one that may go may cost nothing */
        for (size_t i = 0; i < o->calls_of[f].n; i++) {
            uint32_t c = o->calls_of[f].v[i];
            x[c] = 1;
            double with = cost_under(o, f, x);
            o->alone[c] = isfinite(with) ? with - base : 0;
            x[c] = 0;
        }
    }
    free(x);
    return none;
}

void optimal_solve(struct optimal *o, struct optimal_answer *a)
{
    size_t n = o->p.nfunctions, m = o->p.ncalls;
    signed char *x = xcalloc(m + 1, 1);
    a->largest = 0;
    for (uint32_t f = 0; f < n; f++) {
        o->closed[f] = enumerate(o, f, x, &o->want[f]);
        if (!can_be_there(o, f, x)) o->want[f].n = 0;    /* nobody calls it */
        if (o->closed[f] && o->want[f].n > a->largest) a->largest = o->want[f].n;
        if (o->closed[f]) continue;
        o->want[f].n = 0;
        push(&o->want[f], entry_of(o, f, x));
        neighbours(o, f, x, &o->want[f]);
        if (!o->start) continue;
        for (size_t i = 0; i < m; i++) x[i] = (signed char)o->start[i];
        push(&o->want[f], entry_of(o, f, x));
        neighbours(o, f, x, &o->want[f]);
        memset(x, 0, m);
    }
    memset(a->inlined, 0, m);
    bool all = ask(o);
    a->cost = optimal_cost(o, a->inlined);
    for (;;) {
        struct part p = search(o, false, a->cost);
        bool better = p.cost < a->cost, open = false;
        if (better) {
            a->cost = p.cost;
            for (size_t i = 0; i < m; i++) a->inlined[i] = o->x[i] == 1;
        }
        for (size_t i = 0; i < m; i++) x[i] = (signed char)a->inlined[i];
        for (uint32_t f = 0; f < n; f++)
            if (!o->closed[f]) {
                o->want[f].n = 0;
                neighbours(o, f, x, &o->want[f]);
                for (size_t i = 0; i < o->want[f].n; i++) open |= isnan(o->entry[o->want[f].v[i]].cost);
            }
        long before = o->builds;
        if (!open || !all) break;
        all = ask(o);
        if (o->builds == before) break;                  /* what is still wanted is of functions that are gone */
    }
    /* a table that the budget left with holes is not full */
    a->entries = 0;
    for (uint32_t f = 0; f < n; f++) {
        struct list sets = { 0 };
        memset(x, 0, m);
        if (o->closed[f]) enumerate(o, f, x, &sets);
        for (size_t i = 0; i < sets.n && can_be_there(o, f, x); i++)
            o->closed[f] &= !isnan(o->entry[sets.v[i]].cost);
        free(sets.v);
        o->closed[f] &= !(o->p.loose && o->p.loose[f]);
        a->closed[f] = o->closed[f];
        a->entries += o->table[f].n;
    }
    double none = measure_alone(o);
    struct part p = search(o, true, INFINITY);
    a->estimate = fmin(none + p.lower, a->cost);
    memset(o->alone, 0, m * sizeof *o->alone);
    p = search(o, true, INFINITY);
    a->lower = fmin(p.lower, a->cost);
    a->builds = o->builds;
    a->exhausted = !all;
    free(x);
}

void optimal_free(struct optimal *o)
{
    if (!o) return;
    for (size_t i = 0; i < o->p.nfunctions; i++) {
        free_all(o->calls_of[i].v, o->callers_of[i].v, o->table[i].v, o->want[i].v);
    }
    for (size_t i = 0; i < o->nentries; i++) {
        free(o->entry[i].in);
        free(o->entry[i].out);
    }
    intern_free(&o->key);
    free_all(o->calls_of, o->callers_of, o->table, o->want, o->closed, o->share, o->alone, o->x, o->stays, o->mark,
             o->seen, o->start, o->entry, o->stack.v, o);
}

/* Tarjan's strongly connected components would be quicker; modules are small. */
void optimal_circles(size_t n, const struct optimal_call *call, size_t m, bool *on_circle)
{
    struct list *to = xcalloc(n + 1, sizeof *to), stack = { 0 };
    unsigned char *seen = xmalloc(n + 1, 1);
    for (size_t i = 0; i < m; i++) push(&to[call[i].caller], call[i].callee);
    for (size_t i = 0; i < m; i++) {
        memset(seen, 0, n);
        stack.n = 0;
        push(&stack, call[i].callee);
        seen[call[i].callee] = 1;
        for (size_t k = 0; k < stack.n; k++)
            for (size_t j = 0; j < to[stack.v[k]].n; j++) {
                uint32_t f = to[stack.v[k]].v[j];
                if (!seen[f]) push(&stack, f);
                seen[f] = 1;
            }
        on_circle[i] = seen[call[i].caller];
    }
    for (size_t i = 0; i < n; i++) free(to[i].v);
    free(to);
    free(stack.v);
    free(seen);
}

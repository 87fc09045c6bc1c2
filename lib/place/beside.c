/* beside.c - see beside.h */
#include "place/beside.h"
#include "base/mem.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* a move, its stays (the one in fast memory is made or read by it) and its time on the channel */
struct way { struct plan_move *m; struct stay *fast, *slow; double seconds; };

struct beside {
    const struct placing *p;
    struct plan *plan;
    struct way *way;                                     /* one for each move, in the plan's order */
    double *free;                                        /* node: time that the channel had for moves before it */
};

static struct stay *stay_of(struct plan *p, int tensor, enum plan_tier tier, int node)
{
    return p->stay + (plan_find(p, tensor, tier, node) - p->stay);
}

static struct beside beside_new(const struct placing *p, const struct placement *x, struct plan *plan)
{
    struct beside b = { p, plan, xcalloc((size_t)plan->nmove + 1, sizeof *b.way),
                        xcalloc((size_t)p->nodes + 2, sizeof *b.free) };
    int *of = xcalloc((size_t)p->g->ntensor + 1, sizeof *of);
    for (int t = 0; t < p->tensors; t++) of[p->id[t]] = t;
    for (int i = 0; i < plan->nmove; i++) {
        struct plan_move *m = &plan->move[i];
        bool to_fast = m->to == TIER_FAST;
        b.way[i] = (struct way){ m, stay_of(plan, m->tensor, TIER_FAST, to_fast ? m->before : m->before - 1),
                                 stay_of(plan, m->tensor, TIER_SLOW, m->before),
                                 (to_fast ? p->fetch : p->write)[of[m->tensor]] };
    }
    for (int n = 0; n < p->nodes; n++) {
        int c = p->choice_end[n] + x->config[n];
        double own = 1 - p->phi[n];
        b.free[n + 1] = b.free[n] + p->seconds[c] / own - p->channel[c] / own;
    }
    free(of);
    return b;
}

static void beside_end(struct beside *b)
{
    plan_sort(b->plan);
    plan_sort_moves(b->plan);
    free(b->way);
    free(b->free);
}

static double bytes_of(const struct beside *b, const struct way *w)
{
    return (double)plan_size(b->p->g->tensor[w->m->tensor].bytes);
}

/* the first node at which the slow copy of a fetched tensor is sure to be there */
static int filled(const struct beside *b, const struct way *w)
{
    for (int i = 0; i < b->plan->nmove; i++) {
        const struct plan_move *m = &b->plan->move[i];
        if (m->tensor == w->m->tensor && m->to == TIER_SLOW) return m->before;
    }
    return w->slow->first + 1;
}

/* how far a stay may grow for reasons of its own tensor: to its other stays, the slow copy, its first and last use */
static int earliest(const struct beside *b, const struct way *w)
{
    int first = filled(b, w);
    for (int i = 0; i < b->plan->nstay; i++) {
        const struct stay *s = &b->plan->stay[i];
        if (s->tensor == w->m->tensor && s->tier == TIER_FAST && s->last < w->fast->first && s->last + 1 > first)
            first = s->last + 1;
    }
    return first;
}

/* where the write-out must be over: the next fast stay, the first slow use, the first fetch */
static int latest(const struct beside *b, const struct way *w)
{
    const struct graph *g = b->p->g;
    const struct tensor *t = &g->tensor[w->m->tensor];
    int last = t->last;
    for (int i = 0; i < b->plan->nmove; i++) {
        const struct plan_move *m = &b->plan->move[i];
        if (m->tensor == w->m->tensor && m->to == TIER_FAST && m->begin < last) last = m->begin;
    }
    for (int u = 0; u < t->nuse; u++)                    /* every use after the stay is slow or after a fetch */
        if (t->use[u] > w->fast->last && t->use[u] < last) last = t->use[u];
    return last - 1;
}

static void write_out_until(struct way *w, int last)
{
    w->fast->last = last;
    w->m->before = last + 1;
}

static void fetch_from(struct way *w, int first) { w->fast->first = w->m->begin = first; }

static double *loads(const struct beside *b)
{
    const struct plan *plan = b->plan;
    double *load = xcalloc((size_t)plan->nnode + 2, sizeof *load);
    for (int i = 0; i < plan->nstay; i++) {
        const struct stay *s = &plan->stay[i];
        double bytes = (double)plan_size(b->p->g->tensor[s->tensor].bytes);
        if (s->tier != TIER_FAST) continue;
        load[s->first] += bytes;
        load[s->last + 1] -= bytes;
    }
    for (int n = 1; n < plan->nnode; n++) load[n] += load[n - 1];
    for (int n = 0; n < plan->nnode; n++) load[n] += (double)plan->node[n].staging;
    return load;
}

void beside_widen(const struct placing *p, const struct placement *x, struct plan *plan)
{
    static const double SLACK = 1.3;                     /* times a move's own time: the channel serves others too */
    struct beside b = beside_new(p, x, plan);
    double *load = loads(&b), at = 0;
    for (int i = 0; i < plan->nmove; i++) {
        struct way *w = &b.way[i];
        if (w->m->to == TIER_FAST) continue;
        w->m->begin = w->slow->first = p->g->tensor[w->m->tensor].producer + 1;   /* costs slow memory only */
        double start = b.free[w->m->begin], bytes = bytes_of(&b, w);
        at = (at > start ? at : start) + SLACK * w->seconds;
        int last = w->fast->last, end = latest(&b, w);
        while (last < end && b.free[last + 1] < at && load[last + 1] + bytes <= p->limit[last + 1])
            load[++last] += bytes;
        write_out_until(w, last);
        if (at > b.free[last + 1]) at = b.free[last + 1] > start + w->seconds ? b.free[last + 1] : start + w->seconds;
    }
    at = b.free[p->nodes];
    for (int i = plan->nmove; i-- > 0;) {
        struct way *w = &b.way[i];
        if (w->m->to == TIER_SLOW) continue;
        double end = b.free[w->m->before], bytes = bytes_of(&b, w);
        at = (at < end ? at : end) - SLACK * w->seconds;
        int first = w->fast->first, least = earliest(&b, w);
        while (first > least && b.free[first] > at && load[first - 1] + bytes <= p->limit[first - 1])
            load[--first] += bytes;
        fetch_from(w, first);
        if (at < b.free[first]) at = b.free[first] < end - w->seconds ? b.free[first] : end - w->seconds;
    }
    free(load);
    beside_end(&b);
}

/* ---- with offsets ---- */

static bool meet(uint64_t a, uint64_t na, uint64_t b, uint64_t nb) { return a < b + nb && b < a + na; }

/* the nodes around a stay at which others hold some of its bytes: the last before, the first after (or INT_MAX) and the
 * fetch that begins there */
struct near { int before, after; const struct way *fetch; };

static struct near near_of(const struct beside *b, const struct stay *s)
{
    const struct plan *plan = b->plan;
    const struct graph *g = b->p->g;
    uint64_t bytes = plan_size(g->tensor[s->tensor].bytes);
    struct near near = { -1, INT_MAX, NULL };
    for (int i = 0; i < plan->nstay; i++) {
        const struct stay *o = &plan->stay[i];
        if (o == s || o->tier != TIER_FAST) continue;
        if (!meet(o->offset, plan_size(g->tensor[o->tensor].bytes), s->offset, bytes)) continue;
        if (o->last < s->first && o->last > near.before) near.before = o->last;
        if (o->first > s->last && o->first < near.after) near.after = o->first;
    }
    for (int n = 0; n < plan->nnode; n++) {
        const struct plan_node *d = &plan->node[n];
        if (!d->staging || !meet(d->staging_offset, d->staging, s->offset, bytes)) continue;
        if (n < s->first && n > near.before) near.before = n;
        if (n > s->last && n < near.after) near.after = n;
    }
    for (int i = 0; i < plan->nmove; i++) {
        const struct way *w = &b->way[i];
        if (w->m->to == TIER_FAST && w->fast->first == near.after &&
            meet(w->fast->offset, plan_size(g->tensor[w->m->tensor].bytes), s->offset, bytes))
            near.fetch = w;
    }
    return near;
}

void beside_stretch(const struct placing *p, const struct placement *x, struct plan *plan)
{
    struct beside b = beside_new(p, x, plan);
    for (int i = 0; i < plan->nmove; i++) {
        struct way *w = &b.way[i];
        if (w->m->to == TIER_FAST) continue;
        struct near near = near_of(&b, w->fast);
        int end = latest(&b, w), last = w->fast->last;
        if (near.after - 1 < end) end = near.after - 1;
        if (near.fetch) {                                /* both would like the gap */
            double share = w->seconds / (w->seconds + near.fetch->seconds);
            double until = b.free[last + 1] + share * (b.free[near.after] - b.free[last + 1]);
            while (last < end && b.free[last + 2] <= until) last++;
        } else last = end;
        write_out_until(w, last);
    }
    for (int i = 0; i < plan->nmove; i++) {
        struct way *w = &b.way[i];
        if (w->m->to == TIER_SLOW) continue;
        struct near near = near_of(&b, w->fast);
        int first = earliest(&b, w);
        fetch_from(w, near.before + 1 > first ? near.before + 1 : first);
    }
    beside_end(&b);
}

/* ---- the time of a step ---- */

/* the move that the channel works at while a node runs or is waited for; n: none may begin */
static int serve(const struct plan_move *move, int n, const double *left, const int *soonest, int first, int node)
{
    int out = INT_MAX;
    for (int i = first; i < n && soonest[i] <= node; i++) {
        const struct plan_move *m = &move[i];
        if (left[i] <= 0) continue;
        if (m->begin <= node && (m->to == TIER_SLOW || out > m->begin)) return i;
        if (m->to == TIER_SLOW && m->before < out) out = m->before;
    }
    return n;
}

double beside_step(const struct placing *p, const struct placement *x, const struct plan_move *move, int n,
                   double *left, int *soonest, double most)
{
    double now = 0;
    for (int i = n, least = INT_MAX; i-- > 0;) soonest[i] = least = move[i].begin < least ? move[i].begin : least;
    for (int node = 0, first = 0; node < p->nodes; node++) {
        if (now > most) return INFINITY;
        int i;
        while (first < n && (left[first] <= 0 || move[first].before <= node)) {
            if (left[first] <= 0) first++;
            else {
                i = serve(move, n, left, soonest, first, node);
                now += left[i];
                left[i] = 0;
            }
        }
        int c = p->choice_end[node] + x->config[node];
        double time = p->seconds[c], rate = time > 0 ? (1 - p->channel[c] / time) / (1 - p->phi[node]) : 0;
        now += time;
        while (time > 0 && rate > 0 && (i = serve(move, n, left, soonest, first, node)) < n) {
            double need = left[i] / rate, part = need <= time ? left[i] : time * rate;
            now += p->phi[node] * part;
            left[i] = need <= time ? 0 : left[i] - part;
            time -= need;
        }
    }
    return now;
}

double beside_seconds(const struct placing *p, const struct placement *x, struct plan *plan)
{
    struct beside b = beside_new(p, x, plan);
    double *left = xcalloc((size_t)plan->nmove + 1, sizeof *left);
    int *soonest = xcalloc((size_t)plan->nmove + 1, sizeof *soonest);
    for (int i = 0; i < plan->nmove; i++) left[i] = b.way[i].seconds;
    double seconds = beside_step(p, x, plan->move, plan->nmove, left, soonest, INFINITY);
    free_all(b.way, b.free, left, soonest);
    return seconds;
}

/* refine.c - see refine.h */
#include "place/refine.h"
#include "base/mem.h"
#include "base/rng.h"
#include "place/beside.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of tensor t: `before` its use (a fetch) or after it (a write-out), as in plan.h */
struct move { int t, use, begin, before, least; bool out; double seconds; };

struct refine {
    const struct placing *p;
    struct placement *x;
    struct move *move, *sorted;                          /* in order of tensors; of execution */
    int n, *at;                                          /* moves; node and direction: where they begin in sorted */
    int *written;                                        /* tensor: the last node at which its write-out holds it */
    struct plan_move *made;                              /* the sorted ones, for beside_step */
    int *soonest;
    double *free, *load, *left;                          /* see struct beside; node: bytes; move: seconds left */
};

static struct refine refine_new(const struct placing *p, struct placement *x)
{
    size_t nodes = (size_t)p->nodes + 2, moves = 2 * (size_t)p->uses + 2;
    return (struct refine){ .p = p,
                            .x = x,
                            .move = xcalloc(moves, sizeof(struct move)),
                            .sorted = xcalloc(moves, sizeof(struct move)),
                            .at = xcalloc(2 * nodes + 1, sizeof(int)),
                            .written = xcalloc((size_t)p->tensors + 1, sizeof(int)),
                            .made = xcalloc(moves, sizeof(struct plan_move)),
                            .soonest = xcalloc(moves, sizeof(int)),
                            .free = xcalloc(nodes, sizeof(double)),
                            .load = xcalloc(nodes, sizeof(double)),
                            .left = xcalloc(moves, sizeof(double)) };
}

/* ---- the step ---- */

static void list_moves(struct refine *r)
{
    const struct placing *p = r->p;
    const struct placement *x = r->x;
    r->n = 0;
    for (int t = 0; t < p->tensors; t++) {
        int begin = p->use_end[t], end = p->use_end[t + 1], made = p->use_node[begin], was_fast = -1;
        bool copied = false;
        r->written[t] = made + 1;
        for (int u = begin; u < end; u++) {
            int n = p->use_node[u];
            copied |= x->slow[u];
            if (!x->slow[u]) was_fast = n;
            if (u + 1 == end || x->stay[u]) continue;
            if (!copied) {
                r->move[r->n++] = (struct move){ t, u, made + 1, n + 1, p->use_node[u + 1] - 1, true, p->write[t] };
                copied = true;
            }
            int next = p->use_node[u + 1];
            if (!x->slow[u + 1])
                r->move[r->n++] = (struct move){ t, u + 1, next, next, was_fast + 1, false, p->fetch[t] };
        }
    }
}

/* by `before`, those to slow memory first, then by tensor */
static void sort_moves(struct refine *r)
{
    int *at = r->at, keys = 2 * r->p->nodes + 2;
    memset(at, 0, ((size_t)keys + 1) * sizeof *at);
    for (int i = 0; i < r->n; i++) at[2 * r->move[i].before + !r->move[i].out + 1]++;
    for (int k = 0; k < keys; k++) at[k + 1] += at[k];
    for (int i = 0; i < r->n; i++) r->sorted[at[2 * r->move[i].before + !r->move[i].out]++] = r->move[i];
}

static void widen(struct refine *r)
{
    static const double SLACK = 1.3;                     /* as in beside_widen */
    const struct placing *p = r->p;
    double *load = r->load, *free = r->free, at = 0;
    for (int i = 0; i < r->n; i++) {
        struct move *m = &r->sorted[i];
        if (!m->out) continue;
        double start = free[m->begin], bytes = p->size[m->t];
        at = (at > start ? at : start) + SLACK * m->seconds;
        int last = m->before - 1;
        while (last < m->least && free[last + 1] < at && load[last + 1] + bytes <= p->limit[last + 1])
            load[++last] += bytes;
        m->before = last + 1;
        r->written[m->t] = last + 1;
        if (at > free[last + 1]) at = fmax(free[last + 1], start + m->seconds);
    }
    at = free[p->nodes];
    for (int i = r->n; i-- > 0;) {
        struct move *m = &r->sorted[i];
        if (m->out) continue;
        double end = free[m->before], bytes = p->size[m->t];
        at = (at < end ? at : end) - SLACK * m->seconds;
        int first = m->before, least = m->least;
        if (r->written[m->t] > least) least = r->written[m->t];
        while (first > least && free[first] > at && load[first - 1] + bytes <= p->limit[first - 1])
            load[--first] += bytes;
        m->begin = first;
        if (at < free[first]) at = fmin(free[first], end - m->seconds);
    }
    memcpy(r->move, r->sorted, (size_t)r->n * sizeof *r->move);
    sort_moves(r);
}

/* bytes over the limit, and the node where it is worst */
static double overload(struct refine *r, int *worst)
{
    const struct placing *p = r->p;
    double sum = 0, most = 0;
    for (int n = 0; n < p->nodes; n++) {
        int c = p->choice_end[n] + r->x->config[n];
        r->load[n] = r->x->load[n] + p->base[n] + (double)p->choice[c].staging;
        double over = r->load[n] - p->limit[n];
        if (over <= 0) continue;
        sum += over;
        if (over > most) most = over, *worst = n;
    }
    return sum;
}

static double step_seconds(struct refine *r, double most)
{
    const struct placing *p = r->p;
    double kernels = 0;
    for (int n = 0; n < p->nodes; n++) {
        int c = p->choice_end[n] + r->x->config[n];
        r->free[n + 1] = r->free[n] + (p->seconds[c] - p->channel[c]) / (1 - p->phi[n]);
        kernels += p->seconds[c];
    }
    if (kernels > most) return INFINITY;
    list_moves(r);
    sort_moves(r);
    widen(r);
    for (int i = 0; i < r->n; i++) {
        const struct move *m = &r->sorted[i];
        r->left[i] = m->seconds;
        r->made[i] = (struct plan_move){ m->t, m->out ? TIER_SLOW : TIER_FAST, m->before, m->begin };
    }
    return beside_step(p, r->x, r->made, r->n, r->left, r->soonest, most);
}

/* ---- changes ---- */

static void account(struct refine *r, int t, int sign)
{
    const struct placing *p = r->p;
    struct placement *x = r->x;
    double bytes = sign * p->size[t];
    for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) {
        int n = p->use_node[u], bit = 1 << p->use_slot[u], end = x->stay[u] ? p->use_node[u + 1] : n + 1;
        if (x->slow[u]) x->config[n] = sign > 0 ? x->config[n] | bit : x->config[n] & ~bit;
        else for (int i = n; i < end; i++) x->load[i] += bytes;
    }
}

static bool is_alive(const struct placing *p, int t, int node)
{
    return p->use_node[p->use_end[t]] <= node && node <= p->use_node[p->use_end[t + 1] - 1];
}

/* the last use not after the node */
static int use_at(const struct placing *p, int t, int node)
{
    int u = p->use_end[t];
    while (u + 1 < p->use_end[t + 1] && p->use_node[u + 1] <= node) u++;
    return u;
}

static bool is_there(const struct refine *r, int t, int node)
{
    int u = use_at(r->p, t, node);
    return r->p->use_node[u] == node ? !r->x->slow[u] : r->x->stay[u];
}

/* between uses of neighbouring nodes there is no time to leave fast memory and to return */
static void keep_near(const struct placing *p, struct placement *x, int t)
{
    for (int u = p->use_end[t]; u + 1 < p->use_end[t + 1]; u++)
        if (p->use_node[u + 1] == p->use_node[u] + 1) x->stay[u] = !x->slow[u] && !x->slow[u + 1];
}

/* Where tensor t is at a node changes, the uses beside it as little as they must. */
static void flip(struct refine *r, int t, int node)
{
    const struct placing *p = r->p;
    struct placement *x = r->x;
    int u = use_at(p, t, node);
    account(r, t, -1);
    if (p->use_node[u] < node) {
        x->stay[u] = !x->stay[u];
        if (x->stay[u]) x->slow[u] = x->slow[u + 1] = 0;
    } else if (x->slow[u]) x->slow[u] = 0;
    else {
        x->slow[u] = 1;
        x->stay[u] = 0;
        if (u > p->use_end[t]) x->stay[u - 1] = 0;
    }
    keep_near(p, x, t);
    account(r, t, 1);
}

enum { CHANGED = 12, LIFE = 256 };

/* lives as they were */
struct undo { int tensor[CHANGED], n; uint8_t slow[CHANGED][LIFE], stay[CHANGED][LIFE]; };

static bool change(struct refine *r, struct undo *undo, int t, int node)
{
    const struct placing *p = r->p;
    int first = p->use_end[t], k = p->use_end[t + 1] - first, i = 0;
    while (i < undo->n && undo->tensor[i] != t) i++;
    if (i == CHANGED || k > LIFE) return false;
    if (i == undo->n) {
        undo->tensor[undo->n++] = t;
        memcpy(undo->slow[i], r->x->slow + first, (size_t)k);
        memcpy(undo->stay[i], r->x->stay + first, (size_t)k);
    }
    flip(r, t, node);
    return true;
}

static void take_back(struct refine *r, const struct undo *undo)
{
    const struct placing *p = r->p;
    for (int i = 0; i < undo->n; i++) {
        int t = undo->tensor[i], first = p->use_end[t], k = p->use_end[t + 1] - first;
        account(r, t, -1);
        memcpy(r->x->slow + first, undo->slow[i], (size_t)k);
        memcpy(r->x->stay + first, undo->stay[i], (size_t)k);
        account(r, t, 1);
    }
}

/* a tensor alive at a node, there or not; -1: none */
static int some_tensor(const struct refine *r, struct rng *rng, int node, int there)
{
    const struct placing *p = r->p;
    int found = -1, n = 0;
    for (int t = 0; t < p->tensors; t++)
        if (is_alive(p, t, node) && (there < 0 || is_there(r, t, node) == there))
            if (rng_below(rng, (uint64_t)++n) == 0) found = t;
    return found;
}

double refine_placing(const struct placing *p, long rounds, uint64_t seed, double enough, struct placement *x)
{
    static const double WORSE = 0.0005;
    struct refine r = refine_new(p, x);
    struct placement *best = placement_new(p);
    struct rng rng = rng_for(seed, str_of("place-plan/refine"));
    int worst = 0;
    for (int u = 0; u < p->uses; u++) x->lead[u] = x->lag[u] = 0, x->still[u] = 0;
    placement_settle(p, x);
    double over = overload(&r, &worst), now = over > 0 ? INFINITY : step_seconds(&r, INFINITY);
    double least = now, first = now;
    placement_copy(p, best, x);
    for (long i = 0; i < rounds && least > enough && p->tensors > 0; i++) {
        double cold = 1 - (double)i / (double)rounds;
        struct undo undo = { .n = 0 };
        int node = (int)rng_below(&rng, (uint64_t)p->nodes), t = some_tensor(&r, &rng, node, -1);
        if (t >= 0) change(&r, &undo, t, node);
        if (rng_below(&rng, 2) && (t = some_tensor(&r, &rng, node, (int)rng_below(&rng, 2))) >= 0)
            change(&r, &undo, t, node);
        double after = overload(&r, &worst);
        for (int k = 0; k < 6 && after > over; k++) {
            if ((t = some_tensor(&r, &rng, worst, 1)) >= 0) change(&r, &undo, t, worst);
            after = overload(&r, &worst);
        }
        double most = over > 0 ? INFINITY : now + WORSE * first * cold * cold * cold;
        double seconds = after > 0 ? INFINITY : step_seconds(&r, most);
        bool keep = over > 0 ? after <= over : after <= 0 && seconds <= most;
        if (over > 0 && after <= 0) first = seconds;
        if (!keep) {
            take_back(&r, &undo);
            continue;
        }
        over = after;
        now = seconds;
        if (now < least) {
            least = now;
            placement_copy(p, best, x);
        }
    }
    placement_copy(p, x, best);
    placement_free(best);
    free_all(r.move, r.sorted, r.at, r.written, r.made, r.soonest, r.free, r.load, r.left);
    return least;
}

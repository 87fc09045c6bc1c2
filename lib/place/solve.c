/* solve.c - see solve.h */
#include "place/solve.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEVER = 1e30;                        /* seconds: not allowed */
static const double OVERLOAD = 1;                        /* seconds per byte over the limit, while not feasible yet */
static const double WORSE = 0.0005;                      /* of the step: what the search takes for a way on */
enum { PRUNE = 32, FEW_NODES = 16 };                     /* most tensors that one search round takes out; see there */

/* ---- the path of one tensor ---- */

/* prices of a tensor's uses: in fast memory, of staying until the next use, in slow memory, of a fetch before it and a
 * write-out after it with the nodes for which they take fast memory besides; and the tables of the DP */
struct path {
    double *fast, *stay, *slow, *fetch, *write;
    int *lead, *lag;
    uint8_t *fresh;                                      /* the life found: in fast memory and never copied */
    double (*cost)[3];
    uint8_t (*from)[3];
};

static struct path path_new(const struct placing *p)
{
    int longest = 1;
    for (int t = 0; t < p->tensors; t++)
        if (p->use_end[t + 1] - p->use_end[t] > longest) longest = p->use_end[t + 1] - p->use_end[t];
    size_t n = (size_t)longest + 1;
    return (struct path){ xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)),
                          xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(int)),
                          xcalloc(n, sizeof(int)), xcalloc(n, 1), xcalloc(n, 3 * sizeof(double)), xcalloc(n, 3) };
}

static void path_free(struct path *q)
{
    free_all(q->fast, q->stay, q->slow, q->fetch, q->write, q->lead, q->lag, q->fresh, q->cost, q->from);
}

static double whole_life(const struct path *q, int k, uint8_t *slow, uint8_t *stay)
{
    double fast = 0, away = 0;
    for (int u = 0; u < k; u++) {
        fast += q->fast[u] + (u + 1 < k ? q->stay[u] : 0);
        away += q->slow[u];
    }
    bool out = away < fast;
    for (int u = 0; u < k; u++) {
        slow[u] = out;
        stay[u] = !out && u + 1 < k;
    }
    return out ? away : fast;
}

/* the cheapest life; states: FRESH in fast memory and never copied, COPIED in fast memory with a copy, AWAY */
static double cheapest(const struct path *q, int k, uint8_t *slow, uint8_t *stay)
{
    enum { FRESH, COPIED, AWAY, STAYED };
    double (*cost)[3] = q->cost;
    uint8_t (*from)[3] = q->from;
    cost[0][FRESH] = q->fast[0];
    cost[0][COPIED] = NEVER;
    cost[0][AWAY] = q->slow[0];
    for (int u = 1; u < k; u++) {
        const double *before = cost[u - 1];
        double out = before[AWAY];
        uint8_t way = AWAY;
        if (before[COPIED] < out) {
            out = before[COPIED];
            way = COPIED;
        }
        if (before[FRESH] + q->write[u - 1] < out) {
            out = before[FRESH] + q->write[u - 1];
            way = FRESH;
        }
        cost[u][FRESH] = before[FRESH] + q->stay[u - 1] + q->fast[u];
        cost[u][AWAY] = out + q->slow[u];
        from[u][AWAY] = way;
        double fetched = out + q->fetch[u], stayed = before[COPIED] + q->stay[u - 1];
        from[u][COPIED] = stayed < fetched ? STAYED : way;
        cost[u][COPIED] = (stayed < fetched ? stayed : fetched) + q->fast[u];
    }
    int state = FRESH;
    for (int s = COPIED; s <= AWAY; s++)
        if (cost[k - 1][s] < cost[k - 1][state]) state = s;
    double best = cost[k - 1][state];
    stay[k - 1] = 0;
    for (int u = k - 1; u >= 0; u--) {
        slow[u] = state == AWAY;
        q->fresh[u] = state == FRESH;
        if (u == 0) break;
        bool stayed = state == FRESH || (state == COPIED && from[u][COPIED] == STAYED);
        stay[u - 1] = stayed;
        if (!stayed) state = from[u][state];
    }
    return best;
}

static double best_path(const struct placing *p, const struct path *q, int t, uint8_t *slow, uint8_t *stay)
{
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    if (!p->moves) return whole_life(q, k, slow + first, stay + first);
    return cheapest(q, k, slow + first, stay + first);
}

/* moves that take fast memory only where the tensor is used or stays, for a share of their seconds */
static void plain_moves(const struct placing *p, const struct path *q, int t, double share)
{
    for (int u = 0; u < p->use_end[t + 1] - p->use_end[t]; u++) {
        q->fetch[u] = share * p->fetch[t];
        q->write[u] = share * p->write[t];
        q->lead[u] = q->lag[u] = 0;
    }
}

/* ---- prices of memory ---- */

struct prices prices_new(const struct placing *p)
{
    struct prices v = { xcalloc((size_t)p->nodes + 1, sizeof(double)),
                        xcalloc(size_mul((size_t)p->nodes, (size_t)p->cuts) + 1, sizeof(double)),
                        xcalloc((size_t)p->uses + 1, sizeof(double)),
                        xcalloc((size_t)p->nodes + 1, sizeof(double)) };
    memcpy(v.nu, p->phi, (size_t)p->nodes * sizeof *v.nu);
    return v;
}

void prices_free(struct prices *v)
{
    free_all(v->lambda, v->kappa, v->mu, v->nu);
}

/* lambda, then each cut's kappa, summed over the nodes before a node */
struct sums { const struct prices *v; double *until; };

static struct sums sums_new(const struct placing *p)
{
    return (struct sums){ NULL, xcalloc(size_mul((size_t)p->nodes + 2, (size_t)p->cuts + 1), sizeof(double)) };
}

static double *until_of(const struct placing *p, const struct sums *s, int row)
{
    return s->until + (size_t)row * (size_t)(p->nodes + 2);
}

static void sum_up(const struct placing *p, struct sums *s, const struct prices *v)
{
    s->v = v;
    for (int row = 0; row <= p->cuts; row++) {
        double *until = until_of(p, s, row);
        const double *price = row == 0 ? v->lambda : v->kappa + (size_t)(row - 1) * (size_t)p->nodes;
        until[0] = 0;
        for (int n = 0; n < p->nodes; n++) until[n + 1] = until[n] + price[n];
    }
}

/* what tensor t pays for fast memory at nodes from .. to - 1 */
static double rent(const struct placing *p, const struct sums *s, int t, int from, int to)
{
    double sum = p->size[t] * (s->until[to] - s->until[from]);
    for (int c = 0; c < p->cuts; c++) {
        double weight = cut_weight(p, c, t);
        const double *until = until_of(p, s, c + 1);
        if (weight > 0) sum += weight * (until[to] - until[from]);
    }
    return sum;
}

/* ---- the bound ---- */

/* The time of a move beside some nodes, shared out: the cheapest time of the channel first, beside each node at most
 * what the channel can have; for what remains the step stands still, second for second. */
struct part { double price, seconds; int node; };        /* node -1: the step stands still */
struct split { struct part *part; int n; double cost; }; /* by ascending price */

static struct split split_new(const struct placing *p)
{
    return (struct split){ xcalloc((size_t)p->nodes + 2, sizeof(struct part)), 0, 0 };
}

static void split_begin(struct split *s, double seconds)
{
    s->part[0] = (struct part){ 1, seconds, -1 };
    s->n = 1;
    s->cost = seconds;
}

static inline bool split_gains(const struct split *s, double price) { return price < s->part[s->n - 1].price; }

static void split_add(struct split *s, double price, double seconds, int node)
{
    if (!split_gains(s, price) || seconds <= 0) return;
    int i = s->n++;
    for (; i > 0 && s->part[i - 1].price > price; i--) s->part[i] = s->part[i - 1];
    s->part[i] = (struct part){ price, seconds, node };
    s->cost += price * seconds;
    while (seconds > 0) {                                /* as much leaves at the dear end */
        struct part *last = &s->part[s->n - 1];
        double part = s->n > 1 && last->seconds < seconds ? last->seconds : seconds;
        s->cost -= last->price * part;
        last->seconds -= part;
        seconds -= part;
        if (last->seconds <= 0 && s->n > 1) s->n--;
    }
}

static void split_copy(struct split *to, const struct split *from)
{
    memcpy(to->part, from->part, (size_t)from->n * sizeof *to->part);
    to->n = from->n;
    to->cost = from->cost;
}

struct dual {                                            /* a point of the relaxation */
    struct sums sums;
    struct split split, longer;
    double *taken;                                       /* node: seconds of the channel that moves want beside it */
    double *paid, *cheapest;                             /* of one tensor, by node: see life_prices */
    double *load;                                        /* bytes that the paths want in fast memory, and staging */
    double *cut_load;                                    /* the same in the units of each cut */
    int *config;                                         /* what the kernels want */
    uint8_t *slow, *stay;                                /* what the paths want */
    struct path path;
};

static struct dual dual_new(const struct placing *p)
{
    size_t nodes = (size_t)p->nodes + 2, uses = (size_t)p->uses + 1;
    return (struct dual){ sums_new(p),
                          split_new(p),
                          split_new(p),
                          xcalloc(nodes, sizeof(double)),
                          xcalloc(nodes, sizeof(double)),
                          xcalloc(nodes, sizeof(double)),
                          xcalloc(nodes, sizeof(double)),
                          xcalloc(size_mul(nodes, (size_t)p->cuts + 1), sizeof(double)),
                          xcalloc(nodes, sizeof(int)),
                          xcalloc(uses, 1),
                          xcalloc(uses, 1),
                          path_new(p) };
}

static void dual_free(struct dual *d)
{
    free_all(d->sums.until, d->split.part, d->longer.part, d->taken, d->paid, d->cheapest, d->load, d->cut_load,
             d->config, d->slow, d->stay);
    path_free(&d->path);
}

static int slot_of(const struct placing *p, int use)
{
    return p->slot_end[p->use_node[use]] + p->use_slot[use];
}

static double kernel_minimum(const struct placing *p, const struct prices *v, int n, int *config)
{
    int k = p->slot_end[n + 1] - p->slot_end[n];
    const struct choice *c = p->choice + p->choice_end[n];
    const double *seconds = p->seconds + p->choice_end[n];
    const double *mu = v->mu + p->slot_end[n];
    double credit[1 << GRAPH_SLOTS], best = DBL_MAX;
    credit[0] = 0;
    for (int set = 0; set < 1 << k; set++) {
        if (set > 0) credit[set] = credit[set & (set - 1)] + mu[__builtin_ctz((unsigned)set)];
        double worth = (v->nu[n] - p->phi[n]) * choice_leaves(p, n, p->choice_end[n] + set);
        double cost = seconds[set] - worth - credit[set] + v->lambda[n] * (double)c[set].staging;
        if (cost < best) {
            best = cost;
            *config = set;
        }
    }
    return best;
}

static void add_load(double *load, const struct placing *p, const struct dual *d, int t, double weight)
{
    for (int i = 0, k = p->use_end[t + 1] - p->use_end[t]; i < k; i++) {   /* differences, summed up later */
        int u = p->use_end[t] + i, n = p->use_node[u];
        if (d->slow[u]) continue;
        bool leaves = i + 1 < k && !d->stay[u], fetched = i > 0 && !d->stay[u - 1];
        bool written = leaves && d->path.fresh[i];
        load[n - (fetched ? d->path.lead[i] : 0)] += weight;
        load[d->stay[u] ? p->use_node[u + 1] : n + 1 + (written ? d->path.lag[i] : 0)] -= weight;
    }
}

/* What tensor t pays for fast memory before each node of its life, and the least price of the channel from where it was
 * made until there. */
static void life_prices(const struct placing *p, struct dual *d, int t, const double *nu)
{
    int made = p->use_node[p->use_end[t]], last = p->use_node[p->use_end[t + 1] - 1];
    const double *until = d->sums.until;
    double least = 1;
    for (int n = made; n <= last; n++) {
        if (n > made && nu[n] < least) least = nu[n];
        d->paid[n] = p->size[t] * until[n];
        d->cheapest[n] = least;
    }
    for (int c = 0; c < p->cuts; c++) {
        double weight = cut_weight(p, c, t);
        until = until_of(p, &d->sums, c + 1);
        for (int n = made; weight > 0 && n <= last; n++) d->paid[n] += weight * until[n];
    }
}

/* A fetch beside kernels takes fast memory from one of the nodes before its use on, a write-out until one of those
 * after it.  The cheapest such time for each use, where a second of the channel costs nu of the node that it is
 * beside. */
static void fetch_prices(const struct placing *p, struct dual *d, int t, const double *nu)
{
    const struct path *q = &d->path;
    int first = p->use_end[t], k = p->use_end[t + 1] - first, made = p->use_node[first];
    for (int u = 1; u < k; u++) {
        int n = p->use_node[first + u];
        q->fetch[u] = p->fetch[t];
        q->lead[u] = 0;
        split_begin(&d->split, p->fetch[t]);
        double least = d->cheapest[n - 1] * p->fetch[t];
        for (int b = n - 1; b > made; b--) {
            double pays = d->paid[n] - d->paid[b];
            if (pays + least >= q->fetch[u]) break;
            if (!split_gains(&d->split, nu[b])) continue;
            split_add(&d->split, nu[b], p->spare[b], b);
            if (pays + d->split.cost >= q->fetch[u]) continue;
            q->fetch[u] = pays + d->split.cost;
            q->lead[u] = n - b;
        }
    }
}

static void write_prices(const struct placing *p, struct dual *d, int t, const double *nu)
{
    const struct path *q = &d->path;
    int first = p->use_end[t], k = p->use_end[t + 1] - first, made = p->use_node[first];
    split_begin(&d->split, p->write[t]);
    for (int u = 0; u + 1 < k; u++) {
        int n = p->use_node[first + u];
        if (u > 0 && q->stay[u - 1] >= q->write[u - 1] + q->fetch[u]) {   /* whoever is there has left and come back */
            for (; u + 1 < k; u++) q->write[u] = NEVER;
            return;
        }
        for (int i = u > 0 ? p->use_node[first + u - 1] + 1 : made + 1; i <= n; i++)
            if (split_gains(&d->split, nu[i])) split_add(&d->split, nu[i], p->spare[i], i);
        split_copy(&d->longer, &d->split);
        q->write[u] = d->split.cost;
        q->lag[u] = 0;
        double least = d->cheapest[p->use_node[first + u + 1] - 1] * p->write[t];
        for (int e = n + 1; e < p->use_node[first + u + 1]; e++) {
            double pays = d->paid[e + 1] - d->paid[n + 1];
            if (pays + least >= q->write[u]) break;
            if (!split_gains(&d->longer, nu[e])) continue;
            split_add(&d->longer, nu[e], p->spare[e], e);
            if (pays + d->longer.cost >= q->write[u]) continue;
            q->write[u] = pays + d->longer.cost;
            q->lag[u] = e - n;
        }
    }
}

/* what a move beside nodes from .. to - 1 takes of the channel */
static void add_taken(const struct placing *p, struct dual *d, double seconds, const double *nu, int from, int to)
{
    split_begin(&d->split, seconds);
    for (int n = from; n < to; n++) split_add(&d->split, nu[n], p->spare[n], n);
    for (int i = 0; i < d->split.n; i++)
        if (d->split.part[i].node >= 0) d->taken[d->split.part[i].node] += d->split.part[i].seconds;
}

static void add_moves(const struct placing *p, struct dual *d, int t, const double *nu)
{
    int first = p->use_end[t], k = p->use_end[t + 1] - first, made = p->use_node[first];
    for (int i = 0; i < k; i++) {
        int u = first + i, n = p->use_node[u];
        if (d->slow[u]) continue;
        if (i > 0 && !d->stay[u - 1]) add_taken(p, d, p->fetch[t], nu, n - d->path.lead[i], n);
        if (i + 1 < k && !d->stay[u] && d->path.fresh[i])
            add_taken(p, d, p->write[t], nu, made + 1, n + 1 + d->path.lag[i]);
    }
}

static void tensor_prices(const struct placing *p, const struct sums *s, int t, double share, struct path *q)
{
    plain_moves(p, q, t, share);
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    for (int u = 0; u < k; u++) {
        int n = p->use_node[first + u];
        q->fast[u] = p->size[t] + p->base[n] > p->limit[n] ? NEVER : rent(p, s, t, n, n + 1);
        q->slow[u] = s->v->mu[slot_of(p, first + u)];
        if (u + 1 < k) q->stay[u] = rent(p, s, t, n + 1, p->use_node[first + u + 1]);
    }
}

/* L at prices v; d becomes the point that attains it */
static double relax(const struct placing *p, const struct prices *v, struct dual *d)
{
    double sum = 0;
    size_t nodes = (size_t)p->nodes + 1;
    sum_up(p, &d->sums, v);
    for (size_t i = 0; i < nodes; i++) d->load[i] = d->taken[i] = 0;
    for (size_t i = 0; i < nodes * (size_t)p->cuts; i++) d->cut_load[i] = 0;
    for (int n = 0; n < p->nodes; n++) {
        sum -= v->lambda[n] * (p->limit[n] - p->base[n]);
        for (int c = 0; c < p->cuts; c++) sum -= v->kappa[c * p->nodes + n] * cut_right(p, c, n);
    }
    for (int t = 0; t < p->tensors; t++) {
        tensor_prices(p, &d->sums, t, 1, &d->path);
        if (p->beside) {
            life_prices(p, d, t, v->nu);
            fetch_prices(p, d, t, v->nu);
            write_prices(p, d, t, v->nu);
        }
        sum += best_path(p, &d->path, t, d->slow, d->stay);
        if (p->beside) add_moves(p, d, t, v->nu);
        add_load(d->load, p, d, t, p->size[t]);
        for (int c = 0; c < p->cuts; c++)
            if (cut_weight(p, c, t) > 0) add_load(d->cut_load + (size_t)c * nodes, p, d, t, cut_weight(p, c, t));
    }
    for (int n = 1; n < p->nodes; n++) {
        d->load[n] += d->load[n - 1];
        for (int c = 0; c < p->cuts; c++)
            d->cut_load[(size_t)c * nodes + (size_t)n] += d->cut_load[(size_t)c * nodes + (size_t)n - 1];
    }
    for (int n = 0; n < p->nodes; n++) {
        sum += kernel_minimum(p, v, n, &d->config[n]);
        if (p->staged) d->load[n] += (double)p->choice[p->choice_end[n] + d->config[n]].staging;
    }
    return sum;
}

double price_bound(const struct placing *p, const struct prices *v)
{
    struct dual d = dual_new(p);
    double bound = relax(p, v, &d);
    dual_free(&d);
    return bound;
}

/* ---- ascent ---- */

/* a penalty per slot: the mean over the other slots' placements of what it costs to be slow */
static void first_prices(const struct placing *p, struct prices *v)
{
    for (int n = 0; n < p->nodes; n++) {
        v->lambda[n] = 0;
        const struct choice *c = p->choice + p->choice_end[n];
        int k = p->slot_end[n + 1] - p->slot_end[n];
        for (int s = 0; s < k; s++) {
            double sum = 0;
            int count = 0;
            for (int set = 0; set < 1 << k; set++) {
                if (set >> s & 1) continue;
                double more = c[set | 1 << s].seconds - c[set].seconds;
                if (fabs(more) > 1e5) continue;          /* cannot be had */
                sum += more;
                count++;
            }
            v->mu[p->slot_end[n] + s] = count > 0 ? sum / count : 0;
        }
    }
}

struct ascent {                                          /* moments of the subgradient, by coordinate */
    double *m, *s, *scale;                               /* nodes, slots, cuts by node */
    double fade_m, fade_s;                               /* powers of the decay rates */
};

static const double NU_FIRST = 0.2;                      /* a second of the channel, at first */
static const double DECAY_M = 0.7, DECAY_S = 0.98, STEP_RATIO = 0.002;
static const double STEP_FIRST = 4, STEP_BESIDE = 0.15, STEP_STEEP = 1;

static double coordinate(struct ascent *a, int i, double gradient, double step, double floor)
{
    a->m[i] = DECAY_M * a->m[i] + (1 - DECAY_M) * gradient;
    a->s[i] = DECAY_S * a->s[i] + (1 - DECAY_S) * gradient * gradient;
    return step * a->scale[i] * (a->m[i] / (1 - a->fade_m)) / (sqrt(a->s[i] / (1 - a->fade_s)) + floor);
}

static void climb_channel(const struct placing *p, const struct dual *d, struct ascent *a, int n, double step,
                          struct prices *v)
{
    if (p->spare[n] <= 0) return;
    int k = p->nodes * (1 + p->cuts) + p->uses + n, c = p->choice_end[n] + d->config[n];
    double over = (d->taken[n] - choice_leaves(p, n, c)) / p->spare[n];
    if (over < 0 && v->nu[n] <= p->phi[n] && a->m[k] <= 0) over = 0;
    if (over > 0 && v->nu[n] >= 1 && a->m[k] >= 0) over = 0;
    v->nu[n] = fmin(fmax(v->nu[n] + coordinate(a, k, over, step, 1e-2), p->phi[n]), 1);
}

static void climb(const struct placing *p, const struct dual *d, struct ascent *a, double step, struct prices *v)
{
    a->fade_m *= DECAY_M;
    a->fade_s *= DECAY_S;
    for (int n = 0; n < p->nodes; n++) {
        double over = (d->load[n] + p->base[n] - p->limit[n]) / (double)p->bytes_limit;
        if (over < 0 && v->lambda[n] <= 0 && a->m[n] <= 0) over = 0;
        v->lambda[n] += coordinate(a, n, over, step, 1e-3);
        if (v->lambda[n] < 0) v->lambda[n] = 0;
        if (p->beside) climb_channel(p, d, a, n, step, v);
        for (int i = p->slot_end[n]; i < p->slot_end[n + 1]; i++) {
            int wants = d->slow[p->slot_use[i]], gets = d->config[n] >> (i - p->slot_end[n]) & 1;
            v->mu[i] += coordinate(a, p->nodes + i, wants - gets, step, 1e-2);
        }
    }
    for (int i = 0; i < p->cuts * p->nodes; i++) {
        int c = i / p->nodes, n = i % p->nodes, k = p->nodes + p->uses + i;
        double right = cut_right(p, c, n), over = (d->cut_load[c * (p->nodes + 1) + n] - right) / (right + 1);
        if (over < 0 && v->kappa[i] <= 0 && a->m[k] <= 0) over = 0;
        v->kappa[i] += coordinate(a, k, over, step, 1e-3);
        if (v->kappa[i] < 0) v->kappa[i] = 0;
    }
}

static struct ascent ascent_new(const struct placing *p, const struct dual *d, const struct prices *v)
{
    size_t n = (size_t)(p->nodes + p->uses + p->cuts * p->nodes + p->nodes) + 1;
    struct ascent a = { xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), 1, 1 };
    double over = 0, fast = 0, slow = 0;
    for (int i = 0; i < p->nodes; i++) {
        double o = d->load[i] + p->base[i] - p->limit[i];
        if (o > 0) over += o;
        double least = DBL_MAX, most = p->choice[p->choice_end[i + 1] - 1].seconds;
        for (int c = p->choice_end[i]; c < p->choice_end[i + 1]; c++) least = fmin(least, p->choice[c].seconds);
        fast += least;
        slow += most > 1e5 ? least : most;
    }
    for (int i = 0; i < p->nodes; i++) a.scale[i] = over > 0 ? fabs(slow - fast) / over : 0;
    for (int i = 0; i < p->uses; i++) a.scale[p->nodes + i] = fabs(v->mu[i]) + 1e-9;
    for (int i = 0; i < p->cuts * p->nodes; i++)
        a.scale[p->nodes + p->uses + i] = a.scale[i % p->nodes] * (double)p->cut[i / p->nodes];
    for (int i = 0; i < p->nodes; i++) a.scale[p->nodes * (1 + p->cuts) + p->uses + i] = 1;
    return a;
}

static void ascent_free(struct ascent *a)
{
    free(a->m);
    free(a->s);
    free(a->scale);
}

/* seven digits, so that a plan can carry them; any prices prove a bound */
static void round_prices(const struct placing *p, struct prices *v)
{
    char text[32];
    const struct { double *x; int n; } all[] = {
        { v->lambda, p->nodes }, { v->mu, p->uses }, { v->kappa, p->cuts * p->nodes }, { v->nu, p->nodes }
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < all[k].n; i++) {
            snprintf(text, sizeof text, "%.7g", all[k].x[i]);
            all[k].x[i] = strtod(text, NULL);
        }
    for (int n = 0; n < p->nodes; n++) v->nu[n] = fmax(v->nu[n], p->phi[n]);
}

void prices_copy(const struct placing *p, struct prices *to, const struct prices *from)
{
    memcpy(to->lambda, from->lambda, (size_t)p->nodes * sizeof(double));
    memcpy(to->kappa, from->kappa, (size_t)(p->nodes * p->cuts) * sizeof(double));
    memcpy(to->mu, from->mu, (size_t)p->uses * sizeof(double));
    memcpy(to->nu, from->nu, (size_t)p->nodes * sizeof(double));
}

/* ---- placements ---- */

struct search {
    const struct placing *p;
    struct placement *x;
    struct sums sums;
    struct path path;
    double *gain;                                        /* of tensors, for the order of insertion */
    struct rng *noise;                                   /* NULL, or what blurs the comparison of fast and slow */
    double *spare, *worth;                               /* time of the channel before a node, its worth */
    double weight;                                       /* of the memory prices, of the last life found */
    int *order;
};

static double free_bytes(const struct placing *p, const struct placement *x, int n, int config)
{
    return p->limit[n] - p->base[n] - x->load[n] - (double)p->choice[p->choice_end[n] + config].staging;
}

/* Seconds of the channel beside nodes from .. to - 1 are shared out by what the channel can have beside each. */
static void take_channel(struct placement *x, const double *spare, double seconds, int from, int to)
{
    double all = spare[to] - spare[from];
    double part = all > 0 ? fmin(fabs(seconds), all) / all * (seconds < 0 ? -1 : 1) : 0;
    for (int n = from; n < to; n++) x->used[n] += part * (spare[n + 1] - spare[n]);
}

/* add tensor t's bytes to the load and its bits to the configurations (sign 1), or take them out (-1) */
static void account(const struct search *s, int t, int sign)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    double bytes = sign * p->size[t];
    int made = p->use_node[p->use_end[t]], end = p->use_end[t + 1];
    bool copied = x->slow[p->use_end[t]];
    for (int u = p->use_end[t]; u < end; u++) {
        int n = p->use_node[u], bit = 1 << p->use_slot[u];
        if (x->slow[u]) {
            x->config[n] = sign > 0 ? x->config[n] | bit : x->config[n] & ~bit;
            continue;
        }
        if (sign > 0) x->config[n] &= ~bit;
        x->load[n] += bytes;
        if (x->stay[u])
            for (int i = n + 1; i < p->use_node[u + 1]; i++) x->load[i] += bytes;
        for (int i = n - x->lead[u]; i < n; i++) x->load[i] += bytes;
        for (int i = n + 1; i <= n + x->lag[u]; i++) x->load[i] += bytes;
        if (!p->beside) continue;
        if (u > p->use_end[t] && !x->stay[u - 1])
            take_channel(x, s->spare, sign * p->fetch[t], n - x->lead[u], n);
        if (u + 1 < end && !x->stay[u] && !copied) {
            take_channel(x, s->spare, sign * p->write[t], made + 1, n + 1 + x->lag[u]);
            copied = true;
        }
    }
}

/* of a move of so many seconds beside nodes from .. to - 1, `still` of them at least more than the channel has there */
static double cost_beside(const struct search *s, double seconds, double still, int from, int to)
{
    still = fmin(fmax(still, 0), seconds);
    double all = s->spare[to] - s->spare[from];
    return still + (all > 0 ? (seconds - still) * (s->worth[to] - s->worth[from]) / all : seconds - still);
}

/* Fetches and write-outs beside kernels, given all other tensors: from node to node farther from the use, until the
 * channel has the time or there is no more room.  Between two uses each has half of the nodes. */
static void moves_beside(struct search *s, int t, double weight)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    const struct path *q = &s->path;
    int first = p->use_end[t], k = p->use_end[t + 1] - first, made = p->use_node[first];
    double size = p->size[t], fetch = p->fetch[t], write = p->write[t], left = write;
    for (int n = made + 1; n <= p->use_node[first]; n++) left -= fmax(0, s->spare[n + 1] - s->spare[n] - x->used[n]);
    for (int u = 0; u < k; u++) {
        int n = p->use_node[first + u], from = u > 0 ? (p->use_node[first + u - 1] + n) / 2 + 1 : n;
        double still = fetch, best = fetch;
        q->lead[u] = 0;
        for (int b = n - 1; b >= from && still > 0; b--) {
            if (free_bytes(p, x, b, x->config[b]) < size) break;
            still -= fmax(0, s->spare[b + 1] - s->spare[b] - x->used[b]);
            double pays = weight * rent(p, &s->sums, t, b, n) + cost_beside(s, fetch, still, b, n);
            if (pays >= best) continue;
            best = pays;
            q->lead[u] = n - b;
        }
        q->fetch[u] = best;
        if (u > 0)
            for (int i = p->use_node[first + u - 1] + 1; i <= n; i++)
                left -= fmax(0, s->spare[i + 1] - s->spare[i] - x->used[i]);
        int to = u + 1 < k ? (n + p->use_node[first + u + 1]) / 2 : n;
        still = left;
        best = cost_beside(s, write, still, made + 1, n + 1);
        q->lag[u] = 0;
        for (int e = n + 1; e <= to && still > 0; e++) {
            if (free_bytes(p, x, e, x->config[e]) < size) break;
            still -= fmax(0, s->spare[e + 1] - s->spare[e] - x->used[e]);
            double pays =
                weight * rent(p, &s->sums, t, n + 1, e + 1) + cost_beside(s, write, still, made + 1, e + 1);
            if (pays >= best) continue;
            best = pays;
            q->lag[u] = e - n;
        }
        q->write[u] = best;
    }
}

/* what the life found for t means for its moves */
static void set_moves(struct search *s, int t)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    const struct path *q = &s->path;
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    bool copied = x->slow[first];
    for (int i = 0; i < k; i++) {
        int u = first + i;
        bool fetched = i > 0 && !x->slow[u] && !x->stay[u - 1];
        bool written = i + 1 < k && !x->slow[u] && !x->stay[u] && !copied;
        copied |= written;
        x->lead[u] = fetched ? q->lead[i] : 0;
        x->lag[u] = written ? q->lag[i] : 0;
        x->still[u] = 0;
        int n = p->use_node[u];
        if (fetched)
            x->still[u] += q->fetch[i] - s->weight * rent(p, &s->sums, t, n - x->lead[u], n);
        if (written)
            x->still[u] += q->write[i] - s->weight * rent(p, &s->sums, t, n + 1, n + 1 + x->lag[u]);
        if (x->still[u] < 0) x->still[u] = 0;
    }
}

/* the cheapest life of t given all other tensors, under hard limits; `weight` of the memory prices is added */
static void reinsert(struct search *s, int t, double weight)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    double size = p->size[t];
    plain_moves(p, &s->path, t, 1);
    if (p->beside) moves_beside(s, t, weight);
    for (int u = 0; u < k; u++) {
        int n = p->use_node[first + u], bit = 1 << p->use_slot[first + u];
        const struct choice *c = p->choice + p->choice_end[n];
        int in = x->config[n] & ~bit, out = x->config[n] | bit;
        double room = free_bytes(p, x, n, in) - size, room_out = free_bytes(p, x, n, out);
        s->path.fast[u] = weight * rent(p, &s->sums, t, n, n + 1) + (room < 0 ? -room * OVERLOAD : 0);
        double penalty = c[out].seconds - c[in].seconds;
        if (s->noise) penalty *= 2 * rng_unit(s->noise);
        s->path.slow[u] = penalty + (room_out < 0 ? -room_out * OVERLOAD : 0);
        if (u + 1 == k) break;
        int next = p->use_node[first + u + 1];
        double stay = weight * rent(p, &s->sums, t, n + 1, next);
        for (int i = n + 1; i < next; i++) {
            double r = free_bytes(p, x, i, x->config[i]) - size;
            if (r < 0) {
                stay += -r * OVERLOAD;
                break;
            }
        }
        s->path.stay[u] = stay;
    }
    best_path(p, &s->path, t, x->slow, x->stay);
    s->weight = weight;
    if (p->beside) set_moves(s, t);
    account(s, t, 1);
}

static void reoptimise(struct search *s, int t, double weight)
{
    account(s, t, -1);
    reinsert(s, t, weight);
}

static void clear(const struct placing *p, struct placement *x)
{
    memset(x->slow, 1, (size_t)p->uses);
    memset(x->stay, 0, (size_t)p->uses);
    for (int n = 0; n < p->nodes; n++) {
        x->config[n] = (1 << (p->slot_end[n + 1] - p->slot_end[n])) - 1;
        x->load[n] = x->used[n] = 0;
    }
    for (int u = 0; u < p->uses; u++) x->lead[u] = x->lag[u] = 0, x->still[u] = 0;
}

static const double *sort_gain;                          /* for qsort */
static int by_gain(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return ORDER(sort_gain[y], sort_gain[x]) ?: ORDER(x, y);
}

/* insert tensors in order of gain per byte: the cost of being slow all the time less that of the best priced path */
static void construct(struct search *s, const struct prices *v)
{
    const struct placing *p = s->p;
    double share = !p->beside ? 1 : s->spare[p->nodes] > 0 ? s->worth[p->nodes] / s->spare[p->nodes] : 0;
    sum_up(p, &s->sums, v);
    for (int t = 0; t < p->tensors; t++) {
        double away = 0;
        tensor_prices(p, &s->sums, t, share, &s->path);
        for (int u = 0; u < p->use_end[t + 1] - p->use_end[t]; u++) away += s->path.slow[u];
        s->gain[t] = (away - best_path(p, &s->path, t, s->x->slow, s->x->stay)) / p->size[t];
        s->order[t] = t;
    }
    sort_gain = s->gain;
    qsort(s->order, (size_t)p->tensors, sizeof *s->order, by_gain);
    clear(p, s->x);
    for (int i = 0; i < p->tensors; i++) reoptimise(s, s->order[i], 1);
}

static double total(const struct placing *p, const struct placement *x)
{
    int node = 0;
    double over = placement_overload(p, x, &node);
    return placement_seconds(p, x) + (over > 0 ? OVERLOAD * over : 0);
}

/* every tensor in turn, given the others, until nothing changes much */
static double descend(struct search *s)
{
    double best = DBL_MAX;
    for (int pass = 0; pass < 8; pass++) {
        for (int i = 0; i < s->p->tensors; i++) reoptimise(s, s->order[i], pass < 2 ? 0.5 : 0);
        double now = total(s->p, s->x);
        if (pass > 2 && now > best * (1 - 1e-7)) break;
        best = now;
    }
    return total(s->p, s->x);
}

static double touched_seconds(const struct placing *p, const struct placement *x, const int *tensor, int n, char *mark)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += move_seconds(p, x, tensor[i]);
        for (int u = p->use_end[tensor[i]]; u < p->use_end[tensor[i] + 1]; u++) {
            int k = p->use_node[u], config = x->config[k];
            if (mark[k]) continue;
            mark[k] = 1;
            double room = free_bytes(p, x, k, config);
            sum += p->choice[p->choice_end[k] + config].seconds + (room < 0 ? -room * OVERLOAD : 0);
        }
    }
    for (int i = 0; i < n; i++)
        for (int u = p->use_end[tensor[i]]; u < p->use_end[tensor[i] + 1]; u++) mark[p->use_node[u]] = 0;
    return sum;
}

struct life { uint8_t slow, stay; int lead, lag; double still; };   /* of a use */

static void set_life(struct placement *x, int u, struct life life)
{
    x->slow[u] = life.slow;
    x->stay[u] = life.stay;
    x->lead[u] = life.lead;
    x->lag[u] = life.lag;
    x->still[u] = life.still;
}

static bool used_between(const struct placing *p, int t, int from, int end)
{
    for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++)
        if (p->use_node[u] >= from && p->use_node[u] < end) return true;
    return false;
}

/* Take some tensors that are alive at one node out, put them back in another order; or, since a kernel may be as slow
 * with one slow operand as with all, take those that a few nodes use to be fast and find each another life.  Keep what
 * is no worse, or a little worse at first (threshold accepting: Dueck and Scheuer 1990); x becomes the best placement
 * that was met. */
static void neighbourhoods(struct search *s, long rounds, uint64_t seed)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    if (p->tensors == 0) return;
    struct rng rng = rng_for(seed, str_of("place-plan/search"));
    int *alive = xcalloc((size_t)p->tensors, sizeof *alive);
    char *mark = xcalloc((size_t)p->nodes + 1, 1);
    struct life *kept = xcalloc((size_t)p->uses + 1, sizeof *kept);
    struct placement *best = placement_new(p);
    placement_copy(p, best, x);
    double now = total(p, x), least = now, first = now;
    for (long round = 0; round < rounds; round++) {
        double cold = 1 - (double)round / (double)rounds, worse = WORSE * first * cold * cold * cold;
        int node = (int)rng_below(&rng, (uint64_t)p->nodes), n = 0, want = 3 + (int)rng_below(&rng, PRUNE - 6),
            out[PRUNE];
        double weight = rng_unit(&rng);
        bool from_fast = rng_below(&rng, p->beside ? 6 : 3) == 0;
        int count = 0, end = node + 1 + (int)rng_below(&rng, FEW_NODES);
        for (int t = 0; t < p->tensors; t++)
            if (from_fast ? used_between(p, t, node, end)
                          : p->use_node[p->use_end[t]] <= node && node <= p->use_node[p->use_end[t + 1] - 1])
                alive[count++] = t;
        while (n < want && count > 0) {
            int i = (int)rng_below(&rng, (uint64_t)count);
            out[n++] = alive[i];
            alive[i] = alive[--count];
        }
        double before = touched_seconds(p, x, out, n, mark);
        struct life *keep = kept;
        for (int i = 0; i < n; i++) {
            account(s, out[i], -1);
            for (int u = p->use_end[out[i]]; u < p->use_end[out[i] + 1]; u++) {
                *keep++ = (struct life){ x->slow[u], x->stay[u], x->lead[u], x->lag[u], x->still[u] };
                set_life(x, u, (struct life){ !from_fast, from_fast && u + 1 < p->use_end[out[i] + 1], 0, 0, 0 });
            }
            account(s, out[i], 1);
        }
        int back[PRUNE];
        memcpy(back, out, sizeof *out * (size_t)n);
        rng_shuffle(&rng, back, (size_t)n, sizeof *back);
        if (round % 2 == 0) s->noise = &rng;
        for (int i = 0; i < n; i++)                      /* some are left out at first and make room for others */
            if (rng_below(&rng, 4) > 0) reoptimise(s, back[i], weight < 0.5 ? weight * 2 : 1);
        s->noise = NULL;
        for (int i = 0; i < n; i++) reoptimise(s, back[i], 0);
        double after = touched_seconds(p, x, out, n, mark);
        if (after <= before + worse) {
            now += after - before;
            if (now < least * (1 - 1e-9)) {
                least = now;
                placement_copy(p, best, x);
            }
            continue;
        }
        keep = kept;
        for (int i = 0; i < n; i++) {
            account(s, out[i], -1);
            for (int u = p->use_end[out[i]]; u < p->use_end[out[i] + 1]; u++) set_life(x, u, *keep++);
            account(s, out[i], 1);
        }
    }
    if (total(p, best) < total(p, x)) placement_copy(p, x, best);
    placement_free(best);
    free(alive);
    free(mark);
    free(kept);
}

static struct search search_new(const struct placing *p, struct placement *x)
{
    struct search s = { .p = p,
                        .x = x,
                        .sums = sums_new(p),
                        .spare = xcalloc((size_t)p->nodes + 2, sizeof(double)),
                        .worth = xcalloc((size_t)p->nodes + 2, sizeof(double)),
                        .path = path_new(p),
                        .gain = xcalloc((size_t)p->tensors + 1, sizeof(double)),
                        .order = xcalloc((size_t)p->tensors + 1, sizeof(int)) };
    for (int t = 0; t < p->tensors; t++) s.order[t] = t;
    for (int n = 0; n < p->nodes; n++) {
        s.spare[n + 1] = s.spare[n] + p->spare[n];
        s.worth[n + 1] = s.worth[n] + p->spare[n] * p->nu[n];
    }
    return s;
}

static void search_free(struct search *s)
{
    free(s->sums.until);
    free_all(s->spare, s->worth);
    path_free(&s->path);
    free(s->gain);
    free(s->order);
}

bool improve_placing(const struct placing *p, const struct effort *effort, const struct prices *v, struct placement *x)
{
    struct search s = search_new(p, x);
    sum_up(p, &s.sums, v);
    descend(&s);
    neighbourhoods(&s, effort->search_rounds, effort->seed);
    descend(&s);
    search_free(&s);
    int node = 0;
    return placement_overload(p, x, &node) <= 0 && placement_seconds(p, x) < 1e5;
}

/* Where moves cost next to nothing, so does being slow at a use: begin there if that proves more. */
static void start_free(const struct placing *p, struct prices *v, struct dual *d)
{
    struct prices none = prices_new(p);
    if (relax(p, &none, d) > relax(p, v, d)) prices_copy(p, v, &none);
    prices_free(&none);
}

bool try_placing(const struct placing *p, const struct effort *effort, bool warm, struct placement *x,
                 struct prices *best, double *proved)
{
    struct dual d = dual_new(p);
    struct prices v = prices_new(p);
    struct placement *trial = placement_new(p);
    struct search s = search_new(p, trial);
    double bound = -DBL_MAX, plan = warm ? total(p, x) : DBL_MAX;
    first_prices(p, &v);
    for (int n = 0; n < p->nodes && p->beside; n++) v.nu[n] = p->phi[n] + (1 - p->phi[n]) * NU_FIRST;
    relax(p, &v, &d);
    struct ascent a = ascent_new(p, &d, &v);
    if (warm) prices_copy(p, &v, best);
    if (p->beside) start_free(p, &v, &d);
    double step = !p->beside ? STEP_FIRST : effort->steep ? STEP_STEEP : STEP_BESIDE;
    for (long i = warm ? effort->dual_steps * 4 / 5 : 0; i < effort->dual_steps; i++) {
        double now = relax(p, &v, &d);
        if (now > bound) {
            bound = now;
            prices_copy(p, best, &v);
        }
        if (i % 200 == 199 || i + 1 == effort->dual_steps) {
            construct(&s, &v);
            double made = descend(&s);
            if (made < plan) {
                plan = made;
                placement_copy(p, x, trial);
            }
        }
        climb(p, &d, &a, step * pow(STEP_RATIO, (double)i / (double)effort->dual_steps), &v);
    }
    round_prices(p, best);
    bound = relax(p, best, &d);
    ascent_free(&a);
    search_free(&s);
    placement_free(trial);
    prices_free(&v);
    dual_free(&d);
    *proved = bound;
    return improve_placing(p, effort, best, x);
}

double solve_placing(const struct placing *p, const struct effort *effort, bool warm, struct placement *x,
                     struct prices *best)
{
    double bound;
    if (!try_placing(p, effort, warm, x, best, &bound))
        die_of_limit("no plan found within the limit of %llu bytes", (unsigned long long)p->bytes_limit);
    return bound;
}

/* solve.c - see solve.h */
#include "place/seek.h"
#include "base/checked.h"
#include "base/message.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct price_sums sums;
    struct split split, longer;
    double *taken;                                       /* node: seconds of the channel that moves want beside it */
    double *paid, *cheapest;                             /* of one tensor, by node: see life_prices */
    double *load;                                        /* bytes that the paths want in fast memory, and staging */
    double *cut_load;                                    /* the same in the units of each cut */
    int *config;                                         /* what the kernels want */
    uint8_t *slow, *stay;                                /* what the paths want */
    struct life_path path;
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
    const struct life_path *q = &d->path;
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
    const struct life_path *q = &d->path;
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
        path_prices(p, &d->sums, t, 1, &d->path);
        if (p->beside) {
            life_prices(p, d, t, v->nu);
            fetch_prices(p, d, t, v->nu);
            write_prices(p, d, t, v->nu);
        }
        sum += path_best(p, &d->path, t, d->slow, d->stay);
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
    struct seek s = seek_new(p, trial);
    double bound = -DBL_MAX, plan = warm ? seek_total(p, x) : DBL_MAX;
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
            seek_construct(&s, &v);
            double made = seek_descend(&s);
            if (made < plan) {
                plan = made;
                placement_copy(p, x, trial);
            }
        }
        climb(p, &d, &a, step * pow(STEP_RATIO, (double)i / (double)effort->dual_steps), &v);
    }
    round_prices(p, best);
    bound = relax(p, best, &d);
    free_all(a.m, a.s, a.scale);
    seek_free(&s);
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

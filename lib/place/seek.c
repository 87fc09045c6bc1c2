/* seek.c - see seek.h */
#include "place/seek.h"
#include "base/compare.h"
#include "base/rng.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double OVERLOAD = 1;                        /* seconds per byte over the limit, while not feasible yet */
static const double WORSE = 0.0005;                      /* of the step: what the search takes for a way on */
enum { PRUNE = 32, FEW_NODES = 16 };                     /* most tensors that one search round takes out; see there */

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
static void account(const struct seek *s, int t, int sign)
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
static double cost_beside(const struct seek *s, double seconds, double still, int from, int to)
{
    still = fmin(fmax(still, 0), seconds);
    double all = s->spare[to] - s->spare[from];
    return still + (all > 0 ? (seconds - still) * (s->worth[to] - s->worth[from]) / all : seconds - still);
}

static double channel_left(const struct seek *s, int n)
{
    double left = s->spare[n + 1] - s->spare[n] - s->x->used[n];
    return left > 0 ? left : 0;
}

/* Fetches and write-outs beside kernels, given all other tensors: from node to node farther from the use, until the
 * channel has the time or there is no more room.  Between two uses each has half of the nodes. */
static void moves_beside(struct seek *s, int t, double weight)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    const struct life_path *q = &s->path;
    int first = p->use_end[t], k = p->use_end[t + 1] - first, made = p->use_node[first];
    double size = p->size[t], fetch = p->fetch[t], write = p->write[t], left = write;
    for (int n = made + 1; n <= p->use_node[first]; n++) left -= channel_left(s, n);
    for (int u = 0; u < k; u++) {
        int n = p->use_node[first + u], from = u > 0 ? (p->use_node[first + u - 1] + n) / 2 + 1 : n;
        double still = fetch, best = fetch;
        q->lead[u] = 0;
        for (int b = n - 1; b >= from && still > 0; b--) {
            if (free_bytes(p, x, b, x->config[b]) < size) break;
            still -= channel_left(s, b);
            double pays = weight * rent(p, &s->sums, t, b, n) + cost_beside(s, fetch, still, b, n);
            if (pays >= best) continue;
            best = pays;
            q->lead[u] = n - b;
        }
        q->fetch[u] = best;
        if (u > 0)
            for (int i = p->use_node[first + u - 1] + 1; i <= n; i++) left -= channel_left(s, i);
        int to = u + 1 < k ? (n + p->use_node[first + u + 1]) / 2 : n;
        still = left;
        best = cost_beside(s, write, still, made + 1, n + 1);
        q->lag[u] = 0;
        for (int e = n + 1; e <= to && still > 0; e++) {
            if (free_bytes(p, x, e, x->config[e]) < size) break;
            still -= channel_left(s, e);
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
static void set_moves(struct seek *s, int t)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    const struct life_path *q = &s->path;
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
static void reinsert(struct seek *s, int t, double weight)
{
    const struct placing *p = s->p;
    struct placement *x = s->x;
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    double size = p->size[t];
    path_plain(p, &s->path, t, 1);
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
    path_best(p, &s->path, t, x->slow, x->stay);
    s->weight = weight;
    if (p->beside) set_moves(s, t);
    account(s, t, 1);
}

static void reoptimise(struct seek *s, int t, double weight)
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
void seek_construct(struct seek *s, const struct prices *v)
{
    const struct placing *p = s->p;
    double share = !p->beside ? 1 : s->spare[p->nodes] > 0 ? s->worth[p->nodes] / s->spare[p->nodes] : 0;
    sum_up(p, &s->sums, v);
    for (int t = 0; t < p->tensors; t++) {
        double away = 0;
        path_prices(p, &s->sums, t, share, &s->path);
        for (int u = 0; u < p->use_end[t + 1] - p->use_end[t]; u++) away += s->path.slow[u];
        s->gain[t] = (away - path_best(p, &s->path, t, s->x->slow, s->x->stay)) / p->size[t];
        s->order[t] = t;
    }
    sort_gain = s->gain;
    qsort(s->order, (size_t)p->tensors, sizeof *s->order, by_gain);
    clear(p, s->x);
    for (int i = 0; i < p->tensors; i++) reoptimise(s, s->order[i], 1);
}

double seek_total(const struct placing *p, const struct placement *x)
{
    int node = 0;
    double over = placement_overload(p, x, &node);
    return placement_seconds(p, x) + (over > 0 ? OVERLOAD * over : 0);
}

/* every tensor in turn, given the others, until nothing changes much */
double seek_descend(struct seek *s)
{
    double best = DBL_MAX;
    for (int pass = 0; pass < 8; pass++) {
        for (int i = 0; i < s->p->tensors; i++) reoptimise(s, s->order[i], pass < 2 ? 0.5 : 0);
        double now = seek_total(s->p, s->x);
        if (pass > 2 && now > best * (1 - 1e-7)) break;
        best = now;
    }
    return seek_total(s->p, s->x);
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
static void neighbourhoods(struct seek *s, long rounds, uint64_t seed)
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
    double now = seek_total(p, x), least = now, first = now;
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
    if (seek_total(p, best) < seek_total(p, x)) placement_copy(p, x, best);
    placement_free(best);
    free(alive);
    free(mark);
    free(kept);
}

struct seek seek_new(const struct placing *p, struct placement *x)
{
    struct seek s = { .p = p,
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

void seek_free(struct seek *s)
{
    free(s->sums.until);
    free_all(s->spare, s->worth);
    path_free(&s->path);
    free(s->gain);
    free(s->order);
}

bool improve_placing(const struct placing *p, const struct effort *effort, const struct prices *v, struct placement *x)
{
    struct seek s = seek_new(p, x);
    sum_up(p, &s.sums, v);
    seek_descend(&s);
    neighbourhoods(&s, effort->search_rounds, effort->seed);
    seek_descend(&s);
    seek_free(&s);
    int node = 0;
    return placement_overload(p, x, &node) <= 0 && placement_seconds(p, x) < 1e5;
}

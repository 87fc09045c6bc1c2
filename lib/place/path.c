/* path.c - see path.h */
#include "place/path.h"
#include "base/checked.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct life_path path_new(const struct placing *p)
{
    int longest = 1;
    for (int t = 0; t < p->tensors; t++)
        if (p->use_end[t + 1] - p->use_end[t] > longest) longest = p->use_end[t + 1] - p->use_end[t];
    size_t n = (size_t)longest + 1;
    return (struct life_path){ xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)),
                          xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), xcalloc(n, sizeof(int)),
                          xcalloc(n, sizeof(int)), xcalloc(n, 1), xcalloc(n, 3 * sizeof(double)), xcalloc(n, 3) };
}

void path_free(struct life_path *q)
{
    free_all(q->fast, q->stay, q->slow, q->fetch, q->write, q->lead, q->lag, q->fresh, q->cost, q->from);
}

static double whole_life(const struct life_path *q, int k, uint8_t *slow, uint8_t *stay)
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
static double cheapest(const struct life_path *q, int k, uint8_t *slow, uint8_t *stay)
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

double path_best(const struct placing *p, const struct life_path *q, int t, uint8_t *slow, uint8_t *stay)
{
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    if (!p->moves) return whole_life(q, k, slow + first, stay + first);
    return cheapest(q, k, slow + first, stay + first);
}

void path_plain(const struct placing *p, const struct life_path *q, int t, double share)
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

struct price_sums sums_new(const struct placing *p)
{
    return (struct price_sums){ NULL, xcalloc(size_mul((size_t)p->nodes + 2, (size_t)p->cuts + 1), sizeof(double)) };
}

double *until_of(const struct placing *p, const struct price_sums *s, int row)
{
    return s->until + (size_t)row * (size_t)(p->nodes + 2);
}

void sum_up(const struct placing *p, struct price_sums *s, const struct prices *v)
{
    s->v = v;
    for (int row = 0; row <= p->cuts; row++) {
        double *until = until_of(p, s, row);
        const double *price = row == 0 ? v->lambda : v->kappa + (size_t)(row - 1) * (size_t)p->nodes;
        until[0] = 0;
        for (int n = 0; n < p->nodes; n++) until[n + 1] = until[n] + price[n];
    }
}

double rent(const struct placing *p, const struct price_sums *s, int t, int from, int to)
{
    double sum = p->size[t] * (s->until[to] - s->until[from]);
    for (int c = 0; c < p->cuts; c++) {
        double weight = cut_weight(p, c, t);
        const double *until = until_of(p, s, c + 1);
        if (weight > 0) sum += weight * (until[to] - until[from]);
    }
    return sum;
}

void prices_copy(const struct placing *p, struct prices *to, const struct prices *from)
{
    memcpy(to->lambda, from->lambda, (size_t)p->nodes * sizeof(double));
    memcpy(to->kappa, from->kappa, (size_t)(p->nodes * p->cuts) * sizeof(double));
    memcpy(to->mu, from->mu, (size_t)p->uses * sizeof(double));
    memcpy(to->nu, from->nu, (size_t)p->nodes * sizeof(double));
}

int slot_of(const struct placing *p, int use)
{
    return p->slot_end[p->use_node[use]] + p->use_slot[use];
}

void path_prices(const struct placing *p, const struct price_sums *s, int t, double share, struct life_path *q)
{
    path_plain(p, q, t, share);
    int first = p->use_end[t], k = p->use_end[t + 1] - first;
    for (int u = 0; u < k; u++) {
        int n = p->use_node[first + u];
        q->fast[u] = p->size[t] + p->base[n] > p->limit[n] ? NEVER : rent(p, s, t, n, n + 1);
        q->slow[u] = s->v->mu[slot_of(p, first + u)];
        if (u + 1 < k) q->stay[u] = rent(p, s, t, n + 1, p->use_node[first + u + 1]);
    }
}

/* Orders of kernels: sound, never a higher peak, and how near to the least peak of all orders, found by dynamic
 * programming over the sets of nodes that have run. */
#include "place/order.h"
#include "place/repeats.h"
#include "base/rng.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 11, CASES = 400 };

static void add(struct graph *g, struct rng *r, int *made, int *nmade, int parameter, bool update)
{
    char name[16];
    snprintf(name, sizeof name, "n%d", g->nnode);
    int in[4] = { parameter }, nin = 1, out[2], nout = 1;
    for (int k = 0; k < 3; k++)
        if (*nmade > 0 && rng_below(r, 2)) in[nin++] = made[rng_below(r, (uint64_t)*nmade)];
    int64_t elements = update ? 100 : 1 + (int64_t)rng_below(r, 1000);
    out[0] = graph_tensor(g, name, update ? ROLE_ARG : ROLE_INTER, "f32", 1, &elements);
    if (update) g->tensor[out[0]].updates = parameter;
    if (rng_below(r, 4) == 0) {
        snprintf(name, sizeof name, "m%d", g->nnode);
        out[nout++] = graph_tensor(g, name, ROLE_INTER, "f32", 1, &(int64_t){ 1 + (int64_t)rng_below(r, 300) });
    }
    snprintf(name, sizeof name, "n%d", rng_below(r, 3) ? g->nnode : 0);   /* a name may stand twice */
    int n = graph_node(g, name, "Some", nin, in, nout, out);
    graph_attr(g, n, "a", 2, (double)n, 1);
    if (rng_below(r, 5) == 0) g->node[n].workspace = rng_below(r, 4000);
    for (int i = 0; i < nout; i++)
        if (i || !update) made[(*nmade)++] = out[i];
}

static struct graph *some_graph(struct rng *r)
{
    struct graph *g = graph_new("some", 1);
    int made[2 * NODES], nmade = 0, w = graph_tensor(g, "w", ROLE_ARG, "f32", 1, &(int64_t){ 100 }),
        x = graph_tensor(g, "x", ROLE_ARG, "f32", 1, &(int64_t){ 10 });
    for (int i = 0; i < NODES; i++) {
        bool update = i == NODES - 3;
        add(g, r, made, &nmade, update || (i < NODES - 3 && rng_below(r, 2)) ? w : x, update);
    }
    graph_finish(g);
    return g;
}

/* ---- all orders ---- */

static bool reads(const struct node *n, int t)
{
    for (int i = 0; i < n->nin; i++)
        if (n->operand[i] == t) return true;
    return false;
}

static bool writes(const struct node *n, int t)
{
    for (int i = n->nin; i < n->nin + n->nout; i++)
        if (n->operand[i] == t) return true;
    return false;
}

static bool may_follow(const struct graph *g, unsigned ran, int n)
{
    for (int m = 0; m < g->nnode; m++) {
        if (m == n || ran >> m & 1) continue;
        for (int t = 0; t < g->ntensor; t++) {
            if (writes(&g->node[m], t) && reads(&g->node[n], t)) return false;
            int was = g->tensor[t].updates;
            if (was >= 0 && writes(&g->node[n], t) && reads(&g->node[m], was)) return false;
        }
    }
    return true;
}

static uint64_t load(const struct graph *g, unsigned ran, int n)
{
    uint64_t sum = g->node[n].workspace;
    for (int t = 0; t < g->ntensor; t++) {
        if (g->tensor[t].role != ROLE_INTER) continue;
        bool made = false, wanted = false;
        for (int m = 0; m < g->nnode; m++) {
            made |= (ran >> m & 1) && writes(&g->node[m], t);
            wanted |= !(ran >> m & 1) && reads(&g->node[m], t);
        }
        if ((made && wanted) || writes(&g->node[n], t)) sum += g->tensor[t].bytes;
    }
    return sum;
}

static uint64_t least_peak(const struct graph *g)
{
    uint64_t *peak = malloc(sizeof *peak << NODES);
    memset(peak, 0xff, sizeof *peak << NODES);
    peak[0] = 0;
    for (unsigned ran = 0; ran < 1u << NODES; ran++) {
        for (int n = 0; n < NODES && peak[ran] != UINT64_MAX; n++) {
            if (ran >> n & 1 || !may_follow(g, ran, n)) continue;
            uint64_t p = load(g, ran, n);
            if (p < peak[ran]) p = peak[ran];
            if (p < peak[ran | 1u << n]) peak[ran | 1u << n] = p;
        }
    }
    uint64_t all = peak[(1u << NODES) - 1];
    free(peak);
    return all;
}

/* the peak of an order, by the definition; 0: an order that may not be */
static uint64_t peak_by_hand(const struct graph *g, const int *order)
{
    uint64_t most = 0;
    unsigned ran = 0;
    for (int i = 0; i < g->nnode; i++) {
        if (ran >> order[i] & 1 || !may_follow(g, ran, order[i])) return 0;
        uint64_t l = load(g, ran, order[i]);
        if (l > most) most = l;
        ran |= 1u << order[i];
    }
    return most;
}

/* what an order costs: by weights, without them the sum of loads to the 16th power */
static double weighed(const struct graph *g, const int *order, const double *weight)
{
    double sum = 0;
    unsigned ran = 0;
    for (int i = 0; i < g->nnode; i++) {
        double l = (double)load(g, ran, order[i]);
        sum += weight ? weight[i] * l : pow(l / 1e5, 16);
        ran |= 1u << order[i];
    }
    return sum;
}

static void loud(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

int main(void)
{
    int wrong = 0, other = 0, dearer = 0, below = 0, least = 0, lower = 0;
    double excess = 0;
    for (int c = 0; c < CASES; c++) {
        struct rng r = rng_for((uint64_t)c, str_of("order"));
        struct graph *g = some_graph(&r);
        uint64_t optimum = least_peak(g), best = UINT64_MAX;
        double weight[NODES];
        int order[NODES], own[NODES];
        for (int i = 0; i < NODES; i++) weight[i] = rng_unit(&r);
        order_nodes(g, ORDER_OWN, own);
        uint64_t was = order_peak(g, own);
        wrong += was != peak_by_hand(g, own);
        for (int from = ORDER_OWN; from <= ORDER_LIST; from++) {
            order_nodes(g, (enum order_from)from, order);
            uint64_t begin = peak_by_hand(g, order);
            double cost = weighed(g, order, NULL);
            order_improve(g, NULL, order);
            dearer += weighed(g, order, NULL) > cost * (1 + 1e-9);
            uint64_t peak = order_peak(g, order);
            wrong += begin == 0 || peak != peak_by_hand(g, order);
            below += peak < optimum;
            if (peak < best) best = peak;
            struct graph *to = order_graph(g, order);
            other += repeats_faults(to, g, loud, NULL) + repeats_faults(g, to, loud, NULL);
            graph_free(to);
        }
        least += best == optimum;
        lower += best < was;
        excess += (double)best / (double)optimum - 1;
        memcpy(order, own, sizeof order);
        order_improve(g, weight, order);
        wrong += peak_by_hand(g, order) == 0;
        dearer += weighed(g, order, weight) > weighed(g, own, weight) * (1 + 1e-9);
        graph_free(g);
    }
    printf("# %d of %d at the least peak, %.2g %% above it on average; %d lower than before\n", least, CASES,
           100 * excess / CASES, lower);
    ok(wrong == 0, "orders keep all dependences, peaks are those of the definition");
    ok(other == 0, "the checker sees the same computation, both ways");
    ok(dearer == 0, "swaps raise the cost of no order");
    ok(below == 0, "none is below the least of all orders");
    ok(least > CASES * 8 / 10 && lower > CASES / 2, "most are at the least, most are lower than they were");
    return done();
}

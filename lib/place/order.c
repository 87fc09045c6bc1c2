/* order.c - see order.h */
#include "place/order.h"
#include "base/checked.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 100, STEEP = 16 };
static const double LEAST_GAIN = 1e-9;                   /* of the whole cost; less is rounding */

/* ---- what has to come before what ---- */

struct edges { int *end, *node; };                       /* those of node n: node[end[n]] .. node[end[n + 1] - 1] */

struct needs { struct edges before, after; };

/* Calls for every pair (a, b) where node a has to come before node b; pairs may come twice. */
static void each_need(const struct graph *g, void (*pair)(void *, int a, int b), void *context)
{
    for (int t = 0; t < g->ntensor; t++) {
        const struct tensor *x = &g->tensor[t];
        for (int u = 0; x->producer >= 0 && u < x->nuse; u++)
            if (x->use[u] != x->producer) pair(context, x->producer, x->use[u]);
        if (x->updates < 0) continue;
        const struct tensor *was = &g->tensor[x->updates];
        for (int u = 0; u < was->nuse; u++)
            if (was->use[u] != x->producer) pair(context, was->use[u], x->producer);
    }
}

static void count(void *context, int a, int b)
{
    struct needs *n = context;
    n->after.end[a + 1]++;
    n->before.end[b + 1]++;
}

static void put(struct edges *e, int from, int to) { e->node[e->end[from]++] = to; }

static void fill(void *context, int a, int b)
{
    struct needs *n = context;
    put(&n->after, a, b);
    put(&n->before, b, a);
}

static void edges_begin(struct edges *e, int nodes)
{
    for (int n = 0; n < nodes; n++) e->end[n + 1] += e->end[n];
    e->node = xmalloc((size_t)e->end[nodes] + 1, sizeof *e->node);
}

/* filling has moved every end to the next one */
static void edges_end(struct edges *e, int nodes)
{
    memmove(e->end + 1, e->end, (size_t)nodes * sizeof *e->end);
    e->end[0] = 0;
}

static struct needs needs_of(const struct graph *g)
{
    size_t n = (size_t)g->nnode + 1;
    struct needs needs = { { xcalloc(n, sizeof(int)), NULL }, { xcalloc(n, sizeof(int)), NULL } };
    each_need(g, count, &needs);
    edges_begin(&needs.before, g->nnode);
    edges_begin(&needs.after, g->nnode);
    each_need(g, fill, &needs);
    edges_end(&needs.before, g->nnode);
    edges_end(&needs.after, g->nnode);
    return needs;
}

static void needs_free(struct needs *n)
{
    free_all(n->before.end, n->before.node, n->after.end, n->after.node);
}

/* ---- list scheduling ---- */

static bool operand_again(const struct node *n, int i)
{
    for (int k = 0; k < i; k++)
        if (n->operand[k] == n->operand[i]) return true;
    return false;
}

/* bytes that are free after a node, less those that it makes */
static double freed(const struct graph *g, int node, const int *left)
{
    const struct node *n = &g->node[node];
    double sum = 0;
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        if (t->role != ROLE_INTER || operand_again(n, i)) continue;
        if (i >= n->nin) sum -= (double)t->bytes;
        if (left[n->operand[i]] == 1) sum += (double)t->bytes;
    }
    return sum;
}

void order_nodes(const struct graph *g, enum order_from from, int *order)
{
    for (int n = 0; n < g->nnode; n++) order[n] = n;
    if (from == ORDER_OWN) return;
    struct needs needs = needs_of(g);
    size_t nodes = (size_t)g->nnode + 1;
    int *missing = xcalloc(nodes, sizeof *missing), *ready = xmalloc(nodes, sizeof *ready), nready = 0,
        *left = xcalloc((size_t)g->ntensor + 1, sizeof *left);
    for (int t = 0; t < g->ntensor; t++) left[t] = g->tensor[t].nuse;
    for (int n = 0; n < g->nnode; n++) {
        missing[n] = needs.before.end[n + 1] - needs.before.end[n];
        if (!missing[n]) ready[nready++] = n;
    }
    for (int done = 0; done < g->nnode; done++) {
        int best = 0;
        double most = -INFINITY;
        for (int i = 0; i < nready; i++) {
            double f = freed(g, ready[i], left);
            if (f > most || (f == most && ready[i] < ready[best])) {
                most = f;
                best = i;
            }
        }
        int n = order[done] = ready[best];
        ready[best] = ready[--nready];
        for (int i = 0; i < g->node[n].nin + g->node[n].nout; i++)
            if (!operand_again(&g->node[n], i)) left[g->node[n].operand[i]]--;
        for (int i = needs.after.end[n]; i < needs.after.end[n + 1]; i++)
            if (--missing[needs.after.node[i]] == 0) ready[nready++] = needs.after.node[i];
    }
    free_all(missing, left, ready);
    needs_free(&needs);
}

/* ---- swaps ---- */

struct line {
    const struct graph *g;
    const double *weight;                                /* by place; NULL: steep */
    int *order, *at;                                     /* place: node; node: place */
    int *first, *last;                                   /* tensor: places, both ends alive */
    double *load;                                        /* place: bytes */
    double unit;                                         /* of loads */
};

static void line_fill(struct line *l)
{
    const struct graph *g = l->g;
    for (int i = 0; i < g->nnode; i++) {
        l->at[l->order[i]] = i;
        l->load[i] = (double)g->node[l->order[i]].workspace;
    }
    for (int t = 0; t < g->ntensor; t++) {
        const struct tensor *x = &g->tensor[t];
        if (x->role != ROLE_INTER) continue;
        l->first[t] = l->last[t] = l->at[x->producer];
        for (int u = 0; u < x->nuse; u++)
            if (l->at[x->use[u]] > l->last[t]) l->last[t] = l->at[x->use[u]];
        for (int i = l->first[t]; i <= l->last[t]; i++) l->load[i] += (double)x->bytes;
    }
}

static struct line line_of(const struct graph *g, const double *weight, int *order)
{
    size_t nodes = (size_t)g->nnode + 1, tensors = (size_t)g->ntensor + 1;
    struct line l = { g, weight, order, xmalloc(nodes, sizeof(int)), xmalloc(tensors, sizeof(int)),
                      xmalloc(tensors, sizeof(int)), xmalloc(nodes, sizeof(double)), 1 };
    line_fill(&l);
    for (int i = 0; i < g->nnode; i++) l.unit = fmax(l.unit, l.load[i]);
    return l;
}

static void line_free(struct line *l) { free_all(l->at, l->first, l->last, l->load); }

static double cost_at(const struct line *l, int i)
{
    return l->weight ? l->weight[i] * l->load[i] : pow(l->load[i] / l->unit, STEEP);
}

static double cost(const struct line *l)
{
    double sum = 0;
    for (int i = 0; i < l->g->nnode; i++) sum += cost_at(l, i);
    return sum;
}

static bool alive(const struct line *l, int t, int i) { return l->first[t] <= i && i <= l->last[t]; }

static bool uses(const struct node *n, int t)
{
    for (int i = 0; i < n->nin + n->nout; i++)
        if (n->operand[i] == t) return true;
    return false;
}

/* a tensor of one of the nodes at i and i + 1, which have changed places: `second` was the first of them */
static void retime(struct line *l, int t, int i, const struct node *now_first, const struct node *now_second)
{
    double bytes = (double)l->g->tensor[t].bytes;
    for (int k = i; k <= i + 1; k++)
        if (alive(l, t, k)) l->load[k] -= bytes;
    int made = l->at[l->g->tensor[t].producer];
    if (made == i || made == i + 1) l->first[t] = made;
    if (l->last[t] <= i + 1) l->last[t] = uses(now_second, t) ? i + 1 : uses(now_first, t) ? i : l->last[t];
    for (int k = i; k <= i + 1; k++)
        if (alive(l, t, k)) l->load[k] += bytes;
}

/* Swaps the nodes at i and i + 1; returns what the cost gains. */
static double swap(struct line *l, int i)
{
    const struct graph *g = l->g;
    int a = l->order[i], b = l->order[i + 1];
    const struct node *first = &g->node[b], *second = &g->node[a];
    double was = cost_at(l, i) + cost_at(l, i + 1);
    l->order[i] = b;
    l->order[i + 1] = a;
    l->at[b] = i;
    l->at[a] = i + 1;
    double shift = (double)first->workspace - (double)second->workspace;
    l->load[i] += shift;
    l->load[i + 1] -= shift;
    for (int k = 0; k < 2; k++) {
        const struct node *n = k ? second : first;
        for (int o = 0; o < n->nin + n->nout; o++) {
            int t = n->operand[o];
            if (g->tensor[t].role != ROLE_INTER || operand_again(n, o) || (k && uses(first, t))) continue;
            retime(l, t, i, first, second);
        }
    }
    return was - cost_at(l, i) - cost_at(l, i + 1);
}

/* Carries the node at `from` by swaps to `to`; returns the gain, and where it was most in *best. */
static double carry(struct line *l, int from, int to, double gain, double *most, int *best)
{
    for (int i = from; i != to;) {
        gain += swap(l, i < to ? i : i - 1);
        i += i < to ? 1 : -1;
        if (gain > *most) {
            *most = gain;
            *best = i;
        }
    }
    return gain;
}

void order_improve(const struct graph *g, const double *weight, int *order)
{
    struct needs needs = needs_of(g);
    struct line l = line_of(g, weight, order);
    bool gained = true;
    for (int pass = 0; pass < PASSES && gained; pass++) {
        double least = LEAST_GAIN * cost(&l);
        gained = false;
        for (int n = 0; n < g->nnode; n++) {
            int from = l.at[n], lo = 0, hi = g->nnode - 1, best = from;
            for (int i = needs.before.end[n]; i < needs.before.end[n + 1]; i++)
                if (l.at[needs.before.node[i]] >= lo) lo = l.at[needs.before.node[i]] + 1;
            for (int i = needs.after.end[n]; i < needs.after.end[n + 1]; i++)
                if (l.at[needs.after.node[i]] <= hi) hi = l.at[needs.after.node[i]] - 1;
            double most = least, gain = carry(&l, from, lo, 0, &most, &best);
            double unused = INFINITY;
            gain = carry(&l, lo, from, gain, &unused, &best);
            carry(&l, from, hi, gain, &most, &best);
            unused = INFINITY;
            carry(&l, hi, best, 0, &unused, &best);
            gained |= best != from;
        }
        line_fill(&l);                                   /* sums without the rounding of many swaps */
    }
    line_free(&l);
    needs_free(&needs);
}

uint64_t order_peak(const struct graph *g, const int *order)
{
    int *copy = xmalloc((size_t)g->nnode + 1, sizeof *copy);
    memcpy(copy, order, (size_t)g->nnode * sizeof *copy);
    struct line l = line_of(g, NULL, copy);
    double most = 0;
    for (int i = 0; i < g->nnode; i++) most = fmax(most, l.load[i]);
    line_free(&l);
    free(copy);
    return (uint64_t)most;
}

struct graph *order_graph(const struct graph *g, const int *order)
{
    struct graph *to = graph_new(g->name, g->batch);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        graph_tensor(to, t->name, t->role, t->dtype, t->ndim, t->shape);
        to->tensor[i].updates = t->updates;
    }
    for (int i = 0; i < g->nnode; i++) {
        const struct node *n = &g->node[order[i]];
        graph_copy_node(to, n, n->name, n->operand, n->operand + n->nin);
    }
    graph_finish(to);
    return to;
}

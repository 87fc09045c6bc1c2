/* recompute.c - see recompute.h */
#include "place/recompute.h"
#include "base/checked.h"
#include "base/message.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct chooser {
    const struct graph *g;
    const struct profile *profile;
    const struct plan *plan;
    bool moves;                                          /* tensors may move */
    int levels;
    int *at, *depth;                                     /* node: repeated before this one, or -1; in how many steps */
    int *wanted;                                         /* tensor: first node before which a repetition reads it */
    int *updated;                                        /* tensor: node that writes a parameter's next value */
};

/* of one move, in the gap of nodes from .. to - 1 */
static double moving(const struct chooser *c, uint64_t bytes, bool to_fast, int from, int to)
{
    return c->moves ? plan_share(c->plan, from, to) * profile_move(c->profile, bytes, to_fast) : INFINITY;
}

static double node_seconds(const struct chooser *c, int node)
{
    static struct choice table[1 << GRAPH_SLOTS];
    int slot[GRAPH_SLOTS], k = node_slots(c->g, node, slot);
    double least = INFINITY;
    profile_table(c->profile, c->g, node, 0, c->plan->limit, table);
    for (int set = 0; set < 1 << k; set++) least = fmin(least, table[set].seconds);
    return least;
}

/* the last node that a tensor is there for, repetitions included */
static int last_of(const struct chooser *c, int t)
{
    int last = c->g->tensor[t].last;
    return c->wanted[t] != INT_MAX && c->wanted[t] > last ? c->wanted[t] : last;
}

/* ---- may a node be repeated, and before which one? ---- */

static bool repeatable(const struct chooser *c, int node, int before)
{
    const struct graph *g = c->g;
    const struct node *n = &g->node[node];
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        if (i >= n->nin && t->role != ROLE_INTER) return false;
        if (i < n->nin && t->role == ROLE_ARG && c->updated[n->operand[i]] < before) return false;
    }
    return true;
}

/* the uses of what a node makes, its own repetitions' included, that lie farthest apart: *from, and the result; -1 */
static int widest_gap(const struct chooser *c, int node, int *from)
{
    const struct graph *g = c->g;
    const struct node *n = &g->node[node];
    int widest = 1, before = -1, now = node;
    while (now != INT_MAX) {
        int next = INT_MAX;
        for (int i = n->nin; i < n->nin + n->nout; i++) {
            int t = n->operand[i];
            if (!graph_movable(g, t)) continue;
            for (int u = 0; u < g->tensor[t].nuse; u++)
                if (g->tensor[t].use[u] > now && g->tensor[t].use[u] < next) next = g->tensor[t].use[u];
            if (c->wanted[t] > now && c->wanted[t] < next) next = c->wanted[t];
        }
        if (next != INT_MAX && next - now > widest) {
            widest = next - now;
            before = next;
            *from = now;
        }
        now = next;
    }
    return before;
}

/* ---- what does it gain? ---- */

static double gap_cost(const struct chooser *c, int node, int from, int before)
{
    const struct graph *g = c->g;
    const struct node *n = &g->node[node];
    double sum = 0;
    for (int i = n->nin; i < n->nin + n->nout; i++) {
        int t = n->operand[i];
        uint64_t bytes = g->tensor[t].bytes;
        if (!graph_movable(g, t) || last_of(c, t) < before) continue;
        sum += fmin(plan_rent(c->plan, bytes, from + 1, before),
                    moving(c, bytes, true, from + 1, before) + moving(c, bytes, false, from + 1, before));
    }
    return sum;
}

static double operand_cost(const struct chooser *c, int node, int before)
{
    const struct graph *g = c->g;
    const struct node *n = &g->node[node];
    double sum = 0;
    for (int i = 0; i < n->nin; i++) {
        int t = n->operand[i], k = 0;
        uint64_t bytes = g->tensor[t].bytes;
        while (n->operand[k] != t) k++;
        if (k < i || !graph_movable(g, t)) continue;
        int last = last_of(c, t);
        double kept = plan_rent(c->plan, bytes, last + 1, before + 1), cost;
        double back = moving(c, bytes, true, last < before ? last + 1 : g->tensor[t].producer + 1, before);
        if (last >= before) cost = plan_find(c->plan, t, TIER_FAST, before) ? 0 : back;
        else cost = fmin(kept, back + moving(c, bytes, false, last + 1, before));
        if (c->depth[node] + 1 < c->levels) {
            int maker = g->tensor[t].producer;
            if (repeatable(c, maker, before)) cost = fmin(cost, node_seconds(c, maker));
        }
        sum += cost;
    }
    return sum;
}

static void choose(struct chooser *c, double worth)
{
    const struct graph *g = c->g;
    for (int node = g->nnode - 1; node >= 0; node--) {
        const struct node *n = &g->node[node];
        int from = 0, before = widest_gap(c, node, &from);
        if (before < 0 || c->depth[node] >= c->levels || !repeatable(c, node, before)) continue;
        double seconds = node_seconds(c, node);
        double gain = gap_cost(c, node, from, before) - operand_cost(c, node, before) - seconds;
        if (!(gain > worth * seconds)) continue;
        c->at[node] = before;
        for (int i = 0; i < n->nin; i++) {
            int t = n->operand[i], maker = g->tensor[t].producer;
            if (g->tensor[t].role != ROLE_INTER) continue;
            if (before < c->wanted[t]) c->wanted[t] = before;
            if (c->depth[maker] < c->depth[node] + 1) c->depth[maker] = c->depth[node] + 1;
        }
    }
}

/* ---- the graph with repetitions ---- */

static void repeat(const struct graph *g, int node, struct graph *to, int *now)
{
    const struct node *n = &g->node[node];
    int *operand = xmalloc(size_add((size_t)n->nin, (size_t)n->nout) + 1, sizeof *operand);
    for (int i = 0; i < n->nin; i++) operand[i] = now[n->operand[i]];
    for (int i = n->nin; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        char *name = xformat("%s.again", t->name);
        operand[i] = now[n->operand[i]] = graph_tensor(to, name, ROLE_INTER, t->dtype, t->ndim, t->shape);
        free(name);
    }
    char *name = xformat("%s.again", n->name);
    graph_copy_node(to, n, name, operand, operand + n->nin);
    free(name);
    free(operand);
}

static struct graph *build(const struct chooser *c, int *repeated)
{
    const struct graph *g = c->g;
    struct graph *to = graph_new(g->name, g->batch);
    int *now = xmalloc((size_t)g->ntensor + 1, sizeof *now);   /* tensor: the one that later nodes read */
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        now[i] = graph_tensor(to, t->name, t->role, t->dtype, t->ndim, t->shape);
        to->tensor[i].updates = t->updates;
        to->tensor[i].trained = t->trained;
    }
    *repeated = 0;
    for (int node = 0; node < g->nnode; node++) {
        const struct node *n = &g->node[node];
        for (int k = 0; k < node; k++) {
            if (c->at[k] != node) continue;
            repeat(g, k, to, now);
            ++*repeated;
        }
        int *in = xmalloc((size_t)n->nin + 1, sizeof *in);
        for (int i = 0; i < n->nin; i++) in[i] = now[n->operand[i]];
        graph_copy_node(to, n, n->name, in, n->operand + n->nin);
        free(in);
    }
    free(now);
    graph_finish(to);
    return to;
}

struct graph *recompute(const struct graph *g, const struct profile *profile, const struct plan *p, double worth,
                        int levels, int *repeated)
{
    size_t nodes = (size_t)g->nnode + 1, tensors = (size_t)g->ntensor + 1;
    struct chooser c = { g, profile, p, strcmp(p->formulation, "static") != 0, levels,
                         xmalloc(nodes, sizeof(int)), xcalloc(nodes, sizeof(int)), xmalloc(tensors, sizeof(int)),
                         xmalloc(tensors, sizeof(int)) };
    for (int n = 0; n < g->nnode; n++) {
        c.at[n] = -1;
        if (p->node[n].nprice == 0) die("%s: a plan of formulation %s has no prices", p->file, p->formulation);
    }
    for (int t = 0; t < g->ntensor; t++) c.wanted[t] = c.updated[t] = INT_MAX;
    for (int t = 0; t < g->ntensor; t++)
        if (g->tensor[t].updates >= 0) c.updated[g->tensor[t].updates] = g->tensor[t].producer;
    choose(&c, worth);
    struct graph *to = build(&c, repeated);
    free_all(c.at, c.depth, c.wanted, c.updated);
    return to;
}

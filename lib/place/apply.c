#include "place/apply.h"
#include "base/checked.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>

/* id in the new graph of the stay of a tensor in a tier at a node, or just before it */
static int stay_id(const struct plan *p, const int *id, int tensor, enum plan_tier tier, int node, bool or_before)
{
    const struct stay *s = or_before ? plan_find(p, tensor, tier, node - 1) : NULL;
    if (!s) s = plan_find(p, tensor, tier, node);
    if (!s)
        die("%s: tensor %d has no place in %s memory at node %d", p->file, tensor, tier == TIER_FAST ? "fast" : "slow",
            node);
    return id[s - p->stay];
}

struct graph *plan_apply(const struct graph *g, const struct plan *p)
{
    struct graph *to = graph_new(g->name, g->batch);
    int *arg = xcalloc((size_t)g->ntensor + 1, sizeof *arg), *id = xcalloc((size_t)p->nstay + 1, sizeof *id);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role != ROLE_INTER) arg[i] = graph_tensor(to, t->name, t->role, t->dtype, t->ndim, t->shape);
    }
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].updates >= 0) to->tensor[arg[i]].updates = arg[g->tensor[i].updates];
    for (int i = 0; i < p->nstay; i++) {
        const struct tensor *t = &g->tensor[p->stay[i].tensor];
        char *name = xformat("%s@%s:%llu:%d", t->name, p->stay[i].tier == TIER_FAST ? "fast" : "slow",
                             (unsigned long long)p->stay[i].offset, p->stay[i].first);
        id[i] = graph_tensor(to, name, t->role, t->dtype, t->ndim, t->shape);
        free(name);
    }
    for (int n = 0, move = 0; n < g->nnode; n++) {
        for (; move < p->nmove && p->move[move].before == n; move++) {
            const struct plan_move *m = &p->move[move];
            int in = stay_id(p, id, m->tensor, m->to == TIER_FAST ? TIER_SLOW : TIER_FAST, n, true),
                out = stay_id(p, id, m->tensor, m->to, n, false);
            char *name = xformat("move%d", move);
            graph_node(to, name, "Move", 1, &in, 1, &out);
            free(name);
        }
        const struct node *from = &g->node[n];
        int *operand = xcalloc(size_add((size_t)from->nin, (size_t)from->nout) + 1, sizeof *operand);
        for (int i = 0; i < from->nin + from->nout; i++) {
            int t = from->operand[i];
            bool slow = (i < from->nin ? p->node[n].in_tiers[i] : p->node[n].out_tiers[i - from->nin]) == 'P';
            operand[i] =
                g->tensor[t].role != ROLE_INTER ? arg[t] : stay_id(p, id, t, slow ? TIER_SLOW : TIER_FAST, n, false);
        }
        int k = graph_node(to, from->name, from->op, from->nin, operand, from->nout, operand + from->nin);
        for (int i = 0; i < from->nattr; i++)
            graph_attr(to, k, from->attr[i].name, from->attr[i].n, from->attr[i].v[0], from->attr[i].v[1]);
        to->node[k].flops = from->flops;
        to->node[k].workspace = p->node[n].staging;
        free(operand);
    }
    graph_finish(to);
    free(arg);
    free(id);
    return to;
}

/* place-why - where a plan puts each tensor, and why it puts one there
 *
 * Usage: place-why --plan=FILE [GRAPH]
 *        place-why --plan=FILE --profile=FILE --tensor=NAME [GRAPH]
 *
 * First form: a row for each stay of each tensor: tensor (its name), bytes,
 * place (fast or slow), first, last (nodes).
 *
 * Second form: one row for each use of the tensor, in order: node, name and
 * op of the node, place (fast or slow: which copy the node uses), slow_seconds
 * (what the plan's prices say that the use in slow memory costs), rent_seconds
 * (what fast memory costs while the node runs), then about the time until the
 * next use: kept (1: stays in fast memory), stay_seconds (the price of that),
 * away_seconds (of the copies that leaving and coming back take, or of the way
 * back alone when there is a slow copy already).  Prices are those that prove
 * the plan's bound, so a choice can differ where it costs about the same or
 * where tensors did not fit side by side.  Tensors that are too small to move,
 * and plans without prices, are refused.  Memory: graph, profile, plan.
 *
 * Examples:
 *   $ place-why --plan=plan.sexp g.sexp | csv-where -c place --is=slow
 *   $ place-why --plan=plan.sexp --profile=p.csv --tensor=conv1 g.sexp
 */
#include "base/filter.h"
#include "base/message.h"
#include "place/plan.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *plan_path, *profile_path, *name;
static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "the plan" },
    { 0, "profile", STR, &profile_path, "FILE", "the profile it was made from; with --tensor" },
    { 0, "tensor", STR, &name, "NAME", "of the graph" },
    { 0 } };

static int find(const struct graph *g)
{
    for (int i = 0; i < g->ntensor; i++)
        if (strcmp(g->tensor[i].name, name) == 0) return i;
    die("%s: no tensor is called '%s'", g->file, name);
}

static double slow_use(const struct graph *g, const struct plan *p, int tensor, int node)
{
    int id[GRAPH_SLOTS], k = node_slots(g, node, id);
    for (int s = 0; s < k; s++)
        if (id[s] == tensor) return p->node[node].price[1 + p->ncut + s];
    return NAN;
}

static bool uses_slow(const struct graph *g, const struct plan *p, int tensor, int node)
{
    const struct node *n = &g->node[node];
    for (int i = 0; i < n->nin + n->nout; i++)
        if (n->operand[i] == tensor)
            return (i < n->nin ? p->node[node].in_tiers[i] : p->node[node].out_tiers[i - n->nin]) == 'P';
    return false;
}

static int list(const struct graph *g, const struct plan *p)
{
    csvw *w = csvw_open("-");
    csvw_names(w, "tensor,bytes,place,first,last");
    csvw_end(w);
    for (const struct stay *s = p->stay; s < p->stay + p->nstay; s++) {
        csvw_cstr(w, g->tensor[s->tensor].name);
        csvw_format(w, "%llu", (unsigned long long)g->tensor[s->tensor].bytes);
        csvw_cstr(w, s->tier == TIER_FAST ? "fast" : "slow");
        csvw_int(w, s->first);
        csvw_int(w, s->last);
        csvw_end(w);
    }
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!plan_path) usage("no plan given, see --plan");
    if (!profile_path != !name) usage("--profile and --tensor go together");
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_read(plan_path, g);
    if (!name) return list(g, p);
    struct profile *profile = profile_read(profile_path);
    int t = find(g);
    const struct tensor *d = &g->tensor[t];
    if (!graph_movable(g, t)) die("tensor '%s' of %llu bytes never moves", name, (unsigned long long)d->bytes);
    for (int n = 0; n < p->nnode; n++)
        if (p->node[n].nprice == 0) die("%s: a plan of formulation %s has no prices", plan_path, p->formulation);
    bool moves = strcmp(p->formulation, "static") != 0, copied = false;
    csvw *w = csvw_open("-");
    csvw_names(w, "node,name,op,place,slow_seconds,rent_seconds,kept,stay_seconds,away_seconds");
    csvw_end(w);
    for (int u = 0; u < d->nuse; u++) {
        int n = d->use[u], next = u + 1 < d->nuse ? d->use[u + 1] : -1;
        bool slow = uses_slow(g, p, t, n);
        copied |= slow;
        csvw_int(w, n);
        csvw_cstr(w, g->node[n].name);
        csvw_cstr(w, g->node[n].op);
        csvw_cstr(w, slow ? "slow" : "fast");
        csvw_num(w, slow_use(g, p, t, n));
        csvw_num(w, plan_rent(p, d->bytes, n, n + 1));
        if (next < 0) {
            for (int k = 0; k < 3; k++) csvw_empty(w);
            csvw_end(w);
            continue;
        }
        const struct stay *s = slow ? NULL : plan_find(p, t, TIER_FAST, n);
        bool kept = s && s->last >= next;
        csvw_int(w, kept);
        csvw_num(w, plan_rent(p, d->bytes, n + 1, next));
        if (!moves) csvw_empty(w);
        else
            csvw_num(w, plan_share(p, n + 1, next) * (profile_move(profile, d->bytes, true) +
                                 (copied ? 0 : profile_move(profile, d->bytes, false))));
        copied |= !kept;
        csvw_end(w);
    }
    profile_free(profile);
    plan_free(p);
    graph_free(g);
    return csvw_close(w);
}

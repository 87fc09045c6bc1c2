#include "place/record.h"
#include "base/mem.h"
#include "measure/stats.h"
#include "tensor/ops.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_operands(struct record *r, const struct graph *g, const struct plan *p, int node)
{
    const struct node *n = &g->node[node];
    for (int i = 0; i < n->nin + n->nout; i++) {
        const struct tensor *t = &g->tensor[n->operand[i]];
        bool in = i < n->nin, fast = (in ? p->node[node].in_tiers[i] : p->node[node].out_tiers[i - n->nin]) == 'D';
        uint64_t bytes = t->role == ROLE_INTER ? t->bytes : 0;
        ++*(in ? &r->inputs : &r->outputs);
        *(in ? &r->input_bytes : &r->output_bytes) += bytes;
        if (!fast) continue;
        ++*(in ? &r->fast_inputs : &r->fast_outputs);
        *(in ? &r->fast_input_bytes : &r->fast_output_bytes) += bytes;
    }
}

struct record record_of(const struct graph *g, const struct plan *p, const struct profile *profile)
{
    struct record r = { .kernels = g->nnode,
                        .moves = p->nmove,
                        .beside = strcmp(p->formulation, "async") == 0,
                        .profile = profile,
                        .peak_bytes = graph_peak(g),
                        .creation_seconds = NAN,
                        .optimisation_seconds = NAN,
                        .move_seconds = profile || !p->nmove ? 0 : NAN };
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].role != ROLE_INTER) r.io_bytes += g->tensor[i].bytes;
    for (int i = 0; i < p->nmove; i++) {
        uint64_t bytes = g->tensor[p->move[i].tensor].bytes;
        bool to_fast = p->move[i].to == TIER_FAST;
        r.moved += bytes;
        *(to_fast ? &r.moved_to_fast : &r.moved_to_slow) += bytes;
        ++*(to_fast ? &r.moves_to_fast : &r.moves_to_slow);
        if (profile) r.move_seconds += profile_move(profile, bytes, to_fast);
    }
    for (int n = 0; n < g->nnode; n++) count_operands(&r, g, p, n);
    return r;
}

void record_times(struct record *r, const char *path)
{
    csv *t = csv_open(path);
    int creation = csv_need(t, "creation_seconds"), optimisation = csv_need(t, "optimisation_seconds");
    while (csv_next(t)) {
        r->creation_seconds = csv_num(t, creation);
        r->optimisation_seconds = csv_num(t, optimisation);
    }
    csv_close(t);
}

double record_oracle(const struct graph *g, const struct profile *p, const char *kernels)
{
    double *least = xmalloc((size_t)g->nnode + 1, sizeof *least), sum = 0;
    for (int n = 0; n < g->nnode; n++) {
        struct choice c = { 0 };
        least[n] = profile_find(p, g->kernel[g->node[n].kernel].key, 0, -1, &c) ? c.seconds : NAN;
    }
    csv *t = kernels ? csv_open(kernels) : NULL;
    int node = t ? csv_need(t, "node") : -1, seconds = t ? csv_need(t, "seconds") : -1;
    while (t && csv_next(t)) {
        int64_t n = csv_int(t, node);
        if (n < 0 || n >= g->nnode) csv_die(t, node, "a node of the graph");
        least[n] = fmin(least[n], csv_num(t, seconds));
    }
    if (t) csv_close(t);
    for (int n = 0; n < g->nnode; n++) sum += least[n];
    free(least);
    return sum;
}

void record_sizes(const struct graph *g, sexpw *w)
{
    for (int i = 0; i < g->ntensor; i++) {
        sexpw_begin(w, g->tensor[i].name);
        sexpw_int(w, g->tensor[i].role == ROLE_INTER ? (int64_t)g->tensor[i].bytes : 0);
        sexpw_end(w);
    }
}

void record_tiers(const struct graph *g, const struct plan *p, sexpw *w)
{
    for (int n = 0; n < g->nnode; n++) {
        sexpw_begin(w, g->node[n].name);
        sexpw_cstr(w, g->node[n].nin > 0 ? p->node[n].in_tiers : "-");
        sexpw_cstr(w, p->node[n].out_tiers);
        sexpw_cstr(w, profile_modes[p->node[n].mode]);
        sexpw_end(w);
    }
}

void record_kernels(const char *path, const struct graph *g, const struct plan *p, const double *seconds, long steps)
{
    csvw *w = csvw_open(path);
    double *column = xmalloc((size_t)steps, sizeof *column);
    csvw_names(w, "node,name,op,key,seconds,planned_seconds");
    csvw_end(w);
    for (int n = 0; n < g->nnode; n++) {
        for (long s = 0; s < steps; s++) column[s] = seconds[(size_t)s * (size_t)g->nnode + (size_t)n];
        csvw_int(w, n);
        csvw_cstr(w, g->node[n].name);
        csvw_cstr(w, g->node[n].op);
        csvw_cstr(w, g->kernel[g->node[n].kernel].key);
        csvw_num(w, median(column, (size_t)steps));
        csvw_num(w, p->node[n].seconds);
        csvw_end(w);
    }
    csvw_close(w);
    free(column);
}

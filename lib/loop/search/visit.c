/* what all searches share: their time, the states they visited and how those hang together; see search.h */
#include "loop/search/search.h"
#include "measure/clock.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double search_elapsed(const struct search *s)
{
    return s->v->model ? (double)s->evals * MODEL_EVAL_SECONDS : now_seconds() - s->began;
}

bool search_over(const struct search *s)
{
    return search_elapsed(s) >= s->seconds;
}

int search_node(struct search *s, const struct nest *t, bool *fresh)
{
    *fresh = false;
    if (s->nnode * 2 >= s->nslot) {
        s->nslot = s->nslot ? s->nslot * 2 : 4096;
        free(s->slot);
        s->slot = xcalloc(s->nslot, sizeof *s->slot);
        for (size_t i = 0; i < s->nnode; i++) {
            size_t k = s->node[i].key & (s->nslot - 1);
            while (s->slot[k]) k = (k + 1) & (s->nslot - 1);
            s->slot[k] = (uint32_t)i + 1;
        }
    }
    uint64_t key = nest_hash(t, true);
    size_t k = key & (s->nslot - 1);
    while (s->slot[k] && s->node[s->slot[k] - 1].key != key) k = (k + 1) & (s->nslot - 1);
    if (s->slot[k]) return (int)s->slot[k] - 1;
    if (s->nnode == SEARCH_NODES) return -1;
    s->node = grow(s->node, s->nnode + 1, &s->cap, sizeof *s->node);
    s->node[s->nnode] = (struct visited){ .key = key, .t = *t, .gflops = -1 };
    s->slot[k] = (uint32_t)++s->nnode;
    *fresh = true;
    return (int)s->nnode - 1;
}

static void add_edge(struct search *s, int from, int to, int action)
{
    if (!s->keep || from < 0 || to < 0) return;
    s->edge = grow(s->edge, s->nedge + 1, &s->edge_cap, sizeof *s->edge);
    s->edge[s->nedge++] = (struct edge){ from, to, action };
}

double search_visit(struct search *s, const struct nest *t, const int *path, int npath)
{
    struct result r = evaluate(s->v, t);
    s->evals++;
    if (s->keep && npath < s->steps + 1) {
        bool fresh;
        int to = search_node(s, t, &fresh);
        if (fresh && to >= 0) s->node[to].gflops = r.gflops, s->node[to].when = search_elapsed(s);
        if (npath) {
            struct nest from;
            int legal[SEARCH_PATH];
            search_replay(s, &from, path, npath - 1, legal);
            add_edge(s, search_node(s, &from, &fresh), to, path[npath - 1]);
        }
    }
    if (r.gflops > s->best_gflops) {
        s->best_gflops = r.gflops;
        s->best = *t;
        s->npath = npath;
        memcpy(s->path, path, sizeof *path * (size_t)npath);
    }
    return r.gflops;
}

int search_replay(const struct search *s, struct nest *t, const int *path, int npath, int *legal)
{
    int n = 0;
    nest_reset(s->p, t);
    for (int i = 0; i < npath; i++)
        if (!nest_act(s->p, t, path[i], s->published ? RULE_PUBLISHED : RULE_NONE)) legal[n++] = path[i];
    return n;
}

void search_dot(const struct search *s, FILE *f, double peak)
{
    bool *best = xcalloc(s->nnode + 1, 1);
    struct nest t;
    nest_reset(s->p, &t);
    for (int i = 0; i <= s->npath; i++) {
        if (i) nest_act(s->p, &t, s->path[i - 1], RULE_NONE);
        uint64_t key = nest_hash(&t, true);
        for (size_t k = 0; k < s->nnode; k++) best[k] |= s->node[k].key == key;
    }
    fprintf(f, "digraph search {\n  label=\"%s %s\";\n  node [shape=box style=filled];\n", s->algo, s->p->text);
    for (size_t i = 0; i < s->nnode; i++) {
        double x = fmax(0, fmin(1, s->node[i].gflops / peak));       /* cream to red */
        fprintf(f, "  n%zu [label=\"%.1f\" fillcolor=\"#ff%02x%02x\"%s];\n", i, s->node[i].gflops, (int)(245 - 185 * x),
                (int)(220 - 180 * x), best[i] ? " color=red penwidth=3" : "");
    }
    for (size_t i = 0; i < s->nedge; i++) {
        char b[40];
        const struct edge *e = &s->edge[i];
        fprintf(f, "  n%d -> n%d [label=\"%s\"%s];\n", e->from, e->to, act_name(e->action, b),
                best[e->from] && best[e->to] && e->from != e->to ? " color=red penwidth=3" : "");
    }
    fprintf(f, "}\n");
    free(best);
}

void search_free(struct search *s)
{
    free(s->node);
    free(s->slot);
    free(s->edge);
}

#include "loop/search/search.h"
#include "base/compare.h"
#include "base/message.h"
#include "loop/nest/rows.h"
#include "measure/clock.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 1000 };

/* ---- the published family: one expansion, many uses ---- */

struct choice { int action; double score; struct nest t; };

/* higher score first; equal ones in the order of the actions.  As published: by name, descending. */
static int by_score(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return ORDER(x->action, y->action);
}

static int by_name(const void *a, const void *b)
{
    char x[40], y[40];
    return strcmp(act_name(((const struct choice *)b)->action, y), act_name(((const struct choice *)a)->action, x));
}

static int choices(const struct search *s, const struct nest *t, struct choice *c)
{
    int n = 0;
    for (int a = 0; a < ACT_COUNT; a++) {
        if (!(s->actions >> a & 1)) continue;
        c[n].t = *t;
        if (nest_act(s->p, &c[n].t, a, s->published ? RULE_PUBLISHED : RULE_NONE)) continue;
        c[n++].action = a;
    }
    return n;
}

static int visit_node(struct search *s, const struct nest *t, const int *path, int depth, bool *stop)
{
    bool fresh;
    int id = search_node(s, t, &fresh);
    *stop = false;
    if (id < 0 || fresh) {
        double g = search_visit(s, t, path, depth);
        if (id < 0) return -1;
        s->node[id].gflops = g;
        s->node[id].when = search_elapsed(s);
        s->node[id].depth = depth;
    } else if (depth < s->node[id].depth) {
        s->node[id].depth = depth;
        if (s->node[id].gflops >= s->best_gflops && depth < s->npath) {
            s->npath = depth;
            memcpy(s->path, path, sizeof *path * (size_t)depth);
        }
    } else {
        *stop = !s->published;                           /* been here by a way as short: nothing new below */
    }
    return id;
}

static void expand(struct search *s, const struct nest *t, int *path, int n, int depth, int width, double until,
                   bool ranking)
{
    bool stop;
    struct choice c[ACT_COUNT];
    int id = visit_node(s, t, path, n, &stop);
    if (depth == 0 || n == s->steps || (stop && n) || search_elapsed(s) >= until) return;
    int m = choices(s, t, c);
    if (id >= 0) s->node[id].out = m;
    if (ranking && s->published) {
        qsort(c, (size_t)m, sizeof *c, by_name);
    } else if (ranking) {
        for (int i = 0; i < m; i++) {
            path[n] = c[i].action;
            int k = visit_node(s, &c[i].t, path, n + 1, &stop);
            c[i].score = k < 0 ? 0 : s->node[k].gflops;
            if (k >= 0 && !stop) s->node[k].depth++;     /* ranked, not yet expanded: let the expansion below go on */
            if (search_elapsed(s) >= until) return;
        }
        qsort(c, (size_t)m, sizeof *c, by_score);
    } else {
        for (int i = m; i > 1; i--) {
            int j = (int)rng_below(&s->rng, (uint64_t)i);
            struct choice x = c[i - 1];
            c[i - 1] = c[j];
            c[j] = x;
        }
    }
    for (int i = 0; i < m && i < width; i++) {
        path[n] = c[i].action;
        expand(s, &c[i].t, path, n + 1, depth - 1, width, until, ranking);
        if (search_elapsed(s) >= until) return;
    }
}

static void greedy(struct search *s, int ahead)
{
    int path[SEARCH_PATH], n = 0, legal[SEARCH_PATH];
    double until = s->published ? s->seconds / s->steps : s->seconds;
    while (n <= s->steps) {
        struct nest t;
        search_replay(s, &t, path, n, legal);
        if (!s->published) {                             /* as published the graph is shared between the steps */
            s->nnode = s->nedge = 0;
            if (s->slot) memset(s->slot, 0, sizeof *s->slot * s->nslot);
        }
        expand(s, &t, path, n, ahead, ALL, until, false);
        /* what the best sequence has beyond the present prefix; as published, whatever its own prefix was */
        if (s->npath <= n || (!s->published && memcmp(s->path, path, sizeof *path * (size_t)n))) break;
        int more = s->npath - n;
        if (s->steps - n <= more) break;
        path[n] = s->path[n];
        n++;
        if (search_elapsed(s) >= until) break;
    }
}

static void beam_bfs(struct search *s, int width)
{
    struct front { struct nest t; int path[16], n; } *now = NULL, *next = NULL;
    size_t nnow = 1, cap_now = 0, cap_next = 0;
    now = grow(now, 1, &cap_now, sizeof *now);
    nest_reset(s->p, &now[0].t);
    now[0].n = 0;
    for (int d = 0; d < s->steps && d < 16 && nnow && !search_over(s); d++) {
        size_t nnext = 0;
        for (size_t i = 0; i < nnow && !search_over(s); i++) {
            struct choice c[ACT_COUNT];
            int path[SEARCH_PATH], m = choices(s, &now[i].t, c), kept = 0;
            memcpy(path, now[i].path, sizeof now[i].path);
            bool stop;
            if (d == 0) visit_node(s, &now[i].t, path, 0, &stop);
            bool again[ACT_COUNT] = { false };
            if (s->published) qsort(c, (size_t)m, sizeof *c, by_name);
            for (int j = 0; j < m && !(s->published && j >= width) && !search_over(s); j++) {
                path[d] = c[j].action;
                int k = visit_node(s, &c[j].t, path, d + 1, &stop);
                c[j].score = k < 0 || stop ? -1 : s->node[k].gflops;
                again[j] = k >= 0 && s->published && s->node[k].out > 0;     /* has successors: no frontier state */
                if (k >= 0) s->node[k].out += s->published;
            }
            if (!s->published) qsort(c, (size_t)m, sizeof *c, by_score);
            for (int j = 0; j < m && kept < width; j++) {
                if (s->published ? again[j] : c[j].score < 0) {
                    kept += s->published;
                    continue;
                }
                if (nnext == SEARCH_NODES) break;
                next = grow(next, nnext + 1, &cap_next, sizeof *next);
                next[nnext] = (struct front){ .t = c[j].t, .n = d + 1 };
                memcpy(next[nnext].path, now[i].path, sizeof next[nnext].path);
                next[nnext].path[d] = c[j].action;
                nnext++;
                kept++;
            }
        }
        struct front *f = now;
        now = next, next = f;
        size_t cap = cap_now;
        cap_now = cap_next, cap_next = cap;
        nnow = nnext;
    }
    free(now);
    free(next);
}

static void random_search(struct search *s)
{
    int path[SEARCH_PATH];
    for (bool first = true; first || !search_over(s); first = false) {
        struct nest t;
        nest_reset(s->p, &t);
        if (first) search_visit(s, &t, path, 0);
        for (int n = 0; n < s->steps && !search_over(s); n++) {
            struct choice c[ACT_COUNT];
            int m = choices(s, &t, c);
            if (!m) break;
            int i = (int)rng_below(&s->rng, (uint64_t)m);
            t = c[i].t;
            path[n] = c[i].action;
            search_visit(s, &t, path, n + 1);
        }
        if (first && s->steps == 0) break;
    }
}

/* ---- */

static void trace(struct search *s)                      /* what is known of the states along the best path */
{
    struct nest t;
    nest_reset(s->p, &t);
    bool all = strcmp(s->algo, "heuristic") != 0;
    for (int i = 0; i <= s->npath; i++) {
        if (i) nest_act(s->p, &t, s->path[i - 1], RULE_NONE);
        bool last = i == s->npath;
        s->gflops[i] = all || last ? evaluate(s->v, &t).gflops : NAN;
        s->when[i] = last ? s->used : NAN;
        bool fresh;
        int k = s->nnode ? search_node(s, &t, &fresh) : -1;
        if (k >= 0 && !fresh) s->when[i] = s->node[k].when;
    }
}

void search_run(struct search *s, struct evaluator *v, const struct problem *p)
{
    enum { GREEDY, DEPTH_FIRST, BREADTH_FIRST, RANDOM, ANNEAL, HEURISTIC } kind = HEURISTIC;
    static const struct { const char *name; int kind, arg; } algos[] = {
        { "greedy1", GREEDY, 1 }, { "greedy2", GREEDY, 2 }, { "beam2dfs", DEPTH_FIRST, 2 },
        { "beam4dfs", DEPTH_FIRST, 4 }, { "beam2bfs", BREADTH_FIRST, 2 }, { "beam4bfs", BREADTH_FIRST, 4 },
        { "random", RANDOM, 0 }, { "anneal", ANNEAL, 0 }, { "heuristic", HEURISTIC, 0 } };
    int arg = 0, path[SEARCH_PATH];
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++)
        if (!strcmp(s->algo, algos[i].name)) kind = algos[i].kind, arg = algos[i].arg;
    struct nest t;
    nest_reset(p, &t);
    s->v = v;
    s->p = p;
    s->best_gflops = -1;
    s->best = t;
    s->npath = 0;
    s->nnode = s->nedge = s->evals = 0;
    if (s->slot) memset(s->slot, 0, sizeof *s->slot * s->nslot);
    s->rng = rng_for(s->seed, str_of(p->text));
    evaluator_problem(v, p);
    v->check = problem_flops(p) < 1e8;                   /* larger ones are checked once, when the best is known */
    v->hold = !v->model;
    if (v->hold) measure_lock();                         /* waiting for others is no part of the search */
    s->began = now_seconds();
    switch (kind) {
    case GREEDY: greedy(s, arg); break;
    case DEPTH_FIRST: expand(s, &t, path, 0, s->steps, arg, s->seconds, true); break;
    case BREADTH_FIRST: beam_bfs(s, arg); break;
    case RANDOM: random_search(s); break;
    case ANNEAL: search_anneal(s); break;
    case HEURISTIC: search_heuristic(s); break;
    }
    s->used = search_elapsed(s);
    trace(s);
    if (v->hold) measure_unlock();
    v->hold = false;
    v->check = true;
}

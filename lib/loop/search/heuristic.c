/* the analytic search: of the nests of enumerate.c measure the first few; see search.h */
#include "loop/search/candidate.h"
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIRM = 16, ROUNDS = 12, SURE = 3, MOST = 64, UNROLLED = 4 };
static const double NEAR = 0.94;                         /* of the best one: what may have been chance */
static const double FIRST = 2 / 3.0;                     /* of the time; the rest is for the best ones once more */

/* ---- from a candidate to actions ---- */

struct walk { const struct problem *p; struct nest t; int path[SEARCH_PATH], n; bool failed; };

static void step(struct walk *w, int action)
{
    if (w->n == SEARCH_PATH - 1 || nest_act(w->p, &w->t, action, RULE_NONE)) w->failed = true;
    else w->path[w->n++] = action;
}

static void go_to(struct walk *w, int i)
{
    while (!w->failed && w->t.cursor != i) step(w, w->t.cursor > i ? ACT_UP : ACT_DOWN);
}

/* the loop of `var` that has `depth` others of it above */
static int find_loop(const struct nest *t, int var, int depth)
{
    for (int i = 0; i < t->n; i++)
        if (t->loop[i].var == var && depth-- == 0) return i;
    return -1;
}

static bool derive(const struct problem *p, const struct candidate *c, struct walk *w)
{
    struct nest want;
    if (!candidate_build(p, c, &want)) return false;
    *w = (struct walk){ .p = p };
    nest_reset(p, &w->t);
    int depth[NEST_VARS] = { 0 };
    for (int i = 0; i < c->n; i++) {
        int v = c->piece[i].var;
        int loop = find_loop(&w->t, v, depth[v]);
        if (c->piece[i].block == 1 || loop < 0 || w->t.loop[loop].size <= c->piece[i].block) continue;
        go_to(w, loop);
        step(w, ACT_SPLIT_ANY + c->piece[i].block);
        depth[v]++;
    }
    memset(depth, 0, sizeof depth);
    for (int i = 0; i < want.n && !w->failed; i++) {
        int loop = find_loop(&w->t, want.loop[i].var, depth[want.loop[i].var]++);
        if (loop < 0) return false;
        go_to(w, loop);
        while (!w->failed && loop-- > i) step(w, ACT_SWAP_UP);
    }
    if (c->vec >= 0) {
        int last = w->t.n;
        while (last-- > 0 && w->t.loop[last].var != c->vec) {}
        go_to(w, last);
        step(w, ACT_VECTORIZE);
    }
    for (int i = 0; i < want.n && c->pack; i++)
        for (int b = 0; b < 2; b++)
            if (want.loop[i].marks & (b ? MARK_PACK_B : MARK_PACK_A)) {
                go_to(w, i);
                step(w, b ? ACT_PACK_B : ACT_PACK_A);
            }
    return !w->failed;
}

/* the same nest with the last reduction unrolled, if that is a loop over rows far apart */
static bool unroll(const struct search *s, struct walk *w)
{
    struct kernel_plan plan;
    if (kernel_plan(&plan, s->p, &w->t, s->v->isa, true) || !plan.apart) return false;
    int last = w->t.n;
    while (last-- > 0 && !s->p->reduced[w->t.loop[last].var]) {}
    go_to(w, last);
    step(w, ACT_UNROLL);
    return !w->failed;
}

/* measures it, and keeps the best few */
static double visit(struct search *s, const struct walk *w, struct walk top[CONFIRM], double gflops[CONFIRM])
{
    double g = search_visit(s, &w->t, w->path, w->n);
    int k = CONFIRM;
    while (k > 0 && g > gflops[k - 1]) k--;
    if (k == CONFIRM) return g;
    memmove(gflops + k + 1, gflops + k, sizeof *gflops * (size_t)(CONFIRM - k - 1));
    memmove(top + k + 1, top + k, sizeof *top * (size_t)(CONFIRM - k - 1));
    gflops[k] = g;
    top[k] = *w;
    return g;
}

/* seconds on what the second cache does not hold, by the model */
static double beyond(const struct search *s, const struct nest *t)
{
    struct model_terms m;
    if (model_terms(&m, s->p, t, s->v->isa, s->v->prepared)) return 0;
    return m.seconds / m.cycles * (m.traffic[1] + m.traffic[2]);
}

void search_heuristic(struct search *s)
{
    struct candidate *all;
    const size_t n = candidates(s, &all);
    struct nest t;
    nest_reset(s->p, &t);
    struct walk w, top[CONFIRM];
    struct seen { uint64_t hash; double gflops; } *seen = xmalloc(n + 1, sizeof *seen);
    double gflops[CONFIRM] = { 0 };
    int done = 0;
    size_t *order = s->spread ? order_drawn(n, &s->rng)
                    : s->order ? s->order(all, n, s) : order_by_model(all, n);
    const double until = s->v->model ? s->seconds : FIRST * s->seconds;
    for (size_t i = 0; i < n && done < s->measure && !(done && search_elapsed(s) >= until); i++) {
        struct candidate *c = &all[order[i]];
        const bool there = derive(s->p, c, &w);
        const uint64_t hash = nest_hash(&w.t, false);
        int k = 0;                                       /* several candidates may be the same nest */
        while (k < done && seen[k].hash != hash) k++;
        if (there && k == done) seen[done++] = (struct seen){ hash, visit(s, &w, top, gflops) };
        if (s->told) s->told(s, order, i, n, there && !s->v->model ? seen[k].gflops : 0);
    }
    free_all(order, seen);
    /* how many loads prefetchers follow at once is the processor's own */
    struct walk first[UNROLLED];
    memcpy(first, top, sizeof first);
    for (int k = 0; k < UNROLLED && k < done && !s->v->model; k++)
        if (unroll(s, &first[k])) visit(s, &first[k], top, gflops);
    if (!done) search_visit(s, &t, w.path, 0);
    /* the best ones once more, in turn: which of them won may have been chance, or a faster clock for a while */
    double again[CONFIRM] = { 0 }, turn[CONFIRM][ROUNDS], most = 0;
    int turns[CONFIRM] = { 0 };
    for (int round = 0; round < ROUNDS && !s->v->model; round++) {
        for (int k = 0; k < CONFIRM && gflops[k] > 0 && !search_over(s); k++)
            if (round < SURE || again[k] >= NEAR * most)
                turn[k][turns[k]++] = evaluate_again(s->v, &top[k].t, 2, MOST, false).gflops;
        most = 0;
        for (int k = 0; k < CONFIRM && turns[k]; k++) most = fmax(most, again[k] = median(turn[k], (size_t)turns[k]));
    }
    double seconds[CONFIRM], further[CONFIRM];
    for (int k = 0; k < CONFIRM; k++) {
        seconds[k] = again[k] > 0 ? problem_flops(s->p) / again[k] / 1e9 : INFINITY;
        further[k] = again[k] > 0 ? beyond(s, &top[k].t) : 0;
    }
    const int best = candidate_taken(seconds, further, CONFIRM);
    if (best >= 0) {
        s->best = top[best].t;
        s->npath = top[best].n;
        memcpy(s->path, top[best].path, sizeof *s->path * (size_t)s->npath);
    }
    free(all);
}

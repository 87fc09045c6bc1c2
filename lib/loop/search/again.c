#include "loop/search/again.h"
#include <stdlib.h>

uint32_t again_add(struct again *g, const struct problem *p, const struct nest *t)
{
    struct buf b = { 0 };
    uint32_t at = intern(&g->problems, str_of(p->text));
    size_t before = g->nests.n;
    buf_format(&b, "%s ", p->text);
    nest_print(&b, p, t);
    uint32_t i = intern(&g->nests, (str){ b.s, b.n });
    free(b.s);
    g->problem = grow(g->problem, g->problems.n, &g->problem_cap, sizeof *g->problem);
    g->problem[at] = *p;
    if (g->nests.n == before) return i;
    g->nest = grow(g->nest, g->nests.n, &g->cap, sizeof *g->nest);
    g->nest[i] = (struct again_nest){ .problem = at, .t = *t };
    return i;
}

void again_run(struct again *g, struct evaluator *v, int runs, int rounds, double leave)
{
    if (leave > 0) v->early_ratio = leave;
    for (size_t p = 0; p < g->problems.n; p++) {
        double best = 0;
        evaluator_problem(v, &g->problem[p]);
        for (int r = 0; r < rounds; r++)
            for (size_t i = 0; i < g->nests.n; i++) {
                struct again_nest *t = &g->nest[i];
                if (t->problem != p || !t->wanted || (r && leave > 0 && t->gflops * leave < best)) continue;
                double gflops = evaluate_again(v, &t->t, runs, runs, leave > 0).gflops;
                if (gflops > t->gflops) t->gflops = gflops;
                if (gflops > best) best = gflops;
            }
    }
    evaluator_problem(v, NULL);
}

void again_free(struct again *g)
{
    intern_free(&g->problems);
    intern_free(&g->nests);
    free(g->problem);
    free(g->nest);
}

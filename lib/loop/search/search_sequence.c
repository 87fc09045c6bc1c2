/* searches over sequences of actions: annealing, evolution, Monte Carlo trees; see search.h */
#include "loop/search/search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sequence { int a[SEARCH_PATH], n; double gflops; };

static int draw_action(struct search *s)
{
    int a;
    do a = (int)rng_below(&s->rng, ACT_COUNT);
    while (!(s->actions >> a & 1));
    return a;
}

/* plays a sequence, dropping what is illegal, and evaluates where it ends */
static void play(struct search *s, struct sequence *q)
{
    struct nest t;
    int legal[SEARCH_PATH];
    q->n = search_replay(s, &t, q->a, q->n, legal);
    memcpy(q->a, legal, sizeof *legal * (size_t)q->n);
    q->gflops = search_visit(s, &t, q->a, q->n);
}

static void draw_sequence(struct search *s, struct sequence *q)
{
    q->n = s->steps;
    for (int i = 0; i < q->n; i++) q->a[i] = draw_action(s);
}

static void mutate(struct search *s, struct sequence *q)
{
    int how = (int)rng_below(&s->rng, 3), at = q->n ? (int)rng_below(&s->rng, (uint64_t)q->n) : 0;
    if (how == 0 && q->n < s->steps) {
        memmove(q->a + at + 1, q->a + at, sizeof *q->a * (size_t)(q->n - at));
        q->a[at] = draw_action(s);
        q->n++;
    } else if (how == 1 && q->n) {
        memmove(q->a + at, q->a + at + 1, sizeof *q->a * (size_t)(q->n - at - 1));
        q->n--;
    } else if (q->n) {
        q->a[at] = draw_action(s);
    }
}

void search_anneal(struct search *s)
{
    struct sequence now = { .n = 0 };
    play(s, &now);
    while (!search_over(s)) {
        double left = 1 - search_elapsed(s) / s->seconds, heat = 0.1 * left * s->best_gflops + 1e-9;
        struct sequence next = now;
        for (int i = (int)rng_below(&s->rng, 3); i >= 0; i--) mutate(s, &next);
        play(s, &next);
        if (next.gflops >= now.gflops || rng_unit(&s->rng) < exp((next.gflops - now.gflops) / heat)) now = next;
    }
}

void search_evolve(struct search *s)
{
    enum { POPULATION = 32, ROUND = 4 };
    struct sequence pop[POPULATION];
    for (int i = 0; i < POPULATION; i++) {
        pop[i].n = 0;
        if (i) draw_sequence(s, &pop[i]);
        play(s, &pop[i]);
        if (search_over(s)) return;
    }
    while (!search_over(s)) {
        int best = -1, second = -1, worst = 0;
        for (int i = 0; i < ROUND; i++) {                /* two parents by tournament */
            int k = (int)rng_below(&s->rng, POPULATION);
            if (best < 0 || pop[k].gflops > pop[best].gflops) second = best, best = k;
            else if (second < 0 || pop[k].gflops > pop[second].gflops) second = k;
        }
        struct sequence child = pop[best];
        if (second >= 0) {
            int cut = (int)rng_below(&s->rng, (uint64_t)child.n + 1);
            int tail = pop[second].n > cut ? pop[second].n - cut : 0;
            memcpy(child.a + cut, pop[second].a + cut, sizeof *child.a * (size_t)tail);
            child.n = cut + tail;
        }
        mutate(s, &child);
        play(s, &child);
        for (int i = 1; i < POPULATION; i++)
            if (pop[i].gflops < pop[worst].gflops) worst = i;
        if (child.gflops > pop[worst].gflops) pop[worst] = child;
    }
}

struct tree_node { int child[ACT_COUNT]; int visits; double total; };

/* selection by the upper bound on mean GFLOPS over the best known, random play-out, its best is the reward */
void search_mcts(struct search *s)
{
    struct tree_node *node = NULL;
    size_t n = 1, cap = 0;
    node = grow(node, 1, &cap, sizeof *node);
    memset(node, 0, sizeof *node);
    for (bool first = true; first || !search_over(s); first = false) {
        int path[SEARCH_PATH], seen[SEARCH_PATH + 1], nseen = 0, depth = 0, at = 0;
        struct nest t;
        nest_reset(s->p, &t);
        double best = first ? search_visit(s, &t, path, 0) : 0;
        seen[nseen++] = 0;
        for (bool grown = false; depth < s->steps && !search_over(s); depth++) {
            int pick = -1, legal = 0;
            double top = -1;
            struct nest after;
            for (int a = 0; a < ACT_COUNT; a++) {
                struct nest copy = t;
                if (!(s->actions >> a & 1) || nest_act(s->p, &copy, a, s->published ? RULE_PUBLISHED : RULE_NONE))
                    continue;
                legal++;
                double u = rng_unit(&s->rng);
                if (at >= 0) {
                    const struct tree_node *c = node[at].child[a] ? &node[node[at].child[a]] : NULL;
                    u = c ? c->total / c->visits + 0.7 * sqrt(log(node[at].visits + 1) / c->visits) : 1e3 + u;
                }
                if (u > top) top = u, pick = a, after = copy;
            }
            if (!legal) break;
            t = after;
            path[depth] = pick;
            if (at >= 0 && !grown) {
                if (!node[at].child[pick] && n < 2000000) {
                    node = grow(node, n + 1, &cap, sizeof *node);
                    memset(&node[n], 0, sizeof *node);
                    node[at].child[pick] = (int)n++;
                    grown = true;
                }
                at = node[at].child[pick] ? node[at].child[pick] : -1;
                if (at > 0) seen[nseen++] = at;
            } else {
                at = -1;
            }
            double g = search_visit(s, &t, path, depth + 1);
            if (g > best) best = g;
        }
        for (int i = 0; i < nseen; i++) {
            node[seen[i]].visits++;
            node[seen[i]].total += s->best_gflops > 0 ? best / s->best_gflops : 0;
        }
    }
    free(node);
}

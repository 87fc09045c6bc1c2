/* annealing over sequences of actions; see search.h */
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

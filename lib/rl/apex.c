#include "rl/apex.h"
#include "base/mem.h"
#include "base/message.h"
#include "rl/crew.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct apex {
    struct dqn *q;
    const struct environment *env;
    int actors;
    long share, room;                                    /* records an answer has room for */
    struct crew *crew;
};
struct orders { double explore; float weight[]; };
struct answer { long records, episodes; double total; };

static size_t in_answer(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static struct dqn_record *records(struct answer *w)
{
    return (struct dqn_record *)((char *)w + in_answer(sizeof *w));
}

static float *observations(const struct apex *a, struct answer *w)
{
    return (float *)((char *)records(w) + in_answer((size_t)a->room * sizeof(struct dqn_record)));
}

static void work(void *self, int k, long turn, const void *in, void *out)
{
    struct apex *a = self;
    const struct orders *o = in;
    struct answer *w = out;
    struct dqn *q = a->q;
    char key[64];
    snprintf(key, sizeof key, "actor %d turn %ld", k, turn);
    struct rng r = rng_for(q->o.seed, str_of(key));
    memcpy(q->online.net->weight, o->weight, q->online.net->size * sizeof *o->weight);
    *w = (struct answer){ 0 };
    for (long steps = 0; steps < a->share && a->room - w->records > q->env.limit; w->episodes++) {
        double total;
        long n = dqn_act(q, &a->env[k], &r, o->explore, observations(a, w) + w->records * q->env.inputs,
                         records(w) + w->records, &total);
        w->records += n;
        steps += n - 1;
        w->total += total;
    }
}

struct apex *apex_new(struct dqn *q, const struct environment *env, int actors, long share)
{
    struct apex *a = xcalloc(1, sizeof *a);
    *a = (struct apex){ .q = q, .env = env, .actors = actors, .share = share };
    a->room = 2 * share + q->env.limit + 2;              /* episodes of one step have two records */
    if (actors * a->room > q->o.capacity)
        die("apex: a replay of %ld states is too small for rounds of up to %ld", q->o.capacity, actors * a->room);
    return a;
}

static void begin(struct apex *a)
{
    size_t out = in_answer(sizeof(struct answer)) + in_answer((size_t)a->room * sizeof(struct dqn_record)) +
                 (size_t)a->room * (size_t)a->q->env.inputs * sizeof(float);
    a->crew = crew_new(a->actors, sizeof(struct orders) + a->q->online.net->size * sizeof(float), out, work, a);
}

static double explore(const struct apex *a, int k)
{
    if (a->q->steps < a->q->o.warmup) return 1;
    return pow(0.4, a->actors > 1 ? 1 + 7.0 * k / (a->actors - 1) : 2);
}

struct apex_round apex_round(struct apex *a)
{
    struct dqn *q = a->q;
    struct apex_round e = { 0 };
    if (!a->crew) begin(a);
    for (int k = 0; k < a->actors; k++) {
        struct orders *o = crew_in(a->crew, k);
        o->explore = explore(a, k);
        memcpy(o->weight, q->online.net->weight, q->online.net->size * sizeof *o->weight);
        crew_go(a->crew, k, q->rounds);
    }
    /* as many updates as the steps so far have earned */
    for (long due = (q->steps - q->o.warmup) / q->o.every; dqn_ready(q) && q->updates < due; e.updates++)
        e.loss += dqn_learn(q);
    for (int k = 0; k < a->actors; k++) {
        crew_wait(a->crew, k);
        struct answer *w = crew_out(a->crew, k);
        dqn_take(q, observations(a, w), records(w), w->records);
        e.episodes += w->episodes;
        e.total += w->total;
    }
    e.loss = e.updates ? e.loss / (double)e.updates : NAN;
    q->rounds++;
    return e;
}

void apex_free(struct apex *a)
{
    if (!a) return;
    crew_free(a->crew);
    free(a);
}

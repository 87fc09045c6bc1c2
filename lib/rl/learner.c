#include "rl/learner.h"
#include "base/mem.h"
#include "base/message.h"
#include "rl/apex.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char learner_words[] = "dqn|apex|a2c|a3c|ppo|impala|r2d2";
const char *const learner_name[] = { "dqn", "apex", "a2c", "a3c", "ppo", "impala", "r2d2" };

static bool values(const struct learner_options *o)
{
    return o->algo == LEARN_DQN || o->algo == LEARN_APEX;
}

struct learner_options learner_defaults(enum learning algo, uint64_t seed)
{
    struct learner_options o = { .algo = algo, .actors = 2, .share = 256, .dqn = dqn_defaults(),
                                 .r2d2 = r2d2_defaults() };
    if (!values(&o) && algo != LEARN_R2D2) o.actor = actor_defaults(algo);
    o.dqn.seed = o.actor.seed = o.r2d2.seed = seed;
    return o;
}

long learner_seats(const struct learner_options *o)
{
    return o->algo == LEARN_APEX ? o->actors : values(o) || o->algo == LEARN_R2D2 ? 1 : o->actor.seats;
}

static void count(struct learner *l)
{
    if (l->dqn) l->episodes = l->dqn->episodes, l->steps = l->dqn->steps, l->updates = l->dqn->updates;
    if (l->r2d2) l->episodes = l->r2d2->episodes, l->steps = l->r2d2->steps, l->updates = l->r2d2->updates;
    if (l->actor) l->episodes = l->actor->episodes, l->steps = l->actor->steps, l->updates = l->actor->updates;
}

struct learner *learner_new(const struct environment *seats, const struct learner_options *o)
{
    struct learner *l = xcalloc(1, sizeof *l);
    l->o = *o;
    l->o.actor.actors = o->actors;
    if (values(o)) l->dqn = dqn_new(seats, &o->dqn);
    else if (o->algo == LEARN_R2D2) l->r2d2 = r2d2_new(seats, &o->r2d2);
    else l->actor = actor_new(seats, &l->o.actor);
    if (o->algo == LEARN_APEX) l->apex = apex_new(l->dqn, seats, o->actors, o->share);
    return l;
}

struct learner_news learner_advance(struct learner *l)
{
    struct learner_news n = { .episodes = 1 };
    if (l->apex) {
        struct apex_round e = apex_round(l->apex);
        n = (struct learner_news){ e.episodes, e.total, e.loss, 0 };
    } else if (l->dqn) {
        struct dqn_episode e = dqn_episode(l->dqn);
        n.total = e.total, n.loss = e.loss, n.explore = dqn_explore(l->dqn);
    } else if (l->r2d2) {
        struct r2d2_episode e = r2d2_episode(l->r2d2);
        n.total = e.total, n.loss = e.loss, n.explore = r2d2_explore(l->r2d2);
    } else {
        struct actor_round e = actor_round(l->actor);
        n = (struct learner_news){ e.episodes, e.total, e.loss.policy + e.loss.value, e.loss.entropy };
    }
    count(l);
    return n;
}

double learner_greedy(struct learner *l, struct rng *r)
{
    return l->dqn ? dqn_greedy(l->dqn, r) : l->r2d2 ? r2d2_greedy(l->r2d2, r) : actor_greedy(l->actor, r);
}

struct agent learner_agent(const struct learner *l)
{
    if (l->dqn) return l->dqn->online;
    if (l->r2d2) return l->r2d2->online;
    const struct environment *e = &l->actor->env;
    return (struct agent){ .kind = AGENT_SCORES, .dueling = true, .inputs = e->inputs, .actions = e->actions,
                           .net = l->actor->net };
}

const char *learner_begin(struct learner *l, const struct agent *from)
{
    struct agent to = learner_agent(l);
    const char *why = agent_differs(&to, from);
    if (why) return why;
    if (l->dqn) dqn_begin(l->dqn, from);
    else if (l->r2d2) r2d2_begin(l->r2d2, from);
    else agent_copy(&to, from);
    return NULL;
}

/* what a checkpoint must agree in beyond the options of the parts */
static char *task(const struct learner *l, const char *what)
{
    return l->apex ? xformat("%s|apex %d %ld", what, l->o.actors, l->o.share)
                   : xformat("%s|%s", what, learner_name[l->o.algo]);
}

void learner_save(struct learner *l, const char *path, const char *what)
{
    char *t = task(l, what);
    if (l->dqn) dqn_save(l->dqn, path, t);
    else if (l->r2d2) r2d2_save(l->r2d2, path, t);
    else actor_save(l->actor, path, t);
    free(t);
}

bool learner_load(struct learner *l, const char *path, const char *what)
{
    char *t = task(l, what);
    bool there = l->dqn ? dqn_load(l->dqn, path, t) : l->r2d2 ? r2d2_load(l->r2d2, path, t)
                                                             : actor_load(l->actor, path, t);
    free(t);
    count(l);
    return there;
}

void learner_free(struct learner *l)
{
    apex_free(l->apex);
    if (l->dqn) dqn_free(l->dqn);
    if (l->r2d2) r2d2_free(l->r2d2);
    if (l->actor) actor_free(l->actor);
    free(l);
}

#include "rl/learner.h"
#include "base/mem.h"
#include "rl/apex.h"
#include <stdlib.h>
#include <string.h>

const char learner_words[] = "dqn|apex|ppo";
const char *const learner_name[] = { "dqn", "apex", "ppo" };

struct learner_options learner_defaults(enum learning algo, uint64_t seed)
{
    struct learner_options o = { .algo = algo, .actors = 2, .share = 256, .dqn = dqn_defaults(),
                                 .ppo = ppo_defaults() };
    o.dqn.seed = o.ppo.seed = seed;
    return o;
}

long learner_seats(const struct learner_options *o)
{
    return o->algo == LEARN_APEX ? o->actors : o->algo == LEARN_DQN ? 1 : o->ppo.seats;
}

static void count(struct learner *l)
{
    if (l->dqn) l->episodes = l->dqn->episodes, l->steps = l->dqn->steps, l->updates = l->dqn->updates;
    if (l->ppo) l->episodes = l->ppo->episodes, l->steps = l->ppo->steps, l->updates = l->ppo->updates;
}

struct learner *learner_new(const struct environment *seats, const struct learner_options *o)
{
    struct learner *l = xcalloc(1, sizeof *l);
    l->o = *o;
    if (o->algo != LEARN_PPO) l->dqn = dqn_new(seats, &o->dqn);
    else l->ppo = ppo_new(seats, &l->o.ppo);
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
    } else {
        struct ppo_round e = ppo_round(l->ppo);
        n = (struct learner_news){ e.episodes, e.total, e.loss.policy + e.loss.value, e.loss.entropy };
    }
    count(l);
    return n;
}

double learner_greedy(struct learner *l, struct rng *r)
{
    return l->dqn ? dqn_greedy(l->dqn, r) : ppo_greedy(l->ppo, r);
}

struct agent learner_agent(const struct learner *l)
{
    if (l->dqn) return l->dqn->online;
    const struct environment *e = &l->ppo->env;
    return (struct agent){ .kind = AGENT_SCORES, .dueling = true, .inputs = e->inputs, .actions = e->actions,
                           .net = l->ppo->net };
}

const char *learner_begin(struct learner *l, const struct agent *from)
{
    struct agent to = learner_agent(l);
    const char *why = agent_differs(&to, from);
    if (why) return why;
    if (l->dqn) dqn_begin(l->dqn, from);
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
    else ppo_save(l->ppo, path, t);
    free(t);
}

bool learner_load(struct learner *l, const char *path, const char *what)
{
    char *t = task(l, what);
    bool there = l->dqn ? dqn_load(l->dqn, path, t) : ppo_load(l->ppo, path, t);
    free(t);
    count(l);
    return there;
}

void learner_free(struct learner *l)
{
    apex_free(l->apex);
    if (l->dqn) dqn_free(l->dqn);
    if (l->ppo) ppo_free(l->ppo);
    free(l);
}

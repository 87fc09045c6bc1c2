/* The checker rejects a plan after any change that breaks a rule: 1 000 random ones, each on a fresh copy. */
#include "place/cost.h"
#include "place/layout.h"
#include "place/net.h"
#include "place/verify.h"
#include "base/rng.h"
#include "place_model.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int below(struct rng *r, int n)
{
    return (int)rng_below(r, (uint64_t)n);
}

static void overlap(struct plan *p, struct rng *r)
{
    for (;;) {
        struct stay *a = &p->stay[below(r, p->nstay)], *b = &p->stay[below(r, p->nstay)];
        if (a == b || a->tier != b->tier || a->first > b->last || b->first > a->last || a->offset == b->offset)
            continue;
        a->offset = b->offset;
        return;
    }
}

static void drop_stay(struct plan *p, int i)
{
    memmove(p->stay + i, p->stay + i + 1, (size_t)(p->nstay - i - 1) * sizeof *p->stay);
    p->nstay--;
}

static void shorten(struct plan *p, struct rng *r)
{
    int i = below(r, p->nstay);
    if (p->stay[i].first == p->stay[i].last) drop_stay(p, i);
    else if (below(r, 2)) p->stay[i].last--;
    else p->stay[i].first++;
}

static void lengthen(struct plan *p, const struct graph *g, struct rng *r)
{
    for (;;) {
        struct stay *s = &p->stay[below(r, p->nstay)];
        const struct tensor *t = &g->tensor[s->tensor];
        if (below(r, 2) && s->last == t->last && s->last + 1 < p->nnode) s->last++;
        else if (s->first == t->first && s->first > 0) s->first--;
        else continue;
        return;
    }
}

static void drop_move(struct plan *p, struct rng *r)
{
    int i = below(r, p->nmove);
    memmove(p->move + i, p->move + i + 1, (size_t)(p->nmove - i - 1) * sizeof *p->move);
    p->nmove--;
}

static void other_move(struct plan *p, struct rng *r)
{
    struct plan_move *m = &p->move[below(r, p->nmove)];
    int other = p->stay[below(r, p->nstay)].tensor;
    if (other == m->tensor) m->to = m->to == TIER_FAST ? TIER_SLOW : TIER_FAST;
    else m->tensor = other;
}

static void shift_move(struct plan *p, struct rng *r)
{
    struct plan_move *m = &p->move[below(r, p->nmove)];
    int by = m->before + 1 < p->nnode && (m->before == 0 || below(r, 2)) ? 1 : -1;
    m->before += by;
    m->begin += by;
}

enum { KINDS = 21 };

static void mutate(struct plan *p, const struct graph *g, struct rng *r, int kind)
{
    static const char *const others[] = { "static", "numa", "slow", "fast", "anything" };
    struct plan_node *n = &p->node[below(r, p->nnode)];
    double by = (below(r, 2) ? 1 : -1) * (1e-6 + rng_unit(r));
    switch (kind) {
    case 0: overlap(p, r); break;
    case 1: flip_letter(p, g, r); break;
    case 2: drop_move(p, r); break;
    case 3: shift_move(p, r); break;
    case 4: other_move(p, r); break;
    case 5: p->move[p->nmove] = p->move[below(r, p->nmove)]; p->nmove++; break;
    case 6: p->limit = (uint64_t)below(r, (int)(p->fast_bytes / 4096)) * 4096; break;
    case 7: n->seconds *= 1 + by; break;
    case 8: p->objective *= 1 + by; break;
    case 9:
        p->bound *= 1 + fabs(by);
        p->gap = (p->objective - p->bound) / p->bound;
        break;
    case 10: p->gap += by; break;
    case 11: drop_stay(p, below(r, p->nstay)); break;
    case 12: shorten(p, r); break;
    case 13: lengthen(p, g, r); break;
    case 14: p->stay[below(r, p->nstay)].offset += 1 + (uint64_t)below(r, 63); break;
    case 15: n->staging += 4096 * (1 + (uint64_t)below(r, 9)); break;
    case 16: n->mode = (n->mode + 1 + below(r, 2)) % PROFILE_MODES; break;
    case 17: *(below(r, 2) ? &p->fast_bytes : &p->slow_bytes) += (uint64_t)(below(r, 2) ? 4096 : -4096); break;
    case 18: p->formulation = others[below(r, 5)]; break;
    case 19: p->kind = below(r, 2) ? "real" : "emulated"; break;
    case 20: n->nprice = 0; break;
    }
}

static void quiet_fault(void *context, const char *what)
{
    (void)context;
    (void)what;
}

static void loud_fault(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

int main(void)
{
    enum { MUTATIONS = 1000 };
    struct graph *g = net_build("vgg19", 8, 64, true);
    struct profile *profile = model_profile(g, "optane", 29e9, 12e9, 4096, ((uint64_t)1 << 30) - 1);
    struct effort effort = { 300, 100, 1, 0 };
    struct plan *p = make_plan(g, profile, FORM_SYNC, graph_peak(g) / 5, &effort);
    ok(verify_plan(g, profile, p, loud_fault, NULL) == 0, "the plan itself is accepted");
    ok(p->nmove > 5, "it has moves");
    int rejected = 0;
    for (int i = 0; i < MUTATIONS; i++) {
        struct rng r = rng_for((uint64_t)i, str_of("lib-verify"));
        struct plan *c = plan_copy(p, g);
        mutate(c, g, &r, i % KINDS);
        if (verify_plan(g, profile, c, quiet_fault, NULL) > 0) rejected++;
        else printf("# mutation %d of kind %d was accepted\n", i, i % KINDS);
        plan_free(c);
    }
    ok(rejected == MUTATIONS, "each of 1000 mutations is rejected");
    static const enum formulation forms[] = { FORM_STATIC, FORM_NUMA, FORM_SLOW, FORM_FAST };
    for (int i = 0; i < 4; i++) {
        struct plan *q = make_plan(g, profile, forms[i], graph_peak(g) / 5, &effort);
        ok(verify_plan(g, profile, q, loud_fault, NULL) == 0, formulation_names[forms[i]]);
        plan_free(q);
    }
    plan_free(p);
    profile_free(profile);
    graph_free(g);
    return done();
}

/* The checker rejects a plan after any change that breaks a rule: 1 000 random ones, each on a fresh copy. */
#include "place/cost.h"
#include "place/layout.h"
#include "place/net.h"
#include "place/verify.h"
#include "base/rng.h"
#include "place_model.h"
#include "tap.h"
#include <math.h>
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

struct said { const char *want; bool found; };
static void look_for(void *context, const char *what)
{
    struct said *s = context;
    s->found |= strstr(what, s->want) != NULL;
}

static bool says(const struct graph *g, const struct profile *profile, const struct plan *p, const char *want)
{
    struct said s = { want, false };
    verify_plan(g, profile, p, look_for, &s);
    return s.found;
}

/* by name: stays that touch at one node, staging between two addresses, a read of the copy that is not the newest */
static bool touching(const struct graph *g, const struct profile *profile, const struct plan *p)
{
    int tried = 0;
    for (int a = 0; a < p->nstay; a++) {
        for (int b = 0; b < p->nstay; b++) {
            if (p->stay[a].tier != p->stay[b].tier || p->stay[a].last != p->stay[b].first || a == b) continue;
            if (p->stay[a].first == p->stay[a].last || p->stay[b].first == p->stay[b].last) continue;
            struct plan *c = plan_copy(p, g);
            char want[200];
            const char *x = g->tensor[c->stay[a].tensor].name, *y = g->tensor[c->stay[b].tensor].name;
            const char *pool = c->stay[a].tier == TIER_SLOW ? "slow" : "fast";
            int node = c->stay[b].first;
            c->stay[b].offset = c->stay[a].offset;
            snprintf(want, sizeof want, "'%s' and '%s' overlap in %s memory at node %d", x, y, pool, node);
            bool found = says(g, profile, c, want);
            snprintf(want, sizeof want, "'%s' and '%s' overlap in %s memory at node %d", y, x, pool, node);
            found = found || says(g, profile, c, want);
            plan_free(c);
            if (!found) return false;
            if (++tried == 40) return true;
        }
    }
    return tried > 2;
}

static bool staged_aside(const struct graph *g, const struct profile *profile, const struct plan *p)
{
    for (int n = 0; n < p->nnode; n++) {
        if (!p->node[n].staging) continue;
        struct plan *c = plan_copy(p, g);
        char want[80];
        c->node[n].staging_offset++;
        snprintf(want, sizeof want, "the staging of node %d is not aligned", n);
        bool found = says(g, profile, c, want);
        plan_free(c);
        return found;
    }
    return false;
}

static bool stale_read(const struct graph *g, const struct profile *profile, const struct plan *p)
{
    int tried = 0;
    for (int n = 0; n < p->nnode; n++) {
        for (int k = 0; k < g->node[n].nin; k++) {
            int id = g->node[n].operand[k];
            const struct stay *fast = plan_find(p, id, TIER_FAST, n), *slow = NULL;
            for (int b = 0; b < p->nstay; b++)
                if (p->stay[b].tensor == id && p->stay[b].tier == TIER_SLOW && p->stay[b].first < n) slow = &p->stay[b];
            if (!fast || !slow || fast->first >= n || p->node[n].in_tiers[k] != 'D') continue;
            struct plan *c = plan_copy(p, g);
            c->stay[slow - p->stay].last = g->tensor[id].last;   /* the copy stays where it was */
            char want[200], *text = arena_copy(&c->text, p->node[n].in_tiers, strlen(p->node[n].in_tiers));
            text[k] = 'P';
            c->node[n].in_tiers = text;
            snprintf(want, sizeof want, "node %d uses '%s' in slow memory, though it is in fast", n,
                     g->tensor[id].name);
            bool found = says(g, profile, c, want);
            plan_free(c);
            if (!found) return false;
            tried++;
        }
    }
    return tried > 0;
}

static void proved_bound(void *context, const char *what)
{
    const char *at = strstr(what, "the prices prove ");
    if (at) *(double *)context = strtod(at + strlen("the prices prove "), NULL);
}

/* what any prices prove, by chance, beside the solver's own sum, which shares no code with the checker's */
static int same_bounds(const struct graph *g, const struct profile *profile, const struct effort *effort, int draws)
{
    uint64_t limit = graph_peak(g) / 4;
    struct plan *p = make_plan(g, profile, FORM_ASYNC, limit, effort);
    struct placing *q = placing_new(g, profile, limit, true, NULL);
    struct prices v = prices_new(q);
    int same = 0;
    for (int i = 0; i < draws; i++) {
        struct rng r = rng_for((uint64_t)i, str_of("lib-verify prices"));
        p->ncut = q->cuts;
        memcpy(p->cut, q->cut, sizeof p->cut);
        for (int n = 0; n < q->nodes; n++) {
            int k = q->slot_end[n + 1] - q->slot_end[n];
            double s = p->node[n].seconds, *price = arena_get(&p->text, (size_t)(2 + k + q->cuts) * sizeof *price);
            price[0] = v.lambda[n] = below(&r, 2) * rng_unit(&r) * s / (double)limit;
            for (int c = 0; c < q->cuts; c++)
                price[1 + c] = v.kappa[c * q->nodes + n] = below(&r, 2) * rng_unit(&r) * s / 50;
            for (int j = 0; j < k; j++) price[1 + q->cuts + j] = v.mu[q->slot_end[n] + j] = rng_unit(&r) * s;
            price[1 + q->cuts + k] = v.nu[n] = q->phi[n] + below(&r, 2) * rng_unit(&r) * (1 - q->phi[n]);
            p->node[n].price = price;
            p->node[n].nprice = 2 + k + q->cuts;
        }
        placing_price(q, v.nu);
        double want = price_bound(q, &v), got = NAN;
        p->bound = 1e6;
        verify_plan(g, profile, p, proved_bound, &got);
        if (fabs(got - want) <= 1e-9 * fabs(want)) same++;
        else printf("# prices %d: proved %.12g s, %.12g s by the solver\n", i, got, want);
    }
    prices_free(&v);
    placing_free(q);
    plan_free(p);
    return same;
}

static int rejected(const struct graph *g, const struct profile *profile, const struct plan *p, const char *name, int n)
{
    int rejected = 0;
    for (int i = 0; i < n; i++) {
        struct rng r = rng_for((uint64_t)i, str_of(name));
        struct plan *c = plan_copy(p, g);
        mutate(c, g, &r, i % KINDS);
        if (verify_plan(g, profile, c, quiet_fault, NULL) > 0) rejected++;
        else printf("# %s: mutation %d of kind %d was accepted\n", name, i, i % KINDS);
        plan_free(c);
    }
    return rejected;
}

/* what mutations by chance seldom do to the stays of parameters */
static bool offloaded_badly(const struct graph *g, const struct profile *profile, const struct plan *p)
{
    static const char want[] = "is no intermediate and may only be offloaded, for the whole step";
    int told = 0, tried = 0;
    for (int i = 0; i < p->nstay; i++) {
        if (g->tensor[p->stay[i].tensor].role == ROLE_INTER) continue;
        for (int kind = 0; kind < 4; kind++, tried++) {
            struct plan *c = plan_copy(p, g);
            struct stay *s = &c->stay[i];
            if (kind == 0) s->tier = TIER_FAST;
            else if (kind == 1) s->first = 1;
            else if (kind == 2) s->last--;
            else for (int t = 0; t < g->ntensor; t++) if (g->tensor[t].updates == s->tensor) s->tensor = t;
            plan_sort(c);
            if (says(g, profile, c, want)) told++;
            plan_free(c);
        }
    }
    return tried > 20 && told == tried;
}

int main(void)
{
    enum { MUTATIONS = 1000 };
    struct graph *g = net_build("vgg19", 8, 64, true);
    struct profile *profile = model_profile(g, "optane", 29e9, 12e9, 4096, ((uint64_t)1 << 30) - 1, 0);
    struct effort effort = { 300, 100, 1, 0 };
    struct plan *p = make_plan(g, profile, FORM_SYNC, graph_peak(g) / 5, &effort);
    ok(verify_plan(g, profile, p, loud_fault, NULL) == 0, "the plan itself is accepted");
    ok(p->nmove > 5, "it has moves");
    ok(touching(g, profile, p),
       "stays of which one begins where the other ends are told apart from those that do not meet");
    ok(staged_aside(g, profile, p), "staging between two addresses is told");
    ok(stale_read(g, profile, p), "a read from slow memory of what is in fast memory is told");
    ok(rejected(g, profile, p, "lib-verify", MUTATIONS) == MUTATIONS, "each of 1000 mutations is rejected");
    bool *offloaded = xcalloc((size_t)g->ntensor, sizeof *offloaded);
    int parameters = 0;
    for (int i = 0; i < g->ntensor; i++)
        offloaded[i] = graph_offloadable(g, i) && graph_home(g, i) == i && parameters++ % 2;
    struct plan *away = make_plan_offloading(g, profile, FORM_ASYNC, graph_peak(g) / 5, &effort, offloaded);
    ok(verify_plan(g, profile, away, loud_fault, NULL) == 0, "a plan that offloads every second parameter is accepted");
    ok(parameters > 15 && away->slow_bytes > 0, "it has some");
    ok(away->nmove > 5, "and moves");
    ok(rejected(g, profile, away, "offloading", MUTATIONS) == MUTATIONS, "each of 1000 mutations of it is rejected");
    ok(offloaded_badly(g, profile, away), "only parameters are offloaded, and for the whole step");
    plan_free(away);
    free(offloaded);
    static const enum formulation forms[] = { FORM_STATIC, FORM_NUMA, FORM_SLOW, FORM_FAST };
    for (int i = 0; i < 4; i++) {
        struct plan *q = make_plan(g, profile, forms[i], graph_peak(g) / 5, &effort);
        ok(verify_plan(g, profile, q, loud_fault, NULL) == 0, formulation_names[forms[i]]);
        plan_free(q);
    }
    effort.dual_steps = 5;
    effort.search_rounds = 3;
    int same = same_bounds(g, profile, &effort, 100);
    ok(same == 100, "100 draws of prices prove what the solver says of them");
    plan_free(p);
    profile_free(profile);
    graph_free(g);
    return done();
}

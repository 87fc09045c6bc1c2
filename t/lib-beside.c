/* Moves beside kernels: no mutation of a plan that spoils a tensor is accepted by the verifier. What spoils is judged
 * by a checker of its own, which knows no stays and no rules: it lists who reads and writes which bytes when, and
 * asks for each read that nobody else may write there meanwhile and that the last who wrote there wrote this tensor. */
#include "place/cost.h"
#include "place/layout.h"
#include "place/net.h"
#include "place/recompute.h"
#include "place/verify.h"
#include "base/rng.h"
#include "place_model.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the checker ---- */

/* time: node n runs from 4n + 2 to 4n + 3; a write-out happens within 4 begin .. 4 before, a fetch one later */
struct access { enum plan_tier tier; bool writes; uint64_t from, to; long begin, end; int tensor, action; };
struct trace { struct access *a; int n, cap; bool broken; };

static void touch(struct trace *t, enum plan_tier tier, bool writes, uint64_t at, uint64_t bytes, long begin, long end,
                  int tensor, int action)
{
    if (t->n == t->cap) t->a = realloc(t->a, (size_t)(t->cap = 2 * t->cap + 64) * sizeof *t->a);
    t->a[t->n++] = (struct access){ tier, writes, at, at + bytes, begin, end, tensor, action };
}

static void touch_tensor(struct trace *t, const struct graph *g, const struct plan *p, enum plan_tier tier, int node,
                         bool writes, long begin, long end, int tensor, int action)
{
    for (int i = 0; i < p->nstay; i++) {
        const struct stay *s = &p->stay[i];
        if (s->tensor != tensor || s->tier != tier || s->first > node || s->last < node) continue;
        uint64_t bytes = plan_size(g->tensor[tensor].bytes);
        if (s->offset + bytes > (tier == TIER_FAST ? p->fast_bytes : p->slow_bytes)) t->broken = true;
        touch(t, tier, writes, s->offset, bytes, begin, end, tensor, action);
        return;
    }
    t->broken = true;
}

static bool spoils(const struct graph *g, const struct plan *p)
{
    struct trace t = { .broken = p->fast_bytes > p->limit };
    for (int n = 0; n < p->nnode; n++) {
        const struct node *d = &g->node[n];
        const struct plan_node *pn = &p->node[n];
        long begin = 4L * n + 2, end = begin + 1;
        for (int i = 0; i < d->nin + d->nout; i++) {
            if (g->tensor[d->operand[i]].role != ROLE_INTER) continue;
            bool slow = (i < d->nin ? pn->in_tiers[i] : pn->out_tiers[i - d->nin]) == 'P';
            touch_tensor(&t, g, p, slow ? TIER_SLOW : TIER_FAST, n, i >= d->nin, begin, end, d->operand[i], n);
        }
        if (pn->staging > 0) {
            if (pn->staging_offset + pn->staging > p->fast_bytes) t.broken = true;
            touch(&t, TIER_FAST, true, pn->staging_offset, pn->staging, begin, end, -1, n);
        }
    }
    for (int i = 0; i < p->nmove; i++) {
        const struct plan_move *m = &p->move[i];
        bool to_fast = m->to == TIER_FAST;
        long begin = 4L * m->begin + to_fast, end = 4L * m->before + to_fast;
        if (begin > end) t.broken = true;
        touch_tensor(&t, g, p, to_fast ? TIER_SLOW : TIER_FAST, to_fast ? m->before : m->before - 1, false, begin, end,
                     m->tensor, p->nnode + i);
        touch_tensor(&t, g, p, m->to, m->before, true, begin, end, m->tensor, p->nnode + i);
    }
    for (int i = 0; i < t.n && !t.broken; i++) {
        const struct access *r = &t.a[i], *last = NULL;
        for (int k = 0; k < t.n; k++) {
            const struct access *w = &t.a[k];
            if (k == i || !w->writes || w->tier != r->tier || w->from >= r->to || r->from >= w->to) continue;
            bool meanwhile = w->begin <= r->end && r->begin <= w->end;
            if (meanwhile && (w->action != r->action || w->tensor != r->tensor)) t.broken = true;
            if (w->end < r->begin && (!last || w->end > last->end)) last = w;
        }
        if (!r->writes && (!last || last->tensor != r->tensor || last->from != r->from)) t.broken = true;
    }
    free(t.a);
    return t.broken;
}

/* ---- mutations ---- */

static int below(struct rng *r, int n) { return (int)rng_below(r, (uint64_t)n); }

static struct stay *stay_of(struct plan *p, const struct plan_move *m, bool made)
{
    for (int i = 0; i < p->nstay; i++) {
        struct stay *s = &p->stay[i];
        if (s->tensor != m->tensor) continue;
        if (made ? s->tier == m->to && s->first == m->begin : s->tier != m->to && s->last >= m->before - 1) return s;
    }
    return &p->stay[0];
}

enum { KINDS = 14 };

static void mutate(struct plan *p, const struct graph *g, struct rng *r, int kind)
{
    struct plan_move *m = &p->move[below(r, p->nmove)], *o = &p->move[below(r, p->nmove)];
    struct stay *s = &p->stay[below(r, p->nstay)], *made = stay_of(p, m, true), *read = stay_of(p, m, false);
    struct plan_node *n = &p->node[below(r, p->nnode)];
    int by = 1 + below(r, 9), sign = below(r, 2) ? 1 : -1;
    switch (kind) {
    case 0: m->begin -= m->begin > by ? by : 0; made->first = m->begin; break;      /* longer, stay and all */
    case 1: m->begin -= m->begin > by ? by : 0; break;                              /* longer, the stay is not */
    case 2: made->first += by; m->begin += by; break;                               /* later */
    case 3: m->before += m->before + by < p->nnode ? by : 0; break;                 /* over too late */
    case 4: m->before += m->before + by < p->nnode ? by : 0; read->last = m->before - 1; break;
    case 5: m->before = m->begin; break;
    case 6: s->offset += (uint64_t)(sign * by * 4096); break;
    case 7: read->last -= read->last > read->first ? 1 : 0; break;
    case 8: s->last += sign; break;
    case 9: made->offset = p->stay[below(r, p->nstay)].offset; break;
    case 10: *m = *o; break;
    case 11: flip_letter(p, g, r); break;
    case 12: n->staging_offset += (uint64_t)by * 4096; break;
    case 13: m->tensor = o->tensor; break;
    }
}


static void loud_fault(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

/* what plan_read lets through */
static bool readable(const struct plan *p)
{
    bool good = true;
    for (int i = 0; i < p->nstay; i++)
        good &= p->stay[i].first >= 0 && p->stay[i].first <= p->stay[i].last && p->stay[i].last < p->nnode &&
                p->stay[i].offset < (uint64_t)1 << 56;
    for (int i = 0; i < p->nmove; i++) good &= p->move[i].begin >= 0 && p->move[i].begin <= p->move[i].before;
    return good;
}

/* the objective follows from the moves: what the verifier would say about it alone is not what is asked for here */
static int other_faults;
static void count_faults(void *context, const char *what)
{
    (void)context;
    if (strncmp(what, "objective", 9) != 0 && strncmp(what, "bound", 5) != 0) other_faults++;
}

/* a graph in which nodes are run twice, as the prices of moves between nodes want it */
static struct graph *with_repetitions(struct graph *g, const struct profile *profile, const struct effort *effort)
{
    int repeated = 0;
    struct plan *p = make_plan(g, profile, FORM_SYNC, graph_peak(g) / 5, effort);
    struct graph *again = recompute(g, profile, p, 0, 2, &repeated);
    ok(repeated > 5, "some nodes run twice");
    plan_free(p);
    graph_free(g);
    return again;
}

static void attack(const char *net, int batch, int image, double rate, int mutations, bool twice, double lost)
{
    struct graph *g = net_build(net, batch, image, true);
    struct profile *profile = model_profile(g, "disk", rate, rate, 1 << 20, 1 << 20, lost);
    struct effort effort = { 300, 100, 1, 0 };
    uint64_t limit = graph_peak(g) / 5;
    if (twice) g = with_repetitions(g, profile, &effort);
    struct plan *p = make_plan(g, profile, FORM_ASYNC, limit, &effort);
    ok(verify_plan(g, profile, p, loud_fault, NULL) == 0 && !spoils(g, p), "both accept the plan itself");
    int lasting = 0, spoilt = 0, harmless = 0, slipped = 0;
    for (int i = 0; i < p->nmove; i++) lasting += p->move[i].begin < p->move[i].before;
    ok(lasting > 5, "it has moves that last");
    for (int i = 0, done = 0; done < mutations; i++) {
        struct rng r = rng_for((uint64_t)i, str_of(net));
        struct plan *c = plan_copy(p, g);
        mutate(c, g, &r, i % KINDS);
        if (!readable(c)) {
            plan_free(c);
            continue;
        }
        done++;
        plan_sort(c);
        bool bad = spoils(g, c);
        other_faults = 0;
        verify_plan(g, profile, c, count_faults, NULL);
        spoilt += bad;
        harmless += !bad && other_faults == 0;
        if (bad && other_faults == 0) {
            slipped++;
            printf("# mutation %d of kind %d spoils a tensor and is accepted\n", i, i % KINDS);
        }
        plan_free(c);
    }
    printf("# %s%s: %d of %d mutations spoil a tensor, %d are sound plans\n", net, twice ? ", twice" : "", spoilt,
           mutations, harmless);
    ok(slipped == 0, "no plan that spoils a tensor is accepted");
    ok(spoilt > mutations / 3 && harmless > 0, "both sorts are there");
    plan_free(p);
    profile_free(profile);
    graph_free(g);
}

/* other numbers of mutations than here, of each plan: build/t/lib-beside.t 2000 */
int main(int argc, char **argv)
{
    int asked = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    attack("vgg19", 8, 64, 4e9, asked ? asked : 1400, false, 0.3);
    attack("resnet50", 2, 64, 2e9, asked ? asked : 600, false, 0);
    attack("resnet50", 2, 64, 2e9, asked ? asked : 600, true, 0.2);
    return done();
}

/* Repeated nodes: a graph of repeats computes what the original does, judged by an interpreter that gives every tensor
 * the hash of how it came about; and no mutation that changes a result is accepted. */
#include "place/cost.h"
#include "place/layout.h"
#include "place/net.h"
#include "place/recompute.h"
#include "place/repeats.h"
#include "base/rng.h"
#include "place_model.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MUTATIONS = 2000 };

/* ---- the interpreter: parameters have memory, updates are done in place ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    while (*s) h = mix(h, (unsigned char)*s++);
    return mix(h, 256);
}

/* the hash of all memory that outlives the step, by name; 0: something is read that nobody wrote */
static uint64_t meaning(const struct graph *g)
{
    uint64_t *value = calloc((size_t)g->ntensor + 1, sizeof *value), all = 0;
    for (int t = 0; t < g->ntensor; t++)
        if (g->tensor[t].role != ROLE_INTER) value[t] = mix_text(1, g->tensor[t].name);
    bool broken = false;
    for (int n = 0; n < g->nnode; n++) {
        const struct node *d = &g->node[n];
        uint64_t h = mix_text(2, d->op);
        for (int a = 0; a < d->nattr; a++) {
            h = mix_text(h, d->attr[a].name);
            for (int i = 0; i < d->attr[a].n; i++) h = mix(h, (uint64_t)(int64_t)(d->attr[a].v[i] * 1e6));
        }
        for (int i = 0; i < d->nin; i++) {
            broken |= value[d->operand[i]] == 0;
            h = mix(h, value[d->operand[i]]);
        }
        for (int i = d->nin; i < d->nin + d->nout; i++) {
            int t = d->operand[i];
            value[t] = mix(h, (uint64_t)(i - d->nin) + 3);
            if (g->tensor[t].updates >= 0) value[g->tensor[t].updates] = value[t];
        }
    }
    for (int t = 0; t < g->ntensor; t++)
        if (g->tensor[t].role == ROLE_ARG) all += mix_text(value[t], g->tensor[t].name);
    free(value);
    return broken ? 0 : all;
}

/* ---- mutations ---- */

enum kind { READ_OTHER, WRITE_OTHER, MOVE_NODE, DROP_NODE, OTHER_OP, ATTRIBUTE, RENAME, KINDS };

static int other_tensor(const struct graph *g, int t, struct rng *r)
{
    for (int i = 0; i < 200; i++) {
        int u = (int)rng_below(r, (uint64_t)g->ntensor);
        if (u != t && g->tensor[u].bytes == g->tensor[t].bytes) return u;
    }
    return (int)rng_below(r, (uint64_t)g->ntensor);
}

static void mutate(struct graph *g, struct rng *r, enum kind kind)
{
    int n = (int)rng_below(r, (uint64_t)g->nnode), k = (int)rng_below(r, (uint64_t)g->nnode);
    if (rng_below(r, 2))                                 /* half of them where nodes are repeated */
        for (int i = 0; i < g->nnode && !strstr(g->node[n].name, ".again"); i++) n = (n + 1) % g->nnode;
    struct node *d = &g->node[n], moved = *d;
    int in = (int)rng_below(r, (uint64_t)d->nin), out = d->nin + (int)rng_below(r, (uint64_t)d->nout);
    if (kind == READ_OTHER) d->operand[in] = other_tensor(g, d->operand[in], r);
    if (kind == WRITE_OTHER) d->operand[out] = other_tensor(g, d->operand[out], r);
    if (kind == OTHER_OP) d->op = g->node[k].op;
    if (kind == RENAME) d->name = g->node[k].name;
    if (kind == ATTRIBUTE && d->nattr > 0) d->attr[rng_below(r, (uint64_t)d->nattr)].v[0] += 1;
    if (kind == MOVE_NODE) {
        if (rng_below(r, 2)) k = n + (int)rng_below(r, 30) - 15;
        if (k < 0 || k >= g->nnode) k = n;
        for (; n < k; n++) g->node[n] = g->node[n + 1];
        for (; n > k; n--) g->node[n] = g->node[n - 1];
        g->node[k] = moved;
    }
    if (kind == DROP_NODE) {
        for (; n + 1 < g->nnode; n++) g->node[n] = g->node[n + 1];
        g->nnode--;
    }
}

static void quiet(void *context, const char *what)
{
    (void)context;
    (void)what;
}

static void loud(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

/* ---- the graph to attack ---- */

static void attack(const char *net, int batch, int image, int mutations, bool gains)
{
    char file[64];
    snprintf(file, sizeof file, "/tmp/lib-recompute-%ld.sexp", (long)getpid());
    struct graph *g = net_build(net, batch, image, false);
    struct profile *profile = model_profile(g, "disk", 2e9, 2e9, 1 << 20, 1 << 20, 0);
    struct effort effort = { 300, 100, 1, 0 };
    struct plan *p = make_plan(g, profile, FORM_SYNC, graph_peak(g) / 5, &effort);
    int repeated = 0, none = 0, changed = 0, sound = 0, slipped = 0;
    struct graph *again = recompute(g, profile, p, 0, 2, &repeated), *same = recompute(g, profile, p, 1e9, 2, &none);
    ok(repeated > 10 && again->nnode == g->nnode + repeated, "nodes are repeated");
    ok(none == 0 && same->nnode == g->nnode, "none is where none is worth it");
    ok(meaning(again) == meaning(g) && meaning(g) != 0, "the same results, as the interpreter sees it");
    ok(repeats_faults(again, g, loud, NULL) == 0 && repeats_faults(g, g, loud, NULL) == 0, "and as the checker does");
    ok(repeats_faults(g, again, quiet, NULL) > 0, "the original does not repeat the repeated one");
    struct plan *q = make_plan(again, profile, FORM_SYNC, p->limit, &effort);
    if (gains) ok(q->objective < p->objective, "the plan with repeated nodes is faster");
    graph_write(again, file);
    for (int i = 0, done = 0; done < mutations; i++) {
        struct rng r = rng_for((uint64_t)i, str_of(net));
        struct graph *c = graph_read_raw(file);
        mutate(c, &r, (enum kind)(i % KINDS));
        if (graph_faults(c, quiet, NULL) == 0) {
            done++;
            bool bad = meaning(c) != meaning(g), accepted = repeats_faults(c, g, quiet, NULL) == 0;
            changed += bad;
            sound += !bad;
            slipped += bad && accepted;
            if (bad && accepted) printf("# mutation %d of kind %d changes a result and is accepted\n", i, i % KINDS);
        }
        graph_free(c);
    }
    printf("# %s: %d of %d mutated graphs compute something else\n", net, changed, changed + sound);
    ok(slipped == 0, "none that changes a result is accepted");
    ok(changed > mutations / 5 && sound > 0, "both sorts are there");
    unlink(file);
    graph_free(same);
    graph_free(again);
    plan_free(p);
    plan_free(q);
    profile_free(profile);
    graph_free(g);
}

int main(void)
{
    attack("resnet50", 2, 64, MUTATIONS / 2, true);
    attack("resnet34", 2, 64, MUTATIONS / 2, false);
    return done();
}

#include "place/fast.h"
#include "base/mem.h"
#include "place/pack.h"
#include <stdlib.h>
#include <string.h>

static const char *all_fast(struct plan *p, int n)
{
    char *tiers = arena_get(&p->text, (size_t)n + 1);
    memset(tiers, 'D', (size_t)n);
    tiers[n] = '\0';
    return tiers;
}

struct plan *plan_all_fast(const struct graph *g)
{
    enum { PASSES = 12 };
    struct plan *p = plan_new(g, "fast");
    struct buffer *b = xcalloc((size_t)g->ntensor + 1, sizeof *b);
    int n = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER)
            b[n++] = (struct buffer){ t->first, t->last + 1, plan_size(t->bytes), plan_align(t->bytes), 0 };
    }
    p->limit = p->fast_bytes = pack_low(b, n, PASSES, 0);
    n = 0;
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].role == ROLE_INTER)
            plan_stay(p, i, TIER_FAST, g->tensor[i].first, g->tensor[i].last, b[n++].offset);
    plan_sort(p);
    for (int i = 0; i < g->nnode; i++) {
        p->node[i].in_tiers = all_fast(p, g->node[i].nin);
        p->node[i].out_tiers = all_fast(p, g->node[i].nout);
    }
    p->kind = "real";
    p->file = "no plan";
    free(b);
    return p;
}

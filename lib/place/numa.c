/* numa.c - first touch, see solve.h */
#include "place/solve.h"
#include "place/plan.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct gap { uint64_t at, size; };
struct gaps { struct gap *v; int n; };

static void take(struct gaps *g, int i, uint64_t size)
{
    g->v[i].at += size;
    g->v[i].size -= size;
    if (g->v[i].size > 0) return;
    memmove(g->v + i, g->v + i + 1, (size_t)(g->n - i - 1) * sizeof *g->v);
    g->n--;
}

static void give(struct gaps *g, uint64_t at, uint64_t size)
{
    int i = 0;
    while (i < g->n && g->v[i].at < at) i++;
    bool left = i > 0 && g->v[i - 1].at + g->v[i - 1].size == at, right = i < g->n && at + size == g->v[i].at;
    if (left && right) {
        g->v[i - 1].size += size + g->v[i].size;
        memmove(g->v + i, g->v + i + 1, (size_t)(g->n - i - 1) * sizeof *g->v);
        g->n--;
    } else if (left) g->v[i - 1].size += size;
    else if (right) {
        g->v[i].at = at;
        g->v[i].size += size;
    } else {
        memmove(g->v + i + 1, g->v + i, (size_t)(g->n - i) * sizeof *g->v);
        g->v[i] = (struct gap){ at, size };
        g->n++;
    }
}

static void settle(const struct placing *p, struct placement *x, int t, bool slow)
{
    for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) {
        int n = p->use_node[u], bit = 1 << p->use_slot[u];
        x->slow[u] = slow;
        x->stay[u] = !slow && u + 1 < p->use_end[t + 1];
        x->config[n] = slow ? x->config[n] | bit : x->config[n] & ~bit;
    }
}

void first_touch(const struct placing *p, uint64_t reserve, struct placement *x, uint64_t *offset)
{
    struct gaps g = { xmalloc((size_t)p->tensors + 2, sizeof *g.v), 0 };
    uint64_t pool = (p->bytes_limit - reserve) / PLAN_ALIGN * PLAN_ALIGN;
    if (pool > 0) g.v[g.n++] = (struct gap){ 0, pool };
    for (int n = 0; n < p->nodes; n++) {
        for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++) {
            int t = p->slot_tensor[s], best = -1;
            if (p->use_node[p->use_end[t]] != n) continue;
            uint64_t size = (uint64_t)p->size[t];
            for (int i = 0; i < g.n; i++)
                if (g.v[i].size >= size && (best < 0 || g.v[i].size < g.v[best].size)) best = i;
            settle(p, x, t, best < 0);
            if (best < 0) continue;
            offset[t] = g.v[best].at;
            take(&g, best, size);
        }
        for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++) {
            int t = p->slot_tensor[s];
            if (p->use_node[p->use_end[t + 1] - 1] == n && !x->slow[p->use_end[t]])
                give(&g, offset[t], (uint64_t)p->size[t]);
        }
    }
    free(g.v);
}

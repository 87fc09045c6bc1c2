/* cache.c - see cache.h */
#include "place/cache.h"
#include "place/pack.h"
#include "place/plan.h"
#include <stdlib.h>

/* tag + 1 in the upper bits, so that 0 is an empty line; the lowest bit says dirty */
struct cache { uint64_t line, sets; uint32_t *slot; };

struct cache *cache_new(uint64_t bytes, uint64_t line)
{
    struct cache *c = xmalloc(1, sizeof *c);
    *c = (struct cache){ line, bytes / line, xcalloc(bytes / line, sizeof *c->slot) };
    return c;
}

void cache_free(struct cache *c)
{
    if (!c) return;
    free(c->slot);
    free(c);
}

void cache_touch(struct cache *c, uint64_t address, uint64_t bytes, bool write, struct traffic *t)
{
    if (bytes == 0) return;
    uint64_t first = address / c->line, n = (address + bytes - 1) / c->line - first + 1;
    uint64_t set = first % c->sets, missed = 0, evicted = 0;
    uint32_t tag = (uint32_t)(first / c->sets) + 1;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t held = c->slot[set];
        bool hit = held >> 1 == tag;
        missed += !hit;
        evicted += !hit && (held & 1);
        c->slot[set] = tag << 1 | (write || (hit && (held & 1)));
        if (++set == c->sets) {
            set = 0;
            tag++;
        }
    }
    *(write ? &t->written : &t->read) += n * c->line;
    t->missed += missed * c->line;
    t->evicted += evicted * c->line;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
}

uint64_t cache_addresses(const struct graph *g, uint64_t *address)
{
    uint64_t top = 0;
    struct buffer *b = xmalloc((size_t)g->ntensor + 1, sizeof *b);
    int *of = xmalloc((size_t)g->ntensor + 1, sizeof *of), n = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER) {
            b[n] = (struct buffer){ t->first, t->last + 1, whole_pages(t->bytes), PLAN_ALIGN, 0 };
            of[n++] = i;
        } else if (t->updates < 0) {
            address[i] = top;
            top += whole_pages(t->bytes);
        }
    }
    for (int i = 0; i < g->ntensor; i++)
        if (g->tensor[i].role != ROLE_INTER && g->tensor[i].updates >= 0) address[i] = address[g->tensor[i].updates];
    uint64_t pool = pack_low(b, n, 0, 0);
    for (int i = 0; i < n; i++) address[of[i]] = top + b[i].offset;
    free(b);
    free(of);
    return top + pool;
}

struct traffic cache_node(struct cache *c, const struct graph *g, int node, const uint64_t *address)
{
    const struct node *n = &g->node[node];
    struct traffic t = { 0 };
    for (int i = 0; i < n->nin + n->nout; i++)
        cache_touch(c, address[n->operand[i]], g->tensor[n->operand[i]].bytes, i >= n->nin, &t);
    return t;
}

double cache_seconds(const struct cost_model *m, const struct graph *g, int node, const struct traffic *t)
{
    double missed = (double)t->missed;
    return machine_overlap(m, g->node[node].flops / m->flops,
                           (double)t->read / m->fast_read + (double)t->written / m->fast_write +
                               missed / m->slow_read + missed / m->fast_write + (double)t->evicted / m->slow_write);
}

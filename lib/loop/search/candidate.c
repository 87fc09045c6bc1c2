#include "loop/search/candidate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* the loop inside which input t is packed; -1: none will do */
static int pack_loop(const struct problem *p, const struct nest *t, int outer, int tensor, bool once)
{
    int d = 0;
    if (!once) {
        for (d = outer; d-- > 0; )
            if (p->stride[tensor][t->loop[d].var]) return d;
        return -1;
    }
    while (d < outer && p->stride[tensor][t->loop[d].var]) d++;
    return d < outer ? d - 1 : -1;
}

bool candidate_build(const struct problem *p, const struct candidate *c, struct nest *t)
{
    int32_t left[NEST_VARS];
    memcpy(left, p->size, sizeof left);
    *t = (struct nest){ 0 };
    int outer = 0;
    for (int i = 0; i < c->n; i++) {
        int v = c->piece[i].var;
        int32_t block = c->piece[i].block;
        if (i == c->outer) outer = t->n;
        if (block > 1 && block >= left[v]) continue;     /* nothing to split */
        if (t->n == NEST_LOOPS) return false;
        struct loop l = { .var = (uint8_t)v, .size = left[v] / block, .tail = left[v] % block };
        t->loop[t->n++] = l;
        if (!p->reduced[v]) t->write[t->nwrite++] = l;
        left[v] = block;
    }
    for (int i = 0; i < 3; i++) {
        if (!(c->pack >> i & 1)) continue;
        int at = pack_loop(p, t, outer, i == 2 ? TENSOR_B : TENSOR_A, i != 1);
        if (at < 0) return false;
        t->loop[at].marks |= i == 2 ? MARK_PACK_B : MARK_PACK_A;
    }
    return true;
}

void candidate_vectorize(struct nest *t, int var)
{
    for (int i = t->n; i-- > 0; )
        if (t->loop[i].var == var) {
            t->loop[i].marks |= MARK_VECTORIZE;
            return;
        }
}

/* ---- orders ---- */

static uint64_t kind_of(const struct candidate *c)
{
    return (uint64_t)c->pack << 32 | (uint64_t)(c->vec + 1) << 24 | (uint64_t)c->nv << 16 |
           (uint64_t)c->cut << 8 | (uint64_t)(c->first + 1);
}

size_t *order_by_kind(const struct candidate *c, size_t n, int measure)
{
    size_t *order = xmalloc(n + 1, sizeof *order), k = 0, nkind = 0, most = (size_t)measure * 2 / 3 + 1;
    uint64_t *seen = xmalloc(most, sizeof *seen);
    bool *taken = xcalloc(n + 1, 1);
    for (size_t i = 0; i < n && nkind < most; i++) {
        size_t j = 0;
        while (j < nkind && seen[j] != kind_of(&c[i])) j++;
        if (j < nkind || c[i].seconds > 2 * c[0].seconds) continue;
        seen[nkind++] = kind_of(&c[i]);
        taken[i] = true;
        order[k++] = i;
    }
    for (size_t i = 0; i < n; i++)
        if (!taken[i] && !(i && c[i].pack == c[i - 1].pack && !memcmp(c[i].piece, c[i - 1].piece, sizeof c[i].piece)))
            order[k++] = i;
    while (k < n) order[k++] = order[0];
    free(seen);
    free(taken);
    return order;
}

size_t *order_drawn(size_t n, struct rng *r)
{
    size_t *order = xmalloc(n + 1, sizeof *order), k = 0;
    bool *taken = xcalloc(n + 1, 1);
    for (size_t tries = 0; n && k < n && tries < 20 * n; tries++) {
        size_t i = (size_t)(exp(rng_unit(r) * log((double)n + 1)) - 1);
        if (i < n && !taken[i]) order[k++] = i, taken[i] = true;
    }
    for (size_t i = 0; i < n && k < n; i++)
        if (!taken[i]) order[k++] = i;
    free(taken);
    return order;
}

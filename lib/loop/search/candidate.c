#include "loop/search/candidate.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EACH_OF_KIND = 0.004;                /* what others of its kind before it make of a nest's time */

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

bool candidate_same(const struct candidate *x, const struct candidate *y)
{
    return x->pack == y->pack && !memcmp(x->piece, y->piece, sizeof x->piece);
}

struct placed { double seconds; size_t at; };

static int by_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->seconds != y->seconds ? ORDER(x->seconds, y->seconds) : ORDER(x->at, y->at);
}

/* what is packed and the loops outside of the tile: of one kind the model is wrong in the same way */
static uint64_t kind_of(const struct candidate *c)
{
    uint64_t kind = (uint64_t)c->pack;
    for (int i = 0; i < c->outer; i++) kind = kind * (NEST_VARS + 1) + (uint64_t)c->piece[i].var + 1;
    return kind;
}

size_t *order_by_model(const struct candidate *c, size_t n)
{
    size_t *order = xmalloc(n + 1, sizeof *order);
    struct placed *x = xmalloc(n + 1, sizeof *x);
    struct kind { uint64_t is; double n; } *kind = xmalloc(n + 1, sizeof *kind);
    for (size_t i = 0, kinds = 0, k = 0; i < n; i++, k = 0) {
        const uint64_t is = kind_of(&c[i]);
        x[i] = (struct placed){ INFINITY, i };
        if (i && candidate_same(&c[i], &c[i - 1])) continue;
        while (k < kinds && kind[k].is != is) k++;
        if (k == kinds) kind[kinds++] = (struct kind){ .is = is };
        x[i].seconds = c[i].seconds * (1 + EACH_OF_KIND * kind[k].n++);
    }
    qsort(x, n, sizeof *x, by_placed);
    for (size_t i = 0; i < n; i++) order[i] = x[i].at;
    free_all(x, kind);
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

int candidate_taken(const double *seconds, const double *beyond, int n)
{
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < n; i++)
        if (seconds[i] + beyond[i] / 10 < least) least = seconds[best = i] + beyond[i] / 10;
    return best;
}

#include "rl/sumtree.h"
#include "base/mem.h"
#include <stdlib.h>

struct sumtree sumtree_new(long places)
{
    struct sumtree t = { .leaves = 1 };
    while (t.leaves < places) t.leaves *= 2;
    t.sum = xcalloc(2 * (size_t)t.leaves, sizeof *t.sum);
    return t;
}

void sumtree_set(struct sumtree *t, long i, double weight)
{
    i += t->leaves;
    t->sum[i] = weight;
    for (i /= 2; i >= 1; i /= 2) t->sum[i] = t->sum[2 * i] + t->sum[2 * i + 1];
}

double sumtree_get(const struct sumtree *t, long i)
{
    return t->sum[t->leaves + i];
}

long sumtree_find(const struct sumtree *t, double mass)
{
    long i = 1;
    while (i < t->leaves) {
        i *= 2;
        if (mass >= t->sum[i] && t->sum[i + 1] > 0) mass -= t->sum[i++];
    }
    return i - t->leaves;
}

void sumtree_again(struct sumtree *t)
{
    for (long i = t->leaves - 1; i >= 1; i--) t->sum[i] = t->sum[2 * i] + t->sum[2 * i + 1];
}

void sumtree_free(struct sumtree *t)
{
    free(t->sum);
    *t = (struct sumtree){ 0 };
}

/* join.c - see join.h */
#include "prof/join.h"
#include "base/compare.h"
#include <stdbool.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    const struct join *x = a, *y = b;
    return ORDER(x->key, y->key) ?: ORDER(x->time, y->time) ?: ORDER(y->is_post, x->is_post)
        ?: ORDER(x->node, y->node);
}

/* one key's, by time */
static void stream(struct join *v, size_t begin, size_t end)
{
    uint64_t posted = 0, taken = 0, first = 0;
    for (size_t i = begin; i < end; i++) {               /* what was there before */
        if (v[i].is_post) posted += v[i].amount;
        else taken += v[i].amount;
        if (taken > posted && taken - posted > first) first = taken - posted;
    }
    uint64_t sum = first;
    size_t p = begin, last = JOIN_NONE;                  /* p: the next post not all taken, `sum` before it */
    taken = 0;
    for (size_t i = begin; i < end; i++) {
        if (v[i].is_post) {
            last = i;
            continue;
        }
        uint64_t want = taken + (v[i].peek ? 1 : v[i].amount);
        if (!v[i].peek) taken = want;
        v[i].post = JOIN_NONE;
        if (want <= first) continue;
        while (p < end && (!v[p].is_post || sum + v[p].amount < want)) {
            if (v[p].is_post) sum += v[p].amount;
            p++;
        }
        v[i].post = (uint32_t)(p < i ? p : last);
    }
}

static void latest(struct join *v, size_t begin, size_t end)
{
    size_t last = JOIN_NONE, other = JOIN_NONE;          /* other: the last of another thread than the last */
    for (size_t i = begin; i < end; i++) {
        if (!v[i].is_post) v[i].post = (uint32_t)(last < i && v[last].thread == v[i].thread ? other : last);
        else {
            if (last < i && v[last].thread != v[i].thread) other = last;
            last = i;
        }
    }
}

void join_match(struct join *v, size_t n)
{
    if (n) qsort(v, n, sizeof *v, by_key);
    for (size_t begin = 0, end; begin < n; begin = end) {
        bool amounts = false;
        for (end = begin; end < n && v[end].key == v[begin].key; end++) amounts |= v[end].amount != 0;
        (amounts ? stream : latest)(v, begin, end);
    }
}

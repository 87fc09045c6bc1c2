/* collectives.c - which kernels of several processes are one collective, see collectives.h */
#include "prof/collectives.h"
#include "base/compare.h"
#include "base/mem.h"
#include <stdlib.h>

struct comm { int64_t start, end; size_t row; uint32_t name, proc; };

static int by_name(const void *a, const void *b)
{
    const struct comm *x = a, *y = b;
    return ORDER(x->name, y->name) ?: ORDER(x->proc, y->proc) ?: ORDER(x->start, y->start) ?:
           ORDER(x->row, y->row);
}

struct head { size_t at, end; };

static void meet(struct collectives *c, const struct comm *v, struct head *head, size_t procs, size_t first)
{
    int64_t met = INT64_MIN;
    size_t members = 0;
    for (size_t k = 0; k < procs; k++) {
        if (head[k].at == head[k].end || v[head[k].at].start >= v[first].end) continue;
        members++;
        if (v[head[k].at].start > met) met = v[head[k].at].start;
    }
    for (size_t k = 0; k < procs; k++) {
        if (head[k].at == head[k].end || v[head[k].at].start >= v[first].end) continue;
        if (members > 1) c->group[v[head[k].at].row] = (uint32_t)c->n + 1;
        head[k].at++;
    }
    if (members > 1) c->met[c->n++] = met;
    else c->alone++;
}

static void match_name(struct collectives *c, const struct comm *v, size_t n)
{
    struct head *head = NULL;
    size_t procs = 0, cap = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || v[i].proc != v[i - 1].proc) {
            head = grow(head, procs + 1, &cap, sizeof *head);
            head[procs++] = (struct head){ i, i };
        }
        head[procs - 1].end = i + 1;
    }
    for (;;) {
        size_t first = n;
        for (size_t k = 0; k < procs; k++)
            if (head[k].at < head[k].end && (first == n || v[head[k].at].end < v[first].end)) first = head[k].at;
        if (first == n) break;
        meet(c, v, head, procs, first);
    }
    free(head);
}

struct collectives collectives_match(const struct rows *rows, uint32_t communication)
{
    struct collectives c = { 0 };
    struct comm *v = NULL;
    size_t n = 0, cap = 0;
    int64_t cursor = INT64_MIN;
    bool several = false;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *r = &rows->v[i];
        if (!i || r->proc != r[-1].proc || r->tid != r[-1].tid) cursor = INT64_MIN;
        if (r->kind != EVENT_GPU || r->end <= r->start || r->end <= cursor) continue;
        if (r->cat == communication) {
            v = grow(v, n + 1, &cap, sizeof *v);
            v[n] = (struct comm){ r->start < cursor ? cursor : r->start, r->end, i, r->name, r->proc };
            several |= v[n++].proc != v[0].proc;
        }
        cursor = r->end;
    }
    if (several) {
        c.group = xcalloc(rows->n, sizeof *c.group);
        c.met = xmalloc(n, sizeof *c.met);
        qsort(v, n, sizeof *v, by_name);
        for (size_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && v[end].name == v[begin].name;) end++;
            match_name(&c, v + begin, end - begin);
        }
    }
    free(v);
    return c;
}

/* dag.c - see dag.h */
#include "prof/dag.h"
#include "base/checked.h"
#include "base/compare.h"
#include <stdlib.h>

const char *const edge_why_name[EDGE_WHYS] = { "run", "launch", "stream", "sync", "link", "guess",
                                                     "collective", "event" };

static const int64_t SPAN_MAX = (int64_t)1 << 61;        /* ns of a run and a replay: no overflow in differences */

/* ---- nodes and edges */

uint32_t dag_node(struct dag *g, const struct dag_node *new)
{
    if (g->n >= NODE_NONE) die("more than %u pieces", NODE_NONE);
    g->node = grow(g->node, g->n + 1, &g->cap, sizeof *g->node);
    g->node[g->n] = *new;
    return (uint32_t)g->n++;
}

void dag_edge(struct dag *g, uint32_t from, uint32_t to, enum edge_why why, int64_t lag)
{
    if (g->nedge >= NODE_NONE) die("more than %u dependences", NODE_NONE);
    g->edge = grow(g->edge, g->nedge + 1, &g->edge_cap, sizeof *g->edge);
    g->edge[g->nedge++] = (struct dag_edge){ from, to, why, lag };
}

static int by_target(const void *a, const void *b)
{
    const struct dag_edge *x = a, *y = b;
    return ORDER(x->to, y->to) ?: ORDER(x->why, y->why) ?: ORDER(x->from, y->from);
}

static const struct dag *sorting;

static int by_end(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct dag_node *x = &sorting->node[i], *y = &sorting->node[k];
    /* a wait ends because something else did */
    return ORDER(x->end, y->end) ?: ORDER(x->wait, y->wait) ?: ORDER(x->start, y->start) ?: ORDER(i, k);
}

void dag_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *))
{
    for (size_t i = 1; i < n; i++) {
        const char *here = (const char *)v + i * size;
        if (order(here - size, here) <= 0) continue;
        qsort(v, n, size, order);
        return;
    }
}

void dag_seal(struct dag *g)
{
    g->edge = grow(g->edge, g->nedge + 1, &g->edge_cap, sizeof *g->edge);     /* never NULL: it is added to */
    dag_sort(g->edge, g->nedge, sizeof *g->edge, by_target);
    for (size_t e = 0; e < g->nedge; e++) {
        struct dag_node *v = &g->node[g->edge[e].to];
        if (!v->edges++) v->edge = (uint32_t)e;
    }
    g->order = xmalloc(g->n + 1, sizeof *g->order);
    for (size_t i = 0; i < g->n; i++) g->order[i] = (uint32_t)i;
    sorting = g;
    dag_sort(g->order, g->n, sizeof *g->order, by_end);
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[i];
        if (!i || v->start < g->start) g->start = v->start;
        if (!i || v->end > g->end) g->end = v->end;
    }
}

void dag_free(struct dag *g)
{
    free_all(g->node, g->edge, g->order, g->walk.finish, g->walk.path, g->walk.via);
    *g = (struct dag){ 0 };
}

/* ---- replay, path and slack */

static void set_speed(struct dag *g, double speed)
{
    double rest = 0.5;                                   /* of a ns */
    for (struct dag_node *v = g->node, *end = v + g->n; v < end; v++) {
        v->now = v->work;
        if (!(v->selected & ~g->left) || v->wait || speed == 1) continue;   /* a double is not exact from 2^53 on */
        double work = (double)v->work / speed + rest;
        v->now = work < (double)SPAN_MAX ? (int64_t)work : INT64_MAX;
        rest = work - (double)v->now;
    }
}

int64_t dag_replay(struct dag *g, double speed, int64_t *finish)
{
    int64_t last = g->start;
    set_speed(g, speed);
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *v = &g->node[g->order[i]];
        int64_t begin = v->release, work = v->now;
        for (const struct dag_edge *e = g->edge + v->edge, *end = e + v->edges; e < end; e++)
            if (finish[e->from] + e->lag > begin) begin = finish[e->from] + e->lag;
        if (work > g->start + SPAN_MAX - begin) die("a run of more than 73 years at this speed");
        finish[g->order[i]] = begin + work;
        if (finish[g->order[i]] > last) last = finish[g->order[i]];
    }
    return last;
}

size_t dag_path(const struct dag *g, const int64_t *finish, uint32_t *path, uint32_t *via)
{
    size_t n = 0;
    uint32_t at = NODE_NONE;
    for (size_t i = 0; i < g->n; i++)
        if (at == NODE_NONE || finish[g->order[i]] > finish[at]) at = g->order[i];
    while (at != NODE_NONE) {
        const struct dag_node *v = &g->node[at];
        int64_t begin = finish[at] - v->now;
        uint32_t edge = NODE_NONE;
        for (uint32_t e = v->edge; e < v->edge + v->edges && edge == NODE_NONE; e++)
            if (finish[g->edge[e].from] + g->edge[e].lag == begin) edge = e;
        via[n] = edge;
        path[n++] = at;
        at = edge == NODE_NONE ? NODE_NONE : g->edge[edge].from;
    }
    return n;
}

void dag_slack(const struct dag *g, const int64_t *finish, int64_t *slack)
{
    int64_t last = g->start;
    for (size_t i = 0; i < g->n; i++) if (finish[i] > last) last = finish[i];
    for (size_t i = 0; i < g->n; i++) slack[i] = last;   /* until it is done: the latest end that delays nothing */
    for (size_t i = g->n; i-- > 0;) {
        const struct dag_node *v = &g->node[g->order[i]];
        int64_t begin = slack[g->order[i]] - v->now;
        for (const struct dag_edge *e = g->edge + v->edge, *end = e + v->edges; e < end; e++)
            if (begin - e->lag < slack[e->from]) slack[e->from] = begin - e->lag;
    }
    for (size_t i = 0; i < g->n; i++) slack[i] -= finish[i];
}

/* ---- lags of the GPU */

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return ORDER(*x, *y);
}

static bool is_last(const struct dag *g, const struct dag_node *v, const struct dag_edge *e)
{
    for (const struct dag_edge *x = g->edge + v->edge, *end = x + v->edges; x < end; x++)
        if (x != e && g->node[x->from].end > g->node[e->from].end) return false;
    return true;
}

static int64_t launch_time(const struct dag *g)
{
    int64_t *v = xmalloc(g->nedge + 1, sizeof *v), median = 0;
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct dag_node *u = &g->node[i];
        for (const struct dag_edge *e = g->edge + u->edge, *end = e + u->edges; u->gpu && e < end; e++)
            if (e->why == EDGE_LAUNCH && is_last(g, u, e))
                v[n++] = u->start - g->node[e->from].end;  /* nothing else to wait for: all of it is the launch */
    }
    if (n) {
        qsort(v, n, sizeof *v, by_size);
        median = v[n / 2];
    }
    free(v);
    return median;
}

void dag_set_lags(struct dag *g)
{
    int64_t launch = launch_time(g);
    for (size_t i = 0; i < g->n; i++) {
        struct dag_node *v = &g->node[i];
        if (!v->gpu || !v->edges) continue;
        v->release = INT64_MIN;
        struct dag_edge *e = g->edge + v->edge, *end = e + v->edges, *last = NULL;
        int64_t latest = INT64_MIN;
        for (; e < end; e++) {
            int64_t ready = g->node[e->from].end;
            if (e->why == EDGE_LAUNCH) e->lag = launch < v->start - ready ? launch : v->start - ready;
            if (ready + e->lag > latest) {
                latest = ready + e->lag;
                last = e;
            }
        }
        last->lag = v->start - g->node[last->from].end;
    }
}

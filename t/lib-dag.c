/* the longest path and slack against enumeration of every path; replay of what was observed */
#include "base/rng.h"
#include "prof/dag.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

enum { NODES = 9 };

/* every path that ends in v, by its length: from each edge, and from the release */
static int64_t longest_to(const struct dag *g, uint32_t v)
{
    const struct dag_node *n = &g->node[v];
    int64_t best = n->release + n->now;
    for (size_t e = 0; e < g->nedge; e++) {
        if (g->edge[e].to != v) continue;
        int64_t length = longest_to(g, g->edge[e].from) + g->edge[e].lag + n->now;
        if (length > best) best = length;
    }
    return best;
}

static int64_t longest_from(const struct dag *g, uint32_t v)   /* after v is done */
{
    int64_t best = 0;
    for (size_t e = 0; e < g->nedge; e++) {
        if (g->edge[e].from != v) continue;
        int64_t length = g->edge[e].lag + g->node[g->edge[e].to].now + longest_from(g, g->edge[e].to);
        if (length > best) best = length;
    }
    return best;
}

int main(void)
{
    size_t wrong_work = 0, wrong_ends = 0, wrong_length = 0, wrong_slack = 0, wrong_path = 0;
    struct rng r = rng_for(1, str_of("dag"));
    for (int round = 0; round < 300; round++) {
        struct dag g = { 0 };
        for (uint32_t i = 0; i < NODES; i++) {           /* in the order of their ends: edges go forward */
            struct dag_node v = { .start = (int64_t)i * 1000, .end = (int64_t)i * 1000 + 1,
                              .work = (int64_t)rng_below(&r, 50), .release = (int64_t)rng_below(&r, 30),
                              .selected = rng_below(&r, 2),
                              .wait = rng_below(&r, 5) == 0 };
            dag_node(&g, &v);
            for (uint32_t k = 0; k < i; k++)
                if (rng_below(&r, 3) == 0) dag_edge(&g, k, i, EDGE_RUN, (int64_t)rng_below(&r, 20));
        }
        dag_seal(&g);
        double speed = round % 3 ? 1 + (double)rng_below(&r, 4) : 1;
        int64_t finish[NODES], slack[NODES], longest = INT64_MIN;
        int64_t end = dag_replay(&g, speed, finish);
        dag_slack(&g, finish, slack);
        double exact = 0, now = 0;                       /* of all nodes up to here */
        for (const struct dag_node *v = g.node; v < g.node + g.n; v++) {
            bool faster = v->selected && !v->wait;
            exact += faster ? (double)v->work / speed : 0;
            now += faster ? (double)v->now : 0;
            wrong_work += faster ? !(fabs(now - exact) < 0.51) : v->now != v->work;
        }
        for (uint32_t v = 0; v < NODES; v++) {
            int64_t to = longest_to(&g, v);
            if (to + longest_from(&g, v) > longest) longest = to + longest_from(&g, v);
            wrong_ends += finish[v] != to;
        }
        wrong_length += end != longest;
        for (uint32_t v = 0; v < NODES; v++)
            wrong_slack += slack[v] != longest - longest_to(&g, v) - longest_from(&g, v);
        uint32_t path[NODES], via[NODES];
        size_t n = dag_path(&g, finish, path, via);
        int64_t length = 0;
        for (size_t i = 0; i < n; i++) {
            const struct dag_node *v = &g.node[path[i]];
            length += v->now;
            length += via[i] == NODE_NONE ? v->release : g.edge[via[i]].lag;
            wrong_path += slack[path[i]] != 0 || (i + 1 < n && g.edge[via[i]].from != path[i + 1]);
        }
        wrong_path += length != longest;
        dag_free(&g);
    }
    ok(!wrong_work, "the work of all nodes up to each is what the speed makes of it, to half a ns");
    ok(!wrong_ends, "300 random graphs: the end of each node is its longest path by enumeration");
    ok(!wrong_length, "the run is as long as the longest of all paths");
    ok(!wrong_slack, "the slack is what a path through the node lacks to the longest");
    ok(!wrong_path, "the path is connected, without slack, and as long");
    return done();
}

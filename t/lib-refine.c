/* Lives chosen by the time of the step: on random graphs they keep the limit, are no slower than those they began with,
 * leave fast memory only where a node is between, and take what beside.c says of the same lives, widened and simulated.
 * More graphs than 300: build/t/lib-refine.t 5000 */
#include "place/beside.h"
#include "place/refine.h"
#include "place_random.h"
#include "tap.h"
#include "base/compare.h"
#include <stdlib.h>
#include <unistd.h>

static int by_execution(const void *x, const void *y)
{
    const struct plan_move *a = x, *b = y;
    return ORDER(a->before, b->before) ?: (b->to == TIER_SLOW) - (a->to == TIER_SLOW) ?: ORDER(a->tensor, b->tensor);
}

/* the lives of one tensor as stays and moves between nodes */
static void write_life(const struct placing *p, const struct placement *x, int t, struct plan *plan)
{
    int end = p->use_end[t + 1], slow_from = -1, slow_until = -1, begin = -1;
    for (int u = p->use_end[t]; u < end; u++) {
        int n = p->use_node[u];
        bool came = u > p->use_end[t] && x->stay[u - 1];
        if (x->slow[u]) {
            if (slow_from < 0 && u > p->use_end[t]) {
                slow_from = p->use_node[u - 1] + 1;
                plan_add_move(plan, p->id[t], TIER_SLOW, slow_from, slow_from);
            } else if (slow_from < 0) slow_from = n;
            slow_until = n;
            continue;
        }
        if (!came && u > p->use_end[t]) {
            if (slow_from < 0) {
                slow_from = p->use_node[u - 1] + 1;
                plan_add_move(plan, p->id[t], TIER_SLOW, slow_from, slow_from);
            }
            plan_add_move(plan, p->id[t], TIER_FAST, n, n);
            slow_until = n;
        }
        if (!came) begin = n;
        if (u + 1 == end || !x->stay[u]) plan_stay(plan, p->id[t], TIER_FAST, begin, n, 0);
    }
    if (slow_from >= 0) plan_stay(plan, p->id[t], TIER_SLOW, slow_from, slow_until, 0);
}

static double seconds_of(const struct placing *p, const struct placement *x)
{
    struct plan *plan = plan_new(p->g, "async");
    for (int i = 0; i < p->g->ntensor; i++) {
        const struct tensor *t = &p->g->tensor[i];
        if (t->role == ROLE_INTER && !graph_movable(p->g, i)) plan_stay(plan, i, TIER_FAST, t->first, t->last, 0);
    }
    for (int t = 0; t < p->tensors; t++) write_life(p, x, t, plan);
    plan_sort(plan);
    if (plan->nmove > 1) qsort(plan->move, (size_t)plan->nmove, sizeof *plan->move, by_execution);
    for (int n = 0; n < p->nodes; n++) plan->node[n].staging = p->choice[p->choice_end[n] + x->config[n]].staging;
    beside_widen(p, x, plan);
    double seconds = beside_seconds(p, x, plan);
    plan_free(plan);
    return seconds;
}

static bool has_time_to_leave(const struct placing *p, const struct placement *x)
{
    for (int t = 0; t < p->tensors; t++)
        for (int u = p->use_end[t]; u + 1 < p->use_end[t + 1]; u++)
            if (!x->slow[u] && !x->slow[u + 1] && !x->stay[u] && p->use_node[u + 1] == p->use_node[u] + 1) return false;
    return true;
}

int main(int argc, char **argv)
{
    long cases = argc > 1 ? atol(argv[1]) : 300, fits = 0, same = 0, better = 0, fair = 0, near = 0;
    struct rng r = rng_for(1, str_of("lib-refine"));
    char path[64];
    snprintf(path, sizeof path, "lib-refine.%ld.csv", (long)getpid());
    for (long i = 0; i < cases; i++) {
        struct graph *g = random_graph(&r, 4 + (int)rng_below(&r, 5));
        struct profile *profile = random_profile(&r, g, 1, path);
        uint64_t limit = least_limit(g, profile) * (10 + rng_below(&r, 10)) / 10;
        struct placing *p = placing_new(g, profile, limit, true, NULL);
        struct placement *x = placement_new(p);
        double *none = calloc((size_t)p->nodes + 1, sizeof *none);
        int node = 0;
        placing_price(p, none);
        refine_placing(p, 500, 1, 0, x);                 /* feasible, it should be */
        double before = refine_placing(p, 0, 1, 0, x), after = refine_placing(p, 500, 2, 0, x);
        if (isinf(after)) {
            fair += placement_overload(p, x, &node) > 0;
        } else {
            fair++;
            fits++;
            better += after <= before;
            near += has_time_to_leave(p, x);
            double theirs = seconds_of(p, x);
            same += placement_overload(p, x, &node) <= 0 && fabs(theirs - after) <= 1e-12 * after;
        }
        free(none);
        placement_free(x);
        placing_free(p);
        profile_free(profile);
        graph_free(g);
    }
    unlink(path);
    printf("# %ld of %ld feasible\n", fits, cases);
    ok(fair == cases && fits > cases * 8 / 10, "nearly all limits are kept, where not it is said");
    ok(better == fits, "never slower than before");
    ok(near == fits, "what is used by neighbours stays between them");
    ok(same == fits, "a step takes what the planner's own simulation says of these lives");
    return done();
}

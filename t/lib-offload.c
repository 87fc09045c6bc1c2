/* Plans for what is saved, against exhaustive search on small random steps: bound <= optimum <= plan, always. */
#include "place/offload.h"
#include "base/rng.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAVED = 5, GROUPS = 2 };

/* forward: every node saves one tensor, some inside groups; backward in reverse order */
static struct graph *random_step(struct rng *r)
{
    struct graph *g = graph_new("random", 1);
    int x = graph_tensor(g, "x", ROLE_ARG, "f32", 1, (int64_t[]){ 8 }), made[SAVED], group = -1, next = 0;
    for (int i = 0; i < SAVED; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        int64_t n = 16384 * (1 + (int64_t)rng_below(r, 8));
        if (next < GROUPS && rng_below(r, 2)) {
            int in[2] = { x, i > 0 ? made[i - 1] : x };
            int out = graph_tensor(g, "e", ROLE_INTER, "f32", 1, (int64_t[]){ 1 });
            int k = graph_node(g, "enter", "Enter", i > 0 ? 2 : 1, in, 1, &out);
            graph_attr(g, k, "enter", 1, group = next++, 0);
            graph_attr(g, k, "piece", 1, g->nnode, 0);
        }
        made[i] = graph_tensor(g, name, ROLE_INTER, "f32", 1, &n);
        int k = graph_node(g, name, "Save", 1, &x, 1, &made[i]);
        graph_attr(g, k, "piece", 1, k, 0);
        if (group >= 0) graph_attr(g, k, "group", 1, group, 0);
    }
    for (int i = SAVED; i-- > 0;) {
        int in[3] = { x, made[i] }, nin = 2, out = graph_tensor(g, "d", ROLE_INTER, "f32", 1, (int64_t[]){ 1 });
        if (i > 0 && rng_below(r, 2)) in[nin++] = made[i - 1];
        int k = graph_node(g, "b", "Back", nin, in, 1, &out);
        graph_attr(g, k, "piece", 1, k, 0);
        graph_attr(g, k, "backward", 1, 1, 0);
    }
    graph_finish(g);
    return g;
}

static struct profile *random_times(struct rng *r, const struct graph *g, const char *path)
{
    csvw *w = csvw_open(path);
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) {
        profile_row(w, g, k, 0, 0, 0, 0.01 + rng_unit(r), 1, "model", "simulated");
        csvw_end(w);
    }
    double rate = rng_unit(r) * 3 / 262144;
    for (uint64_t bytes = 65536; bytes <= 1 << 27; bytes <<= 11)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, rate * (double)bytes * (1 + to_fast), 1, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
    return profile_read(path);
}

int main(void)
{
    char path[] = "/tmp/lib-offload-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    struct rng r = rng_for(7, str_of("lib-offload"));
    bool below = true, kept = true, near_best = true, found = true, plain = true, tight = true;
    int infeasible = 0, recomputed = 0, sent = 0, stalls = 0;
    double gap = 0;
    for (int t = 0; t < 300; t++) {
        struct graph *g = random_step(&r);
        struct profile *profile = random_times(&r, g, path);
        struct offload *o = offload_new(g, profile);
        struct offload_plan *p = offload_plan_new(o), *q = offload_plan_new(o);
        double limit = o->saved_bytes * (0.3 + 0.7 * rng_unit(&r)), best = HUGE_VAL, most;
        for (int a = 0; a < 1 << o->nsaved; a++)
            for (int x = 0; x < 1 << o->ngroup; x++) {
                for (int i = 0; i < o->nsaved; i++) q->away[i] = (a >> i & 1) && o->saved[i].movable;
                for (int i = 0; i < o->ngroup; i++) q->again[i] = x >> i & 1;
                double seconds = offload_simulate(o, limit, q, &most);
                if (most <= limit && seconds < best) best = seconds;
            }
        struct offload_effort e = { 1000, 1000, 1 };
        bool fits = offload_solve(o, limit, &e, p);
        found &= fits == (best < HUGE_VAL);
        infeasible += !fits;
        below &= p->bound <= best * (1 + 1e-9);
        if (fits) {
            double again = offload_simulate(o, limit, p, &most);
            kept &= most <= limit && most == p->most && again == p->seconds;
            near_best &= p->seconds <= best * 1.1 + 1e-9;
            gap += best / p->bound - 1;
            for (int i = 0; i < o->ngroup; i++) recomputed += p->again[i];
            for (int i = 0; i < o->nsaved; i++) sent += p->away[i];
            stalls += p->seconds > o->plain_seconds * (1 + 1e-9);
        }
        memset(q->away, 0, (size_t)o->nsaved); /* all kept: nothing waits, and all is there at once */
        memset(q->again, 0, (size_t)o->ngroup);
        plain &= fabs(offload_simulate(o, 1e18, q, &most) - o->plain_seconds) < 1e-9;
        tight &= most == o->saved_bytes;
        offload_plan_free(p);
        offload_plan_free(q);
        offload_free(o);
        profile_free(profile);
        graph_free(g);
    }
    ok(below, "the bound is not above the optimum");
    ok(found, "a plan is found where there is one, and only there");
    ok(kept, "plans keep the limit and take the time they say");
    ok(near_best, "plans are within 10 % of the optimum");
    ok(plain, "with everything kept a step takes the time of its nodes");
    ok(tight, "and all that is saved is in memory at once");
    ok(infeasible > 5 && recomputed > 20 && sent > 100 && stalls > 50, "all kinds of plans were seen");
    printf("# infeasible %d, again %d, away %d, slower than plain %d; mean gap of the bound %.3f\n", infeasible,
           recomputed, sent, stalls, gap / (300 - infeasible));
    unlink(path);
    return done();
}

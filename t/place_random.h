/* place_random.h - for tests: small random graphs, in which every node makes a tensor and reads some earlier ones, and
 * random times for every placement. */
#ifndef MILLRACE_T_PLACE_RANDOM_H
#define MILLRACE_T_PLACE_RANDOM_H
#include "place/profile.h"
#include "place/placing.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>

enum { RANDOM_NODES = 8 };

static inline struct graph *random_graph(struct rng *r, int nodes)
{
    struct graph *g = graph_new("random", 1);
    int made[RANDOM_NODES], n = 0, x = graph_tensor(g, "x", ROLE_ARG, "f32", 1, (int64_t[]){ 8 });
    for (int i = 0; i < nodes; i++) {
        int in[3] = { x }, nin = 1, out;
        for (int k = 0; k < 2 && n > 0; k++) {
            int pick = made[rng_below(r, (uint64_t)n)];
            if (rng_below(r, 3) > 0) in[nin++] = pick;
        }
        bool last = i + 1 == nodes, small = rng_below(r, 6) == 0;
        int64_t elements = last || small ? 1000 : 16384 * (1 + (int64_t)rng_below(r, 6));
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        out = graph_tensor(g, name, last ? ROLE_ARG : ROLE_INTER, "f32", 1, &elements);
        graph_node(g, name, name, nin, in, 1, &out);
        if (!last) made[n++] = out;
    }
    graph_finish(g);
    return g;
}

/* some with staging; moves take up to `slowest` times 5 us a byte; the table is written to `path` */
static inline struct profile *random_profile(struct rng *r, const struct graph *g, double slowest, const char *path)
{
    csvw *w = csvw_open(path);
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    bool staged = rng_below(r, 2);
    for (int k = 0; k < g->nkernel; k++) {
        uint32_t slow = 0;
        double fast = 1 + rng_unit(r);
        do {
            double seconds = fast + (double)__builtin_popcount(slow) * rng_unit(r) * 2;
            profile_row(w, g, k, slow, slow ? 1 : 0, slow && staged ? 4096 * rng_below(r, 20) : 0, seconds, 1,
                        "model", "simulated");
            csvw_end(w);
            slow = (slow - g->kernel[k].movable) & g->kernel[k].movable;
        } while (slow);
    }
    double rate = rng_unit(r) * slowest;
    for (uint64_t bytes = 65536; bytes <= 1 << 20; bytes *= 2)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, rate * (double)bytes / 2e5 + 0.01, 1, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
    return profile_read(path);
}

/* the least limit under which every node can run */
static inline uint64_t least_limit(const struct graph *g, const struct profile *profile)
{
    struct placing *p = placing_new(g, profile, (uint64_t)1 << 40, true, NULL);
    double need = 0;
    for (int n = 0; n < p->nodes; n++) {
        double least = INFINITY;
        for (int c = p->choice_end[n]; c < p->choice_end[n + 1]; c++) {
            double sum = p->base[n] + (double)p->choice[c].staging;
            for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++)
                if (!((c - p->choice_end[n]) >> (s - p->slot_end[n]) & 1)) sum += p->size[p->slot_tensor[s]];
            if (sum < least) least = sum;
        }
        if (least > need) need = least;
    }
    placing_free(p);
    return (uint64_t)need;
}
#endif

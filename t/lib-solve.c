/* The solver against exhaustive search on small random graphs: bound <= optimum <= plan, always; and the checker's
 * opinion of every plan. */
#include "place/layout.h"
#include "place/verify.h"
#include "place_random.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 6 };

/* ---- exhaustive search, over lives: slow and stay bits of every use ---- */

struct best {
    const struct placing *p;
    struct placement *x;
    double seconds;
    double beside;                                       /* no step with moves beside its kernels takes less */
    int count;
};

/* beside: the longer of what kernels take and of what moves and slow operands take of one channel */
static double judge(const struct placing *p, const struct placement *x, double *beside)
{
    double sum = 0, channel = 0, load[NODES] = { 0 }, reach[NODES] = { 0 }, kernels = 0;
    int config[NODES] = { 0 };
    for (int t = 0; t < p->tensors; t++) {
        bool copied = false;
        for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) {
            bool first = u == p->use_end[t], came = !first && x->stay[u - 1];
            if (x->slow[u]) {
                config[p->use_node[u]] |= 1 << p->use_slot[u];
                reach[p->use_node[u]] += first ? p->write[t] : p->fetch[t];
                if (first) copied = true;
            } else {
                load[p->use_node[u]] += p->size[t];
                if (!first && !came) sum += p->fetch[t];
            }
            if (u + 1 == p->use_end[t + 1]) break;
            if (x->stay[u])
                for (int n = p->use_node[u] + 1; n < p->use_node[u + 1]; n++) load[n] += p->size[t];
            else if (!copied) {
                sum += p->write[t];
                copied = true;
            }
        }
    }
    channel = sum;
    for (int n = 0; n < p->nodes; n++) {
        const struct choice *c = &p->choice[p->choice_end[n] + config[n]];
        channel += fmin(reach[n], c->seconds);
        if (load[n] + p->base[n] + (double)c->staging > p->limit[n]) return INFINITY;
        sum += c->seconds;
        kernels += c->seconds;
    }
    *beside = fmax(kernels, channel);
    return sum;
}

static void enumerate(struct best *b, int t, int u)
{
    const struct placing *p = b->p;
    if (t == p->tensors) {
        double beside = 0, s = judge(p, b->x, &beside);
        if (s < b->seconds) b->seconds = s;
        if (isfinite(s) && beside < b->beside) b->beside = beside;
        return;
    }
    if (u == p->use_end[t + 1]) {
        enumerate(b, t + 1, u);
        return;
    }
    bool first = u == p->use_end[t], last = u + 1 == p->use_end[t + 1];
    for (int slow = 0; slow < 2; slow++) {
        bool stayed = !first && b->x->stay[u - 1];
        if (stayed && slow) continue;
        if (!p->moves && !first && (b->x->slow[u - 1] != slow || (!slow && !stayed))) continue;
        b->x->slow[u] = (uint8_t)slow;
        for (int stay = 0; stay <= (!slow && !last); stay++) {
            b->x->stay[u] = (uint8_t)stay;
            enumerate(b, t, u + 1);
        }
    }
}

static void complain(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

int main(void)
{
    enum { CASES = 120 };
    char path[64];
    snprintf(path, sizeof path, "/tmp/lib-solve-%ld.csv", (long)getpid());
    double ratio = 0;
    int beside_kept = 0, beside_bounded = 0, faster = 0, bounded = 0, planned = 0, kept = 0, optimal = 0, ordered = 0;
    for (int i = 0; i < CASES; i++) {
        struct rng r = rng_for((uint64_t)i, str_of("lib-solve"));
        struct graph *g = random_graph(&r, NODES);
        struct profile *profile = random_profile(&r, g, 0.8, path);
        uint64_t limit = least_limit(g, profile) + rng_below(&r, graph_peak(g));
        struct effort effort = { 300, 2000, 1, 0 };
        double plan[2], beside;
        for (int moves = 0; moves < 2; moves++) {
            struct placing *p = placing_new(g, profile, limit, moves, NULL);
            struct best b = { p, placement_new(p), INFINITY, INFINITY, 0 };
            enumerate(&b, 0, 0);
            struct placement *x = placement_new(p);
            struct prices v = prices_new(p);
            double bound = solve_placing(p, &effort, false, x, &v);
            plan[moves] = judge(p, x, &beside);
            if (bound <= b.seconds * (1 + 1e-12)) bounded++;
            else printf("# case %d: bound %.17g above optimum %.17g\n", i, bound, b.seconds);
            if (plan[moves] >= b.seconds * (1 - 1e-12) && fabs(plan[moves] - placement_seconds(p, x)) < 1e-9) planned++;
            else printf("# case %d: plan %.17g, optimum %.17g\n", i, plan[moves], b.seconds);
            if (plan[moves] <= b.seconds * (1 + 1e-9)) optimal++;
            else printf("# case %d, moves %d: plan %.9g, optimum %.9g\n", i, moves, plan[moves], b.seconds);
            struct plan *made = make_plan(g, profile, moves ? FORM_SYNC : FORM_STATIC, limit, &effort);
            if (verify_plan(g, profile, made, complain, NULL) == 0 && made->objective >= b.seconds * (1 - 1e-12))
                kept++;
            plan_free(made);
            if (moves) {
                made = make_plan(g, profile, FORM_ASYNC, limit, &effort);
                if (verify_plan(g, profile, made, complain, NULL) == 0) beside_kept++;
                /* what waits for moves counts in the bound, not in b.beside; moves between kernels may be made, too */
                if (made->bound <= b.seconds * (1 + 1e-12) && made->bound <= made->objective) beside_bounded++;
                else printf("# case %d: bound %.17g above %.17g\n", i, made->bound, b.seconds);
                if (made->objective <= b.seconds * (1 + 1e-9)) faster++;
                ratio += made->objective / b.beside / CASES;
                plan_free(made);
            }
            prices_free(&v);
            placement_free(x);
            placement_free(b.x);
            placing_free(p);
        }
        if (plan[1] <= plan[0] * (1 + 1e-9)) ordered++;
        profile_free(profile);
        graph_free(g);
    }
    unlink(path);
    ok(bounded == 2 * CASES, "the bound never exceeds the optimum of exhaustive search");
    ok(planned == 2 * CASES, "no plan is better than the optimum, its time is what its lives and kernels take");
    ok(kept == 2 * CASES, "the checker accepts every plan");
    printf("# %d of %d plans are optimal\n", optimal, 2 * CASES);
    ok(optimal >= 2 * CASES * 95 / 100, "nearly all plans are optimal");
    ok(beside_kept == CASES, "the checker accepts every plan with moves beside kernels");
    ok(beside_bounded == CASES, "no such bound exceeds the optimum with moves between kernels");
    printf("# %d of %d such plans beat all with moves between kernels; %.3f of that on average\n", faster, CASES,
           ratio);
    ok(faster >= CASES * 9 / 10 && ratio < 1.3, "and these plans are good");
    ok(ordered >= CASES * 98 / 100, "moves never hurt");
    return done();
}

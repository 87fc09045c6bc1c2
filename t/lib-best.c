/* best.h against the enumeration of all decisions on small random trees */
#include "decisions/best.h"
#include "base/rng.h"
#include "tap.h"

enum { MOST = 11 };

/* value of one assignment (bit i: call i is inlined); -INFINITY when it needs something never tried */
static double value_of(const struct best_node *x, int n, double gamma, bool mean, unsigned inlined)
{
    double factor[MOST], value = 0;
    int children[MOST] = { 0 };
    for (int i = 1; i < n; i++) children[x[i].parent]++;
    for (int i = 0; i < n; i++) {
        bool in = x[i].decl || inlined >> i & 1;
        factor[i] = 0;
        if (i) {
            const struct best_node *p = &x[x[i].parent];
            bool reached = factor[x[i].parent] > 0 && (p->decl || inlined >> x[i].parent & 1);
            if (!reached) continue;
            factor[i] = factor[x[i].parent] * gamma / (mean ? children[x[i].parent] : 1);
        } else {
            factor[i] = 1;
        }
        double w = in ? x[i].immediate : x[i].no_inline;
        if (isnan(w)) return -INFINITY;
        value += factor[i] * w;
    }
    return value;
}

static bool one(struct rng *g, bool mean)
{
    struct best_node x[MOST];
    int n = 1 + (int)rng_below(g, MOST);
    double gamma = 0.3 + 0.7 * rng_unit(g), most = -INFINITY;
    for (int i = 0; i < n; i++) {
        x[i] = (struct best_node){ .parent = i ? (uint32_t)rng_below(g, (uint64_t)i) : UINT32_MAX };
        x[i].decl = !i || rng_below(g, 4) == 0;
        x[i].immediate = x[i].decl || rng_below(g, 5) ? rng_normal(g) : NAN;
        x[i].no_inline = !x[i].decl && (isnan(x[i].immediate) || rng_below(g, 5)) ? rng_normal(g) : NAN;
    }
    double got = best(x, (size_t)n, gamma, mean);
    unsigned chosen = 0;
    for (int i = 0; i < n; i++) chosen |= (unsigned)x[i].inlined << i;
    for (unsigned a = 0; a < 1u << n; a++) {
        double v = value_of(x, n, gamma, mean, a);
        if (v > most) most = v;
    }
    if (isinf(most)) return isinf(got);
    return fabs(got - most) < 1e-12 && fabs(value_of(x, n, gamma, mean, chosen) - most) < 1e-12;
}

int main(void)
{
    struct rng g = rng_for(1, str_of("best"));
    for (int mean = 0; mean < 2; mean++) {
        int good = 0;
        for (int k = 0; k < 300; k++) good += one(&g, mean);
        ok(good == 300,
           mean ? "mean over children: optimum of 300 random trees" : "sum over children: optimum of 300 random trees");
    }
    struct best_node tie[] = { { .decl = true, .immediate = 0, .no_inline = NAN },
                               { .parent = 0, .immediate = 1, .no_inline = 1 } };
    best(tie, 2, 1, false);
    ok(!tie[1].inlined, "a tie is called, not inlined");
    return done();
}

/* power.c - see power.h */
#include "measure/power.h"
#include "base/mem.h"
#include "base/rng.h"
#include "measure/stats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct rng stream(uint64_t seed, const char *what, size_t n)
{
    char key[64];
    snprintf(key, sizeof key, "power/%s/%zu", what, n);
    return rng_for(seed, str_of(key));
}

/* share of experiments of n rounds in which an effect is found with its sign */
static double power_at(const double *d, size_t n_pilot, double effect, size_t n, double confidence, int draws,
                       uint64_t seed)
{
    struct rng g = stream(seed, "fixed", n);
    double centre = hodges_lehmann(d, n_pilot, confidence, 1).point, *x = xmalloc(n + 1, sizeof *x);
    int found = 0;
    for (int k = 0; k < draws; k++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (rng_u64(&g) >> 63 ? 1 : -1) * (d[rng_below(&g, n_pilot)] - centre) + effect;
        found += signed_rank_p(x, n, 1) < 1 - confidence && hodges_lehmann(x, n, confidence, 1).lower > 0;
    }
    free(x);
    return (double)found / draws;
}

size_t power_rounds(const double *d, size_t n_pilot, double effect, double power, double confidence, size_t n_max,
                    int draws, uint64_t seed)
{
    size_t low = 5, high = 8;                            /* power_at(low) is too little */
    while (power_at(d, n_pilot, effect, high, confidence, draws, seed) < power) {
        if (high >= n_max) return 0;
        low = high;
        high = high * 2 < n_max ? high * 2 : n_max;
    }
    while (high - low > 1 && (double)(high - low) > 0.02 * (double)high) {
        size_t middle = (low + high) / 2;
        if (power_at(d, n_pilot, effect, middle, confidence, draws, seed) < power) low = middle;
        else high = middle;
    }
    return high;
}

size_t power_sequential(const double *d, size_t n_pilot, double effect, double confidence, size_t n_max, int draws,
                        uint64_t seed)
{
    struct rng g = stream(seed, "sequential", 0);
    double centre = median(d, n_pilot), *stop = xmalloc((size_t)draws, sizeof *stop), limit = 1 / (1 - confidence);
    for (int k = 0; k < draws; k++) {
        double above = 0, below = 0;
        stop[k] = INFINITY;
        for (size_t n = 0; n < n_max && isinf(stop[k]); n++) {
            double x = (rng_u64(&g) >> 63 ? 1 : -1) * (d[rng_below(&g, n_pilot)] - centre) + effect;
            above += x > 0, below += x < 0;
            if (n > 4 && coin_e_value(above, below) >= limit) stop[k] = (double)n + 1;
        }
    }
    double m = quantile(stop, (size_t)draws, 0.5);
    free(stop);
    return isfinite(m) ? (size_t)m : 0;
}

/* guard.c - see guard.h */
#include "measure/guard.h"
#include "base/mem.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* one-sided: the two-sided interval of confidence 1 - 2 alpha has the upper bound of confidence 1 - alpha */
bool guard_keeps(const double *d, size_t n, size_t candidates, const struct guard *g, double *upper)
{
    double alpha = (1 - g->confidence) / (double)(candidates ? candidates : 1);
    *upper = hodges_lehmann(d, n, 1 - 2 * alpha, variance_inflation(d, n)).upper;
    return *upper < -log1p(g->least_gain);
}

struct guarded guard_decide(const double *d, size_t n, size_t candidates, const struct guard *g)
{
    double *part[2] = { xmalloc(n + 1, sizeof *d), xmalloc(n + 1, sizeof *d) };
    size_t m[2] = { 0 };
    for (size_t i = 0; i < n; i++) part[i % 2][m[i % 2]++] = d[i];
    struct guarded r = { .calibration = paired_compare(part[0], NULL, NULL, m[0], g->confidence, false),
                         .confirmation = paired_compare(part[1], NULL, NULL, m[1], g->confidence, false) };
    r.keep = guard_keeps(part[0], m[0], candidates, g, &r.upper);
    free(part[0]);
    free(part[1]);
    return r;
}

size_t guard_least(size_t candidates, const struct guard *g)
{
    enum { MOST = 8192 };
    double *d = xmalloc(MOST, sizeof *d);
    size_t few = 0, enough = 1;                          /* with so few nothing can be kept; with these something can */
    for (size_t i = 0; i < MOST; i++) d[i] = -100;       /* a gain that nobody could miss */
    while (enough < MOST && !guard_decide(d, enough, candidates, g).keep) few = enough, enough *= 2;
    bool never = enough == MOST && !guard_decide(d, MOST, candidates, g).keep;
    while (enough - few > 1) {
        size_t middle = few + (enough - few) / 2;
        if (guard_decide(d, middle, candidates, g).keep) enough = middle;
        else few = middle;
    }
    free(d);
    return never ? SIZE_MAX : enough;
}

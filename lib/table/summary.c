/* summary.c - see summary.h */
#include "table/summary.h"
#include "base/mem.h"
#include "base/num.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = { "n", "mean", "sum", "min", "max", "sd", "gmean", "median", "first", "last" };

bool statistic_parse(const char *s, size_t n, enum statistic *stat, double *percent)
{
    int64_t p;
    *percent = 50;
    for (int i = 0; i < STAT_PERCENTILE; i++) {
        if (strlen(words[i]) != n || memcmp(words[i], s, n) != 0) continue;
        *stat = (enum statistic)i;
        return true;
    }
    if (n < 2 || *s != 'p' || !int_parse(s + 1, n - 1, &p) || p < 0 || p > 100) return false;
    *stat = STAT_PERCENTILE;
    *percent = (double)p;
    return true;
}

/* x in units of a power of two, which is that of the first and of those that are far larger */
static double scaled(double x, struct power *u, double *mean, double *m2, double *both)
{
    enum { MOST = 1000, FAR = 400 };
    if (fabs(x) > u->far && isfinite(x)) {
        int e;
        frexp(x, &e);
        e = e > MOST ? MOST : e < -MOST ? -MOST : e;
        const double by = ldexp(1, -e), ratio = u->by > 0 ? by / u->by : 1;
        *u = (struct power){ by, ldexp(1, e + FAR < MOST ? e + FAR : MOST) };
        *mean *= ratio;
        *m2 *= ratio * ratio;
        if (both) *both *= ratio;
    }
    return u->by > 0 ? x * u->by : x;
}

void summary_add(struct summary *c, struct exact_number v)
{
    double t = c->total + v.x;
    c->lost += fabs(c->total) >= fabs(v.x) ? c->total - t + v.x : v.x - t + c->total;
    c->total = t;
    __int128 i;
    c->fraction = c->fraction || !exact_integer(v, &i) || __builtin_add_overflow(c->whole, i, &c->whole);
    if (!c->n++) c->min = c->max = c->first = v;
    c->last = v;
    c->nan = c->nan || isnan(v.x);
    bool big = v.big || c->min.big || c->max.big || c->first.big;
    if (big ? exact_cmp(v, c->min) < 0 : v.x < c->min.x) c->min = v;
    if (big ? exact_cmp(v, c->max) > 0 : v.x > c->max.x) c->max = v;
    double x = scaled(big ? exact_sub(v, c->first).x : v.x - c->first.x, &c->unit, &c->mean, &c->m2, NULL);
    double d = x - c->mean;
    c->mean += d / (double)c->n;
    c->m2 += d * (x - c->mean);
    c->logs += log(v.x);
    if (!c->keep) return;
    c->value = grow(c->value, c->n, &c->cap, sizeof *c->value);
    c->value[c->n - 1] = v;
    c->sorted = false;
}

static int order_exact(const void *a, const void *b)
{
    return exact_cmp(*(const struct exact_number *)a, *(const struct exact_number *)b);
}

static struct exact_number percentile(struct summary *c, double percent)
{
    if (!c->sorted) qsort(c->value, c->n, sizeof *c->value, order_exact);
    c->sorted = true;
    double at = (double)(c->n - 1) * percent / 100;
    size_t i = (size_t)at;
    double part = at - (double)i;
    if (part == 0 || exact_cmp(c->value[i], c->value[i + 1]) == 0) return c->value[i];
    const double gap = exact_sub(c->value[i + 1], c->value[i]).x;
    if (!isfinite(gap)) return exact_of((1 - part) * c->value[i].x + part * c->value[i + 1].x);
    return exact_add(c->value[i], exact_of(part * gap));
}

bool summary_get(struct summary *c, enum statistic stat, double percent, struct exact_number *v)
{
    double n = (double)c->n;
    struct exact_number sum = !c->fraction ? exact_of_integer(c->whole)
                                           : exact_of(isfinite(c->total) ? c->total + c->lost : c->total);
    if (c->n < (stat == STAT_N || stat == STAT_SUM ? 0 : stat == STAT_SD ? 2 : 1)) return false;
    if (stat == STAT_GMEAN && isnan(c->logs) && !c->nan) return false;   /* of a negative number there is none */
    if (c->nan && stat != STAT_N) {
        *v = exact_of(NAN);
        return true;
    }
    switch (stat) {
    case STAT_N: *v = exact_of(n); break;
    case STAT_MEAN: *v = exact_div(sum, exact_of(n)); break;
    case STAT_SUM: *v = sum; break;
    case STAT_MIN: *v = c->min; break;
    case STAT_MAX: *v = c->max; break;
    case STAT_SD: *v = exact_of(sqrt(c->m2 / (n - 1)) / (c->unit.by > 0 ? c->unit.by : 1)); break;
    case STAT_GMEAN: *v = exact_of(exp(c->logs / n)); break;
    case STAT_FIRST: *v = c->first; break;
    case STAT_LAST: *v = c->last; break;
    case STAT_MEDIAN: case STAT_PERCENTILE: *v = percentile(c, percent); break;
    }
    return true;
}

void correlation_add(struct correlation *c, struct exact_number a, struct exact_number b)
{
    if (!c->n++) c->first[0] = a, c->first[1] = b;
    double n = (double)c->n;
    double x = scaled(exact_sub(a, c->first[0]).x, &c->unit[0], &c->mean[0], &c->m2[0], &c->both);
    double y = scaled(exact_sub(b, c->first[1]).x, &c->unit[1], &c->mean[1], &c->m2[1], &c->both);
    double dx = x - c->mean[0], dy = y - c->mean[1];
    c->mean[0] += dx / n;
    c->mean[1] += dy / n;
    c->m2[0] += dx * (x - c->mean[0]);
    c->m2[1] += dy * (y - c->mean[1]);
    c->both += dx * (y - c->mean[1]);
}

bool correlation_get(const struct correlation *c, double *r)
{
    if (c->n < 2 || c->m2[0] == 0 || c->m2[1] == 0) return false;
    double p = c->m2[0] * c->m2[1];                      /* of a column with itself the root is exact */
    *r = c->both / (isnormal(p) ? sqrt(p) : sqrt(c->m2[0]) * sqrt(c->m2[1]));
    if (fabs(*r) > 1) *r = *r < 0 ? -1 : 1;              /* rounding */
    return true;
}

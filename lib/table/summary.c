/* summary.c - see summary.h */
#include "table/summary.h"
#include "base/compare.h"
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

void summary_add(struct summary *c, double v)
{
    double t = c->total + v, d = v - c->mean;
    c->lost += fabs(c->total) >= fabs(v) ? c->total - t + v : v - t + c->total;
    c->total = t;
    if (!c->n++) c->min = c->max = c->first = v;
    if (v < c->min) c->min = v;
    if (v > c->max) c->max = v;
    c->last = v;
    c->nan = c->nan || isnan(v);
    c->mean += d / (double)c->n;
    c->m2 += d * (v - c->mean);
    c->logs += log(v);
    if (!c->keep) return;
    c->value = grow(c->value, c->n, &c->cap, sizeof *c->value);
    c->value[c->n - 1] = v;
    c->sorted = false;
}

static double percentile(struct summary *c, double percent)
{
    if (!c->sorted) qsort(c->value, c->n, sizeof *c->value, order_doubles);
    c->sorted = true;
    double at = (double)(c->n - 1) * percent / 100;
    size_t i = (size_t)at;
    double part = at - (double)i;
    return part == 0 ? c->value[i] : c->value[i] + part * (c->value[i + 1] - c->value[i]);
}

bool summary_get(struct summary *c, enum statistic stat, double percent, double *v)
{
    double sum = isfinite(c->total) ? c->total + c->lost : c->total, n = (double)c->n;
    if (c->n < (stat == STAT_N || stat == STAT_SUM ? 0 : stat == STAT_SD ? 2 : 1)) return false;
    if (c->nan && stat != STAT_N) {
        *v = NAN;
        return true;
    }
    switch (stat) {
    case STAT_N: *v = n; break;
    case STAT_MEAN: *v = sum / n; break;
    case STAT_SUM: *v = sum; break;
    case STAT_MIN: *v = c->min; break;
    case STAT_MAX: *v = c->max; break;
    case STAT_SD: *v = sqrt(c->m2 / (n - 1)); break;
    case STAT_GMEAN: *v = exp(c->logs / n); break;
    case STAT_FIRST: *v = c->first; break;
    case STAT_LAST: *v = c->last; break;
    case STAT_MEDIAN: case STAT_PERCENTILE: *v = percentile(c, percent); break;
    }
    return true;
}

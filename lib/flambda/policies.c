/* policies.c - see policies.h */
#include "flambda/policies.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/mem.h"
#include "fit/dense.h"
#include "table/csvio.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct sample *s, double log_seconds)
{
    double d = log_seconds - s->mean;
    s->n++;
    s->mean += d / s->n;
    s->square += d * (log_seconds - s->mean);
}

static double variance(const struct sample *s)
{
    return s->n > 1 ? s->square / (s->n - 1) : NAN;
}

struct timing { uint32_t benchmark, policy; bool failed; double log_seconds; };

static struct timing *read_timings(char **paths, struct policies *p, const struct policies_options *o, size_t *n)
{
    struct timing *all = NULL;
    size_t cap = 0;
    csv *t = csv_files(paths);
    int benchmark = csv_need(t, "benchmark"), policy = csv_need(t, "policy"), repeat = csv_need(t, "repeat"),
        seconds = csv_need(t, "seconds");
    for (*n = 0; csv_next(t);) {
        all = grow(all, *n + 1, &cap, sizeof *all);
        struct timing *k = &all[*n];
        *k = (struct timing){ intern(&p->benchmark, csv_str(t, benchmark)), intern(&p->policy, csv_str(t, policy)),
                              !csv_has(t, seconds), 0 };
        if (!k->failed) {
            double s = csv_num(t, seconds);
            int64_t r = csv_int(t, repeat);
            if (!(s > 0)) csv_die(t, seconds, "a positive time");
            if (o->only ? r != o->only : r <= o->drop) continue;
            k->log_seconds = log(s);
        }
        ++*n;
    }
    csv_close(t);
    return all;
}

static void read_initial(struct policies *p, const char *path)
{
    char *paths[2] = { xstrdup(path), NULL };
    struct counters k = counters_read(paths);
    for (size_t i = 0; i < k.n; i++) {
        long b = intern_find(&p->benchmark, str_of(k.table[i].benchmark));
        if (b < 0) continue;
        for (size_t r = 0; r < k.table[i].n; r++) {
            double s = k.table[i].row[r].seconds;
            if (k.table[i].row[r].initial) add(&p->initial[b], log(s));
            if (!(s >= p->best[b])) p->best[b] = s;
        }
    }
    free(paths[0]);
}

static void choose_base(struct policies *p, size_t b, const struct policies_options *o)
{
    const struct sample *reference = p->reference < 0 ? NULL : &p->cell[b * p->policy.n + (size_t)p->reference];
    const struct sample *initial = &p->initial[b];
    if (reference && !reference->n) reference = NULL;
    if (!initial->n) initial = NULL;
    if (o->base == BASE_POLICY) initial = NULL;
    if (o->base == BASE_INITIAL) reference = NULL;
    if (!reference && !initial) return;                  /* n stays 0: no saving is known */
    p->base[b] = !reference || (initial && initial->mean <= reference->mean) ? *initial : *reference;
}

struct policies policies_read(char **timings, const char *counters, const struct policies_options *o)
{
    struct policies p = { 0 };
    size_t n;
    struct timing *all = read_timings(timings, &p, o, &n);
    size_t benchmarks = p.benchmark.n, policies = p.policy.n;
    p.cell = xcalloc(size_mul(benchmarks, policies) + 1, sizeof *p.cell);
    p.base = xcalloc(2 * benchmarks + 1, sizeof *p.base);
    p.initial = p.base + benchmarks;
    p.best = xmalloc(benchmarks + 1, sizeof *p.best);
    for (size_t b = 0; b < benchmarks; b++) p.best[b] = NAN;
    for (size_t i = 0; i < n; i++) {
        struct sample *s = &p.cell[all[i].benchmark * policies + all[i].policy];
        s->seen = true;
        if (!all[i].failed) add(s, all[i].log_seconds);
    }
    free(all);
    p.reference = intern_find(&p.policy, str_of(o->reference));
    if (counters) read_initial(&p, counters);
    for (size_t b = 0; b < benchmarks; b++) {
        choose_base(&p, b, o);
        p.without_base += !p.base[b].n;
    }
    return p;
}

struct saving policies_saving(const struct policies *p, size_t b, size_t policy, double confidence)
{
    const struct sample *own = &p->cell[b * p->policy.n + policy], *base = &p->base[b];
    struct saving s = { own->n > 0 && base->n > 0, NAN, NAN, NAN, NAN, NAN, own->n, base->n, NAN, NAN, NAN };
    if (base->n > 0) s.baseline = exp(base->mean);
    if (own->n > 0) s.seconds = exp(own->mean);
    if (!s.known) return s;
    double d = own->mean - base->mean, u = variance(own) / own->n, v = variance(base) / base->n;
    s.saved = -expm1(d);
    if (!(u + v > 0)) return s;
    dense_begin();
    s.t = d / sqrt(u + v);
    s.df = (u + v) * (u + v) / (u * u / (own->n - 1) + v * v / (base->n - 1));
    s.p = 2 * gsl_cdf_tdist_Q(fabs(s.t), s.df);
    double half = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, s.df) * sqrt(u + v);
    s.lower = -expm1(d + half);
    s.upper = -expm1(d - half);
    return s;
}

struct policy_summary policies_summary(const struct policies *p, size_t policy, const bool *in, double margin)
{
    struct policy_summary s = { .q1 = NAN, .median = NAN, .q3 = NAN, .min = NAN, .max = NAN, .gmean = NAN };
    double *saved = xmalloc(p->benchmark.n + 1, sizeof *saved), logs = 0;
    for (size_t b = 0; b < p->benchmark.n; b++) {
        struct saving k = policies_saving(p, b, policy, 0.95);
        if (!in[b] || !k.known) continue;
        saved[s.n++] = k.saved;
        logs += log(k.baseline / k.seconds);
        s.n_bad += k.saved < -margin;
        s.n_good += k.saved > margin;
        s.n_none += !(k.saved < -margin) && !(k.saved > margin);
    }
    if (s.n) {
        qsort(saved, s.n, sizeof *saved, order_doubles);
        s.q1 = saved[s.n / 4];
        s.median = saved[s.n / 2];
        s.q3 = saved[3 * s.n / 4];
        s.min = saved[0];
        s.max = saved[s.n - 1];
        s.gmean = exp(logs / (double)s.n);
    }
    free(saved);
    return s;
}

double *policies_regret(const struct policies *p, const bool *single)
{
    size_t n = p->policy.n;
    double *regret = xmalloc(size_mul(p->benchmark.n, n) + 1, sizeof *regret);
    for (size_t b = 0; b < p->benchmark.n; b++) {
        double top = -INFINITY, least = INFINITY;
        for (size_t k = 0; k < n; k++) {
            struct saving s = policies_saving(p, b, k, 0.95);
            if (!single[k] || !s.known) continue;
            top = fmax(top, s.saved);
            least = fmin(least, s.saved);
        }
        for (size_t k = 0; k < n; k++) {
            struct saving s = policies_saving(p, b, k, 0.95);
            regret[b * n + k] = !s.known || isinf(top) ? NAN : top > least ? (top - s.saved) / (top - least) : 0;
        }
    }
    return regret;
}

double policies_set_regret(const struct policies *p, const double *regret, const size_t *set, size_t k, const bool *in)
{
    double sum = 0, n = 0;
    for (size_t b = 0; b < p->benchmark.n; b++) {
        double least = INFINITY;
        for (size_t i = 0; i < k; i++) least = fmin(least, regret[b * p->policy.n + set[i]]);
        if (!in[b] || isinf(least)) continue;
        sum += least;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

size_t policies_greedy(const struct policies *p, const double *regret, const bool *single, const bool *in, size_t k,
                       size_t *picked, double *mean)
{
    size_t n = 0;
    for (bool found = true; n < k && found;) {
        size_t best = 0;
        double least = INFINITY;
        found = false;
        for (size_t c = 0; c < p->policy.n; c++) {
            bool taken = !single[c];
            for (size_t i = 0; i < n; i++) taken = taken || picked[i] == c;
            if (taken) continue;
            picked[n] = c;
            double r = policies_set_regret(p, regret, picked, n + 1, in);
            if (!(r < least)) continue;
            least = r;
            best = c;
            found = true;
        }
        if (!found) break;
        picked[n] = best;
        mean[n++] = least;
    }
    return n;
}

double policies_missed(const struct policies *p, size_t b, size_t policy)
{
    struct saving s = policies_saving(p, b, policy, 0.95);
    return (s.seconds - p->best[b]) / (s.baseline - p->best[b]);
}

long policies_star(const struct policies *p, size_t b)
{
    long star = -1;
    double least = INFINITY;
    for (size_t k = 0; k < p->policy.n; k++) {
        const struct sample *own = &p->cell[b * p->policy.n + k];
        if (!own->n || !(own->mean < least) || (long)k == p->reference) continue;
        least = own->mean;
        star = (long)k;
    }
    return star;
}

long policies_general(const struct policies *p)
{
    long general = -1;
    double least = INFINITY;
    for (size_t k = 0; k < p->policy.n; k++) {
        double sum = 0;
        bool whole = (long)k != p->reference;
        for (size_t b = 0; b < p->benchmark.n; b++) {
            if (isnan(p->best[b]) || !p->base[b].n) continue;
            whole = whole && p->cell[b * p->policy.n + k].n > 0;
            sum += fmax(0, policies_missed(p, b, k));
        }
        if (!whole || !(sum < least)) continue;
        least = sum;
        general = (long)k;
    }
    return general;
}

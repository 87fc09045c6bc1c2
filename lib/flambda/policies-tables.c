/* policies-tables.c - see policies-tables.h */
#include "flambda/policies-tables.h"
#include "base/mem.h"
#include "fit/data.h"
#include <math.h>
#include <stdlib.h>

static const char *const set_name[SETS] = { "train", "test", "own", "all" };

struct sets sets_read(const char *path, const struct policies *p)
{
    struct sets s;
    for (int k = 0; k < SETS; k++) s.in[k] = xcalloc(p->benchmark.n + 1, sizeof(bool));
    for (size_t b = 0; b < p->benchmark.n; b++) s.in[SETS - 1][b] = true;
    if (!path) return s;
    csv *t = csv_open(path);
    int benchmark = csv_need(t, "benchmark"), set = csv_need(t, "set");
    while (csv_next(t)) {
        int k = 0;
        while (k < SETS - 1 && !str_is(csv_str(t, set), set_name[k])) k++;
        if (k == SETS - 1) csv_die(t, set, "train, test or own");
        long b = intern_find(&p->benchmark, csv_str(t, benchmark));
        if (b >= 0) s.in[k][b] = true;
    }
    csv_close(t);
    return s;
}

static void head(csvw *w, const char *names)
{
    csvw_names(w, names);
    csvw_end(w);
}

void write_savings(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    (void)s;
    head(w, "policy,benchmark,baseline_seconds,seconds,saved_ratio,lower_ratio,upper_ratio");
    for (size_t k = 0; k < p->policy.n; k++)
        for (size_t b = 0; b < p->benchmark.n; b++) {
            if (!p->cell[b * p->policy.n + k].seen) continue;
            struct saving v = policies_saving(p, b, k, o->confidence);
            csvw_str(w, p->policy.name[k]);
            csvw_str(w, p->benchmark.name[b]);
            csvw_known(w, v.baseline);
            csvw_known(w, v.seconds);
            csvw_known(w, v.saved);
            csvw_known(w, v.lower);
            csvw_known(w, v.upper);
            csvw_end(w);
        }
}

void write_summary(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    head(w, "policy,set,n,q1,median,q3,min,max,n_bad,n_none,n_good,gmean_ratio");
    for (size_t k = 0; k < p->policy.n; k++)
        for (int set = 0; set < SETS; set++) {
            struct policy_summary v = policies_summary(p, k, s->in[set], o->margin);
            csvw_str(w, p->policy.name[k]);
            csvw_cstr(w, set_name[set]);
            csvw_int(w, (int64_t)v.n);
            csvw_known(w, v.q1);
            csvw_known(w, v.median);
            csvw_known(w, v.q3);
            csvw_known(w, v.min);
            csvw_known(w, v.max);
            csvw_int(w, (int64_t)v.n_bad);
            csvw_int(w, (int64_t)v.n_none);
            csvw_int(w, (int64_t)v.n_good);
            csvw_known(w, v.gmean);
            csvw_end(w);
        }
}

void write_welch(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    (void)s;
    head(w, "policy,benchmark,n,n_baseline,t,df,p_value,verdict");
    for (size_t k = 0; k < p->policy.n; k++)
        for (size_t b = 0; b < p->benchmark.n; b++) {
            struct saving v = policies_saving(p, b, k, o->confidence);
            if ((long)k == p->reference || !p->cell[b * p->policy.n + k].seen) continue;
            csvw_str(w, p->policy.name[k]);
            csvw_str(w, p->benchmark.name[b]);
            csvw_num(w, v.n);
            csvw_num(w, v.n_base);
            csvw_known(w, v.t);
            csvw_known(w, v.df);
            csvw_known(w, v.p);
            csvw_cstr(w, !v.n                ? "failed"
                         : !v.n_base         ? "no baseline"
                         : !(v.p < o->alpha) ? "unclear"
                         : v.t < 0           ? "faster"
                                             : "slower");
            csvw_end(w);
        }
}

void write_best(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    (void)s;
    head(w, "benchmark,policy,saved_ratio");
    for (size_t b = 0; b < p->benchmark.n; b++) {
        long k = policies_star(p, b);
        csvw_str(w, p->benchmark.name[b]);
        csvw_str(w, k < 0 ? (str){ 0 } : p->policy.name[k]);
        csvw_known(w, k < 0 ? NAN : policies_saving(p, b, (size_t)k, o->confidence).saved);
        csvw_end(w);
    }
}

/* which policies compete: not the baseline, not those named as committees */
static bool *singles(const struct policies *p, const struct tables_options *o)
{
    bool *single = xmalloc(p->policy.n + 1, sizeof *single);
    for (size_t k = 0; k < p->policy.n; k++)
        single[k] = (long)k != p->reference && !data_matches(&o->not_single, p->policy.name[k], &p->policy);
    return single;
}

void write_regret(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    (void)s;
    bool *single = singles(p, o);
    double *regret = policies_regret(p, single);
    head(w, "policy,benchmark,regret_ratio");
    for (size_t k = 0; k < p->policy.n; k++)
        for (size_t b = 0; b < p->benchmark.n && (long)k != p->reference; b++) {
            csvw_str(w, p->policy.name[k]);
            csvw_str(w, p->benchmark.name[b]);
            csvw_known(w, regret[b * p->policy.n + k]);
            csvw_end(w);
        }
    free(single);
    free(regret);
}

void write_greedy(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    bool *single = singles(p, o), *rest = xcalloc(p->benchmark.n + 1, sizeof *rest);
    double *regret = policies_regret(p, single), *mean = xmalloc((size_t)o->greedy, sizeof *mean);
    size_t *picked = xmalloc((size_t)o->greedy, sizeof *picked);
    head(w, "set,k,policy,mean_ratio,other_ratio");
    for (int set = 0; set < SETS; set++) {
        bool any = false;
        for (size_t b = 0; b < p->benchmark.n; b++) {
            any = any || s->in[set][b];
            rest[b] = set == 0 ? s->in[1][b] : set == 1 ? s->in[0][b] : !s->in[set][b];
        }
        size_t n = any ? policies_greedy(p, regret, single, s->in[set], (size_t)o->greedy, picked, mean) : 0;
        for (size_t i = 0; i < n; i++) {
            csvw_cstr(w, set_name[set]);
            csvw_int(w, (int64_t)i + 1);
            csvw_str(w, p->policy.name[picked[i]]);
            csvw_num(w, mean[i]);
            csvw_known(w, policies_set_regret(p, regret, picked, i + 1, rest));
            csvw_end(w);
        }
    }
    free_all(single, rest, regret, mean, picked);
}

static void write_choice(const struct policies *p, const char *choice, size_t b, long k, csvw *w)
{
    struct saving v = policies_saving(p, b, (size_t)k, 0.95);
    csvw_cstr(w, choice);
    csvw_str(w, p->benchmark.name[b]);
    csvw_str(w, p->policy.name[k]);
    csvw_known(w, v.seconds);
    csvw_known(w, v.saved);
    csvw_known(w, policies_missed(p, b, (size_t)k));
    csvw_end(w);
}

void write_select(const struct policies *p, const struct sets *s, const struct tables_options *o, csvw *w)
{
    (void)s;
    long general = policies_general(p), hand = o->hand ? intern_find(&p->policy, str_of(o->hand)) : -1;
    if (o->hand && hand < 0) die("no timings of policy '%s'", o->hand);
    head(w, "choice,benchmark,policy,seconds,saved_ratio,missed_ratio");
    for (size_t b = 0; b < p->benchmark.n; b++) {
        long star = policies_star(p, b);
        if (star >= 0) write_choice(p, "star", b, star, w);
        if (general >= 0) write_choice(p, "general", b, general, w);
        if (hand >= 0) write_choice(p, "hand", b, hand, w);
    }
}

#include "measure/inputs.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void inputs_names(csvw *w)
{
    csvw_names(w, "program,label,base,decision,reason,inputs,rounds,ratio,lower_ratio,upper_ratio,worst,worst_ratio,"
                  "worst_lower_ratio,worst_upper_ratio,text_ratio,kind");
    csvw_end(w);
}

static void write_interval(csvw *w, struct interval log_ratio)
{
    csvw_known(w, exp(log_ratio.point));
    csvw_known(w, exp(log_ratio.lower));
    csvw_known(w, exp(log_ratio.upper));
}

/* one label of one program: the inputs are benchmark[0..n-1] */
static void guard(csvw *w, const struct runs *r, str program, const size_t *benchmark, size_t n, size_t base,
                  size_t label, const struct inputs_rule *rule)
{
    struct paired worst = { 0 };
    size_t rounds = SIZE_MAX, at = 0, errors = 0, least = guard_least(1, &rule->guard);
    struct pairs *p = xcalloc(n, sizeof *p);
    bool slower = false;
    double shared = 1 - (1 - rule->guard.confidence) / (double)n, text = NAN;
    if (rule->sizes) text = size_ratio(rule->sizes, program, (long)label, (long)base);
    for (size_t i = 0; i < n; i++) {
        p[i] = runs_pairs(r, &r->main[benchmark[i]], base, label);
        errors += p[i].errors;
        if (p[i].n < rounds) rounds = p[i].n;
        struct paired one = paired_compare(p[i].upper, NULL, NULL, p[i].n, shared, false);
        slower = slower || one.log_ratio.lower > log1p(rule->most_loss);
        if (i == 0 || one.log_ratio.point > worst.log_ratio.point) {
            worst = one;
            at = i;
        }
    }
    double *d = xcalloc(rounds + 1, sizeof *d);
    for (size_t k = 0; k < rounds; k++)
        for (size_t i = 0; i < n; i++) d[k] += p[i].upper[k] / (double)n;   /* a timeout is infinitely slow */
    struct guarded g = guard_decide(d, rounds, 1, &rule->guard);
    const char *reason = errors ? "failed" : rounds < least ? "too few rounds"
                       : rule->sizes && !(text < 1) ? "not smaller" : !g.keep ? "no sure gain"
                       : slower ? "slower on an input" : "gain";
    csvw_str(w, program);
    csvw_str(w, r->label.name[label]);
    csvw_str(w, r->label.name[base]);
    csvw_str(w, r->label.name[strcmp(reason, "gain") == 0 ? label : base]);
    csvw_cstr(w, reason);
    csvw_int(w, (int64_t)n);
    csvw_int(w, (int64_t)rounds);
    write_interval(w, g.confirmation.log_ratio);
    csvw_str(w, r->benchmark.name[benchmark[at]]);
    write_interval(w, worst.log_ratio);
    csvw_known(w, text);
    kind_write(w, r->kinds);
    csvw_end(w);
    for (size_t i = 0; i < n; i++) pairs_free(&p[i]);
    free(p);
    free(d);
}

void inputs_guard(csvw *w, const struct runs *r, size_t base, struct inputs_rule rule)
{
    rule.guard.least_gain = rule.most_loss > 0 ? expm1(-log1p(rule.most_loss)) : 0;
    size_t *mine = xcalloc(r->benchmark.n + 1, sizeof *mine);
    struct intern seen = { 0 };
    for (size_t b = 0; b < r->benchmark.n; b++) {
        str program = sizes_program(r->benchmark.name[b]);
        size_t before = seen.n, n = 0;
        if (intern(&seen, program) < before) continue;
        for (size_t k = b; k < r->benchmark.n; k++)
            if (str_eq(sizes_program(r->benchmark.name[k]), program)) mine[n++] = k;
        for (size_t l = 0; l < r->label.n; l++) {
            bool any = false;
            for (size_t k = 0; k < n && l != base && !any; k++) {
                struct pairs p = runs_pairs(r, &r->main[mine[k]], base, l);
                any = p.n + p.errors > 0;
                pairs_free(&p);
            }
            if (any) guard(w, r, program, mine, n, base, l, &rule);
        }
    }
    free(mine);
    intern_free(&seen);
}

/* inline-guard - keep a program only where all its inputs together surely gain
 *
 * Usage: inline-guard --base=LABEL [--most-loss=X] [--sizes=FILE] [FILE]...
 *
 * Columns in: those of bench-run, benchmark being PROGRAM.INPUT.  A round's
 * value is the mean, over the program's inputs, of the logarithm of the ratio
 * to the base.  Even rounds decide, odd rounds say what it is worth.  A label
 * is kept where the one-sided upper bound of the mean lies below 1, or with
 * --most-loss=0.01 below 1.01, and no single input is surely slower (by all
 * rounds, the chance of an error shared among the inputs) than that.  With
 * --sizes, a table of bench-count, it must have less text_bytes than the base
 * too.
 *
 * Columns out: program, label, base, decision (the label that goes out),
 * reason (gain, no sure gain, slower on an input, not smaller, failed, or
 * too few rounds), inputs, rounds, ratio, lower_ratio, upper_ratio (of the
 * mean, in the odd rounds), worst (the input with the highest ratio),
 * worst_ratio, worst_lower_ratio, worst_upper_ratio, text_ratio, kind.
 * Order: first appearance.  Memory: all rows.
 *
 * Examples:
 *   $ inline-guard --base=lto-pgo runs.csv
 *   $ inline-guard --base=lto-pgo --most-loss=0.01 --sizes=exact.csv runs.csv
 */
#include "base/filter.h"
#include "inline/sizes.h"
#include HELP
#include "measure/guard.h"
#include "measure/runs.h"
#include "table/csvio.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name, *metric, *sizes;
static struct guard rule = { .confidence = 0.95 };
static double most_loss;
static const struct opt options[] = {
    { 'b', "base", STR, &base_name, "LABEL", "the default" },
    METRIC_OPTION(metric),
    CONFIDENCE_OPTION(rule.confidence, "of being no loss"),
    { 0, "most-loss", NUM, &most_loss, "X", "keep what surely loses less than so much", 0, 0.5 },
    { 0, "sizes", STR, &sizes, "FILE", "exact costs: it must be smaller too" },
    { 0 } };

static struct sizes text;

/* one label of one program: the inputs are benchmark[0..n-1] */
static void decide(csvw *w, const struct runs *r, str program, const size_t *benchmark, size_t n, long base, long label)
{
    struct paired worst = { 0 };
    size_t rounds = SIZE_MAX, at = 0, errors = 0;
    struct pairs *p = xcalloc(n, sizeof *p);
    bool slower = false;
    double shared = 1 - (1 - rule.confidence) / (double)n, ratio = size_ratio(&text, program, label, base);
    for (size_t i = 0; i < n; i++) {
        p[i] = runs_pairs(r, &r->main[benchmark[i]], (size_t)base, (size_t)label);
        errors += p[i].errors;
        if (p[i].n < rounds) rounds = p[i].n;
        struct paired one = paired_compare(p[i].upper, NULL, NULL, p[i].n, shared, false);
        slower = slower || one.log_ratio.lower > log1p(most_loss);
        if (i == 0 || one.log_ratio.point > worst.log_ratio.point) {
            worst = one;
            at = i;
        }
    }
    double *d = xcalloc(rounds + 1, sizeof *d);
    for (size_t k = 0; k < rounds; k++)
        for (size_t i = 0; i < n; i++) d[k] += p[i].upper[k] / (double)n;   /* a timeout is infinitely slow */
    struct guarded g = guard_decide(d, rounds, GUARD_PARITY, 1, &rule);
    const char *reason = errors ? "failed" : rounds < guard_least(GUARD_PARITY, 1, &rule) ? "too few rounds"
                       : sizes && !(ratio < 1) ? "not smaller" : !g.keep ? "no sure gain"
                       : slower ? "slower on an input" : "gain";
    bool keep = strcmp(reason, "gain") == 0;
    csvw_str(w, program);
    csvw_str(w, r->label.name[label]);
    csvw_cstr(w, base_name);
    csvw_str(w, r->label.name[keep ? label : base]);
    csvw_cstr(w, reason);
    csvw_int(w, (int64_t)n);
    csvw_int(w, (int64_t)rounds);
    const struct interval mean = g.confirmation.log_ratio;
    csvw_known(w, exp(mean.point));
    csvw_known(w, exp(mean.lower));
    csvw_known(w, exp(mean.upper));
    csvw_str(w, r->benchmark.name[benchmark[at]]);
    csvw_known(w, exp(worst.log_ratio.point));
    csvw_known(w, exp(worst.log_ratio.lower));
    csvw_known(w, exp(worst.log_ratio.upper));
    csvw_known(w, ratio);
    kind_write(w, r->kinds);
    csvw_end(w);
    for (size_t i = 0; i < n; i++) pairs_free(&p[i]);
    free(p);
    free(d);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!base_name) usage("no default given, see --base");
    rule.least_gain = most_loss > 0 ? expm1(-log1p(most_loss)) : 0;
    struct runs *r = runs_read(argv + i, &(struct runs_options){ .metric = metric });
    long base = runs_label(r, base_name);
    if (base < 0) die("no label '%s' in the input", base_name);
    if (sizes) sizes_read(&text, sizes, &r->label);
    csvw *w = csvw_fd(1);
    csvw_names(w, "program,label,base,decision,reason,inputs,rounds,ratio,lower_ratio,upper_ratio,worst,worst_ratio,"
                  "worst_lower_ratio,worst_upper_ratio,text_ratio,kind");
    csvw_end(w);
    size_t *mine = xcalloc(r->benchmark.n + 1, sizeof *mine);
    struct intern seen = { 0 };
    for (size_t b = 0; b < r->benchmark.n; b++) {
        str program = sizes_program(r->benchmark.name[b]);
        size_t before = seen.n, n = 0;
        if (intern(&seen, program) < before) continue;
        for (size_t k = b; k < r->benchmark.n; k++)
            if (str_eq(sizes_program(r->benchmark.name[k]), program)) mine[n++] = k;
        for (size_t l = 0; l < r->label.n; l++) {
            struct pairs any = runs_pairs(r, &r->main[b], (size_t)base, l);
            if (l != (size_t)base && any.n + any.errors) decide(w, r, program, mine, n, base, (long)l);
            pairs_free(&any);
        }
    }
    free(mine);
    runs_free(r);
    return csvw_close(w);
}

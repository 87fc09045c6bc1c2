/* flambda-label - turn rewards into classes: inline, apply or doesnt_matter
 *
 * Usage: flambda-label --rule=lasso|ridge [OPTION]... [FILE]...
 *
 * Columns in: long_term, no_inline. Columns out: the same ones and label.
 * Rows that lack either reward are dropped, with --all their label is empty.
 * lasso: a reward below 1e-8 in size counts as nothing; the larger of two
 * that count, the sign of the only one, doesnt_matter when none counts.
 * ridge: doesnt_matter when they differ by less than tau, else the larger.
 * With --count a table of shares instead: rule, tau, n_rows, doesnt_matter,
 * inline, apply (counts) and the three as ratios. Order is kept. Constant
 * memory.
 *
 * Examples:
 *   $ flambda-label --rule=ridge --tau=0.0005 labelled.csv > classes.csv
 *   $ flambda-label --rule=ridge -T 0.00001 -T 0.01 --count labelled.csv
 */
#include "flambda/pairs.h"
#include "base/filter.h"
#include "base/num.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <string.h>

enum { TAUS = 64 };
static const char *output;
static enum { NONE = -1, LASSO, RIDGE } rule = NONE;
static struct list tau_text;
static bool all, count;
static double tau[TAUS];
static const struct opt options[] = {
    { 0, "rule", WORD, &rule, "lasso|ridge", "how to decide" },
    { 'T', "tau", LIST, &tau_text, "X", "ridge: smallest difference that matters [0.0005]; many with --count" },
    { 0, "all", FLAG, &all, NULL, "keep rows that lack a reward" },
    { 0, "count", FLAG, &count, NULL, "write the shares of the classes" },
    OUTPUT_OPTION(output),
    { 0 } };

static enum label label_of(struct reward r, double t)
{
    return rule == LASSO ? label_lasso(r) : label_ridge(r, t);
}

static int shares(csv *in, int l, int c, int n_tau)
{
    static size_t n[TAUS][LABELS];
    size_t rows = 0;
    while (csv_next(in)) {
        struct reward r = { NAN, csv_num_or(in, l, NAN), csv_num_or(in, c, NAN) };
        if (isnan(r.long_term) || isnan(r.no_inline)) continue;
        rows++;
        for (int k = 0; k < n_tau; k++) n[k][label_of(r, tau[k])]++;
    }
    csv_close(in);
    csvw *out = csvw_open(output);
    csvw_names(out, "rule,tau,n_rows,doesnt_matter,inline,apply,doesnt_matter_ratio,inline_ratio,apply_ratio");
    csvw_end(out);
    for (int k = 0; k < n_tau; k++) {
        csvw_cstr(out, option_word(&rule));
        csvw_known(out, rule == LASSO ? NAN : tau[k]);
        csvw_int(out, (int64_t)rows);
        for (int i = 0; i < LABELS; i++) csvw_int(out, (int64_t)n[k][i]);
        for (int i = 0; i < LABELS; i++) csvw_known(out, rows ? (double)n[k][i] / (double)rows : NAN);
        csvw_end(out);
    }
    return csvw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options), n_tau = 1;
    if (rule == NONE) usage("no rule given, see --rule");
    if (tau_text.n > TAUS) usage("more than %d values of tau", TAUS);
    if (tau_text.n && rule == LASSO) usage("--tau is for --rule=ridge");
    if (tau_text.n > 1 && !count) usage("many values of tau need --count");
    tau[0] = 0.0005;
    for (int k = 0; k < tau_text.n; k++, n_tau = k)
        if (!num_parse(tau_text.v[k], strlen(tau_text.v[k]), &tau[k]) || !(tau[k] >= 0))
            usage("tau '%s' is not a number from 0 on", tau_text.v[k]);
    csv *in = csv_files(argv + i);
    int l = csv_need(in, "long_term"), c = csv_need(in, "no_inline");
    if (count) return shares(in, l, c, n_tau);
    csvw *out = csvw_open(output);
    csvw_copy_names(out, in);
    csvw_names(out, "label");
    csvw_end(out);
    while (csv_next(in)) {
        struct reward r = { NAN, csv_num_or(in, l, NAN), csv_num_or(in, c, NAN) };
        bool known = !isnan(r.long_term) && !isnan(r.no_inline);
        if (!known && !all) continue;
        csvw_copy_all(out, in);
        csvw_cstr(out, known ? label_names[label_of(r, tau[0])] : NULL);
        csvw_end(out);
    }
    csv_close(in);
    return csvw_close(out);
}

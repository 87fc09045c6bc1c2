/* inline-reward - what every inlining decision is worth, learned from runs
 *
 * Usage: inline-reward --times=TIMES.csv [OPTION]... [PROBLEM.csv]
 *
 * Fits w to the problem of inline-problem: for every run, the sum of factor
 * times w over the decisions taken explains the target, a speed-up. Ridge
 * gives a unique answer; lasso few non-zero ones, with --alpha=auto by the
 * hold-out of the original study (first fifth of the runs) and --alpha=cv by
 * 5-fold cross-validation over groups of runs.
 *
 * Columns out, one row for each node: site, immediate (value of inlining
 * here), no_inline (value of calling), empty where no run did so; n_inlined,
 * n_apply (runs); for both values lower, upper (bootstrap over groups of
 * runs), known (part of the value that the runs determine, from 0 to 1) and
 * twins (number shared by decisions that always went together, so that only
 * their sum is known); callee. Memory: the problem, plus distinct runs
 * squared up to 3000 of them, beyond which known is empty.
 *
 * FILE of --report gets key,value: n_runs n_groups n_distinct n_nodes
 * n_columns rank n_twins mse r_squared objective optimality nonzeros lambda
 * or alpha and validation_r_squared.
 *
 * Examples:
 *   $ inline-reward --times=times.csv --lambda=0.05 problem.csv > rewards.csv
 *   $ inline-reward --method=lasso --times=times.csv problem.csv > r.csv
 */
#include "decisions/reward.h"
#include "base/filter.h"
#include HELP
#include "measure/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *times_path, *output, *report_path,
                                                      *alpha_text = "auto";
static enum problem_target target = LINEAR_OVER_MEAN;
static enum { RIDGE, LASSO } method = RIDGE;
static double lambda = 0.05, alpha, confidence = 0.95, validation = NAN;
static long samples = 200, seed = 1;
static const struct opt options[] = {
    { 0, "times", STR, &times_path, "FILE", "table of times" },
    { 0, "method", WORD, &method, "ridge|lasso", "how to fit" },
    { 0, "lambda", NUM, &lambda, "X", "ridge: weight of |w|^2", 1e-300, 1e300 },
    { 'a', "alpha", STR, &alpha_text, "X", "lasso: weight of |w|_1, auto (hold-out) or cv" },
    { 0, "target", WORD, &target, TARGETS, "what to explain" },
    { 'n', "samples", INT, &samples, "N", "bootstrap samples; 0: no intervals", 0, 1e6 },
    CONFIDENCE_OPTION(confidence, "of the two-sided intervals"),
    { 's', "seed", INT, &seed, "N", "seed of the bootstrap" },
    { 0, "report", STR, &report_path, "FILE", "write what is known of the fit here" },
    OUTPUT_OPTION(output),
    { 0 } };

static struct sparse_problem p;
static struct reward_values v;

static void item(csvw *out, const char *key, double value)
{
    csvw_cstr(out, key);
    csvw_known(out, value);
    csvw_end(out);
}

static void report(bool ridge)
{
    struct map64 seen = { 0 };
    for (size_t r = 0; r < p.a.rows; r++) *map64_at(&seen, p.runs[r].group) = 1;
    csvw *out = csvw_open(report_path);
    csvw_names(out, "key,value");
    csvw_end(out);
    item(out, "n_runs", (double)p.a.rows);
    item(out, "n_groups", (double)seen.n);
    map64_free(&seen);
    item(out, "n_distinct", (double)v.distinct);
    item(out, "n_nodes", (double)p.node.n);
    item(out, "n_columns", (double)problem_columns(&p));
    item(out, "rank", v.ranked ? (double)v.rank : NAN);
    item(out, "n_twins", (double)v.n_twins);
    item(out, "mse", v.fit.mse);
    item(out, "r_squared", v.fit.r_squared);
    item(out, "objective", v.fit.objective);
    item(out, "optimality", v.fit.optimality);
    item(out, "nonzeros", (double)v.fit.nonzeros);
    item(out, ridge ? "lambda" : "alpha", ridge ? lambda : alpha);
    if (!ridge) item(out, "validation_r_squared", validation);
    csvw_close(out);
}

static void value(csvw *out, bool used, double x)
{
    csvw_known(out, used ? x : NAN);
}

static int rows(void)
{
    csvw *out = csvw_open(output);
    csvw_names(out, "site,immediate,no_inline,n_inlined,n_apply,immediate_lower,immediate_upper,immediate_known,"
                    "immediate_twins,no_inline_lower,no_inline_upper,no_inline_known,no_inline_twins,callee");
    csvw_end(out);
    for (size_t i = 0; i < p.node.n; i++) {
        size_t used[] = { p.info[i].n_inlined, p.info[i].n_apply };
        csvw_str(out, p.node.name[i]);
        for (int k = 0; k < 2; k++) value(out, used[k], v.w[2 * i + (size_t)k]);
        for (int k = 0; k < 2; k++) csvw_int(out, (int64_t)used[k]);
        for (int k = 0; k < 2; k++) {
            size_t j = 2 * i + (size_t)k;
            value(out, used[k], v.lower[j]);
            value(out, used[k], v.upper[j]);
            value(out, used[k] && v.ranked, round(v.known[j] * 1e9) / 1e9);
            value(out, used[k], v.twins[j]);
        }
        if (p.info[i].callee == NAME_NONE) csvw_empty(out);
        else csvw_str(out, p.text.name[p.info[i].callee]);
        csvw_end(out);
    }
    return csvw_close(out);
}

static void choose_alpha(void)
{
    char *end;
    bool hold_out = strcmp(alpha_text, "auto") == 0;
    if (hold_out || strcmp(alpha_text, "cv") == 0) {
        alpha = reward_alpha(&p, v.b, hold_out, &validation);
        return;
    }
    alpha = strtod(alpha_text, &end);
    if (*end || !(alpha > 0)) usage("--alpha is auto, cv or a positive number, not '%s'", alpha_text);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!times_path) usage("no table of times given, see --times");
    csv *entries = csv_open(filter_operand(argc, argv, i)), *times = csv_open(times_path);
    problem_read(&p, entries, times);
    csv_close(entries);
    csv_close(times);
    bool ridge = method == RIDGE;
    v.b = xmalloc(p.a.rows, sizeof *v.b);
    problem_target(&p, target, NULL, v.b);
    if (!ridge) choose_alpha();
    reward_learn(&p, target, ridge ? lambda : 0, alpha, samples, confidence, (uint64_t)seed, &v);
    if (report_path) report(ridge);
    return rows();
}

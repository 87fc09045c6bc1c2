/* flambda-policies - policies against the baseline: savings, tests, regret
 *
 * Usage: flambda-policies [--table=WORD] [options] [FILE]...
 *
 * Columns in: benchmark, policy, repeat, seconds (see flambda-results; empty
 * seconds: it failed); --initial adds the initial runs and the best time of
 * flambda-counters.  The baseline of a benchmark is the lesser geometric mean
 * of the baseline policy and the initial runs, or one of them (--base).
 * Out, by --table:
 *   savings  policy, benchmark, baseline_seconds, seconds, saved_ratio,
 *            lower_ratio, upper_ratio: Welch interval on the logarithms
 *   summary  policy, set, n, q1, median, q3, min, max, n_bad, n_none, n_good,
 *            gmean_ratio: saved_ratio over the sets; bad and good are beyond
 *            the margin, quartiles sorted[floor(q n)], gmean of baseline/time
 *   welch    policy, benchmark, n, n_baseline, t, df, p_value, verdict
 *   best     benchmark, policy, saved_ratio: chosen afterwards, so too good
 *   regret   policy, benchmark, regret_ratio: (most - own) / (most - least)
 *            of the savings of all policies but those of --not-single
 *   greedy   set, k, policy, mean_ratio, other_ratio: sets that grow by the
 *            policy that lowers the mean regret on the set; other: elsewhere
 *   select   choice, benchmark, policy, seconds, saved_ratio, missed_ratio:
 *            star (best per benchmark), general (least sum of missed), hand
 *   select and best report a choice on the timings it was chosen by.
 * --sets names a table of benchmark and set.  A policy that failed stays in
 * with empty values.  Memory: one cell per benchmark and policy.
 *
 * Examples:
 *   $ flambda-policies --sets=data/flambda-benchmarks.csv timings.csv
 */
#include "base/filter.h"
#include "measure/stats.h"
#include HELP
#include "flambda/policies-tables.h"

static const char *counters, *sets, *hand, *output;
static enum policies_base base = BASE_LEAST;
static enum { SAVINGS, SUMMARY, WELCH, BEST, REGRET, GREEDY, SELECT } table = SAVINGS;
static struct policies_options how = { .reference = "nothing", .drop = 1 };
static struct tables_options show = { .margin = 0.01, .confidence = 0.95, .alpha = 0.01, .greedy = 10 };
static const struct opt options[] = {
    { 0, "table", WORD, &table, "savings|summary|welch|best|regret|greedy|select", "what to write" },
    { 0, "initial", STR, &counters, "FILE", "table of flambda-counters" },
    { 0, "sets", STR, &sets, "FILE", "table of benchmark, set" },
    { 0, "nothing", STR, &how.reference, "POLICY", "the policy that does nothing" },
    { 0, "base", WORD, &base, "least|policy|initial", "what to compare with" },
    { 0, "drop", INT, &how.drop, "N", "leave out the first N timings of a worker", 0, 1e9 },
    { 0, "only", INT, &how.only, "N", "take the N-th timing of a worker alone", 0, 1e9 },
    { 0, "margin", NUM, &show.margin, "R", "savings within it are none", 0, 1 },
    CONFIDENCE_OPTION(show.confidence, "of the two-sided intervals"),
    { 0, "alpha", NUM, &show.alpha, "P", "level of the tests", 1e-12, 0.5 },
    { 0, "size", INT, &show.greedy, "K", "largest greedy set", 1, 1e6 },
    { 0, "not-single", LIST, &show.not_single, "NAMES", "policies that are committees, a,b*" },
    { 0, "hand", STR, &hand, "POLICY", "a setting to list beside star and general" },
    OUTPUT_OPTION(output),
    { 0 } };

int main(int argc, char **argv)
{
    static tables_write *const writer[] = {
        [SAVINGS] = write_savings, [SUMMARY] = write_summary, [WELCH] = write_welch,   [BEST] = write_best,
        [REGRET] = write_regret,   [GREEDY] = write_greedy,   [SELECT] = write_select,
    };
    int i = filter_init(argc, argv, help, options);
    how.base = base;
    if (base == BASE_INITIAL && !counters) usage("--base=initial needs --initial=FILE");
    if (table == SELECT && !counters) usage("--table=select needs --initial=FILE for the best times");
    struct policies p = policies_read(argv + i, counters, &how);
    if (p.without_base && !quiet)
        warn("%zu of %zu benchmarks have no baseline; their savings are left empty", p.without_base, p.benchmark.n);
    show.hand = hand;
    struct sets s = sets_read(sets, &p);
    csvw *w = csvw_open(output);
    writer[table](&p, &s, &show, w);
    return csvw_close(w);
}

/* bench-compare - say which label is faster, slower or the same as the base
 *
 * Usage: bench-compare [--base=LABEL] [--margin=X] [OPTION]... [FILE]...
 *
 * Columns in: label, round, wall_seconds and cpu_seconds, or the column that
 * --metric names; used where present: base, kind, benchmark, phase, status, exit,
 * signal, machine, stop.  Columns out: label, base, metric, rounds, ratio,
 * lower_ratio, upper_ratio, p_value, verdict, kind; benchmark in front where
 * the table has several, then also a row (geometric mean) per label, whose
 * rounds are the benchmarks, with a verdict from 5 on: fewer say nothing of
 * others.
 *
 * Within each round the logarithm of the ratio to the base is taken; its
 * location is the Hodges-Lehmann estimate, its interval and p-value those of
 * the signed-rank test, widened where successive rounds depend on each other;
 * for runs stopped by bench-run --until a confidence sequence of the median.
 * Timeouts enter as lower bounds.  p-values are adjusted over all rows.
 * slower, faster: the interval excludes 1; same: it holds 1 and lies within
 * the margin; else unclear; invalid: a run failed or its output was wrong.
 *
 * Drift, dependence, the noise floor of bench-run --aa, and what the other of
 * the two times, CPU or wall, says go to standard error.  Exit 0: all same or
 * faster, or slower but surely within the margin; 1: something is slower; 2:
 * something is unclear; 3: invalid or unreadable input.
 * On a terminal a sentence comes out for each label, with several programs an
 * aligned table; --csv and a pipe give CSV, --say sentences.  Memory: all rows.
 *
 * Examples:
 *   $ bench-compare --base=old --margin=0.01 runs.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include HELP
#include "measure/compare.h"
#include "measure/say.h"
#include "table/csvio.h"
#include "table/input.h"
#include "table/kind.h"
#include "table/show.h"
#include <math.h>
#include <unistd.h>

static const char *base_name, *metric, *group;
static enum { DIE, SKIP } incomplete = DIE;
static enum adjustment adjust = ADJUST_HOLM;
static double margin = 0.01, confidence = 0.95;
static long seed = 1;
static bool force, subtract, as_csv, say;
static const struct opt options[] = {
    { 'b', "base", STR, &base_name, "LABEL", "what to compare with; default: the first label of bench-run" },
    { 0, "margin", NUM, &margin, "X", "ratios within 1/(1+X) .. 1+X count as the same", 0, 1 },
    METRIC_OPTION(metric),
    CONFIDENCE_OPTION(confidence, "of the two-sided intervals; 1-P of the tests"),
    PROGRAM_OPTION(group),
    { 0, "adjust", WORD, &adjust, "holm|bh|none", "for the number of comparisons" },
    { 0, "incomplete", WORD, &incomplete, "die|skip", "rounds with a label missing" },
    { 0, "force", FLAG, &force, NULL, "say faster even where a gain is smaller than the noise floor" },
    { 0, "subtract", FLAG, &subtract, NULL, "the time of an empty command, with its uncertainty" },
    { 0, "csv", FLAG, &as_csv, NULL, "the table, on a terminal too" },
    { 0, "say", FLAG, &say, NULL, "the sentences, in a pipe too" },
    { 's', "seed", INT, &seed, "N", "of the bootstrap over programs" },
    CSV_INPUT,
    { 0 } };

static void write_numbers(csvw *w, const struct runs *r, const struct comparison *x)
{
    csvw_cstr(w, base_name);
    csvw_cstr(w, r->metric);
    csvw_int(w, (int64_t)x->p.n);
    csvw_known(w, exp(x->p.log_ratio.point));
    csvw_known(w, x->verdict == INVALID ? NAN : exp(x->p.log_ratio.lower));
    csvw_known(w, x->verdict == INVALID ? NAN : exp(x->p.log_ratio.upper));
    csvw_known(w, x->verdict == INVALID ? NAN : x->adjusted);
    csvw_cstr(w, verdict_word[x->verdict]);
    kind_write(w, r->kinds);
    csvw_end(w);
}

static void write_means(csvw *w, const struct runs *r, const struct compare_options *o, const struct comparison *row,
                        size_t n)
{
    for (size_t l = 0; l < r->label.n; l++) {
        struct geomean g;
        struct comparison x = compare_mean(r, o, row, n, l, (uint64_t)seed, &g);
        if (x.p.n < 2) continue;
        csvw_cstr(w, "(geometric mean)");
        csvw_str(w, r->label.name[l]);
        write_numbers(w, r, &x);
        if (!quiet)
            warn("'%s': geometric mean over %zu programs %.4f; leaving one out it lies in %.4f .. %.4f",
                 r->label.name[l].s, x.p.n, g.ratio.point, g.least_without_one, g.most_without_one);
    }
}

int main(int argc, char **argv)
{
    fail_status = usage_status = 3;
    int i = filter_init(argc, argv, help, options);
    struct runs *r = runs_read(argv + i, &(struct runs_options){ metric, group, incomplete == SKIP });
    size_t base = runs_base(r, base_name);
    base_name = r->label.name[base].s;
    if (r->label.n < 2) die("'%s' is the only label, nothing to compare it with", base_name);
    if (r->blocks && !quiet)
        warn("these runs were made in blocks, one command after the other: a ratio may be drift, p-values and "
             "intervals do not know");
    if (r->left_out && !quiet) warn("%zu incomplete rounds left out", r->left_out);
    size_t n;
    struct compare_options o = { base, confidence, margin, adjust, force, subtract };
    struct comparison *row = compare_all(r, &o, &n);
    bool many = r->benchmark.n > 1 || (r->benchmark.n && r->benchmark.name[0].n);
    if (!many && !as_csv && (say || isatty(STDOUT_FILENO))) {
        for (size_t k = 0; k < n; k++) comparison_say(stdout, r, &o, &row[k]);
        finish();
        if (!quiet) compare_notes(r, &o, row, n);
        return compare_status(row, n, margin);
    }
    csvw *w = show_open(as_csv);
    csvw_names(w, many ? "benchmark,label,base,metric,rounds,ratio,lower_ratio,upper_ratio,p_value,verdict,kind"
                       : "label,base,metric,rounds,ratio,lower_ratio,upper_ratio,p_value,verdict,kind");
    csvw_end(w);
    for (size_t k = 0; k < n; k++) {
        if (many) csvw_str(w, r->benchmark.name[row[k].benchmark]);
        csvw_str(w, r->label.name[row[k].label]);
        write_numbers(w, r, &row[k]);
    }
    if (many) write_means(w, r, &o, row, n);
    if (!quiet) compare_notes(r, &o, row, n);
    show_close(w);
    return compare_status(row, n, margin);
}

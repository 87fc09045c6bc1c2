/* bench-stat - describe the times of each label: median, spread, outliers
 *
 * Usage: bench-stat [--metric=NAME]... [OPTION]... [FILE]...
 *
 * Columns in: label, round, wall_seconds and cpu_seconds, or the columns that
 * --metric names; benchmark, phase, status where present.  Failed runs are
 * left out and counted; timeouts stay, as the lower bounds they are.
 *
 * Columns out, a row per benchmark, label and metric: benchmark, label,
 * metric, runs, failed, median, lower, upper (order statistics; coverage is
 * what they reach, at least --confidence), deviation (MAD x 1.4826), mean,
 * mean_lower, mean_upper (bootstrap), least, mild_outliers, severe_outliers
 * (beyond 1.5 and 3 quartile distances; none is removed), outlier_share (of
 * the variance, that they cause), lag1 (rank autocorrelation of successive
 * runs), change_p_value and change_round (Pettitt's test of a jump), kind.
 *
 * Order: first appearance.  Memory: all rows.
 *
 * Examples:
 *   $ bench-stat runs.csv
 */
#include "base/filter.h"
#include "base/reread.h"
#include HELP
#include "measure/runs.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include "table/input.h"
#include "table/show.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct list metrics;
static const char *group;
static double confidence = 0.95;
static long seed = 1;
static bool as_csv;
static const struct opt options[] = {
    { 0, "metric", LIST, &metrics, "cpu|wall|COL", "default: cpu and wall" },
    CONFIDENCE_OPTION(confidence, "of the two-sided intervals"),
    PROGRAM_OPTION(group),
    { 's', "seed", INT, &seed, "N", "of the bootstrap" },
    SHOW_OPTION(as_csv),
    CSV_INPUT,
    { 0 } };

static const char columns[] =
    "benchmark,label,metric,runs,failed,median,lower,upper,coverage,deviation,mean,mean_lower,mean_upper,"
    "least,mild_outliers,severe_outliers,outlier_share,lag1,change_p_value,change_round,kind";

static size_t count_failed(const struct runs *r, const struct run_grid *t, size_t label)
{
    size_t n = 0;
    for (size_t i = 0; i < t->rounds; i++) {
        size_t at = t->cell[i * r->label.n + label];
        n += at && r->run[at - 1].error;
    }
    return n;
}

static void write_stat(csvw *w, const struct runs *r, size_t benchmark, size_t label)
{
    const struct run_grid *t = &r->main[benchmark];
    double *v, coverage;
    long *round;
    size_t n = runs_values(r, t, label, &v, &round), failed = count_failed(r, t, label), at;
    if (n + failed == 0) {
        free_all(v, round);
        return;
    }
    struct interval m = median_interval(v, n, confidence, &coverage);
    struct interval e = mean_interval(v, n, confidence, (uint64_t)seed, r->label.name[label].s);
    struct outliers o = outliers(v, n);
    double p = change_point(v, n, &at);
    csvw_str(w, r->benchmark.name[benchmark]);
    csvw_str(w, r->label.name[label]);
    csvw_cstr(w, r->metric);
    csvw_int(w, (int64_t)n);
    csvw_int(w, (int64_t)failed);
    csvw_known(w, m.point);
    csvw_known(w, isfinite(m.lower) ? m.lower : NAN);
    csvw_known(w, isfinite(m.upper) ? m.upper : NAN);
    csvw_known(w, isfinite(m.lower) ? coverage : NAN);
    csvw_known(w, median_deviation(v, n));
    csvw_known(w, e.point);
    csvw_known(w, isfinite(e.lower) ? e.lower : NAN);
    csvw_known(w, isfinite(e.upper) ? e.upper : NAN);
    csvw_known(w, quantile(v, n, 0));
    csvw_int(w, (int64_t)o.mild);
    csvw_int(w, (int64_t)o.severe);
    csvw_num(w, o.variance_share);
    csvw_num(w, lag1(v, n));
    csvw_num(w, p);
    csvw_int(w, at < n ? round[at] : 0);
    kind_write(w, r->kinds);
    csvw_end(w);
    free_all(v, round);
}

static void write_stats(csvw *w, const struct runs *r)
{
    for (size_t b = 0; b < r->benchmark.n; b++)
        for (size_t l = 0; l < r->label.n; l++) write_stat(w, r, b, l);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    char *in[] = { xstrdup("-"), NULL }, **paths = i < argc ? argv + i : in;
    off_t begin = reread_begin();
    for (char **p = paths; metrics.n > 1 && *p; p++) reread_prepare(p);
    csvw *w = show_open(as_csv);
    for (int m = 0; m == 0 || m < metrics.n; m++) {
        if (m) reread_stdin(STDIN_FILENO, begin);
        struct runs *r = runs_read(paths, &(struct runs_options){ metrics.n ? metrics.v[m] : "cpu", group, true });
        if (!m) csvw_names(w, columns), csvw_end(w);
        write_stats(w, r);
        if (!metrics.n && runs_use(r, "wall")) write_stats(w, r);
        runs_free(r);
    }
    return show_close(w);
}

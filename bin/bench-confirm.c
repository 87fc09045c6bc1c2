/* bench-confirm - measure the winner of a selection again, on fresh runs
 *
 * Usage: bench-confirm --selection=FILE -o FRESH --label=A 'CMD' ... [OPTION]
 *        bench-confirm --selection=FILE FRESH...
 *
 * The best of many looks better than it is, since it was chosen for its luck
 * too.  The winner of the table of runs FILE is the label with the least
 * Hodges-Lehmann ratio to the base.  It and the base are run again (first
 * form: the labels and commands of the selection; rows go to FRESH, which
 * resumes as bench-run does), or their fresh runs are read (second form).
 *
 * Columns out, one row: label (the winner), base, metric, candidates,
 * best_of_n_ratio (least mean over the mean of the base: what a plain
 * best-of-N reports), selection_rounds, selection_ratio, selection_lower_ratio,
 * selection_upper_ratio, confirmed_rounds, confirmed_ratio,
 * confirmed_lower_ratio, confirmed_upper_ratio, p_value, verdict (of the fresh
 * runs), reported_ratio (confirmed_ratio if faster, else 1: the base stays),
 * kind.
 *
 * Examples:
 *   $ bench-confirm --selection=search.csv --base=default -o fresh.csv \
 *       --label=default './a.out' --label=o3 './b.out'
 */
#include "base/filter.h"
#include HELP
#include "measure/bench.h"
#include "measure/runs.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>

static struct list labels;
static const char *selection, *base_name, *fresh, *metric = "cpu";
static long rounds = 100, seed = 2;
static double margin = 0.01, confidence = 0.95, timeout;
static bool shell;
static const struct opt options[] = {
    { 0, "selection", STR, &selection, "FILE", "the table of runs that the winner was chosen from" },
    { 'b', "base", STR, &base_name, "LABEL", "what to compare with; default: the first label of bench-run" },
    { 'l', "label", LIST, &labels, "NAME", "name of the next command" },
    { 'o', "out", STR, &fresh, "FRESH", "table of the fresh runs, appended to" },
    { 'n', "rounds", INT, &rounds, "N", "fresh rounds", 1, 1e6 },
    { 's', "seed", INT, &seed, "N", "of their orders" },
    { 0, "metric", STR, &metric, "cpu|wall|COL", "what is compared" },
    { 0, "margin", NUM, &margin, "X", "ratios within 1/(1+X) .. 1+X count as the same", 0, 1 },
    CONFIDENCE_OPTION(confidence, "of the two-sided intervals"),
    { 0, "timeout", NUM, &timeout, "S", "wall seconds per run", 0, 1e9 },
    { 0, "shell", FLAG, &shell, NULL, "run commands by sh -c" },
    { 0 } };

static size_t need_label(const struct runs *r, const char *name, const char *file)
{
    long l = runs_label(r, name);
    if (l < 0) die("no label '%s' in %s", name, file);
    return (size_t)l;
}

static struct paired paired_of(const struct runs *r, size_t base, size_t label)
{
    struct pairs p = runs_pairs(r, &r->main[0], base, label);
    struct paired c = paired_compare(p.d, p.lower, p.upper, p.errors ? 0 : p.n, confidence, r->sequential);
    pairs_free(&p);
    return c;
}

static double mean_time(const struct runs *r, size_t label)
{
    double *v, m;
    size_t n = runs_values(r, &r->main[0], label, &v, NULL);
    m = mean(v, n);
    free(v);
    return m;
}

static void run_fresh(const char *winner, char **commands, size_t n)
{
    static struct bench b;
    b = (struct bench){ .rounds = rounds, .seed = (uint64_t)seed, .confidence = confidence, .warmup = -1,
                        .benchmark = "", .execute = child_run,
                        .child = { .limits = { .wall_seconds = timeout, .output_bytes = 1 << 30 } } };
    bench_subjects(&b, &labels, commands, n, shell);
    bench_only(&b, (const char *[]){ base_name, winner }, 2);
    bench_to(&b, fresh);
}

static void write_interval(csvw *w, const struct paired *p)
{
    csvw_int(w, (int64_t)p->n);
    csvw_known(w, exp(p->log_ratio.point));
    csvw_known(w, p->n ? exp(p->log_ratio.lower) : NAN);
    csvw_known(w, p->n ? exp(p->log_ratio.upper) : NAN);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!selection) usage("no table to choose from, see --selection");
    if (labels.n && !fresh) usage("no table for the fresh runs, see --out");
    static char *chosen[2], *written[2];
    chosen[0] = xstrdup(selection);
    struct runs *r = runs_read(chosen, &(struct runs_options){ .metric = metric });
    if (r->benchmark.n > 1) die("%s holds several benchmarks: confirm them one by one", selection);
    if (r->label.n < 2) die("%s has nothing to choose from", selection);
    size_t base = runs_base(r, base_name), winner = base;
    base_name = r->label.name[base].s;
    struct paired best = { .log_ratio.point = INFINITY };
    double least = INFINITY;
    for (size_t l = 0; l < r->label.n; l++) {
        struct paired p = paired_of(r, base, l);
        if (p.n) least = fmin(least, mean_time(r, l));   /* none that failed */
        if (l != base && p.n && p.log_ratio.point < best.log_ratio.point) best = p, winner = l;
    }
    if (winner == base) die("%s: every candidate has failed runs", selection);
    const char *name = r->label.name[winner].s;
    if (labels.n) run_fresh(name, argv + i, (size_t)(argc - i));
    written[0] = xstrdup(fresh ? fresh : "-");
    struct runs *f = runs_read(labels.n || argc == i ? written : argv + i, &(struct runs_options){ .metric = metric });
    struct paired c = paired_of(f, need_label(f, base_name, "the fresh runs"), need_label(f, name, "the fresh runs"));
    enum verdict v = c.n ? verdict_of(c.log_ratio, c.p_value, confidence, margin) : INVALID;
    csvw *w = csvw_fd(1);
    csvw_names(w, "label,base,metric,candidates,best_of_n_ratio,selection_rounds,selection_ratio,selection_lower_ratio,"
                  "selection_upper_ratio,confirmed_rounds,confirmed_ratio,confirmed_lower_ratio,confirmed_upper_ratio,"
                  "p_value,verdict,reported_ratio,kind");
    csvw_end(w);
    csvw_cstr(w, name);
    csvw_cstr(w, base_name);
    csvw_cstr(w, r->metric);
    csvw_int(w, (int64_t)r->label.n - 1);
    csvw_num(w, least / mean_time(r, base));
    write_interval(w, &best);
    write_interval(w, &c);
    csvw_num(w, c.p_value);
    csvw_cstr(w, verdict_word[v]);
    csvw_num(w, v == FASTER ? exp(c.log_ratio.point) : 1);
    kind_write(w, r->kinds | f->kinds);
    csvw_end(w);
    return csvw_close(w);
}

/* bench-power - say how many rounds a comparison needs, from a pilot
 *
 * Usage: bench-power [--effect=X]... [--power=P] [OPTION]... [FILE]...
 *
 * Columns in: those of bench-compare.  The rounds of base and label (default:
 * the other) give the noise of this program on this machine, whatever their
 * difference.  Effects are added to resamples of it.  Columns out, a row per
 * effect: label, base, metric, pilot_rounds, effect_ratio, power, rounds (that
 * find it with that power; empty: more than --most), rounds_until_decided
 * (median, for bench-run --until=decided), seconds (of those rounds, by the
 * pilot's wall time of both commands), kind.
 *
 * Examples:
 *   $ bench-run --rounds=20 --label=a ./x --label=b ./y | bench-power
 */
#include "base/filter.h"
#include "base/num.h"
#include HELP
#include "measure/power.h"
#include "measure/runs.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include "table/input.h"
#include "table/show.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400 };                                    /* resamples */

static struct list effects;
static const char *base_name, *label_name, *metric;
static double power = 0.9, confidence = 0.95;
static long most = 5000, seed = 1;
static bool as_csv;
static const struct opt options[] = {
    { 0, "effect", LIST, &effects, "X", "slow-down to find, 0.01 is 1 %; default: 0.005 0.01 0.02 0.05" },
    { 0, "power", NUM, &power, "P", "how surely", 0.01, 0.999 },
    { 'b', "base", STR, &base_name, "LABEL", "what to compare with; default: the first label of bench-run" },
    { 'l', "label", STR, &label_name, "LABEL", "default: the other" },
    METRIC_OPTION(metric),
    CONFIDENCE_OPTION(confidence, "of the two-sided test"),
    { 0, "most", INT, &most, "N", "try no more rounds than these", 8, 1e6 },
    { 's', "seed", INT, &seed, "N", "of the resamples" },
    SHOW_OPTION(as_csv),
    CSV_INPUT,
    { 0 } };

static size_t pick(const struct runs *r, const char *name, size_t base)
{
    if (!name && r->label.n > 2) usage("the pilot has %zu labels; choose by --label", r->label.n);
    if (!name) return base == 0;
    long l = runs_label(r, name);
    if (l < 0) die("no label '%s' in the input", name);
    if ((size_t)l == base) die("'%s' is the base", name);
    return (size_t)l;
}

/* wall seconds of one round of both, by medians */
static double round_seconds(struct runs *r, size_t base, size_t label)
{
    double sum = 0, *v;
    if (!runs_use(r, "wall")) return NAN;
    for (int k = 0; k < 2; k++) {
        size_t n = runs_values(r, &r->main[0], k ? label : base, &v, NULL);
        sum += median(v, n);
        free(v);
    }
    return sum;
}

static void count_or_empty(csvw *w, size_t n)
{
    if (n) csvw_int(w, (int64_t)n);
    else csvw_empty(w);
}

int main(int argc, char **argv)
{
    static const char *usual[] = { "0.005", "0.01", "0.02", "0.05" };
    int i = filter_init(argc, argv, help, options);
    if (!effects.n) effects = (struct list){ usual, 4 };
    struct runs *r = runs_read(argv + i, &(struct runs_options){ .metric = metric, .skip_incomplete = true });
    if (r->benchmark.n > 1) die("several benchmarks: plan them one by one, csv-where chooses");
    if (r->label.n < 2) die("a pilot needs two labels");
    size_t base = runs_base(r, base_name), label = pick(r, label_name, base);
    struct pairs p = runs_pairs(r, &r->main[0], base, label);
    if (p.n < 8) die("%zu good rounds are too few for a pilot, 8 is the least", p.n);
    const char *used = r->metric;
    double seconds = round_seconds(r, base, label);
    csvw *w = show_open(as_csv);
    csvw_names(w, "label,base,metric,pilot_rounds,effect_ratio,power,rounds,rounds_until_decided,seconds,kind");
    csvw_end(w);
    for (int k = 0; k < effects.n; k++) {
        double x;
        if (!num_parse(effects.v[k], strlen(effects.v[k]), &x) || !(x > 0))
            usage("--effect: '%s' is not a positive number", effects.v[k]);
        size_t n = power_rounds(p.d, p.n, log1p(x), power, confidence, (size_t)most, DRAWS, (uint64_t)seed);
        size_t m = power_sequential(p.d, p.n, log1p(x), confidence, (size_t)most, DRAWS / 4, (uint64_t)seed);
        csvw_str(w, r->label.name[label]);
        csvw_str(w, r->label.name[base]);
        csvw_cstr(w, used);
        csvw_int(w, (int64_t)p.n);
        csvw_num(w, 1 + x);
        csvw_num(w, power);
        count_or_empty(w, n);
        count_or_empty(w, m);
        csvw_known(w, n ? seconds * (double)n : NAN);
        kind_write(w, r->kinds);
        csvw_end(w);
    }
    return show_close(w);
}

/* prof-calibrate - what each of the recorder's hooks costs, from pairs of runs
 *
 * Usage: prof-calibrate [--max-spread=RATIO] [FILE]...
 *
 * Columns in: hook, calls (times it ran), uninstrumented_ns, instrumented_ns of
 * the same program; or instrumented_ns and doubled_ns, where every hook ran
 * twice; optional inside_ns, the part of the cost that falls inside the
 * recorded interval.  One row per repeat.  Out: an s-expression
 *   (calibration (host ..) (cost (hook c_wrap) (mean_ns 26.1) (std_ns 1.9)
 *    (min_ns ..) (inside_ns ..) (n 15)) ..)
 * mean and (population) standard deviation of the cost of a call over the
 * repeats.  A negative mean counts as 0, with a warning; a row without calls
 * says nothing.  Repeats that differ too much are refused: measure again.
 *
 * Take the pairs from a short run of the program that is to be corrected: what
 * a call costs depends on what surrounds it.  Costs from tight loops (make
 * prof has them) do for wrapped C functions, to about 5 % of the total on ten
 * programs (8 % at worst), but not for --tree, which also slows down what lies
 * between the calls.
 *
 * Examples:
 *   $ prof-calibrate --max-spread=0.1 pairs.csv > calibration.sexp
 */
#include "base/filter.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include HELP
#include <math.h>
#include <unistd.h>

static double max_spread;
static const struct opt options[] = {
    { 0, "max-spread", NUM, &max_spread, "RATIO", "largest deviation as a share of the mean; 0: any", 0, 0 },
    { 0 } };

struct cost { double n, mean, square, least, inside; };  /* square: sum of squared deviations (Welford) */

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct intern hooks = { 0 };
    struct cost *cost = NULL;
    size_t cap = 0;
    csv *t = csv_files(argv + i);
    int hook = csv_need(t, "hook"), calls = csv_need(t, "calls"), on = csv_need(t, "instrumented_ns");
    int twice = csv_find(t, "doubled_ns"), off = twice < 0 ? csv_need(t, "uninstrumented_ns") : -1;
    int inside = csv_find(t, "inside_ns");
    while (csv_next(t)) {
        size_t known = hooks.n;
        uint32_t h = intern(&hooks, csv_str(t, hook));
        if (hooks.n > known) {
            cost = grow(cost, hooks.n, &cap, sizeof *cost);
            cost[h] = (struct cost){ .least = INFINITY };
        }
        double n = csv_num(t, calls);
        if (n < 0) csv_die(t, calls, "a number of calls");
        if (n == 0) continue;
        double v = (off < 0 ? csv_num(t, twice) - csv_num(t, on) : csv_num(t, on) - csv_num(t, off)) / n;
        struct cost *c = &cost[h];
        double d = v - c->mean;
        c->n++;
        c->mean += d / c->n;
        c->square += d * (v - c->mean);
        c->least = fmin(c->least, v);
        c->inside += (csv_num_or(t, inside, 0) / n - c->inside) / c->n;
    }
    sexpw *w = sexpw_open("-");
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    sexpw_begin(w, "calibration");
    sexpw_pair_str(w, "host", str_of(host));
    for (size_t h = 0; h < hooks.n; h++) {
        const struct cost *c = &cost[h];
        double std = c->n ? sqrt(c->square / c->n) : 0;
        if (c->mean < 0) warn("hook %s: the cost came out as %g ns, taken as 0", hooks.name[h].s, c->mean);
        else if (max_spread > 0 && std > max_spread * c->mean)
            die("hook %s: repeats differ by %.3g %% of the mean, more than %g %%", hooks.name[h].s,
                100 * std / c->mean, 100 * max_spread);
        sexpw_line(w);
        sexpw_begin(w, "cost");
        sexpw_pair_str(w, "hook", hooks.name[h]);
        sexpw_pair(w, "mean_ns", fmax(0, c->mean));
        sexpw_pair(w, "std_ns", std);
        sexpw_pair(w, "min_ns", c->n ? fmax(0, c->least) : 0);
        if (inside >= 0) sexpw_pair(w, "inside_ns", fmax(0, c->inside));
        sexpw_pair(w, "n", c->n);
        sexpw_end(w);
    }
    sexpw_end(w);
    return sexpw_close(w);
}

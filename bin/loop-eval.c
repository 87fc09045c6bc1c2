/* loop-eval - sum up searches: speed-up over the untiled nest, time, actions
 *
 * Usage: loop-eval [--peak=GFLOPS] [FILE]...
 *
 * Columns in: problem, algo, step, gflops, seconds, as from loop-search and
 * loop-roll; rows of one problem and algo together, steps counted from 0.
 * Columns out: algo, problems, speedup_mean, speedup_median, speedup_geomean,
 * speedup_max, gflops_mean, peak_ratio (geometric mean over --peak),
 * seconds_mean, seconds_max, actions_mean, best_ratio, best_ratio_min, kind.
 * One row for each algo, in order of appearance.  best_ratio is the geometric
 * mean over the best nest that any algo of the input has for the problem,
 * best_ratio_min the least.  Step 0 is the base; where it has no gflops the
 * untiled nest of another algo counts; without any the speed-ups stay empty.
 * With --published rows of the paper's shipped run are added (kind published).
 *
 * Examples:
 *   $ loop-eval --peak=265 random.csv heuristic.csv
 */
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>

static double peak;
static bool published;
static const struct opt options[] = {
    { 0, "peak", NUM, &peak, "GFLOPS", "ceiling, from loop-peak; 0: not known", 0, 1e9 },
    { 0, "published", FLAG, &published, NULL, "add the published table of 25 test problems" },
    { 0 } };

struct row { uint32_t problem, algo; double base, gflops, seconds; double actions; };
static struct row *rows;
static size_t nrow, cap;

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summary(csvw *w, const struct intern *algos, uint32_t a, const double *base, const double *best)
{
    double *speed = xmalloc(nrow, sizeof *speed), sum = 0, logs = 0, gflops = 0, seconds = 0, longest = 0, actions = 0,
           ratio = 0, of_best = 0, least = 1;
    size_t n = 0, timed = 0, sped = 0;
    for (size_t i = 0; i < nrow; i++) {
        const struct row *r = &rows[i];
        if (r->algo != a) continue;
        n++;
        gflops += r->gflops;
        actions += r->actions;
        ratio += log(r->gflops / peak);
        of_best += log(r->gflops / best[r->problem]);
        least = fmin(least, r->gflops / best[r->problem]);
        if (!isnan(r->seconds)) timed++, seconds += r->seconds, longest = fmax(longest, r->seconds);
        if (!(base[r->problem] > 0)) continue;
        speed[sped] = r->gflops / base[r->problem];
        sum += speed[sped];
        logs += log(speed[sped++]);
    }
    qsort(speed, sped, sizeof *speed, by_double);
    csvw_str(w, algos->name[a]);
    csvw_int(w, (int64_t)n);
    csvw_known(w, sped ? sum / (double)sped : NAN);
    csvw_known(w, sped ? (speed[(sped - 1) / 2] + speed[sped / 2]) / 2 : NAN);
    csvw_known(w, sped ? exp(logs / (double)sped) : NAN);
    csvw_known(w, sped ? speed[sped - 1] : NAN);
    csvw_num(w, gflops / (double)n);
    csvw_known(w, peak > 0 ? exp(ratio / (double)n) : NAN);
    csvw_known(w, timed ? seconds / (double)timed : NAN);
    csvw_known(w, timed ? longest : NAN);
    csvw_num(w, actions / (double)n);
    csvw_num(w, exp(of_best / (double)n));
    csvw_num(w, least);
    csvw_cstr(w, "real");
    csvw_end(w);
    free(speed);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    int problem = csv_need(t, "problem"), algo = csv_need(t, "algo"), step = csv_need(t, "step"),
        g = csv_need(t, "gflops");
    int sec = csv_find(t, "seconds");
    struct intern problems = { 0 }, algos = { 0 };
    while (csv_next(t)) {
        uint32_t p = intern(&problems, csv_str(t, problem)), a = intern(&algos, csv_str(t, algo));
        int64_t at = csv_int(t, step);
        double gflops = csv_num_or(t, g, NAN), seconds = csv_num_or(t, sec, NAN);
        if (at == 0) {
            rows = grow(rows, nrow + 1, &cap, sizeof *rows);
            rows[nrow++] = (struct row){ p, a, gflops, NAN, NAN, 0 };
        }
        if (!nrow || rows[nrow - 1].problem != p || rows[nrow - 1].algo != a)
            die_at(csv_file(t), csv_line(t), "the rows of a problem do not begin with step 0");
        struct row *r = &rows[nrow - 1];
        if (isnan(gflops)) continue;
        r->gflops = gflops;
        r->actions = (double)at;
        if (!isnan(seconds)) r->seconds = fmax(seconds, isnan(r->seconds) ? 0 : r->seconds);
    }
    double *base = xcalloc(problems.n + 1, sizeof *base), *best = xcalloc(problems.n + 1, sizeof *best);
    for (size_t k = 0; k < nrow; k++) {
        if (rows[k].gflops > best[rows[k].problem]) best[rows[k].problem] = rows[k].gflops;
        if (rows[k].base > base[rows[k].problem]) base[rows[k].problem] = rows[k].base;
    }
    csvw *w = csvw_open("-");
    csvw_names(w, "algo,problems,speedup_mean,speedup_median,speedup_geomean,speedup_max,gflops_mean,peak_ratio,"
                  "seconds_mean,seconds_max,actions_mean,best_ratio,best_ratio_min,kind");
    csvw_end(w);
    for (uint32_t a = 0; a < algos.n; a++) summary(w, &algos, a, base, best);
    static const char *const paper[] = {                 /* computed from the shipped looptune-test.csv */
        "greedy1,25,1.04,1.03,1.03,1.10,23.6,,0.63,0.95,1.2", "greedy2,25,1.38,1.34,1.35,2.03,32.6,,5.2,6.4,4.6",
        "beam4dfs,25,1.55,1.55,1.53,2.09,36.4,,60.2,60.6,9.8", "beam4bfs,25,1.84,1.61,1.76,3.82,42.5,,61.9,62.7,6.1",
        "random,25,1.83,1.73,1.80,3.01,41.9,,60.0,60.1,7.7", "looptune,25,3.10,3.15,2.97,4.60,67.1,,0.38,0.51,10" };
    for (size_t k = 0; published && k < sizeof paper / sizeof *paper; k++) {
        csvw_names(w, paper[k]);
        csvw_names(w, ",");
        csvw_cstr(w, "published");
        csvw_end(w);
    }
    free(base);
    free(best);
    return csvw_close(w);
}

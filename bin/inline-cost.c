/* inline-cost - how well counted events tell the CPU time of builds
 *
 * Usage: inline-cost --runs=FILE [--base=LABEL] [--weights=FILE] [FILE]...
 *
 * FILEs are tables of bench-count with a column run (PROGRAM.K) in front:
 * instructions, and what --metric=events counts.  --runs is a table of
 * bench-run, benchmark being PROGRAM.K; its paired rounds give each build's
 * CPU time over the base's.  A build is a label of a program, over those of
 * its runs that both tables have.
 *
 * A cost is fitted to the time: a weight for each event, none negative; what
 * the times do not tell stays near the cost that counts instructions alone.
 * Each program is judged by weights that were fitted to the others.  Columns:
 * program, builds (without the base), rank_instructions, rank_cost (rank
 * correlation with the time), rank_halves (of the time of the even rounds
 * with that of the odd ones: what noise leaves to be told), error_instructions,
 * error_cost, error_halves (root mean square of the difference of logarithms);
 * then their means, as program `(mean)`.
 * --weights gets the weights fitted to all: event, weight (in instructions'
 * time, where instructions have a weight).
 *
 * Last come bootstrap intervals (95 %, builds drawn with replacement, a
 * program's own among themselves; the weights stay): lower_instructions,
 * upper_instructions, lower_cost, upper_cost of the two rank correlations,
 * lower_gain, upper_gain of rank_cost less rank_instructions.  What noise the
 * times have is in them only as far as builds differ by it.  Memory: all rows.
 *
 * Examples:
 *   $ inline-cost --base=O2 --runs=runs.csv bzip2/events.csv gzip/events.csv
 */
#include "base/filter.h"
#include "base/str.h"
#include "inline/timed.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include HELP
#include <math.h>

static const char *runs_file, *base = "O2", *weights, *out;
static double penalty = -1;
static long seed = 1;
static const struct opt options[] = {
    { 0, "runs", STR, &runs_file, "FILE", "paired rounds" },
    { 'b', "base", STR, &base, "LABEL", "what is 1" },
    { 0, "weights", STR, &weights, "FILE", "write the weights there" },
    { 0, "penalty", NUM, &penalty, "X",
      "on leaving instructions alone, relative to the events' squares; below 0: that of .01 to 100 which does best on "
      "programs left out of the fit", -1, 1e6 },
    { 's', "seed", INT, &seed, "N", "of the bootstrap" },
    OUTPUT_OPTION(out),
    { 0 } };

enum { DRAWS = 2000 };

/* the rank correlations of each draw of builds, and what the cost gains */
struct draws { double of[3][DRAWS]; };

static void put(csvw *w, str program, size_t builds, const double v[6], const struct draws *d)
{
    csvw_str(w, program);
    csvw_int(w, (int64_t)builds);
    for (int i = 0; i < 6; i++) csvw_known(w, v[i]);
    for (int i = 0; i < 3; i++) {
        double known[DRAWS];
        size_t n = 0;
        for (size_t k = 0; k < DRAWS; k++) if (!isnan(d->of[i][k])) known[n++] = d->of[i][k];
        csvw_known(w, quantile(known, n, 0.025));
        csvw_known(w, quantile(known, n, 0.975));
    }
    csvw_end(w);
}

/* a row for each program, by weights fitted to the others, and their means */
static void put_all(csvw *w, const struct timed *t)
{
    double mean[6] = { 0 };
    int known[6] = { 0 };
    static struct draws one, sum;
    for (size_t k = 0; k < t->programs.n; k++) {
        double weight[TIMED_EVENTS];
        timed_fit(t, (long)k, penalty, weight);
        struct timed_verdict v = timed_judge(t, (uint32_t)k, weight);
        double all[] = { v.rank_instructions,  v.rank_cost,  v.rank_halves,
                         v.error_instructions, v.error_cost, v.error_halves };
        timed_resample(t, (uint32_t)k, weight, (uint64_t)seed, DRAWS, one.of[0], one.of[1]);
        for (int d = 0; d < DRAWS; d++) {
            one.of[2][d] = one.of[1][d] - one.of[0][d];
            for (int i = 0; i < 3; i++) sum.of[i][d] += one.of[i][d] / (double)t->programs.n;
        }
        put(w, t->programs.name[k], v.builds, all, &one);
        for (int j = 0; j < 6; j++) if (!isnan(all[j])) mean[j] += all[j], known[j]++;
    }
    for (int j = 0; j < 6; j++) mean[j] = known[j] ? mean[j] / known[j] : NAN;
    put(w, str_of("(mean)"), t->n, mean, &sum);
}

static void write_weights(const struct timed *t)
{
    double weight[TIMED_EVENTS];
    timed_fit(t, -1, penalty, weight);
    csvw *w = csvw_open(weights);
    csvw_names(w, "event,weight");
    csvw_end(w);
    for (size_t e = 0; e < TIMED_EVENTS; e++) {
        csvw_cstr(w, timed_event[e]);
        csvw_num(w, weight[e] / (weight[0] > 0 ? weight[0] : 1));
        csvw_end(w);
    }
    csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct timed t = { 0 };
    if (!runs_file) usage("no paired rounds, see --runs");
    timed_read(&t, argv + i, runs_file, base);
    if (t.programs.n < 2) die("builds of %zu programs in both tables: two at least", t.programs.n);
    csvw *w = csvw_open(out);
    csvw_names(w, "program,builds,rank_instructions,rank_cost,rank_halves,error_instructions,error_cost,error_halves");
    csvw_names(w, "lower_instructions,upper_instructions,lower_cost,upper_cost,lower_gain,upper_gain");
    csvw_end(w);
    put_all(w, &t);
    if (weights) write_weights(&t);
    timed_free(&t);
    return csvw_close(w);
}

/* loop-eval - sum up searches: speed-up over the untiled nest, time, actions
 *
 * Usage: loop-eval [--table=summary|steps|violin] [--peak=GFLOPS] [FILE]...
 *
 * Columns in: problem, algo, step, gflops, seconds, kind, as from loop-search
 * and loop-roll; rows of one problem and algo together, steps 0, 1, 2 and on.
 * Columns out: algo, problems, mean_speedup, median_speedup, geomean_speedup,
 * max_speedup, mean_gflops, peak_ratio (geometric mean over --peak),
 * mean_seconds, max_seconds, mean_actions, best_ratio, least_best_ratio, kind.
 * One row for each algo, in order of appearance.  best_ratio is the geometric
 * mean over the best nest that any algo of the input has for the problem,
 * least_best_ratio the least.  Step 0 is the base; where it has no gflops the
 * untiled nest of another algo counts; without any the speed-ups stay empty.
 * Rows of different kind are not compared; an algo has one kind.
 * With --published rows of the paper's shipped run are added (kind published).
 * --table=steps: algo, step, gflops, seconds, kind; means over the problems
 * of the best nest, and its time, after at most so many actions of the path.
 * --table=violin: algo, position (1 for the first algo), speedup, kind; a row
 * for each problem and algo.
 * Memory: all rows.
 *
 * Examples:
 *   $ loop-eval --peak=265 random.csv heuristic.csv
 *   $ loop-eval --table=steps traces.csv
 */
#include "base/filter.h"
#include "loop/search/traces.h"
#include "table/show.h"
#include HELP

enum { STEPS_SHOWN = 48 };                                     /* a policy's moves are several actions each */
static double peak;
static bool published;
static enum { SUMMARY, BY_STEP, VIOLIN } table = SUMMARY;
static bool as_csv;
static const struct opt options[] = {
    { 0, "table", WORD, &table, "summary|steps|violin", "what to write" },
    { 0, "peak", NUM, &peak, "GFLOPS", "ceiling, from loop-machine --peak; 0: not known", 0, 1e9 },
    { 0, "published", FLAG, &published, NULL, "add the published table of 25 test problems" },
    SHOW_OPTION(as_csv),
    { 0 } };

int main(int argc, char **argv)
{
    static const char *const paper[] = {                 /* computed from the shipped looptune-test.csv */
        "greedy1,25,1.04,1.03,1.03,1.10,23.6,,0.63,0.95,1.2", "greedy2,25,1.38,1.34,1.35,2.03,32.6,,5.2,6.4,4.6",
        "beam4dfs,25,1.55,1.55,1.53,2.09,36.4,,60.2,60.6,9.8", "beam4bfs,25,1.84,1.61,1.76,3.82,42.5,,61.9,62.7,6.1",
        "random,25,1.83,1.73,1.80,3.01,41.9,,60.0,60.1,7.7", "looptune,25,3.10,3.15,2.97,4.60,67.1,,0.38,0.51,10" };
    int i = filter_init(argc, argv, help, options);
    bool sums = table == SUMMARY;
    if (published && !sums) usage("--published is for --table=summary");
    struct traces t = { 0 };
    csv *c = csv_files(argv + i);
    traces_read(&t, c);
    csvw *w = show_open(as_csv);
    csvw_names(w, sums ? "algo,problems,mean_speedup,median_speedup,geomean_speedup,max_speedup,mean_gflops,peak_ratio,"
                         "mean_seconds,max_seconds,mean_actions,best_ratio,least_best_ratio,kind"
                  : table == BY_STEP ? "algo,step,gflops,seconds,kind" : "algo,position,speedup,kind");
    csvw_end(w);
    if (sums) traces_summary(&t, w, peak);
    else if (table == BY_STEP) traces_steps(&t, w, STEPS_SHOWN);
    else traces_violin(&t, w);
    for (size_t k = 0; published && k < sizeof paper / sizeof *paper; k++) {
        csvw_names(w, paper[k]);
        csvw_names(w, ",");
        csvw_cstr(w, "published");
        csvw_end(w);
    }
    csv_close(c);
    return show_close(w);
}

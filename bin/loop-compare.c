/* loop-compare - one library against each of the others and the best of them
 *
 * Usage: loop-compare [--of=LIB] [--without=LIB,LIB] [--peak=GFLOPS] [FILE]...
 *
 * Columns in: problem, lib, gflops, as from loop-peer; of rows with the same
 * problem and lib the last counts.  Columns out: lib, problems,
 * geomean_gflops, peak_ratio (geometric mean over --peak), ratio (geometric
 * mean of LIB over this one on the problems both have), low_ratio, high_ratio
 * (bootstrap interval over the problems, two-sided), least_ratio,
 * least_problem, wins_share (problems on which LIB is at least as fast), kind
 * (of the rows, empty when not known; all must have the same).  One row for
 * each library, then one named best: per problem the fastest of the others.
 * --without leaves libraries out of it, for instance those that are given
 * their operands in another layout.
 * With --published rows of kind published follow: what the study of LoopTune
 * says of itself against compilers that are not at hand (abstract of arXiv
 * 2309.01825; its problems, its machine); tvm is "an order of magnitude".
 *
 * Examples:
 *   $ loop-compare --peak=265 peer.csv
 */
#include "base/filter.h"
#include "measure/stats.h"
#include "table/csvio.h"
#include "table/show.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBS = 64 };
static const char *of = "ours", *without = "";
static double peak, confidence = 0.95;
static bool published;
static bool as_csv;
static const struct opt options[] = {
    { 0, "of", STR, &of, "LIB", "the library in question" },
    { 0, "without", STR, &without, "LIBS", "libraries that do not count, separated by commas" },
    { 0, "peak", NUM, &peak, "GFLOPS", "ceiling, from loop-machine --peak; 0: not known", 0, 1e9 },
    CONFIDENCE_OPTION(confidence, "of the two-sided intervals"),
    { 0, "published", FLAG, &published, NULL, "add the published ratios" },
    SHOW_OPTION(as_csv),
    { 0 } };

static double *cell; /* GFLOPS of problem p, library l at p * MAX_LIBS + l; 0: none */
static size_t cells;

static bool left_out(str lib)
{
    for (const char *s = without; *s; ) {
        size_t n = strcspn(s, ",");
        if (str_eq(lib, (str){ s, n })) return true;
        s += n + (s[n] != 0);
    }
    return false;
}

static void row(csvw *w, str name, const struct intern *problem, size_t mine, long lib, size_t nlib, const char *kind)
{
    const size_t problems = problem->n;
    double logs = 0, least = INFINITY, *ratio = xmalloc(problems + 1, sizeof *ratio);
    size_t n = 0, both = 0, wins = 0, worst = 0;
    for (size_t p = 0; p < problems; p++) {
        const double *c = cell + p * MAX_LIBS;
        double g = lib >= 0 ? c[lib] : 0;
        for (size_t l = 0; lib < 0 && l < nlib; l++)
            if (l != mine && c[l] > g) g = c[l];
        if (!(g > 0)) continue;
        n++;
        logs += log(g);
        if (!(c[mine] > 0)) continue;
        ratio[both++] = log(c[mine] / g);
        wins += c[mine] >= g;
        if (c[mine] / g < least) least = c[mine] / g, worst = p;
    }
    csvw_str(w, name);
    csvw_int(w, (int64_t)n);
    csvw_known(w, n ? exp(logs / (double)n) : NAN);
    csvw_known(w, n && peak > 0 ? exp(logs / (double)n) / peak : NAN);
    struct interval range = { NAN, NAN, NAN };
    if (both) range = geometric_mean(ratio, both, confidence, 1, "loop-compare").ratio;
    csvw_known(w, range.point);
    csvw_known(w, both > 1 ? range.lower : NAN);
    csvw_known(w, both > 1 ? range.upper : NAN);
    free(ratio);
    csvw_known(w, both ? least : NAN);
    csvw_str(w, both ? problem->name[worst] : (str){ 0 });
    csvw_known(w, both ? (double)wins / (double)both : NAN);
    csvw_cstr(w, kind);
    csvw_end(w);
}

static void published_rows(csvw *w)
{
    static const struct { const char *lib; double ratio; } row[] = {
        { "looptune/loopnest", 3.2 }, { "looptune/tvm", 10 }, { "looptune/metaschedule", 2.8 },
        { "looptune/autotvm", 1.08 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        csvw_cstr(w, row[i].lib);
        for (int c = 0; c < 3; c++) csvw_empty(w);
        csvw_num(w, row[i].ratio);
        for (int c = 0; c < 5; c++) csvw_empty(w);
        csvw_cstr(w, "published");
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    int problem = csv_need(t, "problem"), lib = csv_need(t, "lib"), g = csv_need(t, "gflops"),
        kind_col = csv_find(t, "kind");
    char *kind = NULL;
    struct intern problems = { 0 }, libs = { 0 };
    while (csv_next(t)) {
        if (left_out(csv_str(t, lib))) continue;
        str k = kind_col < 0 ? (str){ "", 0 } : csv_str(t, kind_col);
        if (!kind) kind = xformat("%.*s", (int)k.n, k.s);
        if (!str_is(k, kind)) csv_die(t, kind_col, "the kind of the rows before; compare each kind by itself");
        uint32_t p = intern(&problems, csv_str(t, problem)), l = intern(&libs, csv_str(t, lib));
        if (l >= MAX_LIBS) csv_die(t, lib, "one of at most 64 libraries");
        size_t old = cells;
        cell = grow(cell, ((size_t)p + 1) * MAX_LIBS, &cells, sizeof *cell);
        if (cells > old) memset(cell + old, 0, (cells - old) * sizeof *cell);
        cell[(size_t)p * MAX_LIBS + l] = csv_num_or(t, g, 0);
    }
    long mine = intern_find(&libs, str_of(of));
    if (mine < 0) die("%s: no rows of lib '%s'", csv_file(t), of);
    csvw *w = show_open(as_csv);
    csvw_names(w, "lib,problems,geomean_gflops,peak_ratio,ratio,low_ratio,high_ratio,least_ratio,least_problem,"
               "wins_share,kind");
    csvw_end(w);
    for (size_t l = 0; l < libs.n; l++) row(w, libs.name[l], &problems, (size_t)mine, (long)l, libs.n, kind);
    row(w, str_of("best"), &problems, (size_t)mine, -1, libs.n, kind);
    if (published) published_rows(w);
    return show_close(w);
}

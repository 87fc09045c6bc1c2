/* inline-problem - decisions and times of many runs as one sparse problem
 *
 * Usage: inline-problem [OPTION]... --times=FILE [FILE]...
 *        inline-problem [OPTION]... --runs=RUNS.csv --times=FILE
 *
 * Every expression of the FILEs is a run: decisions in any form or a tree,
 * with its timings (result records, or (time_seconds T ...) in canonical
 * decisions). A run is named by its file (#K for the K-th further
 * expression); its group is the file's folder; it is initial when the name
 * holds the word initial. With --runs a table tells instead: columns in run,
 * decisions (a file), time_seconds and optionally group, initial; rows of one
 * run are its timings. The time of a run is the geometric mean of its timings.
 *
 * Columns out: run,node,kind,factor,callee. A node is its steps joined by
 * blanks, the root is /; kind is root, decl, inlined or apply; factor is the
 * product of the decay from the root down. FILE of --times gets
 * run,group,initial,time_seconds,n_timings. Input order. Memory: one entry
 * for each node of each run, 12 bytes.
 *
 * Examples:
 *   $ inline-problem --gamma=0.9 --times=times.csv 0/results_?.sexp > problem.csv
 *   $ inline-problem --expand --runs=runs.csv --times=times.csv > problem.csv
 */
#include "decisions/expand.h"
#include "decisions/problem.h"
#include "decisions/source.h"
#include "base/filter.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *output, *times_path, *runs_path;
static enum { STAMP, NAME } identity = STAMP;
static enum sexp_dialect dialect = SEXP_CORE;
static double gamma_ = 0.9;
static long only_round = 0;
static bool divide, expanded;
static const struct opt options[] = {
    { 0, "gamma", NUM, &gamma_, "G", "decay per level", 1e-6, 1 },
    { 0, "divide", FLAG, &divide, NULL, "divide a factor by the number of siblings too" },
    { 0, "expand", FLAG, &expanded, NULL, "run the six passes of flambda-tree --expand on V1 trees" },
    { 0, "identity", WORD, &identity, "stamp|name",
      "functions are told apart by unit, name and stamp, or without the stamp" },
    ROUND_OPTION(only_round),
    { 0, "runs", STR, &runs_path, "FILE", "table of runs" },
    { 0, "times", STR, &times_path, "FILE", "where the times of the runs go" },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static struct names names;
static struct decisions d;
static struct itree tree;
static struct sparse_problem problem;

static double mean_time(const double *t, size_t n)
{
    double sum = 0;
    if (n == 1) return t[0];                             /* exactly */
    for (size_t i = 0; i < n; i++) sum += log(t[i]);
    return exp(sum / (double)n);
}

static void add_tree(const struct sexp *e, const char *file, str run)
{
    source_tree(&names, e, &d, (int)only_round, true, &tree);
    if (expanded && tree.form == FORM_TREE_V1) expand(&names, &tree, file, EXPAND_PASSES, NULL);
    problem_add(&problem, &names, &tree, run, gamma_, divide, identity == NAME);
}

static void from_files(char **paths)
{
    struct source in = source_open(paths, dialect);
    static struct buf run;
    for (const struct sexp *e; (e = source_next(&in)); ) {
        run.n = 0;
        buf_str(&run, str_of(in.file));
        if (in.index) buf_format(&run, "#%zu", in.index);
        add_tree(e, in.file, (str){ run.s, run.n });
        if (!d.n_time) sexp_die(e, 0, "a run without timings; name them in a table, see --runs");
        const char *slash = strrchr(in.file, '/');
        str group = { in.file, slash ? (size_t)(slash - in.file) : 0 };
        problem_time(&problem, (str){ run.s, run.n }, group, strstr(run.s, "initial") != NULL,
                     mean_time(d.time, d.n_time), (long)d.n_time);
    }
}

struct listed { double sum, first; long n; const char *file, *group; bool initial; };

static void from_table(void)
{
    static struct intern seen;
    static struct arena texts;
    static struct listed *l;
    size_t cap = 0;
    csv *in = csv_open(runs_path);
    int run = csv_need(in, "run"), file = csv_need(in, "decisions"), seconds = csv_need(in, "time_seconds");
    int group = csv_find(in, "group"), initial = csv_find(in, "initial");
    while (csv_next(in)) {
        size_t before = seen.n;
        uint32_t k = intern(&seen, csv_str(in, run));
        l = grow(l, seen.n, &cap, sizeof *l);
        if (k == before) {
            const char *g = csv_cstr(in, group < 0 ? run : group, &texts);
            l[k] = (struct listed){ 0, 0, 0, csv_cstr(in, file, &texts), g, csv_num_or(in, initial, 0) != 0 };
        }
        double t = csv_num(in, seconds);
        if (!(t > 0) || isinf(t)) csv_die(in, seconds, "a time");
        if (!l[k].n++) l[k].first = t;
        l[k].sum += log(t);
    }
    csv_close(in);
    for (size_t k = 0; k < seen.n; k++) {
        sexpr *r = sexp_open(l[k].file, SEXP_CORE);
        add_tree(sexp_only(r), l[k].file, seen.name[k]);
        sexp_close(r);
        problem_time(&problem, seen.name[k], str_of(l[k].group), l[k].initial,
                     l[k].n == 1 ? l[k].first : exp(l[k].sum / (double)l[k].n), l[k].n);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!times_path) usage("no file for the times given, see --times");
    if (runs_path && argv[i]) usage("files and --runs together");
    if (runs_path) from_table();
    else from_files(argv + i);
    csvw *out = csvw_open(output), *times = csvw_open(times_path);
    problem_write(&problem, out, times);
    csvw_close(times);
    return csvw_close(out);
}

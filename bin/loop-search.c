/* loop-search - look for a fast nest for each problem
 *
 * Usage: loop-search --algo=NAME [--seconds=S] [--steps=N] [FILE]
 *
 * Columns in: problem.  Columns out: problem, algo, step, action, tree,
 * gflops, seconds, kind.  One row for the untiled nest (step 0) and one for
 * each action that leads to the best nest found; the last row of a problem
 * is that nest, measured afresh.  seconds is the time of the search when the
 * nest of the row was evaluated; gflops and seconds are empty where the
 * search had no need to evaluate it.  kind is real or simulated.
 * With --as-published the algo is NAME_published.
 * Algorithms: greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs
 * random anneal heuristic; see lib/loop/search/search.h for more.
 * Where trees that loop-rank learned on this machine are there (make
 * loop-learn; MILLRACE_LOOP_RANK or --rank name others), the heuristic
 * measures their first nest, the model's first, then what those make likely.
 * With --eval=model a search is reproducible by its seed: each evaluation
 * then counts as 0.1 ms.  With --out a search that was killed goes on at
 * the problem it was at; with the model its rows are those of one that was
 * not killed.  A cache makes it go on fast.  With --list nothing is measured.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=128 --n=128 --k=128 |
 *     loop-search --algo=heuristic
 *   $ loop-search --algo=beam4dfs --as-published --seconds=60 problems.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "base/progress.h"
#include "loop/nest/rows.h"
#include "loop/search/candidate.h"
#include "loop/search/picks.h"
#include "loop/search/rank.h"
#include "loop/search/search.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *label, *output, *cache, *dot, *rank;
static int algo = -1;
static enum { PUBLISHED, FULL } actions = FULL;
static enum { RUN, MODEL } eval = RUN;
static int isa_given = -1;
static long steps = 10, seed = 1, measure = 24, confirm = 16;
static double seconds = 10;
static bool published, prepared, spread, list;
static const struct opt options[] = {
    { 0, "algo", WORD, &algo,
      "greedy1|greedy2|beam2dfs|beam4dfs|beam2bfs|beam4bfs|random|anneal|heuristic", "which search" },
    { 0, "name", STR, &label, "NAME", "what column algo says instead of the search" },
    { 0, "seconds", NUM, &seconds, "S", "limit of time for each problem", 0, 1e9 },
    { 0, "steps", INT, &steps, "N", "longest sequence of actions; heuristic: all it takes", 0, 200 },
    { 's', "seed", INT, &seed, "N", "seed of what is drawn" },
    EVAL_OPTION(eval),
    { 0, "actions", WORD, &actions, "published|full", "the published seven, or all" },
    { 0, "as-published", FLAG, &published, NULL, "with the published defects and legality; implies the seven" },
    { 0, "prepacked", FLAG, &prepared, NULL, "operands are in the nest's own layout before the clock starts" },
    { 0, "measure", INT, &measure, "K", "heuristic: how many nests to measure", 1, 100000 },
    { 0, "rank", STR, &rank, "FILE", "heuristic: measure first what loop-rank learned; none: not" },
    { 0, "spread", FLAG, &spread, NULL, "heuristic: measure nests of all ranks, to learn from" },
    { 0, "list", FLAG, &list, NULL, "write the nests that would be measured: problem, algo, tree" },
    { 0, "confirm", INT, &confirm, "N", "fresh runs of the best nest; 0: none", 0, 64 },
    { 0, "out", STR, &output, "FILE", "append rows there, but not of problems it has" },
    CACHE_OPTION(cache),
    ISA_OPTION(isa_given),
    { 0, "dot", STR, &dot, "FILE", "write the visited graph (of the last problem)" },
    { 0 } };

/* what was learned on this machine, where it is there; it is of measurements, so not asked where there are none */
static bool ranked(struct rank *k, const struct evaluator *v, const struct search *s, bool listed)
{
    if (strcmp(s->algo, "heuristic") || s->spread || (rank && !strcmp(rank, "none"))) return false;
    char *path = rank ? xstrdup(rank) : v->model || listed ? NULL : rank_place(v->machine, v->isa);
    bool there = path && (rank || access(path, R_OK) == 0);
    if (there) {
        *k = rank_read(path);
        bool fits = k->isa == v->isa && !strcmp(k->machine, v->machine);
        if (!fits && rank) die("%s: learned on %s for %s, this is %s", path, k->machine, isa_name[k->isa], v->machine);
        if (!fits && !quiet) warn("%s: learned on %s for %s, not used", path, k->machine, isa_name[k->isa]);
        there = fits;
    }
    free(path);
    return there;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (algo < 0) usage("no search given, see --algo");
    if (list && output) usage("--list writes other columns than --out");
    enum isa isa = isa_given < 0 ? ISAS : (enum isa)isa_given;
    bool model = eval == MODEL || list, seven = published || actions == PUBLISHED;
    if (!model && isa < ISAS && !isa_here(isa)) die("this machine has no %s", isa_name[isa]);
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    struct evaluator v;
    evaluator_open(&v, isa, cache);
    v.model = model;
    v.prepared = prepared;
    struct search s = { .algo = option_word(&algo),
                        .steps = (int)steps,
                        .seconds = seconds,
                        .seed = (uint64_t)seed,
                        .published = published,
                        .measure = (int)measure,
                        .spread = spread,
                        .keep = dot != NULL };
    struct rank learned = { 0 };
    if (ranked(&learned, &v, &s, list)) s.rank = &learned, s.order = order_by_rank, s.told = told_rank;
    s.actions = seven ? (1u << ACT_PUBLISHED) - 1 : (1u << ACT_COUNT) - 1;
    struct intern done = { 0 };
    char *name = label ? xstrdup(label) : xformat("%s%s", s.algo, s.published ? "_published" : "");
    csvw *w = output ? rows_resume(output, PATH_COLUMNS, name, &done) : csvw_open("-");
    struct out *graph = dot ? out_open(dot) : NULL;
    struct picks picks;
    if (list) picks_watch(&picks, &v, w, name);
    else if (!output) csvw_names(w, PATH_COLUMNS), csvw_end(w);
    progress_start("problems", 0);
    for (double n = 0; rows_next(&r); progress(++n, "%s", s.algo)) {
        if (intern_find(&done, str_of(r.p.text)) >= 0) continue;
        search_run(&s, &v, &r.p);
        if (list) continue;
        double g = model || !confirm ? 0 : evaluate_again(&v, &s.best, (int)confirm, (int)confirm, false).gflops;
        if (g > 0) s.gflops[s.npath] = g;
        rows_write_path(w, &r.p, name, s.path, s.npath, s.gflops, s.when, model);
    }
    progress_end();
    if (graph && s.p) search_dot(&s, out_file(graph), peak_gflops(v.isa, 5));
    else if (graph) fputs("digraph {\n}\n", out_file(graph));
    if (graph) out_close(graph);
    search_free(&s);
    rank_free(&learned);
    free(name);
    evaluator_close(&v);
    rows_close(&r);
    return csvw_close(w);
}

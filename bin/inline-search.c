/* inline-search - propose the next sets of inlining decisions to try
 *
 * Usage: inline-search --store=DIR --work=WORK [--algo=NAME] [-n N] [HISTORY]...
 *
 * Reads the rows of inline-run and writes, for each proposal, a file
 * DIR/new/HASH.sexp and a row: file, parent, chain, step.  Keeps no state of
 * its own: the same history gives the same proposals, so it runs under make,
 * under GNU parallel or by hand, goes on from any log, and several processes
 * that use different --chain names share one log.  Rows exist for every
 * proposal once inline-run has tried it; nothing is proposed twice.  No rows
 * and exit 0: the search is at its end.
 *
 * Algorithms: local (calls in up to --together functions decided the other
 * way in one build, judged by each function's own cost; every --width builds
 * what helped is tried together; -n up to --width), anneal (simulated
 * annealing), walk (random walk), flip (every call alone, then all that
 * helped together, again and again), exhaustive, mcts, start (every
 * heuristic's decisions about calls that were executed; about the others, of
 * which the runs say nothing, those of the default or of the heuristic with
 * the least text).
 *
 * With --best, the best set so far goes to stdout instead, as decisions; a
 * tie goes to the default, and then it is the default's own set.
 *
 * The goal is the logarithm of cost against the row `default`: instructions
 * and text size, mixed by --text-weight; sets that break --max-text (a
 * ratio to the default) or --within (a row, such as a stock build), or whose
 * program is wrong, are never taken.  --sites (from
 * inline-sites) makes calls that are executed often likelier to be flipped.
 *
 * Examples:
 *   $ inline-search --store=s --work=w --sites=sites.csv -n 2 history.csv
 *   $ inline-search --algo=flip --text-weight=1 --store=s --work=w history.csv
 */
#include "base/filter.h"
#include "inline/search.h"
#include "inline/site_table.h"
#include "table/csvio.h"
#include HELP
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *chain, *store, *work, *sites;
static enum search_algo algo = SEARCH_ANNEAL;
static enum level level = LEVEL_O2;
static bool best;
static long seed = 1, count = 2, steps = 300, width, hot, together = 32;
static const char *within;
static double t_max = 0.04, t_min = 0.001, text_weight, max_text;
static const struct opt options[] = {
    { 0, "algo", WORD, &algo, SEARCH_ALGORITHMS, "how" },
    { 0, "chain", STR, &chain, "NAME", "name of this chain; the algorithm's where not given" },
    { 0, "store", STR, &store, "DIR", "where the tried sets lie" },
    { 0, "work", STR, &work, "DIR", "made by inline-module" },
    { 0, "sites", STR, &sites, "FILE", "table of inline-sites, for heat" },
    { 'n', "count", INT, &count, "N", "proposals a step", 1, 1000 },
    { 0, "steps", INT, &steps, "N", "length of a chain", 1, 1e9 },
    { 0, "width", INT, &width, "N", "flip: calls tried alone in a round, 0: all; local: builds", 0, 1e9 },
    { 0, "together", INT, &together, "N", "local: calls decided the other way in a build", 1, 1e6 },
    { 0, "hot", INT, &hot, "N", "leave alone calls executed less often", 0, 1e18 },
    { 0, "t-max", NUM, &t_max, "T", "first temperature", 1e-9, 1e9 },
    { 0, "t-min", NUM, &t_min, "T", "last temperature", 1e-9, 1e9 },
    { 0, "text-weight", NUM, &text_weight, "W", "0: instructions, 1: text size", 0, 1 },
    { 0, "max-text", NUM, &max_text, "RATIO", "largest text, 0: any", 0, 1e9 },
    { 0, "within", STR, &within, "ROW", "no more instructions than this row of the history" },
    { 0, "level", WORD, &level, LEVELS, "optimisation of the trials" },
    { 0, "best", FLAG, &best, NULL, "write the best set so far, propose nothing" },
    { 's', "seed", INT, &seed, "N", "of the random streams" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!store || !work) usage("--store and --work are needed");
    struct site_table known = { 0 };
    if (sites) site_table_read(&known, sites);
    struct decision_search s = { .algorithm = algo,
                        .chain = chain ? chain : option_word(&algo),
                        .store = store,
                        .level = level_name[level],
                        .work = work_open(work),
                        .seed = (uint64_t)seed,
                        .count = count,
                        .steps = steps,
                        .width = width,
                        .together = together,
                        .hot = hot,
                        .t_max = t_max,
                        .t_min = t_min,
                        .heat_key = &known.key,
                        .heat = known.heat,
                        .cost = known.cost };
    history_read(&s.history, argv + i);
    s.objective =
        (struct objective){ .base = history_find(&s.history, str_of("default")), .text_weight = text_weight,
                              .max_text_ratio = max_text };
    if (within && !(s.objective.within = history_find(&s.history, str_of(within))))
        die("no row `%s` in the history; inline-run --stock makes such", within);
    if (!s.objective.base) die("no row `default` in the history; inline-run --default makes one");
    if (!s.objective.base->ok) die("the default build of %s is not ok: nothing to search from", s.work->program->name);
    if (best) {
        const struct tried *t = history_best(&s.history, &s.objective);
        struct live set = { 0 };
        live_read(&set, xformat("%s/%.*s.sexp", store, (int)t->decisions.n, t->decisions.s));
        live_write(&set, NULL, s.work->program->name, s.work->compiler);
        return EXIT_OK;
    }
    char *dir = xformat("%s/new", store);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) die_errno("%s", dir);
    struct proposal *p = xcalloc((size_t)count + 1, sizeof *p);
    size_t n = search_propose(&s, p);
    csvw *w = csvw_open(NULL);
    csvw_names(w, "file,parent,chain,step");
    csvw_end(w);
    for (size_t k = 0; k < n; k++) {
        char *path = xformat("%s/%s.sexp", dir, p[k].hash);
        live_write(&p[k].set, path, s.work->program->name, s.work->compiler);
        csvw_cstr(w, path);
        csvw_str(w, p[k].parent);
        csvw_cstr(w, s.chain);
        csvw_int(w, p[k].step);
        csvw_end(w);
        free(path);
    }
    return csvw_close(w);
}

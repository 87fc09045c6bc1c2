/* loop-roll - let a policy schedule each problem, measuring a few nests
 *
 * Usage: loop-roll --policy=FILE [--measure=K] [--width=W] [PROBLEMS]
 *
 * Columns in: problem, and split where it is there: with --test only rows
 * with test.  Columns out: problem, algo, step, action, tree, gflops,
 * seconds, kind, as from loop-search: a row for the untiled nest (step 0) and
 * one for each action to the best nest, which is the last row.  The policy
 * proposes the states that it would go through (--width=1) or a beam of W
 * of them at each step; the K most promising trees are measured, the untiled
 * one among them, and the best is kept (with --rank=model, those that the
 * analytic model finds fastest).  With --measure=0 nothing is
 * measured and gflops is empty.  With --seconds=S only what can be measured
 * in that time is, by fewer runs, and the untiled nest not if it is slow.
 * seconds counts from the start of a problem; in the last row it is the end.
 * algo is policy, kind is real or simulated.
 *
 * Examples:
 *   $ loop-roll --policy=mm.policy --measure=10 --test problems.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "loop/search/picks.h"
#include "loop/search/policy.h"
#include "loop/nest/rows.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *file, *cache, *name = "policy";
static enum { RUN, MODEL } eval = RUN;
static long measure = 10, width = 16, confirm = 16;
static enum { BY_POLICY, BY_MODEL } rank = BY_POLICY;
static double seconds = INFINITY;
static bool test, list;
static const struct opt options[] = {
    { 0, "policy", STR, &file, "FILE", "from loop-train" },
    { 0, "measure", INT, &measure, "K", "different trees to measure, at most", 0, 1000 },
    { 0, "width", INT, &width, "W", "states to keep at each step", 1, POLICY_WIDTH },
    { 0, "rank", WORD, &rank, "policy|model", "what says which states are promising" },
    { 0, "seconds", NUM, &seconds, "S", "limit of time for each problem; by default none", 0, INFINITY },
    { 0, "confirm", INT, &confirm, "N", "fresh runs of the best nest, not counted; 0: none", 0, 64 },
    { 0, "test", FLAG, &test, NULL, "only problems whose split is test" },
    { 0, "list", FLAG, &list, NULL, "write the nests that would be measured: problem, algo, tree" },
    { 0, "name", STR, &name, "NAME", "what column algo says" },
    EVAL_OPTION(eval),
    CACHE_OPTION(cache),
    { 0 } };

/* fresh runs of the best nest, in place of its own */
static void confirm_best(struct rollout *r, const struct problem *p, struct evaluator *v)
{
    struct nest best;
    nest_reset(p, &best);
    for (int i = 0; i < r->npath; i++) nest_act(p, &best, r->path[i], RULE_NONE);
    double again = evaluate_again(v, &best, (int)confirm, (int)confirm, false).gflops;
    if (again > 0) r->gflops[r->npath] = again;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!file) usage("no policy given, see --policy");
    struct policy k = policy_read(file);
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    int split = test ? csv_need(r.t, "split") : -1;
    struct evaluator v;
    evaluator_open(&v, isa_best(), cache);
    v.model = eval == MODEL;
    csvw *w = csvw_open("-");
    struct picks picks;
    if (list) picks_watch(&picks, &v, w, name);
    else csvw_names(w, PATH_COLUMNS), csvw_end(w);
    progress_start("problems", 0);
    for (double n = 0; rows_next(&r); progress(++n, "%s", name)) {
        if (test && !str_is(csv_str(r.t, split), "test")) continue;
        evaluator_problem(&v, &r.p);
        struct rollout o = policy_roll(&k, &v, &r.p, (int)width, (int)measure, rank == BY_MODEL, seconds);
        if (list) continue;
        if (measure && confirm && !v.model) confirm_best(&o, &r.p, &v);
        rows_write_path(w, &r.p, name, o.path, o.npath, o.gflops, o.when, v.model);
    }
    progress_end();
    agent_free(&k.g);
    evaluator_close(&v);
    rows_close(&r);
    return csvw_close(w);
}

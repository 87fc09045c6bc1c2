/* inline-optimal - the best decisions about inlining for size, with proof
 *
 * Usage: inline-optimal [--level=-Oz] [--store=FILE] [--decisions=FILE]
 *                       [--calls=FILE] WORK
 *
 * WORK is a directory made by inline-module; made --per-file, each source is
 * a module of its own and the program is their sum, else the whole program is
 * one.  For each module this looks for the decisions that give least machine
 * code, a decision for each call of the source, which holds for its copies
 * too.  What a function costs depends on what is inlined into it; all sets of
 * calls that can come to lie in it, if there are no more than --most, are
 * built, and then the least sum over all functions is proven.  Functions with
 * more sets stay open: their sets are searched one call at a time, and the
 * bound on them is zero.  It is zero too for functions whose calls form a
 * circle, or that call themselves, and for all that can come to hold their
 * code: a compiler decides copies of such calls apart, and no table says how.
 *
 * Columns out, a row for each module and one for all, module (all): program,
 * module, level, functions, calls, decided (calls with a choice),
 * recursive_functions (no bound, see above), closed_functions, closed_ratio
 * (share of the code of the best in them), largest (sets of one function),
 * entries (sets built), builds, whole (those of the module with all its
 * functions), builds_per_second, seconds; bytes of machine code with
 * none_bytes (nothing inlined), heuristic_bytes (the compiler's), best_bytes
 * (built), table_bytes (the tables said so), lower_bytes (no decisions about
 * calls of the source give less), gap_ratio (best over lower: no decisions are
 * better by more), excess_ratio (heuristic over best), estimate_bytes (the
 * bound if in open functions each call added what it adds alone); compared,
 * unequal (functions built twice, beside other ones, that came out otherwise),
 * sums, sums_unequal (random decisions whose sum the tables know), state
 * (optimum: best is lower; bound; recursive: a bound on the other functions;
 * beaten: the compiler's own build has less than the best found; failed),
 * reason.
 *
 * FILE of --calls gets a row a call: program, module, callee, caller, chain,
 * choice (yes, or why not), optimal (yes, no), heuristic (yes, no), closed
 * (yes, no: is the caller's set proven), gain_bytes (what the other way would
 * add, where known), and the columns of inline-calls.  FILE of --decisions
 * is for inline-build and inline-emit.  FILE of --store is a log: a run that
 * was killed goes on.
 *
 * With --only=SOURCE that source alone is done, or those whose path ends so.
 *
 * Exit 1 when a module could not be done; the others are.
 *
 * Examples:
 *   $ inline-module --per-file --out=w src && inline-optimal w | csv-show
 *   $ inline-optimal --most=1024 --store=log.csv --decisions=best.sexp w
 */
#include "base/filter.h"
#include "base/progress.h"
#include "inline/proved.h"
#include HELP

static enum level level = LEVEL_OZ;
static const char *store, *decisions, *calls, *only, *out;
static long most = 256, builds = 4000, nodes = 20000, check = 16, chance = 2, seed = 1;
static const struct opt options[] = {
    LEVEL_OPTION(level),
    PROOF_OPTIONS("a module", most, builds, nodes, chance, seed),
    { 0, "check", INT, &check, "N", "every so many builds one is done twice", 1, 1e9 },
    { 0, "only", STR, &only, "SOURCE", "this source alone" },
    { 0, "store", STR, &store, "FILE", "a log of what was built" },
    { 0, "decisions", STR, &decisions, "FILE", "write the best here" },
    { 0, "calls", STR, &calls, "FILE", "write a row a call here" },
    OUTPUT_OPTION(out),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    struct work *k = work_open_llvm(argv[i]);
    prove_need(k, only);
    struct prove p = { .work = k, .level = level_name[level], .store = store, .most = most, .builds = builds,
                       .nodes = nodes, .check = check, .random = chance, .seed = (uint64_t)seed };
    struct proved all = { .module = (char[]){ "(all)" } };
    struct live did = { 0 };
    csvw *w = csvw_open(out), *c = calls ? csvw_open(calls) : NULL;
    proved_names(w);
    if (c) proved_call_names(c);
    size_t n = prove_modules(k);
    progress_start("modules", (double)n);
    for (size_t j = 0; j < n; j++) {
        struct proved one;
        if (!prove_wanted(k, j, only)) continue;
        prove_module(&p, j, &one, decisions ? &did : NULL);
        proved_write(w, k->program->name, level_name[level], &one);
        csvw_flush(w);
        if (one.why) {
            warn("%s: %s", one.module, one.why);
            all.why = "some modules failed";
        } else {
            if (c) proved_write_calls(c, k->program->name, &one);
            proved_add(&all, &one);
        }
        proved_free(&one);
        progress((double)(j + 1), "%ld builds", all.builds);
    }
    progress_end();
    proved_write(w, k->program->name, level_name[level], &all);
    live_sort(&did);
    if (decisions) live_write(&did, decisions, k->program->name, k->compiler);
    if (c) csvw_close(c);
    int status = csvw_close(w);
    return all.why ? EXIT_FAIL : status;
}

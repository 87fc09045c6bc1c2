/* inline-executed - the fewest instructions that a program executes, with proof
 *
 * Usage: inline-executed [--level=-O2] [--most=N] [--exhaustive=N] WORK
 *        inline-executed --count [--threshold=N | --search=N] WORK
 *        inline-executed --count --verdicts=FILE [-c COLUMN] WORK
 *
 * What inline-optimal is for size, for exact instructions: WORK is a directory
 * made by inline-module --per-file, its search runs are counted, and a row is
 * written.  What counts is executed in the program's own functions; what the
 * libraries execute is told beside it.  For a small program with short runs:
 * each set of decisions is built, linked, run and counted.
 *
 * Columns: program, level, functions, idle_functions (never executed), calls,
 * decided (calls with a choice), closed_functions (all their sets were built,
 * or idle), closed_ratio (share of the best's instructions in them), largest
 * (sets of one function), entries, builds, seconds; instructions of all search
 * runs with none_instructions (nothing inlined), heuristic_instructions (the
 * compiler's), best_instructions, table_instructions (the tables said so),
 * lower_instructions (nothing is less); gap_ratio (best over lower),
 * excess_ratio (heuristic over best), other_instructions (outside of the
 * program's functions), other_differs (builds in which these were others);
 * compared, unequal (functions built again that were not as before), sums,
 * sums_unequal (random decisions whose sum the tables know), sets (all there
 * are), exhaustive_instructions (the least of all, each built),
 * chosen_instructions, state, reason.
 *
 * With --count only the level's own decisions and none are counted, and as
 * chosen_instructions what the table of verdicts says, read as inline-size
 * does, or the least that N builds find, without a proof.
 * FILE of --calls gets a row for each call with a choice: program, callee,
 * caller, chain, optimal (yes, no; empty with --count), gain_instructions (what
 * the other way would add, where known), and what the two functions execute
 * when nothing is inlined: callee_run_instructions, caller_run_instructions.
 *
 * Examples:
 *   $ inline-module --per-file --out=w src && inline-executed w | csv-show
 *   $ inline-executed --most=4096 --exhaustive=1024 w
 *   $ inline-executed --count --level=-Os w
 */
#include "base/filter.h"
#include "inline/executed.h"
#include "inline/verdicts.h"
#include "table/record.h"
#include HELP
#include <math.h>

static enum level level = LEVEL_O2;
static const char *threshold, *verdicts, *column = "predicted", *calls, *out;
static bool only;
static long most = 256, builds = 2000, nodes = 20000, chance = 4, seed = 1, exhaustive = 0, search = 0;
static const struct opt options[] = {
    LEVEL_OPTION(level),
    PROOF_OPTIONS("the program", most, builds, nodes, chance, seed),
    { 0, "exhaustive", INT, &exhaustive, "N", "build all sets, where there are no more", 0, 1e9 },
    { 0, "count", FLAG, &only, NULL, "no search" },
    THRESHOLD_OPTION(threshold),
    { 0, "verdicts", STR, &verdicts, "FILE", "a table of calls with a verdict" },
    { 'c', "column", STR, &column, "NAME", "the verdict, yes or no" },
    { 0, "search", INT, &search, "N", "builds that look for less", 3, 1e6 },
    { 0, "calls", STR, &calls, "FILE", "write a row a call here" },
    OUTPUT_OPTION(out),
    { 0 } };

struct row {
    struct executed e;
    const char *program, *level, *state;
    double closed_ratio, gap_ratio, excess_ratio;
};
#define IN(member) offsetof(struct row, member)
static const struct field columns[] = {
    { "program", F_TEXT, IN(program) },
    { "level", F_TEXT, IN(level) },
    { "functions", F_SIZE, IN(e.functions) },
    { "idle_functions", F_SIZE, IN(e.idle) },
    { "calls", F_SIZE, IN(e.calls) },
    { "decided", F_SIZE, IN(e.decided) },
    { "closed_functions", F_SIZE, IN(e.closed_functions) },
    { "closed_ratio", F_KNOWN, IN(closed_ratio) },
    { "largest", F_SIZE, IN(e.largest) },
    { "entries", F_SIZE, IN(e.entries) },
    { "builds", F_LONG, IN(e.builds) },
    { "seconds", F_NUM, IN(e.seconds) },
    { "none_instructions", F_KNOWN, IN(e.none) },
    { "heuristic_instructions", F_KNOWN, IN(e.heuristic) },
    { "best_instructions", F_KNOWN, IN(e.best) },
    { "table_instructions", F_KNOWN, IN(e.tables) },
    { "lower_instructions", F_KNOWN, IN(e.lower) },
    { "gap_ratio", F_KNOWN, IN(gap_ratio) },
    { "excess_ratio", F_KNOWN, IN(excess_ratio) },
    { "other_instructions", F_KNOWN, IN(e.other) },
    { "other_differs", F_LONG, IN(e.other_differs) },
    { "compared", F_LONG, IN(e.compared) },
    { "unequal", F_LONG, IN(e.unequal) },
    { "sums", F_LONG, IN(e.sums) },
    { "sums_unequal", F_LONG, IN(e.sums_unequal) },
    { "sets", F_NUM, IN(e.sets) },
    { "exhaustive_instructions", F_KNOWN, IN(e.exhaustive) },
    { "chosen_instructions", F_KNOWN, IN(e.chosen) },
    { "state", F_TEXT, IN(state) },
    { "reason", F_TEXT, IN(e.why) },
    { 0 } };

static double ratio(double of, double to)
{
    return to > 0 ? of / to : NAN;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    if ((threshold || verdicts || search) && !only) usage("--threshold, --verdicts or --search goes with --count");
    if ((threshold != NULL) + (verdicts != NULL) + (search > 0) > 1)
        usage("--threshold, --verdicts and --search exclude one another");
    struct work *k = work_open_llvm(argv[i]);
    struct prove p = { .work = k, .level = level_name[level], .most = most, .builds = builds, .nodes = nodes,
                       .random = chance, .seed = (uint64_t)seed };
    struct row r = { .program = k->program->name, .level = level_name[level] };
    struct intern yes = { 0 };
    if (verdicts) verdicts_read(&yes, verdicts, column);
    struct executed_order order = { .search = !only, .exhaustive = (double)exhaustive, .threshold = threshold,
                                    .verdicts = verdicts ? &yes : NULL, .descent = search };
    prove_executed(&p, &order, &r.e);
    if (calls) executed_write_calls(calls, k->program->name, &r.e, !only);
    r.state = r.e.why ? "failed" : "ok";
    r.closed_ratio = ratio(r.e.closed, r.e.best);
    r.gap_ratio = ratio(r.e.best, r.e.lower);
    r.excess_ratio = ratio(r.e.heuristic, r.e.best);
    if (r.e.why) warn("%s: %s", k->program->name, r.e.why);
    csvw *w = csvw_open(out);
    record_names(w, columns);
    csvw_end(w);
    record_write(w, columns, &r);
    csvw_end(w);
    int status = csvw_close(w);
    return r.e.why ? EXIT_FAIL : status;
}

/* inline-size - how much machine code a program is under given verdicts
 *
 * Usage: inline-size [--verdicts=FILE [-c COLUMN] [--decisions=FILE]] WORK
 *        inline-size --threshold=N WORK
 *        inline-size --exhaustive [--most=N] WORK
 *        inline-size --search=N [--decisions=FILE] WORK
 *
 * WORK is a directory made by inline-module.  Builds each of its modules once
 * and in this process, as inline-optimal does, and writes a row for each
 * module and one for all, module (all): program, module, level, sets (built),
 * code_bytes (of the sections with machine code).
 *
 * FILE of --verdicts is a table with the columns callee and chain, as
 * inline-optimal and inline-sites write it, and COLUMN says yes where a call
 * is to be inlined, with all copies of it; calls that FILE does not name are
 * not inlined.
 * FILE of --decisions gets them as inline-build and inline-emit read them.
 * Without FILE the compiler's own heuristic decides, with its threshold N.
 * With --exhaustive every set of decisions is built and the least is told:
 * slow, and what inline-optimal can be compared with; code_bytes is empty
 * where a module has more than N sets.  With --search=N so many builds of each
 * module look for less, from nothing inlined and from what the heuristic
 * decides by itself and with thresholds -50 and 0, many calls the other way in
 * one build, each judged by its own functions: no proof, but quick.
 * With --only=SOURCE that source alone is built, or those whose path ends so.
 *
 * Examples:
 *   $ inline-size --threshold=25 w
 *   $ inline-size --verdicts=p.csv --decisions=p.sexp w
 *   $ inline-size --exhaustive --most=4096 w
 */
#include "base/filter.h"
#include "inline/prove.h"
#include "inline/verdicts.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>

static enum level level = LEVEL_OZ;
static const char *verdicts, *column = "predicted", *threshold, *decisions, *only, *out;
static bool exhaustive;
static long most = 4096, search, seed = 1;
static const struct opt options[] = {
    LEVEL_OPTION(level),
    { 0, "verdicts", STR, &verdicts, "FILE", "a table of calls with a verdict" },
    { 'c', "column", STR, &column, "NAME", "the verdict, yes or no" },
    THRESHOLD_OPTION(threshold),
    { 'd', "decisions", STR, &decisions, "FILE", "write the verdicts as decisions here" },
    { 0, "exhaustive", FLAG, &exhaustive, NULL, "every set of decisions" },
    { 0, "most", INT, &most, "N", "sets of a module that are built", 1, 1e9 },
    { 0, "search", INT, &search, "N", "builds that look for less", 8, 1e6 },
    { 's', "seed", INT, &seed, "N", "of the order in which they do" },
    { 0, "only", STR, &only, "SOURCE", "this source alone" },
    OUTPUT_OPTION(out),
    { 0 } };

static void write_row(csvw *w, const struct work *k, const char *module, double sets, double bytes)
{
    csvw_cstr(w, k->program->name);
    csvw_cstr(w, module);
    csvw_cstr(w, level_name[level]);
    csvw_num(w, sets);
    csvw_known(w, bytes);
    csvw_end(w);
}

/* of the heuristic, beside nothing inlined */
static const char *const starts[] = { NULL, "-50", "0" };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory expected");
    if ((verdicts != NULL) + (threshold != NULL) + exhaustive + (search > 0) > 1)
        usage("--verdicts, --threshold, --exhaustive and --search exclude one another");
    if (decisions && !verdicts && !search) usage("--decisions writes what --verdicts says or --search finds");
    struct work *k = work_open_llvm(argv[i]);
    prove_need(k, only);
    struct intern wanted = { 0 };
    if (verdicts) verdicts_read(&wanted, verdicts, column);
    struct prove p = { .work = k, .level = level_name[level], .most = most,
                       .builds = search, .seed = (uint64_t)seed };
    struct live did = { 0 };
    double sets = 0, sum = 0;
    csvw *w = csvw_open(out);
    csvw_names(w, "program,module,level,sets,code_bytes");
    csvw_end(w);
    for (size_t j = 0, n = prove_modules(k); j < n; j++) {
        if (!prove_wanted(k, j, only)) continue;
        const char *why, *module = k->scope == SCOPE_FILE ? k->program->unit[j].source : "";
        struct live *to = decisions ? &did : NULL;
        double one = 1, bytes;
        long builds;
        if (search) {
            bytes = prove_descent(&p, j, starts, sizeof starts / sizeof *starts, to, &builds, &why);
            one = (double)builds;
        } else if (exhaustive)
            bytes = prove_exhaustive(&p, j, &one, &why);
        else
            bytes = prove_bytes(&p, j, verdicts ? verdicts_yes : NULL, &wanted, threshold, to, &why);
        if (why) die("%s: %s", module, why);
        write_row(w, k, module, one, bytes);
        sets += one;
        sum += bytes;
    }
    write_row(w, k, "(all)", sets, sum);
    live_sort(&did);
    if (decisions) live_write(&did, decisions, k->program->name, k->compiler);
    return csvw_close(w);
}

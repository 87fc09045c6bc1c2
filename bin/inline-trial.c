/* inline-trial - build a program under one set of decisions and answer by a row
 *
 * Usage: inline-trial [--default | --none | --threshold=N] [options] WORK
 *
 * Reads the set of decisions on standard input, unless a heuristic is named.
 * Columns out: those of a history of inline-run, then parts and set, the two
 * texts that its store keeps.  All but build_seconds is exact: the same on
 * every machine that has the same compiler.  A build or run that fails is a
 * row with its state and reason.  Writes nothing but the row.
 *
 * With --root paths that WORK holds are looked for below DIR first: where
 * WORK and the program came from another machine, and lie as they lay there.
 *
 * Examples:
 *   $ inline-trial --default w
 *   $ inline-trial --reference=0123456789abcdef w < decisions.sexp
 */
#include "base/filter.h"
#include "inline/stock.h"
#include "inline/trial.h"
#include HELP
#include <stdio.h>

static const char *reference, *parent, *chain, *step, *threshold, *root, *compiler;
static enum level level = LEVEL_O2;
static int stock = -1;
static bool by_default, none, text_only, complete;
static double limit = 60;
static const struct opt options[] = {
    { 0, "default", FLAG, &by_default, NULL, "the compiler's own heuristic" },
    { 0, "none", FLAG, &none, NULL, "inline nothing" },
    { 0, "threshold", STR, &threshold, "N", "the heuristic with this threshold" },
    { 0, "stock", WORD, &stock, STOCK_WORDS, "a stock build" },
    { 0, "text-only", FLAG, &text_only, NULL, "do not run the program: text size alone" },
    { 0, "complete", FLAG, &complete, NULL, "tell the calls left too" },
    BUILD_OPTIONS(level, compiler),
    LIMIT_OPTION(limit),
    { 0, "reference", STR, &reference, "HASH", "of the output that is right: that of the default" },
    { 0, "parent", STR, &parent, "TEXT", "for the row, as inline-search gave it" },
    { 0, "chain", STR, &chain, "TEXT", "the same" },
    { 0, "step", STR, &step, "N", "the same" },
    { 0, "root", STR, &root, "DIR", "where absolute paths begin" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 1) usage("one work directory is expected");
    if (by_default + none + (threshold != NULL) + (stock >= 0) > 1)
        usage("more than one of --default, --none, --threshold and --stock");
    if (root) program_root(root);
    struct trials t = { .work = work_open_for(argv[i], compiler), .level = level_name[level], .run = !text_only,
                        .complete = complete, .limit_seconds = limit };
    if (reference) snprintf(t.reference, sizeof t.reference, "%s", reference);
    struct trial one = { .threshold = threshold, .nothing = none, .parent = parent, .chain = chain, .step = step };
    if (by_default) one.name = "default";
    else if (none) one.name = "none";
    else if (stock >= 0) {
        one.name = option_word(&stock);
        one.stock = true;
    } else if (threshold) one.name = xformat("threshold-%s", threshold);
    else one.file = "-";
    trial_answer(&t, &one);
    return EXIT_OK;
}

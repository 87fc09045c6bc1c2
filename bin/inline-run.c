/* inline-run - build a program under sets of inlining decisions and measure each
 *
 * Usage: inline-run --store=DIR --history=FILE [--default] [--threshold=N]...
 *                   [--list=FILE] [DECISIONS]... WORK
 *        inline-run --answer [--default | --none | --threshold=N] WORK
 *
 * Appends one row for each set that FILE does not have yet; columns: see
 * inline-search and lib/inline/history.h.  instructions are the exact count
 * of all search runs together (see bench-count), so one run is enough,
 * several can go side by side (--jobs) and a busy machine does not matter.
 * A build that fails (state build), a run that crashes or goes on for more
 * than --timeout seconds (run), other output than the default's (output) and
 * a compiler that is not there (missing) are rows with a reason and no cost.
 *
 * --default measures the compiler's own heuristic (row `default`), each
 * --threshold the same with another -inline-threshold (row `threshold-N`),
 * --none inlining nothing (row `none`); --stock what an expert would build
 * (`inline-build --help` names them): such rows have the chain `stock` and are
 * there to be compared with.  --list reads the table of inline-search.  The
 * sets, with what was really inlined, go to DIR.
 * Killed at any moment, it goes on where it was.
 *
 * With --plan nothing is measured: a table of jobs goes out, one for each
 * set that FILE does not have, and --take reads what came of them (their
 * answers merged by jobs-merge; - is standard input) into FILE and DIR.  So
 * trials can be done on other machines; pipelines/trials does all that.
 *
 * --answer is such a job: it reads one set of decisions on standard input,
 * unless a heuristic is named, writes nothing but its row, with the columns
 * parts and set, the two texts that DIR keeps, and is the same on every
 * machine that has the same compiler, but for build_seconds.  With --root
 * paths that WORK holds are looked for below that folder first.
 *
 * Examples:
 *   $ inline-run --default --threshold=500 --store=s --history=h.csv w
 *   $ inline-search --store=s --work=w h.csv > next.csv
 *   $ inline-run --list=next.csv --store=s --history=h.csv --jobs=2 w
 */
#include "base/filter.h"
#include "inline/stock.h"
#include "inline/trial.h"
#include "table/csvio.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *store, *history, *list, *compiler;
static enum level level = LEVEL_O2;
static struct list thresholds, stocks;
static const char *take, *reference, *of_parent, *of_chain, *of_step, *root;
static bool with_default, none, text_only, complete, plan, answer;
static long jobs = 1;
static double limit = 60;
static const struct opt options[] = {
    { 0, "store", STR, &store, "DIR", "where tried sets lie" },
    { 0, "history", STR, &history, "FILE", "rows are appended here" },
    { 0, "list", STR, &list, "FILE", "proposals of inline-search" },
    { 0, "default", FLAG, &with_default, NULL, "measure the heuristic" },
    { 0, "threshold", LIST, &thresholds, "N", "measure the heuristic with this threshold (many times)" },
    { 0, "none", FLAG, &none, NULL, "measure inlining nothing" },
    { 0, "stock", LIST, &stocks, "ROW", "measure a stock build (many times)" },
    { 0, "text-only", FLAG, &text_only, NULL, "do not run the program: text size alone" },
    { 0, "complete", FLAG, &complete, NULL, "store the calls left too, as inline-reward wants them" },
    { 0, "plan", FLAG, &plan, NULL, "write jobs instead of doing them" },
    { 0, "take", STR, &take, "FILE", "answers to such jobs" },
    { 0, "answer", FLAG, &answer, NULL, "be such a job: one set, a row to standard output" },
    { 0, "reference", STR, &reference, "HASH", "--answer: of the output that is right, that of the default" },
    { 0, "parent", STR, &of_parent, "TEXT", "--answer: for the row, as inline-search gave it" },
    { 0, "chain", STR, &of_chain, "TEXT", "--answer: the same" },
    { 0, "step", STR, &of_step, "N", "--answer: the same" },
    { 0, "root", STR, &root, "DIR", "--answer: where absolute paths begin" },
    BUILD_OPTIONS(level, compiler),
    TIMEOUT_OPTION(limit),
    { 'j', "jobs", INT, &jobs, "N", "sets measured side by side", 1, 1024 },
    { 0 } };

static int be_a_job(struct trials *t)
{
    if (with_default + none + thresholds.n + stocks.n > 1)
        usage("more than one of --default, --none, --threshold and --stock");
    struct trial one = { .nothing = none, .parent = of_parent, .chain = of_chain, .step = of_step };
    if (reference) snprintf(t->reference, sizeof t->reference, "%s", reference);
    if (with_default) one.name = "default";
    else if (none) one.name = "none";
    else if (stocks.n) {
        one.name = stocks.v[0];
        one.stock = true;
    } else if (thresholds.n) {
        one.threshold = thresholds.v[0];
        one.name = xformat("threshold-%s", one.threshold);
    } else one.file = "-";
    trial_answer(t, &one);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no work directory given");
    if (!answer && (!store || !history)) usage("--store and --history are needed");
    if (answer && argc - i != 1) usage("one work directory is expected");
    if (root) program_root(root);
    struct trials t = { .work = work_open_for(argv[argc - 1], compiler), .store = store, .history = history,
                        .level = level_name[level],
                        .run = !text_only, .complete = complete, .limit_seconds = limit, .jobs = jobs };
    if (answer) return be_a_job(&t);
    trials_begin(&t);
    if (with_default) trials_add(&t, (struct trial){ .name = "default" });
    if (none) trials_add(&t, (struct trial){ .name = "none", .nothing = true });
    for (int k = 0; k < thresholds.n; k++)
        trials_add(&t,
                   (struct trial){ .name = xformat("threshold-%s", thresholds.v[k]), .threshold = thresholds.v[k] });
    for (int k = 0; k < stocks.n; k++)
        trials_add(&t, (struct trial){ .name = stocks.v[k], .stock = true, .chain = STOCK_CHAIN });
    static struct arena text;
    if (list) {
        csv *c = csv_open(list);
        int file = csv_need(c, "file"), parent = csv_need(c, "parent"), chain = csv_need(c, "chain"),
            step = csv_need(c, "step");
        while (csv_next(c))
            trials_add(&t, (struct trial){ .file = csv_cstr(c, file, &text), .parent = csv_cstr(c, parent, &text),
                                           .chain = csv_cstr(c, chain, &text), .step = csv_cstr(c, step, &text) });
        csv_close(c);
    }
    for (; i + 1 < argc; i++) trials_add(&t, (struct trial){ .file = argv[i] });
    if (take) trials_take(&t, take);
    else if (plan) trials_plan(&t);
    else trials_run(&t);
    return EXIT_OK;
}

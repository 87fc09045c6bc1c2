/* bench-guard - keep a decision only where it surely beats the default
 *
 * Usage: bench-guard --base=DEFAULT [--best] [OPTION]... [FILE]...
 *        bench-guard --base=DEFAULT --all-inputs [--most-loss=X]
 *                    [--sizes=FILE] [FILE]...
 *
 * Columns in: those of bench-compare; labels other than the base are candidate
 * decisions, for each benchmark apart.  Even rounds decide, odd rounds, which
 * the decision never sees, say what it is worth.  A candidate is
 * kept when the one-sided upper bound of its time ratio lies below 1, else the
 * default goes out.  A candidate with a failed run is never kept.
 *
 * Columns out, a row per benchmark and candidate, or with --best per
 * benchmark: benchmark, label, base, metric, decision (the label kept, or the
 * base), rounds, ratio, upper_ratio (that decided), confirmed_rounds,
 * confirmed_ratio, confirmed_lower_ratio, confirmed_upper_ratio,
 * guarded_ratio (confirmed_ratio where kept, 1 for the default), kind.
 * With --best the candidates of a benchmark share the chance of an error.
 *
 * With --all-inputs benchmarks are PROGRAM.INPUT, and a program is kept or not
 * by all its inputs together: a round's value is the mean of their logarithms
 * of the ratio, the bound must lie below 1, or with --most-loss=0.01 below
 * 1.01, and no input may be surely slower than that (by all rounds, the chance
 * of an error shared among the inputs).  With --sizes, a table of bench-count,
 * it must have less text_bytes than the base too.  Columns out: program, label,
 * base, decision, reason (gain, no sure gain, slower on an input, not smaller,
 * failed, too few rounds), inputs, rounds, ratio, lower_ratio, upper_ratio (of
 * the mean, in the odd rounds), worst (the input with the highest ratio),
 * worst_ratio, worst_lower_ratio, worst_upper_ratio, text_ratio, kind.
 * Order: first appearance.  Memory: all rows.
 *
 * Examples:
 *   $ bench-guard --base=default policies.csv
 *   $ bench-guard --all-inputs --base=O2 --sizes=exact.csv runs.csv
 */
#include "base/filter.h"
#include HELP
#include "measure/inputs.h"
#include "table/csvio.h"
#include "table/input.h"
#include "table/kind.h"
#include <math.h>

static const char *base_name, *metric, *group, *sizes;
static enum { DIE, SKIP } incomplete = DIE;
static struct guard rule = { .confidence = 0.95 };
static bool best, all_inputs;
static double most_loss;
static const struct opt options[] = {
    { 'b', "base", STR, &base_name, "LABEL", "the default" },
    METRIC_OPTION(metric),
    { 0, "best", FLAG, &best, NULL, "one decision per benchmark, the surest candidate" },
    CONFIDENCE_OPTION(rule.confidence, "that what is kept is no loss (one-sided)"),
    { 0, "least-gain", NUM, &rule.least_gain, "X", "keep only what surely gains so much", 0, 1 },
    { 0, "all-inputs", FLAG, &all_inputs, NULL, "one decision per program and label, over all its inputs" },
    { 0, "most-loss", NUM, &most_loss, "X", "with --all-inputs: keep what surely loses less than so much", 0, 0.5 },
    { 0, "sizes", STR, &sizes, "FILE", "with --all-inputs: exact costs, by which it must be smaller too" },
    PROGRAM_OPTION(group),
    { 0, "incomplete", WORD, &incomplete, "die|skip", "rounds with a label missing" },
    CSV_INPUT,
    { 0 } };

struct cell { struct guarded g; bool failed, measured; };

static void write_cell(csvw *w, const struct runs *r, size_t benchmark, size_t label, const struct cell *c)
{
    const struct paired *a = &c->g.calibration, *b = &c->g.confirmation;
    csvw_str(w, r->benchmark.name[benchmark]);
    csvw_str(w, r->label.name[label]);
    csvw_cstr(w, base_name);
    csvw_cstr(w, r->metric);
    if (c->g.keep) csvw_str(w, r->label.name[label]);
    else csvw_cstr(w, base_name);
    csvw_int(w, (int64_t)a->n);
    csvw_known(w, exp(a->log_ratio.point));
    csvw_known(w, a->n ? exp(c->g.upper) : NAN);
    csvw_int(w, (int64_t)b->n);
    csvw_known(w, exp(b->log_ratio.point));
    csvw_known(w, b->n ? exp(b->log_ratio.lower) : NAN);
    csvw_known(w, b->n ? exp(b->log_ratio.upper) : NAN);
    csvw_known(w, c->g.keep ? exp((b->n ? b : a)->log_ratio.point) : 1);
    kind_write(w, r->kinds);
    csvw_end(w);
}

static struct cell decide(const struct runs *r, size_t benchmark, size_t base, size_t label, size_t candidates)
{
    struct pairs p = runs_pairs(r, &r->main[benchmark], base, label);
    struct cell c = { .failed = p.errors > 0, .measured = p.n + p.errors > 0 };
    if (c.failed) p.n = 0;
    /* a timeout of the candidate counts as infinitely slow */
    c.g = guard_decide(p.upper, p.n, candidates, &rule);
    pairs_free(&p);
    return c;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!base_name) usage("no default given, see --base");
    if (all_inputs && (best || rule.least_gain > 0 || group || incomplete == SKIP))
        usage("--all-inputs goes with --most-loss and --sizes alone");
    if (!all_inputs && (sizes || most_loss > 0)) usage("--sizes and --most-loss go with --all-inputs");
    struct runs *r = runs_read(argv + i, &(struct runs_options){ metric, group, incomplete == SKIP });
    long base = runs_label(r, base_name);
    if (base < 0) die("no label '%s' in the input", base_name);
    csvw *w = csvw_fd(1);
    if (all_inputs) {
        static struct sizes text;
        if (sizes) sizes_read(&text, sizes, &r->label);
        inputs_names(w);
        inputs_guard(w, r, (size_t)base, (struct inputs_rule){ rule, most_loss, sizes ? &text : NULL });
        return csvw_close(w);
    }
    csvw_names(w, "benchmark,label,base,metric,decision,rounds,ratio,upper_ratio,confirmed_rounds,confirmed_ratio,"
                  "confirmed_lower_ratio,confirmed_upper_ratio,guarded_ratio,kind");
    csvw_end(w);
    size_t kept = 0, all = 0, candidates = 0, failed = 0, few = 0, most = 0,
           least = guard_least(best ? r->label.n - 1 : 1, &rule);
    struct cell *c = xcalloc(r->label.n + 1, sizeof *c);
    for (size_t b = 0; b < r->benchmark.n; b++) {
        size_t first = (size_t)base;                     /* with --best: the surest so far */
        for (size_t l = 0; l < r->label.n; l++) {
            if (l == (size_t)base) continue;
            c[l] = decide(r, b, (size_t)base, l, best ? r->label.n - 1 : 1);
            if (!c[l].measured) continue;
            candidates++;
            failed += c[l].failed;
            size_t rounds = c[l].g.calibration.n + c[l].g.confirmation.n;
            if (!c[l].failed && rounds < least) few++, most = rounds > most ? rounds : most;
            if (!best) write_cell(w, r, b, l, &c[l]), kept += c[l].g.keep, all++;
            else if (first == (size_t)base || c[l].g.upper < c[first].g.upper) first = l;
        }
        if (best && first != (size_t)base) write_cell(w, r, b, first, &c[first]), kept += c[first].g.keep, all++;
    }
    if (few)
        warn("%zu of %zu candidates have at most %zu rounds: nothing can be kept with fewer than %zu", few, candidates,
             most, least);
    if (!quiet) warn("%zu of %zu decisions kept, %zu candidates with failed runs", kept, all, failed);
    return csvw_close(w);
}

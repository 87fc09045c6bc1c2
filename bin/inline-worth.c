/* inline-worth - what each call is worth, from each function's cost in trials
 *
 * Usage: inline-worth --store=DIR [--sample=N] [TRIALS]
 *
 * TRIALS is the table of inline-design: trial, decisions, site, callee,
 * inlined; DIR is the store in which inline-run left what every function
 * executed (DIR/DECISIONS.parts.csv).  inline-reward solves one equation a
 * trial; this solves one a trial and function: what moves from a callee into
 * its callers when calls are inlined, and what that saves.
 *
 * Columns out, a row a call: site, callee, caller, worth (instructions that
 * inlining it saves, around the best trial), sure (of eight draws of the
 * trials, how many agree on the sign), known (1 where the trials tell its
 * effect from all others', empty where too little is executed for any), and
 * verdicts yes or no for inline-design
 * --verdicts: sign (of the worth), best (of a search in the model, from the
 * best trial), careful (by steps only that seven draws agree on).
 *
 * With --sample=N the fit is to trials drawn with replacement, seed N: what it
 * then proposes varies as much as it does not know.
 *
 * Examples:
 *   $ inline-worth --store=s design.csv > w.csv
 *   $ inline-design --verdicts=w.csv -c best --store=s --list=l.csv sites.csv
 */
#include "base/filter.h"
#include "inline/worth.h"
#include HELP
#include <math.h>

static const char *store, *out;
static long sample;
static const struct opt options[] = {
    { 0, "store", STR, &store, "DIR", "where the trials' parts lie" },
    { 0, "sample", INT, &sample, "N", "a draw of what is not known", 0, 1e15 },
    OUTPUT_OPTION(out),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!store) usage("--store is needed");
    csv *t = csv_open(filter_operand(argc, argv, i));
    struct worth w;
    worth_read(&w, t, store);
    csv_close(t);
    worth_fit(&w, (uint64_t)sample);
    csvw *o = csvw_open(out);
    csvw_names(o, "site,callee,caller,worth,sure,known,sign,best,careful");
    csvw_end(o);
    for (size_t k = 0; k < w.n; k++) {
        const struct worth_call *c = &w.call[k];
        csvw_str(o, c->site);
        csvw_str(o, c->callee);
        csvw_str(o, c->caller);
        csvw_num(o, c->worth);
        csvw_int(o, c->sure);
        csvw_known(o, c->matters ? c->known : NAN);
        csvw_cstr(o, c->sign ? "yes" : "no");
        csvw_cstr(o, c->best ? "yes" : "no");
        csvw_cstr(o, c->careful ? "yes" : "no");
        csvw_end(o);
    }
    worth_free(&w);
    return csvw_close(o);
}

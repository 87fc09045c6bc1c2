/* inline-best - the best set of decisions for learned rewards
 *
 * Usage: inline-best [OPTION]... [REWARDS.csv]
 *
 * Dynamic programming on the union of all trees. Columns in: site (steps
 * joined by blanks, / is the root; parents before children), immediate,
 * no_inline (empty: never tried) and optionally callee. Writes canonical
 * decisions: every call that is reached when the calls around it are inlined
 * as decided. A call is inlined only where that is worth strictly more.
 *
 * FILE of --rewards gets one row for each node: site, immediate, long_term,
 * no_inline, margin (long_term - no_inline where both are known), decision
 * (inline, apply, decl, or empty when not reached). FILE of --report gets
 * key,value: value, n_inlined, n_apply, n_decl, n_ties, n_one_sided (reached
 * calls of which only one side was ever tried). Memory: all rows.
 *
 * Examples:
 *   $ inline-best --gamma=0.9 rewards.csv > best.decisions
 *   $ inline-best --gamma=0.9 --children=mean --rewards=labels.csv rewards.csv
 */
#include "decisions/best.h"
#include "base/filter.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *output, *rewards_path, *report_path, *program, *compiler;
static enum { SUM, MEAN } children = SUM;
static double gamma_ = 0.9;
static bool both;
static const struct opt options[] = {
    { 0, "gamma", NUM, &gamma_, "G", "decay per level, as given to inline-problem", 1e-6, 1 },
    { 0, "children", WORD, &children, "sum|mean", "how children's values combine; mean is the mistake in the study" },
    { 0, "both", FLAG, &both, NULL, "write only calls of which both sides were tried" },
    { 0, "program", STR, &program, "NAME", "name of the program, for the decisions" },
    { 0, "compiler", STR, &compiler, "NAME", "name of the compiler, for the decisions" },
    { 0, "rewards", STR, &rewards_path, "FILE", "write the rewards of all nodes here" },
    { 0, "report", STR, &report_path, "FILE", "write the value of the optimum and counts here" },
    OUTPUT_OPTION(output),
    { 0 } };

static struct best_tree t;

static void write_rewards(void)
{
    csvw *out = csvw_open(rewards_path);
    csvw_names(out, "site,immediate,long_term,no_inline,margin,decision");
    csvw_end(out);
    for (size_t k = 0; k < t.sites.n; k++) {
        const struct best_node *x = &t.node[k];
        csvw_str(out, t.sites.name[k]);
        csvw_known(out, x->immediate);
        csvw_known(out, isnan(x->immediate) ? NAN : x->long_term);
        csvw_known(out, x->no_inline);
        csvw_known(out, best_margin(x));
        csvw_cstr(out, !x->reached ? NULL : x->decl ? "decl" : x->inlined ? "inline" : "apply");
        csvw_end(out);
    }
    csvw_close(out);
}

static void write_report(double value)
{
    long count[5] = { 0 };
    for (size_t k = 1; k < t.sites.n; k++) {
        const struct best_node *x = &t.node[k];
        if (!x->reached) continue;
        count[x->decl ? 2 : !x->inlined]++;
        count[3] += best_margin(x) == 0;
        count[4] += !x->decl && isnan(best_margin(x));
    }
    csvw *out = csvw_open(report_path);
    csvw_names(out, "key,value");
    csvw_end(out);
    csvw_cstr(out, "value");
    csvw_num(out, value);
    csvw_end(out);
    static const char *const keys[] = { "n_inlined", "n_apply", "n_decl", "n_ties", "n_one_sided" };
    for (int i = 0; i < 5; i++) {
        csvw_cstr(out, keys[i]);
        csvw_int(out, count[i]);
        csvw_end(out);
    }
    csvw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    best_read(&t, csv_open(filter_operand(argc, argv, i)));
    double value = best(t.node, t.sites.n, gamma_, children == MEAN);
    if (rewards_path) write_rewards();
    if (report_path) write_report(value);
    sexpw *out = sexpw_open(output);
    best_write(&t, out, program, compiler, both);
    return sexpw_close(out);
}

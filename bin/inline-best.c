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
 *   $ inline-best -g 0.9 rewards.csv > best.decisions
 *   $ inline-best -g 0.9 --children=mean --rewards=labels.csv rewards.csv
 */
#include "inline/best.h"
#include "base/filter.h"
#include "base/str.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *output, *rewards_path, *report_path, *children = "sum", *program, *compiler;
static double gamma_ = 0.9;
static bool both;
static const struct opt options[] = {
    { 'g', "gamma", NUM, &gamma_, "G", "decay per level, as given to inline-problem", 1e-6, 1 },
    { 0, "children", WORD, &children, "sum|mean", "how children's values combine; mean is the mistake in the study" },
    { 0, "both", FLAG, &both, NULL, "write only calls of which both sides were tried" },
    { 'p', "program", STR, &program, "NAME", "name of the program, for the decisions" },
    { 0, "compiler", STR, &compiler, "NAME", "name of the compiler, for the decisions" },
    { 0, "rewards", STR, &rewards_path, "FILE", "write the rewards of all nodes here" },
    { 0, "report", STR, &report_path, "FILE", "write the value of the optimum and counts here" },
    { 'o', "output", STR, &output, "FILE", "write here instead of standard output" },
    { 0 } };

static struct intern sites, callees;
static struct best_node *node;
static uint32_t *callee;

static uint32_t parent_of(csv *in, str site)
{
    size_t cut = site.n;
    while (cut && site.s[cut - 1] != ' ') cut--;
    long p = cut ? intern_find(&sites, (str){ site.s, cut - 1 }) : 0;
    if (p < 0) die_at(csv_file(in), csv_line(in), "site '%.*s' comes before the one around it", (int)site.n, site.s);
    return (uint32_t)p;
}

static void read_rewards(csv *in)
{
    int site = csv_need(in, "site"), immediate = csv_need(in, "immediate"), no_inline = csv_need(in, "no_inline");
    int name = csv_find(in, "callee");
    size_t cap = 0, cap_callee = 0;
    intern(&callees, str_of("unknown"));
    while (csv_next(in)) {
        str s = csv_str(in, site);
        size_t k = sites.n;
        if (!k != str_is(s, "/")) die_at(csv_file(in), csv_line(in), "the root, /, is the first site and no other");
        uint32_t parent = k ? parent_of(in, s) : 0;
        if (intern(&sites, s) < k) die_at(csv_file(in), csv_line(in), "site '%.*s' occurs twice", (int)s.n, s.s);
        size_t step = s.n;
        while (step && s.s[step - 1] != ' ') step--;
        node = grow(node, k + 1, &cap, sizeof *node);
        callee = grow(callee, k + 1, &cap_callee, sizeof *callee);
        node[k] = (struct best_node){ .parent = parent, .decl = !k || s.s[step] == '{' };
        node[k].immediate = csv_num_or(in, immediate, NAN);
        node[k].no_inline = csv_num_or(in, no_inline, NAN);
        callee[k] = name >= 0 && csv_has(in, name) ? intern(&callees, csv_str(in, name)) : 0;
    }
    csv_close(in);
}

static double margin(const struct best_node *x)
{
    return isnan(x->immediate) || x->decl ? NAN : x->long_term - x->no_inline;
}

static void write_decisions(sexpw *w)
{
    sexpw_begin(w, "decisions");
    if (program) sexpw_pair_str(w, "program", str_of(program));
    if (compiler) sexpw_pair_str(w, "compiler", str_of(compiler));
    for (size_t k = 0; k < sites.n; k++) {
        const struct best_node *x = &node[k];
        if (x->decl || !x->reached || (both && isnan(margin(x)))) continue;
        sexpw_line(w);
        sexpw_begin(w, "site");
        sexpw_begin(w, "path");
        str s = sites.name[k];
        for (size_t i = 0, from = 0; i <= s.n; i++) {
            if (i < s.n && s.s[i] != ' ') continue;
            sexpw_atom(w, (str){ s.s + from, i - from });
            from = i + 1;
        }
        sexpw_end(w);
        sexpw_pair_str(w, "callee", callees.name[callee[k]]);
        sexpw_pair_str(w, "inline", str_of(x->inlined ? "true" : "false"));
        sexpw_end(w);
    }
    sexpw_end(w);
}

static void write_rewards(void)
{
    csvw *out = csvw_open(rewards_path);
    csvw_names(out, "site,immediate,long_term,no_inline,margin,decision");
    csvw_end(out);
    for (size_t k = 0; k < sites.n; k++) {
        const struct best_node *x = &node[k];
        csvw_str(out, sites.name[k]);
        csvw_known(out, x->immediate);
        csvw_known(out, isnan(x->immediate) ? NAN : x->long_term);
        csvw_known(out, x->no_inline);
        csvw_known(out, margin(x));
        csvw_cstr(out, !x->reached ? NULL : x->decl ? "decl" : x->inlined ? "inline" : "apply");
        csvw_end(out);
    }
    csvw_close(out);
}

static void write_report(double value)
{
    long count[5] = { 0 };
    for (size_t k = 1; k < sites.n; k++) {
        const struct best_node *x = &node[k];
        if (!x->reached) continue;
        count[x->decl ? 2 : !x->inlined]++;
        count[3] += margin(x) == 0;
        count[4] += !x->decl && isnan(margin(x));
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
    read_rewards(csv_open(filter_operand(argc, argv, i)));
    double value = best(node, sites.n, gamma_, strcmp(children, "mean") == 0);
    if (rewards_path) write_rewards();
    if (report_path) write_report(value);
    sexpw *out = sexpw_open(output);
    write_decisions(out);
    return sexpw_close(out);
}

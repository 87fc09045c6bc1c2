/* inline-decide - a table of call sites with a verdict, as decisions
 *
 * Usage: inline-decide [-c COL] [--over=X] [--heat=N] [FILE]...
 *
 * Columns in: callee, chain, legal, and COL: yes, no or a number, of which
 * those over X mean yes.  Rows with legal=no and rows with an empty COL are
 * not decided.  Writes canonical decisions, sorted.  Memory: all rows.
 *
 * With COL `inlined` of inline-sites it gives back what was built; with the
 * output of fit-predict, what a policy wants.
 *
 * Examples:
 *   $ inline-sites w | fit-predict model.sexp | inline-decide -c predicted
 *   $ inline-sites w | inline-decide -c inlined --heat=1000 > hot.sexp
 */
#include "base/filter.h"
#include "base/num.h"
#include "inline/live.h"
#include "table/csvio.h"
#include HELP

static const char *column = "predicted", *compiler = "clang-14", *out;
static double over = 0.5, heat;
static const struct opt options[] = {
    { 'c', "column", STR, &column, "COL", "the verdict", 0, 0 },
    { 0, "over", NUM, &over, "X", "numbers above it mean yes", 0, 0 },
    { 0, "heat", NUM, &heat, "N", "inline only calls executed so often (column heat)", 0, 1e18 },
    { 0, "compiler", STR, &compiler, "NAME", "for the decisions", 0, 0 },
    { 'o', "output", STR, &out, "FILE", "write here instead of standard output", 0, 0 },
    { 0 }
};

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), legal = csv_need(t, "legal"),
        verdict = csv_need(t, column);
    int program = csv_find(t, "program"), hot = heat > 0 ? csv_need(t, "heat") : -1;
    struct live set = { 0 };
    static struct arena text;
    const char *name = NULL;
    while (csv_next(t)) {
        if (program >= 0 && !name) name = csv_cstr(t, program, &text);
        if (!csv_has(t, verdict) || str_is(csv_str(t, legal), "no")) continue;
        str v = csv_str(t, verdict);
        double x;
        bool yes = str_is(v, "yes");
        if (!yes && !str_is(v, "no")) {
            if (!num_parse(v.s, v.n, &x)) csv_die(t, verdict, "yes, no or a number");
            yes = x > over;
        }
        if (hot >= 0 && csv_num_or(t, hot, 0) < heat) yes = false;
        live_add(&set, csv_str(t, callee), csv_str(t, chain), yes);
    }
    csv_close(t);
    live_sort(&set);
    live_write(&set, out, name ? name : "", compiler);
    return EXIT_OK;
}

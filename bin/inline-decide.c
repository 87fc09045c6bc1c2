/* inline-decide - a table of call sites with a verdict, as decisions
 *
 * Usage: inline-decide [-c COL] [--over=X | --under=X] [--heat=N] [--hot=X
 *                      [--otherwise=COL]] [--calls=DECISIONS] [FILE]...
 *
 * Columns in: callee, chain, legal, and COL: yes, no or a number, of which
 * those over X (or under) mean yes.  Rows with legal=no and rows with an
 * empty COL are not decided.  Calls executed less often than --heat times,
 * or with a log_heat_ratio below --hot, are not inlined, or as the column of
 * --otherwise says.  Writes canonical decisions, sorted.  Memory: all rows.
 *
 * --calls names a set with the calls that were left (inline-build
 * --complete): these are decided then, by their own row or, being copies
 * that appeared when a caller was inlined, as the call they are copies of.
 *
 * With COL `inlined` of inline-sites it gives back what was built; with the
 * output of fit-predict, what a policy wants.
 *
 * Examples:
 *   $ inline-sites w | fit-predict -m model.sexp | inline-decide -c predicted
 *   $ inline-sites w | inline-decide -c inlined --heat=1000 > hot.sexp
 */
#include "base/filter.h"
#include "base/num.h"
#include "inline/live.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>

static const char *column = "predicted", *compiler, *out, *otherwise, *calls;
static double over = 0.5, under = NAN, heat, hot = -1000;
static const struct opt options[] = {
    { 'c', "column", STR, &column, "COL", "the verdict" },
    { 0, "over", NUM, &over, "X", "numbers above it mean yes" },
    { 0, "under", NUM, &under, "X", "numbers below it mean yes" },
    { 0, "heat", NUM, &heat, "N", "inline only calls executed so often (column heat)", 0, 1e18 },
    { 0, "hot", NUM, &hot, "X", "inline only calls so often executed: log2 of the ratio to the hottest", -1000, 0 },
    { 0, "otherwise", STR, &otherwise, "COL", "the verdict about calls that are not hot; default: no" },
    { 0, "calls", STR, &calls, "FILE", "decide these calls, copies as what they are copies of" },
    { 0, "compiler", STR, &compiler, "NAME", "for the decisions" },
    OUTPUT_OPTION(out),
    { 0 } };

static bool says_yes(const csv *t, int col)
{
    str v = csv_str(t, col);
    double x;
    if (str_is(v, "yes")) return true;
    if (str_is(v, "no") || v.n == 0) return false;
    if (!num_parse(v.s, v.n, &x)) csv_die(t, col, "yes, no or a number");
    return isnan(under) ? x > over : x < under;
}

/* copies are inlined where any row of the same call is */
static void decide_calls(const struct live *rows, struct live *set)
{
    struct intern wanted = { 0 };
    struct buf key = { 0 };
    for (size_t i = 0; i < rows->n; i++) {
        if (!rows->v[i].inlined) continue;
        site_base_key(&key, rows->v[i].site);
        intern(&wanted, (str){ key.s, key.n });
    }
    live_read(set, calls);
    for (size_t i = 0; i < set->n; i++) {
        struct live_site *s = &set->v[i];
        const struct live_site *row = live_find(rows, s->site);
        site_base_key(&key, s->site);
        s->inlined = row ? row->inlined : intern_find(&wanted, (str){ key.s, key.n }) >= 0;
    }
    free(key.s);
    intern_free(&wanted);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), legal = csv_need(t, "legal"),
        verdict = csv_need(t, column);
    int program = csv_find(t, "program"), count = heat > 0 ? csv_need(t, "heat") : -1;
    int ratio = hot > -1000 ? csv_need(t, "log_heat_ratio") : -1, cold = otherwise ? csv_need(t, otherwise) : -1;
    struct live rows = { 0 }, set = { 0 };
    static struct arena text;
    const char *name = NULL;
    while (csv_next(t)) {
        if (program >= 0 && !name) name = csv_cstr(t, program, &text);
        if (!csv_has(t, verdict) || str_is(csv_str(t, legal), "no")) continue;
        bool yes = says_yes(t, verdict);
        if ((count >= 0 && csv_num_or(t, count, 0) < heat) || (ratio >= 0 && csv_num_or(t, ratio, -1000) < hot))
            yes = cold >= 0 && says_yes(t, cold);
        live_add(&rows, (struct site){ csv_str(t, callee), csv_str(t, chain) }, yes);
    }
    csv_close(t);
    live_sort(&rows);
    if (calls) decide_calls(&rows, &set);
    live_write(calls ? &set : &rows, out, name ? name : "", compiler);
    return EXIT_OK;
}

/* csv-calc - new columns, some rows or single values by expressions
 *
 * Usage: csv-calc [--set=COL=EXPR]... [--where=EXPR]... [--print=EXPR]...
 *                 [-g COLS] [--let=NAME=TEXT]... [FILE]...
 *
 * Columns in: those that the expressions name.  Columns out: the same and those
 * of --set: a new one at the end, one of the same name in its place; each
 * --set sees those before it.  --where keeps the rows for which EXPR is true,
 * after all --set; of several --where all must be.  With --print the values of
 * the EXPRs come out instead, a line for each row, bare, with a tab between:
 * single cells for make and shell.  --let gives a name to a text, from a shell
 * variable say, that is never read as an expression.  Order is kept.  Memory:
 * with -g per group, else constant; total() and share() read the input twice,
 * what comes by a pipe through a file in TMPDIR.
 *
 * Grammar, what binds most first:
 *   1.5e3  'text'  "text"  column  [any column]  (EXPR)  function(EXPR, ...)
 *   a ^ b   -a   a * b  a / b  a % b   a + b  a - b
 *   a == b  a != b  a < b  a <= b  a > b  a >= b   a ~ 'ERE'  a !~ 'ERE'
 *   !a   a && b   a || b   condition ? a : b
 * A quote in a text is doubled.  missing, nan and inf are constants.
 *
 * Functions of numbers: abs ceil exp floor log log2 log10 sign sqrt trunc,
 *   min(a, ...)  max(a, ...)  isnan(a)  round(a[, decimals])  digits(a, n)
 *   rounds to n significant digits.
 * Of texts: concat(a, ...)  length(a)  lower(a)  upper(a)  trim(a)
 *   contains(a, b)  starts(a, b)  ends(a, b)  slice(a, from[, n])
 *   part(a, separator, n): the n-th piece, n < 0 from the end
 *   replace(a, 'ERE', b)  extract(a, 'ERE'): what matches, or its first (...)
 * Between them: number(a): missing when a is none  text(a)  fixed(a, decimals)
 * Of what is missing: known(a): 1 or 0  or(a, b, ...): the first that is known
 * Of rows, in order, with -g in each group: row()  lag(a[, n]): n rows before
 *   first(a)  run_sum(a)  run_min(a)  run_max(a)  run_count()
 *   (row() counts all rows; the others see only rows for which the part of
 *   the expression that they stand in is computed: see ?:, && and ||)
 * Of all rows, with -g of the group's: total(a): the sum of what is known
 *   share(a): a / total(a)  (of the rows that --where leaves out too)
 *
 * Missing and nan: an empty field is missing, and so is what is computed from
 * it, but for known, or, concat and the comparison with a text, where it is
 * the empty text; run_... skip it.  a && b is false if either is, a || b true
 * if either is, whatever is missing else; missing and nan are not true.  nan
 * is a number: any comparison with it is false, but != true; 1/0 is inf.
 * A column and a number are compared as numbers, two columns as numbers if
 * both are, and as texts otherwise; a text in quotes or made by a function is
 * compared as text, byte by byte.  Integers stay integers, up to 2^127, as
 * long as nothing else enters; other numbers are doubles.  ERE: regular
 * expressions as in grep -E.
 *
 * Examples:
 *   $ csv-calc --set='speedup=base_seconds/seconds' --where='speedup > 1' t.csv
 *   $ csv-calc --let=base=2.5 --set='ratio=round(seconds/base, 3)' runs.csv
 *   $ csv-calc --print=package --where="name == 'lua'" data/programs.csv
 *   $ csv-calc -g label --set='step_seconds=end - lag(end)' log.csv
 *   $ csv-calc -g host --set='part=share(seconds)' runs.csv
 *   $ csv-calc --set="file=part(path, '/', -1)" --where='row() % 10 == 1' f.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "base/reread.h"
#include "table/calc.h"
#include "table/input.h"
#include HELP
#include <stdio.h>
#include <unistd.h>

static struct list sets, lets, wheres, prints;
static const char *groups;
static const struct opt options[] = {
    { 0, "set", LIST, &sets, "COL=EXPR", "a new column, or one in place of COL" },
    { 0, "where", LIST, &wheres, "EXPR", "keep the rows for which this is true" },
    { 0, "print", LIST, &prints, "EXPR", "print values instead of a table" },
    { 'g', "group", STR, &groups, "COLS", "lag, first, run_..., total and share are of each group" },
    { 0, "let", LIST, &lets, "NAME=TEXT", "NAME stands for TEXT, as if in a column" },
    CSV_INPUT,
    { 0 } };

static void print_value(struct calc *c, const expr *e, const char *text)
{
    struct value v = expr_run(e, &c->scope);
    str s = value_text(&c->scope, &v);
    for (size_t k = 0; k < s.n; k++)
        if (s.s[k] == '\n' || s.s[k] == '\t')
            die_at(csv_file(c->scope.t), csv_line(c->scope.t), "--print '%s': the value holds a tab or a line end",
                   text);
    fwrite(s.s, 1, s.n, stdout);
}

static struct calc calc_of(char **operands, expr ***print)
{
    struct calc c = { .scope.t = csv_files(operands) };
    if (groups) c.scope.group = columns_of(c.scope.t, groups, "--group");
    calc_compile(&c, &lets, &sets, &wheres);
    *print = xcalloc((size_t)prints.n, sizeof(expr *));
    for (int i = 0; i < prints.n; i++) (*print)[i] = expr_compile(&c.scope, "--print", prints.v[i]);
    return c;
}

static int print_values(struct calc *c, expr **print)
{
    while (calc_next(c))
        for (int i = 0; i < prints.n; i++) {
            print_value(c, print[i], prints.v[i]);
            putchar(i + 1 < prints.n ? '\t' : '\n');
        }
    return finish();
}

static int write_table(struct calc *c)
{
    csvw *w = csvw_open(NULL);
    calc_names(c, w);
    csvw_end(w);
    while (calc_next(c)) {
        calc_row(c, w);
        csvw_end(w);
    }
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!sets.n && !wheres.n && !prints.n) usage("nothing to do: give --set, --where or --print");
    char *in[] = { xstrdup("-"), NULL }, **operands = i < argc ? argv + i : in;
    const struct list *const texts[] = { &sets, &wheres, &prints, NULL };
    off_t begin = calc_twice(texts, operands);
    struct totals totals = { 0 };
    expr **print;
    struct calc c = calc_of(operands, &print);
    if (c.scope.ntotal) {
        c.scope.totals = &totals;
        c.scope.counts = true;
        calc_count(&c, print, (size_t)prints.n);
        reread_stdin(STDIN_FILENO, begin);
        c = calc_of(operands, &print);
        c.scope.totals = &totals;
    }
    return prints.n ? print_values(&c, print) : write_table(&c);
}

/* csv-calc - new columns, some rows or single values by expressions
 *
 * Usage: csv-calc [--set=COL=EXPR]... [--where=EXPR] [--print=EXPR]...
 *                 [-g COLS] [--let=NAME=TEXT]... [FILE]...
 *
 * Columns in: those that the expressions name.  Columns out: the same and those
 * of --set: a new one at the end, one of the same name in its place; each
 * --set sees those before it.  --where keeps the rows for which EXPR is true,
 * after all --set.  With --print the values of the EXPRs come out instead, a
 * line for each row, bare, with a tab between: single cells for make and
 * shell.  --let gives a text from outside a name without mixing it into an
 * expression.  Order is kept.  With -g memory per group, else constant memory.
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
 *   (row() counts all rows; a part that is not run does not see its row)
 *
 * Missing and nan: an empty field is missing, and so is what is computed from
 * it, but for known, or, concat and the comparison with a text, where it is
 * the empty text; run_... skip it.  a && b is false if either is, a || b true
 * if either is, whatever is missing else; missing and nan are not true.  nan
 * is a number: any comparison with it is false, but != true; 1/0 is inf.
 * A column and a number are compared as numbers, two columns as numbers if
 * both are, and as texts otherwise; a text in quotes or made by a function is
 * compared as text, byte by byte.  Numbers are doubles: whole ones are exact
 * up to 2^53.  ERE: regular expressions as in grep -E.
 *
 * Examples:
 *   $ csv-calc --set='speedup=base_seconds/seconds' --where='speedup > 1' t.csv
 *   $ csv-calc --let=base=2.5 --set='ratio=round(seconds/base, 3)' runs.csv
 *   $ csv-calc --print=package --where="name == 'lua'" data/programs.csv
 *   $ csv-calc -g label --set='step_seconds=end - lag(end)' log.csv
 *   $ csv-calc --set="file=part(path, '/', -1)" --where='row() % 10 == 1' f.csv
 */
#include "base/filter.h"
#include "base/out.h"
#include "table/expr.h"
#include "table/input.h"
#include HELP
#include <stdio.h>
#include <string.h>

static struct list sets, lets, prints;
static const char *where, *groups;
static const struct opt options[] = {
    { 0, "set", LIST, &sets, "COL=EXPR", "a new column, or one in place of COL", 0, 0 },
    { 0, "where", STR, &where, "EXPR", "keep the rows for which this is true", 0, 0 },
    { 0, "print", LIST, &prints, "EXPR", "print values instead of a table", 0, 0 },
    { 'g', "group", STR, &groups, "COLS", "lag, first and run_... start anew in each group", 0, 0 },
    { 0, "let", LIST, &lets, "NAME=TEXT", "NAME stands for TEXT, as if in a column", 0, 0 },
    CSV_INPUT,
    { 0 } };

static struct scope scope;
static expr **set, **print, *condition;
static size_t *set_name;                                 /* index in scope.named */
static int *place;                                       /* the computed name in place of a column, or -1 */

static void define_lets(void)
{
    for (int i = 0; i < lets.n; i++) {
        size_t n = binding_name("--let", lets.v[i]);
        char *name = xformat("%.*s", (int)n, lets.v[i]);
        if (csv_find(scope.t, name) >= 0) usage("--let: there is a column '%s'", name);
        size_t k = scope_define(&scope, str_of(name));
        scope.named[k] = (struct value){ .kind = FIELD, .column = -1, .text = str_of(lets.v[i] + n + 1) };
    }
}

static void compile(void)
{
    set = xcalloc((size_t)sets.n, sizeof(expr *));
    set_name = xcalloc((size_t)sets.n, sizeof *set_name);
    print = xcalloc((size_t)prints.n, sizeof(expr *));
    place = xcalloc((size_t)csv_ncol(scope.t), sizeof *place);
    for (int c = 0; c < csv_ncol(scope.t); c++) place[c] = -1;
    for (int i = 0; i < sets.n; i++) {
        size_t n = binding_name("--set", sets.v[i]);
        char *name = xformat("%.*s", (int)n, sets.v[i]);
        set[i] = expr_compile(&scope, "--set", sets.v[i] + n + 1);
        set_name[i] = scope_define(&scope, str_of(name));
        if (set_name[i] < (size_t)lets.n) usage("--set: '%s' is the name of a --let", name);
        int c = csv_find(scope.t, name);
        if (c >= 0) place[c] = (int)set_name[i];
    }
    if (where) condition = expr_compile(&scope, "--where", where);
    for (int i = 0; i < prints.n; i++) print[i] = expr_compile(&scope, "--print", prints.v[i]);
}

static bool next_row(void)
{
    while (scope_row(&scope)) {
        for (int i = 0; i < sets.n; i++) scope.named[set_name[i]] = expr_run(set[i], &scope);
        if (!condition || expr_holds(condition, &scope)) return true;
    }
    return false;
}

static int print_values(void)
{
    while (next_row()) {
        for (int i = 0; i < prints.n; i++) {
            struct value v = expr_run(print[i], &scope);
            str s = value_text(&scope, &v);
            for (size_t k = 0; k < s.n; k++)
                if (s.s[k] == '\n' || s.s[k] == '\t')
                    die_at(csv_file(scope.t), csv_line(scope.t), "--print '%s': the value holds a tab or a line end",
                           prints.v[i]);
            if (i) putchar('\t');
            fwrite(s.s, 1, s.n, stdout);
        }
        putchar('\n');
    }
    return finish();
}

static bool replaces(size_t name)
{
    for (int c = 0; c < csv_ncol(scope.t); c++) if (place[c] == (int)name) return true;
    return false;
}

static int write_table(void)
{
    csvw *w = csvw_open(NULL);
    size_t *added = xcalloc(scope.names.n, sizeof *added), n = 0;
    for (size_t k = (size_t)lets.n; k < scope.names.n; k++) if (!replaces(k)) added[n++] = k;
    bool copy = n == scope.names.n - (size_t)lets.n;     /* no column is replaced */
    csvw_copy_names(w, scope.t);
    for (size_t k = 0; k < n; k++) csvw_str(w, scope.names.name[added[k]]);
    csvw_end(w);
    while (next_row()) {
        for (int c = 0; !copy && c < csv_ncol(scope.t); c++) {
            if (place[c] < 0) csvw_copy(w, scope.t, c);
            else value_write(w, &scope.named[place[c]]);
        }
        if (copy) csvw_copy_all(w, scope.t);
        for (size_t k = 0; k < n; k++) value_write(w, &scope.named[added[k]]);
        csvw_end(w);
    }
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!sets.n && !where && !prints.n) usage("nothing to do: give --set, --where or --print");
    scope.t = csv_files(argv + i);
    if (groups) scope.group = columns_of(scope.t, groups, "--group");
    define_lets();
    compile();
    return prints.n ? print_values() : write_table();
}
